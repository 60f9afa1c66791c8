//! What is due when, of very many.

use serde::{Deserialize, Serialize};

use crate::bucket_arena::{BucketArena, Slab};
use crate::heap::{Entry, Heap};

/// Entries that a bucket is meant for, at least; and how many buckets there are at most.
const BUCKET: usize = 64;
const BUCKETS: usize = 4096;
/// Entries of the next bucket that are put in order with each one that is taken: when its time comes,
/// all of them are.
const AHEAD: usize = 8;
/// Entries that come next are made out so many at a time, and at most so many are.
const FRONT: usize = 16;
const MOST: usize = 4 * FRONT;
/// Slabs of a calendar that is not needed any more that are freed at once.
const FREED: usize = 4;

/// Days and numbers, the earliest day first, equal days by number.
///
/// Those of the nearest days are in a heap, which is small enough for the cache. Later ones are in
/// buckets, a stretch of time each, in no order: to add one is to write it down. The next few are made out
/// before their time, so that what they are about can be read for all of them at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Calendar {
    /// The next ones, the first at the end; none only if there are none at all.
    front: Vec<Entry>,
    near: Heap,
    /// The buckets before this one are empty.
    next: usize,
    buckets: BucketArena,
    /// How many entries are in buckets.
    later: usize,
    /// Where the first bucket begins, and how many there are in a day.
    start: f64,
    in_a_day: f64,
}

impl Calendar {
    /// For about so many entries between two days.
    fn new(start: f64, end: f64, entries: usize) -> Self {
        let count = (entries / BUCKET).min(BUCKETS);
        let in_a_day = count as f64 / (end - start);
        let count = if in_a_day.is_normal() && in_a_day > 0.0 { count } else { 0 };
        Self { buckets: BucketArena::new(count), start, in_a_day, ..Self::default() }
    }

    /// The bucket that a day belongs to; infinite if that is the last one or later.
    fn place(&self, day: f64) -> f64 {
        let place = ((day - self.start) * self.in_a_day).floor();
        if place < self.buckets.len() as f64 { place } else { f64::INFINITY }
    }

    fn push(&mut self, day: f64, number: u32) {
        let entry = Entry { day, number };
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        if self.front.first().is_none_or(|last| entry.is_before(last)) {
            let place = self.front.partition_point(|other| entry.is_before(other));
            self.front.insert(place, entry);
            if self.front.len() > MOST {
                let last = self.front.remove(0);
                self.near.push(last.day, last.number);
            }
            return;
        }
        let place = (day - self.start) * self.in_a_day;
        // Only what belongs to the bucket of the first one needs to be in order.
        let is_later = place >= 0.0 && place.floor() > self.place(self.near.first());
        let place = (place as usize).min(self.buckets.len().saturating_sub(1));
        if is_later && place < self.buckets.len() {
            self.buckets.push(place, entry);
            self.next = self.next.min(place);
            self.later += 1;
        } else {
            self.near.push(day, number);
        }
    }

    /// Takes the first one. `read` is told of each some time before.
    fn pop(&mut self, read: impl Fn(u32)) -> Option<(f64, u32)> {
        let Entry { day, number } = self.front.pop()?;
        if self.front.is_empty() {
            while self.front.len() < FRONT
                && let Some((day, number)) = self.take()
            {
                self.front.push(Entry { day, number });
            }
            self.front.reverse();
            // All at once: one does not have to wait for the other.
            self.front.iter().for_each(|entry| read(entry.number));
        }
        Some((day, number))
    }

    /// Takes the first of those that are not in front.
    fn take(&mut self) -> Option<(f64, u32)> {
        let first = self.near.pop()?;
        for _ in 0..AHEAD {
            let Some(entry) = self.buckets.pop(self.next) else { break };
            self.later = self.later.saturating_sub(1);
            self.near.push(entry.day, entry.number);
        }
        self.order();
        Some(first)
    }

