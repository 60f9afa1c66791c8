//! What happens next.

/// Sources by the day on which something is due, earliest first; equal days in order of sources.
///
/// A heap of all entries would wait for memory at every level. So where there are many, only the
/// nearest are in a heap, small enough for the cache. Those of the time after it lie unsorted in a
/// row of buckets, and become the heap bucket by bucket; what is later still waits in a list until
/// the row is through.
#[derive(Clone, Debug)]
pub struct Agenda {
    near: Heap,
    /// The row; empty while one heap is best for all.
    buckets: Vec<Vec<Entry>>,
    /// The first bucket that is not in the heap yet.
    cursor: usize,
    /// When the row begins, and how many buckets there are to a day.
    start: f64,
    per_day: f64,
    far: Vec<Entry>,
    /// Entries at which the heap is too large.
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    day: f64,
    source: u32,
}

/// Entries for which one heap is best.
const FEW: usize = 4096;
/// Entries in a bucket, about.
const BUCKET: usize = 256;
/// Entries to look at for how days are spread.
const SAMPLE: usize = 512;
/// The share of the later entries that a row is made for.
const ROW: f64 = 0.8;

impl Default for Agenda {
    fn default() -> Self {
        Self {
            near: Heap::default(),
            buckets: Vec::new(),
            cursor: 0,
            start: 0.0,
            per_day: 0.0,
            far: Vec::new(),
            limit: FEW,
        }
    }
}

impl Agenda {
    /// From many entries at once, in linear time. Infinite days are left out.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = (f64, u32)>) -> Self {
        let finite = |&(day, _): &(f64, u32)| day < f64::INFINITY;
        let entry = |(day, source)| Entry { day, source };
        let far = entries.into_iter().filter(finite).map(entry).collect();
        let mut agenda = Self { far, ..Self::default() };
        agenda.refill();
        agenda
    }

    /// The day of the first entry; infinite if there is none.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.near.0.first().map_or(f64::INFINITY, |entry| entry.day)
    }

    /// Adds an entry. An infinite day is never.
    pub fn push(&mut self, day: f64, source: u32) {
        debug_assert!(!day.is_nan(), "source {source} is due at no time at all");
        if day == f64::INFINITY {
            return;
        }
        let entry = Entry { day, source };
        let bucket = place(day, self.start, self.per_day);
        if bucket < self.cursor || self.buckets.is_empty() {
            self.near.push(entry);
            if self.near.0.len() > self.limit {
                self.begin_anew();
            }
        } else if let Some(bucket) = self.buckets.get_mut(bucket) {
            bucket.push(entry);
        } else {
            self.far.push(entry);
        }
        if self.near.0.is_empty() {
            self.refill();
        }
    }

    /// Takes the first entry off.
    pub fn pop(&mut self) -> Option<(f64, u32)> {
        let first = self.near.pop()?;
        if self.near.0.is_empty() {
            self.refill();
        }
        Some((first.day, first.source))
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        let row: usize = self.buckets.iter().skip(self.cursor).map(Vec::len).sum();
        self.near.0.len() + row + self.far.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.near.0.is_empty()
    }

    /// Takes the first entry off if it is due.
    pub fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    /// More entries are near than the row was made for.
    fn begin_anew(&mut self) {
        self.far.append(&mut self.near.0);
        for bucket in &mut self.buckets {
            self.far.append(bucket);
        }
        self.cursor = self.buckets.len();
        self.refill();
        // Where that was of no use, it is not tried again soon.
        self.limit = FEW.max(2 * self.near.0.len());
    }

    /// Sees to it that the first entry is in the heap.
    fn refill(&mut self) {
        while self.near.0.is_empty() {
            if let Some(next) = self.buckets.get_mut(self.cursor) {
                self.cursor += 1;
                std::mem::swap(&mut self.near.0, next);
                self.near.order();
            } else if self.far.is_empty() {
                self.buckets.clear();
                return;
            } else {
                self.lay_out();
            }
        }
    }

    /// Makes a new row for most of what is far; if that is little, or all of it at once, one heap.
    fn lay_out(&mut self) {
        let first = self.far.iter().map(|entry| entry.day).fold(f64::INFINITY, f64::min);
        let stride = self.far.len().div_ceil(SAMPLE);
        let mut sample: Vec<f64> = self.far.iter().step_by(stride).map(|entry| entry.day).collect();
        sample.sort_by(f64::total_cmp);
        let end = sample[((sample.len() - 1) as f64 * ROW) as usize];
        let count = (self.far.len() / BUCKET).clamp(1, 1 << 20);
        let per_day = count as f64 / (end - first);
        (self.start, self.per_day, self.cursor) = (first, per_day, 0);
        if self.far.len() <= FEW || !per_day.is_normal() {
            self.buckets.clear();
            self.near.0.append(&mut self.far);
            self.near.order();
            return;
        }
        self.buckets.resize_with(count, Vec::new);
        let mut later = Vec::new();
        for entry in self.far.drain(..) {
            match self.buckets.get_mut(place(entry.day, first, per_day)) {
                Some(bucket) => bucket.push(entry),
                None => later.push(entry),
            }
        }
        self.far = later;
    }
}

