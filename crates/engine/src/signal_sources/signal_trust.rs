//! What is known of a herald.

use freshet_estimate::{Belief, Penalty, Reading, Siblings, Trust};
use serde::{Deserialize, Serialize};

use super::Delay;

/// Kinds of sources by how often they are spoken of: each twice as often as the one before.
pub(crate) const BINS: usize = 28;
/// The logarithm to base 2 of how often a day that is in the first of them.
const FIRST: f64 = -14.0;
/// Imaginary siblings with which the prior of a source is found.
const STRENGTH: f64 = 2.0;
/// Sources from which it is learnt how true signals are, at least and at most.
const FEWEST: f64 = 4.0;
const MANY: f64 = 1000.0;
/// Fetches of late from which it is learnt how true all signals are, if they are all alike.
const FETCHES: f64 = 4000.0;
/// Days after which a read counts half in how often it is read.
const HALF_LIFE: f64 = 30.0;
/// Reads of a herald before it is worth no more than its signals.
const TRIALS: u64 = 8;

/// What is known of a herald.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignalTrust {
    pub(crate) generation: u32,
    /// The source that is read to hear it.
    pub(crate) source: Option<u32>,
    /// How many ears there are, and sums over them: changes a day with a signal and without, signals a day.
    ears: u32,
    told: f64,
    missed: f64,
    signals: f64,
    /// What signals are worth to sources that have them about so often, times how often.
    masses: [f64; BINS],
    pub(crate) kept: Kept,
}

/// What outlives the engine; the rest follows from the ears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) signals: u64,
    pub(crate) late: u64,
    pub(crate) tried: u64,
    pub(crate) proved: u64,
    pub(crate) missed: u64,
    pub(crate) reads: u64,
    pub(crate) found: u64,
    pub(crate) brought: f64,
    pub(crate) delay: Delay,
    /// How true its signals were of late, about one source and another.
    siblings: Siblings,
    /// Reads, pages found and days of late: up to the last read.
    reads_of_late: f64,
    found_of_late: f64,
    days_of_late: f64,
    pub(crate) last_read: Option<f64>,
}

impl SignalTrust {
    pub(crate) fn new(generation: u32) -> Self {
        Self {
            generation,
            source: None,
            ears: 0,
            told: 0.0,
            missed: 0.0,
            signals: 0.0,
            masses: [0.0; BINS],
            kept: Kept::default(),
        }
    }

    /// Adds an ear to the sums, or takes it away.
    pub(crate) fn count(&mut self, reading: &Reading, sign: f64) {
        self.ears =
            if sign > 0.0 { self.ears.saturating_add(1) } else { self.ears.saturating_sub(1) };
        let add = |sum: &mut f64, what: f64| *sum = (*sum + sign * what).max(0.0);
        add(&mut self.told, reading.told());
        add(&mut self.missed, reading.missed().mean());
        add(&mut self.signals, reading.signals());
    }

    /// Learns from a fetch of a source how true its signals are: as from the latest of each source that it
    /// speaks of, or of many.
    pub(crate) fn learn(&mut self, before: &Trust, after: &Trust, among: &Trust) {
        let of_late = f64::from(self.ears.max(1)).clamp(FEWEST, MANY);
        self.kept.siblings.fade(1.0 - 1.0 / of_late);
        self.kept.siblings.add(among);
        self.kept.siblings.learn(before, after, FETCHES);
    }

    /// Sources that it has spoken of.
    pub(crate) fn sources(&self) -> u32 {
        self.ears
    }

    /// What is believed of its signals about a source of which it says something for the first time.
    pub(crate) fn prior(&self) -> Trust {
        self.kept.siblings.finish(&Trust::SCEPTICAL, STRENGTH)
    }

    /// The share of its signals that stand for a change; `None` while nothing was learnt.
    pub(crate) fn precision(&self) -> Option<f64> {
        (self.kept.tried > 0 && self.signals > 0.0).then(|| (self.told / self.signals).min(1.0))
    }

