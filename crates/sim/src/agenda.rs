//! What happens next.

/// Sources by the day on which something is due, earliest first; equal days in order of sources.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// A heap in which each entry has four children: shallower than with two, and one cache line
    /// holds all of them.
    heap: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    day: f64,
    source: u32,
}

impl Entry {
    fn is_before(self, other: Self) -> bool {
        self.day < other.day || (self.day == other.day && self.source < other.source)
    }
}

const CHILDREN: usize = 4;

impl Agenda {
    /// From many entries at once, in linear time. Infinite days are left out.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = (f64, u32)>) -> Self {
        let finite = |&(day, _): &(f64, u32)| day < f64::INFINITY;
        let entry = |(day, source)| Entry { day, source };
        let mut agenda = Self { heap: entries.into_iter().filter(finite).map(entry).collect() };
        for at in (0..agenda.heap.len().div_ceil(CHILDREN)).rev() {
            agenda.sift_down(at);
        }
        agenda
    }

    /// The day of the first entry; infinite if there is none.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.heap.first().map_or(f64::INFINITY, |entry| entry.day)
    }

    /// Adds an entry. An infinite day is never.
    pub fn push(&mut self, day: f64, source: u32) {
        debug_assert!(!day.is_nan(), "source {source} is due at no time at all");
        if day < f64::INFINITY {
            self.heap.push(Entry { day, source });
            self.sift_up(self.heap.len() - 1);
        }
    }

    /// Takes the first entry off.
    pub fn pop(&mut self) -> Option<(f64, u32)> {
        let first = *self.heap.first()?;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.heap[0] = last;
            self.sift_down(0);
        }
        Some((first.day, first.source))
    }

    /// Takes the first entry off if it is due.
    pub fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    fn sift_up(&mut self, mut at: usize) {
        let entry = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !entry.is_before(self.heap[parent]) {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = entry;
    }

    fn sift_down(&mut self, mut at: usize) {
        let Some(&entry) = self.heap.get(at) else { return };
        loop {
            let children = at * CHILDREN + 1;
            let Some(first) = self.heap.get(children..) else { break };
            let Some((offset, &least)) = first
                .iter()
                .take(CHILDREN)
                .enumerate()
                .reduce(|best, next| if next.1.is_before(*best.1) { next } else { best })
            else {
                break;
            };
            if !least.is_before(entry) {
                break;
            }
            self.heap[at] = least;
            at = children + offset;
        }
        self.heap[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Agenda;

    proptest! {
        #[test]
        fn comes_out_in_order(days in prop::collection::vec(0..50_u32, 0..200), split in 0..200_usize) {
            let entries: Vec<(f64, u32)> =
                days.iter().enumerate().map(|(i, &day)| (f64::from(day), i as u32)).collect();
            let split = split.min(entries.len());
            let mut agenda = Agenda::of(entries[..split].iter().copied());
            for &(day, source) in &entries[split..] {
                agenda.push(day, source);
            }
            let mut sorted = entries.clone();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let popped: Vec<(f64, u32)> = std::iter::from_fn(|| agenda.pop()).collect();
            prop_assert_eq!(popped, sorted);
        }
    }
}
