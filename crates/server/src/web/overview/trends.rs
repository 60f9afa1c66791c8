//! Charts of freshness and changes over time.

use freshet_daemon::Millis;
use freshet_store::StatsBucket;

use crate::true_freshness::FreshnessSeries;
use crate::web::chart::{Chart, ChartMarkup, Scale, Series, SeriesStyle};
use crate::web::format;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// Time range of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TimeRange {
    #[default]
    Day,
    Week,
    Month,
    Year,
}

impl TimeRange {
    const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// Returns all ranges as name, label and whether it is the current one.
    pub(super) fn options(current: Self) -> Vec<(&'static str, &'static str, bool)> {
        let labels = ["24 hours", "7 days", "30 days", "1 year"];
        let each = Self::ALL.into_iter().zip(labels);
        each.map(|(it, labels)| (it.name(), labels, it == current)).collect()
    }

    fn length(self) -> Millis {
        match self {
            Self::Day => DAY,
            Self::Week => 7 * DAY,
            Self::Month => 30 * DAY,
            Self::Year => 365 * DAY,
        }
    }

    pub(super) fn step(self) -> Millis {
        match self {
            Self::Day => 15 * MINUTE,
            Self::Week => 2 * HOUR,
            Self::Month => 12 * HOUR,
            Self::Year => 7 * DAY,
        }
    }

    /// Returns the start of the range, aligned to a step.
    pub(super) fn since(self, now: Millis) -> Millis {
        let since = now - self.length();
        since - since.rem_euclid(self.step())
    }
}

/// Values at which the y axis may start, so that a tick is there.
const AXIS_STARTS: [f64; 3] = [0.9, 0.8, 0.6];

/// Renders the charts of freshness and of changes per hour.
pub(super) fn trend_charts(
    buckets: &[StatsBucket],
    range: TimeRange,
    now: Millis,
    ground_truth: &[FreshnessSeries],
) -> (ChartMarkup, ChartMarkup) {
    let (step, since) = (range.step(), range.since(now));
    // If there is little data, the chart starts at the first.
    let first = buckets.first().map_or(since, |it| it.at).max(since);
    let first = if now - first < range.length() / 2 { first } else { since };
    let steps: Vec<Millis> = (0..).map(|n| first + n * step).take_while(|at| *at <= now).collect();
    let bucket_at: Vec<Option<&StatsBucket>> =
        steps.iter().map(|at| buckets.iter().find(|it| it.at == *at)).collect();
    // A bucket is drawn at its center.
    let centers: Vec<f64> = steps.iter().map(|at| (at + step / 2).min(now) as f64).collect();
    let x = Scale::time(first, now.max(first + step));
    let freshness = freshness(&steps, step, &bucket_at, ground_truth);
    let last = freshness.first().and_then(|it| it.values.iter().rev().flatten().next().copied());
    let lowest = freshness.iter().flat_map(|it| it.values.iter().flatten().copied());
    let lowest = lowest.fold(1.0, f64::min);
    // If freshness varies little, the axis starts above 0.
    let axis_start =
        AXIS_STARTS.into_iter().find(|axis_start| lowest > *axis_start + 0.01).unwrap_or(0.0);
    let fresh = Chart {
        title: "Freshness over time".to_owned(),
        summary: match last {
            Some(last) => format!("{} expected now", format::percent(last)),
            None => "no data yet".to_owned(),
        },
        x,
        y: Scale::linear(axis_start, 1.0, format::whole_percent),
        x_name: "Time (UTC)",
        y_name: "Fresh copies, weighted by importance",
        at: centers.clone(),
        series: freshness,
        annotations: Vec::new(),
    };
    let hours = step as f64 / HOUR as f64;
    let per_hour = |pick: fn(&StatsBucket) -> u64| -> Vec<Option<f64>> {
        bucket_at.iter().map(|it| Some(it.map_or(0.0, |it| pick(it) as f64) / hours)).collect()
    };
    let changed = per_hour(|it| it.changed);
    let total: u64 = bucket_at.iter().flatten().map(|it| it.changed).sum();
    let changes = Chart {
        title: "Changes over time".to_owned(),
        summary: format!("{} in total", format::plural(total, "change", "changes")),
        x,
        y: Scale::up_to(changed.iter().flatten().copied(), format::rounded),
        x_name: "Time (UTC)",
        y_name: "Changes per hour",
        at: centers,
        series: vec![
            Series::line("Changes", changed).style(SeriesStyle::Bars),
            Series::line("Fetches", per_hour(|it| it.fetches)).style(SeriesStyle::TableOnly),
            Series::line("Failures", per_hour(|it| it.failed)).style(SeriesStyle::TableOnly),
        ],
        annotations: Vec::new(),
    };
    (fresh.render(), changes.render())
}

fn freshness(
    steps: &[Millis],
    step: Millis,
    bucket_at: &[Option<&StatsBucket>],
    ground_truth: &[FreshnessSeries],
) -> Vec<Series> {
    let expected = bucket_at.iter().map(|it| it.and_then(|it| it.freshness)).collect();
    let measured = |it: &&StatsBucket| (it.held_days > 0.0).then(|| it.fresh_days / it.held_days);
    let measured = bucket_at.iter().map(|it| it.as_ref().and_then(measured)).collect();
    let mut all = vec![
        Series::line("Expected", expected).write(format::percent),
        Series::line("Measured", measured).write(format::percent),
    ];
    for (at, line) in ground_truth.iter().enumerate().take(2) {
        let name = if at == 0 { "True".to_owned() } else { format!("{}, true", line.name) };
        let values = steps.iter().map(|from| mean(&line.points, *from, from + step)).collect();
        all.push(Series::line(name, values).write(format::percent));
    }
    all
}

/// Returns the mean of the values in `from..to`.
fn mean(line: &[(Millis, f64)], from: Millis, to: Millis) -> Option<f64> {
    let some = line.iter().filter(|(at, _)| (from..to).contains(at));
    let (count, sum) = some.fold((0.0, 0.0), |(count, sum), (_, it)| (count + 1.0, sum + it));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_starts_at_a_tick() {
        for axis_start in AXIS_STARTS.into_iter().chain([0.0]) {
            let ticks = Scale::linear(axis_start, 1.0, format::whole_percent).ticks(4);
            assert!((ticks[0].0 - axis_start).abs() < 1e-9, "{axis_start}: {ticks:?}");
        }
    }
}
