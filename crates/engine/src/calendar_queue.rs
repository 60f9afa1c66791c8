//! Priority queue of due days for very many entries: a calendar queue.

use serde::{Deserialize, Serialize};

use crate::bucket_arena::{BucketArena, Slab};
use crate::due_heap::{DueEntry, DueHeap};

/// Target number of entries per bucket, and the maximum number of buckets.
const ENTRIES_PER_BUCKET: usize = 64;
const MAX_BUCKETS: usize = 4096;
/// Entries of the next bucket that are moved to the heap with each pop, so that the bucket is
/// already sorted when its time comes.
const PRESORTED_PER_POP: usize = 8;
/// Entries taken out of the heap at a time for the front, and its maximum length.
const FRONT_REFILL: usize = 16;
const MAX_FRONT_LEN: usize = 4 * FRONT_REFILL;
/// Slabs of an obsolete calendar that are freed per step.
const SLABS_FREED_PER_STEP: usize = 4;

/// Days and numbers, the earliest day first, equal days by number.
///
/// Entries of the nearest days are in a heap that is small enough for the cache. Later ones are in
/// buckets, each of which covers a stretch of time in no order, so that adding one is a plain
/// write. The next few are popped in advance, so that the records they refer to can be prefetched
/// together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct CalendarQueue {
    /// The next entries, the first one at the end. Empty only if the calendar is empty.
    front: Vec<DueEntry>,
    near: DueHeap,
    /// Index of the first bucket that may contain entries.
    next: usize,
    buckets: BucketArena,
    /// Number of entries in buckets.
    bucketed_len: usize,
    /// Start of the first bucket, and the number of buckets per day.
    start: f64,
    buckets_per_day: f64,
}

impl CalendarQueue {
    /// Creates a calendar for about `entries` entries between two days.
    fn new(start: f64, end: f64, entries: usize) -> Self {
        let count = (entries / ENTRIES_PER_BUCKET).min(MAX_BUCKETS);
        let buckets_per_day = count as f64 / (end - start);
        let count = if buckets_per_day.is_normal() && buckets_per_day > 0.0 { count } else { 0 };
        Self { buckets: BucketArena::new(count), start, buckets_per_day, ..Self::default() }
    }

    /// Returns the bucket of a day; infinite from the last bucket on.
    fn bucket_index(&self, day: f64) -> f64 {
        let bucket_index = ((day - self.start) * self.buckets_per_day).floor();
        if bucket_index < self.buckets.len() as f64 { bucket_index } else { f64::INFINITY }
    }

    fn push(&mut self, day: f64, number: u32) {
        let entry = DueEntry { day, number };
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        if self.front.first().is_none_or(|last| entry.is_before(last)) {
            let bucket_index = self.front.partition_point(|other| entry.is_before(other));
            self.front.insert(bucket_index, entry);
            if self.front.len() > MAX_FRONT_LEN {
                let last = self.front.remove(0);
                self.near.push(last.day, last.number);
            }
            return;
        }
        let bucket_index = (day - self.start) * self.buckets_per_day;
        // Only entries of the first entry's bucket have to be sorted.
        let is_later =
            bucket_index >= 0.0 && bucket_index.floor() > self.bucket_index(self.near.first());
        let bucket_index = (bucket_index as usize).min(self.buckets.len().saturating_sub(1));
        if is_later && bucket_index < self.buckets.len() {
            self.buckets.push(bucket_index, entry);
            self.next = self.next.min(bucket_index);
            self.bucketed_len += 1;
        } else {
            self.near.push(day, number);
        }
    }

    /// Removes the first entry. `prefetch` is called for each entry some time before it is popped.
    fn pop(&mut self, prefetch: impl Fn(u32)) -> Option<(f64, u32)> {
        let DueEntry { day, number } = self.front.pop()?;
        if self.front.is_empty() {
            while self.front.len() < FRONT_REFILL
                && let Some((day, number)) = self.pop_near()
            {
                self.front.push(DueEntry { day, number });
            }
            self.front.reverse();
            // All reads at once, so that the cache misses overlap.
            self.front.iter().for_each(|entry| prefetch(entry.number));
        }
        Some((day, number))
    }

    /// Removes the first entry that is not in the front.
    fn pop_near(&mut self) -> Option<(f64, u32)> {
        let first = self.near.pop()?;
        for _ in 0..PRESORTED_PER_POP {
            let Some(entry) = self.buckets.pop(self.next) else { break };
            self.bucketed_len = self.bucketed_len.saturating_sub(1);
            self.near.push(entry.day, entry.number);
        }
        self.fill_near_heap();
        Some(first)
    }

    /// Restores the invariant that the first entry outside the front is the first one in the heap.
    fn fill_near_heap(&mut self) {
        while self.bucketed_len > 0
            && self.next < self.buckets.len()
            && (self.near.first() - self.start) * self.buckets_per_day >= self.next as f64
        {
            while let Some(entry) = self.buckets.pop(self.next) {
                self.bucketed_len = self.bucketed_len.saturating_sub(1);
                self.near.push(entry.day, entry.number);
            }
            self.next += 1;
        }
    }

    fn peek(&self) -> Option<(f64, u32)> {
        self.front.last().map(|entry| (entry.day, entry.number))
    }

    fn first(&self) -> f64 {
        self.front.last().map_or(f64::INFINITY, |entry| entry.day)
    }

