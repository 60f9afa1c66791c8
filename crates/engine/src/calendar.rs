//! What is due when, of very many.

use serde::{Deserialize, Serialize};

use crate::chunks::Chunks;
use crate::heap::{Entry, Heap};

/// Entries that a bucket is meant for, at least; and how many buckets there are at most.
const BUCKET: usize = 64;
const BUCKETS: usize = 4096;
/// Entries of the next bucket that are put in order with each one that is taken: when its time comes,
/// all of them are.
const AHEAD: usize = 8;
/// Pieces of a bucket that is not needed any more that are freed at once.
const FREED: usize = 64;

type Bucket = Chunks<Entry, BUCKET>;

/// Days and numbers, the earliest day first, equal days by number.
///
/// Those of the nearest days are in a heap, which is small enough for the cache. Later ones are in
/// buckets, a stretch of time each, in no order: to add one is to write it down.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Calendar {
    near: Heap,
    /// The buckets before this one are empty.
    next: usize,
    buckets: Vec<Bucket>,
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
        let buckets = vec![Bucket::default(); count];
        Self { near: Heap::default(), next: 0, buckets, later: 0, start, in_a_day }
    }

    /// The bucket that a day belongs to; infinite if that is the last one or later.
    fn place(&self, day: f64) -> f64 {
        let place = ((day - self.start) * self.in_a_day).floor();
        if place < self.buckets.len() as f64 { place } else { f64::INFINITY }
    }

    fn push(&mut self, day: f64, number: u32) {
        let place = (day - self.start) * self.in_a_day;
        // Only what belongs to the bucket of the first one needs to be in order.
        let is_later = place >= 0.0 && place.floor() > self.place(self.near.first());
        let place = (place as usize).min(self.buckets.len().saturating_sub(1));
        match self.buckets.get_mut(place).filter(|_| is_later && day < f64::INFINITY) {
            Some(bucket) => {
                bucket.push(Entry { day, number });
                self.next = self.next.min(place);
                self.later += 1;
            }
            None => self.near.push(day, number),
        }
    }

    fn pop(&mut self) -> Option<(f64, u32)> {
        let first = self.near.pop()?;
        for _ in 0..AHEAD {
            let Some(entry) = self.buckets.get_mut(self.next).and_then(Bucket::pop) else { break };
            self.later = self.later.saturating_sub(1);
            self.near.push(entry.day, entry.number);
        }
        self.order();
        Some(first)
    }

    /// Sees to it that the first one of all is the first of those in order.
    fn order(&mut self) {
        while self.later > 0
            && let Some(bucket) = self.buckets.get_mut(self.next)
            && (self.near.first() - self.start) * self.in_a_day >= self.next as f64
        {
            while let Some(entry) = bucket.pop() {
                self.later = self.later.saturating_sub(1);
                self.near.push(entry.day, entry.number);
            }
            self.next += 1;
        }
    }

    fn len(&self) -> usize {
        self.near.len() + self.later
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.near.entries().chain(self.buckets.iter().flat_map(Bucket::iter))
    }
}

/// A calendar that can be written anew while it is in use.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    calendar: Calendar,
    /// The one before, until all of it is in the new one.
    old: Calendar,
    #[serde(skip)]
    waste: Vec<Bucket>,
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
        self.waste.extend(old.buckets.into_iter().filter(|it| !it.is_empty()));
    }

    /// Gives back some of the memory that is not needed any more: all at once would take long.
    pub(crate) fn tidy(&mut self) {
        if let Some(bucket) = self.waste.last_mut() {
            bucket.shorten(FREED);
            if bucket.is_empty() {
                self.waste.pop();
            }
        }
    }

    /// An infinite day is never, and so is one that is not a number.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        self.calendar.push(day, number);
    }

    /// Which of the two has the first entry.
    fn is_in_old(&self) -> bool {
        self.old.near.first() < self.calendar.near.first()
    }

    /// The first day, and whose it is.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        if self.is_in_old() { self.old.near.peek() } else { self.calendar.near.peek() }
    }

    /// The first day; infinite if there is none.
    pub(crate) fn first(&self) -> f64 {
        self.old.near.first().min(self.calendar.near.first())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first() == f64::INFINITY
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, u32)> {
        if self.is_in_old() { self.old.pop() } else { self.calendar.pop() }
    }

    pub(crate) fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
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
                        prop_assert_eq!(queue.pop(), first.map(|it| (it.0, it.1)));
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
        assert_eq!((queue.len(), queue.first(), queue.pop_due(1e9)), (0, f64::INFINITY, None));
    }

    #[test]
    fn stretches_without_length() {
        let mut queue = Queue::default();
        for (start, end) in [(1e300, 1e300), (0.0, f64::INFINITY), (f64::NAN, 0.0), (1.0, 0.0)] {
            queue.begin(start, end, 1000);
            for number in 0..300 {
                queue.push(f64::from(number % 7), number);
            }
            let days: Vec<f64> = std::iter::from_fn(|| queue.pop()).map(|it| it.0).collect();
            assert!(days.len() == 300 && days.is_sorted(), "{start} to {end}");
        }
    }
}
