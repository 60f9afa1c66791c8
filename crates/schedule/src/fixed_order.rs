use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::{Rates, ScheduleError};

/// A fetch in continuous time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fetch {
    /// Time in slots from the start.
    pub time: f64,
    /// Index of the source.
    pub source: usize,
}

/// Fixed order (Cho & Garcia-Molina 2003, §4.1), for any rates: source i is fetched at the times
/// (k + phaseᵢ)/ρᵢ for k = 0, 1, 2, …, so that all its intervals are 1/ρᵢ.
///
/// Fetches at the same time come in the order of their sources. Times are computed from k, not
/// added up, so that they do not drift. The iterator ends if no source has a rate.
#[derive(Clone, Debug)]
pub struct FixedOrder {
    /// Next fetch time of each source as bits, which sort like the number because it is not negative.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    clocks: Vec<Clock>,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    rate: f64,
    phase: f64,
    fetched: u64,
}

impl FixedOrder {
    /// Creates a sequence whose phases spread the load evenly: sources, sorted by rate, get successive
    /// multiples of the golden ratio, so that sources with similar rates are far apart.
    pub fn new(rates: Rates<'_>) -> Self {
        let column = rates.as_slice();
        let mut order: Vec<u32> = (0..column.len() as u32).collect();
        order.sort_by(|&a, &b| column[b as usize].total_cmp(&column[a as usize]));
        let mut phases = vec![0.0; column.len()];
        for (rank, &source) in order.iter().enumerate() {
            phases[source as usize] = golden_phase(rank as u64);
        }
        Self::from_phases(column, &phases)
    }

    /// Creates a sequence with the given phases: the first fetch of source i is at `phases[i] / rates[i]`.
    pub fn with_phases(rates: Rates<'_>, phases: &[f64]) -> Result<Self, ScheduleError> {
        let column = rates.as_slice();
        if phases.len() != column.len() {
            let (phases, sources) = (phases.len(), column.len());
            return Err(ScheduleError::PhaseCount { phases, sources });
        }
        for (source_index, &phase) in phases.iter().enumerate() {
            if !(0.0..1.0).contains(&phase) {
                return Err(ScheduleError::PhaseOutside { source_index, phase });
            }
        }
        Ok(Self::from_phases(column, phases))
    }

    fn from_phases(column: &[f64], phases: &[f64]) -> Self {
        let clocks: Vec<Clock> = column
            .iter()
            .zip(phases)
            .map(|(&rate, &phase)| Clock { rate, phase: phase.abs(), fetched: 0 })
            .collect();
        let due = clocks
            .iter()
            .enumerate()
            .filter(|(_, clock)| clock.rate > 0.0)
            .map(|(source, clock)| Reverse((clock.next().to_bits(), source as u32)))
            .collect();
        Self { due, clocks }
    }
}

impl Clock {
    fn next(&self) -> f64 {
        (self.fetched as f64 + self.phase) / self.rate
    }
}

impl Iterator for FixedOrder {
    type Item = Fetch;

    fn next(&mut self) -> Option<Fetch> {
        let mut top = self.due.peek_mut()?;
        let Reverse((time, source)) = *top;
        let time = f64::from_bits(time);
        if time.is_infinite() {
            PeekMut::pop(top);
            return self.next();
        }
        let clock = &mut self.clocks[source as usize];
        clock.fetched += 1;
        *top = Reverse((clock.next().to_bits(), source));
        Some(Fetch { time, source: source as usize })
    }
}

/// Returns the fractional part of rank·φ⁻¹, computed in integers so that high ranks lose no digits.
fn golden_phase(rank: u64) -> f64 {
    let fraction = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (fraction >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetches(order: FixedOrder, until: f64) -> Vec<Fetch> {
        order.take_while(|fetch| fetch.time < until).collect()
    }

    #[test]
    fn intervals_are_fixed_and_ties_go_to_the_first_source() {
        let rates = [0.25, 0.5, 0.25];
        let rates = Rates::new(&rates).unwrap();
        let order = FixedOrder::with_phases(rates, &[0.0, 0.0, 0.5]).unwrap();
        let sources: Vec<(f64, usize)> =
            fetches(order, 8.0).iter().map(|fetch| (fetch.time, fetch.source)).collect();
        let once = [(0.0, 0), (0.0, 1), (2.0, 1), (2.0, 2)];
        let again = once.map(|(time, source)| (time + 4.0, source));
        assert_eq!(sources, [once, again].concat());
    }

    #[test]
    fn a_thousand_equal_sources_are_spread_evenly() {
        let rates = vec![1e-3; 1000];
        let fetches = fetches(FixedOrder::new(Rates::new(&rates).unwrap()), 10_000.0);
        assert_eq!(fetches.len(), 10_000);
        for pair in fetches.windows(2) {
            let gap = pair[1].time - pair[0].time;
            // Three-gap theorem: the widest gap between n golden points is below φ²/(√5·n)·(1+ε).
            assert!(gap < 1.2, "{gap}");
        }
    }

    #[test]
    fn times_do_not_drift() {
        let rates = [0.1];
        let mut order = FixedOrder::new(Rates::new(&rates).unwrap());
        let fetch = order.nth(1_000_000).unwrap();
        assert_eq!(fetch.time, 1e7);
    }

    #[test]
    fn bad_phases_are_named() {
        let rates = [0.5, 0.5];
        let rates = Rates::new(&rates).unwrap();
        let refused = |phases: &[f64]| FixedOrder::with_phases(rates, phases).unwrap_err();
        assert_eq!(refused(&[0.0]), ScheduleError::PhaseCount { phases: 1, sources: 2 });
        let outside = ScheduleError::PhaseOutside { source_index: 1, phase: 1.0 };
        assert_eq!(refused(&[0.0, 1.0]), outside);
        assert!(FixedOrder::with_phases(rates, &[f64::NAN, 0.0]).is_err());
        assert!(FixedOrder::with_phases(rates, &[-0.0, 0.0]).is_ok());
    }

    #[test]
    fn sources_without_a_rate_are_never_fetched() {
        assert_eq!(FixedOrder::new(Rates::new(&[0.0, 0.0]).unwrap()).next(), None);
        let rates = [0.0, 0.5, f64::MIN_POSITIVE / 8.0];
        let mut order = FixedOrder::new(Rates::new(&rates).unwrap());
        assert!(order.by_ref().take(1000).all(|fetch| fetch.source == 1));
    }
}
