//! What heralds say comes in bit by bit; those who are listened to come and go.

mod found;

use std::collections::{BTreeMap, HashMap, HashSet};

use freshet_engine::{EarMemory, Event, HeraldMemory, HeraldReport, Signal};
use freshet_store::{
    Ear, Herald, HeraldKind, HeraldOrigin, HeraldRecord, Learnt, Reader, Said, StoreError,
};
use tokio::sync::oneshot;

use super::Core;
use crate::clock::millis;
use crate::heralds::{
    Hearsay, HeraldChange, HeraldError, HeraldRead, HeraldRule, HeraldsChanged, ReadOver, Word,
};
use crate::turns::Notice;
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
struct Known {
    kind: HeraldKind,
    name: String,
    source: Option<u32>,
    parent: Option<u32>,
    origin: HeraldOrigin,
    /// The host whose robots.txt names it.
    speaks_for: Option<String>,
    found: u64,
}

/// All who are listened to.
#[derive(Default)]
pub(crate) struct Heralds {
    known: HashMap<u32, Known>,
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
pub(crate) struct HeraldsOver {
    pub(crate) changed: Result<HeraldsChanged, HeraldError>,
    pub(crate) reply: oneshot::Sender<Result<HeraldsChanged, HeraldError>>,
}

impl Heralds {
    /// All of a store, and what the engine is told of them before it knows their sources.
    pub(crate) fn load(reader: &Reader, back: f64) -> Result<(Self, Event), StoreError> {
        let mut heralds = Self::default();
        let mut told = Vec::new();
        let mut query = freshet_store::HeraldQuery { limit: PAGE, ..Default::default() };
        loop {
            let some = reader.heralds(&query)?;
            let Some(last) = some.last() else { break };
            query.after = Some(last.number);
            for it in &some {
                let memory = HeraldMemory::from_bytes(&it.learnt).ok();
                let memory = memory.filter(|_| !it.learnt.is_empty()).map(|it| it.earlier(back));
                told.push((engine_herald(it), memory));
                heralds.insert(it);
            }
        }
        Ok((heralds, Event::Heralds(told)))
    }

    fn insert(&mut self, it: &Herald) {
        let known = Known {
            kind: it.kind,
            name: it.name.clone(),
            source: it.source,
            parent: it.parent,
            origin: it.origin,
            speaks_for: HeraldRule::of(it).speaks_for,
            found: self.known.get(&it.number).map_or(it.found, |known| known.found),
        };
        if let Some(source) = it.source {
            self.sources.insert(source, it.number);
        }
        self.known.insert(it.number, known);
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

fn engine_herald(it: &Herald) -> freshet_engine::Herald {
    freshet_engine::Herald { number: it.number, source: it.source }
}

impl Core {
    /// Sources that are pages.
    pub(super) fn pages(&self) -> usize {
        self.engine.len().saturating_sub(self.flow.heralds.read())
    }

    /// Has heralds changed.
    pub(super) fn change_heralds(
        &mut self,
        change: HeraldChange,
        reply: oneshot::Sender<Result<HeraldsChanged, HeraldError>>,
    ) {
        let (told, answer) = oneshot::channel();
        if self.writer.send(Write::Heralds(change, told)).is_ok() {
            self.flow.changes.spawn(async move {
                let changed = match answer.await {
                    Ok(changed) => changed.map_err(HeraldError::Store),
                    Err(_) => Err(HeraldError::Stopped),
                };
                HeraldsOver { changed, reply }
            });
        }
    }

    /// Heralds were changed: the engine is told, and who waits for it.
    pub(super) fn heralds_changed(&mut self, over: Option<HeraldsOver>) {
        let Some(HeraldsOver { changed, reply }) = over else { return };
        if let Ok(changed) = &changed {
            self.meet();
            let gone = &changed.removed;
            if !gone.heralds.is_empty() {
                self.tell(Event::Removed(gone.sources.clone()));
                self.tell(Event::Dismissed(gone.heralds.clone()));
                self.forget(&gone.heralds, &gone.sources);
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
        batch.heralds.retain(|it| !gone.contains(&it.herald));
        batch.said.retain(|it| !gone.contains(&it.herald));
        batch.ears.retain(|it| !gone.contains(&it.herald));
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
                if self.flow.batch.said.len() < UNWRITTEN {
                    let _ = done.send(());
                } else {
                    self.flow.heralds.waiting.push(done);
                }
                if self.flow.batch.said.len() >= ENOUGH {
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
            self.flow.batch.said.push(Said { herald, source, at: now, moment, print });
        }
        self.flow.stale |= !words.is_empty();
    }

    /// Somebody says that a source has changed. Says whether there is such a source.
    fn hear(&mut self, herald: u32, hearsay: Hearsay) -> bool {
        let (id, said) = (hearsay.source, hearsay.said(self.engine.now()));
        self.tell(Event::Heard(Signal { id, herald, said }));
        let Some(learnt) = self.engine.learnt(id) else { return false };
        if let Some(known) = self.flow.heralds.known.get(&herald) {
            let word = known.kind.word();
            *self.flow.heralds.heard.entry(word.to_owned()).or_default() += 1;
        }
        let due = learnt.due().map(millis);
        let learnt = Learnt { source: id, learnt: Some(learnt.to_bytes()), due };
        self.flow.batch.learnt.push(learnt);
        self.remember_ears(id);
        self.flow.heralds.learnt.insert(herald);
        self.flow.stale = true;
        true
    }

    /// Somebody who speaks by themselves says so of some sources. Gives how many of them there are.
    pub(super) fn heard_from(&mut self, herald: u32, said: &[Hearsay]) -> u64 {
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
        self.flow.batch.heralds.push(HeraldRecord { herald, heard, ..HeraldRecord::default() });
        self.flow.stale = true;
    }

    /// Has written what was learnt of heralds about a source.
    pub(super) fn remember_ears(&mut self, source: u32) {
        for (herald, memory) in self.engine.ear_memories(source) {
            let learnt = EarMemory::to_bytes(&memory);
            self.flow.batch.ears.push(Ear { herald, source, learnt });
            self.flow.heralds.learnt.insert(herald);
        }
    }

    /// Has written what was learnt of heralds themselves, with all else.
    pub(super) fn remember_heralds(&mut self) {
        for herald in std::mem::take(&mut self.flow.heralds.learnt) {
            let memory = self.engine.herald_memory(herald);
            let learnt = memory.map(|it| it.to_bytes());
            if learnt.is_some() {
                let record = HeraldRecord { herald, learnt, ..HeraldRecord::default() };
                self.flow.batch.heralds.push(record);
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
        let record = HeraldRecord { herald, heard, outcome, ..HeraldRecord::default() };
        self.flow.batch.heralds.push(record);
        self.flow.heralds.learnt.insert(herald);
        self.flow.stale = true;
    }

    /// A feed may name hubs, which tell when it changes.
    fn offer(&self, feed: u32, read: &HeraldRead) {
        let Some(known) = self.flow.heralds.known.get(&feed) else { return };
        let topic = read.itself.clone().unwrap_or_else(|| known.name.clone());
        self.websub.offer(Offer { feed, topic, hubs: read.hubs.clone() });
    }

    pub(super) fn herald_reports(&self, numbers: &[u32]) -> Vec<Option<HeraldReport>> {
        numbers.iter().map(|number| self.engine.herald(*number)).collect()
    }
}
