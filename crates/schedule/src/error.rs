/// Error for rates or parameters without a valid sequence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// A rate is not a number.
    #[error("rate of source {source_index} is not a number")]
    NotANumber {
        /// Index of the source.
        source_index: usize,
    },
    /// A rate is below zero.
    #[error("rate of source {source_index} is negative: {rate}")]
    Negative {
        /// Index of the source.
        source_index: usize,
        /// The rate.
        rate: f64,
    },
    /// A rate is infinite.
    #[error("rate of source {source_index} is infinite")]
    Infinite {
        /// Index of the source.
        source_index: usize,
    },
    /// The rates ask for more than one fetch per slot.
    #[error("rates add up to {sum} fetches per slot, more than 1")]
    Oversubscribed {
        /// The sum of the rates.
        sum: f64,
    },
    /// The sources do not fit in a 32-bit index.
    #[error("{sources} sources, more than 4294967295")]
    TooManySources {
        /// Number of sources.
        sources: usize,
    },
    /// The number of phases differs from the number of sources.
    #[error("{phases} phases for {sources} sources")]
    PhaseCount {
        /// Number of phases.
        phases: usize,
        /// Number of sources.
        sources: usize,
    },
    /// A phase is not in [0, 1).
    #[error("phase of source {source_index} is not in [0, 1): {phase}")]
    PhaseOutside {
        /// Index of the source.
        source_index: usize,
        /// The phase.
        phase: f64,
    },
    /// A golden-ratio cycle is too long.
    #[error("cycle of {slots} slots is longer than {max_slots}")]
    CycleTooLong {
        /// Requested number of slots.
        slots: u64,
        /// Length of the longest possible cycle.
        max_slots: u64,
    },
}
