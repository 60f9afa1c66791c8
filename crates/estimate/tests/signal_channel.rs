//! Value of a fetch with signals pending: against simulated sources, and as a policy against the
//! optimal one.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{ChangeCountPenalty, SignalChannel, SignalsSinceFetch};
use uniform::Uniform;

const PENALTIES: [ChangeCountPenalty; 2] =
    [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness];

fn harmonic_number(n: u32) -> f64 {
    (1..=n).map(|i| 1.0 / f64::from(i)).sum()
}

fn penalty_of(penalty: ChangeCountPenalty, pending: u32) -> f64 {
    match penalty {
        ChangeCountPenalty::Harmonic => harmonic_number(pending),
        ChangeCountPenalty::Freshness => f64::from(pending > 0),
    }
}

/// Expected penalty as the sum over unsignalled and signalled changes.
fn expected(missed: f64, signals: u32, precision: f64, penalty: ChangeCountPenalty) -> f64 {
    let mut sum = 0.0;
    let mut poisson = (-missed).exp();
    for unsignalled in 0..60 {
        let mut binomial = (1.0 - precision).powi(signals as i32);
        for signalled in 0..=signals {
            sum += poisson * binomial * penalty_of(penalty, unsignalled + signalled);
            binomial *= f64::from(signals - signalled) / f64::from(signalled + 1) * precision
                / (1.0 - precision);
        }
        poisson *= missed / f64::from(unsignalled + 1);
    }
    sum
}

/// Simulates fetch cycles that end when the expected penalty reaches `level`. Returns the mean of
/// `∫(level − penalty of the actual changes) dt` and its standard error.
fn simulated(
    (changes, recall, false_signals): (f64, f64, f64),
    penalty: ChangeCountPenalty,
    level: f64,
    seed: u64,
) -> (f64, f64) {
    let signalled = recall * changes;
    let precision = signalled / (signalled + false_signals);
    let missed = (1.0 - recall) * changes;
    // Times at which the level is reached, by the number of signals.
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
    let cycles = 40_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..cycles {
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
    let mean = sum / f64::from(cycles);
    (mean, ((squares / f64::from(cycles) - mean * mean) / f64::from(cycles)).sqrt())
}

#[test]
fn simulated_cycles_gain_the_index() {
    let mut seed = 100;
    for (changes, recall, false_signals) in
        [(1.0, 0.5, 0.5), (0.3, 0.9, 0.1), (2.0, 0.2, 0.1), (1.0, 0.7, 6.0), (0.5, 0.95, 0.3)]
    {
        let channel = SignalChannel::from_recall(changes, recall, false_signals).unwrap();
        for (days, signals) in [(0.8, 0), (2.5, 0), (0.1, 1), (1.0, 2), (3.0, 4)] {
            for penalty in PENALTIES {
                seed += 1;
                let state = SignalsSinceFetch { days, count: f64::from(signals) };
                let value = channel.fetch_value(penalty, state);
                let level = expected(
                    channel.unsignalled_rate() * days,
                    signals,
                    channel.precision(),
                    penalty,
                );
                let source = (changes, recall, false_signals);
                let (mean, error) = simulated(source, penalty, level, seed);
                let off = (mean - value) / error;
                assert!(
                    off.abs() < 4.0,
                    "{penalty:?}, {source:?}, {state:?}: {mean}, expected {value}, {off} errors off"
                );
            }
        }
    }
}

/// Discrete-time decision process with single signals: fetch or wait in each state.
struct Chain {
    penalties: Vec<Vec<f64>>,
    signal: f64,
}

const STEP: f64 = 0.02;
const STEPS: usize = 500;
const SIGNALS: usize = 40;

impl Chain {
    fn new(channel: SignalChannel, penalty: ChangeCountPenalty) -> Self {
        let at = |step: usize, signals: usize| {
            // Mean penalty over the step.
            let days = (step as f64 + 0.5) * STEP;
            channel.expected_penalty(penalty, SignalsSinceFetch { days, count: signals as f64 })
        };
        let row = |step: usize| (0..=SIGNALS).map(|signals| at(step, signals)).collect();
        Self {
            penalties: (0..STEPS).map(row).collect(),
            signal: -(-channel.signal_rate() * STEP).exp_m1(),
        }
    }

    /// Cost of one cycle that starts at 0, reduced by `less` per day; `fetch` decides whether to
    /// fetch, given the cost of waiting.
    fn cycle(
        &self,
        daily_reduction: f64,
        price: f64,
        fetch: impl Fn(usize, usize, f64) -> bool,
    ) -> f64 {
        let mut after = vec![price; SIGNALS + 1];
        for step in (0..STEPS).rev() {
            for signals in 0..=SIGNALS {
                let more = after[(signals + 1).min(SIGNALS)];
                let next = self.signal * more + (1.0 - self.signal) * after[signals];
                let wait = (self.penalties[step][signals] - daily_reduction) * STEP + next;
                let stop = step > 0 && fetch(step, signals, wait);
                after[signals] = if stop { price } else { wait };
            }
        }
        after[0]
    }

    /// Average cost of penalty and fetches at this price, under the given rule.
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

/// Steps after which the index reaches the price, by the number of signals.
fn thresholds(price: f64, value: impl Fn(SignalsSinceFetch) -> f64) -> Vec<usize> {
    let mut max = STEPS;
    let step = |signals: usize| {
        let (mut low, mut high) = (0, max);
        while low < high {
            let middle = usize::midpoint(low, high);
            let signals =
                SignalsSinceFetch { days: (middle as f64 + 0.5) * STEP, count: signals as f64 };
            if value(signals) < price { low = middle + 1 } else { high = middle }
        }
        // A further signal never lowers the value.
        max = low;
        low
    };
    (0..=SIGNALS).map(step).collect()
}

#[test]
fn the_index_is_as_good_as_the_optimal_policy() {
    let (mut worst, mut quick_worst) = (0.0_f64, 0.0_f64);
    for (recall, precision) in [(0.2, 0.1), (0.4, 0.6), (0.7, 0.3), (0.9, 0.15), (0.95, 0.9)] {
        let false_signals = recall * (1.0 - precision) / precision;
        let channel = SignalChannel::from_recall(1.0, recall, false_signals).unwrap();
        for penalty in PENALTIES {
            let chain = Chain::new(channel, penalty);
            for price in [0.05, 0.3, 0.8] {
                let best = chain.average(price, |_, _, wait| wait > price);
                let policy_cost =
                    |steps: &[usize]| chain.average(price, |step, n, _| step >= steps[n]);
                let exact = policy_cost(&thresholds(price, |signals| {
                    channel.fetch_value(penalty, signals)
                }));
                let quick = policy_cost(&thresholds(price, |signals| {
                    channel.approximate_fetch_value(penalty, signals)
                }));
                worst = worst.max(exact / best - 1.0);
                quick_worst = quick_worst.max(quick / best - 1.0);
            }
        }
    }
    // The remaining difference is the discretisation.
    assert!(worst < 1e-3, "{worst}");
    assert!(quick_worst < 1e-3, "{quick_worst}");
}
