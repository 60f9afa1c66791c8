//! When to start one more fetcher.

use crate::CrewError;

/// What just happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A fetcher came back with a page. It stops, unless it is sent out again.
    Arrival,
    /// The processor is done with a page.
    Departure,
}

/// A switching curve: how many fetchers are wanted at each length of the queue, fewer the longer it is.
///
/// Whoever runs fetchers asks after each event: *with so many pages waiting and so many fetchers
/// active, one more, or not?*
///
/// ```
/// use freshet_crew::Policy;
///
/// let policy = Policy::new(vec![3, 2, 0], 3)?;
/// assert!(policy.starts(1, 1));
/// assert!(!policy.starts(1, 2));
/// assert!(!policy.starts(2, 0));
/// # Ok::<(), freshet_crew::CrewError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    targets: Vec<u32>,
    available: u32,
}

impl Policy {
    /// The fetchers wanted with 0, 1, … K pages in the queue, and how many there are: more than these
    /// cannot be wanted.
    pub fn new(targets: Vec<u32>, available: u32) -> Result<Self, CrewError> {
        if targets.len() < 2 {
            return Err(CrewError::NoRoom);
        }
        if available == 0 {
            return Err(CrewError::NoFetchers);
        }
        if targets[0] == 0 {
            return Err(CrewError::Asleep);
        }
        if let Some(before) = targets.windows(2).position(|pair| pair[0] < pair[1]) {
            return Err(CrewError::RisingTargets { queue: before + 1 });
        }
        let targets = targets.into_iter().map(|target| target.min(available)).collect();
        Ok(Self { targets, available })
    }

    /// Always the same number.
    pub fn constant(fetchers: u32, buffer: u32) -> Result<Self, CrewError> {
        Self::new(vec![fetchers; buffer as usize + 1], fetchers)
    }

    /// Whether to start one more, with so many pages in the queue and so many fetchers active. The
    /// fetcher that has just come back is not active, its page is in the queue or lost.
    #[must_use]
    pub fn starts(&self, queue: u32, active: u32) -> bool {
        active < self.target(queue)
    }

    /// The same in the terms of the paper: queue and active fetchers just *before* an event, the one
    /// that comes back included.
    #[must_use]
    pub fn starts_on(&self, event: Event, queue: u32, active: u32) -> bool {
        match event {
            Event::Arrival => active > 0 && self.starts(queue.saturating_add(1), active - 1),
            Event::Departure => queue > 0 && self.starts(queue - 1, active),
        }
    }

    /// How many fetchers are wanted with so many pages in the queue.
    #[must_use]
    pub fn target(&self, queue: u32) -> u32 {
        let last = self.targets.len() - 1;
        self.targets[last.min(queue as usize)]
    }

    /// The fetchers wanted with 0, 1, … K pages in the queue.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// N, how many fetchers there are.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.available
    }

    /// K, how many pages the queue holds.
    #[must_use]
    pub fn buffer(&self) -> u32 {
        (self.targets.len() - 1) as u32
    }

    /// The curve f of the paper for an event: for each number of active fetchers 0 … N, the longest
    /// queue (both before the event) at which one is started; `None` if there is none. Nobody comes
    /// back when nobody is active: for an arrival the first entry only continues the curve.
    #[must_use]
    pub fn curve(&self, event: Event) -> Vec<Option<u32>> {
        let buffer = self.buffer();
        let longest = |active: u32| match event {
            Event::Arrival => {
                let after =
                    active.checked_sub(1).map_or(Some(buffer), |rest| self.longest(rest))?;
                // A page that finds the queue full leaves it full.
                if after == buffer { Some(buffer) } else { after.checked_sub(1) }
            }
            Event::Departure => Some(self.longest(active)?.saturating_add(1).min(buffer)),
        };
        (0..=self.available).map(longest).collect()
    }

    /// The longest queue at which one more than `active` is wanted.
    fn longest(&self, active: u32) -> Option<u32> {
        (self.targets.partition_point(|&target| target > active) as u32).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_falling_curves_that_wake_up_are_taken() {
        assert_eq!(Policy::new(vec![2, 1, 3], 3), Err(CrewError::RisingTargets { queue: 2 }));
        assert_eq!(Policy::new(vec![0, 0], 3), Err(CrewError::Asleep));
        assert_eq!(Policy::new(vec![1], 3), Err(CrewError::NoRoom));
        assert_eq!(Policy::new(vec![1, 1], 0), Err(CrewError::NoFetchers));
        assert_eq!(Policy::new(vec![9, 1], 3).map(|it| it.target(0)), Ok(3));
    }

    #[test]
    fn the_curve_says_what_the_policy_does() {
        for targets in [vec![3, 2, 0], vec![5, 5, 5], vec![4, 1, 1, 0, 0], vec![1, 0], vec![6, 2]] {
            let policy = Policy::new(targets, 6).unwrap();
            for event in [Event::Arrival, Event::Departure] {
                let curve = policy.curve(event);
                assert_eq!(curve.len(), 7);
                assert!(curve.is_sorted_by(|a, b| a >= b));
                let first = u32::from(event == Event::Departure);
                for (active, longest) in (0..).zip(curve).skip(1 - first as usize) {
                    for queue in first..=policy.buffer() {
                        let expect = longest.is_some_and(|longest| queue <= longest);
                        let starts = policy.starts_on(event, queue, active);
                        assert_eq!(starts, expect, "{policy:?} {event:?} {queue} {active}");
                    }
                }
            }
        }
    }
}
