//! Signal beliefs after histories with known precision and recall.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{
    Belief, ChangeCountPenalty, Penalty, Prior, SignalBelief, SignalPriorFit, SignalsSinceFetch,
    signal_weight,
};
use uniform::Uniform;

/// A source that changes once a day.
struct Source {
    recall: f64,
    false_signal_rate: f64,
}

impl Source {
    fn new(recall: f64, precision: f64) -> Self {
        Self { recall, false_signal_rate: recall * (1.0 - precision) / precision }
    }

    /// Simulates the signals until the next fetch, after `wait` days or, with `at_first_signal`, at
    /// the first signal. Returns them, and whether there was a change.
    fn interval(
        &self,
        wait: f64,
        at_first_signal: bool,
        uniform: &mut Uniform,
    ) -> (SignalsSinceFetch, bool) {
        let rate = 1.0 + self.false_signal_rate;
        let (mut now, mut signals, mut changed) = (0.0, 0.0, false);
        loop {
            now -= uniform.next().ln() / rate;
            if now > wait {
                return (SignalsSinceFetch { days: wait, count: signals }, changed);
            }
            let change = uniform.next() * rate < 1.0;
            changed |= change;
            if !change || uniform.next() < self.recall {
                signals += 1.0;
                if at_first_signal {
                    return (SignalsSinceFetch { days: now, count: signals }, changed);
                }
            }
        }
    }

    /// Belief after a number of fetches, 0.2 to 2 days apart; every second one at the first signal.
    fn belief_after(
        &self,
        mut belief: SignalBelief,
        fetches: u32,
        uniform: &mut Uniform,
    ) -> SignalBelief {
        for at in 0..fetches {
            let wait = 0.2 * 10_f64.powf(uniform.next());
            let (signals, changed) = self.interval(wait, at % 2 == 1, uniform);
            belief = belief.observe_fetch(signals, changed);
        }
        belief
    }
}

#[test]
fn precision_and_recall_are_recovered() {
    let mut uniform = Uniform::new(7);
    for recall in [0.2, 0.5, 0.8, 0.95, 1.0] {
        for precision in [0.01, 0.05, 0.2, 0.5, 0.9, 1.0] {
            let belief = Source::new(recall, precision).belief_after(
                SignalBelief::SCEPTICAL,
                2000,
                &mut uniform,
            );
            let label = format!("recall {recall}, precision {precision}");
            let off = (belief.precision() / precision).ln().abs();
            assert!(off < 1.6_f64.ln(), "{label}: precision {}", belief.precision());
            // With 20 or more signals per change, signalled and unsignalled changes look nearly
            // alike.
            let max = if precision < 0.1 { 0.35 } else { 0.1 };
            assert!((belief.recall() - recall).abs() < max, "{label}: recall {}", belief.recall());
            let rate = belief.channel().change_rate();
            assert!((rate - 1.0).abs() < 0.2, "{label}: {rate} changes a day");
        }
    }
}

#[test]
fn sixty_fetches_separate_good_signals_from_bad() {
    let mut uniform = Uniform::new(21);
    for _ in 0..20 {
        let good = Source::new(0.9, 0.95).belief_after(SignalBelief::SCEPTICAL, 60, &mut uniform);
        let bad = Source::new(0.9, 0.03).belief_after(SignalBelief::SCEPTICAL, 60, &mut uniform);
        assert!(good.precision() > 0.65, "{}", good.precision());
        assert!(bad.precision() < 0.1, "{}", bad.precision());
    }
}

#[test]
fn an_uninformed_belief_is_sceptical() {
    let start = SignalBelief::SCEPTICAL;
    assert!((start.precision() - 0.23).abs() < 0.01, "{}", start.precision());
    let one = start.observe_fetch(SignalsSinceFetch { days: 0.1, count: 1.0 }, true);
    assert!(one.precision() > start.precision() && one.precision() < 0.9, "{}", one.precision());
    let false_signals = start.observe_fetch(SignalsSinceFetch { days: 0.1, count: 1.0 }, false);
    assert!(false_signals.precision() < start.precision());
    for signals in [
        SignalsSinceFetch { days: f64::NAN, count: 1.0 },
        SignalsSinceFetch { days: 0.0, count: 1.0 },
        SignalsSinceFetch { days: 1.0, count: -1.0 },
        SignalsSinceFetch { days: 1.0, count: f64::INFINITY },
    ] {
        assert_eq!(start.observe_fetch(signals, true), start);
    }
}

