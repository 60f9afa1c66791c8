//! All pages equally often, spread evenly.

use std::collections::VecDeque;

use super::{Rule, Seen};

/// Asks page after page, and begins again: each page is asked once in every round, always after the
/// same time.
#[derive(Clone, Debug)]
pub struct Equal {
    queue: VecDeque<u32>,
}

impl Equal {
    /// In this order.
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
