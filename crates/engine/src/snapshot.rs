//! Snapshots: serialization of the complete engine.

use thiserror::Error;

use crate::engine::Engine;
use crate::source::SourceState;

/// First bytes of a snapshot.
const MARK: &[u8; 16] = b"freshet engine\r\n";
/// Version of the snapshot layout.
const VERSION: u32 = 8;
/// Length of mark, version and checksum.
const HEADER: usize = 16 + 4 + 8;
/// Approximate bytes per source.
const SOURCE: usize = 110;

/// Error of a snapshot or checkpoint that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// The bytes are something else.
    #[error("not an engine snapshot")]
    NotASnapshot,
    /// The bytes were written by another version of freshet.
    #[error(
        "unsupported snapshot layout: {found}, this version reads layout {known}: restore it with the version that wrote it"
    )]
    Version {
        /// Layout of the snapshot.
        found: u32,
        /// Layout that can be read.
        known: u32,
    },
    /// Bytes are missing or wrong.
    #[error("snapshot is damaged: restore an older one")]
    Damaged,
}

impl Engine {
    /// Serializes the complete engine. After [`restore`](Self::restore), the same events give the
    /// same actions.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + SOURCE * self.sources.len() + (1 << 16));
        bytes.extend(MARK);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 8]);
        // Serialization cannot fail: all types are known to the format, and the output is in
        // memory.
        let mut bytes = postcard::to_extend(self, bytes).unwrap_or_default();
        if let Some(body) = bytes.get(HEADER..) {
            let sum = checksum(body).to_le_bytes();
            bytes[HEADER - 8..HEADER].copy_from_slice(&sum);
        }
        bytes
    }

    /// Restores the engine from a snapshot.
    ///
    /// # Errors
    /// Returns [`SnapshotError`] if the bytes are not a snapshot, are damaged, or have another
    /// version.
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

    /// True if all references between parts of the state are valid.
    pub(crate) fn is_consistent(&self) -> bool {
        let hosts = self.hosts.len();
        let is_at_its_place = |id: usize| {
            let source = &self.sources[id];
            self.hosts[source.host as usize].candidates.number_at(source.place) == Some(id as u32)
        };
        let sources = self.sources.iter().enumerate().all(|(id, source)| {
            let there = source.state == SourceState::Absent || (source.host as usize) < hosts;
            there
                && match source.state {
                    SourceState::Candidate => is_at_its_place(id),
                    SourceState::InFlight => (source.place as usize) < hosts,
                    _ => true,
                }
        });
        sources
            && self.hosts.iter().enumerate().all(|(number, host)| {
                let is_ready = |id: u32| {
                    self.sources.get(id as usize).is_some_and(|source| {
                        source.state == SourceState::Candidate && source.host as usize == number
                    })
                };
                let is_in_line = match host.place {
                    None => true,
                    Some(place) => self.ready_hosts.number_at(place) == Some(number as u32),
                };
                is_in_line && host.candidates.numbers().all(is_ready)
            })
            && self
                .ready_hosts
                .numbers()
                .all(|host| self.hosts.get(host as usize).is_some_and(|host| host.place.is_some()))
            && self.count
                == self.sources.iter().filter(|it| it.state != SourceState::Absent).count()
            && self.rerank_ring.iter().all(|&id| (id as usize) < self.sources.len())
            && self.scheduled.numbers().all(|id| (id as usize) < self.sources.len())
            && self.rerank_queue.numbers().all(|id| (id as usize) < self.sources.len())
            && self.queue.numbers().all(|id| (id as usize) < self.sources.len())
            && self.resting_hosts.numbers().all(|host| (host as usize) < hosts)
            && self.saturated_hosts as usize == self.host_prices().count()
            && self.are_in_flight_counts_consistent()
    }

    fn are_in_flight_counts_consistent(&self) -> bool {
        let mut in_flight: Vec<u32> =
            self.hosts.iter().map(|host| host.external_requests).collect();
        for source in self.sources.iter().filter(|source| source.state == SourceState::InFlight) {
            in_flight[source.host as usize] = in_flight[source.host as usize].saturating_add(1);
        }
        self.hosts.iter().zip(in_flight).all(|(host, in_flight)| host.in_flight == in_flight)
    }
}

/// Checksum against accidental damage, not against forgery (FNV-1a, eight bytes at a time).
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
