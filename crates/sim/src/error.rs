//! What can be wrong with a simulation.

/// A name that is not in its list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}` ({})", known_names(known))]
pub struct UnknownName {
    /// What kind of name it should have been.
    pub what: &'static str,
    /// The name that was given.
    pub name: String,
    /// The names that there are.
    pub known: Vec<&'static str>,
}

fn known_names(known: &[&str]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("known: {}", known.join(", ")) }
}

/// Finds the one of `all` that has this name.
pub(crate) fn by_name<T: Copy>(
    what: &'static str,
    name: &str,
    all: &[T],
    of: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|&it| of(it) == name).ok_or_else(|| UnknownName {
        what,
        name: name.to_owned(),
        known: all.iter().map(|&it| of(it)).collect(),
    })
}

/// Why a simulation cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimError {
    /// There is nothing to simulate.
    #[error("there are no sources")]
    NoSources,
    /// The record has no time in it.
    #[error("the record covers no time: it begins and ends at {0} (seconds since 1970)")]
    NoTime(f64),
    /// The number of days is not one.
    #[error("{0} days are not a time to simulate (more than 0, at most 1e6)")]
    Days(f64),
    /// There is nothing left to measure.
    #[error("a burn-in of {burn_in} days leaves nothing of {days} days to measure")]
    BurnIn {
        /// The days before measuring.
        burn_in: f64,
        /// All days.
        days: f64,
    },
    /// A rate is no chance.
    #[error(
        "source {source_number}: a change rate of {rate} is no chance of a change in a slot (below 1)"
    )]
    Chance {
        /// Which source, from 1.
        source_number: usize,
        /// Its rate.
        rate: f64,
    },
    /// A scenario says what cannot be.
    #[error("{why}")]
    Scenario {
        /// The place in the scenario.
        place: usize,
        /// Why not.
        why: crate::InvalidTurn,
    },
    /// Recorded signals have times, and a web that is made up has no dates.
    #[error("recorded signals are about a record of changes, and the changes here are made up")]
    NoRecord,
    /// Signals about others.
    #[error(
        "the signals are about {signals} sources, and none of them is among the {sources} of the \
         trace: they go by name"
    )]
    Strangers {
        /// How many sources the signals are about.
        signals: usize,
        /// How many there are.
        sources: usize,
    },
    /// A policy cannot be asked for this.
    #[error("the policy `{policy}` is not for the objective {objective}")]
    Policy {
        /// Which policy.
        policy: String,
        /// What it was to make good.
        objective: &'static str,
    },
    /// The planner refused.
    #[error("cannot plan: {0}")]
    Plan(String),
    /// So many events would take for ever.
    #[error("{} are too many to simulate (at most {limit:e})", events(*.requests, *.changes, *.signals))]
    TooMuch {
        /// Requests to expect.
        requests: f64,
        /// Changes to expect.
        changes: f64,
        /// Signals to expect.
        signals: f64,
        /// How many events are allowed.
        limit: f64,
    },
}

/// Events to expect; signals only if there are any.
fn events(requests: f64, changes: f64, signals: f64) -> String {
    match signals > 0.0 {
        false => format!("about {requests:.3e} requests and {changes:.3e} changes"),
        true => format!(
            "about {requests:.3e} requests, {changes:.3e} changes and {signals:.3e} signals"
        ),
    }
}
