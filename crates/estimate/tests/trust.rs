//! How far signals are trusted after histories whose truth is known.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Belief, Counted, Heard, Penalty, Prior, Siblings, Trust, signal_weight};
use uniform::Uniform;

/// A source that changes once a day.
struct Source {
    recall: f64,
    false_signals: f64,
}

impl Source {
    fn new(recall: f64, precision: f64) -> Self {
        Self { recall, false_signals: recall * (1.0 - precision) / precision }
    }

    /// What is heard until the next fetch, after `wait` days or, in haste, at the first signal, and
    /// whether there was a change.
    fn interval(&self, wait: f64, haste: bool, uniform: &mut Uniform) -> (Heard, bool) {
        let rate = 1.0 + self.false_signals;
        let (mut now, mut signals, mut changed) = (0.0, 0.0, false);
        loop {
            now -= uniform.next().ln() / rate;
            if now > wait {
                return (Heard { days: wait, signals }, changed);
            }
            let change = uniform.next() * rate < 1.0;
            changed |= change;
            if !change || uniform.next() < self.recall {
                signals += 1.0;
                if haste {
                    return (Heard { days: now, signals }, changed);
                }
            }
        }
    }

    /// What is believed after so many fetches, 0.2 to 2 days apart; half of them in haste.
    fn learnt(&self, mut trust: Trust, fetches: u32, uniform: &mut Uniform) -> Trust {
        for at in 0..fetches {
            let wait = 0.2 * 10_f64.powf(uniform.next());
            let (heard, changed) = self.interval(wait, at % 2 == 1, uniform);
            trust = trust.fetched(heard, changed);
        }
        trust
    }
}

#[test]
fn precision_and_recall_are_recovered() {
    let mut uniform = Uniform::new(7);
    for recall in [0.2, 0.5, 0.8, 0.95, 1.0] {
        for precision in [0.01, 0.05, 0.2, 0.5, 0.9, 1.0] {
            let trust = Source::new(recall, precision).learnt(Trust::SCEPTICAL, 2000, &mut uniform);
            let what = format!("recall {recall}, precision {precision}");
            let off = (trust.precision() / precision).ln().abs();
            assert!(off < 1.6_f64.ln(), "{what}: precision {}", trust.precision());
            // With 20 signals a change or more, what they tell and what they miss look nearly alike.
            let most = if precision < 0.1 { 0.35 } else { 0.1 };
            assert!((trust.recall() - recall).abs() < most, "{what}: recall {}", trust.recall());
            let rate = trust.channel().changes();
            assert!((rate - 1.0).abs() < 0.2, "{what}: {rate} changes a day");
        }
    }
}

#[test]
fn a_few_fetches_are_enough_to_know_good_from_bad() {
    let mut uniform = Uniform::new(21);
    for _ in 0..20 {
        let good = Source::new(0.9, 0.95).learnt(Trust::SCEPTICAL, 60, &mut uniform);
        let bad = Source::new(0.9, 0.03).learnt(Trust::SCEPTICAL, 60, &mut uniform);
        assert!(good.precision() > 0.65, "{}", good.precision());
        assert!(bad.precision() < 0.1, "{}", bad.precision());
    }
}

#[test]
fn nothing_is_trusted_before_it_is_known() {
    let start = Trust::SCEPTICAL;
    assert!((start.precision() - 0.23).abs() < 0.01, "{}", start.precision());
    let one = start.fetched(Heard { days: 0.1, signals: 1.0 }, true);
    assert!(one.precision() > start.precision() && one.precision() < 0.9, "{}", one.precision());
    let wrong = start.fetched(Heard { days: 0.1, signals: 1.0 }, false);
    assert!(wrong.precision() < start.precision());
    for heard in [
        Heard { days: f64::NAN, signals: 1.0 },
        Heard { days: 0.0, signals: 1.0 },
        Heard { days: 1.0, signals: -1.0 },
        Heard { days: 1.0, signals: f64::INFINITY },
    ] {
        assert_eq!(start.fetched(heard, true), start);
    }
}

#[test]
fn without_signals_it_is_the_belief_about_the_changes() {
    let prior = Prior::new(1.5, 4.0).unwrap();
    let mut trust = Trust::SCEPTICAL.with_changes(prior);
    let mut belief = prior.belief();
    for (days, changed) in [(0.4, false), (3.0, true), (1.0, true), (2.0, false)] {
        trust = trust.fetched(Heard { days, signals: 0.0 }, changed);
        belief = if changed { belief.changed(days) } else { belief.unchanged(days) };
    }
    let close = |a: Belief, b: Belief| {
        (a.shape() / b.shape() - 1.0).abs() < 1e-6 && (a.days() / b.days() - 1.0).abs() < 1e-6
    };
    assert!(close(trust.missed(), belief), "{:?}, {belief:?}", trust.missed());
    // Signals that come less often than thought may be truer.
    let start = Trust::SCEPTICAL.precision();
    assert!(trust.precision() >= start && trust.precision() < start + 0.1);
    // The signals that never came are believed to be rare, and change the value ever less.
    for _ in 0..3000 {
        trust = trust.fetched(Heard { days: 1.0, signals: 0.0 }, false);
        belief = belief.unchanged(1.0);
    }
    for (counted, penalty) in
        [(Counted::Harmonic, Penalty::Harmonic), (Counted::Freshness, Penalty::Freshness)]
    {
        let value = trust.value(counted, Heard { days: 100.0, signals: 0.0 });
        let expect = penalty.value(belief, 100.0);
        assert!((value / expect - 1.0).abs() < 0.02, "{counted:?}: {value}, {expect}");
    }
}

