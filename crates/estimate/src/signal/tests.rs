use proptest::prelude::*;
use statrs::function::gamma::gamma_lr;

use super::*;
use crate::belief::Belief;

const BOTH: [Counted; 2] = [Counted::Harmonic, Counted::Freshness];

#[track_caller]
fn check(what: &str, got: f64, expect: f64, tolerance: f64) {
    let close = got == expect || (got / expect - 1.0).abs() <= tolerance;
    assert!(close, "{what}: {got:e}, expected {expect:e}, off by {:e}", got / expect - 1.0);
}

fn heard(days: f64, signals: f64) -> Heard {
    Heard { days, signals }
}

/// The channel with changes at rate 1, and a precision instead of false signals.
fn channel(recall: f64, precision: f64) -> Channel {
    Channel::from_recall(1.0, recall, recall * (1.0 - precision) / precision).unwrap()
}

/// States from moments to long times, with and without signals.
fn states() -> impl Iterator<Item = Heard> {
    let days = [0.0, 1e-6, 0.01, 0.2, 0.7, 2.0, 5.0, 12.0, 40.0];
    let signals = [0.0, 1.0, 2.0, 5.0, 13.0];
    days.into_iter().flat_map(move |days| signals.map(|signals| heard(days, signals)))
}

/// `F(ι) − e^(−αι)ψ(ι)` (Busa-Fekete et al. 2025), in which both sums are closed.
fn closed(channel: Channel, state: Heard) -> f64 {
    let (missed, rate, wrong) = (channel.missed(), channel.signals(), channel.false_signals());
    let all = channel.changes() + wrong;
    let worth = (rate / wrong).ln() / missed;
    let time = state.days + worth * state.signals;
    let (mut fresh, mut cycle, mut i) = (0.0, 0.0, 0.0);
    while time - i * worth > 0.0 {
        let rest = time - i * worth;
        cycle += gamma_lr(i + 1.0, rate * rest) / rate;
        fresh += (wrong / all).powf(i) / all * gamma_lr(i + 1.0, all * rest);
        i += 1.0;
    }
    fresh - (-missed * time).exp() * cycle
}

#[test]
fn freshness_has_a_closed_form() {
    for (recall, precision) in [(0.2, 0.1), (0.5, 0.5), (0.8, 0.2), (0.8, 0.9), (0.95, 0.95)] {
        let channel = channel(recall, precision);
        for state in states().filter(|state| state.days >= 0.01) {
            let what = format!("{recall}, {precision}, {state:?}");
            let got = channel.value(Counted::Freshness, state);
            check(&what, got, closed(channel, state), 1e-8);
        }
    }
}

#[test]
fn without_signals_it_is_the_index_of_polling() {
    for false_signals in [0.0, 0.3, 50.0] {
        let silent = Channel::from_recall(0.4, 0.0, false_signals).unwrap();
        let sure = Belief::new(4e11, 1e12).unwrap();
        for days in [1e-6, 0.02, 1.0, 9.0, 300.0] {
            for penalty in BOTH {
                let expect = penalty.penalty().value(sure, days);
                for signals in [0.0, 4.0] {
                    let state = heard(days, signals);
                    let what = format!("{penalty:?}, {false_signals}, {state:?}");
                    check(&what, silent.value(penalty, state), expect, 1e-9);
                    check(&what, silent.quick_value(penalty, state), expect, 1e-7);
                }
            }
        }
    }
}

#[test]
fn perfect_signals_are_counted() {
    let perfect = Channel::from_recall(0.4, 1.0, 0.0).unwrap();
    for days in [0.0, 0.3, 40.0] {
        for n in [0.0, 1.0, 2.0, 3.0, 10.0, 400.0] {
            let state = heard(days, n);
            check(&format!("{state:?}"), perfect.value(Counted::Harmonic, state), n / 0.4, 1e-10);
            let quick = perfect.quick_value(Counted::Harmonic, state);
            check(&format!("{state:?}"), quick, n / 0.4, 0.01);
            let fresh = if n > 0.0 { 1.0 / 0.4 } else { 0.0 };
            check(&format!("{state:?}"), perfect.value(Counted::Freshness, state), fresh, 1e-12);
            check(
                &format!("{state:?}"),
                perfect.quick_value(Counted::Freshness, state),
                fresh,
                1e-12,
            );
        }
    }
    // No false signals, but changes without one: a signal is still all there is to know.
    let honest = Channel::from_recall(0.4, 0.7, 0.0).unwrap();
    for quick in [false, true] {
        let value = if quick { Channel::quick_value } else { Channel::value };
        check("one", value(honest, Counted::Freshness, heard(0.0, 1.0)), 2.5, 1e-12);
        let (early, late) = ((-0.4_f64 * 2.0).exp(), (-0.12_f64 * 2.0).exp());
        let expect = (1.0 - early) / 0.4 - late * -(-0.28_f64 * 2.0).exp_m1() / 0.28;
        check("none", value(honest, Counted::Freshness, heard(2.0, 0.0)), expect, 1e-12);
    }
}

