/// Why there is no answer to what was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CaptureError {
    /// A weight is not a number that a worth can be multiplied by.
    #[error("weight {0} is not a finite number of at least 0")]
    Weight(f64),
    /// A chance is not in [0, 1].
    #[error("chance of page {page} at instant {instant} is not between 0 and 1: {chance}")]
    Chance {
        /// Which page.
        page: usize,
        /// Which instant.
        instant: usize,
        /// The chance.
        chance: f64,
    },
    /// Chances do not come in whole rows of one for each page.
    #[error("{values} chances are not rows of {pages} pages")]
    Ragged {
        /// How many chances there are.
        values: usize,
        /// How many pages there are.
        pages: usize,
    },
    /// Two inputs speak of different pages.
    #[error("{found} pages where there should be {expected}")]
    Pages {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Two inputs speak of different instants.
    #[error("{found} instants where there should be {expected}")]
    Instants {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// There are more pages or instants than fit an index of 32 bits.
    #[error("{count} {what} are more than 4294967295")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A schedule fetches a page that there is not.
    #[error("page {page} is fetched at instant {instant}, but there are {pages} pages")]
    NoSuchPage {
        /// When.
        instant: usize,
        /// Which page.
        page: u32,
        /// How many pages there are.
        pages: usize,
    },
    /// A schedule fetches a page twice in an instant.
    #[error("page {page} is fetched twice at instant {instant}")]
    Twice {
        /// When.
        instant: usize,
        /// Which page.
        page: u32,
    },
    /// A page changes after the end.
    #[error("page {page} changes at instant {instant}, but there are {instants} instants")]
    NoSuchInstant {
        /// Which page.
        page: usize,
        /// When.
        instant: u32,
        /// How many instants there are.
        instants: usize,
    },
    /// A spread is not a number of instants.
    #[error("spread {0} is not a finite number of at least 0 instants")]
    Spread(f64),
    /// The optimum of so many cases is out of reach.
    #[error("the optimum of {pages} pages over {instants} instants has too many cases to try")]
    TooLarge {
        /// How many pages there are.
        pages: usize,
        /// How many instants there are.
        instants: usize,
    },
}
