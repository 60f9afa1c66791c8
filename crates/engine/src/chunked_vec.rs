//! A growable list that does not move its elements.

use std::ops::{Index, IndexMut};

use serde::de::{SeqAccess, Visitor};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Like a `Vec`, in chunks of `N` elements: a push never copies existing elements, so that no step
/// takes long, and at most one chunk of memory is unused.
#[derive(Clone, Debug)]
pub(crate) struct ChunkedVec<T, const N: usize> {
    chunks: Vec<Box<[T; N]>>,
    len: usize,
}

impl<T, const N: usize> Default for ChunkedVec<T, N> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Clone, const N: usize> ChunkedVec<T, N> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self[at])
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        (at < self.len).then(|| &mut self[at])
    }

    /// Adds an element. The rest of a new chunk is filled with copies of it.
    pub(crate) fn push(&mut self, it: T) {
        if self.len == N * self.chunks.len() {
            let chunk = vec![it; N].into_boxed_slice();
            self.chunks.extend(chunk.try_into().ok());
        } else {
            self.chunks[self.len / N][self.len % N] = it;
        }
        self.len += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter()).take(self.len)
    }
}

impl<T, const N: usize> Index<usize> for ChunkedVec<T, N> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.chunks[at / N][at % N]
    }
}

impl<T, const N: usize> IndexMut<usize> for ChunkedVec<T, N> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.chunks[at / N][at % N]
    }
}

impl<T: Clone + Serialize, const N: usize> Serialize for ChunkedVec<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = serializer.serialize_seq(Some(self.len))?;
        self.iter().try_for_each(|it| all.serialize_element(it))?;
        all.end()
    }
}

impl<'de, T: Clone + Deserialize<'de>, const N: usize> Deserialize<'de> for ChunkedVec<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All<T, const N: usize>(ChunkedVec<T, N>);

        impl<'de, T: Clone + Deserialize<'de>, const N: usize> Visitor<'de> for All<T, N> {
            type Value = ChunkedVec<T, N>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<Self::Value, A::Error> {
                while let Some(it) = all.next_element()? {
                    self.0.push(it);
                }
                Ok(self.0)
            }
        }

        deserializer.deserialize_seq(All(Self::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_behaves_like_a_vec_and_serializes_like_one() {
        let mut chunks = ChunkedVec::<u32, 4>::default();
        assert!(chunks.is_empty() && chunks.get(0).is_none());
        for it in 0..11 {
            chunks.push(it);
        }
        chunks[6] = 60;
        *chunks.get_mut(10).unwrap() = 100;
        let all = [0, 1, 2, 3, 4, 5, 60, 7, 8, 9, 100];
        assert_eq!(chunks.iter().copied().collect::<Vec<_>>(), all);
        assert_eq!(
            (chunks.len(), chunks[6], chunks.get(10), chunks.get(11)),
            (11, 60, Some(&100), None)
        );
        let bytes = postcard::to_allocvec(&chunks).unwrap();
        assert_eq!(bytes, postcard::to_allocvec(&all.to_vec()).unwrap());
        let same: ChunkedVec<u32, 4> = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(same.iter().copied().collect::<Vec<_>>(), all);
    }
}