    fn len(&self) -> usize {
        self.front.len() + self.near.len() + self.bucketed_len
    }

    fn entries(&self) -> impl Iterator<Item = &DueEntry> {
        self.front.iter().chain(self.near.entries()).chain(self.buckets.entries())
    }
}

/// A calendar queue that can be rebuilt while it is in use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DueQueue {
    calendar: CalendarQueue,
    /// The previous calendar, until the new one contains all its entries.
    previous: CalendarQueue,
    #[serde(skip)]
    garbage: Vec<Slab>,
}

impl DueQueue {
    /// Starts a new calendar for about `entries` entries between two days.
    pub(crate) fn begin(&mut self, start: f64, end: f64, entries: usize) {
        self.finish();
        self.previous =
            std::mem::replace(&mut self.calendar, CalendarQueue::new(start, end, entries));
    }

    /// Drops the previous calendar. The new one contains all valid entries.
    pub(crate) fn finish(&mut self) {
        let previous = std::mem::take(&mut self.previous);
        self.garbage.extend(previous.buckets.into_slabs());
    }

    /// Frees some of the obsolete memory: freeing all of it at once would take long.
    pub(crate) fn release_memory(&mut self) {
        self.garbage.truncate(self.garbage.len().saturating_sub(SLABS_FREED_PER_STEP));
    }

    /// Adds an entry. Ignores a day that is infinite or NaN.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        self.calendar.push(day, number);
    }

    /// True if the previous calendar has the first entry.
    fn is_first_in_previous(&self) -> bool {
        self.previous.first() < self.calendar.first()
    }

    /// First day and its number.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        if self.is_first_in_previous() { self.previous.peek() } else { self.calendar.peek() }
    }

    /// First day; infinite if the queue is empty.
    pub(crate) fn first(&self) -> f64 {
        self.previous.first().min(self.calendar.first())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first() == f64::INFINITY
    }

    /// Removes the first entry. `prefetch` is called for entries that come soon, to prefetch their
    /// records.
    pub(crate) fn pop(&mut self, prefetch: impl Fn(u32)) -> Option<(f64, u32)> {
        if self.is_first_in_previous() {
            self.previous.pop(prefetch)
        } else {
            self.calendar.pop(prefetch)
        }
    }

    pub(crate) fn pop_due(&mut self, now: f64, prefetch: impl Fn(u32)) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop(prefetch) } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.calendar.len() + self.previous.len()
    }

    /// Iterates over all numbers, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.previous.entries().chain(self.calendar.entries()).map(|entry| entry.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Op {
        Push(f64),
        Pop,
        Begin(f64, usize),
        Finish,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            60 => (-10.0..200.0).prop_map(Op::Push),
            10 => (0..50).prop_map(|day| Op::Push(f64::from(day))),
            40 => Just(Op::Pop),
            2 => (1e-3..100.0, 0..100_000_usize).prop_map(|(days, entries)| Op::Begin(days, entries)),
            2 => Just(Op::Finish),
        ]
    }

    proptest! {
        #[test]
        fn entries_come_out_in_order(ops in prop::collection::vec(op(), 0..600), from in -1e6..1e6) {
            let mut queue = DueQueue::default();
            // By day, with a flag for the calendar that contains the entry.
            let mut sorted: Vec<(f64, u32, bool)> = Vec::new();
            for (number, op) in ops.into_iter().enumerate() {
                let number = number as u32;
                match op {
                    Op::Push(day) => {
                        queue.push(from + day, number);
                        sorted.push((from + day, number, true));
                        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(&a.2)).then(a.1.cmp(&b.1)));
                    }
                    Op::Pop => {
                        let first = (!sorted.is_empty()).then(|| sorted.remove(0));
                        prop_assert_eq!(queue.pop(|_| ()), first.map(|it| (it.0, it.1)));
                    }
                    Op::Begin(days, entries) => {
                        queue.begin(from, from + days, entries);
                        sorted.retain(|it| it.2);
                        sorted.iter_mut().for_each(|it| it.2 = false);
                    }
                    Op::Finish => {
                        queue.finish();
                        sorted.retain(|it| it.2);
                    }
                }
                queue.release_memory();
                prop_assert_eq!(queue.len(), sorted.len());
                prop_assert_eq!(queue.peek(), sorted.first().map(|it| (it.0, it.1)));
                prop_assert_eq!(queue.numbers().count(), sorted.len());
            }
        }
    }

    #[test]
    fn infinite_days_are_not_stored() {
        let mut queue = DueQueue::default();
        queue.begin(0.0, 1.0, 1000);
        queue.push(f64::INFINITY, 1);
        queue.push(f64::NAN, 2);
        assert_eq!(
            (queue.len(), queue.first(), queue.pop_due(1e9, |_| ())),
            (0, f64::INFINITY, None)
        );
    }

    #[test]
    fn degenerate_calendars_still_sort() {
        let mut queue = DueQueue::default();
        for (start, end) in [(1e300, 1e300), (0.0, f64::INFINITY), (f64::NAN, 0.0), (1.0, 0.0)] {
            queue.begin(start, end, 1000);
            for number in 0..300 {
                queue.push(f64::from(number % 7), number);
            }
            let days: Vec<f64> = std::iter::from_fn(|| queue.pop(|_| ())).map(|it| it.0).collect();
            assert!(days.len() == 300 && days.is_sorted(), "{start} to {end}");
        }
    }
}
