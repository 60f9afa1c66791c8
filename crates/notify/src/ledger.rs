//! Writing down how far deliveries are. A write waits for the disk: what many have to say meanwhile is
//! written as one.

use freshet_daemon::{DaemonError, Handle};
use freshet_store::DeliveryStep;
use tokio::sync::{mpsc, oneshot};

/// Steps that are written at once.
const MANY: usize = 1000;

type Entry = (DeliveryStep, oneshot::Sender<Result<(), DaemonError>>);

/// Where deliveries write down how far they are. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Ledger(mpsc::UnboundedSender<Entry>);

impl Ledger {
    /// Goes on as long as there is somebody who can write.
    pub(crate) fn start(handle: Handle) -> Self {
        let (entries, entered) = mpsc::unbounded_channel();
        tokio::spawn(keep(handle, entered));
        Self(entries)
    }

    /// Writes down a step. When this returns, it is durable.
    pub(crate) async fn write(&self, step: DeliveryStep) -> Result<(), DaemonError> {
        let (reply, written) = oneshot::channel();
        self.0.send((step, reply)).map_err(|_| DaemonError::Stopped)?;
        written.await.unwrap_or(Err(DaemonError::Stopped))
    }
}

async fn keep(handle: Handle, mut entered: mpsc::UnboundedReceiver<Entry>) {
    let mut entries = Vec::new();
    while entered.recv_many(&mut entries, MANY).await > 0 {
        let (steps, replies): (Vec<_>, Vec<_>) = entries.drain(..).unzip();
        let all = steps.clone();
        let mut written = handle.write(move |store| store.record_delivery_steps(&all)).await;
        let is_one = steps.len() == 1;
        for (step, reply) in steps.into_iter().zip(replies) {
            // What keeps one from being written need not keep the others.
            let own = match &mut written {
                Ok(()) => Ok(()),
                failed if is_one => std::mem::replace(failed, Ok(())),
                Err(_) => handle.write(move |store| store.record_delivery_steps(&[step])).await,
            };
            // Who asked may have gone.
            let _ = reply.send(own);
        }
    }
}
