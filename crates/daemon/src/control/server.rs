//! Server side of the control socket.

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

use super::{
    ControlError, ControlMessage, ControlRequest, ControlResponse, MAX_LINE_BYTES, MessageVersion,
    PROTOCOL_VERSION, socket_path,
};
use crate::daemon::{DaemonError, DaemonHandle};
use crate::host_permits::{Permit, PermitRequest, PermitReturn};
use crate::source_edit::EditError;
use crate::source_explanation::SourceExplanation;
use crate::status::DaemonStatus;

/// Maximum concurrent connections.
const MAX_CONNECTIONS: usize = 16;
/// Longest wait for a whole line, including the pause before it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time that requests in progress have to finish at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Control socket of a running daemon.
pub struct ControlServer {
    socket: PathBuf,
    listener: JoinHandle<()>,
    shutdown: watch::Sender<bool>,
    connections: Arc<Semaphore>,
}

impl ControlServer {
    /// Opens the control socket. A socket left behind by a dead daemon is replaced: the store's
    /// lock guarantees that there is only one.
    ///
    /// # Errors
    /// Returns [`ControlError::CannotListen`] if the socket cannot be created.
    pub fn open(handle: DaemonHandle) -> Result<Self, ControlError> {
        let socket = socket_path(handle.store_path());
        let unheard = |source| ControlError::CannotListen { socket: socket.clone(), source };
        remove_socket(&socket);
        let listener = UnixListener::bind(&socket).map_err(unheard)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600)).map_err(unheard)?;
        let owner = socket.symlink_metadata().map_err(unheard)?.uid();
        let (closing, closed) = watch::channel(false);
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let answering = Arc::clone(&connections);
        let listening = tokio::spawn(async move {
            loop {
                let Ok(permit) = Arc::clone(&answering).acquire_owned().await else { return };
                let Ok((stream, _)) = listener.accept().await else {
                    // Possibly out of file descriptors: wait until others are closed.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                };
                // Another user may have connected before the permissions were set.
                let knows = stream.peer_cred().is_ok_and(|it| it.uid() == owner || it.uid() == 0);
                if !knows {
                    continue;
                }
                let (handle, mut closed) = (handle.clone(), closed.clone());
                tokio::spawn(async move {
                    let _permit = permit;
                    tokio::select! {
                        () = serve_connection(stream, &handle, closed.clone()) => {}
                        () = grace_period(&mut closed) => {}
                    }
                });
            }
        });
        Ok(Self { socket, listener: listening, shutdown: closing, connections })
    }

    /// Returns the path of the socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Closes the socket at once. Requests in progress get a short grace period.
    pub fn close(self) -> impl Future<Output = ()> + Send {
        // The socket is removed before the store is unlocked: the next socket at this path is not
        // ours.
        remove_socket(&self.socket);
        self.listener.abort();
        async move {
            let _ = self.shutdown.send(true);
            // The listener holds one permit until it is gone.
            let _ = self.listener.await;
            let all = u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX);
            let _ = timeout(2 * SHUTDOWN_GRACE, self.connections.acquire_many(all)).await;
        }
    }
}

/// Removes a socket file, and nothing else that may be at the path.
fn remove_socket(socket: &Path) {
    if socket.symlink_metadata().is_ok_and(|it| it.file_type().is_socket()) {
        let _ = fs::remove_file(socket);
    }
}

/// Completes one grace period after shutdown begins.
async fn grace_period(closed: &mut watch::Receiver<bool>) {
    let _ = closed.wait_for(|closed| *closed).await;
    tokio::time::sleep(SHUTDOWN_GRACE).await;
}

async fn serve_connection(
    stream: UnixStream,
    handle: &DaemonHandle,
    mut closed: watch::Receiver<bool>,
) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = (&mut read).take(MAX_LINE_BYTES);
        let received = tokio::select! {
            received = timeout(IDLE_TIMEOUT, bounded.read_until(b'\n', &mut line)) => received,
            _ = closed.wait_for(|closed| *closed) => return,
        };
        if !matches!(received, Ok(Ok(bytes)) if bytes > 0) {
            return;
        }
        let is_whole = line.ends_with(b"\n");
        let response = if is_whole { handle_line(&line, handle).await } else { line_too_long() };
        let Ok(mut text) =
            serde_json::to_vec(&ControlMessage { version: PROTOCOL_VERSION, body: response })
        else {
            return;
        };
        text.push(b'\n');
        let sent = timeout(IDLE_TIMEOUT, write.write_all(&text)).await;
        if !is_whole || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

async fn handle_line(line: &[u8], handle: &DaemonHandle) -> ControlResponse {
    match serde_json::from_slice::<MessageVersion>(line) {
        Ok(mark) if mark.version == PROTOCOL_VERSION => {}
        Ok(mark) => {
            let reason = format!(
                "unsupported protocol version {}: this daemon speaks {PROTOCOL_VERSION}",
                mark.version
            );
            return ControlResponse::Refused {
                reason,
                hint: Some("restart the daemon".to_owned()),
            };
        }
        Err(reason) => return refused(format!("invalid request: {reason}"), None),
    }
    match serde_json::from_slice::<ControlMessage<ControlRequest>>(line) {
        Ok(line) => handle_request(line.body, handle).await,
        Err(reason) => refused(format!("invalid request: {reason}"), None),
    }
}

