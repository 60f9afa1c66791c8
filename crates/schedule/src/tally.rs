use crate::Rates;

/// Measures a sequence as it comes: how far each source is from its rate, and its gaps.
#[derive(Clone, Debug)]
pub struct Tally {
    rates: Vec<f64>,
    slots: u64,
    idle: u64,
    sources: Vec<Counts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    fetches: u64,
    last: u64,
    discrepancy: f64,
    shortest: u64,
    longest: u64,
}

/// How a source's fetches lie in a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How often it was fetched.
    pub fetches: u64,
    /// The largest |tρ − N| after any number of slots t, with N the fetches among them.
    pub discrepancy: f64,
    /// The fewest and the most slots from one fetch to the next, if there were two.
    pub gaps: Option<(u64, u64)>,
}

impl Tally {
    /// Of nothing yet.
    pub fn new(rates: Rates<'_>) -> Self {
        let rates = rates.as_slice().to_vec();
        let sources = vec![Counts::default(); rates.len()];
        Self { rates, slots: 0, idle: 0, sources }
    }

    /// Counts the decision for the next slot. Gives the number of slots since the source's last
    /// fetch; the start counts as one.
    pub fn record(&mut self, decision: Option<usize>) -> Option<u64> {
        self.slots += 1;
        let Some(source) = decision else {
            self.idle += 1;
            return None;
        };
        let (counts, rate) = (&mut self.sources[source], self.rates[source]);
        let gap = self.slots - counts.last;
        counts.see(self.slots - 1, rate);
        counts.fetches += 1;
        counts.last = self.slots;
        counts.see(self.slots, rate);
        if counts.fetches > 1 {
            counts.shortest = if counts.fetches == 2 { gap } else { counts.shortest.min(gap) };
            counts.longest = counts.longest.max(gap);
        }
        Some(gap)
    }

    /// Slots so far.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Slots so far with nothing to fetch.
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// Each source so far.
    pub fn spreads(&self) -> impl Iterator<Item = Spread> {
        self.sources.iter().zip(&self.rates).map(|(counts, &rate)| {
            let mut counts = *counts;
            counts.see(self.slots, rate);
            let gaps = (counts.fetches > 1).then_some((counts.shortest, counts.longest));
            Spread { fetches: counts.fetches, discrepancy: counts.discrepancy, gaps }
        })
    }

    /// The largest discrepancy of any source.
    pub fn discrepancy(&self) -> f64 {
        self.spreads().map(|spread| spread.discrepancy).fold(0.0, f64::max)
    }
}

impl Counts {
    /// Between fetches tρ − N only rises: it is enough to look before and after each, and at the end.
    fn see(&mut self, slots: u64, rate: f64) {
        let ahead = (slots as f64).mul_add(rate, -(self.fetches as f64));
        self.discrepancy = self.discrepancy.max(ahead.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_discrepancy_of_a_short_sequence() {
        let rates = [0.5, 0.25];
        let mut tally = Tally::new(Rates::new(&rates).unwrap());
        let sequence = [None, None, None, Some(0), Some(0), Some(1), Some(0), None];
        let gaps = sequence.map(|decision| tally.record(decision));
        assert_eq!(gaps, [None, None, None, Some(4), Some(1), Some(6), Some(2), None]);
        assert_eq!((tally.slots(), tally.idle()), (8, 4));
        let spreads: Vec<Spread> = tally.spreads().collect();
        // Source 0 is 1.5 behind after slot 3; source 1 is 1.25 behind after slot 5.
        let first = Spread { fetches: 3, discrepancy: 1.5, gaps: Some((1, 2)) };
        assert_eq!(spreads[0], first);
        assert_eq!(spreads[1], Spread { fetches: 1, discrepancy: 1.25, gaps: None });
        assert_eq!(tally.discrepancy(), 1.5);
    }

    #[test]
    fn what_is_never_fetched_falls_behind() {
        let rates = [0.125];
        let mut tally = Tally::new(Rates::new(&rates).unwrap());
        (0..100).for_each(|_| assert_eq!(tally.record(None), None));
        assert_eq!(tally.discrepancy(), 12.5);
    }
}
