use proptest::prelude::*;
use statrs::function::gamma::gamma_lr;

use super::*;
use crate::belief::Belief;

const PENALTIES: [ChangeCountPenalty; 2] =
    [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness];

#[track_caller]
fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
    let close = got == expect || (got / expect - 1.0).abs() <= tolerance;
    assert!(close, "{label}: {got:e}, expected {expect:e}, off by {:e}", got / expect - 1.0);
}

fn signals_since_fetch(days: f64, signals: f64) -> SignalsSinceFetch {
    SignalsSinceFetch { days, count: signals }
}

/// Channel with changes at rate 1, and a precision instead of a rate of false signals.
fn channel(recall: f64, precision: f64) -> SignalChannel {
    SignalChannel::from_recall(1.0, recall, recall * (1.0 - precision) / precision).unwrap()
}

/// States from very short to long times, with and without signals.
fn states() -> impl Iterator<Item = SignalsSinceFetch> {
    let days = [0.0, 1e-6, 0.01, 0.2, 0.7, 2.0, 5.0, 12.0, 40.0];
    let signals = [0.0, 1.0, 2.0, 5.0, 13.0];
    days.into_iter().flat_map(move |days| signals.map(|signals| signals_since_fetch(days, signals)))
}

/// `F(ι) − e^(−αι)ψ(ι)` (Busa-Fekete et al. 2025), in which both sums are closed.
fn closed(channel: SignalChannel, state: SignalsSinceFetch) -> f64 {
    let (unsignalled, rate, false_signals) =
        (channel.unsignalled_rate(), channel.signal_rate(), channel.false_signal_rate());
    let all = channel.change_rate() + false_signals;
    let signal_days = (rate / false_signals).ln() / unsignalled;
    let time = state.days + signal_days * state.count;
    let (mut fresh, mut cycle, mut i) = (0.0, 0.0, 0.0);
    while time - i * signal_days > 0.0 {
        let rest = time - i * signal_days;
        cycle += gamma_lr(i + 1.0, rate * rest) / rate;
        fresh += (false_signals / all).powf(i) / all * gamma_lr(i + 1.0, all * rest);
        i += 1.0;
    }
    fresh - (-unsignalled * time).exp() * cycle
}

#[test]
fn freshness_has_a_closed_form() {
    for (recall, precision) in [(0.2, 0.1), (0.5, 0.5), (0.8, 0.2), (0.8, 0.9), (0.95, 0.95)] {
        let channel = channel(recall, precision);
        for state in states().filter(|state| state.days >= 0.01) {
            let label = format!("{recall}, {precision}, {state:?}");
            let got = channel.fetch_value(ChangeCountPenalty::Freshness, state);
            check(&label, got, closed(channel, state), 1e-8);
        }
    }
}

#[test]
fn without_signals_it_is_the_polling_value() {
    for false_signals in [0.0, 0.3, 50.0] {
        let silent = SignalChannel::from_recall(0.4, 0.0, false_signals).unwrap();
        let sure = Belief::new(4e11, 1e12).unwrap();
        for days in [1e-6, 0.02, 1.0, 9.0, 300.0] {
            for penalty in PENALTIES {
                let expect = penalty.penalty().fetch_value(sure, days);
                for signals in [0.0, 4.0] {
                    let state = signals_since_fetch(days, signals);
                    let label = format!("{penalty:?}, {false_signals}, {state:?}");
                    check(&label, silent.fetch_value(penalty, state), expect, 1e-9);
                    check(&label, silent.approximate_fetch_value(penalty, state), expect, 1e-7);
                }
            }
        }
    }
}

