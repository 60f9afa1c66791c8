//! Signal sources in the event loop: their signals arrive in portions, and sources come and go.

mod discovery;

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_engine::{
    Event, Signal, SignalHistoryCheckpoint, SignalSourceCheckpoint, SignalSourceReport,
};
use freshet_store::{
    LearnedState, Reader, SignalEntry, SignalHistory, SignalSource, SignalSourceKind,
    SignalSourceOrigin, SignalSourceUpdate, StoreError,
};
use tokio::sync::oneshot;

use super::EventLoop;
use crate::clock::millis_from_days;
use crate::host_permits::LoopMessage;
use crate::signal_sources::{
    CompletedRead, DiscoveryRule, ObservedEntry, SignalReport, SignalSourceChange,
    SignalSourceChanges, SignalSourceError, SignalSourceReadResult,
};
use crate::websub::HubOffer;
use crate::writer::WriteOrder;

/// Unwritten entries above which readers wait.
const MAX_UNWRITTEN_ENTRIES: usize = 16_384;
/// Unwritten entries that trigger a write.
const FULL_BATCH_ENTRIES: usize = 2_048;
/// Signal sources per page when loading.
const LOAD_PAGE: usize = 10_000;

/// A signal source as the event loop knows it.
#[derive(Clone, Debug)]
struct KnownSignalSource {
    kind: SignalSourceKind,
    name: String,
    source: Option<u32>,
    parent: Option<u32>,
    origin: SignalSourceOrigin,
    /// Host whose robots.txt names it; it may signal only that host's pages.
    only_host: Option<String>,
    sources_added: u64,
}

/// All signal sources.
#[derive(Default)]
pub(crate) struct SignalSources {
    by_id: HashMap<u32, KnownSignalSource>,
    /// Ids of signal sources by the source that is fetched to read them.
    by_source: HashMap<u32, u32>,
    /// Signal sources with learned state that is not written yet.
    unsaved: HashSet<u32>,
    /// Number of signals received, by kind of signal source.
    pub(super) signal_counts: BTreeMap<String, u64>,
    /// Readers that continue once all entries are written.
    paused_readers: Vec<oneshot::Sender<()>>,
}

/// A change made by the writer thread, and where to send the result.
pub(crate) struct CompletedSignalSourceChange {
    pub(crate) changed: Result<SignalSourceChanges, SignalSourceError>,
    pub(crate) reply: oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>,
}

impl SignalSources {
    /// Loads all signal sources, and the event that informs the engine about them before it learns about
    /// their sources.
    pub(crate) fn load(reader: &Reader, back: f64) -> Result<(Self, Event), StoreError> {
        let mut signal_sources = Self::default();
        let mut described = Vec::new();
        let mut query = freshet_store::SignalSourceQuery { limit: LOAD_PAGE, ..Default::default() };
        loop {
            let page = reader.signal_sources(&query)?;
            let Some(last) = page.last() else { break };
            query.after = Some(last.id);
            for it in &page {
                let memory = SignalSourceCheckpoint::from_bytes(&it.learned).ok();
                let memory =
                    memory.filter(|_| !it.learned.is_empty()).map(|it| it.rebase_time(back));
                described.push((engine_signal_source(it), memory));
                signal_sources.insert(it);
            }
        }
        Ok((signal_sources, Event::SignalSourcesDescribed(described)))
    }

    fn insert(&mut self, it: &SignalSource) {
        let known = KnownSignalSource {
            kind: it.kind,
            name: it.name.clone(),
            source: it.source,
            parent: it.parent,
            origin: it.origin,
            only_host: DiscoveryRule::from_signal_source(it).only_host,
            sources_added: self
                .by_id
                .get(&it.id)
                .map_or(it.sources_added, |known| known.sources_added),
        };
        if let Some(source) = it.source {
            self.by_source.insert(source, it.id);
        }
        self.by_id.insert(it.id, known);
    }

    /// True if a source is a sitemap or feed rather than a page.
    pub(crate) fn is_document_source(&self, source: u32) -> bool {
        self.by_source.contains_key(&source)
    }

    /// True if the signal source is still the one that `source` was fetched for: ids are reused.
    fn matches_source(&self, signal_source: u32, source: Option<u32>) -> bool {
        self.by_id.get(&signal_source).is_some_and(|it| it.source == source)
    }

    /// Number of sources that are sitemaps or feeds.
    pub(crate) fn document_count(&self) -> usize {
        self.by_source.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    fn root_id(&self, number: u32) -> u32 {
        let mut root = number;
        // Nesting is shallow; the bound also ends a cycle.
        for _ in 0..8 {
            match self.by_id.get(&root).and_then(|it| it.parent) {
                Some(parent) => root = parent,
                None => break,
            }
        }
        root
    }
}

fn engine_signal_source(it: &SignalSource) -> freshet_engine::SignalSource {
    freshet_engine::SignalSource { number: it.id, source: it.source }
}

impl EventLoop {
    /// Returns the number of sources that are pages.
    pub(super) fn page_count(&self) -> usize {
        self.engine.len().saturating_sub(self.in_flight.signal_sources.document_count())
    }

