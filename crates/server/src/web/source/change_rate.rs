//! The change rate estimate of a source, with its credible interval.

use freshet_daemon::SourceExplanation;

use crate::web::chart::Scale;
use crate::web::format;

/// The estimate, formatted for the page.
pub(super) struct ChangeRateView {
    /// `every 3.1 hours`
    pub(super) interval: String,
    pub(super) shortest: String,
    pub(super) longest: String,
    /// Changes per day, with lower and upper bound.
    pub(super) rate: String,
    pub(super) low: String,
    pub(super) high: String,
    /// Positions in the diagram, in percent.
    pub(super) start: String,
    pub(super) width: String,
    pub(super) estimate: String,
    pub(super) ticks: Vec<(String, String, &'static str)>,
}

/// Ticks of the time axis: days and label.
const TICKS: [(f64, &str); 10] = [
    (1.0 / 86_400.0, "1 s"),
    (10.0 / 86_400.0, "10 s"),
    (1.0 / 1440.0, "1 min"),
    (10.0 / 1440.0, "10 min"),
    (1.0 / 24.0, "1 h"),
    (0.25, "6 h"),
    (1.0, "1 day"),
    (7.0, "1 week"),
    (30.0, "1 month"),
    (365.0, "1 year"),
];
/// The axis extends beyond the interval by this factor on both sides.
const MARGIN_FACTOR: f64 = 3.0;
/// Limits of the axis in days.
const TIME_RANGE: (f64, f64) = (0.1 / 86_400.0, 36_500.0);

impl ChangeRateView {
    pub(super) fn from_explanation(explanation: &SourceExplanation) -> Option<Self> {
        let rate =
            Some(explanation.changes_a_day).filter(|rate| *rate > 0.0 && rate.is_finite())?;
        let (low, high) = explanation.rate_interval;
        let clamped = |days: f64| days.clamp(TIME_RANGE.0, TIME_RANGE.1);
        let (shortest, longest) = (clamped(1.0 / high), clamped(1.0 / low));
        let estimate = clamped(1.0 / rate);
        let x = Scale::log(
            clamped(shortest / MARGIN_FACTOR),
            clamped(longest * MARGIN_FACTOR),
            format::duration,
        );
        let position = |days: f64| 100.0 * x.share(days);
        let is_visible = |days: f64| (1.0..99.0).contains(&position(days));
        let ticks: Vec<_> = TICKS.into_iter().filter(|(days, _)| is_visible(*days)).collect();
        let step = ticks.len().div_ceil(5).max(1);
        let ticks = ticks.into_iter().step_by(step).map(|(days, name)| {
            let x = position(days);
            let anchor = if x < 8.0 {
                "start"
            } else if x > 92.0 {
                "end"
            } else {
                "estimate"
            };
            (format!("{x:.2}"), name.to_owned(), anchor)
        });
        Some(Self {
            interval: format::interval(rate),
            shortest: format::duration(1.0 / high),
            longest: format::duration(1.0 / low),
            rate: format::number(rate),
            low: format::number(low),
            high: format::number(high),
            start: format!("{:.2}", position(shortest)),
            width: format!("{:.2}", position(longest) - position(shortest)),
            estimate: format!("{:.2}", position(estimate)),
            ticks: ticks.collect(),
        })
    }
}
