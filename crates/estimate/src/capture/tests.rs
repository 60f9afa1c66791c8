mod rows;

use proptest::prelude::*;

use super::change_lifetime::CaptureDerivatives;
use super::*;

fn belief(shape: f64, days: f64) -> Belief {
    Belief::new(shape, days).unwrap()
}

fn capture(life: UpdateLifetime, urgency: Urgency) -> CaptureObjective {
    CaptureObjective::new(life, urgency).unwrap()
}

#[track_caller]
fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
    let close = got == expect || (got / expect - 1.0).abs() <= tolerance;
    assert!(close, "{label}: {got:e}, expected {expect:e}, off by {:e}", got / expect - 1.0);
}

#[test]
fn constant_updates_match_reference_values() {
    for (n, a, u, value, slope) in rows::LASTING {
        let label = format!("n = {n}, a = {a:e}, u = {u:e}");
        let got = captured_updates(n, a, u);
        check(&label, got.value, value, 5e-12);
        // A window cuts off the same integral.
        let both = capture(UpdateLifetime::Changes(n), Urgency::Window(4.0));
        check(&label, both.fetch_value(belief(a, 4.0 / u), 5.0), value, 5e-12);
        if slope > 1e-250 {
            check(&format!("slope at {label}"), got.slope, slope, 5e-12);
        }
    }
}

#[test]
fn decaying_updates_match_reference_values() {
    for (n, a, half_life, u, value) in rows::FADING {
        let label = format!("n = {n}, a = {a:e}, half-life {half_life:e}, u = {u:e}");
        let got = capture(UpdateLifetime::Changes(n), Urgency::Decay(half_life))
            .fetch_value(belief(a, 1.0), u);
        check(&label, got, value, 2e-12);
    }
}

#[test]
fn windows_and_decay_have_closed_forms() {
    // Gamma(6, 2): 3 changes a day on average.
    let three = belief(6.0, 2.0);
    let value = |life, urgency, days| capture(life, urgency).fetch_value(three, days);
    assert_eq!(value(UpdateLifetime::Append, Urgency::Uniform, 5.0), 15.0);
    assert_eq!(value(UpdateLifetime::Append, Urgency::Window(2.0), 5.0), 6.0);
    assert_eq!(value(UpdateLifetime::Window(0.5), Urgency::Uniform, 5.0), 1.5);
    assert_eq!(value(UpdateLifetime::Window(0.5), Urgency::Uniform, 0.25), 0.75);
    assert_eq!(value(UpdateLifetime::Window(0.5), Urgency::Window(0.25), 5.0), 0.75);
    // With a half-life of a day: 3 (1 − 2^(−t))/ln 2.
    check("decay", value(UpdateLifetime::Append, Urgency::Decay(1.0), 2.0), 2.25 / LN_2, 1e-15);
    check("both", value(UpdateLifetime::Window(1.0), Urgency::Decay(1.0), 2.0), 1.5 / LN_2, 1e-15);
    check("moment", value(UpdateLifetime::Append, Urgency::Decay(1.0), 1e-300), 3e-300, 1e-15);
}

#[test]
fn certain_beliefs_give_the_value_at_the_rate() {
    // c = 2 a day, τ = 0.8 days, d = ln 2/0.5.
    let (c, t, d) = (2.0_f64, 0.8_f64, LN_2 / 0.5);
    let certain = belief(c * 1e13, 1e13);
    let value = |changes, urgency| {
        capture(UpdateLifetime::Changes(changes), urgency).fetch_value(certain, t)
    };
    check("overwrite", value(1, Urgency::Uniform), 1.0 - (-c * t).exp(), 1e-12);
    // 3 − Σ_{k<3} (3 − k) P(N = k).
    let x = c * t;
    let three = 3.0 - (-x).exp() * (3.0 + 2.0 * x + x * x / 2.0);
    check("three", value(3, Urgency::Uniform), three, 1e-12);
    // ∫ c e^(−(c+d)s) (cs)^k/k! ds = (c/(c+d))^(k+1) P(Poisson((c+d)t) > k).
    let (share, y) = (c / (c + d), (c + d) * t);
    let none = 1.0 - (-y).exp();
    let one = none - (-y).exp() * y;
    let fading = value(2, Urgency::Decay(0.5));
    check("overwrite, decay", value(1, Urgency::Decay(0.5)), share * none, 1e-12);
    check("two, decay", fading, share * none + share * share * one, 1e-12);
    // With a million changes the decay removes an update before the changes do.
    let many = value(1_000_000, Urgency::Decay(0.5));
    check("many, decay", many, c * (1.0 - (-d * t).exp()) / d, 1e-12);
}

