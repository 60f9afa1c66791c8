//! Random numbers: one seed, one result.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The generator of all experiments.
pub(crate) type Random = Pcg64;

pub(crate) fn random(seed: u64) -> Random {
    Pcg64::seed_from_u64(seed)
}

/// Returns uniform numbers between 0 and 1.
pub(crate) fn uniform(count: usize, random: &mut Random) -> Vec<f64> {
    (0..count).map(|_| random.random::<f64>()).collect()
}
