//! What is believed of how often a source changes, and how sure that is.

use freshet_daemon::Explained;

use crate::web::chart::Scale;
use crate::web::words;

/// What is believed.
pub(super) struct Believed {
    /// `every 3.1 hours`
    pub(super) every: String,
    pub(super) shortest: String,
    pub(super) longest: String,
    /// Changes a day, and between which.
    pub(super) rate: String,
    pub(super) low: String,
    pub(super) high: String,
    /// Places in the picture, in per cent.
    pub(super) from: String,
    pub(super) wide: String,
    pub(super) middle: String,
    pub(super) ticks: Vec<(String, String, &'static str)>,
}

/// Lengths of time that are written below the picture, in days.
const TICKS: [(f64, &str); 10] = [
    (1.0 / 86_400.0, "1 s"),
    (10.0 / 86_400.0, "10 s"),
    (1.0 / 1440.0, "1 min"),
    (10.0 / 1440.0, "10 min"),
    (1.0 / 24.0, "1 h"),
    (0.25, "6 h"),
    (1.0, "1 d"),
    (7.0, "1 week"),
    (30.0, "1 month"),
    (365.0, "1 year"),
];
/// The picture goes beyond the interval by this factor on both sides, and from and to these at the
/// farthest.
const AROUND: f64 = 3.0;
const FARTHEST: (f64, f64) = (0.1 / 86_400.0, 36_500.0);

impl Believed {
    pub(super) fn of(it: &Explained) -> Option<Self> {
        let rate = Some(it.changes_a_day).filter(|rate| *rate > 0.0 && rate.is_finite())?;
        let (low, high) = it.between;
        let within = |days: f64| days.clamp(FARTHEST.0, FARTHEST.1);
        let (shortest, longest) = (within(1.0 / high), within(1.0 / low));
        let middle = within(1.0 / rate);
        let x = Scale::log(within(shortest / AROUND), within(longest * AROUND), words::days);
        let place = |days: f64| 100.0 * x.share(days);
        let shown = |days: f64| (1.0..99.0).contains(&place(days));
        let ticks: Vec<_> = TICKS.into_iter().filter(|(days, _)| shown(*days)).collect();
        let every = ticks.len().div_ceil(5).max(1);
        let ticks = ticks.into_iter().step_by(every).map(|(days, name)| {
            let x = place(days);
            let anchor = if x < 8.0 {
                "start"
            } else if x > 92.0 {
                "end"
            } else {
                "middle"
            };
            (format!("{x:.2}"), name.to_owned(), anchor)
        });
        Some(Self {
            every: words::every(rate),
            shortest: words::days(1.0 / high),
            longest: words::days(1.0 / low),
            rate: words::figure(rate),
            low: words::figure(low),
            high: words::figure(high),
            from: format!("{:.2}", place(shortest)),
            wide: format!("{:.2}", place(longest) - place(shortest)),
            middle: format!("{:.2}", place(middle)),
            ticks: ticks.collect(),
        })
    }
}
