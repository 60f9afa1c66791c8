use crate::{Rates, ScheduleError};

/// Owner of idle slots; no source has this index.
const IDLE: u32 = u32::MAX;

/// The golden-ratio policy (Liu & Nain 2006, §1.3.4, after Itai & Rosberg 1984): a cycle of F
/// slots, F a Fibonacci number, repeated forever. Constant time per slot, however long the cycle.
///
/// Source i has Mᵢ slots of a cycle: ρᵢF rounded down or up, those with the largest remainders up.
/// Idle slots are one more source, the last. The points frac(j/φ), j = 0 … F − 1, are dealt to the
/// sources in their order, Mᵢ to source i, and the s-th slot is the s-th smallest point. So the
/// intervals of a source with rate f are Fibonacci numbers, Fⱼ, Fⱼ₊₁ or Fⱼ₊₂ with
/// j = ⌈log_φ(1/f)⌉ (the paper prints ⌈log_φ f⌉).
///
/// **How good it is.** The paper's bound, within 5 % of the least cost (its 1.34), does not hold for
/// rates in general, only where they are near powers of 1/φ. 36 equal sources that change slowly cost
/// 1.1090 times the least. For many sources the supremum is φ⁵/10 = 1.1090; two equal sources
/// cost √5/2 = 1.1180. Where that matters, prefer
/// [`EarliestDeadline`](crate::EarliestDeadline), which is within about 1 %.
///
/// A source whose share of a cycle rounds to no slot is never fetched: take a cycle longer than
/// the longest interval 1/ρ.
#[derive(Clone, Debug)]
pub struct GoldenRatio {
    /// Number of slots in a cycle.
    cycle: u64,
    /// Distance from the point of a slot to that of the next slot.
    step: u64,
    /// Point j of the next slot.
    point: u64,
    /// First point of each share, and the length of the cycle at the end.
    share_starts: Vec<u32>,
    /// Owner of each share.
    owners: Vec<u32>,
    /// Lookup table: for equal parts of the points, the share at which a search starts.
    search_starts: Vec<u32>,
}

impl GoldenRatio {
    /// Length of the longest possible cycle. Rates may exceed 1 by [`Rates::EXCESS`]; up to this length the
    /// excess is less than one slot.
    pub const MAX_CYCLE: u64 = 701_408_733;

    /// Creates a sequence with the shortest cycle that has at least `slots` slots and one slot per source.
    pub fn new(rates: Rates<'_>, slots: u64) -> Result<Self, ScheduleError> {
        let min_slots = slots.max(rates.positive().count() as u64);
        if min_slots > Self::MAX_CYCLE {
            let max_slots = Self::MAX_CYCLE;
            return Err(ScheduleError::CycleTooLong { slots: min_slots, max_slots });
        }
        // (before, cycle) are F_(k−1) and F_k from k = 2 on.
        let (mut before, mut cycle, mut even) = (1, 1, true);
        while cycle < min_slots {
            (before, cycle, even) = (cycle, before + cycle, !even);
        }
        // Point j has rank j·F_(k−1) mod F_k, as F_(k−1)/F_k is the best approximation to 1/φ.
        // F_(k−1) is its own inverse modulo F_k up to sign: its square is (−1)^k.
        let step = if even { before } else { cycle - before };

        let shares: Vec<(u32, u32)> =
            apportion(rates, cycle).into_iter().filter(|share| share.1 > 0).collect();
        let mut share_starts = Vec::with_capacity(shares.len() + 1);
        let mut begin = 0;
        for &(_, points) in &shares {
            share_starts.push(begin);
            begin += points;
        }
        share_starts.push(begin);
        let mut share = 0;
        let search_starts = (0..shares.len() as u64)
            .map(|part| {
                let first = (part * cycle).div_ceil(shares.len() as u64);
                while u64::from(share_starts[share + 1]) <= first {
                    share += 1;
                }
                share as u32
            })
            .collect();
        let owners = shares.iter().map(|share| share.0).collect();
        Ok(Self { cycle, step, point: 0, share_starts, owners, search_starts })
    }