#[test]
fn values_are_bounded_for_any_number_of_changes() {
    for n in [1, 2, 64, 65, 100_000, u32::MAX] {
        for a in [1e-3, 1.0, 1e3, 1e9] {
            for times in [1e-6, 0.5, 1.0, 2.0, 1e6] {
                let count = f64::from(n);
                let got = captured_updates(n, a, count / a * times);
                let at_most = count.min(count * times) * (1.0 + 1e-12);
                assert!(got.value > 0.0 && got.value <= at_most, "n = {n}, a = {a}, {times}");
                assert!(got.slope >= 0.0 && got.slope <= a * (1.0 + 1e-12));
                assert!(got.curvature <= 0.0);
            }
        }
    }
}

#[test]
fn slopes_match_finite_differences() {
    for n in [1, 3, 40, 100, 700] {
        for a in [0.02, 1.0, 30.0, 1e5] {
            for times in [0.1, 0.9, 1.1, 3.0] {
                let u = f64::from(n) / (a + 1.0) * times;
                let (low, high) =
                    (captured_updates(n, a, u * (1.0 - 1e-4)), captured_updates(n, a, u * 1.0001));
                let CaptureDerivatives { slope, curvature, .. } = captured_updates(n, a, u);
                let label = format!("n = {n}, a = {a}, u = {u}");
                // The slope falls from a to 0, so the tolerance is relative to a.
                let value = (high.value - low.value) / (2e-4 * u);
                assert!((value - slope).abs() < 1e-5 * a, "{label}: {value} and {slope}");
                let slopes = (high.slope - low.slope) / (2e-4 * u);
                let scale = a / u * f64::from(n).sqrt();
                assert!(
                    (slopes - curvature).abs() < 1e-5 * scale,
                    "{label}: {slopes} and {curvature}"
                );
            }
        }
    }
}

#[test]
fn limits() {
    let (life, known) = (UpdateLifetime::Changes(3), belief(6.0, 2.0));
    let limit = |life, urgency| capture(life, urgency).max_value(known);
    assert_eq!(limit(UpdateLifetime::Append, Urgency::Uniform), f64::INFINITY);
    assert_eq!(limit(UpdateLifetime::Append, Urgency::Window(2.0)), 6.0);
    check("decay", limit(UpdateLifetime::Append, Urgency::Decay(1.0)), 3.0 / LN_2, 1e-15);
    assert_eq!(limit(life, Urgency::Uniform), 3.0);
    let fading = capture(life, Urgency::Decay(1.0));
    check("fading", fading.max_value(known), fading.fetch_value(known, 1e9), 1e-15);
    for urgency in [Urgency::Uniform, Urgency::Decay(1.0), Urgency::Window(1.0)] {
        for life in
            [UpdateLifetime::Append, UpdateLifetime::Window(1.0), UpdateLifetime::OVERWRITE, life]
        {
            let capture = capture(life, urgency);
            for days in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
                assert_eq!(capture.fetch_value(known, days), 0.0);
            }
            assert_eq!(capture.interval_at_price(known, 0.0), 0.0);
            assert_eq!(capture.interval_at_price(known, -1.0), 0.0);
            assert_eq!(capture.interval_at_price(known, f64::NAN), f64::INFINITY);
            assert_eq!(capture.interval_at_price(known, f64::INFINITY), f64::INFINITY);
            let limit = capture.max_value(known);
            if limit < f64::INFINITY {
                assert_eq!(capture.interval_at_price(known, limit * 1.000_001), f64::INFINITY);
                // With a window the limit is reached at its end. Without one it is reached when the
                // rest is below rounding, or never.
                let windowed =
                    life == UpdateLifetime::Window(1.0) || urgency == Urgency::Window(1.0);
                let day = capture.interval_at_price(known, limit);
                assert!(if windowed { (day - 1.0).abs() < 1e-14 } else { day > 40.0 }, "{day}");
            }
        }
    }
}

#[test]
fn intervals_at_known_prices() {
    let known = belief(6.0, 2.0);
    let due = |life, urgency, price| capture(life, urgency).interval_at_price(known, price);
    assert_eq!(due(UpdateLifetime::Append, Urgency::Uniform, 15.0), 5.0);
    assert_eq!(due(UpdateLifetime::Append, Urgency::Window(5.0), 15.0), 5.0);
    assert_eq!(due(UpdateLifetime::Window(1.0), Urgency::Uniform, 3.1), f64::INFINITY);
    check("decay", due(UpdateLifetime::Append, Urgency::Decay(1.0), 2.25 / LN_2), 2.0, 1e-14);
    // 1 − (b/(b+τ))ᵃ = 63/64 at τ = b.
    check("overwrite", due(UpdateLifetime::OVERWRITE, Urgency::Uniform, 63.0 / 64.0), 2.0, 1e-14);
    // The probability of a change in the first 1e300 years is not 1/2.
    let never = belief(1e-4, 1.0);
    assert_eq!(
        capture(UpdateLifetime::OVERWRITE, Urgency::Uniform).interval_at_price(never, 0.5),
        f64::INFINITY
    );
    assert_eq!(
        capture(UpdateLifetime::Changes(2), Urgency::Uniform).interval_at_price(never, 0.9),
        f64::INFINITY
    );
}

