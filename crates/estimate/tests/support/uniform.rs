//! A seeded generator for synthetic histories.

/// SplitMix64 by Steele, Lea & Flood.
pub(crate) struct Uniform(u64);

impl Uniform {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform in (0, 1).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 0.5 / (1_u64 << 53) as f64
    }
}