    /// Skips the given number of slots.
    pub fn skip_slots(&mut self, slots: u64) {
        let steps = u128::from(slots % self.cycle) * u128::from(self.step);
        self.point = ((u128::from(self.point) + steps) % u128::from(self.cycle)) as u64;
    }

    /// Returns the number of slots in a cycle.
    pub fn period(&self) -> u64 {
        self.cycle
    }

    fn owner(&self, point: u64) -> u32 {
        let parts = self.search_starts.len() as u64;
        let mut share = self.search_starts[(point * parts / self.cycle) as usize] as usize;
        while u64::from(self.share_starts[share + 1]) <= point {
            share += 1;
        }
        self.owners[share]
    }
}

impl Iterator for GoldenRatio {
    type Item = Option<usize>;

    fn next(&mut self) -> Option<Option<usize>> {
        let owner = self.owner(self.point);
        self.point += self.step;
        if self.point >= self.cycle {
            self.point -= self.cycle;
        }
        Some((owner != IDLE).then_some(owner as usize))
    }
}

/// Splits the cycle into whole numbers of slots by the largest-remainder method.
fn apportion(rates: Rates<'_>, cycle: u64) -> Vec<(u32, u32)> {
    let shares = rates.positive().chain([(IDLE, rates.idle_share())]);
    let mut apportioned = Vec::new();
    let mut remainders = Vec::new();
    for (place, (owner, share)) in shares.enumerate() {
        let quota = share * cycle as f64;
        apportioned.push((owner, quota.floor() as u32));
        remainders.push((quota - quota.floor(), place));
    }
    let assigned: u64 = apportioned.iter().map(|share| u64::from(share.1)).sum();
    remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, place) in remainders.iter().take((cycle - assigned) as usize) {
        apportioned[place].1 += 1;
    }
    apportioned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition in the paper: sort the points.
    fn sorted(rates: Rates<'_>, cycle: u64) -> Vec<Option<usize>> {
        let owners = apportion(rates, cycle)
            .into_iter()
            .flat_map(|(owner, points)| std::iter::repeat_n(owner, points as usize));
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        let mut points: Vec<(f64, u32)> =
            owners.enumerate().map(|(j, owner)| ((j as f64 * golden).fract(), owner)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.iter().map(|&(_, owner)| (owner != IDLE).then_some(owner as usize)).collect()
    }

    #[test]
    fn slots_are_the_sorted_points() {
        let harmonic: Vec<f64> = (1..=20).map(|i| 0.25 / f64::from(i)).collect();
        let equal = [1.0 / 36.0; 36];
        for rates in [&harmonic[..], &equal, &[1.0], &[0.3, 0.0, 0.7], &[0.01], &[]] {
            let rates = Rates::new(rates).unwrap();
            for slots in [0, 1, 2, 3, 13, 20, 34, 55, 1000, 1597] {
                let sequence = GoldenRatio::new(rates, slots).unwrap();
                let cycle = sequence.period();
                let slots: Vec<Option<usize>> = sequence.take(2 * cycle as usize).collect();
                let (first, second) = slots.split_at(cycle as usize);
                assert_eq!(first, sorted(rates, cycle));
                assert_eq!(first, second);
            }
        }
    }

    #[test]
    fn cycles_are_fibonacci_numbers_and_bounded() {
        let rates = [1.0];
        let rates = Rates::new(&rates).unwrap();
        let cycle = |slots| GoldenRatio::new(rates, slots).unwrap().period();
        assert_eq!([0, 1, 2, 4, 9, 13, 14].map(cycle), [1, 1, 2, 5, 13, 13, 21]);
        assert_eq!(cycle(GoldenRatio::MAX_CYCLE), GoldenRatio::MAX_CYCLE);
        assert!(GoldenRatio::new(rates, GoldenRatio::MAX_CYCLE + 1).is_err());
    }
}
