//! What the engine knows about a source.

use freshet_estimate::{Belief, Penalty};

/// A source as its owner describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// What its copy is to be good for.
    pub penalty: Penalty,
    /// Whether each of its changes is announced by a signal.
    pub observed: bool,
    /// Days that must lie between two fetches.
    pub min_interval: f64,
    /// Days after which it is fetched whatever it is worth.
    pub max_interval: f64,
    /// The day on which the copy was made; `None` if there is no copy yet.
    pub fetched: Option<f64>,
    /// What is known about its change rate; `None`: what is known about its host.
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
            penalty: Penalty::Harmonic,
            observed: false,
            min_interval: 0.0,
            max_interval: f64::INFINITY,
            fetched: None,
            belief: None,
        }
    }
}

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// There is no such source.
    Absent,
    /// It is not worth its price yet.
    Waiting,
    /// It is worth its price, and waits for its host or the budget.
    Ready,
    /// It is being fetched.
    Asked,
    /// Nobody asks any more.
    Parked,
}

/// One source, packed: there may be ten million.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Source {
    pub(crate) belief: Belief,
    /// The last fetch that was answered; minus infinity before the first.
    pub(crate) last: f64,
    /// The day up to which the belief knows of changes: the last fetch, or the last signal.
    pub(crate) seen: f64,
    /// The day that its entry in the queue says; others are out of date.
    pub(crate) due: f64,
    /// When the first of the pending changes was announced.
    pub(crate) first: f64,
    pub(crate) importance: f32,
    pub(crate) cost: f32,
    pub(crate) min_interval: f32,
    pub(crate) max_interval: f32,
    pub(crate) host: u32,
    pub(crate) pending: u32,
    /// Fetches in a row that failed, or found it gone.
    pub(crate) failures: u8,
    pub(crate) state: State,
    pub(crate) penalty: Penalty,
    pub(crate) observed: bool,
    /// Whether the belief is the owner's: it learns, but forgets nothing.
    pub(crate) known: bool,
}
