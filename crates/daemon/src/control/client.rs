//! Asking the daemon, from a command.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Answer, Call, ControlError, LONGEST, Line, Mark, VERSION, socket_of};

/// How long a question may take to be taken.
const ASKING: Duration = Duration::from_secs(30);
/// How long an answer may take: a fetch that is asked for has minutes.
const ANSWERING: Duration = Duration::from_secs(300);

/// A way to ask the daemon of a store.
pub struct Client {
    stream: BufReader<UnixStream>,
    socket: PathBuf,
}

impl Client {
    /// Knocks at the daemon's door; `None` if nobody is there.
    ///
    /// # Errors
    /// If somebody is, and not for this user.
    pub fn connect(store: &Path) -> Result<Option<Self>, ControlError> {
        let socket = socket_of(store);
        let (Ok(door), Ok(owned)) = (socket.symlink_metadata(), store.metadata()) else {
            return Ok(None);
        };
        // In a directory of all, somebody else may have made it.
        if !door.file_type().is_socket() || door.uid() != owned.uid() {
            return Err(ControlError::Stranger { socket });
        }
        let stream = match UnixStream::connect(&socket) {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => return Ok(None),
                ErrorKind::PermissionDenied => return Err(ControlError::Stranger { socket }),
                _ => return Err(ControlError::Broken { socket, source: error }),
            },
        };
        let timed = stream
            .set_write_timeout(Some(ASKING))
            .and_then(|()| stream.set_read_timeout(Some(ANSWERING)));
        match timed {
            Ok(()) => Ok(Some(Self { stream: BufReader::new(stream), socket })),
            Err(source) => Err(ControlError::Broken { socket, source }),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// If there is none that makes sense.
    pub fn ask(&mut self, call: Call) -> Result<Answer, ControlError> {
        let line = Line { version: VERSION, said: call };
        let mut text = serde_json::to_vec(&line).map_err(|why| self.nonsense(&why))?;
        text.push(b'\n');
        self.stream.get_mut().write_all(&text).map_err(|source| self.broken(source))?;
        let mut reply = Vec::new();
        let read = self.stream.by_ref().take(LONGEST).read_until(b'\n', &mut reply);
        read.map_err(|source| self.broken(source))?;
        if !reply.ends_with(b"\n") {
            let hung_up = Error::new(ErrorKind::UnexpectedEof, "it hung up, perhaps to stop");
            return Err(self.broken(hung_up));
        }
        let mark: Mark = serde_json::from_slice(&reply).map_err(|why| self.nonsense(&why))?;
        if mark.version != VERSION {
            let socket = self.socket.clone();
            return Err(ControlError::Version { socket, found: mark.version, known: VERSION });
        }
        let line: Line<Answer> =
            serde_json::from_slice(&reply).map_err(|why| self.nonsense(&why))?;
        Ok(line.said)
    }

    fn broken(&self, source: std::io::Error) -> ControlError {
        ControlError::Broken { socket: self.socket.clone(), source }
    }

    fn nonsense(&self, what: &serde_json::Error) -> ControlError {
        ControlError::Nonsense { socket: self.socket.clone(), what: what.to_string() }
    }
}
