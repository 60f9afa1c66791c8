//! Who says that sources have changed: sitemaps, feeds, hubs, owners.

use freshet_estimate::Trust;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::recall::{sealed, unsealed};
use crate::signal_sources::{Kept, SignalHistory, TRIAL};
use crate::snapshot::SnapshotError;
use crate::source::{Source, State};

/// Somebody who says that sources have changed, truly or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalSource {
    /// Its number: small, and its own among heralds. There is a record for every smaller number.
    pub number: u32,
    /// The source whose fetches bring what it says: a sitemap or a feed. Such a source is worth what
    /// its signals are worth to the sources that they are about. `None` if it speaks by itself.
    pub source: Option<u32>,
}

impl SignalSource {
    /// The largest number of a herald, plus 1.
    pub const NUMBERS: u32 = 1 << 20;
}

/// A signal: somebody says that a source has changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Which source.
    pub id: u32,
    /// Who says it. A source whose every change is [announced](crate::Description::observed) believes
    /// anybody; of another one, what a herald says counts as far as it has proved true.
    pub herald: u32,
    /// When the change was, if that is said.
    pub said: Option<SignalReceipt>,
}

/// When a change is said to have been: on a day or somewhat later.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalReceipt {
    /// The earliest that it can have been.
    pub day: f64,
    /// How many days later it can have been: 1 for a date without a time.
    pub grain: f64,
}

/// What is known of a herald.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalSourceReport {
    /// The source that is read to hear it.
    pub source: Option<u32>,
    /// Sources that it has spoken of.
    pub sources: u32,
    /// Signals that were heard.
    pub signals: u64,
    /// Of those, the ones that told of changes which the copy had already.
    pub late: u64,
    /// Fetches that signals of it came before, and how many of them found a change.
    pub tried: u64,
    /// How many of these found a change.
    pub proved: u64,
    /// Fetches that found a change of which it had said nothing.
    pub missed: u64,
    /// The share of its signals that stand for a change, as far as is believed; `None` while nothing
    /// was learnt.
    pub precision: Option<f64>,
    /// The share of the changes that it tells of, as far as is believed.
    pub recall: Option<f64>,
    /// Days from a change to its signal, as far as is believed.
    pub delay: Option<f64>,
    /// Times that it was read, if it is read.
    pub reads: u64,
    /// Days between two reads of late.
    pub read_every: Option<f64>,
    /// What its reads take from the budget in a day.
    pub spent: f64,
    /// Sources that were found by it, in all.
    pub found: u64,
    /// What a read is worth now for each unit of cost.
    pub worth: Option<f64>,
    /// What its signals have brought so far: by how much the fetches that they led to were worth more than
    /// the price.
    pub brought: f64,
}

/// What was learnt of a herald, worth keeping while there is no engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalSourceMemory(Kept);

/// What was learnt of a herald about one source, and what it said since the last fetch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignalHistoryMemory {
    pub(crate) trust: Trust,
    count: u32,
    signals: f32,
    first_after: f32,
    last_after: f32,
    score: f32,
    fetches: u8,
    changed: bool,
}

/// What signals have to do with the day on which a source is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendingSignals {
    /// The herald that is listened to: of several, the one that has been right most.
    pub herald: u32,
    /// Its signals since the last fetch.
    pub signals: u32,
    /// What they count together: signals that may tell of what the copy has already count less.
    pub weight: f64,
    /// The day of the first and the last of them, if there are any.
    pub days: Option<(f64, f64)>,
    /// The share of its signals about this source that stand for a change, as far as is believed.
    pub precision: f64,
    /// The share of this source's changes that it tells of.
    pub recall: f64,
    /// The chance that the copy is what the source is.
    pub fresh: f64,
    /// The day on which the source would be due if these signals had not come.
    pub due_without: f64,
}

impl SignalSourceMemory {
    /// As bytes: some hundred.
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
    pub fn earlier(self, days: f64) -> Self {
        Self(self.0.earlier(days))
    }

    /// What there is of it that can be meant.
    pub(crate) fn kept(&self, now: f64) -> Kept {
        if self.0.is_sound() { self.0.not_after(now) } else { Kept::default() }
    }
}

