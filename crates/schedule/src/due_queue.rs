//! A priority queue of due times that stays fast with millions of entries.

/// Priority queue of sources by due day, earliest first; sources with equal days are in order of their index.
///
/// A single heap would miss the cache at every level. With many entries, only the earliest ones are
/// in a heap that fits in the cache. Later entries are unsorted in a row of buckets, and each bucket
/// becomes the heap in turn. Entries after the row stay in a list until the row is used up.
#[derive(Clone, Debug)]
pub struct DueQueue {
    heap: Heap,
    /// Row of buckets; empty while a single heap is faster.
    buckets: Vec<Vec<Entry>>,
    /// First bucket that has not become the heap yet.
    next_bucket: usize,
    /// Start day of the row, and number of buckets per day.
    start: f64,
    per_day: f64,
    far: Vec<Entry>,
    /// Size of the heap above which the row is rebuilt.
    heap_limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    day: f64,
    source: u32,
}

/// Largest number of entries for which a single heap is faster.
const SINGLE_HEAP_LIMIT: usize = 4096;
/// Approximate number of entries in a bucket.
const BUCKET_SIZE: usize = 256;
/// Number of entries that are sampled to estimate the distribution of days.
const SAMPLE_SIZE: usize = 512;
/// Share of the remaining entries that a new row covers.
const ROW_SHARE: f64 = 0.8;

impl Default for DueQueue {
    fn default() -> Self {
        Self {
            heap: Heap::default(),
            buckets: Vec::new(),
            next_bucket: 0,
            start: 0.0,
            per_day: 0.0,
            far: Vec::new(),
            heap_limit: SINGLE_HEAP_LIMIT,
        }
    }
}

impl DueQueue {
    /// Builds a queue in linear time. Entries with an infinite day are ignored.
    #[must_use]
    pub fn from_entries(entries: impl IntoIterator<Item = (f64, u32)>) -> Self {
        let finite = |&(day, _): &(f64, u32)| day < f64::INFINITY;
        let entry = |(day, source)| Entry { day, source };
        let far = entries.into_iter().filter(finite).map(entry).collect();
        let mut queue = Self { far, ..Self::default() };
        queue.refill();
        queue
    }

    /// Returns the earliest day, or infinity if the queue is empty.
    #[must_use]
    pub fn next_day(&self) -> f64 {
        self.heap.0.first().map_or(f64::INFINITY, |entry| entry.day)
    }

    /// Adds an entry. An infinite day is ignored.
    pub fn push(&mut self, day: f64, source: u32) {
        debug_assert!(!day.is_nan(), "source {source} has a due day that is not a number");
        if day == f64::INFINITY {
            return;
        }
        let entry = Entry { day, source };
        let bucket = bucket_of(day, self.start, self.per_day);
        if bucket < self.next_bucket || self.buckets.is_empty() {
            self.heap.push(entry);
            if self.heap.0.len() > self.heap_limit {
                self.rebuild();
            }
        } else if let Some(bucket) = self.buckets.get_mut(bucket) {
            bucket.push(entry);
        } else {
            self.far.push(entry);
        }
        if self.heap.0.is_empty() {
            self.refill();
        }
    }

    /// Removes and returns the earliest entry.
    pub fn pop(&mut self) -> Option<(f64, u32)> {
        let first = self.heap.pop()?;
        if self.heap.0.is_empty() {
            self.refill();
        }
        Some((first.day, first.source))
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        let row: usize = self.buckets.iter().skip(self.next_bucket).map(Vec::len).sum();
        self.heap.0.len() + row + self.far.len()
    }

    /// Returns true if the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.0.is_empty()
    }

    /// Removes and returns the earliest entry if it is due.
    pub fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.next_day() <= now { self.pop() } else { None }
    }

    /// Builds a new row because the heap has outgrown the current one.
    fn rebuild(&mut self) {
        self.far.append(&mut self.heap.0);
        for bucket in &mut self.buckets {
            self.far.append(bucket);
        }
        self.next_bucket = self.buckets.len();
        self.refill();
        // If the new heap is no smaller, wait until it has doubled before trying again.
        self.heap_limit = SINGLE_HEAP_LIMIT.max(2 * self.heap.0.len());
    }

    /// Fills the heap from the row or the later entries, so that the earliest entry is in it.
    fn refill(&mut self) {
        while self.heap.0.is_empty() {
            if let Some(next) = self.buckets.get_mut(self.next_bucket) {
                self.next_bucket += 1;
                std::mem::swap(&mut self.heap.0, next);
                self.heap.heapify();
            } else if self.far.is_empty() {
                self.buckets.clear();
                return;
            } else {
                self.build_row();
            }
        }
    }

    /// Builds a row from most of the later entries, or a single heap if there are few or all have one day.
    fn build_row(&mut self) {
        let first = self.far.iter().map(|entry| entry.day).fold(f64::INFINITY, f64::min);
        let stride = self.far.len().div_ceil(SAMPLE_SIZE);
        let mut sample: Vec<f64> = self.far.iter().step_by(stride).map(|entry| entry.day).collect();
        sample.sort_by(f64::total_cmp);
        let end = sample[((sample.len() - 1) as f64 * ROW_SHARE) as usize];
        let count = (self.far.len() / BUCKET_SIZE).clamp(1, 1 << 20);
        let per_day = count as f64 / (end - first);
        (self.start, self.per_day, self.next_bucket) = (first, per_day, 0);
        if self.far.len() <= SINGLE_HEAP_LIMIT || !per_day.is_normal() {
            self.buckets.clear();
            self.heap.0.append(&mut self.far);
            self.heap.heapify();
            return;
        }
        self.buckets.resize_with(count, Vec::new);
        let mut later = Vec::new();
        for entry in self.far.drain(..) {
            match self.buckets.get_mut(bucket_of(entry.day, first, per_day)) {
                Some(bucket) => bucket.push(entry),
                None => later.push(entry),
            }
        }
        self.far = later;
    }
}

