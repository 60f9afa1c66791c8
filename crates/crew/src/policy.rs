//! Policy that decides when to start a fetcher.

use crate::CrewError;

/// Event at which a policy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A fetcher returned with a page. It stops unless it is started again.
    Arrival,
    /// The processor has finished a page.
    Departure,
}

/// Switching curve: target number of fetchers at each queue length, non-increasing.
///
/// After each event, the caller asks whether to start one more fetcher, given the number of waiting pages
/// and active fetchers.
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
    /// Creates a policy from the targets with 0, 1, … K pages in the queue and the number of available fetchers, which limits
    /// the targets.
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

    /// Creates a policy with a constant number of fetchers.
    pub fn constant(fetchers: u32, buffer: u32) -> Result<Self, CrewError> {
        Self::new(vec![fetchers; buffer as usize + 1], fetchers)
    }

    /// Returns true if one more fetcher should start, given the pages in the queue and the active fetchers. A
    /// fetcher that has just returned is not active; its page is in the queue or lost.
    #[must_use]
    pub fn starts(&self, queue: u32, active: u32) -> bool {
        active < self.target(queue)
    }

    /// As [`starts`](Self::starts), in the terms of the paper: queue and active fetchers just *before* an event, including
    /// the returning fetcher.
    #[must_use]
    pub fn starts_on(&self, event: Event, queue: u32, active: u32) -> bool {
        match event {
            Event::Arrival => active > 0 && self.starts(queue.saturating_add(1), active - 1),
            Event::Departure => queue > 0 && self.starts(queue - 1, active),
        }
    }

    /// Returns the target at a queue length.
    #[must_use]
    pub fn target(&self, queue: u32) -> u32 {
        let last = self.targets.len() - 1;
        self.targets[last.min(queue as usize)]
    }

    /// Returns the targets with 0, 1, … K pages in the queue.
    #[must_use]
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// Returns N, the number of available fetchers.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.available
    }

    /// Returns K, the capacity of the queue.
    #[must_use]
    pub fn buffer(&self) -> u32 {
        (self.targets.len() - 1) as u32
    }

    /// Returns the curve f of the paper for an event: for each number of active fetchers 0 … N, the longest
    /// queue (both before the event) at which one is started, or `None`. No fetcher returns
    /// if none is active, so for an arrival the first entry only continues the curve.
    #[must_use]
    pub fn curve(&self, event: Event) -> Vec<Option<u32>> {
        let buffer = self.buffer();
        let longest = |active: u32| match event {
            Event::Arrival => {
                let after =
                    active.checked_sub(1).map_or(Some(buffer), |rest| self.longest(rest))?;
                // An arrival at a full queue leaves it full.
                if after == buffer { Some(buffer) } else { after.checked_sub(1) }
            }
            Event::Departure => Some(self.longest(active)?.saturating_add(1).min(buffer)),
        };
        (0..=self.available).map(longest).collect()
    }

    /// Returns the longest queue with a target above `active`.
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
