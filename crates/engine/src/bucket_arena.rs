//! Thousands of piles that grow by turns.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::heap::Entry;

/// Entries of a piece, of which piles are made; and of a slab, which is what memory is taken for.
const PIECE: usize = 32;
const SLAB: usize = 1024;
/// No piece.
const NONE: u32 = u32::MAX;

pub(crate) type Slab = Box<[Entry; SLAB]>;

/// Entries in piles, in no order: what was added last to one comes out first.
///
/// Whoever adds to any of thousands of piles of its own waits for memory time and again. Here all that has
/// to be read for it are the tops, which are small, and pieces that grow at the same time lie side by side.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Vec<Entry>>")]
pub(crate) struct BucketArena {
    tops: Vec<Top>,
    slabs: Vec<Slab>,
    /// Of each piece, the full one below it.
    below: Vec<u32>,
    /// Pieces that can be used again.
    free: Vec<u32>,
}

/// The piece of a pile that grows, and how many entries are in it: none only if the pile is empty.
#[derive(Clone, Copy, Debug)]
struct Top {
    piece: u32,
    filled: u32,
}

impl BucketArena {
    pub(crate) fn new(count: usize) -> Self {
        Self { tops: vec![Top { piece: NONE, filled: 0 }; count], ..Self::default() }
    }

    /// How many piles there are.
    pub(crate) fn len(&self) -> usize {
        self.tops.len()
    }

    /// Adds to a pile. There is such a pile.
    #[inline]
    pub(crate) fn push(&mut self, pile: usize, entry: Entry) {
        let mut top = self.tops[pile];
        if top.piece == NONE || top.filled as usize == PIECE {
            top = self.begin(top.piece, entry);
        }
        let at = PIECE * top.piece as usize + top.filled as usize;
        self.slabs[at / SLAB][at % SLAB] = entry;
        top.filled += 1;
        self.tops[pile] = top;
    }

    /// A new piece above another one.
    #[cold]
    fn begin(&mut self, below: u32, entry: Entry) -> Top {
        let piece = self.free.pop().unwrap_or_else(|| {
            if self.below.len() * PIECE == self.slabs.len() * SLAB {
                let slab = vec![entry; SLAB].into_boxed_slice();
                self.slabs.extend(slab.try_into().ok());
            }
            self.below.push(NONE);
            self.below.len() as u32 - 1
        });
        self.below[piece as usize] = below;
        Top { piece, filled: 0 }
    }

    /// Takes from a pile.
    #[inline]
    pub(crate) fn pop(&mut self, pile: usize) -> Option<Entry> {
        let top = self.tops.get_mut(pile).filter(|top| top.filled > 0)?;
        top.filled -= 1;
        let at = PIECE * top.piece as usize + top.filled as usize;
        if top.filled == 0 {
            self.free.push(top.piece);
            top.piece = self.below[top.piece as usize];
            top.filled = if top.piece == NONE { 0 } else { PIECE as u32 };
        }
        Some(self.slabs[at / SLAB][at % SLAB])
    }

    /// The entries of a pile, the last one at the end.
    fn pile(&self, pile: usize) -> impl Iterator<Item = &Entry> {
        let Top { piece, filled } = self.tops[pile];
        let mut pieces: Vec<(u32, usize)> = Vec::new();
        let (mut piece, mut filled) = (piece, filled as usize);
        while piece != NONE {
            pieces.push((piece, filled));
            (piece, filled) = (self.below[piece as usize], PIECE);
        }
        pieces.into_iter().rev().flat_map(|(piece, filled)| {
            let at = PIECE * piece as usize;
            &self.slabs[at / SLAB][at % SLAB..][..filled]
        })
    }

    /// All of them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        (0..self.len()).flat_map(|pile| self.pile(pile))
    }

    /// The memory of all of them, to be given back little by little.
    pub(crate) fn into_slabs(self) -> Vec<Slab> {
        self.slabs
    }
}

impl From<Vec<Vec<Entry>>> for BucketArena {
    fn from(all: Vec<Vec<Entry>>) -> Self {
        let mut piles = Self::new(all.len());
        for (pile, entries) in all.into_iter().enumerate() {
            entries.into_iter().for_each(|entry| piles.push(pile, entry));
        }
        piles
    }
}

impl Serialize for BucketArena {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.len()))?;
        for pile in 0..self.len() {
            all.serialize_element(&self.pile(pile).collect::<Vec<_>>())?;
        }
        all.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_last_comes_first(
            ops in prop::collection::vec((0..3_usize, any::<bool>(), 0..70_u32), 0..60),
        ) {
            let mut piles = BucketArena::new(3);
            let mut lists = vec![Vec::new(); 3];
            for (at, (pile, take, many)) in ops.into_iter().enumerate() {
                for number in 0..many {
                    if take {
                        prop_assert_eq!(piles.pop(pile), lists[pile].pop());
                    } else {
                        let entry = Entry { day: at as f64, number };
                        piles.push(pile, entry);
                        lists[pile].push(entry);
                    }
                }
                prop_assert!(piles.entries().eq(lists.iter().flatten()));
            }
            let bytes = postcard::to_allocvec(&piles).unwrap();
            prop_assert_eq!(&bytes, &postcard::to_allocvec(&lists).unwrap());
            let same: BucketArena = postcard::from_bytes(&bytes).unwrap();
            prop_assert!(same.entries().eq(piles.entries()));
        }
    }

    #[test]
    fn pieces_are_used_again() {
        let mut piles = BucketArena::new(2);
        for turn in 0..100 {
            (0..SLAB as u32).for_each(|number| piles.push(turn % 2, Entry { day: 0.0, number }));
            while piles.pop(turn % 2).is_some() {}
        }
        assert!(piles.pop(9).is_none());
        assert_eq!(piles.into_slabs().len(), 1);
    }
}