/// Where in a row a day belongs: later days never come earlier.
fn place(day: f64, start: f64, per_day: f64) -> usize {
    ((day - start) * per_day) as usize
}

/// A heap in which each entry has four children: shallower than with two.
#[derive(Clone, Debug, Default)]
struct Heap(Vec<Entry>);

const CHILDREN: usize = 4;

impl Entry {
    fn is_before(self, other: Self) -> bool {
        self.day < other.day || (self.day == other.day && self.source < other.source)
    }
}

impl Heap {
    /// Makes a heap of entries in any order.
    fn order(&mut self) {
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
            let least = rest
                .iter()
                .take(CHILDREN)
                .enumerate()
                .reduce(|best, next| if next.1.is_before(*best.1) { next } else { best });
            let Some((offset, &least)) = least.filter(|(_, least)| least.is_before(entry)) else {
                break;
            };
            self.0[at] = least;
            at = children + offset;
        }
        self.0[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Agenda;

    /// Runs like a simulation: each entry that comes off goes in again later. A sorted set is the
    /// judge.
    fn check(entries: usize, spread: impl Fn(u64) -> f64, rounds: usize) {
        let first = |i: usize| (spread(i as u64), i as u32);
        let mut agenda = Agenda::of((0..entries / 2).map(first));
        for (day, source) in (entries / 2..entries).map(first) {
            agenda.push(day, source);
        }
        // Days are not negative, so their bits are in their order.
        let mut sorted: BTreeSet<(u64, u32)> =
            (0..entries).map(first).map(|(day, source)| (day.to_bits(), source)).collect();
        for round in 0..rounds {
            let expect = sorted.pop_first().map(|(day, source)| (f64::from_bits(day), source));
            assert_eq!(agenda.first(), expect.map_or(f64::INFINITY, |(day, _)| day));
            assert_eq!(agenda.pop(), expect);
            if let Some((day, source)) = expect
                && round % 7 != 0
            {
                let next = day + spread((round + entries) as u64);
                agenda.push(next, source);
                sorted.insert((next.to_bits(), source));
            }
        }
        while let Some((day, source)) = sorted.pop_first() {
            assert_eq!(agenda.pop(), Some((f64::from_bits(day), source)));
        }
        assert_eq!(agenda.pop(), None);
    }

    fn uniform(x: u64) -> f64 {
        let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (x ^ (x >> 32)) as f64 / u64::MAX as f64
    }

    #[test]
    fn many_come_out_in_order() {
        check(50_000, uniform, 200_000);
        // Over twenty orders of magnitude, all on few days, and all at once.
        check(20_000, |x| 10f64.powf(20.0 * uniform(x) - 10.0), 60_000);
        check(20_000, |x| (uniform(x) * 3.0).floor(), 60_000);
        check(20_000, |_| 1.0, 60_000);
        check(20_000, |x| if x % 2 == 0 { 1e-300 } else { 1e300 }, 60_000);
    }

    proptest! {
        #[test]
        fn few_come_out_in_order(days in prop::collection::vec(0..50_u32, 1..200)) {
            check(days.len(), |x| f64::from(days[x as usize % days.len()]), 3 * days.len());
        }
    }
}
