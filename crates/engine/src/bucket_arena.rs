//! A memory arena for thousands of buckets that grow in turn.

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::due_heap::DueEntry;

/// Entries per chunk, of which buckets are made, and per slab, the unit of allocation.
const CHUNK_LEN: usize = 32;
const SLAB_LEN: usize = 1024;
/// Marks the absence of a chunk.
const NO_CHUNK: u32 = u32::MAX;

pub(crate) type Slab = Box<[DueEntry; SLAB_LEN]>;

/// Buckets of unordered entries; the entry added last to a bucket comes out first.
///
/// With a separate allocation per bucket, every push would miss the cache. Here a push only reads
/// the bucket's top, which is small, and chunks that grow at the same time lie next to each other.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Vec<DueEntry>>")]
pub(crate) struct BucketArena {
    tops: Vec<BucketTop>,
    slabs: Vec<Slab>,
    /// For each chunk, the full chunk below it in the same bucket.
    previous_chunk: Vec<u32>,
    /// Chunks that can be reused.
    free: Vec<u32>,
}

/// The chunk of a bucket that is being filled, and its number of entries. 0 entries only if the
/// bucket is empty.
#[derive(Clone, Copy, Debug)]
struct BucketTop {
    chunk: u32,
    filled: u32,
}

impl BucketArena {
    pub(crate) fn new(count: usize) -> Self {
        Self { tops: vec![BucketTop { chunk: NO_CHUNK, filled: 0 }; count], ..Self::default() }
    }

    /// Number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.tops.len()
    }

    /// Adds an entry to an existing bucket.
    #[inline]
    pub(crate) fn push(&mut self, bucket: usize, entry: DueEntry) {
        let mut top = self.tops[bucket];
        if top.chunk == NO_CHUNK || top.filled as usize == CHUNK_LEN {
            top = self.start_chunk(top.chunk, entry);
        }
        let at = CHUNK_LEN * top.chunk as usize + top.filled as usize;
        self.slabs[at / SLAB_LEN][at % SLAB_LEN] = entry;
        top.filled += 1;
        self.tops[bucket] = top;
    }

    /// Starts a new chunk on top of another one.
    #[cold]
    fn start_chunk(&mut self, previous_chunk: u32, entry: DueEntry) -> BucketTop {
        let chunk = self.free.pop().unwrap_or_else(|| {
            if self.previous_chunk.len() * CHUNK_LEN == self.slabs.len() * SLAB_LEN {
                let slab = vec![entry; SLAB_LEN].into_boxed_slice();
                self.slabs.extend(slab.try_into().ok());
            }
            self.previous_chunk.push(NO_CHUNK);
            self.previous_chunk.len() as u32 - 1
        });
        self.previous_chunk[chunk as usize] = previous_chunk;
        BucketTop { chunk, filled: 0 }
    }

    /// Removes the entry added last to a bucket.
    #[inline]
    pub(crate) fn pop(&mut self, bucket: usize) -> Option<DueEntry> {
        let top = self.tops.get_mut(bucket).filter(|top| top.filled > 0)?;
        top.filled -= 1;
        let at = CHUNK_LEN * top.chunk as usize + top.filled as usize;
        if top.filled == 0 {
            self.free.push(top.chunk);
            top.chunk = self.previous_chunk[top.chunk as usize];
            top.filled = if top.chunk == NO_CHUNK { 0 } else { CHUNK_LEN as u32 };
        }
        Some(self.slabs[at / SLAB_LEN][at % SLAB_LEN])
    }

    /// Iterates over the entries of a bucket, the last one at the end.
    fn bucket(&self, bucket: usize) -> impl Iterator<Item = &DueEntry> {
        let BucketTop { chunk, filled } = self.tops[bucket];
        let mut chunks: Vec<(u32, usize)> = Vec::new();
        let (mut chunk, mut filled) = (chunk, filled as usize);
        while chunk != NO_CHUNK {
            chunks.push((chunk, filled));
            (chunk, filled) = (self.previous_chunk[chunk as usize], CHUNK_LEN);
        }
        chunks.into_iter().rev().flat_map(|(chunk, filled)| {
            let at = CHUNK_LEN * chunk as usize;
            &self.slabs[at / SLAB_LEN][at % SLAB_LEN..][..filled]
        })
    }

    /// Iterates over the entries of all buckets.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &DueEntry> {
        (0..self.len()).flat_map(|bucket| self.bucket(bucket))
    }

    /// Returns the memory of all buckets, so that the caller can free it step by step.
    pub(crate) fn into_slabs(self) -> Vec<Slab> {
        self.slabs
    }
}

impl From<Vec<Vec<DueEntry>>> for BucketArena {
    fn from(all: Vec<Vec<DueEntry>>) -> Self {
        let mut buckets = Self::new(all.len());
        for (bucket, entries) in all.into_iter().enumerate() {
            entries.into_iter().for_each(|entry| buckets.push(bucket, entry));
        }
        buckets
    }
}

impl Serialize for BucketArena {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.len()))?;
        for bucket in 0..self.len() {
            all.serialize_element(&self.bucket(bucket).collect::<Vec<_>>())?;
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
        fn buckets_are_last_in_first_out(
            ops in prop::collection::vec((0..3_usize, any::<bool>(), 0..70_u32), 0..60),
        ) {
            let mut buckets = BucketArena::new(3);
            let mut lists = vec![Vec::new(); 3];
            for (at, (bucket, is_pop, count)) in ops.into_iter().enumerate() {
                for number in 0..count {
                    if is_pop {
                        prop_assert_eq!(buckets.pop(bucket), lists[bucket].pop());
                    } else {
                        let entry = DueEntry { day: at as f64, number };
                        buckets.push(bucket, entry);
                        lists[bucket].push(entry);
                    }
                }
                prop_assert!(buckets.entries().eq(lists.iter().flatten()));
            }
            let bytes = postcard::to_allocvec(&buckets).unwrap();
            prop_assert_eq!(&bytes, &postcard::to_allocvec(&lists).unwrap());
            let same: BucketArena = postcard::from_bytes(&bytes).unwrap();
            prop_assert!(same.entries().eq(buckets.entries()));
        }
    }

    #[test]
    fn freed_chunks_are_reused() {
        let mut buckets = BucketArena::new(2);
        for turn in 0..100 {
            (0..SLAB_LEN as u32)
                .for_each(|number| buckets.push(turn % 2, DueEntry { day: 0.0, number }));
            while buckets.pop(turn % 2).is_some() {}
        }
        assert!(buckets.pop(9).is_none());
        assert_eq!(buckets.into_slabs().len(), 1);
    }
}
