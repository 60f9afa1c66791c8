//! What heralds say comes in bit by bit; those who are listened to come and go.

mod found;

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_engine::{Event, Signal, SignalHistoryMemory, SignalSourceMemory, SignalSourceReport};
use freshet_store::{
    LearnedState, Reader, SignalEntry, SignalHistory, SignalSource, SignalSourceKind,
    SignalSourceOrigin, SignalSourceUpdate, StoreError,
};
use tokio::sync::oneshot;

use super::Core;
use crate::clock::millis;
use crate::permits::Notice;
use crate::signal_sources::{
    DiscoveryRule, ReadOver, SignalReport, SignalSourceChange, SignalSourceChanges,
    SignalSourceError, SignalSourceRead, Word,
};
use crate::websub::Offer;
use crate::writer::Write;

/// What was said and is not written: who reads on waits at more.
const UNWRITTEN: usize = 16_384;
/// With so much it is written at once.
const ENOUGH: usize = 2_048;
/// Heralds that are loaded at once.
const PAGE: usize = 10_000;

/// A herald, as the loop knows it.
#[derive(Clone, Debug)]
struct KnownSignalSource {
    kind: SignalSourceKind,
    name: String,
    source: Option<u32>,
    parent: Option<u32>,
    origin: SignalSourceOrigin,
    /// The host whose robots.txt names it.
    speaks_for: Option<String>,
    found: u64,
}

/// All who are listened to.
#[derive(Default)]
pub(crate) struct SignalSources {
    known: HashMap<u32, KnownSignalSource>,
    /// By the source that is read.
    sources: HashMap<u32, u32>,
    /// Of which something was learnt that is not written.
    learnt: HashSet<u32>,
    /// Signals that were heard, by the kind of who gave them.
    pub(super) heard: BTreeMap<String, u64>,
    /// Who reads on when all is written.
    waiting: Vec<oneshot::Sender<()>>,
}

/// A change of heralds that the writer has made, and who waits for it.
pub(crate) struct SignalSourcesDone {
    pub(crate) changed: Result<SignalSourceChanges, SignalSourceError>,
    pub(crate) reply: oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>,
}

impl SignalSources {
    /// All of a store, and what the engine is told of them before it knows their sources.
    pub(crate) fn load(reader: &Reader, back: f64) -> Result<(Self, Event), StoreError> {
        let mut heralds = Self::default();
        let mut told = Vec::new();
        let mut query = freshet_store::SignalSourceQuery { limit: PAGE, ..Default::default() };
        loop {
            let some = reader.signal_sources(&query)?;
            let Some(last) = some.last() else { break };
            query.after = Some(last.id);
            for it in &some {
                let memory = SignalSourceMemory::from_bytes(&it.learned).ok();
                let memory = memory.filter(|_| !it.learned.is_empty()).map(|it| it.earlier(back));
                told.push((engine_herald(it), memory));
                heralds.insert(it);
            }
        }
        Ok((heralds, Event::Heralds(told)))
    }

    fn insert(&mut self, it: &SignalSource) {
        let known = KnownSignalSource {
            kind: it.kind,
            name: it.name.clone(),
            source: it.source,
            parent: it.parent,
            origin: it.origin,
            speaks_for: DiscoveryRule::of(it).speaks_for,
            found: self.known.get(&it.id).map_or(it.sources_added, |known| known.found),
        };
        if let Some(source) = it.source {
            self.sources.insert(source, it.id);
        }
        self.known.insert(it.id, known);
    }

    /// Whether a source is read to hear a herald, and is no page.
    pub(crate) fn is_read(&self, source: u32) -> bool {
        self.sources.contains_key(&source)
    }

    /// Whether a herald is the one that a source is, or was, read to hear: another may have its number by
    /// now.
    fn is_same(&self, herald: u32, source: Option<u32>) -> bool {
        self.known.get(&herald).is_some_and(|it| it.source == source)
    }

    /// How many sources are read to hear heralds.
    pub(crate) fn read(&self) -> usize {
        self.sources.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    fn root(&self, number: u32) -> u32 {
        let mut root = number;
        // Nobody is deeper than a few: a circle ends as well.
        for _ in 0..8 {
            match self.known.get(&root).and_then(|it| it.parent) {
                Some(parent) => root = parent,
                None => break,
            }
        }
        root
    }
}

fn engine_herald(it: &SignalSource) -> freshet_engine::SignalSource {
    freshet_engine::SignalSource { number: it.id, source: it.source }
}

impl Core {
    /// Sources that are pages.
    pub(super) fn pages(&self) -> usize {
        self.engine.len().saturating_sub(self.flow.heralds.read())
    }

