use crate::Rates;

/// Measures a sequence: the deviation of each source from its rate, and the gaps between its fetches.
#[derive(Clone, Debug)]
pub struct SequenceStats {
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

/// Distribution of the fetches of one source in a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceSpacing {
    /// Number of fetches.
    pub fetches: u64,
    /// Largest |tρ − N| over all numbers of slots t, where N is the number of fetches among them.
    pub discrepancy: f64,
    /// Shortest and longest gap in slots, if there were at least two fetches.
    pub gaps: Option<(u64, u64)>,
}

impl SequenceStats {
    /// Creates empty statistics.
    pub fn new(rates: Rates<'_>) -> Self {
        let rates = rates.as_slice().to_vec();
        let sources = vec![Counts::default(); rates.len()];
        Self { rates, slots: 0, idle: 0, sources }
    }

    /// Records the decision for the next slot. Returns the number of slots since the last fetch of the source,
    /// or since the start.
    pub fn record(&mut self, decision: Option<usize>) -> Option<u64> {
        self.slots += 1;
        let Some(source) = decision else {
            self.idle += 1;
            return None;
        };
        let (counts, rate) = (&mut self.sources[source], self.rates[source]);
        let gap = self.slots - counts.last;
        counts.update_discrepancy(self.slots - 1, rate);
        counts.fetches += 1;
        counts.last = self.slots;
        counts.update_discrepancy(self.slots, rate);
        if counts.fetches > 1 {
            counts.shortest = if counts.fetches == 2 { gap } else { counts.shortest.min(gap) };
            counts.longest = counts.longest.max(gap);
        }
        Some(gap)
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> u64 {
        self.slots
    }

    /// Returns the number of idle slots.
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// Returns the spacing of each source.
    pub fn spacings(&self) -> impl Iterator<Item = SourceSpacing> {
        self.sources.iter().zip(&self.rates).map(|(counts, &rate)| {
            let mut counts = *counts;
            counts.update_discrepancy(self.slots, rate);
            let gaps = (counts.fetches > 1).then_some((counts.shortest, counts.longest));
            SourceSpacing { fetches: counts.fetches, discrepancy: counts.discrepancy, gaps }
        })
    }

    /// Returns the largest discrepancy of all sources.
    pub fn discrepancy(&self) -> f64 {
        self.spacings().map(|spacing| spacing.discrepancy).fold(0.0, f64::max)
    }
}

impl Counts {
    /// Updates the discrepancy. Between fetches tρ − N only rises, so the extremes are before and after each
    /// fetch and at the end.
    fn update_discrepancy(&mut self, slots: u64, rate: f64) {
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
        let mut stats = SequenceStats::new(Rates::new(&rates).unwrap());
        let sequence = [None, None, None, Some(0), Some(0), Some(1), Some(0), None];
        let gaps = sequence.map(|decision| stats.record(decision));
        assert_eq!(gaps, [None, None, None, Some(4), Some(1), Some(6), Some(2), None]);
        assert_eq!((stats.slots(), stats.idle()), (8, 4));
        let spacings: Vec<SourceSpacing> = stats.spacings().collect();
        // Source 0 is 1.5 behind after slot 3; source 1 is 1.25 behind after slot 5.
        let first = SourceSpacing { fetches: 3, discrepancy: 1.5, gaps: Some((1, 2)) };
        assert_eq!(spacings[0], first);
        assert_eq!(spacings[1], SourceSpacing { fetches: 1, discrepancy: 1.25, gaps: None });
        assert_eq!(stats.discrepancy(), 1.5);
    }

    #[test]
    fn a_source_that_is_never_fetched_falls_behind() {
        let rates = [0.125];
        let mut stats = SequenceStats::new(Rates::new(&rates).unwrap());
        (0..100).for_each(|_| assert_eq!(stats.record(None), None));
        assert_eq!(stats.discrepancy(), 12.5);
    }
}
