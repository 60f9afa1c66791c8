//! The other pollers: whom they ask next.

mod equal;
mod nutch;

pub use equal::Equal;
pub use nutch::Nutch;

/// What a fetch told a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The first copy of the page.
    First,
    /// It is not what it was.
    Changed,
    /// It is.
    Same,
    /// Nothing came.
    Failed,
}

/// A rule that says whom to ask next. It is asked once for each request that the budget allows, and
/// so makes as many as any other.
pub trait Rule: Send {
    /// The page to ask next; `None` while all are being asked.
    fn next(&mut self) -> Option<u32>;

    /// Takes note of what came, on which day.
    fn learn(&mut self, page: u32, now: f64, seen: Seen);
}
