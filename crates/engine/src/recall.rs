//! What is worth keeping while there is no engine: of each source, of each host, and of the rest. A
//! snapshot holds more, but is as large as all sources; this is written piece by piece, as it changes.

use freshet_estimate::Prior;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::host::Host;
use crate::settings::Settings;
use crate::snapshot::{SnapshotError, checksum};
use crate::source::{Flags, Goal, Source, State};

/// What was learnt of a source, and the day that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedState {
    last: f64,
    due: f64,
    changes: f32,
    days: f32,
    seen_after: f32,
    first_after: f32,
    pending: u32,
    failures: u8,
    state: State,
    flags: Flags,
}

/// Flags that are kept: the others are the owner's, or of the moment.
const KEPT: [Flags; 3] = [Flags::RETRIED, Flags::GONE, Flags::NEW];

impl LearnedState {
    /// What an owner expects of a source that was never fetched, as if so many changes had been seen in
    /// so many days: what its fetches tell is added to it.
    #[must_use]
    pub fn with_expected_changes(now: f64, changes: f64, days: f64) -> Self {
        let mut flags = Flags::default();
        flags.set(Flags::NEW, true);
        let (changes, days) = (changes as f32, days as f32);
        let (seen_after, first_after, pending, failures) = (0.0, 0.0, 0, 0);
        let (last, due, state) = (now, f64::INFINITY, State::Waiting);
        Self { last, due, changes, days, seen_after, first_after, pending, failures, state, flags }
    }

    /// As bytes: some forty.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        sealed(self)
    }

    /// From bytes.
    ///
    /// # Errors
    /// If the bytes are something else, damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        unsealed(bytes)
    }

    /// The same by a clock that shows so many days less.
    #[must_use]
    pub fn shift_back(mut self, days: f64) -> Self {
        self.last -= days;
        self.due -= days;
        self
    }

    /// The last fetch that was answered, if there was one.
    #[must_use]
    pub fn last_fetch(&self) -> Option<f64> {
        (!self.flags.has(Flags::NEW)).then_some(self.last)
    }

    fn of(source: &Source) -> Self {
        let mut flags = Flags::default();
        KEPT.into_iter().for_each(|flag| flags.set(flag, source.flags.has(flag)));
        let Source { last, due, changes, days, seen_after, first_after, .. } = *source;
        let pending = source.announced_changes();
        let Source { failures, state, .. } = *source;
        Self { last, due, changes, days, seen_after, first_after, pending, failures, state, flags }
    }

    pub(crate) fn write(&self, now: f64, source: &mut Source) {
        source.last = self.last.min(now);
        source.set_learnt(f64::from(self.changes), f64::from(self.days));
        let after = |it: f32| if it > 0.0 { it } else { 0.0 };
        source.seen_after = after(self.seen_after);
        source.first_after = after(self.first_after);
        // Whether it counts is known when the owner has said whether changes are announced.
        source.pending = self.pending;
        source.failures = self.failures;
        KEPT.into_iter().for_each(|flag| source.flags.set(flag, self.flags.has(flag)));
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.state == State::Parked
    }

    /// The day that it waits for, as far as it is known.
    #[must_use]
    pub fn due(&self) -> Option<f64> {
        self.due.is_finite().then_some(self.due)
    }

    /// The same, of whatever bytes may say.
    pub(crate) fn day(&self, now: f64) -> f64 {
        if self.due.is_nan() { now } else { self.due }
    }

    /// How it waits for a day.
    pub(crate) fn waits(&self, due: f64) -> Option<State> {
        let waits = matches!(self.state, State::Waiting | State::Coming);
        (waits && due < f64::INFINITY && !self.flags.has(Flags::NEW)).then_some(self.state)
    }
}

/// What was learnt of a host, and until when it rests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCheckpoint {
    prior: Prior,
    free_at: f64,
    gap: f64,
    failures: u8,
    down: bool,
}

impl HostCheckpoint {
    /// As bytes: some thirty.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        sealed(self)
    }

    /// From bytes.
    ///
    /// # Errors
    /// If the bytes are something else, damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SnapshotError> {
        unsealed(bytes)
    }

    /// The day from which on it may be asked again.
    #[must_use]
    pub fn free(&self) -> f64 {
        self.free_at
    }

    /// The same by a clock that shows so many days less.
    #[must_use]
    pub fn shift_back(mut self, days: f64) -> Self {
        self.free_at -= days;
        self
    }
}

/// The rest: what belongs to no source and no host.
#[derive(Serialize, Deserialize)]
struct EngineCheckpoint {
    goal: Goal,
    tokens: f64,
    price: f64,
    outlook: f64,
    prior: Prior,
    memory: crate::memory::Kept,
    rhythm: crate::survey::Rhythm,
}

