//! Records the progress of deliveries. A write waits for the disk: steps that arrive meanwhile are written together.

use freshet_daemon::{DaemonError, DaemonHandle};
use freshet_store::DeliveryStep;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of steps in one write.
const MAX_STEPS_PER_WRITE: usize = 1000;

type PendingStep = (DeliveryStep, oneshot::Sender<Result<(), DaemonError>>);

/// Handle of the task that records delivery steps. Clones share the task.
#[derive(Clone)]
pub(crate) struct ProgressWriter(mpsc::UnboundedSender<PendingStep>);

impl ProgressWriter {
    /// Starts the task. It ends when all handles are dropped.
    pub(crate) fn start(handle: DaemonHandle) -> Self {
        let (steps, pending) = mpsc::unbounded_channel();
        tokio::spawn(write_steps(handle, pending));
        Self(steps)
    }

    /// Records a step. It is durable when this returns.
    pub(crate) async fn write(&self, step: DeliveryStep) -> Result<(), DaemonError> {
        let (reply, result) = oneshot::channel();
        self.0.send((step, reply)).map_err(|_| DaemonError::Stopped)?;
        result.await.unwrap_or(Err(DaemonError::Stopped))
    }
}

async fn write_steps(handle: DaemonHandle, mut pending: mpsc::UnboundedReceiver<PendingStep>) {
    let mut batch = Vec::new();
    while pending.recv_many(&mut batch, MAX_STEPS_PER_WRITE).await > 0 {
        let (steps, replies): (Vec<_>, Vec<_>) = batch.drain(..).unzip();
        let all = steps.clone();
        let mut written = handle.write(move |store| store.record_delivery_steps(&all)).await;
        let is_one = steps.len() == 1;
        for (step, reply) in steps.into_iter().zip(replies) {
            // If the batch fails, each step is tried alone: one invalid step must not block the others.
            let result = match &mut written {
                Ok(()) => Ok(()),
                failed if is_one => std::mem::replace(failed, Ok(())),
                Err(_) => handle.write(move |store| store.record_delivery_steps(&[step])).await,
            };
            // The worker may have ended.
            let _ = reply.send(result);
        }
    }
}
