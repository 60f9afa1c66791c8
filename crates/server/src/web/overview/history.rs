//! How it went: pictures over time.

use freshet_daemon::Millis;
use freshet_store::StatsBucket;

use crate::truth::Line;
use crate::web::chart::{Chart, Drawn, Form, Scale, Series};
use crate::web::words;

const MINUTE: Millis = 60_000;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// How far back a picture goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Span {
    #[default]
    Day,
    Week,
    Month,
    Year,
}

impl Span {
    const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    pub(super) fn named(name: &str) -> Option<Self> {
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

    /// Names, words, and which of them is this one.
    pub(super) fn all(this: Self) -> Vec<(&'static str, &'static str, bool)> {
        let words = ["24 hours", "7 days", "30 days", "A year"];
        let each = Self::ALL.into_iter().zip(words);
        each.map(|(it, words)| (it.name(), words, it == this)).collect()
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

    /// Where it begins: at a whole step.
    pub(super) fn since(self, now: Millis) -> Millis {
        let since = now - self.length();
        since - since.rem_euclid(self.step())
    }
}

/// Where the axis may begin: at shares that are written down.
const FLOORS: [f64; 3] = [0.9, 0.8, 0.6];

/// Freshness, and changes an hour.
pub(super) fn charts(
    pulses: &[StatsBucket],
    span: Span,
    now: Millis,
    truth: &[Line],
) -> (Drawn, Drawn) {
    let (step, since) = (span.step(), span.since(now));
    // What is younger than the span needs no empty room before it.
    let first = pulses.first().map_or(since, |it| it.at).max(since);
    let first = if now - first < span.length() / 2 { first } else { since };
    let steps: Vec<Millis> = (0..).map(|n| first + n * step).take_while(|at| *at <= now).collect();
    let found: Vec<Option<&StatsBucket>> =
        steps.iter().map(|at| pulses.iter().find(|it| it.at == *at)).collect();
    // What happened in a step is shown in its middle.
    let middle: Vec<f64> = steps.iter().map(|at| (at + step / 2).min(now) as f64).collect();
    let x = Scale::time(first, now.max(first + step));
    let freshness = freshness(&steps, step, &found, truth);
    let last = freshness.first().and_then(|it| it.values.iter().rev().flatten().next().copied());
    let lowest = freshness.iter().flat_map(|it| it.values.iter().flatten().copied());
    let lowest = lowest.fold(1.0, f64::min);
    // A line that hardly moves is looked at closely.
    let floor = FLOORS.into_iter().find(|floor| lowest > *floor + 0.01).unwrap_or(0.0);
    let fresh = Chart {
        title: "Fresh copies".to_owned(),
        summary: match last {
            Some(last) => format!("{} expected now", words::percent(last)),
            None => "nothing is known yet".to_owned(),
        },
        x,
        y: Scale::linear(floor, 1.0, words::whole_percent),
        x_name: "Time (UTC)",
        y_name: "of copies, by importance",
        at: middle.clone(),
        series: freshness,
        marks: Vec::new(),
    };
    let hours = step as f64 / HOUR as f64;
    let per_hour = |pick: fn(&StatsBucket) -> u64| -> Vec<Option<f64>> {
        found.iter().map(|it| Some(it.map_or(0.0, |it| pick(it) as f64) / hours)).collect()
    };
    let changed = per_hour(|it| it.changed);
    let total: u64 = found.iter().flatten().map(|it| it.changed).sum();
    let changes = Chart {
        title: "Changes an hour".to_owned(),
        summary: format!("{} in all", words::plural(total, "change", "changes")),
        x,
        y: Scale::up_to(changed.iter().flatten().copied(), words::figure),
        x_name: "Time (UTC)",
        y_name: "an hour",
        at: middle,
        series: vec![
            Series::line("Changes", changed).form(Form::Bars),
            Series::line("Fetches", per_hour(|it| it.fetches)).form(Form::Untold),
            Series::line("Failures", per_hour(|it| it.failed)).form(Form::Untold),
        ],
        marks: Vec::new(),
    };
    (fresh.draw(), changes.draw())
}

fn freshness(
    steps: &[Millis],
    step: Millis,
    found: &[Option<&StatsBucket>],
    truth: &[Line],
) -> Vec<Series> {
    let expected = found.iter().map(|it| it.and_then(|it| it.freshness)).collect();
    let measured = |it: &&StatsBucket| (it.held > 0.0).then(|| it.fresh / it.held);
    let measured = found.iter().map(|it| it.as_ref().and_then(measured)).collect();
    let mut all = vec![
        Series::line("Expected", expected).write(words::percent),
        Series::line("Measured when fetched", measured).write(words::percent),
    ];
    for (at, line) in truth.iter().enumerate().take(2) {
        let name = if at == 0 { "In truth".to_owned() } else { format!("{}, in truth", line.name) };
        let values = steps.iter().map(|from| mean(&line.fresh, *from, from + step)).collect();
        all.push(Series::line(name, values).write(words::percent));
    }
    all
}

/// The mean of what was from one moment on and before another.
fn mean(line: &[(Millis, f64)], from: Millis, to: Millis) -> Option<f64> {
    let some = line.iter().filter(|(at, _)| (from..to).contains(at));
    let (count, sum) = some.fold((0.0, 0.0), |(count, sum), (_, it)| (count + 1.0, sum + it));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_begins_with_a_share_that_is_written_down() {
        for floor in FLOORS.into_iter().chain([0.0]) {
            let ticks = Scale::linear(floor, 1.0, words::whole_percent).ticks(4);
            assert!((ticks[0].0 - floor).abs() < 1e-9, "{floor}: {ticks:?}");
        }
    }
}