impl Engine {
    /// What was learnt of a source; `None` if there is no such source.
    #[must_use]
    pub fn learned_state(&self, id: u32) -> Option<LearnedState> {
        let source = self.sources.get(id as usize)?;
        (source.state != State::Absent).then(|| LearnedState::of(source))
    }

    /// What was learnt of a host; `None` if there is no such host.
    #[must_use]
    pub fn host_checkpoint(&self, host: u32) -> Option<HostCheckpoint> {
        let Host { prior, free, gap, failures, down, .. } = *self.hosts.get(host as usize)?;
        Some(HostCheckpoint { prior, free_at: free, gap, failures, down })
    }

    /// What belongs to no source and no host: the price, and what is left of the budget less a reserve,
    /// for fetches that will be asked for before this is written again. Some three hundred bytes.
    #[must_use]
    pub fn checkpoint(&self, reserve: f64) -> Vec<u8> {
        sealed(&EngineCheckpoint {
            goal: self.settings.goal,
            tokens: self.bucket.tokens() - reserve,
            price: self.price,
            outlook: self.outlook,
            prior: self.prior,
            memory: self.memory.kept(),
            rhythm: self.rhythm.clone(),
        })
    }

    /// An engine without sources that goes on where another one ended. What was left of the budget is
    /// still there; what it would have paid out meanwhile is not. Hosts come next
    /// ([`restore_host`](Self::recall_host)), then sources ([`Recalled`](crate::Event::Recalled)).
    ///
    /// # Errors
    /// If the bytes are not what [`checkpoint`](Self::rest) gave, are damaged, or are of another version.
    pub fn resume(now: f64, settings: Settings, rest: &[u8]) -> Result<Self, SnapshotError> {
        let rest: EngineCheckpoint = unsealed(rest)?;
        let mut engine = Self::new(now, settings);
        engine.bucket.resume(rest.tokens);
        engine.prior = rest.prior;
        engine.memory = rest.memory.into();
        engine.rhythm = rest.rhythm;
        engine.rhythm.resume(now);
        if rest.goal == engine.settings.goal && rest.price > 0.0 && rest.outlook > 0.0 {
            (engine.price, engine.outlook) = (rest.price.min(1e90), rest.outlook.min(1e90));
        } else {
            engine.rhythm.without_price();
        }
        Ok(engine)
    }

    /// Something to begin with: so much may be spent at once, up to what may be after a time of rest.
    pub fn grant_budget(&mut self, amount: f64) {
        self.bucket.resume(self.bucket.tokens().max(amount));
    }

    /// What was paid for twice is given back, up to the brim.
    pub fn refund_budget(&mut self, amount: f64) {
        if amount.is_finite() && amount > 0.0 {
            self.bucket.give_back(amount);
        }
    }

    /// Time has passed that nobody was there for: the budget does not grow by it.
    pub fn skip_to(&mut self, now: f64) {
        if now.is_finite() {
            self.now = self.now.max(now);
            self.bucket.skip(now);
        }
    }

    /// What was learnt of a host that has no sources yet. It is left alone for the usual gap at least:
    /// when it was asked last is not known.
    pub fn restore_host(&mut self, number: u32, memory: &HostCheckpoint) {
        if number >= crate::Description::NUMBERS {
            return;
        }
        while self.hosts.len() <= number as usize {
            self.hosts.push(Host::new(self.prior));
        }
        let free = if memory.free_at.is_nan() { self.now } else { memory.free_at };
        let host = &mut self.hosts[number as usize];
        host.prior = memory.prior;
        host.gap = if memory.gap > 0.0 { memory.gap } else { 0.0 };
        host.free = free.max(self.now + self.settings.host_gap.max(host.gap));
        (host.failures, host.down) = (memory.failures, memory.down);
    }
}

/// Of the layout of these bytes.
const VERSION: u8 = 1;

pub(crate) fn sealed(it: &impl Serialize) -> Vec<u8> {
    // Nothing in them is unknown to the format, and memory does not refuse bytes.
    let mut bytes = postcard::to_extend(it, vec![VERSION]).unwrap_or_default();
    let sum = checksum(&bytes) as u32;
    bytes.extend(sum.to_le_bytes());
    bytes
}

pub(crate) fn unsealed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SnapshotError> {
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or(SnapshotError::NotASnapshot)?;
    match body.split_first() {
        Some((&VERSION, _)) if checksum(body) as u32 != u32::from_le_bytes(*sum) => {
            Err(SnapshotError::Damaged)
        }
        Some((&VERSION, rest)) => match postcard::take_from_bytes(rest) {
            Ok((it, [])) => Ok(it),
            _ => Err(SnapshotError::Damaged),
        },
        Some((&found, _)) => {
            Err(SnapshotError::Version { found: u32::from(found), known: u32::from(VERSION) })
        }
        None => Err(SnapshotError::NotASnapshot),
    }
}
