//! Updates that have not been captured yet.

use std::collections::VecDeque;

use freshet_estimate::{CaptureObjective, UpdateLifetime, Urgency};

/// Updates of each source since its last fetch, as far as a fetch can still capture them.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    capture: CaptureObjective,
    /// Numbers of updates and of days after which an update can no longer be captured.
    changes: usize,
    window: f64,
    pending: Pending,
}

/// Per source: a single number where that is enough, otherwise the days of its updates.
#[derive(Clone, Debug)]
enum Pending {
    /// Updates never expire: total worth at the latest update, and its day.
    Sums(Vec<(f64, f64)>),
    /// Days of the available updates, in order.
    Days(Vec<VecDeque<f64>>),
}

impl Backlog {
    pub(crate) fn new(capture: CaptureObjective, sources: usize) -> Self {
        let (changes, life) = match capture.life {
            UpdateLifetime::Append => (usize::MAX, f64::INFINITY),
            UpdateLifetime::Window(days) => (usize::MAX, f64::from(days)),
            UpdateLifetime::Changes(changes) => (changes as usize, f64::INFINITY),
        };
        let window = match capture.urgency {
            Urgency::Window(days) => life.min(f64::from(days)),
            Urgency::Uniform | Urgency::Decay(_) => life,
        };
        let pending = if changes == usize::MAX && window == f64::INFINITY {
            Pending::Sums(vec![(0.0, 0.0); sources])
        } else {
            Pending::Days(vec![VecDeque::new(); sources])
        };
        Self { capture, changes, window, pending }
    }

    /// Records a change of a source. Updates before day `since` no longer count.
    pub(crate) fn add(&mut self, source: u32, day: f64, since: f64) {
        match &mut self.pending {
            Pending::Sums(sums) => {
                let (worth, at) = &mut sums[source as usize];
                let left = if *at < since { 0.0 } else { self.capture.update_value(day - *at, 0) };
                (*worth, *at) = (worth.mul_add(left, 1.0), day);
            }
            Pending::Days(days) => {
                let days = &mut days[source as usize];
                while days.len() >= self.changes
                    || days.front().is_some_and(|&first| day - first > self.window)
                {
                    days.pop_front();
                }
                days.push_back(day);
            }
        }
    }

    /// Records a fetch and returns the worth of the captured updates per unit of importance. Updates
    /// before day `since` do not count.
    pub(crate) fn take(&mut self, source: u32, now: f64, since: f64) -> f64 {
        match &mut self.pending {
            Pending::Sums(sums) => {
                let (worth, at) = std::mem::take(&mut sums[source as usize]);
                if at < since { 0.0 } else { worth * self.capture.update_value(now - at, 0) }
            }
            Pending::Days(days) => {
                let days = &mut days[source as usize];
                let latest_first = days.iter().rev().zip(0..).filter(|(day, _)| **day >= since);
                let worth = latest_first
                    .map(|(day, later)| self.capture.update_value(now - day, later))
                    .sum();
                days.clear();
                worth
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captures() -> impl Strategy<Value = CaptureObjective> {
        let life = prop_oneof![
            Just(UpdateLifetime::Append),
            Just(UpdateLifetime::OVERWRITE),
            (2_u32..6).prop_map(UpdateLifetime::Changes),
            (0.1_f32..3.0).prop_map(UpdateLifetime::Window),
        ];
        let urgency = prop_oneof![
            Just(Urgency::Uniform),
            (0.1_f32..3.0).prop_map(Urgency::Decay),
            (0.1_f32..3.0).prop_map(Urgency::Window),
        ];
        (life, urgency).prop_map(|(life, urgency)| CaptureObjective { life, urgency })
    }

    proptest! {
        #[test]
        fn a_fetch_captures_what_is_left_of_every_update(
            capture in captures(),
            gaps in prop::collection::vec((0.0_f64..1.0, prop::bool::weighted(0.1)), 1..80),
            since in 0.0_f64..10.0,
        ) {
            let mut backlog = Backlog::new(capture, 2);
            let (mut now, mut days) = (0.0, Vec::<f64>::new());
            for (gap, fetch) in gaps {
                now += gap;
                let since = if now < since { 0.0 } else { since };
                if fetch {
                    // By the definition, from the whole history.
                    let later = |at: usize| (days.len() - 1 - at) as u32;
                    let counts = (0..days.len()).filter(|&at| days[at] >= since);
                    let expect: f64 =
                        counts.map(|at| capture.update_value(now - days[at], later(at))).sum();
                    let got = backlog.take(1, now, since);
                    prop_assert!((got - expect).abs() <= 1e-12 * (1.0 + expect), "{got} {expect}");
                    days.clear();
                } else {
                    backlog.add(1, now, since);
                    days.push(now);
                }
            }
            prop_assert_eq!(backlog.take(0, now, 0.0), 0.0, "another source's updates");
        }
    }

    #[test]
    fn no_more_is_remembered_than_can_be_captured() {
        let kept = |life: &str, urgency: &str| {
            let capture =
                CaptureObjective { life: life.parse().unwrap(), urgency: urgency.parse().unwrap() };
            let mut backlog = Backlog::new(capture, 1);
            for day in 0..10_000 {
                backlog.add(0, f64::from(day), 0.0);
            }
            match backlog.pending {
                Pending::Sums(sums) => sums.len(),
                Pending::Days(days) => days[0].len(),
            }
        };
        assert_eq!(kept("append", "uniform"), 1);
        assert_eq!(kept("append", "decay:6h"), 1);
        assert_eq!(kept("append", "window:7d"), 8);
        assert_eq!(kept("overwrite", "decay:6h"), 1);
        assert_eq!(kept("changes:3", "uniform"), 3);
        assert_eq!(kept("changes:30", "window:7d"), 8);
        assert_eq!(kept("window:2d", "window:7d"), 3);
    }
}
