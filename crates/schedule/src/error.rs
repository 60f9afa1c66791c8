/// Why there is no sequence for what was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// A rate is no number.
    #[error("rate of source {source_index} is not a number")]
    NotANumber {
        /// Whose rate it is.
        source_index: usize,
    },
    /// A rate is below zero.
    #[error("rate of source {source_index} is negative: {rate}")]
    Negative {
        /// Whose rate it is.
        source_index: usize,
        /// The rate.
        rate: f64,
    },
    /// A rate is infinite.
    #[error("rate of source {source_index} is infinite")]
    Infinite {
        /// Whose rate it is.
        source_index: usize,
    },
    /// The rates ask for more than one fetch per slot.
    #[error("rates add up to {sum} fetches per slot, more than 1")]
    Oversubscribed {
        /// The sum of the rates.
        sum: f64,
    },
    /// There are more sources than fit an index of 32 bits.
    #[error("{sources} sources are more than 4294967295")]
    TooManySources {
        /// How many there are.
        sources: usize,
    },
    /// There is not one phase for each source.
    #[error("{phases} phases for {sources} sources")]
    PhaseCount {
        /// How many phases there are.
        phases: usize,
        /// How many sources there are.
        sources: usize,
    },
    /// A phase is not in [0, 1).
    #[error("phase of source {source_index} is not in [0, 1): {phase}")]
    PhaseOutside {
        /// Whose phase it is.
        source_index: usize,
        /// The phase.
        phase: f64,
    },
    /// A golden-ratio cycle may not be so long.
    #[error("cycle of {slots} slots is longer than {longest}")]
    CycleTooLong {
        /// How many slots were asked for.
        slots: u64,
        /// The longest cycle that there is.
        longest: u64,
    },
}
