//! What the engine is told, and what it says.

use crate::recall::LearnedState;
use crate::settings::Settings;
use crate::signal_source::{Signal, SignalHistoryMemory, SignalSource, SignalSourceMemory};
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
    /// There is a copy, and nothing to compare it with: nothing is learnt.
    Copied,
    /// Nothing: for the moment.
    Failed {
        /// Whose fault it is.
        blame: Blame,
        /// Days that the host asked to be left alone, or, if the fault is ours, that we leave it alone.
        retry_after: Option<f64>,
    },
    /// The source is no more.
    Gone,
}

/// What the engine is told.
// Settings are large and rare: it is the others that must not need an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Event {
    /// Sources are new, or described anew. What was learnt about those that were there is kept; one
    /// that is parked stays so until it is removed and described. Many at once are taken in step by
    /// step.
    Described(Vec<Description>),
    /// Sources that another engine knew come with what it had learnt. Those that are there already are
    /// described anew only.
    Recalled(Vec<(Description, LearnedState)>),
    /// Sources are no longer wanted.
    Removed(Vec<u32>),
    /// Somebody fetches a source without being asked to. It is paid for like others, on credit if need
    /// be, and [`Fetched`](Self::Fetched) follows.
    Fetching(u32),
    /// A fetch is over.
    Fetched {
        /// Of which source.
        id: u32,
        /// What it brought.
        outcome: Outcome,
    },
    /// A fetch is over that somebody else made, and was before now: the copy is of that day. A day before
    /// the copy that was there counts as that copy's, one to come as now.
    Reported {
        /// Of which source.
        id: u32,
        /// What it brought.
        outcome: Outcome,
        /// When.
        day: f64,
    },
    /// A fetch did not come to its end: something else comes first, and it is tried again in so many
    /// days. Nobody is judged by it.
    PutOff {
        /// Of which source.
        id: u32,
        /// How many days.
        days: f64,
        /// Whether nothing was asked for: then it is not paid for either.
        unasked: bool,
    },
    /// Somebody asks a host for something that is none of its sources, from a day on: a redirect led
    /// there. [`Visited`](Self::Visited) follows.
    Visiting {
        /// Which host.
        host: u32,
        /// From when on.
        from: f64,
    },
    /// That is over.
    Visited {
        /// Which host.
        host: u32,
        /// Days that it asked to be left alone.
        rest: Option<f64>,
        /// Whether it is the host's fault that nothing came.
        failed: bool,
    },
    /// A source whose every change is announced says that it has changed.
    Signal(u32),
    /// Heralds are new, or described anew: what was learnt of those that were there is kept. They may
    /// come with what another engine had learnt of them.
    Heralds(Vec<(SignalSource, Option<SignalSourceMemory>)>),
    /// Heralds are listened to no more, and what was learnt of them is forgotten.
    Dismissed(Vec<u32>),
    /// What another engine had learnt of heralds about sources: source, herald, what was learnt. After
    /// both of them.
    Overheard(Vec<(u32, u32, SignalHistoryMemory)>),
    /// A herald says that a source has changed.
    Heard(Signal),
    /// A herald was read to its end, and so many new sources were found by it. All that it said this
    /// time was heard before.
    Read {
        /// Which herald.
        herald: u32,
        /// How many sources.
        found: u32,
    },
    /// A host asks for so many days between two fetches: a crawl delay, for a day at most. The settings'
    /// gap holds if it is longer.
    HostGap {
        /// Which host.
        host: u32,
        /// How many days.
        days: f64,
    },
    /// Somebody can make so many fetches more; `u32::MAX` is as many as there are.
    Capacity(u32),
    /// Somebody who could cannot any more: so many fetches less.
    Withdrawn(u32),
    /// Time has passed.
    Tick,
    /// From now on, these settings. What cannot be meant in them is mended as
    /// [`check`](Settings::check) says.
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
    /// All sources were looked at anew.
    Priced {
        /// What a fetch must be worth now, in the unit of the objective, for each unit of cost.
        price: f64,
        /// What it will have to be worth in the long run, if all stays as it is.
        outlook: f64,
        /// Hosts at which more is worth its price than they can take, and which have their own.
        saturated: u32,
    },
    /// Something that the owner should know.
    Alarm(Alarm),
}

/// Something that the owner should know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// A host does not answer any more.
    HostDown(u32),
    /// It does again.
    HostBack(u32),
    /// A description was not taken in: it [cannot be meant](Description::check), or there are more
    /// than 255 different goals.
    Refused(u32),
    /// The sources' longest intervals alone take more than the budget.
    BudgetTooSmall {
        /// What they take in a day.
        needed: f64,
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
    /// Nothing that is worth more is left to spend the budget on.
    Spare,
}