impl SignalHistoryMemory {
    /// As bytes: some three hundred.
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

    fn of(ear: &SignalHistory, trust: &Trust) -> Self {
        let SignalHistory {
            count, signals, first_after, last_after, score, fetches, changed, ..
        } = *ear;
        let trust = *trust;
        Self { trust, count, signals, first_after, last_after, score, fetches, changed }
    }

    /// Whether its numbers can be meant.
    pub(crate) fn is_sound(&self) -> bool {
        let parts = [self.signals, self.first_after, self.last_after];
        parts.iter().all(|it| *it >= 0.0 && it.is_finite())
            && self.score <= 0.0
            && self.score.is_finite()
            && self.trust.is_sound()
    }

    /// How many fetches there were.
    pub(crate) fn fetches(&self) -> u8 {
        self.fetches.min(TRIAL)
    }

    pub(crate) fn write(&self, ear: &mut SignalHistory) {
        (ear.count, ear.signals) = (self.count, self.signals);
        (ear.first_after, ear.last_after) = (self.first_after, self.last_after);
        (ear.score, ear.changed) = (self.score, self.changed);
    }
}

impl Engine {
    /// What is known of a herald; `None` if there is no such herald.
    #[must_use]
    pub fn herald(&self, number: u32) -> Option<SignalSourceReport> {
        let voice = self.heralds.voice(number)?;
        let kept = &voice.kept;
        let source = voice.source.and_then(|id| self.sources.get(id as usize));
        let source = source.filter(|it| it.state != State::Absent);
        let rate = voice.read_rate();
        Some(SignalSourceReport {
            source: voice.source,
            sources: voice.sources(),
            signals: kept.signals,
            late: kept.late,
            tried: kept.tried,
            proved: kept.proved,
            missed: kept.missed,
            precision: voice.precision(),
            recall: voice.recall(),
            delay: kept.delay.mean(),
            reads: kept.reads,
            read_every: rate.map(f64::recip).filter(|_| source.is_some()),
            spent: source.map_or(0.0, |it| f64::from(it.cost) * rate.unwrap_or(0.0)),
            found: kept.found,
            worth: source.filter(|it| !it.is_new()).map(|it| self.worth(self.now, it)),
            brought: kept.brought,
        })
    }

    /// What was learnt of a herald, worth keeping; `None` if there is no such herald.
    #[must_use]
    pub fn herald_memory(&self, number: u32) -> Option<SignalSourceMemory> {
        Some(SignalSourceMemory(self.heralds.voice(number)?.kept))
    }

    /// What was learnt of heralds about a source, with their numbers.
    #[must_use]
    pub fn ear_memories(&self, id: u32) -> Vec<(u32, SignalHistoryMemory)> {
        let source = self.sources.get(id as usize).filter(|it| it.state != State::Absent);
        let chain = self.heralds.chain(source.and_then(Source::ear));
        let memory = |place: u32| {
            let ear = self.heralds.ear(place).filter(|ear| self.heralds.is_heard(ear))?;
            Some((ear.herald, SignalHistoryMemory::of(ear, self.heralds.trust(place)?)))
        };
        chain.into_iter().filter_map(memory).collect()
    }

    /// What heralds have to do with a source; `None` if nobody is listened to about it.
    #[must_use]
    pub fn announced(&self, id: u32) -> Option<PendingSignals> {
        let source = self.sources.get(id as usize).filter(|it| it.state != State::Absent)?;
        let ear = self.heralds.first_heard(source.ear())?;
        let day = |after: f32| source.last + f64::from(after);
        Some(PendingSignals {
            herald: ear.herald,
            signals: ear.count,
            weight: f64::from(ear.signals),
            days: (ear.count > 0).then(|| (day(ear.first_after), day(ear.last_after))),
            precision: ear.reading.precision(),
            recall: ear.reading.recall(),
            fresh: self.fresh_now(source),
            due_without: self.due_unsaid(self.now, source, self.price_at(source.host)),
        })
    }

    /// What was said about how many sources, by one herald or another, is remembered.
    #[must_use]
    pub fn ears(&self) -> usize {
        self.heralds.ears()
    }
}
