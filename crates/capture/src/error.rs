/// Error of this crate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CaptureError {
    /// Invalid weight.
    #[error("weight {0} is not a finite number of at least 0")]
    Weight(f64),
    /// A probability is not in [0, 1].
    #[error("chance of page {page} at instant {instant} is not between 0 and 1: {chance}")]
    Chance {
        /// Index of the page.
        page: usize,
        /// Index of the instant.
        instant: usize,
        /// The probability.
        chance: f64,
    },
    /// The number of probabilities is not a multiple of the number of pages.
    #[error("{values} chances are not rows of {pages} pages")]
    Ragged {
        /// Number of probabilities.
        values: usize,
        /// Number of pages.
        pages: usize,
    },
    /// Two inputs have different numbers of pages.
    #[error("{found} pages where there should be {expected}")]
    Pages {
        /// Expected number.
        expected: usize,
        /// Actual number.
        found: usize,
    },
    /// Two inputs have different numbers of instants.
    #[error("{found} instants where there should be {expected}")]
    Instants {
        /// Expected number.
        expected: usize,
        /// Actual number.
        found: usize,
    },
    /// Pages or instants do not fit in a 32-bit index.
    #[error("{count} {what} are more than 4294967295")]
    TooMany {
        /// `pages` or `instants`.
        what: &'static str,
        /// Actual number.
        count: usize,
    },
    /// A schedule fetches an unknown page.
    #[error("page {page} is fetched at instant {instant}, but there are {pages} pages")]
    NoSuchPage {
        /// Index of the instant.
        instant: usize,
        /// Index of the page.
        page: u32,
        /// Number of pages.
        pages: usize,
    },
    /// A schedule fetches a page twice in an instant.
    #[error("page {page} is fetched twice at instant {instant}")]
    Twice {
        /// Index of the instant.
        instant: usize,
        /// Index of the page.
        page: u32,
    },
    /// A page changes after the last instant.
    #[error("page {page} changes at instant {instant}, but there are {instants} instants")]
    NoSuchInstant {
        /// Index of the page.
        page: usize,
        /// Index of the instant.
        instant: u32,
        /// Number of instants.
        instants: usize,
    },
    /// Invalid spread.
    #[error("spread {0} is not a finite number of at least 0 instants")]
    Spread(f64),
    /// The optimum has too many cases to try.
    #[error("the optimum of {pages} pages over {instants} instants has too many cases to try")]
    TooLarge {
        /// Number of pages.
        pages: usize,
        /// Number of instants.
        instants: usize,
    },
}