    /// The share of the changes that it tells of.
    pub(crate) fn recall(&self) -> Option<f64> {
        let all = self.told + self.missed;
        (self.kept.tried > 0 && all > 0.0).then(|| self.told / all)
    }

    /// Where sources are counted that are spoken of so many times a day.
    pub(crate) fn bin(rate: f64) -> u8 {
        let step = (rate.max(1e-30).log2() - FIRST).round();
        step.clamp(0.0, (BINS - 1) as f64) as u8
    }

    pub(crate) fn add_mass(&mut self, bin: u8, mass: f64) {
        let sum = &mut self.masses[usize::from(bin).min(BINS - 1)];
        *sum = (*sum + mass).max(0.0);
    }

    /// It was read, and so many pages were found.
    pub(crate) fn read(&mut self, now: f64, found: u32) {
        let kept = &mut self.kept;
        kept.reads += 1;
        kept.found += u64::from(found);
        if let Some(last) = kept.last_read.filter(|last| *last < now) {
            let days = now - last;
            let share = (-days / HALF_LIFE).exp2();
            kept.reads_of_late = share * kept.reads_of_late + 1.0;
            kept.found_of_late = share * kept.found_of_late + f64::from(found);
            kept.days_of_late = share * kept.days_of_late + days;
        }
        kept.last_read = Some(now);
    }

    /// Reads a day, of late.
    pub(crate) fn read_rate(&self) -> Option<f64> {
        let Kept { reads_of_late, days_of_late, .. } = self.kept;
        (days_of_late > 0.0).then(|| reads_of_late / days_of_late)
    }

    /// What reading it is worth.
    pub(crate) fn reader(&self) -> Reader {
        let Kept { found_of_late, days_of_late, reads, .. } = self.kept;
        let found = if days_of_late > 0.0 { found_of_late / days_of_late } else { 0.0 };
        Reader { masses: self.masses, found, on_trial: reads < TRIALS }
    }
}

impl Kept {
    /// The same by a clock that shows so many days less.
    pub(crate) fn earlier(mut self, days: f64) -> Self {
        self.last_read = self.last_read.map(|day| day - days);
        self
    }

    /// The same if nothing was after a day.
    pub(crate) fn not_after(mut self, now: f64) -> Self {
        self.last_read = self.last_read.map(|day| day.min(now));
        self
    }

    /// Whether its numbers can be meant.
    pub(crate) fn is_sound(&self) -> bool {
        let parts = [self.reads_of_late, self.found_of_late, self.days_of_late, self.brought];
        parts.into_iter().all(|it| it >= 0.0 && it.is_finite())
            && self.last_read.is_none_or(f64::is_finite)
            && self.delay.is_sound()
            && self.siblings.is_sound()
    }
}

/// What reading a herald is worth, as time goes by since the last time.
///
/// A source of which it speaks `γ` times a day gains `S` when a signal is heard: what a fetch is worth then
/// less its price. While nobody reads, the signal is not heard. So reading is worth
/// `Σ S γ v(γ, τ)`, with `v(γ, τ)` what a fetch of a source that changes `γ` times a day is worth
/// (docs/theory.md).
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    masses: [f64; BINS],
    /// Pages found a day.
    found: f64,
    pub(crate) on_trial: bool,
}

impl Reader {
    /// What reading is worth after so many days, if a page that is found matters so much.
    pub(crate) fn worth(&self, penalty: Penalty, days: f64, importance: f64) -> f64 {
        let mut worth = 0.5 * importance * self.found * days * days;
        for (at, mass) in self.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
            let rate = (at as f64 + FIRST).exp2();
            if let Ok(sure) = Belief::new(1e6, 1e6 / rate) {
                worth += mass * penalty.value(sure, days);
            }
        }
        worth
    }
}