#[test]
fn without_signals_it_equals_the_plain_belief() {
    let prior = Prior::new(1.5, 4.0).unwrap();
    let mut signal_belief = SignalBelief::SCEPTICAL.with_change_prior(prior);
    let mut belief = prior.belief();
    for (days, changed) in [(0.4, false), (3.0, true), (1.0, true), (2.0, false)] {
        signal_belief =
            signal_belief.observe_fetch(SignalsSinceFetch { days, count: 0.0 }, changed);
        belief = if changed { belief.observe_change(days) } else { belief.observe_no_change(days) };
    }
    let close = |a: Belief, b: Belief| {
        (a.shape() / b.shape() - 1.0).abs() < 1e-6 && (a.days() / b.days() - 1.0).abs() < 1e-6
    };
    let unsignalled = signal_belief.unsignalled_belief();
    assert!(close(unsignalled, belief), "{unsignalled:?}, {belief:?}");
    // A lower signal rate than expected allows a higher precision.
    let start = SignalBelief::SCEPTICAL.precision();
    assert!(signal_belief.precision() >= start && signal_belief.precision() < start + 0.1);
    // Signals that never arrive are believed to be rare, and change the value ever less.
    for _ in 0..3000 {
        signal_belief =
            signal_belief.observe_fetch(SignalsSinceFetch { days: 1.0, count: 0.0 }, false);
        belief = belief.observe_no_change(1.0);
    }
    for (counted, penalty) in [
        (ChangeCountPenalty::Harmonic, Penalty::Harmonic),
        (ChangeCountPenalty::Freshness, Penalty::Freshness),
    ] {
        let value =
            signal_belief.fetch_value(counted, SignalsSinceFetch { days: 100.0, count: 0.0 });
        let expect = penalty.fetch_value(belief, 100.0);
        assert!((value / expect - 1.0).abs() < 0.02, "{counted:?}: {value}, {expect}");
    }
}

#[test]
fn extreme_signal_rates_give_valid_beliefs() {
    let mut all = SignalBelief::SCEPTICAL;
    let mut flood = SignalBelief::SCEPTICAL;
    let mut dead = SignalBelief::SCEPTICAL;
    for _ in 0..5000 {
        all = all.observe_fetch(SignalsSinceFetch { days: 1.0, count: 1.0 }, true);
        flood = flood.observe_fetch(SignalsSinceFetch { days: 1.0, count: 1e6 }, false);
        dead = dead.observe_fetch(SignalsSinceFetch { days: 1.0, count: 0.0 }, true);
    }
    for (label, belief) in [("all", all), ("flood", flood), ("dead", dead)] {
        assert!(belief.precision() > 0.0 && belief.precision() < 1.0, "{label}");
        assert!(belief.precision_std_dev() >= 0.0, "{label}");
        assert!(belief.channel().change_rate().is_finite(), "{label}: {:?}", belief.channel());
        for penalty in [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness] {
            let value = belief.fetch_value(penalty, SignalsSinceFetch { days: 1.0, count: 1.0 });
            assert!(value.is_finite() && value >= 0.0, "{label}: {value}");
        }
    }
    assert!(flood.precision() < 0.003, "{}", flood.precision());
    assert!(dead.unsignalled_belief().mean() > 1.0);
}

