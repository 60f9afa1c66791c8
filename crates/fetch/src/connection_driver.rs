//! Background tasks of a connection. They end when nobody uses the connection any more.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// Time that an unused connection has for an orderly shutdown. An unresponsive host could otherwise
/// hold it forever.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// Handle held by every user of a connection.
pub(crate) type ConnectionHandle = Arc<watch::Sender<()>>;

/// Spawns the background tasks of a connection, which run until shortly after the last handle is
/// dropped.
#[derive(Clone)]
pub(crate) struct ConnectionDriver(watch::Receiver<()>);

impl ConnectionDriver {
    /// Returns the driver of a new connection and the handle for its users.
    pub(crate) fn new() -> (Self, ConnectionHandle) {
        let (handle, dropped) = watch::channel(());
        (Self(dropped), Arc::new(handle))
    }

    /// Spawns a background task.
    pub(crate) fn spawn<F>(&self, work: F)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        let mut dropped = self.0.clone();
        tokio::spawn(async move {
            let closed = async {
                // Nothing is ever sent: this returns when the last handle is dropped.
                let _ = dropped.changed().await;
                sleep(CLOSE_GRACE).await;
            };
            tokio::select! {
                _ = work => {}
                () = closed => {}
            }
        });
    }
}

impl<F> hyper::rt::Executor<F> for ConnectionDriver
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, work: F) {
        self.spawn(work);
    }
}