    /// Sends a change of signal sources to the writer thread.
    pub(super) fn change_signal_sources(
        &mut self,
        change: SignalSourceChange,
        reply: oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>,
    ) {
        let (sender, answer) = oneshot::channel();
        if self.writer.send(WriteOrder::ChangeSignalSources(change, sender)).is_ok() {
            self.in_flight.signal_source_changes.spawn(async move {
                let changed = match answer.await {
                    Ok(changed) => changed.map_err(SignalSourceError::Store),
                    Err(_) => Err(SignalSourceError::Stopped),
                };
                CompletedSignalSourceChange { changed, reply }
            });
        }
    }

    /// Applies a written change to the engine and replies to the caller.
    pub(super) fn on_signal_sources_changed(&mut self, done: Option<CompletedSignalSourceChange>) {
        let Some(CompletedSignalSourceChange { changed, reply }) = done else { return };
        if let Ok(changed) = &changed {
            self.adopt_unlisted_hosts();
            let gone = &changed.removed;
            if !gone.signal_sources.is_empty() {
                self.handle_event(Event::SourcesRemoved(gone.sources.clone()));
                self.handle_event(Event::SignalSourcesRemoved(gone.signal_sources.clone()));
                self.forget_signal_sources(&gone.signal_sources, &gone.sources);
                self.subscriber.recheck();
            }
            let mut described = Vec::with_capacity(changed.signal_sources.len());
            for it in &changed.signal_sources {
                self.in_flight.signal_sources.insert(it);
                described.push((engine_signal_source(it), None));
            }
            if !described.is_empty() {
                self.handle_event(Event::SignalSourcesDescribed(described));
            }
            if !changed.described.is_empty() {
                self.handle_event(Event::SourcesDescribed(changed.described.clone()));
            }
            self.update_engine_settings();
        }
        // The receiver may be gone.
        let _ = reply.send(changed);
    }

    /// Drops unwritten data of removed signal sources, whose ids may be reused soon.
    fn forget_signal_sources(&mut self, signal_sources: &[u32], sources: &[u32]) {
        let gone: HashSet<u32> = signal_sources.iter().copied().collect();
        let all = &mut self.in_flight.signal_sources;
        for number in signal_sources {
            all.by_id.remove(number);
            all.unsaved.remove(number);
        }
        for source in sources {
            all.by_source.remove(source);
            self.in_flight.decisions.remove(source);
        }
        let batch = &mut self.in_flight.batch;
        batch.signal_sources.retain(|it| !gone.contains(&it.signal_source));
        batch.signal_entries.retain(|it| !gone.contains(&it.signal_source));
        batch.signal_histories.retain(|it| !gone.contains(&it.signal_source));
    }

    /// Handles a message of a document reader.
    pub(super) fn handle_reader_message(&mut self, message: LoopMessage) {
        if self.in_flight.stopping {
            return;
        }
        match message {
            LoopMessage::Entries {
                signal_source,
                source,
                root,
                entries,
                added,
                reserved,
                done,
            } => {
                // Dropping the reply stops the reader.
                if !self.in_flight.signal_sources.matches_source(signal_source, source) {
                    return;
                }
                self.refund_reserved(root, added, reserved);
                self.record_entries(signal_source, &entries);
                if source.is_none() {
                    self.record_push_time(signal_source);
                }
                if self.in_flight.batch.signal_entries.len() < MAX_UNWRITTEN_ENTRIES {
                    let _ = done.send(());
                } else {
                    self.in_flight.signal_sources.paused_readers.push(done);
                }
                if self.in_flight.batch.signal_entries.len() >= FULL_BATCH_ENTRIES {
                    self.write_batch();
                }
            }
            LoopMessage::Discovered { signal_source, source, root, max_added, requests, done }
                if self.in_flight.signal_sources.matches_source(signal_source, source) =>
            {
                self.add_discovered((signal_source, root), max_added, requests, done);
            }
            LoopMessage::Children {
                signal_source,
                source,
                root,
                urls,
                is_complete: is_whole,
                done,
            } if self.in_flight.signal_sources.matches_source(signal_source, source) => {
                self.update_children((signal_source, root), urls, is_whole, done);
            }
            _ => {}
        }
    }

    /// Releases the part of the reserved limit that is not needed because the pages were already
    /// known.
    fn refund_reserved(&mut self, root: u32, added: u32, reserved: u32) {
        if let Some(known) = self.in_flight.signal_sources.by_id.get_mut(&root) {
            known.sources_added =
                known.sources_added.saturating_sub(u64::from(reserved.saturating_sub(added)));
        }
    }

