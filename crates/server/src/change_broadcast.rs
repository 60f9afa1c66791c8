//! Broadcast of new change-log entries: the log is read once for all subscribers.

use std::sync::Arc;

use bytes::Bytes;
use freshet_daemon::DaemonHandle;
use freshet_notify::{Entry, EntryKind};
use freshet_store::{Change, ChangeFilter};
use tokio::sync::{broadcast, watch};

/// Entries a subscriber may lag behind before it has to read the log itself.
const CHANNEL_CAPACITY: usize = 4096;
/// Entries read from the log at a time.
const READ_BATCH: usize = 500;

/// A log entry and its server-sent event.
pub(crate) struct StreamEvent {
    pub(crate) change: Change,
    /// The entry as a server-sent event.
    pub(crate) frame: Bytes,
}

impl StreamEvent {
    pub(crate) fn new(change: Change) -> Self {
        let entry = Entry::from_change(&change);
        // The JSON contains no line breaks.
        let data = serde_json::to_string(&entry).unwrap_or_default();
        let name = entry.kind.name();
        let frame = format!("id: {}\nevent: {name}\ndata: {data}\n\n", entry.cursor);
        Self { change, frame: frame.into() }
    }
}

/// Broadcasts new log entries to all subscribers.
#[derive(Clone)]
pub(crate) struct ChangeBroadcast {
    events: broadcast::Sender<Arc<StreamEvent>>,
    cursor: watch::Receiver<i64>,
}

/// Returns a filter that matches entries of all kinds.
pub(crate) fn all_kinds() -> ChangeFilter {
    let kinds = EntryKind::ALL.into_iter().map(Into::into).collect();
    ChangeFilter { kinds, ..ChangeFilter::default() }
}

impl ChangeBroadcast {
    /// Starts broadcasting from the current end of the log, until the daemon stops.
    pub(crate) fn start(handle: DaemonHandle) -> Self {
        let (events, _) = broadcast::channel(CHANNEL_CAPACITY);
        let mut status = handle.watch_status();
        let start = status.borrow_and_update().cursor;
        let (publish_cursor, cursor) = watch::channel(start);
        let broadcast = Self { events: events.clone(), cursor };
        tokio::spawn(async move {
            let mut position = start;
            while status.changed().await.is_ok() {
                let newest = status.borrow_and_update().cursor;
                if newest <= position {
                    continue;
                }
                if events.receiver_count() == 0 {
                    // A later subscriber reads the log up to here.
                    position = newest;
                }
                while position < newest {
                    let filter = all_kinds();
                    let read = handle
                        .read(move |reader| reader.changes(position, READ_BATCH, &filter))
                        .await;
                    let Ok(batch) = read else { break };
                    let Some(last) = batch.last().map(|it| it.cursor) else {
                        position = newest;
                        break;
                    };
                    for change in batch {
                        // An error means that no one is subscribed any more.
                        let _ = events.send(Arc::new(StreamEvent::new(change)));
                    }
                    position = last;
                }
                publish_cursor.send_replace(position);
            }
        });
        broadcast
    }

    /// Subscribes to entries logged from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<StreamEvent>> {
        self.events.subscribe()
    }

    /// Returns a watch on the cursor of the newest entry.
    pub(crate) fn cursor(&self) -> watch::Receiver<i64> {
        self.cursor.clone()
    }

    /// Returns the number of subscribers.
    pub(crate) fn subscriber_count(&self) -> usize {
        self.events.receiver_count()
    }
}