#[test]
fn perfect_signals_give_the_observed_value() {
    let perfect = SignalChannel::from_recall(0.4, 1.0, 0.0).unwrap();
    for days in [0.0, 0.3, 40.0] {
        for n in [0.0, 1.0, 2.0, 3.0, 10.0, 400.0] {
            let state = signals_since_fetch(days, n);
            check(
                &format!("{state:?}"),
                perfect.fetch_value(ChangeCountPenalty::Harmonic, state),
                n / 0.4,
                1e-10,
            );
            let quick = perfect.approximate_fetch_value(ChangeCountPenalty::Harmonic, state);
            check(&format!("{state:?}"), quick, n / 0.4, 0.01);
            let fresh = if n > 0.0 { 1.0 / 0.4 } else { 0.0 };
            check(
                &format!("{state:?}"),
                perfect.fetch_value(ChangeCountPenalty::Freshness, state),
                fresh,
                1e-12,
            );
            check(
                &format!("{state:?}"),
                perfect.approximate_fetch_value(ChangeCountPenalty::Freshness, state),
                fresh,
                1e-12,
            );
        }
    }
    // No false signals, but unsignalled changes: one signal is enough to be certain of a change.
    let honest = SignalChannel::from_recall(0.4, 0.7, 0.0).unwrap();
    for quick in [false, true] {
        let value =
            if quick { SignalChannel::approximate_fetch_value } else { SignalChannel::fetch_value };
        check(
            "one",
            value(honest, ChangeCountPenalty::Freshness, signals_since_fetch(0.0, 1.0)),
            2.5,
            1e-12,
        );
        let (early, late) = ((-0.4_f64 * 2.0).exp(), (-0.12_f64 * 2.0).exp());
        let expect = (1.0 - early) / 0.4 - late * -(-0.28_f64 * 2.0).exp_m1() / 0.28;
        check(
            "none",
            value(honest, ChangeCountPenalty::Freshness, signals_since_fetch(2.0, 0.0)),
            expect,
            1e-12,
        );
    }
}

#[test]
fn the_approximate_value_is_close() {
    let mut all = [Vec::new(), Vec::new()];
    for recall in [0.01, 0.2, 0.6, 0.9, 0.99, 1.0] {
        for precision in [0.01, 0.1, 0.3, 0.7, 0.97, 1.0] {
            let channel = channel(recall, precision);
            for state in states() {
                for (offs, penalty) in all.iter_mut().zip(PENALTIES) {
                    let exact = channel.fetch_value(penalty, state);
                    let quick = channel.approximate_fetch_value(penalty, state);
                    let off = if exact == quick { 0.0 } else { (quick / exact - 1.0).abs() };
                    let max_error =
                        if penalty == ChangeCountPenalty::Harmonic { 0.08 } else { 0.015 };
                    assert!(off < max_error, "{recall}, {precision}, {state:?}: {quick}, {exact}");
                    offs.push(off);
                }
            }
        }
    }
    for (mut offs, half) in all.into_iter().zip([2e-3, 1e-6]) {
        offs.sort_by(f64::total_cmp);
        assert!(offs[offs.len() / 2] < half, "{}", offs[offs.len() / 2]);
    }
}

#[test]
fn the_asymptote_continues_the_sum() {
    // Counts around the last signal that is summed: the step from sum to asymptote is smooth.
    for (recall, precision) in [(0.5, 0.05), (0.9, 0.01), (0.3, 0.6), (1.0, 1.0), (0.99, 0.3)] {
        let channel = channel(recall, precision);
        for penalty in PENALTIES {
            let at = |n: f64| channel.fetch_value(penalty, signals_since_fetch(0.0, n));
            let (before, last, after) = (at(999.0), at(1000.0), at(1001.0));
            let label = format!("{penalty:?}, {recall}, {precision}");
            check(&label, after - last, last - before, if last > before { 0.01 } else { 1.0 });
            check(&label, after, 2.0 * last - before, 1e-5);
        }
    }
}

#[test]
fn extreme_parameters_give_valid_values() {
    let rates = [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300];
    for unsignalled in rates {
        for signals in rates {
            for precision in [0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0] {
                let channel = SignalChannel::new(unsignalled, signals, precision).unwrap();
                for days in [0.0, 1e-300, 1.0, 1e300, f64::INFINITY, f64::NAN, -1.0] {
                    for n in [0.0, 0.3, 1.0, 1e9, f64::INFINITY, f64::NAN] {
                        for penalty in PENALTIES {
                            let value = channel
                                .approximate_fetch_value(penalty, signals_since_fetch(days, n));
                            let label = format!("{penalty:?} {channel:?} {days} {n}: {value}");
                            assert!(value >= 0.0, "{label}");
                        }
                    }
                }
            }
        }
    }
    for unsignalled in [0.0, 1e-9, 1e9] {
        for (signals, precision) in [(0.0, 0.5), (1e-9, 1.0), (1.0, 0.3), (1e9, 0.0), (1e9, 1e-9)] {
            let channel = SignalChannel::new(unsignalled, signals, precision).unwrap();
            for state in [
                signals_since_fetch(1e-12, 0.0),
                signals_since_fetch(1.0, 1.0),
                signals_since_fetch(1e6, 3.0),
                signals_since_fetch(1.0, 1e9),
            ] {
                for penalty in PENALTIES {
                    let value = channel.fetch_value(penalty, state);
                    let quick = channel.approximate_fetch_value(penalty, state);
                    let label = format!("{penalty:?} {channel:?} {state:?}");
                    assert!(value >= 0.0, "{label}: {value}");
                    let off = if value == quick { 0.0 } else { (quick / value - 1.0).abs() };
                    assert!(off < 0.08, "{label}: {value}, {quick}");
                }
            }
        }
    }
    for penalty in PENALTIES {
        let all = channel(0.6, 0.4).fetch_value(penalty, signals_since_fetch(f64::INFINITY, 1.0));
        let expect = if penalty == ChangeCountPenalty::Freshness { 1.0 } else { f64::INFINITY };
        assert_eq!(all, expect);
    }
}

