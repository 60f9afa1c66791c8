//! A line for each moment.

use freshet_sim::{Explanation, Moment, Story};

use super::moments::{next, words};
use crate::number::significant;

const HEAD: [[&str; 2]; 8] = [
    ["", "day"],
    ["", "what happened"],
    ["copy", "age"],
    ["changes every, it thinks", "(95 %)"],
    ["in", "truth"],
    ["worth", "of price"],
    ["", "price"],
    ["next", ""],
];
/// Columns of words; those of numbers are to the right.
const LEFT: [bool; 8] = [false, true, false, true, false, false, false, true];

pub(super) fn lines(story: &Story, shown: &[usize]) -> Vec<String> {
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
        words(it),
        before.and_then(|before| before.age).map_or_else(none, span),
        it.after.as_ref().map_or_else(none, believed),
        span(1.0 / it.rate),
        if share.is_finite() { format!("{share:.0} %") } else { none() },
        before.map_or_else(none, |before| significant(before.price)),
        it.after.as_ref().map_or_else(none, next),
    ]
}

fn believed(it: &Explanation) -> String {
    let (low, high) = it.between;
    format!("{} ({} – {})", span(1.0 / it.belief.mean()), span(1.0 / high), span(1.0 / low))
}

/// Days, in few letters.
pub(super) fn span(days: f64) -> String {
    let digits = |value: f64| match value {
        _ if value >= 100.0 => significant(value.round()),
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
    fn times_in_few_letters() {
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
            assert_eq!(span(days), expect);
        }
    }
}