    /// Sees to it that the first one of those not in front is the first of those in order.
    fn order(&mut self) {
        while self.later > 0
            && self.next < self.buckets.len()
            && (self.near.first() - self.start) * self.in_a_day >= self.next as f64
        {
            while let Some(entry) = self.buckets.pop(self.next) {
                self.later = self.later.saturating_sub(1);
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
        self.front.len() + self.near.len() + self.later
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.front.iter().chain(self.near.entries()).chain(self.buckets.entries())
    }
}

/// A calendar that can be written anew while it is in use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    calendar: Calendar,
    /// The one before, until all of it is in the new one.
    old: Calendar,
    #[serde(skip)]
    waste: Vec<Slab>,
}

impl Queue {
    /// Begins a new calendar for about so many entries between two days.
    pub(crate) fn begin(&mut self, start: f64, end: f64, entries: usize) {
        self.finish();
        self.old = std::mem::replace(&mut self.calendar, Calendar::new(start, end, entries));
    }

    /// All that counts is in the new one.
    pub(crate) fn finish(&mut self) {
        let old = std::mem::take(&mut self.old);
        self.waste.extend(old.buckets.into_slabs());
    }

    /// Gives back some of the memory that is not needed any more: all at once would take long.
    pub(crate) fn tidy(&mut self) {
        self.waste.truncate(self.waste.len().saturating_sub(FREED));
    }

    /// An infinite day is never, and so is one that is not a number.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        self.calendar.push(day, number);
    }

    /// Which of the two has the first entry.
    fn is_in_old(&self) -> bool {
        self.old.first() < self.calendar.first()
    }

    /// The first day, and whose it is.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        if self.is_in_old() { self.old.peek() } else { self.calendar.peek() }
    }

    /// The first day; infinite if there is none.
    pub(crate) fn first(&self) -> f64 {
        self.old.first().min(self.calendar.first())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first() == f64::INFINITY
    }

    /// Takes the first one. `read` is told of those that will come soon, for them to be at hand then.
    pub(crate) fn pop(&mut self, read: impl Fn(u32)) -> Option<(f64, u32)> {
        if self.is_in_old() { self.old.pop(read) } else { self.calendar.pop(read) }
    }

    pub(crate) fn pop_due(&mut self, now: f64, read: impl Fn(u32)) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop(read) } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.calendar.len() + self.old.len()
    }

    /// All numbers in it, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.old.entries().chain(self.calendar.entries()).map(|entry| entry.number)
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
            2 => (1e-3..100.0, 0..100_000_usize).prop_map(|(days, many)| Op::Begin(days, many)),
            2 => Just(Op::Finish),
        ]
    }

    proptest! {
        #[test]
        fn entries_come_out_in_order(ops in prop::collection::vec(op(), 0..600), from in -1e6..1e6) {
            let mut queue = Queue::default();
            // By day, and in which calendar they are.
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
                    Op::Begin(days, many) => {
                        queue.begin(from, from + days, many);
                        sorted.retain(|it| it.2);
                        sorted.iter_mut().for_each(|it| it.2 = false);
                    }
                    Op::Finish => {
                        queue.finish();
                        sorted.retain(|it| it.2);
                    }
                }
                queue.tidy();
                prop_assert_eq!(queue.len(), sorted.len());
                prop_assert_eq!(queue.peek(), sorted.first().map(|it| (it.0, it.1)));
                prop_assert_eq!(queue.numbers().count(), sorted.len());
            }
        }
    }

    #[test]
    fn never_is_not_kept() {
        let mut queue = Queue::default();
        queue.begin(0.0, 1.0, 1000);
        queue.push(f64::INFINITY, 1);
        queue.push(f64::NAN, 2);
        assert_eq!(
            (queue.len(), queue.first(), queue.pop_due(1e9, |_| ())),
            (0, f64::INFINITY, None)
        );
    }

    #[test]
    fn stretches_without_length() {
        let mut queue = Queue::default();
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
