//! What the engine knows about a source.

use freshet_estimate::{Belief, Capture, Penalty, Prior};
use serde::{Deserialize, Serialize};

use crate::settings::InvalidSetting;

/// What the copy of a source is to be good for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// To be like the source: a copy that lacks changes costs something.
    Keep(Penalty),
    /// To have each of the source's updates: capturing one is worth something.
    Capture(Capture),
}

impl Goal {
    /// Whether there is an end to what a fetch can be worth, so that it may take long, or for ever,
    /// until it is worth a price.
    pub(crate) fn levels_off(self) -> bool {
        !matches!(self, Self::Keep(Penalty::Harmonic | Penalty::Age))
    }

    /// Whether its numbers can be meant.
    pub(crate) fn is_sound(self) -> bool {
        match self {
            Self::Keep(_) => true,
            Self::Capture(it) => it.life.check().is_ok() && it.urgency.check().is_ok(),
        }
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Keep(Penalty::Harmonic) => f.write_str("harmonic"),
            Self::Keep(Penalty::Freshness) => f.write_str("freshness"),
            Self::Keep(Penalty::Age) => f.write_str("age"),
            Self::Capture(it) => write!(f, "capture, life {}, urgency {}", it.life, it.urgency),
        }
    }
}

/// A source as its owner describes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Its number: small, and its own. The owner's names for sources are none of the engine's
    /// business.
    pub id: u32,
    /// The number of its host.
    pub host: u32,
    /// How much it matters.
    pub importance: f64,
    /// What a fetch takes from the budget.
    pub cost: f64,
    /// What its copy is to be good for; `None`: what the settings say.
    pub goal: Option<Goal>,
    /// Whether each of its changes is announced by a signal.
    pub observed: bool,
    /// Whether it is left alone for the time being.
    pub paused: bool,
    /// Days that must lie between two fetches.
    pub min_interval: f64,
    /// Days after which it is fetched whatever it is worth.
    pub max_interval: f64,
    /// The day on which the copy was made; `None` if there is no copy yet.
    pub fetched: Option<f64>,
    /// What is known about its change rate; `None`: what its host's other sources are like, and what
    /// its own fetches tell.
    pub belief: Option<Belief>,
}

impl Description {
    /// A source like most: importance and cost 1, no limits, no copy.
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
            fetched: None,
            belief: None,
        }
    }
}

impl Description {
    /// The largest number of a source or host, plus 1. There is a record for every smaller number.
    pub const NUMBERS: u32 = 1 << 28;

    /// Says what is wrong with it, if something is: the engine refuses what cannot be meant.
    ///
    /// # Errors
    /// If a number is none, or out of its range.
    pub fn check(&self) -> Result<(), InvalidSetting> {
        let refuse = |field, value| Err(InvalidSetting { field, value });
        let days = |x: f64| x >= 0.0;
        if self.id >= Self::NUMBERS {
            refuse("id", f64::from(self.id))
        } else if self.host >= Self::NUMBERS {
            refuse("host", f64::from(self.host))
        } else if !(self.importance >= 0.0 && self.importance <= 1e30) {
            refuse("importance", self.importance)
        } else if !(self.cost > 0.0 && self.cost <= 1e30) {
            refuse("cost", self.cost)
        } else if !days(self.min_interval) {
            refuse("min_interval", self.min_interval)
        } else if !days(self.max_interval) || self.max_interval < self.min_interval {
            refuse("max_interval", self.max_interval)
        } else if let Some(day) = self.fetched.filter(|day| !day.is_finite()) {
            refuse("fetched", day)
        } else if self.goal.is_some_and(|goal| !goal.is_sound()) {
            refuse("goal", f64::NAN)
        } else {
            Ok(())
        }
    }
}

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// There is no such source.
    Absent,
    /// It is not worth its price yet.
    Waiting,
    /// It will be worth its price on its day.
    Coming,
    /// It is worth its price or nearly, and waits for its host or the budget.
    Ready,
    /// It is being fetched.
    Asked,
    /// Its owner wants it left alone.
    Paused,
    /// It is gone, and nobody asks any more.
    Parked,
}

/// One source, packed into one line of the cache: there may be ten million.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Source {
    /// The last fetch that was answered; of a source without a copy, the day on which it was described.
    pub(crate) last: f64,
    /// The day that its entry in the queue says; others are out of date.
    pub(crate) due: f64,
    /// What its own fetches have told, on top of its host's prior: changes and days. If the belief is
    /// the owner's, all of it.
    pub(crate) changes: f32,
    pub(crate) days: f32,
    /// The day up to which the belief knows of changes, that of the last signal, in days after `last`.
    pub(crate) seen_after: f32,
    /// When the first of the pending changes was announced, in days after `last`.
    pub(crate) first_after: f32,
    pub(crate) importance: f32,
    pub(crate) cost: f32,
    pub(crate) min_interval: f32,
    pub(crate) max_interval: f32,
    pub(crate) host: u32,
    /// Of a source whose changes are all announced, how many are pending; of another, its
    /// [link](Source::link).
    pub(crate) pending: u32,
    /// Its place among the ready sources of its host; of one that is being fetched, the host that it
    /// belongs to afterwards.
    pub(crate) place: u32,
    /// Fetches in a row that failed, or found it gone.
    pub(crate) failures: u8,
    pub(crate) state: State,
    /// The place of its goal in the engine's list.
    pub(crate) goal: u8,
    pub(crate) flags: Flags,
}

