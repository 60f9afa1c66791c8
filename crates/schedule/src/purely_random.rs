use rand::{Rng, RngExt};

use crate::alias::AliasTable;
use crate::{Fetch, Rates};

/// Owner of idle slots; no source has this index.
const IDLE: u32 = u32::MAX;

/// Purely random (Cho & Garcia-Molina 2003, §4.3): source i is fetched in a slot with probability
/// ρᵢ, independently of earlier slots. Takes constant time per slot.
#[derive(Clone, Debug)]
pub struct PurelyRandom<R> {
    alias: AliasTable,
    random: R,
}

impl<R: Rng> PurelyRandom<R> {
    /// Creates a sequence that draws from the given generator.
    pub fn new(rates: Rates<'_>, random: R) -> Self {
        let mut items: Vec<(u32, f64)> = rates.positive().collect();
        if rates.idle_share() > 0.0 {
            items.push((IDLE, rates.idle_share()));
        }
        Self { alias: AliasTable::new(&items), random }
    }
}

impl<R: Rng> Iterator for PurelyRandom<R> {
    type Item = Option<usize>;

    fn next(&mut self) -> Option<Option<usize>> {
        let source = self.alias.draw(&mut self.random);
        Some((source != IDLE).then_some(source as usize))
    }
}

/// Purely random in continuous time: each source is fetched at the times of a Poisson process with
/// its rate. The iterator ends if no source has a positive rate.
#[derive(Clone, Debug)]
pub struct PoissonTimes<R> {
    alias: Option<AliasTable>,
    mean_gap: f64,
    time: f64,
    random: R,
}

impl<R: Rng> PoissonTimes<R> {
    /// Creates a sequence that draws from the given generator.
    pub fn new(rates: Rates<'_>, random: R) -> Self {
        let items: Vec<(u32, f64)> = rates.positive().collect();
        let alias = (!items.is_empty()).then(|| AliasTable::new(&items));
        Self { alias, mean_gap: 1.0 / rates.sum(), time: 0.0, random }
    }
}

impl<R: Rng> Iterator for PoissonTimes<R> {
    type Item = Fetch;

    fn next(&mut self) -> Option<Fetch> {
        let alias = self.alias.as_ref()?;
        let uniform: f64 = self.random.random();
        self.time -= (-uniform).ln_1p() * self.mean_gap;
        let source = alias.draw(&mut self.random) as usize;
        Some(Fetch { time: self.time, source })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    const SLOTS: usize = 1_000_000;

    #[track_caller]
    fn check(counts: &[usize], rates: &[f64], variance: impl Fn(f64) -> f64) {
        for (&count, &rate) in counts.iter().zip(rates) {
            let mean = rate * SLOTS as f64;
            let deviation = (variance(rate) * SLOTS as f64).sqrt();
            assert!((count as f64 - mean).abs() <= 5.0 * deviation, "{count} for {mean}");
        }
    }

    const RATES: [f64; 5] = [0.5, 0.0, 0.2, 0.05, 1e-4];

    #[test]
    fn slots_are_drawn_by_their_rates() {
        let rates = Rates::new(&RATES).unwrap();
        let mut counts = [0; 5];
        let mut idle = 0;
        for slot in PurelyRandom::new(rates, Pcg64::seed_from_u64(3)).take(SLOTS) {
            match slot {
                Some(source) => counts[source] += 1,
                None => idle += 1,
            }
        }
        check(&counts, &RATES, |rate| rate * (1.0 - rate));
        check(&[idle], &[1.0 - rates.sum()], |rate| rate * (1.0 - rate));
    }

    #[test]
    fn poisson_counts_have_mean_and_variance_alike() {
        let rates = Rates::new(&RATES).unwrap();
        let mut counts = [0; 5];
        let mut per_hundred = vec![0.0_f64; SLOTS / 100];
        for fetch in PoissonTimes::new(rates, Pcg64::seed_from_u64(4)) {
            if fetch.time >= SLOTS as f64 {
                break;
            }
            counts[fetch.source] += 1;
            if fetch.source == 0 {
                per_hundred[(fetch.time / 100.0) as usize] += 1.0;
            }
        }
        check(&counts, &RATES, |rate| rate);
        let windows = per_hundred.len() as f64;
        let mean = per_hundred.iter().sum::<f64>() / windows;
        let variance = per_hundred.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / windows;
        // The ratio has a standard deviation of √(2/10⁴) = 0.014.
        assert!((variance / mean - 1.0).abs() < 0.07, "{variance} {mean}");
    }

    #[test]
    fn without_rates_all_slots_are_idle() {
        let rates = Rates::new(&[0.0, 0.0]).unwrap();
        assert!(PurelyRandom::new(rates, Pcg64::seed_from_u64(5)).take(100).all(|s| s.is_none()));
        assert_eq!(PoissonTimes::new(rates, Pcg64::seed_from_u64(5)).next(), None);
    }
}
