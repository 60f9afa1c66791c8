use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Rates;

/// Larger than any slot that is ever reached.
const UNREACHABLE_SLOT: u64 = u64::MAX;

/// Earliest deadline first (Azar et al. 2018, Algorithm 3), in O(log n) per slot. After t slots
/// source i has been fetched Nᵢ times with
///
/// > |tρᵢ − Nᵢ| < 1 for every source and every t.
///
/// **The rule.** In slots counted from 1, the j-th fetch of source i may be made in a slot t with
/// tρᵢ > j − 1, and must be made by the first one with tρᵢ ≥ j. Its window is
/// ⌊(j−1)/ρᵢ⌋ + 1 … ⌈j/ρᵢ⌉. Each slot goes to the open window that ends first; of those, to the
/// lowest source.
///
/// **Why the bound holds.** A fetch not before its window keeps Nᵢ below tρᵢ + 1, and a fetch not
/// after it keeps Nᵢ above tρᵢ − 1. So let a window be missed for the first time, at its end b.
/// Let a be the slot after the last one before b that was idle or went to a window that ends after
/// b. In that slot no window that ends by b was open, so that all slots a … b went to windows that
/// lie within a … b, and the missed one is a further such window. But source i has at most
/// ⌊bρᵢ⌋ − ⌈(a−1)ρᵢ⌉ of them, which is at most (b − a + 1)ρᵢ. All sources together have at most
/// (b − a + 1)Σρ: not more than the slots there are. So no window is missed.
///
/// **In numbers.** A rate is the integer ratio that its floating-point number stands for, and
/// windows are computed from j in integers: nothing is rounded and nothing drifts. Where the rates
/// pass 1 by ε (at most [`Rates::EXCESS`]), the last step still gives the number of slots as long
/// as (b − a + 1)ε < 1, so the bound holds for 1/ε slots. After that all sources fall behind
/// together.
#[derive(Clone, Debug)]
pub struct EarliestDeadline {
    slot: u64,
    /// Open windows: last slot and source.
    open: BinaryHeap<Reverse<(u64, u32)>>,
    /// Future windows: first slot, last slot and source.
    coming: BinaryHeap<Reverse<(u64, u64, u32)>>,
    sources: Vec<Source>,
}

/// The rate is odd / 2^shift.
#[derive(Clone, Copy, Debug)]
struct Source {
    odd: u64,
    shift: u32,
    /// Number of the next fetch, starting at 1.
    number: u64,
    /// ⌊number/ρ⌋
    periods: u64,
}

impl EarliestDeadline {
    /// Creates a sequence that starts at slot 1.
    pub fn new(rates: Rates<'_>) -> Self {
        let mut sources: Vec<Source> = rates.as_slice().iter().map(|&r| Source::new(r)).collect();
        let mut first = Vec::with_capacity(sources.len());
        for (source, _) in rates.positive() {
            first.push(Reverse((sources[source as usize].next_window().1, source)));
        }
        Self { slot: 0, open: first.into(), coming: BinaryHeap::new(), sources }
    }
}

impl Iterator for EarliestDeadline {
    type Item = Option<usize>;

    fn next(&mut self) -> Option<Option<usize>> {
        self.slot += 1;
        while let Some(&Reverse((begin, end, source))) = self.coming.peek()
            && begin <= self.slot
        {
            self.coming.pop();
            self.open.push(Reverse((end, source)));
        }
        let Some(Reverse((_, source))) = self.open.pop() else {
            return Some(None);
        };
        let (begin, end) = self.sources[source as usize].next_window();
        if begin <= self.slot {
            self.open.push(Reverse((end, source)));
        } else if begin != UNREACHABLE_SLOT {
            self.coming.push(Reverse((begin, end, source)));
        }
        Some(Some(source as usize))
    }
}

impl Source {
    fn new(rate: f64) -> Self {
        // Minus zero is zero.
        let bits = rate.abs().to_bits();
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (whole, shift) = match exponent {
            0 => (fraction, 1074),
            _ => (fraction | 1 << 52, 1075 - exponent as u32),
        };
        // A rate of 0 has no trailing one; no window is ever requested for it.
        let zeros = whole.trailing_zeros().min(shift).min(63);
        Self { odd: whole >> zeros, shift: shift - zeros, number: 0, periods: 0 }
    }

    /// Returns the first and last slot of the next fetch.
    fn next_window(&mut self) -> (u64, u64) {
        let begin = self.periods.saturating_add(1);
        self.number += 1;
        let (periods, rest) = self.periods_before();
        self.periods = periods;
        (begin, periods.saturating_add(u64::from(rest)))
    }

    /// Returns ⌊number/ρ⌋ and whether there is a remainder. A number that does not fit in 128 bits is beyond
    /// slot 2⁷⁴, because the divisor has at most 53 bits.
    fn periods_before(&self) -> (u64, bool) {
        if u128::from(self.number).leading_zeros() < self.shift {
            return (UNREACHABLE_SLOT, false);
        }
        let (number, odd) = (u128::from(self.number) << self.shift, u128::from(self.odd));
        match u64::try_from(number / odd) {
            Ok(periods) => (periods, u128::from(periods) * odd != number),
            Err(_) => (UNREACHABLE_SLOT, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn windows(rate: f64, expect: &[(u64, u64)]) {
        let mut source = Source::new(rate);
        let windows: Vec<(u64, u64)> = expect.iter().map(|_| source.next_window()).collect();
        assert_eq!(windows, expect);
    }

    #[test]
    fn windows_begin_and_end_where_the_rate_says() {
        windows(1.0, &[(1, 1), (2, 2), (3, 3)]);
        windows(0.5, &[(1, 2), (3, 4), (5, 6)]);
        windows(0.75, &[(1, 2), (2, 3), (3, 4), (5, 6)]);
        // The number nearest to 0.1 is a little above it.
        windows(0.1, &[(1, 10), (10, 20), (20, 30)]);
        windows(
            2_f64.powi(-63),
            &[
                (1, 1 << 63),
                ((1 << 63) + 1, UNREACHABLE_SLOT),
                (UNREACHABLE_SLOT, UNREACHABLE_SLOT),
            ],
        );
        windows(1e-30, &[(1, UNREACHABLE_SLOT), (UNREACHABLE_SLOT, UNREACHABLE_SLOT)]);
        windows(5e-324, &[(1, UNREACHABLE_SLOT), (UNREACHABLE_SLOT, UNREACHABLE_SLOT)]);
    }

    #[test]
    fn a_window_after_a_billion_fetches_is_exact() {
        let mut source = Source::new(0.75);
        source.number = 3_000_000_000;
        source.periods = 4_000_000_000;
        assert_eq!(source.next_window(), (4_000_000_001, 4_000_000_002));
    }

    #[test]
    fn slots_are_idle_when_no_window_is_open() {
        let rates = [0.25, 0.0, 0.25];
        let sequence = EarliestDeadline::new(Rates::new(&rates).unwrap());
        let slots: Vec<Option<usize>> = sequence.take(8).collect();
        let round = [Some(0), Some(2), None, None];
        assert_eq!(slots, [round, round].concat());
        let nothing = EarliestDeadline::new(Rates::new(&[]).unwrap());
        assert!(nothing.take(10).all(|slot| slot.is_none()));
    }
}
