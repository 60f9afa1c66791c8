//! What a fetch is worth with signals pending: against made-up sources, and as a policy against the best
//! that there is.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Channel, Counted, Heard};
use uniform::Uniform;

const BOTH: [Counted; 2] = [Counted::Harmonic, Counted::Freshness];

fn harmonic_number(n: u32) -> f64 {
    (1..=n).map(|i| 1.0 / f64::from(i)).sum()
}

fn penalty_of(penalty: Counted, pending: u32) -> f64 {
    match penalty {
        Counted::Harmonic => harmonic_number(pending),
        Counted::Freshness => f64::from(pending > 0),
    }
}

/// The expected penalty by the sum over what was missed and what was signalled.
fn expected(missed: f64, signals: u32, precision: f64, penalty: Counted) -> f64 {
    let mut sum = 0.0;
    let mut poisson = (-missed).exp();
    for unseen in 0..60 {
        let mut binomial = (1.0 - precision).powi(signals as i32);
        for told in 0..=signals {
            sum += poisson * binomial * penalty_of(penalty, unseen + told);
            binomial *=
                f64::from(signals - told) / f64::from(told + 1) * precision / (1.0 - precision);
        }
        poisson *= missed / f64::from(unseen + 1);
    }
    sum
}

/// One life of a source after another, each until its expected penalty reaches `level`: the mean of
/// `∫(level − penalty of the changes that there were) dt`, and its standard error.
fn simulated(
    (changes, recall, false_signals): (f64, f64, f64),
    penalty: Counted,
    level: f64,
    seed: u64,
) -> (f64, f64) {
    let told = recall * changes;
    let precision = told / (told + false_signals);
    let missed = (1.0 - recall) * changes;
    // When the level is reached after so many signals.
    let mut ends = Vec::new();
    while expected(0.0, ends.len() as u32, precision, penalty) < level {
        let (mut low, mut high) = (0.0, 20.0 / missed);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let below = expected(missed * middle, ends.len() as u32, precision, penalty) < level;
            if below { low = middle } else { high = middle }
        }
        ends.push(high);
    }
    let mut uniform = Uniform::new(seed);
    let lives = 40_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..lives {
        let (mut now, mut pending, mut signals, mut gain) = (0.0, 0_u32, 0, 0.0);
        loop {
            let next = now - uniform.next().ln() / (changes + false_signals);
            let stop = ends.get(signals).copied().unwrap_or(now).max(now);
            gain += (next.min(stop) - now) * (level - penalty_of(penalty, pending));
            if next >= stop {
                break;
            }
            now = next;
            let change = uniform.next() * (changes + false_signals) < changes;
            pending += u32::from(change);
            signals += usize::from(!change || uniform.next() < recall);
        }
        sum += gain;
        squares += gain * gain;
    }
    let mean = sum / f64::from(lives);
    (mean, ((squares / f64::from(lives) - mean * mean) / f64::from(lives)).sqrt())
}

#[test]
fn made_up_sources_gain_what_the_index_says() {
    let mut seed = 100;
    for (changes, recall, false_signals) in
        [(1.0, 0.5, 0.5), (0.3, 0.9, 0.1), (2.0, 0.2, 0.1), (1.0, 0.7, 6.0), (0.5, 0.95, 0.3)]
    {
        let channel = Channel::from_recall(changes, recall, false_signals).unwrap();
        for (days, signals) in [(0.8, 0), (2.5, 0), (0.1, 1), (1.0, 2), (3.0, 4)] {
            for penalty in BOTH {
                seed += 1;
                let heard = Heard { days, signals: f64::from(signals) };
                let value = channel.value(penalty, heard);
                let level =
                    expected(channel.missed() * days, signals, channel.precision(), penalty);
                let source = (changes, recall, false_signals);
                let (mean, error) = simulated(source, penalty, level, seed);
                let off = (mean - value) / error;
                assert!(
                    off.abs() < 4.0,
                    "{penalty:?}, {source:?}, {heard:?}: {mean}, expected {value}, {off} errors off"
                );
            }
        }
    }
}