    /// Has heralds changed.
    pub(super) fn change_heralds(
        &mut self,
        change: SignalSourceChange,
        reply: oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>,
    ) {
        let (told, answer) = oneshot::channel();
        if self.writer.send(Write::Heralds(change, told)).is_ok() {
            self.flow.changes.spawn(async move {
                let changed = match answer.await {
                    Ok(changed) => changed.map_err(SignalSourceError::Store),
                    Err(_) => Err(SignalSourceError::Stopped),
                };
                SignalSourcesDone { changed, reply }
            });
        }
    }

    /// Heralds were changed: the engine is told, and who waits for it.
    pub(super) fn heralds_changed(&mut self, over: Option<SignalSourcesDone>) {
        let Some(SignalSourcesDone { changed, reply }) = over else { return };
        if let Ok(changed) = &changed {
            self.meet();
            let gone = &changed.removed;
            if !gone.signal_sources.is_empty() {
                self.tell(Event::Removed(gone.sources.clone()));
                self.tell(Event::Dismissed(gone.signal_sources.clone()));
                self.forget(&gone.signal_sources, &gone.sources);
                self.websub.look_again();
            }
            let mut told = Vec::with_capacity(changed.heralds.len());
            for it in &changed.heralds {
                self.flow.heralds.insert(it);
                told.push((engine_herald(it), None));
            }
            if !told.is_empty() {
                self.tell(Event::Heralds(told));
            }
            if !changed.described.is_empty() {
                self.tell(Event::Described(changed.described.clone()));
            }
            self.adapt();
        }
        // Who asked may have gone.
        let _ = reply.send(changed);
    }

    /// Nothing is written any more of heralds that are gone: their numbers may be those of others soon.
    fn forget(&mut self, heralds: &[u32], sources: &[u32]) {
        let gone: HashSet<u32> = heralds.iter().copied().collect();
        let all = &mut self.flow.heralds;
        for number in heralds {
            all.known.remove(number);
            all.learnt.remove(number);
        }
        for source in sources {
            all.sources.remove(source);
            self.flow.decided.remove(source);
        }
        let batch = &mut self.flow.batch;
        batch.signal_sources.retain(|it| !gone.contains(&it.signal_source));
        batch.signal_entries.retain(|it| !gone.contains(&it.signal_source));
        batch.signal_histories.retain(|it| !gone.contains(&it.signal_source));
    }

    /// What readers of heralds have to say.
    pub(super) fn herald_noticed(&mut self, notice: Notice) {
        if self.flow.stopping {
            return;
        }
        match notice {
            Notice::Words { herald, source, root, words, found, reserved, done } => {
                // A reader whom nobody answers stops.
                if !self.flow.heralds.is_same(herald, source) {
                    return;
                }
                self.count_found(root, found, reserved);
                self.take_words(herald, &words);
                if source.is_none() {
                    self.spoke(herald);
                }
                if self.flow.batch.signal_entries.len() < UNWRITTEN {
                    let _ = done.send(());
                } else {
                    self.flow.heralds.waiting.push(done);
                }
                if self.flow.batch.signal_entries.len() >= ENOUGH {
                    self.write();
                }
            }
            Notice::Found { herald, source, root, most, wanted, done }
                if self.flow.heralds.is_same(herald, source) =>
            {
                self.find((herald, root), most, wanted, done);
            }
            Notice::Parts { herald, source, root, urls, is_whole, done }
                if self.flow.heralds.is_same(herald, source) =>
            {
                self.take_parts((herald, root), urls, is_whole, done);
            }
            _ => {}
        }
    }

    /// What was taken off the limit of a rule and was known after all goes back.
    fn count_found(&mut self, root: u32, found: u32, reserved: u32) {
        if let Some(known) = self.flow.heralds.known.get_mut(&root) {
            known.found = known.found.saturating_sub(u64::from(reserved.saturating_sub(found)));
        }
    }

    fn take_words(&mut self, herald: u32, words: &[Word]) {
        let now = self.shop.clock.now();
        for word in words {
            let source = word.hearsay.source;
            if word.signal {
                self.hear(herald, word.hearsay);
            }
            let (moment, print) = (word.moment, word.print);
            self.flow.batch.signal_entries.push(SignalEntry {
                signal_source: herald,
                source,
                received_at: now,
                changed_at: moment,
                fingerprint: print,
            });
        }
        self.flow.stale |= !words.is_empty();
    }

