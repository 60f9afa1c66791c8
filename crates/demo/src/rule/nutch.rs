//! Apache Nutch's adaptive schedule with its default settings.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Rule, Seen};
use crate::clock::DAY;

/// `db.fetch.schedule.adaptive.min_interval` and `.max_interval`, in days.
const SHORTEST: f64 = 60.0 / DAY;
const LONGEST: f64 = 31_536_000.0 / DAY;
/// `db.fetch.interval.max`: above it a page is fetched and its history reset.
const RENEWED_FROM: f64 = 7_776_000.0 / DAY;
/// `.dec_rate`, `.inc_rate` and `.sync_delta_rate`.
const CHANGED: f64 = 0.8;
const SAME: f64 = 1.4;
const SYNC: f64 = 0.3;
/// Days until the next attempt after a failure.
const RETRY: f64 = 1.0;

/// The rule has no budget: its time is stretched by one factor so that it makes as many requests as the
/// budget allows. Whenever a request is available, the page that is due first is fetched,
/// slightly early or late.
#[derive(Clone, Debug)]
pub struct Nutch {
    /// Days of the demo per day of the rule.
    scale: f64,
    pages: Vec<Memory>,
    due: BinaryHeap<Reverse<(Day, u32)>>,
}

/// State of a page, in days of the rule.
#[derive(Clone, Debug)]
struct Memory {
    interval: f64,
    /// Fetch that found the last modification.
    modified: Option<f64>,
}

/// Days in order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Day(f64);

impl Eq for Day {}

impl PartialOrd for Day {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Day {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Nutch {
    /// Creates the rule. The first round is in the given order, spread over one interval, because a common start would be
    /// a wave that never ends. `interval` is the mean interval of the budget, and `scale`
    /// the days per day of the rule.
    #[must_use]
    pub fn new(order: &[u32], interval: f64, scale: f64) -> Self {
        let count = order.iter().max().map_or(0, |&last| last as usize + 1);
        let start = (interval / scale).clamp(SHORTEST, LONGEST);
        let day = |at: usize| Day(start * scale * at as f64 / order.len() as f64);
        Self {
            scale,
            pages: vec![Memory { interval: start, modified: None }; count],
            due: order.iter().enumerate().map(|(at, &page)| Reverse((day(at), page))).collect(),
        }
    }

    /// Returns the day on which the next page is due, or infinity while all are being fetched.
    #[must_use]
    pub fn due(&self) -> f64 {
        self.due.peek().map_or(f64::INFINITY, |Reverse((Day(day), _))| *day)
    }
}

impl Rule for Nutch {
    fn next(&mut self) -> Option<u32> {
        self.due.pop().map(|Reverse((_, page))| page)
    }

    fn learn(&mut self, page: u32, now: f64, seen: Seen) {
        let Some(memory) = self.pages.get_mut(page as usize) else { return };
        let wait = if seen == Seen::Failed { RETRY } else { memory.next(now / self.scale, seen) };
        self.due.push(Reverse((Day(now + wait * self.scale), page)));
    }
}

impl Memory {
    /// Returns the number of days to the next fetch.
    fn next(&mut self, now: f64, seen: Seen) -> f64 {
        match seen {
            Seen::Changed => self.interval *= CHANGED,
            Seen::Same => self.interval *= SAME,
            Seen::First | Seen::Failed => {}
        }
        if matches!(seen, Seen::First | Seen::Changed) {
            self.modified = Some(now);
        }
        let unmodified = now - self.modified.unwrap_or(now);
        self.interval = self.interval.max(unmodified).clamp(SHORTEST, LONGEST);
        let mut next = self.interval - SYNC * unmodified;
        if self.interval > RENEWED_FROM {
            self.interval = 0.9 * RENEWED_FROM;
            self.modified = None;
            next = self.interval;
        }
        next.max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intervals of a page with a constant outcome.
    #[track_caller]
    fn check(seen: Seen, fetches: usize, expect: f64) {
        let mut memory = Memory { interval: 30.0, modified: Some(0.0) };
        let mut now = 0.0;
        for _ in 0..fetches {
            now += memory.next(now, seen);
        }
        assert!((memory.interval - expect).abs() < 1e-9, "{seen:?}: {}", memory.interval);
    }

    #[test]
    fn intervals_shrink_and_grow_by_its_factors() {
        check(Seen::Changed, 3, 30.0 * 0.512);
        check(Seen::Changed, 200, SHORTEST);
        check(Seen::Same, 1, 30.0 * 1.4);
        check(Seen::First, 5, 30.0);
        // 30 × 1.4⁴ days are more than 90.
        check(Seen::Same, 4, 0.9 * RENEWED_FROM);
    }

    #[test]
    fn who_changes_is_asked_more_often() {
        let mut nutch = Nutch::new(&[0, 1], 2.0, 0.5);
        let mut asked = [0; 2];
        for day in 0..100 {
            let page = nutch.next().unwrap();
            asked[page as usize] += 1;
            nutch.learn(page, f64::from(day), if page == 0 { Seen::Changed } else { Seen::Same });
        }
        assert!(asked[0] > 4 * asked[1], "{asked:?}");
    }
}