/// Time in steps, signals one by one: the decision to fetch or wait in each state.
struct Chain {
    penalties: Vec<Vec<f64>>,
    signal: f64,
}

const STEP: f64 = 0.02;
const STEPS: usize = 500;
const SIGNALS: usize = 40;

impl Chain {
    fn new(channel: Channel, penalty: Counted) -> Self {
        let at = |step: usize, signals: usize| {
            // The mean of the penalty over the step.
            let days = (step as f64 + 0.5) * STEP;
            channel.expected(penalty, Heard { days, signals: signals as f64 })
        };
        let row = |step: usize| (0..=SIGNALS).map(|signals| at(step, signals)).collect();
        Self {
            penalties: (0..STEPS).map(row).collect(),
            signal: -(-channel.signals() * STEP).exp_m1(),
        }
    }

    /// The cost of one cycle that starts at 0, each day of it counted `less`; `fetch` says whether one
    /// is due, given what waiting costs.
    fn cycle(&self, less: f64, price: f64, fetch: impl Fn(usize, usize, f64) -> bool) -> f64 {
        let mut after = vec![price; SIGNALS + 1];
        for step in (0..STEPS).rev() {
            for signals in 0..=SIGNALS {
                let more = after[(signals + 1).min(SIGNALS)];
                let next = self.signal * more + (1.0 - self.signal) * after[signals];
                let wait = (self.penalties[step][signals] - less) * STEP + next;
                let stop = step > 0 && fetch(step, signals, wait);
                after[signals] = if stop { price } else { wait };
            }
        }
        after[0]
    }

    /// The average cost of penalty and fetches at this price, under any such rule.
    fn average(&self, price: f64, fetch: impl Fn(usize, usize, f64) -> bool) -> f64 {
        let (mut low, mut high) = (0.0, 20.0 + price / STEP);
        for _ in 0..36 {
            let middle = 0.5 * (low + high);
            let costs = self.cycle(middle, price, &fetch) > 0.0;
            if costs { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}

/// The steps after which the index is at the price, by the number of signals.
fn thresholds(price: f64, value: impl Fn(Heard) -> f64) -> Vec<usize> {
    let mut most = STEPS;
    let step = |signals: usize| {
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = usize::midpoint(low, high);
            let heard = Heard { days: (middle as f64 + 0.5) * STEP, signals: signals as f64 };
            if value(heard) < price { low = middle + 1 } else { high = middle }
        }
        // More signals are never worth less.
        most = low;
        low
    };
    (0..=SIGNALS).map(step).collect()
}

#[test]
fn no_rule_does_better_than_the_index() {
    let (mut worst, mut quick_worst) = (0.0_f64, 0.0_f64);
    for (recall, precision) in [(0.2, 0.1), (0.4, 0.6), (0.7, 0.3), (0.9, 0.15), (0.95, 0.9)] {
        let false_signals = recall * (1.0 - precision) / precision;
        let channel = Channel::from_recall(1.0, recall, false_signals).unwrap();
        for penalty in BOTH {
            let chain = Chain::new(channel, penalty);
            for price in [0.05, 0.3, 0.8] {
                let best = chain.average(price, |_, _, wait| wait > price);
                let by = |steps: &[usize]| chain.average(price, |step, n, _| step >= steps[n]);
                let exact = by(&thresholds(price, |heard| channel.value(penalty, heard)));
                let quick = by(&thresholds(price, |heard| channel.quick_value(penalty, heard)));
                worst = worst.max(exact / best - 1.0);
                quick_worst = quick_worst.max(quick / best - 1.0);
            }
        }
    }
    // What is left is the length of a step.
    assert!(worst < 1e-3, "{worst}");
    assert!(quick_worst < 1e-3, "{quick_worst}");
}
