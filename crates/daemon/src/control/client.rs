//! Client side of the control socket.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    ControlError, ControlMessage, ControlRequest, ControlResponse, MAX_LINE_BYTES, MessageVersion,
    PROTOCOL_VERSION, socket_path,
};

const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Long enough for a fetch on demand, which may take minutes.
const REPLY_TIMEOUT: Duration = Duration::from_secs(300);

/// Connection to the daemon of a store.
pub struct ControlClient {
    stream: BufReader<UnixStream>,
    socket: PathBuf,
}

impl ControlClient {
    /// Connects to the daemon of a store. Returns `None` if none runs.
    ///
    /// # Errors
    /// Returns [`ControlError::ForeignSocket`] if the socket belongs to another user, and
    /// [`ControlError::Disconnected`] if the connection fails otherwise.
    pub fn connect(store: &Path) -> Result<Option<Self>, ControlError> {
        let socket = socket_path(store);
        let (Ok(socket_file), Ok(owned)) = (socket.symlink_metadata(), store.metadata()) else {
            return Ok(None);
        };
        // In a world-writable directory, another user may have created the socket.
        if !socket_file.file_type().is_socket() || socket_file.uid() != owned.uid() {
            return Err(ControlError::ForeignSocket { socket });
        }
        let stream = match UnixStream::connect(&socket) {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::ConnectionRefused => return Ok(None),
                ErrorKind::PermissionDenied => return Err(ControlError::ForeignSocket { socket }),
                _ => return Err(ControlError::Disconnected { socket, source: error }),
            },
        };
        let timed = stream
            .set_write_timeout(Some(SEND_TIMEOUT))
            .and_then(|()| stream.set_read_timeout(Some(REPLY_TIMEOUT)));
        match timed {
            Ok(()) => Ok(Some(Self { stream: BufReader::new(stream), socket })),
            Err(source) => Err(ControlError::Disconnected { socket, source }),
        }
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// Returns [`ControlError`] if the connection fails or the response is not valid.
    pub fn send(&mut self, request: ControlRequest) -> Result<ControlResponse, ControlError> {
        let line = ControlMessage { version: PROTOCOL_VERSION, body: request };
        let mut text = serde_json::to_vec(&line).map_err(|error| self.invalid_response(&error))?;
        text.push(b'\n');
        self.stream.get_mut().write_all(&text).map_err(|source| self.disconnected(source))?;
        let mut reply = Vec::new();
        let read = self.stream.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut reply);
        read.map_err(|source| self.disconnected(source))?;
        if !reply.ends_with(b"\n") {
            let hung_up = Error::new(
                ErrorKind::UnexpectedEof,
                "the connection was closed, perhaps by a shutdown",
            );
            return Err(self.disconnected(hung_up));
        }
        let mark: MessageVersion =
            serde_json::from_slice(&reply).map_err(|error| self.invalid_response(&error))?;
        if mark.version != PROTOCOL_VERSION {
            let socket = self.socket.clone();
            return Err(ControlError::VersionMismatch {
                socket,
                daemon_version: mark.version,
                own_version: PROTOCOL_VERSION,
            });
        }
        let line: ControlMessage<ControlResponse> =
            serde_json::from_slice(&reply).map_err(|error| self.invalid_response(&error))?;
        Ok(line.body)
    }

    fn disconnected(&self, source: std::io::Error) -> ControlError {
        ControlError::Disconnected { socket: self.socket.clone(), source }
    }

    fn invalid_response(&self, error: &serde_json::Error) -> ControlError {
        ControlError::InvalidResponse { socket: self.socket.clone(), detail: error.to_string() }
    }
}
