//! What can be wrong with a question about a crew.

use thiserror::Error;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum CrewError {
    /// Each fetcher has to bring something.
    #[error("the rate of a fetcher is not a number above 0: {0}")]
    FetchRate(f64),
    /// The processor has to take something.
    #[error("the rate of the processor is not a number above 0: {0}")]
    ProcessRate(f64),
    /// A weight is a number, and starving is not a gain.
    #[error("the weight of starvation is not a number of 0 or more: {0}")]
    StarvationWeight(f64),
    /// Two of the numbers have a ratio that leaves no digits.
    #[error(
        "{what} and the rate of the processor are too far apart: {value:e} and {process_rate:e}"
    )]
    Apart {
        /// Which number it is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it is compared with.
        process_rate: f64,
    },
    /// The page in work counts, so there must be room for it.
    #[error("the buffer has no room: its size is 0")]
    NoRoom,
    /// Nobody to choose from.
    #[error("no fetcher is available: the number is 0")]
    NoFetchers,
    /// Beyond 2⁵³ one fetcher more or less is lost in rounding.
    #[error("the best fixed number of fetchers, about {fetchers:.1e}, is more than can be counted")]
    Uncountable {
        /// About how many.
        fetchers: f64,
    },
    /// A switching curve needs a value for every state.
    #[error("the switching curve would need {states:.1e} states, more than {limit:.0e}")]
    TooManyStates {
        /// Queue lengths times numbers of active fetchers, or a lower bound of it.
        states: f64,
        /// The most that are computed.
        limit: f64,
    },
    /// The steeper a curve, the more states are connected with each other.
    #[error("the switching curve falls by {rows}: with this buffer that is too much to compute")]
    TooSteep {
        /// The fetchers wanted with an empty queue less those with a full one.
        rows: u32,
    },
    /// More pages waiting must never ask for more fetchers.
    #[error("the number of fetchers wanted rises with the queue, at {queue} waiting")]
    RisingTargets {
        /// The queue length at which it rises.
        queue: usize,
    },
    /// An empty queue with nobody to fill it stays empty.
    #[error("no fetcher is wanted when the queue is empty")]
    Asleep,
    /// A curve is for one size of the buffer.
    #[error("the policy is for a buffer of {policy}, not of {setting}")]
    OtherBuffer {
        /// The size that the policy is for.
        policy: u32,
        /// The size that is given.
        setting: u32,
    },
    /// Relative value iteration is defined for a damping above 0 and up to 1.
    #[error("the damping is not above 0 and at most 1: {0}")]
    Damping(f64),
    /// An iteration that has not settled says nothing.
    #[error("value iteration has not settled after {0} iterations")]
    Unsettled(u32),
}
