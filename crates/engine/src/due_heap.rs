//! Priority queue of due days: an 8-ary heap.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::chunked_vec::ChunkedVec;

/// Days and numbers, the earliest day first, equal days by number.
///
/// Each node has eight children in two adjacent cache lines: few levels, and one cache miss per
/// level. The first entry is stored separately.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Vec<DueEntry>")]
pub(crate) struct DueHeap {
    first: DueEntry,
    /// The children of entry `i`, counted over all groups, are group `i + 1`; the first group has
    /// no parent. Unused slots hold an entry with an infinite day.
    groups: ChunkedVec<Group, 256>,
    /// Number of entries in groups.
    len: usize,
}

#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
struct Group([DueEntry; CHILDREN]);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DueEntry {
    pub(crate) day: f64,
    pub(crate) number: u32,
}

const CHILDREN: usize = 8;
const NEVER: DueEntry = DueEntry { day: f64::INFINITY, number: u32::MAX };

impl DueEntry {
    // Branch-free, because the outcome is unpredictable.
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        (self.day < other.day) | ((self.day == other.day) & (self.number < other.number))
    }
}

impl Group {
    /// Index of the first entry, and the entry.
    #[inline]
    fn first(&self) -> (usize, DueEntry) {
        let first = |(a, b): (usize, usize)| if self.0[b].is_before(&self.0[a]) { b } else { a };
        let pairs = (first((0, 1)), first((2, 3)), first((4, 5)), first((6, 7)));
        let place = first((first((pairs.0, pairs.1)), first((pairs.2, pairs.3))));
        (place, self.0[place])
    }
}

impl Default for DueHeap {
    fn default() -> Self {
        Self { first: NEVER, groups: ChunkedVec::default(), len: 0 }
    }
}

impl From<Vec<DueEntry>> for DueHeap {
    fn from(entries: Vec<DueEntry>) -> Self {
        let mut heap = Self::default();
        // Entries in serialized order already form a heap; pushing each one also accepts any other
        // order.
        for entry in entries {
            heap.push(entry.day, entry.number);
        }
        heap
    }
}

impl Serialize for DueHeap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_seq(Some(self.len()))?;
        self.entries().try_for_each(|entry| entries.serialize_element(entry))?;
        entries.end()
    }
}

impl DueHeap {
    /// Iterates over all entries, in no order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &DueEntry> {
        let others = self.groups.iter().flat_map(|group| &group.0).take(self.len);
        std::iter::once(&self.first).filter(|it| it.day < f64::INFINITY).chain(others)
    }

    /// First day and its number.
    pub(crate) fn peek(&self) -> Option<(f64, u32)> {
        (!self.is_empty()).then_some((self.first.day, self.first.number))
    }

    /// First day; infinite if the heap is empty.
    pub(crate) fn first(&self) -> f64 {
        self.first.day
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.day == f64::INFINITY
    }

    /// Adds an entry. Ignores a day that is infinite or NaN.
    pub(crate) fn push(&mut self, day: f64, number: u32) {
        if day.is_nan() || day == f64::INFINITY {
            return;
        }
        let mut entry = DueEntry { day, number };
        if entry.is_before(&self.first) {
            std::mem::swap(&mut entry, &mut self.first);
            if entry.day == f64::INFINITY {
                return;
            }
        }
        if self.len == CHILDREN * self.groups.len() {
            self.groups.push(Group([NEVER; CHILDREN]));
        }
        self.len += 1;
        self.rise(self.len - 1, entry);
    }

    pub(crate) fn pop(&mut self) -> Option<(f64, u32)> {
        let first = self.peek()?;
        self.first = NEVER;
        let Some(group) = self.groups.get(0).filter(|_| self.len > 0) else { return Some(first) };
        let mut hole;
        (hole, self.first) = group.first();
        // The hole sinks to the bottom, where the last entry most likely belongs.
        while let Some(children) = self.groups.get(hole + 1) {
            let (place, entry) = children.first();
            if entry.day == f64::INFINITY {
                break;
            }
            self.set(hole, entry);
            hole = CHILDREN * (hole + 1) + place;
        }
        self.len -= 1;
        let last = self.get(self.len);
        self.set(self.len, NEVER);
        if hole < self.len {
            self.rise(hole, last);
        }
        Some(first)
    }

    pub(crate) fn pop_due(&mut self, now: f64) -> Option<(f64, u32)> {
        if self.first() <= now { self.pop() } else { None }
    }

    pub(crate) fn len(&self) -> usize {
        self.len + usize::from(!self.is_empty())
    }

    /// Iterates over all numbers, in no order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.entries().map(|entry| entry.number)
    }

    fn get(&self, at: usize) -> DueEntry {
        self.groups[at / CHILDREN].0[at % CHILDREN]
    }

    fn set(&mut self, at: usize, entry: DueEntry) {
        self.groups[at / CHILDREN].0[at % CHILDREN] = entry;
    }

    /// Stores an entry at an index, or above it where it belongs.
    fn rise(&mut self, mut at: usize, entry: DueEntry) {
        while at >= CHILDREN {
            let parent = at / CHILDREN - 1;
            let above = self.get(parent);
            if !entry.is_before(&above) {
                break;
            }
            self.set(at, above);
            at = parent;
        }
        self.set(at, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_come_out_in_order(ops in prop::collection::vec((0..40_u32, any::<bool>()), 0..400)) {
            let mut heap = DueHeap::default();
            let mut sorted = std::collections::BTreeMap::new();
            for (number, (day, take)) in ops.into_iter().enumerate() {
                if take {
                    let first = sorted.pop_first().map(|((day, number), ())| (f64::from(day), number));
                    prop_assert_eq!(heap.pop(), first);
                } else {
                    heap.push(f64::from(day), number as u32);
                    sorted.insert((day, number as u32), ());
                }
                prop_assert_eq!(heap.len(), sorted.len());
            }
        }
    }

    #[test]
    fn infinite_days_are_not_stored() {
        let mut heap = DueHeap::default();
        heap.push(f64::INFINITY, 1);
        heap.push(f64::NAN, 2);
        assert_eq!((heap.len(), heap.first(), heap.pop_due(1e9)), (0, f64::INFINITY, None));
    }
}
