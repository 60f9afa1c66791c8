//! Sources as they are at a moment, to be put in order by others: what takes long is calculated by who
//! wants to know it.

use freshet_estimate::Belief;

use crate::engine::Engine;
use crate::explain::Standing;
use crate::source::{Flags, Goal, Source, State};
use crate::value::{Hears, View};

/// A source as it is at a moment.
#[derive(Clone, Debug)]
pub struct SourceSnapshot {
    id: u32,
    source: Source,
    belief: Belief,
    goal: Goal,
    hears: Hears,
    now: f64,
    price: f64,
    /// The day from which on its host may be asked.
    free: f64,
}

/// Where a source stands, in few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceStatus {
    /// Its number.
    pub id: u32,
    /// The number of its host.
    pub host: u32,
    /// How much it matters.
    pub importance: f64,
    /// Changes a day, as far as is believed.
    pub rate: f64,
    /// What a fetch is worth now for each unit of cost; infinite if there is no copy.
    pub worth: f64,
    /// What a fetch must be worth now, at its host.
    pub price: f64,
    /// The day on which it is due and its host may be asked; infinite if never.
    pub due: f64,
    /// Where it stands.
    pub standing: Standing,
}

impl SourceSnapshot {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether it was never fetched, and nothing is wrong with it.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.source.is_new() && self.has_no_fault()
    }

    /// Whether there is a copy, and nothing was wrong with the last fetch.
    #[must_use]
    pub fn is_good(&self) -> bool {
        !self.source.is_new() && self.has_no_fault()
    }

    fn has_no_fault(&self) -> bool {
        self.source.failures == 0 && !self.source.is_retried()
    }

    /// How much it matters.
    #[must_use]
    pub fn importance(&self) -> f64 {
        f64::from(self.source.importance)
    }

    /// Changes a day, as far as is believed.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.belief.mean()
    }

    /// What a fetch is worth now for each unit of cost, in parts of what it must be worth at its host;
    /// infinite if there is no copy, and nothing if it is never fetched.
    #[must_use]
    pub fn value(&self) -> f64 {
        match self.worth() / self.price {
            _ if !self.is_active() => 0.0,
            value if value.is_nan() => 0.0,
            value => value,
        }
    }

    /// The day on which it is due and its host may be asked; infinite if never.
    #[must_use]
    pub fn due(&self) -> f64 {
        let source = &self.source;
        match source.state {
            _ if !self.is_active() => f64::INFINITY,
            State::Asked => self.now,
            State::Waiting if source.is_retried() => source.due.max(self.free),
            _ => self.view().due(self.now, self.price).max(self.free),
        }
    }

    fn worth(&self) -> f64 {
        if self.source.is_new() { f64::INFINITY } else { self.view().worth(self.now) }
    }

    /// Neither paused nor gone for good.
    fn is_active(&self) -> bool {
        self.source.state != State::Parked && !self.source.flags.has(Flags::PAUSED)
    }

    fn view(&self) -> View<'_> {
        View {
            source: &self.source,
            belief: self.belief,
            goal: self.goal,
            hears: self.hears.clone(),
        }
    }
}

impl Engine {
    /// A source as it is now; `None` if there is no such source.
    #[must_use]
    pub fn sight(&self, id: u32) -> Option<SourceSnapshot> {
        let source = *self.sources.get(id as usize)?;
        (source.state != State::Absent).then(|| SourceSnapshot {
            id,
            source,
            belief: self.belief(&source),
            goal: self.goal(&source),
            hears: self.hears(&source),
            now: self.now,
            price: self.price_at(source.host),
            free: self.hosts[source.host as usize].free,
        })
    }

    /// Where a source stands; `None` if there is no such source.
    #[must_use]
    pub fn glance(&self, id: u32) -> Option<SourceStatus> {
        let sight = self.sight(id)?;
        Some(SourceStatus {
            id,
            host: sight.source.host,
            importance: sight.importance(),
            rate: sight.rate(),
            worth: sight.worth(),
            price: sight.price,
            due: sight.due(),
            standing: self.standing(&sight.source)?,
        })
    }
}
