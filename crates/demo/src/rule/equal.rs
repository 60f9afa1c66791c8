//! Equal polling, spread evenly.

use std::collections::VecDeque;

use super::{Rule, Seen};

/// Fetches all pages in rounds: each page once per round, always after the
/// same time.
#[derive(Clone, Debug)]
pub struct Equal {
    queue: VecDeque<u32>,
}

impl Equal {
    /// Creates the rule with an order of pages.
    #[must_use]
    pub fn new(order: &[u32]) -> Self {
        Self { queue: order.iter().copied().collect() }
    }
}

impl Rule for Equal {
    fn next(&mut self) -> Option<u32> {
        let page = self.queue.pop_front()?;
        self.queue.push_back(page);
        Some(page)
    }

    fn learn(&mut self, _: u32, _: f64, _: Seen) {}
}
