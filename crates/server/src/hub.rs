//! The log as it grows, read once for all who follow it.

use std::sync::Arc;

use bytes::Bytes;
use freshet_daemon::Handle;
use freshet_notify::{Entry, EntryKind};
use freshet_store::{Change, ChangeFilter};
use tokio::sync::{broadcast, watch};

/// Entries that a follower may be behind before it reads the log by itself.
const BEHIND: usize = 4096;
/// Entries that are read at once.
const SOME: usize = 500;

/// An entry that was logged, and how it is told.
pub(crate) struct StreamEvent {
    pub(crate) change: Change,
    /// As an event of a stream.
    pub(crate) frame: Bytes,
}

impl StreamEvent {
    pub(crate) fn new(change: Change) -> Self {
        let entry = Entry::from_change(&change);
        // JSON has no line breaks of its own.
        let data = serde_json::to_string(&entry).unwrap_or_default();
        let name = entry.kind.name();
        let frame = format!("id: {}\nevent: {name}\ndata: {data}\n\n", entry.cursor);
        Self { change, frame: frame.into() }
    }
}

/// The log as it grows.
#[derive(Clone)]
pub(crate) struct Hub {
    told: broadcast::Sender<Arc<StreamEvent>>,
    cursor: watch::Receiver<i64>,
}

/// All kinds of entries.
pub(crate) fn everything() -> ChangeFilter {
    let kinds = EntryKind::ALL.into_iter().map(Into::into).collect();
    ChangeFilter { kinds, ..ChangeFilter::default() }
}

impl Hub {
    /// Follows a log from now on, until the daemon ends.
    pub(crate) fn start(handle: Handle) -> Self {
        let (told, _) = broadcast::channel(BEHIND);
        let mut status = handle.watch();
        let at = status.borrow_and_update().cursor;
        let (says, cursor) = watch::channel(at);
        let hub = Self { told: told.clone(), cursor };
        tokio::spawn(async move {
            let mut at = at;
            while status.changed().await.is_ok() {
                let newest = status.borrow_and_update().cursor;
                if newest <= at {
                    continue;
                }
                if told.receiver_count() == 0 {
                    // Whoever comes later reads the log up to here.
                    at = newest;
                }
                while at < newest {
                    let filter = everything();
                    let read = handle.read(move |reader| reader.changes(at, SOME, &filter)).await;
                    let Ok(some) = read else { break };
                    let Some(last) = some.last().map(|it| it.cursor) else {
                        at = newest;
                        break;
                    };
                    for change in some {
                        // Nobody may be there any more.
                        let _ = told.send(Arc::new(StreamEvent::new(change)));
                    }
                    at = last;
                }
                says.send_replace(at);
            }
        });
        hub
    }

    /// What is logged from now on.
    pub(crate) fn follow(&self) -> broadcast::Receiver<Arc<StreamEvent>> {
        self.told.subscribe()
    }

    /// The cursor of the newest entry, and a way to wait for the next.
    pub(crate) fn cursor(&self) -> watch::Receiver<i64> {
        self.cursor.clone()
    }

    /// How many follow.
    pub(crate) fn followers(&self) -> usize {
        self.told.receiver_count()
    }
}
