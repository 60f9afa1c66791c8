//! What keeps a connection going beside those who use it, and ends when nobody does.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// How long a connection that nobody uses any more has to say goodbye. A host that does not listen could
/// otherwise hold it for ever.
const GRACE: Duration = Duration::from_secs(1);

/// Held by all who use a connection.
pub(crate) type Used = Arc<watch::Sender<()>>;

/// Runs what a connection is made of, as long as somebody uses it and a moment longer.
#[derive(Clone)]
pub(crate) struct Driver(watch::Receiver<()>);

impl Driver {
    /// For a new connection, and what its users hold.
    pub(crate) fn new() -> (Self, Used) {
        let (used, gone) = watch::channel(());
        (Self(gone), Arc::new(used))
    }

    /// Runs something beside the rest.
    pub(crate) fn run<F>(&self, work: F)
    where
        F: Future + Send + 'static,
        F::Output: Send,
    {
        let mut gone = self.0.clone();
        tokio::spawn(async move {
            let left = async {
                // Nothing is ever sent: it ends with the last of those who could.
                let _ = gone.changed().await;
                sleep(GRACE).await;
            };
            tokio::select! {
                _ = work => {}
                () = left => {}
            }
        });
    }
}

impl<F> hyper::rt::Executor<F> for Driver
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    fn execute(&self, work: F) {
        self.run(work);
    }
}