/// Yes or no, eight times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flags(u8);

impl Flags {
    /// All its changes are announced.
    pub(crate) const OBSERVED: Self = Self(1);
    /// The belief is the owner's: it stays as it is.
    pub(crate) const KNOWN: Self = Self(2);
    /// Its owner wants it left alone.
    pub(crate) const PAUSED: Self = Self(4);

    /// It is in the ring of candidates, or was and was not missed yet.
    pub(crate) const IN_RING: Self = Self(8);

    /// A change was announced while it was being fetched.
    pub(crate) const SIGNALLED: Self = Self(16);

    /// The last fetch brought no answer.
    pub(crate) const RETRIED: Self = Self(32);

    /// The last answer was that it is gone; its failures in a row are such answers.
    pub(crate) const GONE: Self = Self(64);

    /// There is no copy of it.
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

/// Who else has to do with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    None,
    /// A herald speaks of it: the place of what it said.
    Ear(u32),
    /// It is read to hear this herald.
    Herald(u32),
}

impl Source {
    pub(crate) const NONE: Self = Self {
        last: 0.0,
        due: f64::INFINITY,
        changes: 0.0,
        days: 0.0,
        seen_after: 0.0,
        first_after: 0.0,
        importance: 0.0,
        cost: 1.0,
        min_interval: 0.0,
        max_interval: f32::INFINITY,
        host: 0,
        pending: 0,
        place: 0,
        failures: 0,
        state: State::Absent,
        goal: 0,
        flags: Flags(0),
    };

    /// What is believed about a source that starts from a prior.
    pub(crate) fn learnt_on(&self, prior: Prior) -> Belief {
        let prior = prior.belief();
        let (shape, days) = (f64::from(self.changes), f64::from(self.days));
        Belief::new(prior.shape() + shape, prior.days() + days).unwrap_or(prior)
    }

    /// Remembers what was learnt.
    pub(crate) fn set_learnt(&mut self, changes: f64, days: f64) {
        let short = |x: f64| if x > 0.0 { x.clamp(1e-37, 1e38) as f32 } else { 0.0 };
        (self.changes, self.days) = (short(changes), short(days));
    }

    /// The day up to which the belief knows of changes: the last fetch, or the last signal.
    pub(crate) fn seen(&self) -> f64 {
        self.last + f64::from(self.seen_after)
    }

    /// When the first of the pending changes was announced.
    pub(crate) fn first(&self) -> f64 {
        self.last + f64::from(self.first_after)
    }

    /// A change was announced.
    pub(crate) fn announced(&mut self, now: f64) {
        self.seen_after = (now - self.last) as f32;
        if self.pending == 0 {
            self.first_after = self.seen_after;
        }
        self.pending = self.pending.saturating_add(1);
    }

    /// A copy was made.
    pub(crate) fn copied(&mut self, day: f64) {
        let after = |other: f64| (other - day).max(0.0) as f32;
        (self.seen_after, self.first_after) = (after(self.seen()), after(self.first()));
        self.last = day;
        self.flags.set(Flags::NEW, false);
    }

    /// Who else has to do with it.
    #[inline]
    pub(crate) fn link(&self) -> Link {
        match self.pending {
            0 => Link::None,
            _ if self.is_observed() => Link::None,
            it if it & Self::HERALD != 0 => Link::Herald(it & !Self::HERALD),
            it => Link::Ear(it - 1),
        }
    }

    /// The number in `pending` that says that it is read to hear a herald.
    const HERALD: u32 = 1 << 31;

    /// Has no effect on one whose changes are all announced.
    pub(crate) fn set_link(&mut self, link: Link) {
        if self.is_observed() {
            return;
        }
        self.pending = match link {
            Link::None => 0,
            Link::Ear(place) => place + 1,
            Link::Herald(number) => number | Self::HERALD,
        };
    }

    /// The place of the ear that it listens with.
    pub(crate) fn ear(&self) -> Option<u32> {
        match self.link() {
            Link::Ear(place) => Some(place),
            _ => None,
        }
    }

    /// Announced changes that are not fetched.
    pub(crate) fn announced_changes(&self) -> u32 {
        if self.is_observed() { self.pending } else { 0 }
    }

    pub(crate) fn is_observed(&self) -> bool {
        self.flags.has(Flags::OBSERVED)
    }

    /// Whether the last fetch brought no answer, so that it is tried again on its day, and not before.
    pub(crate) fn is_retried(&self) -> bool {
        self.flags.has(Flags::RETRIED)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.flags.has(Flags::KNOWN)
    }

    /// Whether nothing is known of it but what its siblings are like.
    pub(crate) fn is_unknown(&self) -> bool {
        self.days <= 0.0
    }

    /// Whether there is no copy.
    pub(crate) fn is_new(&self) -> bool {
        self.flags.has(Flags::NEW)
    }

    /// Whether it is there, and fetched now and then.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.state, State::Waiting | State::Coming | State::Ready | State::Asked)
    }

    /// Whether it must be fetched whatever it is worth.
    pub(crate) fn is_overdue(&self, now: f64) -> bool {
        now - self.last >= f64::from(self.max_interval)
    }
}
