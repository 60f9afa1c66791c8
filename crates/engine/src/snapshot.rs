//! The whole state as bytes, and back.

use thiserror::Error;

use crate::engine::Engine;
use crate::source::State;

/// What a snapshot begins with.
const MARK: &[u8; 16] = b"freshet engine\r\n";
/// Of the layout of a snapshot.
const VERSION: u32 = 8;
/// Mark, version and checksum.
const HEADER: usize = 16 + 4 + 8;
/// Bytes of a source, about.
const SOURCE: usize = 110;

/// Why bytes are not a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// They are something else.
    #[error("this is not a snapshot of the engine")]
    NotASnapshot,
    /// They are from another version of freshet.
    #[error(
        "the snapshot has layout {found}, and this version of freshet reads layout {known} only: \
         restore it with the version that wrote it"
    )]
    Version {
        /// The layout of the snapshot.
        found: u32,
        /// The layout that can be read.
        known: u32,
    },
    /// Some are missing or wrong.
    #[error("the snapshot is damaged: restore an older one")]
    Damaged,
}

impl Engine {
    /// All that it knows. Restored, the same events give the same actions.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + SOURCE * self.sources.len() + (1 << 16));
        bytes.extend(MARK);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 8]);
        // Nothing in the state is unknown to the format, and memory does not refuse bytes.
        let mut bytes = postcard::to_extend(self, bytes).unwrap_or_default();
        if let Some(body) = bytes.get(HEADER..) {
            let sum = checksum(body).to_le_bytes();
            bytes[HEADER - 8..HEADER].copy_from_slice(&sum);
        }
        bytes
    }

    /// The engine that a snapshot was taken of.
    ///
    /// # Errors
    /// If the bytes are not a snapshot, are damaged, or are of another version.
    pub fn restore(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let rest = bytes.strip_prefix(MARK).ok_or(SnapshotError::NotASnapshot)?;
        let (version, rest) = rest.split_first_chunk::<4>().ok_or(SnapshotError::Damaged)?;
        let found = u32::from_le_bytes(*version);
        if found != VERSION {
            return Err(SnapshotError::Version { found, known: VERSION });
        }
        let (sum, body) = rest.split_first_chunk::<8>().ok_or(SnapshotError::Damaged)?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(SnapshotError::Damaged);
        }
        let (engine, left) =
            postcard::take_from_bytes::<Self>(body).map_err(|_| SnapshotError::Damaged)?;
        if left.is_empty() && engine.is_consistent() {
            Ok(engine)
        } else {
            Err(SnapshotError::Damaged)
        }
    }

    /// Whether all that refers to something finds it there.
    pub(crate) fn is_consistent(&self) -> bool {
        let hosts = self.hosts.len();
        let is_at_its_place = |id: usize| {
            let source = &self.sources[id];
            self.hosts[source.host as usize].ready.at(source.place) == Some(id as u32)
        };
        let sources = self.sources.iter().enumerate().all(|(id, source)| {
            let there = source.state == State::Absent || (source.host as usize) < hosts;
            there
                && match source.state {
                    State::Ready => is_at_its_place(id),
                    State::Asked => (source.place as usize) < hosts,
                    _ => true,
                }
        });
        sources
            && self.hosts.iter().enumerate().all(|(number, host)| {
                let is_ready = |id: u32| {
                    self.sources.get(id as usize).is_some_and(|source| {
                        source.state == State::Ready && source.host as usize == number
                    })
                };
                let in_line = match host.place {
                    None => true,
                    Some(place) => self.line.at(place) == Some(number as u32),
                };
                in_line && host.ready.numbers().all(is_ready)
            })
            && self
                .line
                .numbers()
                .all(|host| self.hosts.get(host as usize).is_some_and(|host| host.place.is_some()))
            && self.count == self.sources.iter().filter(|it| it.state != State::Absent).count()
            && self.ring.iter().all(|&id| (id as usize) < self.sources.len())
            && self.coming.numbers().all(|id| (id as usize) < self.sources.len())
            && self.aging.numbers().all(|id| (id as usize) < self.sources.len())
            && self.queue.numbers().all(|id| (id as usize) < self.sources.len())
            && self.resting.numbers().all(|host| (host as usize) < hosts)
            && self.saturated as usize == self.host_prices().count()
            && self.asked_is_right()
    }

    fn asked_is_right(&self) -> bool {
        let mut asked: Vec<u32> = self.hosts.iter().map(|host| host.visits).collect();
        for source in self.sources.iter().filter(|source| source.state == State::Asked) {
            asked[source.host as usize] = asked[source.host as usize].saturating_add(1);
        }
        self.hosts.iter().zip(asked).all(|(host, asked)| host.asked == asked)
    }
}

/// Tells bytes that were damaged, not bytes that were forged (FNV-1a, eight bytes at a time).
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(8);
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^= sum >> 32;
    };
    for chunk in &mut chunks {
        mix(chunk.try_into().map_or(0, u64::from_le_bytes));
    }
    chunks.remainder().iter().for_each(|&byte| mix(u64::from(byte)));
    mix(bytes.len() as u64);
    sum
}