    fn record_entries(&mut self, signal_source: u32, entries: &[ObservedEntry]) {
        let now = self.context.clock.now();
        for entry in entries {
            let source = entry.report.source;
            if entry.is_signal {
                self.receive_signal(signal_source, entry.report);
            }
            let (changed_at, fingerprint) = (entry.changed_at, entry.fingerprint);
            self.in_flight.batch.signal_entries.push(SignalEntry {
                signal_source,
                source,
                received_at: now,
                changed_at,
                fingerprint,
            });
        }
        self.in_flight.needs_write |= !entries.is_empty();
    }

    /// Receives one signal. Returns false if the source does not exist.
    fn receive_signal(&mut self, signal_source: u32, report: SignalReport) -> bool {
        let (id, change_time) = (report.source, report.stated_change_time(self.engine.now()));
        self.handle_event(Event::SignalReceived(Signal { source: id, signal_source, change_time }));
        let Some(learned) = self.engine.learned_state(id) else { return false };
        if let Some(known) = self.in_flight.signal_sources.by_id.get(&signal_source) {
            let entry = known.kind.name();
            *self.in_flight.signal_sources.signal_counts.entry(entry.to_owned()).or_default() += 1;
        }
        let due = learned.due_day().map(millis_from_days);
        let learned = LearnedState { source: id, learned: Some(learned.to_bytes()), due_at: due };
        self.in_flight.batch.learned.push(learned);
        self.save_signal_histories(id);
        self.in_flight.signal_sources.unsaved.insert(signal_source);
        self.in_flight.needs_write = true;
        true
    }

    /// Receives signals of a push source. Returns the number of sources that exist.
    pub(super) fn receive_signals(&mut self, signal_source: u32, reports: &[SignalReport]) -> u64 {
        if !self.in_flight.signal_sources.by_id.contains_key(&signal_source) {
            return 0;
        }
        let known = reports.iter().filter(|it| self.receive_signal(signal_source, **it)).count();
        self.record_push_time(signal_source);
        known as u64
    }

    /// Records the time of the last push.
    fn record_push_time(&mut self, signal_source: u32) {
        let received_at = Some(self.context.clock.now());
        self.in_flight.batch.signal_sources.push(SignalSourceUpdate {
            signal_source,
            last_signal_at: received_at,
            ..SignalSourceUpdate::default()
        });
        self.in_flight.needs_write = true;
    }

    /// Adds what was learned about signal sources for a source to the next batch.
    pub(super) fn save_signal_histories(&mut self, source: u32) {
        for (signal_source, memory) in self.engine.signal_history_checkpoints(source) {
            let learned = SignalHistoryCheckpoint::to_bytes(&memory);
            self.in_flight.batch.signal_histories.push(SignalHistory {
                signal_source,
                source,
                learned,
            });
            self.in_flight.signal_sources.unsaved.insert(signal_source);
        }
    }

    /// Adds what was learned about signal sources to the batch being written.
    pub(super) fn save_signal_sources(&mut self) {
        for signal_source in std::mem::take(&mut self.in_flight.signal_sources.unsaved) {
            let memory = self.engine.signal_source_checkpoint(signal_source);
            let learned = memory.map(|it| it.to_bytes());
            if learned.is_some() {
                let record =
                    SignalSourceUpdate { signal_source, learned, ..SignalSourceUpdate::default() };
                self.in_flight.batch.signal_sources.push(record);
            }
        }
    }

    /// Lets paused readers continue once all entries are written.
    pub(super) fn resume_readers(&mut self) {
        for waiting in std::mem::take(&mut self.in_flight.signal_sources.paused_readers) {
            let _ = waiting.send(());
        }
    }

    /// Handles the end of a document, after the engine has received all its signals.
    pub(super) fn on_document_read(&mut self, done: CompletedRead) {
        let CompletedRead { signal_source, source, read, sources_added: added } = done;
        if !self.in_flight.signal_sources.matches_source(signal_source, Some(source)) {
            return;
        }
        let received_at = added.map(|_| self.context.clock.now());
        if let Some(added) = added {
            self.handle_event(Event::SignalSourceRead { signal_source, found: added });
        }
        if let (Some(read), Some(_)) = (&read, added) {
            self.offer_hubs(signal_source, read);
        }
        let outcome = read.map(|read| read.to_json());
        let record = SignalSourceUpdate {
            signal_source,
            last_signal_at: received_at,
            outcome,
            ..SignalSourceUpdate::default()
        };
        self.in_flight.batch.signal_sources.push(record);
        self.in_flight.signal_sources.unsaved.insert(signal_source);
        self.in_flight.needs_write = true;
    }

    /// Offers the hubs that a feed names to the WebSub subscriber.
    fn offer_hubs(&self, feed: u32, read: &SignalSourceReadResult) {
        let Some(known) = self.in_flight.signal_sources.by_id.get(&feed) else { return };
        let topic = read.itself.clone().unwrap_or_else(|| known.name.clone());
        self.subscriber.offer_hubs(HubOffer { feed, topic, hubs: read.hubs.clone() });
    }

    pub(super) fn signal_source_reports(&self, numbers: &[u32]) -> Vec<Option<SignalSourceReport>> {
        numbers.iter().map(|number| self.engine.signal_source(*number)).collect()
    }
}
