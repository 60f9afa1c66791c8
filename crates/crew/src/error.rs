//! Errors of the computation.

use thiserror::Error;

/// Error of a computation.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum CrewError {
    /// The fetch rate is not positive.
    #[error("the rate of a fetcher is not a number above 0: {0}")]
    FetchRate(f64),
    /// The processing rate is not positive.
    #[error("the rate of the processor is not a number above 0: {0}")]
    ProcessRate(f64),
    /// The starvation weight is negative or not a number.
    #[error("the weight of starvation is not a number of 0 or more: {0}")]
    StarvationWeight(f64),
    /// Two numbers have a ratio that leaves no significant digits.
    #[error(
        "{what} and the rate of the processor are too far apart: {value:e} and {process_rate:e}"
    )]
    Apart {
        /// Name of the number.
        what: &'static str,
        /// Value.
        value: f64,
        /// Name of the number that it is compared with.
        process_rate: f64,
    },
    /// The buffer has no room; it includes the page in work.
    #[error("the buffer has no room: its size is 0")]
    NoRoom,
    /// No fetcher is available.
    #[error("no fetcher is available: the number is 0")]
    NoFetchers,
    /// The number of fetchers is not exactly representable (above 2⁵³).
    #[error("the best fixed number of fetchers, about {fetchers:.1e}, is more than can be counted")]
    Uncountable {
        /// Approximate number.
        fetchers: f64,
    },
    /// The switching curve would need too many states.
    #[error("the switching curve would need {states:.1e} states, more than {limit:.0e}")]
    TooManyStates {
        /// Number of queue lengths times number of fetchers, or a lower bound of it.
        states: f64,
        /// Largest supported number.
        limit: f64,
    },
    /// The switching curve is too steep.
    #[error("the switching curve falls by {rows}: with this buffer that is too much to compute")]
    TooSteep {
        /// Target with an empty queue minus target with a full one.
        rows: u32,
    },
    /// The target rises with the queue length.
    #[error("the target number of fetchers rises with the queue length, at {queue} waiting pages")]
    RisingTargets {
        /// Queue length at which it rises.
        queue: usize,
    },
    /// The target is zero with an empty queue, which would stay empty.
    #[error("the target number of fetchers is 0 when the queue is empty")]
    Asleep,
    /// The policy is for another buffer size.
    #[error("the policy is for a buffer of {policy}, not of {setting}")]
    OtherBuffer {
        /// Buffer size of the policy.
        policy: u32,
        /// Buffer size of the parameters.
        setting: u32,
    },
    /// The damping is not above 0 and at most 1.
    #[error("the damping is not above 0 and at most 1: {0}")]
    Damping(f64),
    /// Value iteration did not converge.
    #[error("value iteration has not settled after {0} iterations")]
    Unsettled(u32),
}
