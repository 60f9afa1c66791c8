//! Answering commands, in the daemon.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use freshet_engine::SignalSourceReport;
use freshet_store::Token;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Answer, Call, ControlError, LONGEST, Line, Mark, VERSION, socket_of};
use crate::daemon::{DaemonError, Handle};
use crate::edit::EditError;
use crate::explained::Explained;
use crate::permits::{Permit, PermitRequest, PermitReturn};
use crate::status::Status;

/// Commands that are answered at a time.
const AT_ONCE: usize = 16;
/// How long a line may take to come, and the next one to begin.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long commands that are being answered may take to end when the daemon is to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// The open door of a daemon.
pub struct Control {
    socket: PathBuf,
    listening: JoinHandle<()>,
    closing: watch::Sender<bool>,
    at_once: Arc<Semaphore>,
}

impl Control {
    /// Opens the door of a daemon. What a daemon that died left there goes away: whoever has the store
    /// is the only one.
    ///
    /// # Errors
    /// If there cannot be a socket.
    pub fn open(handle: Handle) -> Result<Self, ControlError> {
        let socket = socket_of(handle.store());
        let unheard = |source| ControlError::Unheard { socket: socket.clone(), source };
        remove(&socket);
        let listener = UnixListener::bind(&socket).map_err(unheard)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600)).map_err(unheard)?;
        let owner = socket.symlink_metadata().map_err(unheard)?.uid();
        let (closing, closed) = watch::channel(false);
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        let answering = Arc::clone(&at_once);
        let listening = tokio::spawn(async move {
            loop {
                let Ok(permit) = Arc::clone(&answering).acquire_owned().await else { return };
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many files are open, for one: others may close some.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                // Somebody may have knocked before the file was ours alone.
                let knows = stream.peer_cred().is_ok_and(|it| it.uid() == owner || it.uid() == 0);
                if !knows {
                    continue;
                }
                let (handle, mut closed) = (handle.clone(), closed.clone());
                tokio::spawn(async move {
                    let _permit = permit;
                    tokio::select! {
                        () = answer_all(stream, &handle, closed.clone()) => {}
                        () = late(&mut closed) => {}
                    }
                });
            }
        });
        Ok(Self { socket, listening, closing, at_once })
    }

    /// Where it is.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Closes it at once; what was asked is answered, if that takes no longer than a moment.
    pub fn close(self) -> impl Future<Output = ()> + Send {
        // Before the store is anybody else's: the next socket there is not ours.
        remove(&self.socket);
        self.listening.abort();
        async move {
            let _ = self.closing.send(true);
            // The listener holds one until it is gone.
            let _ = self.listening.await;
            let all = u32::try_from(AT_ONCE).unwrap_or(u32::MAX);
            let _ = timeout(2 * SHUTDOWN_GRACE, self.at_once.acquire_many(all)).await;
        }
    }
}

/// Removes a socket; nothing else that may be there.
fn remove(socket: &Path) {
    if socket.symlink_metadata().is_ok_and(|it| it.file_type().is_socket()) {
        let _ = fs::remove_file(socket);
    }
}

/// Ends a while after the door is closed.
async fn late(closed: &mut watch::Receiver<bool>) {
    let _ = closed.wait_for(|closed| *closed).await;
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}

async fn answer_all(stream: UnixStream, handle: &Handle, mut closed: watch::Receiver<bool>) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut read).take(LONGEST);
        let came = tokio::select! {
            came = timeout(PATIENCE, bounded.read_until(b'\n', &mut line)) => came,
            _ = closed.wait_for(|closed| *closed) => return,
        };
        if !matches!(came, Ok(Ok(bytes)) if bytes > 0) {
            return;
        }
        let is_whole = line.ends_with(b"\n");
        let said = if is_whole { answer(&line, handle).await } else { too_long() };
        let Ok(mut text) = serde_json::to_vec(&Line { version: VERSION, said }) else { return };
        text.push(b'\n');
        let sent = timeout(PATIENCE, write.write_all(&text)).await;
        if !is_whole || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

async fn answer(line: &[u8], handle: &Handle) -> Answer {
    match serde_json::from_slice::<Mark>(line) {
        Ok(mark) if mark.version == VERSION => {}
        Ok(mark) => {
            let why = format!("asked in version {}, and this daemon knows {VERSION}", mark.version);
            return Answer::Refused { why, hint: Some("restart the daemon".to_owned()) };
        }
        Err(why) => return refused(format!("not a question: {why}"), None),
    }
    match serde_json::from_slice::<Line<Call>>(line) {
        Ok(line) => carry_out(line.said, handle).await,
        Err(why) => refused(format!("not a question: {why}"), None),
    }
}