async fn handle_request(request: ControlRequest, handle: &DaemonHandle) -> ControlResponse {
    let live = |error: DaemonError| refused(error.to_string(), error.hint());
    match request {
        ControlRequest::Status => match handle.status().await {
            Ok(status) => ControlResponse::Status(Box::new(finite_status(status))),
            Err(error) => live(error),
        },
        ControlRequest::Explain(url) => match handle.explain(&url).await {
            Ok(explained) => ControlResponse::Explanation(Box::new(finite_explanation(explained))),
            Err(error) => live(error),
        },
        ControlRequest::Check(url) => match handle.check(&url).await {
            Ok(()) => ControlResponse::Done,
            Err(error) => live(error),
        },
        ControlRequest::PutToken { name, hash, scopes } => {
            let token = Token { name, hash, scopes, created_at: handle.now(), used_at: None };
            match handle.put_token(token).await {
                Ok(()) => ControlResponse::Done,
                Err(error) => live(error),
            }
        }
        ControlRequest::RemoveToken(name) => match handle.remove_token(name).await {
            Ok(true) => ControlResponse::Done,
            Ok(false) => ControlResponse::NotFound,
            Err(error) => live(error),
        },
        ControlRequest::Destination(edit) => match handle.edit_destination(edit).await {
            Ok(number) => ControlResponse::Destination(number),
            Err(error) => refused(error.to_string(), error.hint()),
        },
        ControlRequest::SignalSourceReports(numbers) => {
            match handle.signal_source_reports(numbers).await {
                Ok(reports) => {
                    let reports = reports.into_iter().map(|it| it.map(finite_report));
                    ControlResponse::SignalSourceReports(reports.collect())
                }
                Err(error) => live(error),
            }
        }
        ControlRequest::AddSignalSource(request) => {
            match handle.add_signal_source(*request).await {
                Ok(it) => ControlResponse::SignalSourceAdded { id: it.id, is_new: it.is_new },
                Err(error) => refused(error.to_string(), error.hint()),
            }
        }
        ControlRequest::RemoveSignalSource(number) => {
            match handle.remove_signal_source(number).await {
                Ok(gone) => ControlResponse::SignalSourcesRemoved(gone),
                Err(error) => refused(error.to_string(), error.hint()),
            }
        }
        ControlRequest::RequestPermit { host, crawl_delay_days, max_wait_days, is_final: last } => {
            match handle
                .request_permit(PermitRequest {
                    host,
                    crawl_delay_days,
                    max_wait_days,
                    is_final: last,
                })
                .await
            {
                Ok(Permit::StartsAt(day) | Permit::NotBefore(day)) => {
                    ControlResponse::Permit(Some(finite_or_zero(day)))
                }
                Ok(Permit::Busy) => ControlResponse::Permit(None),
                Err(error) => live(error),
            }
        }
        ControlRequest::ReturnPermit { host, cooldown_days, failed } => {
            match handle.return_permit(PermitReturn { host, cooldown_days, failed }).await {
                Ok(()) => ControlResponse::Done,
                Err(error) => live(error),
            }
        }
        ControlRequest::Edit(edit) => match handle.edit(edit).await {
            Ok(applied) => ControlResponse::EditResult(applied),
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

fn refused(reason: String, hint: Option<String>) -> ControlResponse {
    ControlResponse::Refused { reason, hint }
}

fn line_too_long() -> ControlResponse {
    refused(format!("request is longer than {MAX_LINE_BYTES} bytes"), None)
}

/// JSON cannot represent infinity.
fn finite_or_zero(number: f64) -> f64 {
    if number.is_nan() { 0.0 } else { number.clamp(f64::MIN, f64::MAX) }
}

fn finite_status(mut status: DaemonStatus) -> DaemonStatus {
    let DaemonStatus { budget, freshness, price, long_run_price: outlook, .. } = &mut status;
    for number in [budget, freshness, price, outlook] {
        *number = finite_or_zero(*number);
    }
    status
}

fn finite_report(mut it: SignalSourceReport) -> SignalSourceReport {
    for number in [
        &mut it.precision,
        &mut it.recall,
        &mut it.delay,
        &mut it.read_interval,
        &mut it.read_value,
    ] {
        *number = number.filter(|it| it.is_finite());
    }
    (it.cost_per_day, it.gained_value) =
        (finite_or_zero(it.cost_per_day), finite_or_zero(it.gained_value));
    it
}

fn finite_explanation(mut it: SourceExplanation) -> SourceExplanation {
    it.rate_interval = (finite_or_zero(it.rate_interval.0), finite_or_zero(it.rate_interval.1));
    it.changes_a_day = finite_or_zero(it.changes_a_day);
    it.price = finite_or_zero(it.price);
    if let Some(it) = &mut it.signals {
        for number in [&mut it.weight, &mut it.precision, &mut it.recall, &mut it.fresh_probability]
        {
            *number = finite_or_zero(*number);
        }
    }
    (it.importance, it.cost) = (finite_or_zero(it.importance), finite_or_zero(it.cost));
    it
}
