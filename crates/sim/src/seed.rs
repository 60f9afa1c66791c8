//! Random numbers from one seed.

use rand_pcg::{Pcg32, Pcg64};

/// Generator for everything that is drawn once.
pub(crate) type Random = Pcg64;

/// Purpose of a stream of random numbers. Each has its own, so that an additional draw in one
/// does not affect the others.
#[derive(Clone, Copy)]
pub(crate) enum RandomPurpose {
    Population = 1,
    Changes = 2,
    Drift = 3,
    Faults = 4,
    Policy = 5,
    Scenario = 6,
    Signals = 7,
    FalseSignals = 8,
    Delays = 9,
}

pub(crate) fn random(seed: u64, purpose: RandomPurpose) -> Random {
    Pcg64::new(u128::from(mixed(seed)) << 64 | u128::from(mixed(!seed)), purpose as u128)
}

/// Returns the generator of one source.
pub(crate) fn of_source(seed: u64, purpose: RandomPurpose, source: u64) -> Pcg32 {
    let key = mixed(seed ^ (purpose as u64) << 56);
    Pcg32::new(mixed(key ^ source), source)
}

/// Mixes a number (final steps of SplitMix64).
pub(crate) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
