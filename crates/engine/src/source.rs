//! State of a source.

use freshet_estimate::{Belief, CaptureObjective, Penalty, Prior};
use serde::{Deserialize, Serialize};

use crate::settings::InvalidEngineSetting;

/// Goal of the copy of a source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// Keep the copy up to date: missing changes have a cost.
    KeepFresh(Penalty),
    /// Capture each update of the source: a captured update has a value.
    Capture(CaptureObjective),
}

impl Goal {
    /// True if the value of a fetch may have an upper limit, so that a price is reached late or
    /// never.
    pub(crate) fn levels_off(self) -> bool {
        !matches!(self, Self::KeepFresh(Penalty::Harmonic | Penalty::Age))
    }

    /// True if all numbers are valid.
    pub(crate) fn is_valid(self) -> bool {
        match self {
            Self::KeepFresh(_) => true,
            Self::Capture(it) => it.life.validate().is_ok() && it.urgency.validate().is_ok(),
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::KeepFresh(Penalty::Harmonic) => f.write_str("harmonic"),
            Self::KeepFresh(Penalty::Freshness) => f.write_str("freshness"),
            Self::KeepFresh(Penalty::Age) => f.write_str("age"),
            Self::Capture(it) => write!(f, "capture, life {}, urgency {}", it.life, it.urgency),
        }
    }
}

/// Description of a source by its owner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceDescription {
    /// Number of the source: small and unique. The mapping from names to numbers is up to the
    /// caller.
    pub id: u32,
    /// Number of its host.
    pub host: u32,
    /// Importance: the weight of the source in the objective.
    pub importance: f64,
    /// Cost of a fetch, in units of the budget.
    pub cost: f64,
    /// Goal of its copy; `None` uses the goal of the settings.
    pub goal: Option<Goal>,
    /// True if each of its changes is reported by a signal.
    pub observed: bool,
    /// True if the source is not to be fetched for now.
    pub paused: bool,
    /// Minimum days between two fetches.
    pub min_interval: f64,
    /// Days after which it is fetched regardless of its value.
    pub max_interval: f64,
    /// Day of the existing copy; `None` if there is no copy yet.
    pub last_fetch: Option<f64>,
    /// Fixed change rate; `None` learns it from its host's other sources and its own fetches.
    pub belief: Option<Belief>,
}

impl SourceDescription {
    /// Returns a typical source: importance and cost 1, no limits, no copy.
    #[must_use]
    pub fn new(id: u32) -> Self {
        Self {
            id,
            host: 0,
            importance: 1.0,
            cost: 1.0,
            goal: None,
            observed: false,
            paused: false,
            min_interval: 0.0,
            max_interval: f64::INFINITY,
            last_fetch: None,
            belief: None,
        }
    }
}

impl SourceDescription {
    /// Upper bound of source and host numbers, exclusive. Memory is used for every smaller number.
    pub const ID_LIMIT: u32 = 1 << 28;

    /// Checks the description. The engine rejects invalid ones.
    ///
    /// # Errors
    /// Returns [`InvalidEngineSetting`] if a number is not finite or out of range.
    pub fn validate(&self) -> Result<(), InvalidEngineSetting> {
        let refuse = |field, value| Err(InvalidEngineSetting { field, value });
        let days = |x: f64| x >= 0.0;
        if self.id >= Self::ID_LIMIT {
            refuse("id", f64::from(self.id))
        } else if self.host >= Self::ID_LIMIT {
            refuse("host", f64::from(self.host))
        } else if !(self.importance >= 0.0 && self.importance <= 1e30) {
            refuse("importance", self.importance)
        } else if !(self.cost > 0.0 && self.cost <= 1e30) {
            refuse("cost", self.cost)
        } else if !days(self.min_interval) {
            refuse("min_interval", self.min_interval)
        } else if !days(self.max_interval) || self.max_interval < self.min_interval {
            refuse("max_interval", self.max_interval)
        } else if let Some(day) = self.last_fetch.filter(|day| !day.is_finite()) {
            refuse("fetched", day)
        } else if self.goal.is_some_and(|goal| !goal.is_valid()) {
            refuse("goal", f64::NAN)
        } else {
            Ok(())
        }
    }
}

