//! One seed for a whole web: whoever asks gets the same numbers, in any order.

use rand_pcg::Pcg64;

/// What random numbers are for. Each has its own, so that one more draw here changes nothing there.
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

/// A generator for one thing.
pub(crate) fn random(seed: u64, purpose: Purpose, of: u64) -> Pcg64 {
    let state = u128::from(number(seed, purpose, of, 0)) << 64 | u128::from(mixed(seed ^ of));
    Pcg64::new(state, purpose as u128)
}

/// A number for a thing and a turn of it.
pub(crate) fn number(seed: u64, purpose: Purpose, of: u64, turn: u64) -> u64 {
    mixed(mixed(mixed(seed ^ (purpose as u64) << 56) ^ of) ^ turn)
}

/// The same, from 0 to below 1.
pub(crate) fn share(seed: u64, purpose: Purpose, of: u64, turn: u64) -> f64 {
    (number(seed, purpose, of, turn) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number that looks random (the finalising steps of SplitMix64).
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
