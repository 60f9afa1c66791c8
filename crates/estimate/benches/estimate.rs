//! Nanoseconds for one update, value and due time, and in units of one `exp` in the same run.
//!
//! `cargo bench -p freshet-estimate --bench estimate`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use freshet_estimate::{
    Belief, Capture, Channel, Counted, Fit, Heard, Life, Penalty, Prior, Trust, Urgency,
};

const SOURCES: usize = 100_000;
const TURNS: usize = 15;
const SIGNAL: Heard = Heard { days: 1.0, signals: 1.0 };

/// The best time of one call over all sources, in nanoseconds.
fn nanoseconds<T>(cases: &[(Belief, f64)], work: impl Fn(Belief, f64) -> T) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..TURNS {
        let start = Instant::now();
        for &(belief, x) in cases {
            black_box(work(black_box(belief), black_box(x)));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / cases.len() as f64
}

/// Beliefs from nearly nothing to certainty, and from 1/1000 to 1000 expected changes.
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
    report("unchanged", nanoseconds(&cases, Belief::unchanged));
    report("changed", nanoseconds(&cases, Belief::changed));
    let forget = |belief: Belief, days: f64| belief.forget(Prior::BROAD, days, 180.0);
    report("forget", nanoseconds(&cases, forget));
    let fit = |belief: Belief, _: f64| {
        let mut fit = Fit::new(Prior::BROAD);
        fit.add(belief);
        fit
    };
    report("fit, one source", nanoseconds(&cases, fit));
    for penalty in [Penalty::Harmonic, Penalty::Freshness, Penalty::Age] {
        let name = format!("{penalty:?}").to_lowercase();
        let value = nanoseconds(&cases, |belief, days| penalty.value(belief, days));
        report(&format!("{name} value"), value);
        let priced: Vec<(Belief, f64)> =
            cases.iter().map(|&(belief, days)| (belief, penalty.value(belief, days))).collect();
        let due = nanoseconds(&priced, |belief, price| penalty.due(belief, price));
        report(&format!("{name} due"), due);
    }
    for life in [Life::Append, Life::OVERWRITE, Life::Changes(5), Life::Changes(1000)] {
        for urgency in [Urgency::Uniform, Urgency::Decay(0.25)] {
            let (capture, cases) = (Capture { life, urgency }, &cases[..SOURCES / 10]);
            let value = nanoseconds(cases, |belief, days| capture.value(belief, days));
            report(&format!("{life} {urgency} value"), value);
            let price = |&(belief, days): &(Belief, f64)| (belief, capture.value(belief, days));
            let priced: Vec<(Belief, f64)> = cases.iter().map(price).collect();
            let due = nanoseconds(&priced, |belief, price| capture.due(belief, price));
            report(&format!("{life} {urgency} due"), due);
        }
    }
    for penalty in [Counted::Harmonic, Counted::Freshness] {
        let name = format!("{penalty:?}").to_lowercase();
        for signals in [0.0, 1.0, 6.0] {
            let state = |belief: Belief, days: f64| {
                // Recalls and precisions of all kinds, from the digits of the shape.
                let (recall, precision) = (belief.shape().fract(), belief.days().fract().max(0.01));
                let changes = belief.mean();
                let wrong = recall * changes * (1.0 - precision) / precision;
                let channel = Channel::from_recall(changes, recall, wrong).expect("a channel");
                (channel, Heard { days: days.min(20.0 / changes), signals })
            };
            let quick = nanoseconds(&cases[..SOURCES / 10], |belief, days| {
                let (channel, heard) = state(belief, days);
                channel.quick_value(penalty, heard)
            });
            report(&format!("{name} {signals} signals quick"), quick);
            let exact = nanoseconds(&cases[..200], |belief, days| {
                let (channel, heard) = state(belief, days);
                channel.value(penalty, heard)
            });
            report(&format!("{name} {signals} signals exact"), exact);
        }
        let seen = |changed: bool| move |trust: Trust| trust.fetched(SIGNAL, changed);
        let trust = seen(true)(seen(false)(seen(true)(Trust::SCEPTICAL)));
        let value = nanoseconds(&cases[..1000], |_, days| {
            black_box(trust).value(penalty, Heard { days: days.min(20.0), signals: 1.0 })
        });
        report(&format!("{name} value of a trust"), value);
        let price = trust.value(penalty, Heard { days: 3.0, signals: 1.0 });
        let due = nanoseconds(&cases[..200], |_, _| black_box(trust).due(penalty, 1.0, price));
        report(&format!("{name} due of a trust"), due);
    }
    let fetched = nanoseconds(&cases[..1000], |_, days| {
        black_box(Trust::SCEPTICAL).fetched(Heard { days, signals: 1.0 }, true)
    });
    report("trust, a change", fetched);
    report("95 % interval", nanoseconds(&cases[..1000], |belief, _| belief.credible(0.95)));
}