    /// Somebody says that a source has changed. Says whether there is such a source.
    fn hear(&mut self, herald: u32, hearsay: SignalReport) -> bool {
        let (id, said) = (hearsay.source, hearsay.said(self.engine.now()));
        self.tell(Event::Heard(Signal { id, herald, said }));
        let Some(learnt) = self.engine.learned_state(id) else { return false };
        if let Some(known) = self.flow.heralds.known.get(&herald) {
            let word = known.kind.name();
            *self.flow.heralds.heard.entry(word.to_owned()).or_default() += 1;
        }
        let due = learnt.due().map(millis);
        let learnt = LearnedState { source: id, learned: Some(learnt.to_bytes()), due_at: due };
        self.flow.batch.learned.push(learnt);
        self.remember_ears(id);
        self.flow.heralds.learnt.insert(herald);
        self.flow.stale = true;
        true
    }

    /// Somebody who speaks by themselves says so of some sources. Gives how many of them there are.
    pub(super) fn heard_from(&mut self, herald: u32, said: &[SignalReport]) -> u64 {
        if !self.flow.heralds.known.contains_key(&herald) {
            return 0;
        }
        let known = said.iter().filter(|it| self.hear(herald, **it)).count();
        self.spoke(herald);
        known as u64
    }

    /// Has written when somebody who speaks by themselves last did.
    fn spoke(&mut self, herald: u32) {
        let heard = Some(self.shop.clock.now());
        self.flow.batch.signal_sources.push(SignalSourceUpdate {
            signal_source: herald,
            last_signal_at: heard,
            ..SignalSourceUpdate::default()
        });
        self.flow.stale = true;
    }

    /// Has written what was learnt of heralds about a source.
    pub(super) fn remember_ears(&mut self, source: u32) {
        for (herald, memory) in self.engine.ear_memories(source) {
            let learnt = SignalHistoryMemory::to_bytes(&memory);
            self.flow.batch.signal_histories.push(SignalHistory {
                signal_source: herald,
                source,
                learned: learnt,
            });
            self.flow.heralds.learnt.insert(herald);
        }
    }

    /// Has written what was learnt of heralds themselves, with all else.
    pub(super) fn remember_heralds(&mut self) {
        for herald in std::mem::take(&mut self.flow.heralds.learnt) {
            let memory = self.engine.herald_memory(herald);
            let learnt = memory.map(|it| it.to_bytes());
            if learnt.is_some() {
                let record = SignalSourceUpdate {
                    signal_source: herald,
                    learned: learnt,
                    ..SignalSourceUpdate::default()
                };
                self.flow.batch.signal_sources.push(record);
            }
        }
    }

    /// All is written: who reads may go on.
    pub(super) fn read_on(&mut self) {
        for waiting in std::mem::take(&mut self.flow.heralds.waiting) {
            let _ = waiting.send(());
        }
    }

    /// A read of a herald is over: the engine has heard all that it said.
    pub(super) fn read_is_over(&mut self, over: ReadOver) {
        let ReadOver { herald, source, read, found } = over;
        if !self.flow.heralds.is_same(herald, Some(source)) {
            return;
        }
        let heard = found.map(|_| self.shop.clock.now());
        if let Some(found) = found {
            self.tell(Event::Read { herald, found });
        }
        if let (Some(read), Some(_)) = (&read, found) {
            self.offer(herald, read);
        }
        let outcome = read.map(|read| read.to_text());
        let record = SignalSourceUpdate {
            signal_source: herald,
            last_signal_at: heard,
            outcome,
            ..SignalSourceUpdate::default()
        };
        self.flow.batch.signal_sources.push(record);
        self.flow.heralds.learnt.insert(herald);
        self.flow.stale = true;
    }

    /// A feed may name hubs, which tell when it changes.
    fn offer(&self, feed: u32, read: &SignalSourceRead) {
        let Some(known) = self.flow.heralds.known.get(&feed) else { return };
        let topic = read.itself.clone().unwrap_or_else(|| known.name.clone());
        self.websub.offer(Offer { feed, topic, hubs: read.hubs.clone() });
    }

    pub(super) fn herald_reports(&self, numbers: &[u32]) -> Vec<Option<SignalSourceReport>> {
        numbers.iter().map(|number| self.engine.herald(*number)).collect()
    }
}