/// Returns the bucket of a day. The result never decreases as the day increases.
fn bucket_of(day: f64, start: f64, per_day: f64) -> usize {
    ((day - start) * per_day) as usize
}

/// 4-ary heap: shallower than a binary heap.
#[derive(Clone, Debug, Default)]
struct Heap(Vec<Entry>);

const CHILDREN: usize = 4;

impl Entry {
    fn is_before(self, other: Self) -> bool {
        self.day < other.day || (self.day == other.day && self.source < other.source)
    }
}

impl Heap {
    /// Establishes the heap property for entries in any order.
    fn heapify(&mut self) {
        for at in (0..self.0.len().div_ceil(CHILDREN)).rev() {
            self.sift_down(at);
        }
    }

    fn push(&mut self, entry: Entry) {
        self.0.push(entry);
        let mut at = self.0.len() - 1;
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !entry.is_before(self.0[parent]) {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = entry;
    }

    fn pop(&mut self) -> Option<Entry> {
        let first = *self.0.first()?;
        if let Some(last) = self.0.pop()
            && !self.0.is_empty()
        {
            self.0[0] = last;
            self.sift_down(0);
        }
        Some(first)
    }

    fn sift_down(&mut self, mut at: usize) {
        let Some(&entry) = self.0.get(at) else { return };
        loop {
            let children = at * CHILDREN + 1;
            let Some(rest) = self.0.get(children..) else { break };
            let smallest = rest
                .iter()
                .take(CHILDREN)
                .enumerate()
                .reduce(|best, next| if next.1.is_before(*best.1) { next } else { best });
            let Some((offset, &smallest)) = smallest.filter(|(_, it)| it.is_before(entry)) else {
                break;
            };
            self.0[at] = smallest;
            at = children + offset;
        }
        self.0[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::DueQueue;

    /// Pops entries and pushes them back at a later day, as a simulation does, and compares with a sorted set.
    fn check(entries: usize, spread: impl Fn(u64) -> f64, rounds: usize) {
        let first = |i: usize| (spread(i as u64), i as u32);
        let mut queue = DueQueue::from_entries((0..entries / 2).map(first));
        for (day, source) in (entries / 2..entries).map(first) {
            queue.push(day, source);
        }
        // Days are not negative, so their bits are in their order.
        let mut sorted: BTreeSet<(u64, u32)> =
            (0..entries).map(first).map(|(day, source)| (day.to_bits(), source)).collect();
        for round in 0..rounds {
            let expect = sorted.pop_first().map(|(day, source)| (f64::from_bits(day), source));
            assert_eq!(queue.next_day(), expect.map_or(f64::INFINITY, |(day, _)| day));
            assert_eq!(queue.pop(), expect);
            if let Some((day, source)) = expect
                && round % 7 != 0
            {
                let next = day + spread((round + entries) as u64);
                queue.push(next, source);
                sorted.insert((next.to_bits(), source));
            }
        }
        while let Some((day, source)) = sorted.pop_first() {
            assert_eq!(queue.pop(), Some((f64::from_bits(day), source)));
        }
        assert_eq!(queue.pop(), None);
    }

    fn uniform(x: u64) -> f64 {
        let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (x ^ (x >> 32)) as f64 / u64::MAX as f64
    }

    #[test]
    fn large_queues_pop_in_order() {
        check(50_000, uniform, 200_000);
        // Over twenty orders of magnitude, all on few days, and all at once.
        check(20_000, |x| 10f64.powf(20.0 * uniform(x) - 10.0), 60_000);
        check(20_000, |x| (uniform(x) * 3.0).floor(), 60_000);
        check(20_000, |_| 1.0, 60_000);
        check(20_000, |x| if x % 2 == 0 { 1e-300 } else { 1e300 }, 60_000);
    }

    proptest! {
        #[test]
        fn small_queues_pop_in_order(days in prop::collection::vec(0..50_u32, 1..200)) {
            check(days.len(), |x| f64::from(days[x as usize % days.len()]), 3 * days.len());
        }
    }
}
