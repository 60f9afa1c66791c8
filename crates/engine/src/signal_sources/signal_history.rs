//! What is remembered of a herald about one source.

use freshet_estimate::{Heard, Reading};
use serde::{Deserialize, Serialize};

/// Fetches before what is said counts: until then the source shows how often it changes.
pub(crate) const TRIAL: u8 = 3;
/// Signals for each change that are noise.
const NOISE: f64 = 16.0;
/// The share by which signals must be more to be news.
const MORE: f32 = 0.15;

/// What a herald said of a source since its last fetch, and what that means.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SignalHistory {
    pub(crate) source: u32,
    pub(crate) herald: u32,
    pub(crate) generation: u32,
    /// The place of another ear of the same source, plus 1.
    next: u32,
    /// Signals since the last fetch, and those of them that came while it was under way.
    pub(crate) count: u32,
    pub(crate) late_count: u32,
    /// What they count.
    pub(crate) signals: f32,
    pub(crate) late_signals: f32,
    /// What they counted when the source was last given a day.
    pub(crate) placed: f32,
    /// When the first and the last of them came, in days after the last fetch.
    pub(crate) first_after: f32,
    pub(crate) last_after: f32,
    /// What is believed, in short.
    pub(crate) reading: Reading,
    /// What a fetch is worth just after one signal, for each unit of importance.
    pub(crate) jump: f32,
    /// How well it foretold what fetches found, as a logarithm: the nearer to 0 the better.
    pub(crate) score: f32,
    /// What it adds to the worth of reading its herald, and where.
    pub(crate) mass: f32,
    pub(crate) bin: u8,
    /// Fetches since it was new, as far as they matter.
    pub(crate) fetches: u8,
    /// The last fetch found a change: a signal may be of that one.
    pub(crate) changed: bool,
}

impl SignalHistory {
    /// The largest place of an ear, plus 1.
    pub(crate) const PLACES: u32 = 1 << 30;

    pub(crate) fn new(source: u32, herald: u32, generation: u32, reading: Reading) -> Self {
        Self {
            source,
            herald,
            generation,
            next: 0,
            count: 0,
            late_count: 0,
            signals: 0.0,
            late_signals: 0.0,
            placed: 0.0,
            first_after: 0.0,
            last_after: 0.0,
            reading,
            jump: 0.0,
            score: 0.0,
            mass: 0.0,
            bin: 0,
            fetches: 0,
            changed: false,
        }
    }

    /// Whether it is only counted yet how often it is spoken to.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.fetches < TRIAL
    }

    /// Whether there are so many more signals than changes that they are of no use even if they tell of every
    /// change: what could be gained is less than what it costs to be wrong about them.
    pub(crate) fn is_noise(&self) -> bool {
        self.reading.signals() > NOISE * self.reading.changes().mean()
    }

    /// The place of another ear of the same source.
    pub(crate) fn next(&self) -> Option<u32> {
        self.next.checked_sub(1)
    }

    pub(crate) fn set_next(&mut self, place: Option<u32>) {
        self.next = place.map_or(0, |place| place + 1);
    }

    /// A signal came, so many days after the last fetch.
    pub(crate) fn hear(&mut self, days: f64, weight: f64, is_under_way: bool) {
        self.last_after = days as f32;
        if self.count == 0 {
            self.first_after = self.last_after;
        }
        self.count = self.count.saturating_add(1);
        self.signals += weight as f32;
        if is_under_way {
            self.late_count = self.late_count.saturating_add(1);
            self.late_signals += weight as f32;
        }
    }

    /// Whether so much more was said since the source was last given a day that it may be another one now.
    pub(crate) fn is_news(&mut self) -> bool {
        let is_news = self.signals > (1.0 + MORE) * self.placed;
        if is_news {
            self.placed = self.signals;
        }
        is_news
    }

    /// The source is fetched: what comes from now on may not be in the copy.
    pub(crate) fn begin(&mut self) {
        (self.late_count, self.late_signals) = (0, 0.0);
    }

    /// A copy was made, so many days after the one before: only signals that came while it was under way
    /// are left.
    pub(crate) fn copied(&mut self, days: f64) {
        (self.count, self.signals) = (self.late_count, self.late_signals);
        self.placed = self.signals;
        self.begin();
        let after =
            |it: f32| if self.count > 0 { (f64::from(it) - days).max(0.0) as f32 } else { 0.0 };
        (self.first_after, self.last_after) = (after(self.first_after), after(self.last_after));
        if self.count > 0 {
            self.first_after = 0.0;
        }
    }

    /// What was heard in so many days.
    pub(crate) fn heard(&self, days: f64) -> Heard {
        Heard { days, signals: f64::from(self.signals) }
    }
}

/// A source with the ear that it listens with: all that its worth depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Listening {
    pub(crate) reading: Reading,
    pub(crate) signals: f32,
    pub(crate) first_after: f32,
    pub(crate) last_after: f32,
    pub(crate) jump: f32,
}

impl From<&SignalHistory> for Listening {
    fn from(ear: &SignalHistory) -> Self {
        let SignalHistory { reading, signals, first_after, last_after, jump, .. } = *ear;
        Self { reading, signals, first_after, last_after, jump }
    }
}

impl Listening {
    /// What was heard in so many days.
    pub(crate) fn heard(&self, days: f64) -> Heard {
        // Of the time before the first signal, nothing.
        let signals = if days < f64::from(self.first_after) { 0.0 } else { self.signals };
        Heard { days, signals: f64::from(signals) }
    }

    /// The same as if nothing had been said.
    pub(crate) fn deaf(self) -> Self {
        Self { signals: 0.0, ..self }
    }
}
