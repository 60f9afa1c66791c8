//! Random numbers from one seed, independent of the order of calls.

use rand_pcg::Pcg64;

/// Purpose of random numbers. Each has its own stream, so that an additional draw in one does not affect the others.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Rates = 1,
    Changes = 2,
    Text = 3,
    Manners = 4,
    Faults = 5,
    Order = 6,
    Noise = 7,
}

/// Returns the generator of an item.
pub(crate) fn random(seed: u64, purpose: Purpose, of: u64) -> Pcg64 {
    let state = u128::from(number(seed, purpose, of, 0)) << 64 | u128::from(mixed(seed ^ of));
    Pcg64::new(state, purpose as u128)
}

/// Returns a number for an item and a step.
pub(crate) fn number(seed: u64, purpose: Purpose, of: u64, turn: u64) -> u64 {
    mixed(mixed(mixed(seed ^ (purpose as u64) << 56) ^ of) ^ turn)
}

/// Returns a uniform number from 0 to below 1 for an item and a step.
pub(crate) fn share(seed: u64, purpose: Purpose, of: u64, turn: u64) -> f64 {
    (number(seed, purpose, of, turn) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Mixes a number (final steps of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