#[test]
fn the_quick_value_is_close() {
    let mut all = [Vec::new(), Vec::new()];
    for recall in [0.01, 0.2, 0.6, 0.9, 0.99, 1.0] {
        for precision in [0.01, 0.1, 0.3, 0.7, 0.97, 1.0] {
            let channel = channel(recall, precision);
            for state in states() {
                for (offs, penalty) in all.iter_mut().zip(BOTH) {
                    let exact = channel.value(penalty, state);
                    let quick = channel.quick_value(penalty, state);
                    let off = if exact == quick { 0.0 } else { (quick / exact - 1.0).abs() };
                    let most = if penalty == Counted::Harmonic { 0.08 } else { 0.015 };
                    assert!(off < most, "{recall}, {precision}, {state:?}: {quick}, {exact}");
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
fn past_the_last_signal_that_is_followed() {
    // One more signal than are followed against one less: the step from sum to asymptote.
    for (recall, precision) in [(0.5, 0.05), (0.9, 0.01), (0.3, 0.6), (1.0, 1.0), (0.99, 0.3)] {
        let channel = channel(recall, precision);
        for penalty in BOTH {
            let at = |n: f64| channel.value(penalty, heard(0.0, n));
            let (before, last, after) = (at(999.0), at(1000.0), at(1001.0));
            let what = format!("{penalty:?}, {recall}, {precision}");
            check(&what, after - last, last - before, if last > before { 0.01 } else { 1.0 });
            check(&what, after, 2.0 * last - before, 1e-5);
        }
    }
}

#[test]
fn numbers_at_the_ends_of_the_range() {
    let rates = [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300];
    for missed in rates {
        for signals in rates {
            for precision in [0.0, 1e-300, 1e-9, 0.5, 1.0 - 1e-16, 1.0] {
                let channel = Channel::new(missed, signals, precision).unwrap();
                for days in [0.0, 1e-300, 1.0, 1e300, f64::INFINITY, f64::NAN, -1.0] {
                    for n in [0.0, 0.3, 1.0, 1e9, f64::INFINITY, f64::NAN] {
                        for penalty in BOTH {
                            let value = channel.quick_value(penalty, heard(days, n));
                            let what = format!("{penalty:?} {channel:?} {days} {n}: {value}");
                            assert!(value >= 0.0, "{what}");
                        }
                    }
                }
            }
        }
    }
    for missed in [0.0, 1e-9, 1e9] {
        for (signals, precision) in [(0.0, 0.5), (1e-9, 1.0), (1.0, 0.3), (1e9, 0.0), (1e9, 1e-9)] {
            let channel = Channel::new(missed, signals, precision).unwrap();
            for state in [heard(1e-12, 0.0), heard(1.0, 1.0), heard(1e6, 3.0), heard(1.0, 1e9)] {
                for penalty in BOTH {
                    let value = channel.value(penalty, state);
                    let quick = channel.quick_value(penalty, state);
                    let what = format!("{penalty:?} {channel:?} {state:?}");
                    assert!(value >= 0.0, "{what}: {value}");
                    let off = if value == quick { 0.0 } else { (quick / value - 1.0).abs() };
                    assert!(off < 0.08, "{what}: {value}, {quick}");
                }
            }
        }
    }
    for penalty in BOTH {
        let all = channel(0.6, 0.4).value(penalty, heard(f64::INFINITY, 1.0));
        let most = if penalty == Counted::Freshness { 1.0 } else { f64::INFINITY };
        assert_eq!(all, most);
    }
}

#[test]
fn numbers_that_are_no_channel_are_refused() {
    assert_eq!(Channel::new(-1.0, 0.0, 0.0), Err(InvalidChannel::Rate(-1.0)));
    assert_eq!(Channel::new(0.0, f64::INFINITY, 0.0), Err(InvalidChannel::Rate(f64::INFINITY)));
    assert_eq!(Channel::new(0.0, 0.0, 1.1), Err(InvalidChannel::Share(1.1)));
    assert_eq!(Channel::from_recall(1.0, -0.1, 0.0), Err(InvalidChannel::Share(-0.1)));
    let channel = Channel::from_recall(2.0, 0.75, 0.5).unwrap();
    check("recall", channel.recall(), 0.75, 1e-15);
    check("false", channel.false_signals(), 0.5, 1e-15);
    check("changes", channel.changes(), 2.0, 1e-15);
}

#[test]
fn signals_just_after_a_fetch_count_little() {
    assert_eq!(signal_weight(0.1, 0.0), 1.0);
    assert_eq!(signal_weight(0.0, 0.1), 0.0);
    assert_eq!(signal_weight(f64::NAN, 0.1), 0.0);
    check("half", signal_weight(std::f64::consts::LN_2, 1.0), 0.5, 1e-15);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn later_and_more_is_worth_more(
        recall in 0.0_f64..=1.0,
        precision in 0.003_f64..=1.0,
        days in 0.0_f64..8.0,
        n in 0_u32..7,
    ) {
        let channel = channel(recall, precision);
        for penalty in BOTH {
            for value in [Channel::value, Channel::quick_value] {
                let at = |days: f64, n: f64| value(channel, penalty, heard(days, n));
                let n = f64::from(n);
                let here = at(days, n);
                prop_assert!(at(days + 0.3, n) >= here * (1.0 - 1e-9));
                prop_assert!(at(days, n + 1.0) >= here * (1.0 - 1e-9));
                prop_assert!(at(days, n + 0.4) >= here * (1.0 - 1e-9));
                // No jumps: within a moment hardly anything is gained.
                let gained = at(days + 1e-9, n) - here;
                prop_assert!(gained <= 1e-5 + 1e-5 * here, "{gained}");
            }
        }
    }

    #[test]
    fn a_day_may_be_any_length(
        recall in 0.0_f64..=1.0,
        precision in 0.003_f64..=1.0,
        days in 0.01_f64..8.0,
        n in 0_u32..7,
        scale in -9.0_f64..9.0,
    ) {
        let (one, unit) = (channel(recall, precision), scale.exp());
        let other = Channel::new(one.missed() * unit, one.signals() * unit, one.precision()).unwrap();
        for penalty in BOTH {
            for value in [Channel::value, Channel::quick_value] {
                let here = value(one, penalty, heard(days, f64::from(n)));
                let there = value(other, penalty, heard(days / unit, f64::from(n)));
                prop_assert!((there * unit - here).abs() <= 1e-9 * here + 1e-15, "{here}, {there}");
            }
        }
    }
}
