//! What the engine is told, and what it says.

use crate::settings::Settings;
use crate::source::Description;

/// Whose fault it is that a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The host's: all its sources wait.
    Host,
    /// The source's: it waits alone.
    Source,
    /// Our own: nobody is judged by it.
    Us,
}

/// What a fetch brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The source is not what it was at the fetch before.
    Changed,
    /// It is.
    Unchanged,
    /// Nothing: for the moment.
    Failed {
        /// Whose fault it is.
        blame: Blame,
        /// Days that the host asked to be left alone.
        retry_after: Option<f64>,
    },
    /// The source is no more.
    Gone,
}

/// What the engine is told.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Sources are new, or described anew. What was learnt about those that were there is kept.
    Described(&'a [Description]),
    /// Sources are no longer wanted.
    Removed(&'a [u32]),
    /// A fetch is over.
    Fetched {
        /// Of which source.
        id: u32,
        /// What it brought.
        outcome: Outcome,
    },
    /// A source says that it has changed.
    Signal(u32),
    /// Somebody can make so many fetches; `u32::MAX` is as many as there are.
    Capacity(u32),
    /// Time has passed.
    Tick,
    /// From now on, these settings.
    Settings(Settings),
}

/// What the engine asks for, or says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Fetch this source now.
    Fetch {
        /// Which.
        id: u32,
        /// Why.
        reason: Reason,
    },
    /// A source has been gone for so long that it is not asked any more.
    Gone(u32),
    /// There is a new price.
    Priced {
        /// What one fetch is worth, in the unit of the objective.
        price: f64,
    },
}

/// Why a source is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no copy of it.
    New,
    /// It is worth its price.
    Worth,
    /// Its changes that were announced are.
    Pending,
    /// It has not been fetched for as long as its owner allows.
    Overdue,
    /// The last fetch failed.
    Retry,
}
