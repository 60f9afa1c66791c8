//! Captured value of simulated fetches against its expectation: gamma rates, Poisson changes, and
//! the value of each update by `update_value`.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Belief, CaptureObjective, UpdateLifetime, Urgency};
use uniform::Uniform;

const SOURCES: u32 = 20_000;

/// Returns the mean value captured by one fetch of each source after `days`, and its standard
/// error.
fn simulated(
    capture: CaptureObjective,
    shape: u32,
    days: f64,
    fetch: f64,
    seed: u64,
) -> (f64, f64) {
    let mut uniform = Uniform::new(seed);
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut changes = Vec::new();
    for _ in 0..SOURCES {
        // Gamma(a, b) is the time to the a-th event of a process of rate b.
        let rate = (0..shape).map(|_| -uniform.next().ln()).sum::<f64>() / days;
        changes.clear();
        let mut at = -uniform.next().ln() / rate;
        while at < fetch {
            changes.push(at);
            at -= uniform.next().ln() / rate;
        }
        let further = (0..changes.len() as u32).rev();
        let one = changes.iter().zip(further);
        let got: f64 = one.map(|(at, further)| capture.update_value(fetch - at, further)).sum();
        sum += got;
        squares += got * got;
    }
    let mean = sum / f64::from(SOURCES);
    (mean, ((squares / f64::from(SOURCES) - mean * mean) / f64::from(SOURCES)).sqrt())
}

#[test]
fn simulated_fetches_capture_the_expected_value() {
    let lifetimes = [
        UpdateLifetime::Append,
        UpdateLifetime::Window(0.75),
        UpdateLifetime::OVERWRITE,
        UpdateLifetime::Changes(4),
    ];
    let urgencies = [Urgency::Uniform, Urgency::Decay(0.5), Urgency::Window(1.25)];
    let mut seed = 1;
    for life in lifetimes {
        for urgency in urgencies {
            let capture = CaptureObjective::new(life, urgency).unwrap();
            for (shape, days) in [(1, 0.5), (6, 2.0)] {
                for fetch in [0.4, 2.5] {
                    seed += 1;
                    let (mean, error) = simulated(capture, shape, days, fetch, seed);
                    let belief = Belief::new(f64::from(shape), days).unwrap();
                    let expect = capture.fetch_value(belief, fetch);
                    let off = (mean - expect) / error;
                    assert!(
                        off.abs() < 4.0,
                        "{life}, {urgency}, Gamma({shape}, {days}), {fetch} days: {mean}, \
                         expected {expect}, {off} standard errors off"
                    );
                }
            }
        }
    }
}

#[test]
fn the_value_of_one_update_follows_lifetime_and_urgency() {
    let check = |life: &str, urgency: &str, days: f64, further: u32, expect: f64| {
        let capture =
            CaptureObjective::new(life.parse().unwrap(), urgency.parse().unwrap()).unwrap();
        assert_eq!(
            capture.update_value(days, further),
            expect,
            "{life} {urgency} {days} {further}"
        );
    };
    check("append", "uniform", 1e9, 1_000_000, 1.0);
    check("overwrite", "uniform", 1e9, 0, 1.0);
    check("overwrite", "uniform", 0.0, 1, 0.0);
    check("changes:3", "uniform", 5.0, 2, 1.0);
    check("changes:3", "uniform", 5.0, 3, 0.0);
    check("window:6h", "uniform", 0.25, 9, 1.0);
    check("window:6h", "uniform", 0.250_001, 0, 0.0);
    check("append", "window:2d", 2.0, 9, 1.0);
    check("append", "window:2d", 2.1, 0, 0.0);
    check("append", "decay:12h", 1.0, 9, 0.25);
    check("window:2d", "decay:12h", 1.0, 0, 0.25);
    check("window:1d", "window:2d", 1.5, 0, 0.0);
    check("append", "decay:12h", -1.0, 0, 1.0);
    check("append", "window:1d", f64::NAN, 0, 0.0);
}

#[test]
fn lifetimes_and_urgencies_round_trip_through_text() {
    let life = |text: &str, expect: UpdateLifetime, again: &str| {
        assert_eq!(text.parse(), Ok(expect), "{text}");
        assert_eq!(expect.to_string(), again);
        assert_eq!(again.parse(), Ok(expect));
    };
    life("append", UpdateLifetime::Append, "append");
    life("overwrite", UpdateLifetime::Changes(1), "overwrite");
    life("changes:1", UpdateLifetime::Changes(1), "overwrite");
    life(" changes: 3 ", UpdateLifetime::Changes(3), "changes:3");
    life("window:6h", UpdateLifetime::Window(0.25), "window:6h");
    life("window:1.5", UpdateLifetime::Window(1.5), "window:36h");
    life("window:2d", UpdateLifetime::Window(2.0), "window:2d");
    life("window:90s", UpdateLifetime::Window((90.0_f64 / 86_400.0) as f32), "window:90s");
    life("window:30m", UpdateLifetime::Window((30.0_f64 / 1_440.0) as f32), "window:30m");
    life("window:60m", UpdateLifetime::Window((1.0_f64 / 24.0) as f32), "window:1h");
    life("window:0.1234567", UpdateLifetime::Window(0.123_456_7), "window:0.1234567d");
    let urgency = |text: &str, expect: Urgency, again: &str| {
        assert_eq!(text.parse(), Ok(expect), "{text}");
        assert_eq!(expect.to_string(), again);
        assert_eq!(again.parse(), Ok(expect));
    };
    urgency("uniform", Urgency::Uniform, "uniform");
    urgency("decay:6h", Urgency::Decay(0.25), "decay:6h");
    urgency("window:2 d", Urgency::Window(2.0), "window:2d");
    for i in 1..2000_u16 {
        let days = f32::from(i).powi(3) * 1.234_567e-5;
        assert_eq!(
            UpdateLifetime::Window(days).to_string().parse(),
            Ok(UpdateLifetime::Window(days))
        );
    }
}

#[test]
fn invalid_lifetimes_and_urgencies_are_rejected() {
    let life = |text: &str| text.parse::<UpdateLifetime>().unwrap_err().to_string();
    let urgency = |text: &str| text.parse::<Urgency>().unwrap_err().to_string();
    let no_life = "is not a life such as `append`, `overwrite`, `changes:3` or `window:6h`";
    for text in ["", "forever", "append:1", "changes", "changes:-1", "changes:1.5", "window:h"] {
        assert_eq!(life(text), format!("`{text}` {no_life}"));
    }
    assert_eq!(life("changes:0"), "life is 0 changes, at least `changes:1` is needed");
    assert_eq!(life("window:0h"), "window of the life is not a positive number of days: 0");
    assert_eq!(life("window:inf"), "window of the life is not a positive number of days: inf");
    let no_urgency = "is not an urgency such as `uniform`, `decay:6h` or `window:2d`";
    for text in ["", "soon", "decay", "decay:x", "window:", "changes:3"] {
        assert_eq!(urgency(text), format!("`{text}` {no_urgency}"));
    }
    assert_eq!(
        urgency("decay:-6h"),
        "half-life of the urgency is not a positive number of days: -0.25"
    );
    assert_eq!(
        urgency("window:nan"),
        "window of the urgency is not a positive number of days: NaN"
    );
    assert!(CaptureObjective::new(UpdateLifetime::Append, Urgency::Decay(f32::NAN)).is_err());
    assert!(CaptureObjective::new(UpdateLifetime::Changes(0), Urgency::Uniform).is_err());
    assert_eq!(size_of::<CaptureObjective>(), 16);
}