#[test]
fn precision_drift_is_tracked_and_evidence_decays() {
    let mut uniform = Uniform::new(3);
    let mut belief = SignalBelief::SCEPTICAL;
    let (good, bad) = (Source::new(0.9, 0.9), Source::new(0.9, 0.05));
    for (source, fetches) in [(&good, 400), (&bad, 150), (&good, 400)] {
        for _ in 0..fetches {
            let (signals, changed) = source.interval(0.5 + uniform.next(), false, &mut uniform);
            belief = belief
                .decay_towards(&SignalBelief::SCEPTICAL, signals.days, 30.0)
                .observe_fetch(signals, changed);
        }
        let precision = belief.precision();
        let is_good = source.false_signal_rate < 1.0;
        assert!(if is_good { precision > 0.7 } else { precision < 0.15 }, "{precision}");
    }
    let ages = belief.decay_towards(&SignalBelief::SCEPTICAL, 1e6, 30.0);
    assert!((ages.precision() - SignalBelief::SCEPTICAL.precision()).abs() < 1e-6);
    assert_eq!(belief.decay_towards(&SignalBelief::SCEPTICAL, 10.0, f64::INFINITY), belief);
    assert_eq!(belief.decay_towards(&SignalBelief::SCEPTICAL, f64::NAN, 1.0), belief);
}

#[test]
fn discounting_late_signals_recovers_their_precision() {
    // Every change is signalled and no signal is false, but signals are 0.2 days late on average. A
    // fetch between a change and its signal makes the signal look false.
    let mut uniform = Uniform::new(11);
    let (mut undiscounted, mut discounted) = (SignalBelief::SCEPTICAL, SignalBelief::SCEPTICAL);
    let mut pending_signals: Vec<f64> = Vec::new();
    let mut now = 0.0;
    for _ in 0..2000 {
        let wait = 0.3 + 0.7 * uniform.next();
        let mut changed = false;
        let mut at = now - uniform.next().ln();
        while at < now + wait {
            changed = true;
            pending_signals.push(at - 0.2 * uniform.next().ln());
            at -= uniform.next().ln();
        }
        let received: Vec<f64> =
            pending_signals.iter().copied().filter(|&at| at < now + wait).collect();
        pending_signals.retain(|&at| at >= now + wait);
        let weight: f64 = received.iter().map(|at| signal_weight(at - now, 0.2)).sum();
        undiscounted = undiscounted
            .observe_fetch(SignalsSinceFetch { days: wait, count: received.len() as f64 }, changed);
        discounted =
            discounted.observe_fetch(SignalsSinceFetch { days: wait, count: weight }, changed);
        now += wait;
    }
    assert!(undiscounted.precision() < 0.8, "{}", undiscounted.precision());
    assert!(discounted.precision() > undiscounted.precision() + 0.1, "{}", discounted.precision());
}

#[test]
fn the_prior_of_a_new_source_follows_its_siblings() {
    let mut uniform = Uniform::new(5);
    let (mut unreliable, mut reliable, mut uninformed) =
        (SignalPriorFit::default(), SignalPriorFit::default(), SignalPriorFit::default());
    for _ in 0..40 {
        unreliable.add(&Source::new(0.8, 0.05).belief_after(
            SignalBelief::SCEPTICAL,
            40,
            &mut uniform,
        ));
        reliable.add(&Source::new(0.8, 0.97).belief_after(
            SignalBelief::SCEPTICAL,
            40,
            &mut uniform,
        ));
        uninformed.add(&SignalBelief::SCEPTICAL);
    }
    let prior = |siblings: &SignalPriorFit| siblings.prior(&SignalBelief::SCEPTICAL, 5.0);
    assert!(prior(&unreliable).precision() < 0.15, "{}", prior(&unreliable).precision());
    assert!(prior(&reliable).precision() > 0.75, "{}", prior(&reliable).precision());
    let start = SignalBelief::SCEPTICAL.precision();
    assert!((prior(&uninformed).precision() - start).abs() < 0.05);
    assert!((prior(&SignalPriorFit::default()).precision() - start).abs() < 1e-6);
    let mut both = unreliable;
    both.merge(&reliable);
    assert_eq!(both.sources(), 80);
    let mixed = prior(&both);
    assert!(mixed.precision() > 0.3 && mixed.precision() < 0.6, "{}", mixed.precision());
    // The prior is a mixture, not a mean: a few fetches tell the two kinds apart.
    let signalled = Source::new(0.8, 0.97).belief_after(mixed, 12, &mut uniform);
    assert!(signalled.precision() > 0.8, "{}", signalled.precision());
}