async fn carry_out(call: Call, handle: &Handle) -> Answer {
    let live = |error: DaemonError| refused(error.to_string(), error.hint());
    match call {
        Call::Status => match handle.status().await {
            Ok(status) => Answer::Status(Box::new(sayable(status))),
            Err(error) => live(error),
        },
        Call::Explain(url) => match handle.explain(&url).await {
            Ok(explained) => Answer::Explained(Box::new(sayable_too(explained))),
            Err(error) => live(error),
        },
        Call::Check(url) => match handle.check(&url).await {
            Ok(()) => Answer::Done,
            Err(error) => live(error),
        },
        Call::PutToken { name, hash, scopes } => {
            let token = Token { name, hash, scopes, created_at: handle.now(), used_at: None };
            match handle.put_token(token).await {
                Ok(()) => Answer::Done,
                Err(error) => live(error),
            }
        }
        Call::RemoveToken(name) => match handle.remove_token(name).await {
            Ok(true) => Answer::Done,
            Ok(false) => Answer::Nothing,
            Err(error) => live(error),
        },
        Call::Destination(edit) => match handle.edit_destination(edit).await {
            Ok(number) => Answer::Destination(number),
            Err(error) => refused(error.to_string(), error.hint()),
        },
        Call::Heralds(numbers) => match handle.herald_reports(numbers).await {
            Ok(reports) => {
                let reports = reports.into_iter().map(|it| it.map(sayable_report));
                Answer::Heralds(reports.collect())
            }
            Err(error) => live(error),
        },
        Call::AddHerald(wanted) => match handle.add_herald(*wanted).await {
            Ok(it) => Answer::AddedHerald { number: it.id, new: it.is_new },
            Err(error) => refused(error.to_string(), error.hint()),
        },
        Call::RemoveHerald(number) => match handle.remove_herald(number).await {
            Ok(gone) => Answer::RemovedHeralds(gone),
            Err(error) => refused(error.to_string(), error.hint()),
        },
        Call::Turn { host, delay, patience, last } => {
            match handle.lend(PermitRequest { host, delay, patience, last }).await {
                Ok(Permit::From(day) | Permit::NotBefore(day)) => Answer::Turn(Some(finite(day))),
                Ok(Permit::Busy) => Answer::Turn(None),
                Err(error) => live(error),
            }
        }
        Call::Heard { host, rest, failed } => {
            match handle.heard(PermitReturn { host, rest, failed }).await {
                Ok(()) => Answer::Done,
                Err(error) => live(error),
            }
        }
        Call::Edit(edit) => match handle.edit(edit).await {
            Ok(applied) => Answer::Applied(applied),
            Err(error) => {
                let hint = match &error {
                    EditError::Store(error) => error.hint(),
                    _ => None,
                };
                refused(error.to_string(), hint)
            }
        },
    }
}

fn refused(why: String, hint: Option<String>) -> Answer {
    Answer::Refused { why, hint }
}

fn too_long() -> Answer {
    refused(format!("more than {LONGEST} bytes at once"), None)
}

/// JSON has no word for infinity.
fn finite(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(f64::MIN, f64::MAX) }
}

fn sayable(mut status: Status) -> Status {
    let Status { budget, freshness, price, outlook, .. } = &mut status;
    for number in [budget, freshness, price, outlook] {
        *number = finite(*number);
    }
    status
}

fn sayable_report(mut it: SignalSourceReport) -> SignalSourceReport {
    for number in
        [&mut it.precision, &mut it.recall, &mut it.delay, &mut it.read_every, &mut it.worth]
    {
        *number = number.filter(|it| it.is_finite());
    }
    (it.spent, it.brought) = (finite(it.spent), finite(it.brought));
    it
}

fn sayable_too(mut it: Explained) -> Explained {
    it.between = (finite(it.between.0), finite(it.between.1));
    it.changes_a_day = finite(it.changes_a_day);
    it.price = finite(it.price);
    if let Some(it) = &mut it.signals {
        for number in [&mut it.weight, &mut it.precision, &mut it.recall, &mut it.fresh] {
            *number = finite(*number);
        }
    }
    (it.importance, it.cost) = (finite(it.importance), finite(it.cost));
    it
}