/// State of a source in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SourceState {
    /// There is no such source.
    Absent,
    /// Waits until its value is worth a comparison, or for a retry.
    Waiting,
    /// Scheduled for the day on which its value reaches the price.
    Scheduled,
    /// Is worth the price or nearly, and waits for its host or the budget.
    Candidate,
    /// A fetch is in flight.
    InFlight,
    /// Paused by its owner.
    Paused,
    /// Gone for good and no longer fetched.
    Parked,
}

/// A source in one cache line: there may be ten million.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Source {
    /// Day of the last answered fetch; for a source without a copy, the day on which it was added.
    pub(crate) last: f64,
    /// Day of its valid queue entry; entries with other days are obsolete.
    pub(crate) due: f64,
    /// Evidence from its own fetches, on top of its host's prior: changes and days. The complete
    /// belief if the owner provided it.
    pub(crate) changes: f32,
    pub(crate) days: f32,
    /// Day of the last signal, up to which the belief knows all changes, in days after `last`.
    pub(crate) evidence_after: f32,
    /// Day of the first pending change, in days after `last`.
    pub(crate) first_signal_after: f32,
    pub(crate) importance: f32,
    pub(crate) cost: f32,
    pub(crate) min_interval: f32,
    pub(crate) max_interval: f32,
    pub(crate) host: u32,
    /// Number of pending changes if its changes are observed; otherwise its [link](Source::link).
    pub(crate) pending: u32,
    /// Place among the candidates of its host; for a source in flight, the host that it moves to
    /// afterwards.
    pub(crate) place: u32,
    /// Consecutive fetches that failed, or that found it gone.
    pub(crate) failures: u8,
    pub(crate) state: SourceState,
    /// Index of its goal in the engine's list, plus 1.
    pub(crate) goal: u8,
    pub(crate) flags: SourceFlags,
}

/// Eight boolean flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceFlags(u8);

impl SourceFlags {
    /// All its changes are observed.
    pub(crate) const OBSERVED: Self = Self(1);
    /// The belief was provided by the owner and is constant.
    pub(crate) const OWNER_BELIEF: Self = Self(2);
    /// Paused by its owner.
    pub(crate) const PAUSED: Self = Self(4);

    /// Is in the rerank ring, or was and has not been noticed missing yet.
    pub(crate) const IN_RING: Self = Self(8);

    /// A change was observed while a fetch was in flight.
    pub(crate) const SIGNALLED: Self = Self(16);

    /// The last fetch was not answered.
    pub(crate) const RETRIED: Self = Self(32);

    /// The last answer was "gone"; `failures` counts such answers.
    pub(crate) const GONE: Self = Self(64);

    /// There is no copy.
    pub(crate) const NEW: Self = Self(128);

    pub(crate) fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    pub(crate) fn set(&mut self, flag: Self, on: bool) {
        if on {
            self.0 |= flag.0;
        } else {
            self.0 &= !flag.0;
        }
    }
}

/// Link between a source and signal sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    None,
    /// A signal source reports its changes: the place of the history.
    History(u32),
    /// The source is read for this signal source.
    SignalSource(u32),
}

impl Source {
    pub(crate) const NONE: Self = Self {
        last: 0.0,
        due: f64::INFINITY,
        changes: 0.0,
        days: 0.0,
        evidence_after: 0.0,
        first_signal_after: 0.0,
        importance: 0.0,
        cost: 1.0,
        min_interval: 0.0,
        max_interval: f32::INFINITY,
        host: 0,
        pending: 0,
        place: 0,
        failures: 0,
        state: SourceState::Absent,
        goal: 0,
        flags: SourceFlags(0),
    };

