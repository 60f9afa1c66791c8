//! Rates that change on certain days.

use super::{Process, Stream};

/// One process for each epoch between two such days.
pub(crate) struct Epochs {
    /// Start of each epoch, the first on day 0, and the rates in it.
    pub(crate) starts: Vec<f64>,
    pub(crate) rates: Vec<Vec<f64>>,
    pub(crate) processes: Vec<Box<dyn Process>>,
}

impl Epochs {
    fn at(&self, day: f64) -> usize {
        self.starts.partition_point(|&start| start <= day).saturating_sub(1)
    }

    /// Returns the next epoch in which the rate of a source differs; other epochs must not affect its changes.
    fn next_rate(&self, source: usize, epoch: usize) -> Option<usize> {
        let here = self.rates[epoch][source];
        (epoch + 1..self.rates.len()).find(|&later| self.rates[later][source] != here)
    }
}

impl Process for Epochs {
    fn next(&self, source: usize, stream: &mut Stream) -> f64 {
        let mut epoch = self.at(stream.at);
        loop {
            let next = self.processes[epoch].next(source, stream);
            let Some(later) = self.next_rate(source, epoch) else { return next };
            if next < self.starts[later] {
                return next;
            }
            // The day is in the middle of a gap, like the start. Just before it, so that a slot
            // that begins on it counts.
            epoch = later;
            (stream.at, stream.drawn) = (self.starts[later].next_down(), 0);
        }
    }

    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64 {
        let (first, last) = (self.at(from), self.at(to));
        if first == last || to <= from {
            return self.processes[first].mean_rate(source, from, to);
        }
        let mut changes = 0.0;
        for epoch in first..=last {
            let begin = self.starts[epoch].max(from);
            let end = self.starts.get(epoch + 1).map_or(to, |next| next.min(to));
            if end > begin {
                changes += self.processes[epoch].mean_rate(source, begin, end) * (end - begin);
            }
        }
        changes / (to - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Population;
    use crate::process::WebKind;
    use crate::seed::{RandomPurpose, of_source};

    /// Two sources on one host; the first changes ten times as often from day 100 on.
    fn epochs(kind: WebKind) -> Epochs {
        let population = |first: f64| Population {
            importance: vec![1.0; 2],
            change_rate: vec![first, 0.05],
            complete: vec![false; 2],
            host: vec![0; 2],
            presence: None,
        };
        let (before, after) = (population(0.05), population(0.5));
        Epochs {
            starts: vec![0.0, 100.0],
            processes: vec![kind.build(&before, 1), kind.build(&after, 1)],
            rates: vec![before.change_rate, after.change_rate],
        }
    }

    /// Returns the changes of many copies of a source before day 200.
    fn changes(process: &dyn Process, source: usize) -> Vec<f64> {
        let mut all = Vec::new();
        for twin in 0..2000 {
            let random = of_source(twin, RandomPurpose::Changes, source as u64);
            let mut stream = Stream { random, at: 0.0, drawn: 0 };
            loop {
                stream.at = process.next(source, &mut stream);
                stream.drawn += 1;
                if stream.at >= 200.0 {
                    break;
                }
                all.push(stream.at);
            }
        }
        all
    }

    #[test]
    fn a_rate_holds_from_its_day_on_and_others_notice_nothing() {
        for &kind in WebKind::ALL {
            let epochs = epochs(kind);
            let all = changes(&epochs, 0);
            let between = |from: f64, to: f64| {
                all.iter().filter(|&&day| day >= from && day < to).count() as f64 / 2000.0
            };
            // Also at the edges: a slot begins on day 100, but a gap does not start again.
            for (from, to) in [(0.0, 100.0), (93.0, 100.0), (100.0, 107.0), (100.0, 200.0)] {
                let expect = epochs.mean_rate(0, from, to) * (to - from);
                // A slot starts its count at 1, not at 0.
                let expect =
                    if kind == WebKind::Slots && from == 0.0 { 0.05 * 99.0 } else { expect };
                let got = between(from, to);
                // Four standard deviations of a mean of 2,000 counts; bursts vary more.
                let close = 4.0 * (2.2 * expect / 2000.0).sqrt();
                assert!((got - expect).abs() < close, "{kind} {from}–{to}: {got}, not {expect}");
            }
            let alone = changes(epochs.processes[0].as_ref(), 1);
            assert_eq!(changes(&epochs, 1), alone, "{kind}");
        }
    }

    #[test]
    fn the_mean_rate_is_weighed_by_time() {
        let epochs = epochs(WebKind::Poisson);
        let check = |from: f64, to: f64, expect: f64| {
            assert!((epochs.mean_rate(0, from, to) - expect).abs() < 1e-12, "{from} {to}");
        };
        check(0.0, 100.0, 0.05);
        check(0.0, 200.0, 0.275);
        check(90.0, 190.0, 0.455);
        check(100.0, 100.0, 0.5);
    }
}
