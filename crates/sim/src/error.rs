//! Errors of a simulation.

/// Error for an unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}` ({})", known_names(known))]
pub struct UnknownName {
    /// Kind of name that was expected.
    pub what: &'static str,
    /// The given name.
    pub name: String,
    /// Names that exist.
    pub known: Vec<&'static str>,
}

fn known_names(known: &[&str]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("known: {}", known.join(", ")) }
}

/// Finds the element of `all` with the given name.
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

/// Error of a simulation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimError {
    /// There are no sources.
    #[error("there are no sources")]
    NoSources,
    /// The trace covers no time.
    #[error("the record covers no time: it begins and ends at {0} (seconds since 1970)")]
    NoTime(f64),
    /// Invalid number of days.
    #[error("cannot simulate {0} days: expected more than 0 and at most 1e6")]
    Days(f64),
    /// The burn-in leaves no time to measure.
    #[error("a burn-in of {burn_in} days leaves nothing of {days} days to measure")]
    BurnIn {
        /// Days before the measured time.
        burn_in: f64,
        /// Total number of days.
        days: f64,
    },
    /// A change rate is not a probability although time is in slots.
    #[error(
        "source {source_number}: change rate {rate} is not the probability of a change in a slot (below 1)"
    )]
    Chance {
        /// Number of the source, starting at 1.
        source_number: usize,
        /// Change rate of the source.
        rate: f64,
    },
    /// An event of the scenario is impossible.
    #[error("{why}")]
    Scenario {
        /// Index of the event in the scenario.
        place: usize,
        /// Reason.
        why: crate::InvalidScenarioEvent,
    },
    /// Recorded signals need a trace of changes, because a synthetic web has no dates.
    #[error("recorded signals require recorded changes, but these changes are synthetic")]
    NoRecord,
    /// The signals are about other sources.
    #[error(
        "the signals are about {signals} sources, none of which is among the {sources} of the \
         trace: sources are matched by name"
    )]
    UnknownSources {
        /// Number of sources that the signals are about.
        signals: usize,
        /// Available number.
        sources: usize,
    },
    /// The policy does not support the objective.
    #[error("the policy `{policy}` does not support the objective {objective}")]
    Policy {
        /// Name of the policy.
        policy: String,
        /// The objective.
        objective: &'static str,
    },
    /// The planner returned an error.
    #[error("cannot plan: {0}")]
    Plan(String),
    /// The simulation has too many events.
    #[error("{} are too many to simulate (at most {limit:e})", events(*.requests, *.changes, *.signals))]
    TooMuch {
        /// Expected number of requests.
        requests: f64,
        /// Expected number of changes.
        changes: f64,
        /// Expected number of signals.
        signals: f64,
        /// Largest number of events allowed.
        limit: f64,
    },
}

/// Formats the expected numbers of events; signals only if there are any.
fn events(requests: f64, changes: f64, signals: f64) -> String {
    match signals > 0.0 {
        false => format!("about {requests:.3e} requests and {changes:.3e} changes"),
        true => format!(
            "about {requests:.3e} requests, {changes:.3e} changes and {signals:.3e} signals"
        ),
    }
}
