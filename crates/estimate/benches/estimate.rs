//! Nanoseconds per update, value and interval, also in units of one `exp` in the same run.
//!
//! `cargo bench -p freshet-estimate --bench estimate`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use freshet_estimate::{
    Belief, CaptureObjective, ChangeCountPenalty, Penalty, Prior, PriorFit, SignalBelief,
    SignalChannel, SignalsSinceFetch, UpdateLifetime, Urgency,
};

const SOURCES: usize = 100_000;
const REPETITIONS: usize = 15;
const SIGNAL: SignalsSinceFetch = SignalsSinceFetch { days: 1.0, count: 1.0 };

/// Best time of one call over all sources, in nanoseconds.
fn nanoseconds<T>(cases: &[(Belief, f64)], operation: impl Fn(Belief, f64) -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        for &(belief, x) in cases {
            black_box(operation(black_box(belief), black_box(x)));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / cases.len() as f64
}

/// Beliefs from nearly uninformed to certain, with 1/1000 to 1000 expected changes.
fn cases() -> Vec<(Belief, f64)> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..SOURCES)
        .map(|_| {
            let (shape, days) = (10f64.powf(5.0 * uniform() - 1.0), 10f64.powf(3.0 * uniform()));
            let belief = Belief::new(shape, days).expect("a belief");
            (belief, 10f64.powf(6.0 * uniform() - 3.0) / belief.mean())
        })
        .collect()
}

fn main() {
    let cases = cases();
    let exp = nanoseconds(&cases, |_, x| (-x).exp());
    let report = |name: &str, time: f64| println!("{name:>27} {time:>8.1} {:>8.1}", time / exp);
    println!("{:>27} {:>8} {:>8}", "", "ns", "exps");
    report("exp", exp);
    report("unchanged", nanoseconds(&cases, Belief::observe_no_change));
    report("changed", nanoseconds(&cases, Belief::observe_change));
    let forget = |belief: Belief, days: f64| belief.decay_towards(Prior::BROAD, days, 180.0);
    report("forget", nanoseconds(&cases, forget));
    let fit = |belief: Belief, _: f64| {
        let mut fit = PriorFit::new(Prior::BROAD);
        fit.add(belief);
        fit
    };
    report("fit, one source", nanoseconds(&cases, fit));
    for penalty in [Penalty::Harmonic, Penalty::Freshness, Penalty::Age] {
        let name = format!("{penalty:?}").to_lowercase();
        let value = nanoseconds(&cases, |belief, days| penalty.fetch_value(belief, days));
        report(&format!("{name} value"), value);
        let priced: Vec<(Belief, f64)> = cases
            .iter()
            .map(|&(belief, days)| (belief, penalty.fetch_value(belief, days)))
            .collect();
        let due = nanoseconds(&priced, |belief, price| penalty.interval_at_price(belief, price));
        report(&format!("{name} interval"), due);
    }
    for life in [
        UpdateLifetime::Append,
        UpdateLifetime::OVERWRITE,
        UpdateLifetime::Changes(5),
        UpdateLifetime::Changes(1000),
    ] {
        for urgency in [Urgency::Uniform, Urgency::Decay(0.25)] {
            let (capture, cases) = (CaptureObjective { life, urgency }, &cases[..SOURCES / 10]);
            let value = nanoseconds(cases, |belief, days| capture.fetch_value(belief, days));
            report(&format!("{life} {urgency} value"), value);
            let price =
                |&(belief, days): &(Belief, f64)| (belief, capture.fetch_value(belief, days));
            let priced: Vec<(Belief, f64)> = cases.iter().map(price).collect();
            let due =
                nanoseconds(&priced, |belief, price| capture.interval_at_price(belief, price));
            report(&format!("{life} {urgency} interval"), due);
        }
    }
    for penalty in [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness] {
        let name = format!("{penalty:?}").to_lowercase();
        for signals in [0.0, 1.0, 6.0] {
            let state = |belief: Belief, days: f64| {
                // Varied recalls and precisions, from the digits of the shape.
                let (recall, precision) = (belief.shape().fract(), belief.days().fract().max(0.01));
                let changes = belief.mean();
                let false_signals = recall * changes * (1.0 - precision) / precision;
                let channel =
                    SignalChannel::from_recall(changes, recall, false_signals).expect("a channel");
                (channel, SignalsSinceFetch { days: days.min(20.0 / changes), count: signals })
            };
            let quick = nanoseconds(&cases[..SOURCES / 10], |belief, days| {
                let (channel, signals) = state(belief, days);
                channel.approximate_fetch_value(penalty, signals)
            });
            report(&format!("{name} {signals} signals approximate"), quick);
            let exact = nanoseconds(&cases[..200], |belief, days| {
                let (channel, signals) = state(belief, days);
                channel.fetch_value(penalty, signals)
            });
            report(&format!("{name} {signals} signals exact"), exact);
        }
        let observe =
            |changed: bool| move |belief: SignalBelief| belief.observe_fetch(SIGNAL, changed);
        let belief = observe(true)(observe(false)(observe(true)(SignalBelief::SCEPTICAL)));
        let value = nanoseconds(&cases[..1000], |_, days| {
            black_box(belief)
                .fetch_value(penalty, SignalsSinceFetch { days: days.min(20.0), count: 1.0 })
        });
        report(&format!("{name} value of a signal belief"), value);
        let price = belief.fetch_value(penalty, SignalsSinceFetch { days: 3.0, count: 1.0 });
        let due = nanoseconds(&cases[..200], |_, _| {
            black_box(belief).interval_at_price(penalty, 1.0, price)
        });
        report(&format!("{name} interval of a signal belief"), due);
    }
    let fetched = nanoseconds(&cases[..1000], |_, days| {
        black_box(SignalBelief::SCEPTICAL)
            .observe_fetch(SignalsSinceFetch { days, count: 1.0 }, true)
    });
    report("signal belief, a change", fetched);
    report(
        "95 % interval",
        nanoseconds(&cases[..1000], |belief, _| belief.credible_interval(0.95)),
    );
}
