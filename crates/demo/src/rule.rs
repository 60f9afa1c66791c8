//! Rules of the other pollers.

mod equal;
mod nutch;

pub use equal::Equal;
pub use nutch::Nutch;

/// Outcome of a fetch, as a rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The first copy of the page.
    First,
    /// The page has changed.
    Changed,
    /// The page has not changed.
    Same,
    /// The fetch failed.
    Failed,
}

/// A rule that selects the next page. It is called once per request of the budget, and
/// therefore makes as many as any other rule.
pub trait Rule: Send {
    /// Returns the next page, or `None` while all are being fetched.
    fn next(&mut self) -> Option<u32>;

    /// Records an outcome and its day.
    fn learn(&mut self, page: u32, now: f64, seen: Seen);
}
