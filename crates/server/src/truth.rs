//! What is really so, where somebody knows: the demo has made its web, and knows when pages changed.

use freshet_daemon::Millis;

/// How fresh the copies of several keepers really were, over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// One for each keeper; the first is freshet.
    pub lines: Vec<Line>,
}

/// A keeper of copies, and how fresh they really were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Who.
    pub name: String,
    /// The share of copies that were fresh, by importance, at moments of the daemon's clock, in order.
    pub fresh: Vec<(Millis, f64)>,
    /// The mean of it so far.
    pub mean: f64,
    /// Requests that it took.
    pub requests: u64,
}