    /// Returns the belief that its evidence gives on top of a prior.
    pub(crate) fn belief_on_prior(&self, prior: Prior) -> Belief {
        let prior = prior.belief();
        let (shape, days) = (f64::from(self.changes), f64::from(self.days));
        Belief::new(prior.shape() + shape, prior.days() + days).unwrap_or(prior)
    }

    /// Stores the evidence.
    pub(crate) fn set_evidence(&mut self, changes: f64, days: f64) {
        let short = |x: f64| if x > 0.0 { x.clamp(1e-37, 1e38) as f32 } else { 0.0 };
        (self.changes, self.days) = (short(changes), short(days));
    }

    /// Day up to which the belief knows of changes: the last fetch, or the last signal.
    pub(crate) fn evidence_until(&self) -> f64 {
        self.last + f64::from(self.evidence_after)
    }

    /// Day of the first pending change.
    pub(crate) fn first_pending_day(&self) -> f64 {
        self.last + f64::from(self.first_signal_after)
    }

    /// Records an observed change.
    pub(crate) fn record_pending_change(&mut self, now: f64) {
        self.evidence_after = (now - self.last) as f32;
        if self.pending == 0 {
            self.first_signal_after = self.evidence_after;
        }
        self.pending = self.pending.saturating_add(1);
    }

    /// Records a copy made on `day`.
    pub(crate) fn record_copy(&mut self, day: f64) {
        let after = |other: f64| (other - day).max(0.0) as f32;
        (self.evidence_after, self.first_signal_after) =
            (after(self.evidence_until()), after(self.first_pending_day()));
        self.last = day;
        self.flags.set(SourceFlags::NEW, false);
    }

    /// Link to signal sources.
    #[inline]
    pub(crate) fn link(&self) -> Link {
        match self.pending {
            0 => Link::None,
            _ if self.is_observed() => Link::None,
            it if it & Self::SIGNAL_SOURCE_BIT != 0 => {
                Link::SignalSource(it & !Self::SIGNAL_SOURCE_BIT)
            }
            it => Link::History(it - 1),
        }
    }

    /// Bit in `pending` that marks the number of a signal source.
    const SIGNAL_SOURCE_BIT: u32 = 1 << 31;

    /// Sets the link. No effect if its changes are observed.
    pub(crate) fn set_link(&mut self, link: Link) {
        if self.is_observed() {
            return;
        }
        self.pending = match link {
            Link::None => 0,
            Link::History(place) => place + 1,
            Link::SignalSource(number) => number | Self::SIGNAL_SOURCE_BIT,
        };
    }

    /// Place of the active history.
    pub(crate) fn history(&self) -> Option<u32> {
        match self.link() {
            Link::History(place) => Some(place),
            _ => None,
        }
    }

    /// Observed changes that are not fetched.
    pub(crate) fn pending_changes(&self) -> u32 {
        if self.is_observed() { self.pending } else { 0 }
    }

    pub(crate) fn is_observed(&self) -> bool {
        self.flags.has(SourceFlags::OBSERVED)
    }

    /// True if the last fetch was not answered, so that it is retried on its day and not before.
    pub(crate) fn is_retry(&self) -> bool {
        self.flags.has(SourceFlags::RETRIED)
    }

    pub(crate) fn has_owner_belief(&self) -> bool {
        self.flags.has(SourceFlags::OWNER_BELIEF)
    }

    /// True if there is no evidence from its own fetches.
    pub(crate) fn is_unknown(&self) -> bool {
        self.days <= 0.0
    }

    /// True if there is no copy.
    pub(crate) fn is_new(&self) -> bool {
        self.flags.has(SourceFlags::NEW)
    }

    /// True if it is fetched from time to time.
    pub(crate) fn is_live(&self) -> bool {
        matches!(
            self.state,
            SourceState::Waiting
                | SourceState::Scheduled
                | SourceState::Candidate
                | SourceState::InFlight
        )
    }

    /// True if it must be fetched regardless of its value.
    pub(crate) fn is_overdue(&self, now: f64) -> bool {
        now - self.last >= f64::from(self.max_interval)
    }
}