#[test]
fn invalid_channels_are_rejected() {
    assert_eq!(SignalChannel::new(-1.0, 0.0, 0.0), Err(InvalidSignalChannel::Rate(-1.0)));
    assert_eq!(
        SignalChannel::new(0.0, f64::INFINITY, 0.0),
        Err(InvalidSignalChannel::Rate(f64::INFINITY))
    );
    assert_eq!(SignalChannel::new(0.0, 0.0, 1.1), Err(InvalidSignalChannel::Share(1.1)));
    assert_eq!(SignalChannel::from_recall(1.0, -0.1, 0.0), Err(InvalidSignalChannel::Share(-0.1)));
    let channel = SignalChannel::from_recall(2.0, 0.75, 0.5).unwrap();
    check("recall", channel.recall(), 0.75, 1e-15);
    check("false", channel.false_signal_rate(), 0.5, 1e-15);
    check("changes", channel.change_rate(), 2.0, 1e-15);
}

#[test]
fn signals_just_after_a_fetch_have_little_weight() {
    assert_eq!(signal_weight(0.1, 0.0), 1.0);
    assert_eq!(signal_weight(0.0, 0.1), 0.0);
    assert_eq!(signal_weight(f64::NAN, 0.1), 0.0);
    check("half", signal_weight(std::f64::consts::LN_2, 1.0), 0.5, 1e-15);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_value_grows_with_time_and_signals(
        recall in 0.0_f64..=1.0,
        precision in 0.003_f64..=1.0,
        days in 0.0_f64..8.0,
        n in 0_u32..7,
    ) {
        let channel = channel(recall, precision);
        for penalty in PENALTIES {
            for value in [SignalChannel::fetch_value, SignalChannel::approximate_fetch_value] {
                let at = |days: f64, n: f64| value(channel, penalty, signals_since_fetch(days, n));
                let n = f64::from(n);
                let here = at(days, n);
                prop_assert!(at(days + 0.3, n) >= here * (1.0 - 1e-9));
                prop_assert!(at(days, n + 1.0) >= here * (1.0 - 1e-9));
                prop_assert!(at(days, n + 0.4) >= here * (1.0 - 1e-9));
                // The value is continuous in time.
                let gained = at(days + 1e-9, n) - here;
                prop_assert!(gained <= 1e-5 + 1e-5 * here, "{gained}");
            }
        }
    }

    #[test]
    fn values_scale_with_the_unit_of_time(
        recall in 0.0_f64..=1.0,
        precision in 0.003_f64..=1.0,
        days in 0.01_f64..8.0,
        n in 0_u32..7,
        scale in -9.0_f64..9.0,
    ) {
        let (one, unit) = (channel(recall, precision), scale.exp());
        let other = SignalChannel::new(one.unsignalled_rate() * unit, one.signal_rate() * unit, one.precision()).unwrap();
        for penalty in PENALTIES {
            for value in [SignalChannel::fetch_value, SignalChannel::approximate_fetch_value] {
                let here = value(one, penalty, signals_since_fetch(days, f64::from(n)));
                let there = value(other, penalty, signals_since_fetch(days / unit, f64::from(n)));
                prop_assert!((there * unit - here).abs() <= 1e-9 * here + 1e-15, "{here}, {there}");
            }
        }
    }
}
