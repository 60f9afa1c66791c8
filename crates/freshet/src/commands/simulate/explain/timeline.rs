//! Timeline with a line for each event.

use freshet_sim::{Explanation, Moment, SourceStory};

use super::moments::{describe, next};
use crate::number::format_significant;

const HEAD: [[&str; 2]; 8] = [
    ["", "day"],
    ["", "event"],
    ["copy", "age"],
    ["changes every", "(95 % interval)"],
    ["true", "interval"],
    ["value", "of price"],
    ["", "price"],
    ["next", "fetch"],
];
/// True for columns that are aligned to the left.
const LEFT: [bool; 8] = [false, true, false, true, false, false, false, true];

pub(super) fn lines(story: &SourceStory, shown: &[usize]) -> Vec<String> {
    let mut rows: Vec<[String; 8]> =
        (0..2).map(|line| HEAD.map(|it| it[line].to_owned())).collect();
    rows.extend(shown.iter().map(|&at| row(&story.moments[at])));
    let mut widths = [0; 8];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 8]| {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let width = widths[at];
            line += &match LEFT[at] {
                true => format!("{cell:<width$}  "),
                false => format!("{cell:>width$}  "),
            };
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn row(it: &Moment) -> [String; 8] {
    let none = || "–".to_owned();
    let before = it.before;
    let share = before.map_or(f64::NAN, |before| 100.0 * before.worth / before.price);
    [
        format!("{:.2}", it.day),
        describe(it),
        before.and_then(|before| before.age).map_or_else(none, format_span),
        it.after.as_ref().map_or_else(none, format_estimate),
        format_span(1.0 / it.rate),
        if share.is_finite() { format!("{share:.0} %") } else { none() },
        before.map_or_else(none, |before| format_significant(before.price)),
        it.after.as_ref().map_or_else(none, next),
    ]
}

fn format_estimate(it: &Explanation) -> String {
    let (low, high) = it.credible_interval;
    format!(
        "{} ({} – {})",
        format_span(1.0 / it.belief.mean()),
        format_span(1.0 / high),
        format_span(1.0 / low)
    )
}

/// Formats a time in days in a short form.
pub(super) fn format_span(days: f64) -> String {
    let digits = |value: f64| match value {
        _ if value >= 100.0 => format_significant(value.round()),
        _ => format!("{value:.1}"),
    };
    match days {
        _ if days.is_nan() => "–".to_owned(),
        _ if days >= 1e7 => "never".to_owned(),
        _ if days >= 730.0 => format!("{} y", digits(days / 365.25)),
        _ if days >= 2.0 => format!("{} d", digits(days)),
        _ if days >= 2.0 / 24.0 => format!("{} h", digits(days * 24.0)),
        _ if days >= 2.0 / 1440.0 => format!("{} min", digits(days * 1440.0)),
        _ if days > 0.0 => format!("{} s", digits(days * 86_400.0)),
        _ => "0".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_the_unit_that_fits() {
        let cases = [
            (0.0, "0"),
            (1e-5, "0.9 s"),
            (0.01, "14.4 min"),
            (0.5, "12.0 h"),
            (3.25, "3.2 d"),
            (400.4, "400 d"),
            (3652.5, "10.0 y"),
            (f64::INFINITY, "never"),
            (f64::NAN, "–"),
        ];
        for (days, expect) in cases {
            assert_eq!(format_span(days), expect);
        }
    }
}