/// Any lifetime and urgency, scaled to a belief with `days` = 1.
fn captures(shape: f64) -> impl Strategy<Value = CaptureObjective> {
    let scale = move |changes: u32, log: f64| (f64::from(changes) / shape * 10f64.powf(log)) as f32;
    (0..3, 0..3, 0..8_usize, -1.5..1.5_f64, -1.5..1.5_f64).prop_map(
        move |(life, urgency, n, life_days, urgency_days)| {
            let n = [1, 2, 3, 7, 64, 65, 300, 1000][n];
            let life = match life {
                0 => UpdateLifetime::Append,
                1 => UpdateLifetime::Window(scale(n, life_days)),
                _ => UpdateLifetime::Changes(n),
            };
            let urgency = match urgency {
                0 => Urgency::Uniform,
                1 => Urgency::Window(scale(n, urgency_days)),
                _ => Urgency::Decay(scale(n, urgency_days)),
            };
            capture(life, urgency)
        },
    )
}

fn cases() -> impl Strategy<Value = (CaptureObjective, Belief, f64)> {
    (-3.0..9.0_f64, -3.0..3.0_f64).prop_flat_map(|(shape, log)| {
        let shape = 10f64.powf(shape);
        let days = 10f64.powf(log) / shape;
        (captures(shape), Just(belief(shape, 1.0)), Just(days))
    })
}

proptest! {
    #[test]
    fn values_grow_ever_slower((capture, belief, days) in cases(), more in -6.0..3.0_f64) {
        let later = days * (1.0 + 10f64.powf(more));
        let (early, late) = (capture.fetch_value(belief, days), capture.fetch_value(belief, later));
        prop_assert!(early > 0.0 && late >= early * (1.0 - 2e-12), "{early:e}, {late:e}");
        prop_assert!(late / later <= early / days * (1.0 + 2e-12), "{early:e}, {late:e}");
        prop_assert!(late <= capture.max_value(belief) * (1.0 + 2e-12));
        prop_assert!(late <= belief.mean() * later * (1.0 + 1e-12));
    }

    #[test]
    fn interval_at_price_inverts_the_value((capture, belief, days) in cases()) {
        let price = capture.fetch_value(belief, days);
        let due = capture.interval_at_price(belief, price);
        if due < f64::INFINITY {
            let back = capture.fetch_value(belief, due);
            prop_assert!((back / price - 1.0).abs() < 3e-12, "{due:e}: {back:e}, {price:e}");
        }
        // The interval is only determined while the value still grows.
        let grown = capture.fetch_value(belief, days * 1.001) / price - 1.0;
        if grown > 1e-6 {
            let tolerance = 3e-15 / grown + 2e-12;
            prop_assert!((due / days - 1.0).abs() < tolerance, "{due:e}, {days:e}, {grown:e}");
        }
    }

    #[test]
    fn a_higher_price_gives_a_longer_interval(
        (capture, belief, days) in cases(),
        share in 0.0..1.2_f64,
        more in 1e-6..0.2_f64,
    ) {
        let top = capture.max_value(belief).min(1e3 * capture.fetch_value(belief, days));
        let early = capture.interval_at_price(belief, share * top);
        let late = capture.interval_at_price(belief, (share + more) * top);
        prop_assert!(early >= 0.0 && early <= late, "{early:e}, {late:e}");
        if share > 1.000_001 && top == capture.max_value(belief) {
            prop_assert!(early == f64::INFINITY);
        }
    }

    #[test]
    fn longer_lifetimes_and_lower_urgencies_capture_more((capture, belief, days) in cases()) {
        let value = |life, urgency| CaptureObjective { life, urgency }.fetch_value(belief, days);
        let now = value(capture.life, capture.urgency);
        let longer = match capture.life {
            UpdateLifetime::Append => UpdateLifetime::Append,
            UpdateLifetime::Window(days) => UpdateLifetime::Window(1.5 * days),
            UpdateLifetime::Changes(n) => UpdateLifetime::Changes(n + 1),
        };
        let calmer = match capture.urgency {
            Urgency::Uniform => Urgency::Uniform,
            Urgency::Decay(days) => Urgency::Decay(1.5 * days),
            Urgency::Window(days) => Urgency::Window(1.5 * days),
        };
        prop_assert!(value(longer, capture.urgency) >= now * (1.0 - 3e-12));
        prop_assert!(value(capture.life, calmer) >= now * (1.0 - 3e-12));
        prop_assert!(value(UpdateLifetime::Append, Urgency::Uniform) >= now * (1.0 - 1e-12));
    }
}