#[test]
fn signals_all_the_time_and_changes_all_the_time() {
    let mut all = Trust::SCEPTICAL;
    let mut flood = Trust::SCEPTICAL;
    let mut dead = Trust::SCEPTICAL;
    for _ in 0..5000 {
        all = all.fetched(Heard { days: 1.0, signals: 1.0 }, true);
        flood = flood.fetched(Heard { days: 1.0, signals: 1e6 }, false);
        dead = dead.fetched(Heard { days: 1.0, signals: 0.0 }, true);
    }
    for (what, trust) in [("all", all), ("flood", flood), ("dead", dead)] {
        assert!(trust.precision() > 0.0 && trust.precision() < 1.0, "{what}");
        assert!(trust.precision_deviation() >= 0.0, "{what}");
        assert!(trust.channel().changes().is_finite(), "{what}: {:?}", trust.channel());
        for penalty in [Counted::Harmonic, Counted::Freshness] {
            let value = trust.value(penalty, Heard { days: 1.0, signals: 1.0 });
            assert!(value.is_finite() && value >= 0.0, "{what}: {value}");
        }
    }
    assert!(flood.precision() < 0.003, "{}", flood.precision());
    assert!(dead.missed().mean() > 1.0);
}

#[test]
fn drift_is_followed_and_without_fetches_forgotten() {
    let mut uniform = Uniform::new(3);
    let mut trust = Trust::SCEPTICAL;
    let (good, bad) = (Source::new(0.9, 0.9), Source::new(0.9, 0.05));
    for (source, fetches) in [(&good, 400), (&bad, 150), (&good, 400)] {
        for _ in 0..fetches {
            let (heard, changed) = source.interval(0.5 + uniform.next(), false, &mut uniform);
            trust = trust.forget(&Trust::SCEPTICAL, heard.days, 30.0).fetched(heard, changed);
        }
        let precision = trust.precision();
        let is_good = source.false_signals < 1.0;
        assert!(if is_good { precision > 0.7 } else { precision < 0.15 }, "{precision}");
    }
    let ages = trust.forget(&Trust::SCEPTICAL, 1e6, 30.0);
    assert!((ages.precision() - Trust::SCEPTICAL.precision()).abs() < 1e-6);
    assert_eq!(trust.forget(&Trust::SCEPTICAL, 10.0, f64::INFINITY), trust);
    assert_eq!(trust.forget(&Trust::SCEPTICAL, f64::NAN, 1.0), trust);
}

#[test]
fn late_signals_of_what_was_fetched_already_are_not_held_against_them() {
    // Every change is signalled and no signal is false, but they come 0.2 days late on average, and a
    // fetch between the change and its signal makes the signal look wrong.
    let mut uniform = Uniform::new(11);
    let (mut blind, mut discounted) = (Trust::SCEPTICAL, Trust::SCEPTICAL);
    let mut late: Vec<f64> = Vec::new();
    let mut now = 0.0;
    for _ in 0..2000 {
        let wait = 0.3 + 0.7 * uniform.next();
        let mut changed = false;
        let mut at = now - uniform.next().ln();
        while at < now + wait {
            changed = true;
            late.push(at - 0.2 * uniform.next().ln());
            at -= uniform.next().ln();
        }
        let came: Vec<f64> = late.iter().copied().filter(|&at| at < now + wait).collect();
        late.retain(|&at| at >= now + wait);
        let weighed: f64 = came.iter().map(|at| signal_weight(at - now, 0.2)).sum();
        blind = blind.fetched(Heard { days: wait, signals: came.len() as f64 }, changed);
        discounted = discounted.fetched(Heard { days: wait, signals: weighed }, changed);
        now += wait;
    }
    assert!(blind.precision() < 0.8, "{}", blind.precision());
    assert!(discounted.precision() > blind.precision() + 0.1, "{}", discounted.precision());
}

#[test]
fn a_new_source_is_believed_to_be_like_its_siblings() {
    let mut uniform = Uniform::new(5);
    let (mut liars, mut honest, mut strangers) =
        (Siblings::default(), Siblings::default(), Siblings::default());
    for _ in 0..40 {
        liars.add(&Source::new(0.8, 0.05).learnt(Trust::SCEPTICAL, 40, &mut uniform));
        honest.add(&Source::new(0.8, 0.97).learnt(Trust::SCEPTICAL, 40, &mut uniform));
        strangers.add(&Trust::SCEPTICAL);
    }
    let prior = |siblings: &Siblings| siblings.finish(&Trust::SCEPTICAL, 5.0);
    assert!(prior(&liars).precision() < 0.15, "{}", prior(&liars).precision());
    assert!(prior(&honest).precision() > 0.75, "{}", prior(&honest).precision());
    let start = Trust::SCEPTICAL.precision();
    assert!((prior(&strangers).precision() - start).abs() < 0.05);
    assert!((prior(&Siblings::default()).precision() - start).abs() < 1e-6);
    let mut both = liars;
    both.merge(&honest);
    assert_eq!(both.sources(), 80);
    let mixed = prior(&both);
    assert!(mixed.precision() > 0.3 && mixed.precision() < 0.6, "{}", mixed.precision());
    // A mixture, not a mean: a few fetches tell which of the two it is.
    let told = Source::new(0.8, 0.97).learnt(mixed, 12, &mut uniform);
    assert!(told.precision() > 0.8, "{}", told.precision());
}
