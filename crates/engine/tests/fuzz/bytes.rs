//! Damaged and forged snapshots.

use freshet_engine::{Engine, Event, SnapshotError};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::{config, driver, strategy};

/// Length of mark, version and checksum.
const HEADER: usize = 28;

/// Number of steps before a snapshot: the state is varied enough by then.
const MAX_STEPS: usize = 15;

/// Damage to the bytes of a snapshot.
#[derive(Clone, Debug)]
enum Damage {
    Cut(Index),
    Flip(Index, u8),
    Insert(Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), 1..=u8::MAX).prop_map(|(at, bits)| Damage::Flip(at, bits)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
    ]
}

impl Damage {
    /// Applies the damage to the bytes from an index on.
    fn apply(&self, from: usize, bytes: &mut Vec<u8>) {
        let len = bytes.len() - from;
        match self {
            Self::Cut(at) => bytes.truncate(from + at.index(len)),
            Self::Flip(at, bits) => bytes[from + at.index(len)] ^= bits,
            Self::Insert(at, byte) => bytes.insert(from + at.index(len), *byte),
        }
    }
}

/// Replaces the checksum of a snapshot by the right one, computed as in `snapshot.rs`.
fn forge(bytes: &mut [u8]) {
    let (header, body) = bytes.split_at_mut(HEADER);
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        sum ^= sum >> 32;
    };
    let mut chunks = body.chunks_exact(8);
    for chunk in &mut chunks {
        mix(u64::from_le_bytes(chunk.try_into().unwrap()));
    }
    chunks.remainder().iter().for_each(|&byte| mix(u64::from(byte)));
    mix(body.len() as u64);
    header[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn the_forged_checksum_is_the_real_one() {
    let case = "set budget=10\ncapacity all\n+ 0..9 hosts=2\nrun 5 1".parse().unwrap();
    let bytes = driver::end(&case).snapshot();
    let mut forged = bytes.clone();
    forged[HEADER - 8..HEADER].fill(0);
    forge(&mut forged);
    assert!(forged == bytes);
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn damaged_snapshots_are_rejected(mut case in strategy::case(), harm in damage()) {
        case.steps.truncate(MAX_STEPS);
        let mut bytes = driver::end(&case).snapshot();
        harm.apply(0, &mut bytes);
        let rejected = matches!(
            Engine::restore(&bytes),
            Err(SnapshotError::NotASnapshot | SnapshotError::Version { .. } | SnapshotError::Damaged)
        );
        prop_assert!(rejected);
    }

    #[test]
    fn arbitrary_bytes_are_rejected(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Engine::restore(&bytes).is_err());
        let mut forged = b"freshet engine\r\n\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec();
        forged.extend(&bytes);
        forge(&mut forged);
        prop_assert!(Engine::restore(&forged).is_err());
    }

    /// A right checksum over wrong bytes is no accident. The bytes may be rejected or accepted, but
    /// must not cause a panic.
    #[test]
    fn forged_snapshots_do_not_panic(mut case in strategy::case(), harm in prop::collection::vec(damage(), 1..4)) {
        case.steps.truncate(MAX_STEPS);
        let mut bytes = driver::end(&case).snapshot();
        for harm in harm {
            if bytes.len() > HEADER {
                harm.apply(HEADER, &mut bytes);
            }
        }
        forge(&mut bytes);
        if let Ok(mut engine) = Engine::restore(&bytes) {
            let mut actions = Vec::new();
            engine.step(engine.now(), Event::CapacityAdded(u32::MAX), &mut actions);
            for _ in 0..200 {
                let wake = engine.next_tick();
                prop_assert!(!wake.is_nan());
                engine.step(wake, Event::Tick, &mut actions);
            }
        }
    }
}
