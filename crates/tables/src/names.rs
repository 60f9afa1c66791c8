//! Set of distinct texts with numbers.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use freshet_model::PackedStrings;

/// A set of texts that numbers them in order of arrival.
///
/// The hash table has eight bytes per slot: half a hash, to reject most other texts
/// without reading them, and the number. The slot is given by the leading bits of the hash, so
/// that growing the table reads both tables sequentially.
pub(crate) struct Names {
    texts: PackedStrings,
    slots: Vec<u64>,
    hasher: RandomState,
    /// Hashes of the last texts, which are not in the table yet.
    waiting: Vec<u32>,
}

/// Numbers of two equal texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Same {
    pub(crate) first: u32,
    pub(crate) second: u32,
}

const EMPTY: u64 = 0;
const FIRST_SIZE: usize = 16;

/// Number of texts that are inserted together, so that the processor overlaps their memory accesses.
const TOGETHER: usize = 64;

impl Names {
    pub(crate) fn new() -> Self {
        Self {
            texts: PackedStrings::new(),
            slots: vec![EMPTY; FIRST_SIZE],
            hasher: RandomState::default(),
            waiting: Vec::with_capacity(TOGETHER),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(crate) fn into_strings(self) -> PackedStrings {
        self.texts
    }

    pub(crate) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).unwrap_or_default()
    }

    pub(crate) fn get(&self, text: &str) -> Option<u32> {
        self.find(self.hash(text), text).ok()
    }

    /// Returns `Ok` with the number of the new text, or `Err` with the number of the existing one.
    ///
    /// The caller must keep the count below `u32::MAX`.
    pub(crate) fn insert(&mut self, text: &str) -> Result<u32, u32> {
        self.make_room();
        let hash = self.hash(text);
        match self.find(hash, text) {
            Ok(number) => Err(number),
            Err(free) => {
                let number = self.texts.len() as u32;
                self.slots[free] = slot(hash, number);
                self.texts.push(text);
                Ok(number)
            }
        }
    }

    /// Appends a text that is expected to be new. Duplicates are reported at the latest by
    /// [`Names::settle`], which must be called before any other method but `append`.
    #[inline]
    pub(crate) fn append(&mut self, text: &str) -> Result<(), Same> {
        self.waiting.push(self.hash(text));
        self.texts.push(text);
        if self.waiting.len() < TOGETHER { Ok(()) } else { self.settle() }
    }

    /// Inserts the appended texts into the table.
    pub(crate) fn settle(&mut self) -> Result<(), Same> {
        self.make_room();
        let mut waiting = std::mem::take(&mut self.waiting);
        let size = self.slots.len();
        // Independent loads overlap; in the loop below each one depends on the previous one.
        std::hint::black_box(
            waiting.iter().fold(0, |all, &hash| all ^ self.slots[home(hash, size)]),
        );
        let start = self.texts.len() - waiting.len();
        for (second, hash) in (start as u32..).zip(waiting.drain(..)) {
            match self.find(hash, self.text(second)) {
                Ok(first) => return Err(Same { first, second }),
                Err(free) => self.slots[free] = slot(hash, second),
            }
        }
        self.waiting = waiting;
        Ok(())
    }

    fn hash(&self, text: &str) -> u32 {
        (self.hasher.hash_one(text.as_bytes()) >> 32) as u32
    }

    /// Returns `Ok` with the number of `text`, or `Err` with its free slot.
    #[inline]
    fn find(&self, hash: u32, text: &str) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut place = home(hash, self.slots.len());
        loop {
            let found = self.slots[place];
            if found == EMPTY {
                return Err(place);
            }
            if (found >> 32) as u32 == hash {
                let number = found as u32 - 1;
                if self.text(number) == text {
                    return Ok(number);
                }
            }
            place = (place + 1) & mask;
        }
    }

    /// Keeps a quarter of the slots free after one more text.
    fn make_room(&mut self) {
        while self.texts.len() + 1 > self.slots.len() / 4 * 3 {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mut slots = vec![EMPTY; size];
        for &old in self.slots.iter().filter(|slot| **slot != EMPTY) {
            let mut place = home((old >> 32) as u32, size);
            while slots[place] != EMPTY {
                place = (place + 1) & (size - 1);
            }
            slots[place] = old;
        }
        self.slots = slots;
    }
}

fn slot(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number + 1)
}

fn home(hash: u32, size: usize) -> usize {
    ((u64::from(hash) * size as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn check(texts: &[String]) {
        let mut names = Names::new();
        let mut model: HashMap<&str, u32> = HashMap::new();
        for text in texts {
            let next = model.len() as u32;
            let expect = model.get(text.as_str()).map_or(Ok(next), |&number| Err(number));
            model.entry(text).or_insert(next);
            assert_eq!(names.insert(text), expect);
        }
        assert_eq!(names.len(), model.len());
        for (text, number) in model {
            assert_eq!((names.get(text), names.text(number)), (Some(number), text));
        }
        assert_eq!(names.get("never inserted"), None);
    }

    /// Appending finds the same first duplicate, however late.
    fn check_appended(texts: &[String]) {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let expect = (0u32..).zip(texts).find_map(|(second, text)| {
            let first = *seen.entry(text).or_insert(second);
            (first != second).then_some(Same { first, second })
        });
        let mut names = Names::new();
        let found = texts
            .iter()
            .try_for_each(|text| names.append(text))
            .and_then(|()| names.settle())
            .err();
        assert_eq!(found, expect);
    }

    proptest! {
        #[test]
        fn appended_texts_are_all_different(
            texts in prop::collection::vec("[a-e]{3,5}", 0..400),
        ) {
            check_appended(&texts);
        }

        #[test]
        fn numbers_as_a_hash_map_would(texts in prop::collection::vec("[ab]{0,6}", 0..400)) {
            check(&texts);
        }
    }

    #[test]
    fn stays_right_over_many_doublings() {
        let texts: Vec<String> = (0..50_000).map(|i| (i % 40_000).to_string()).collect();
        check(&texts);
        check_appended(&texts);
        check_appended(&texts[..40_000]);
    }
}
