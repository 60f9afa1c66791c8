//! Tables of text, and numbers with their uncertainty.

use freshet_sim::MeanWithInterval;

use crate::number::format_fixed;

/// Column with two heading lines and a cell for each row.
pub(crate) struct Column {
    pub(crate) head: [String; 2],
    pub(crate) cells: Vec<String>,
}

impl Column {
    pub(crate) fn new(head: [&str; 2], cells: Vec<String>) -> Self {
        Self { head: head.map(str::to_owned), cells }
    }

    fn width(&self) -> usize {
        let all = self.head.iter().chain(&self.cells);
        all.map(|text| text.chars().count()).max().unwrap_or(0)
    }
}

/// Space between columns, in characters.
const COLUMN_GAP: usize = 2;

/// Returns the width of a table in characters.
pub(crate) fn width(columns: &[Column]) -> usize {
    let sum: usize = columns.iter().map(|column| column.width() + COLUMN_GAP).sum();
    sum.saturating_sub(COLUMN_GAP)
}

/// Formats a table; the first column is aligned to the left, the others to the right.
pub(crate) fn lines(columns: &[Column]) -> Vec<String> {
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let cell = |column: &Column, row: usize| match row.checked_sub(2) {
        None => column.head[row].clone(),
        Some(row) => column.cells.get(row).cloned().unwrap_or_default(),
    };
    let line = |row: usize| {
        let mut line = String::new();
        for (at, column) in columns.iter().enumerate() {
            let (text, width) = (cell(column, row), column.width());
            line.push_str(&match at {
                0 => format!("{text:<width$}"),
                _ => format!("{:COLUMN_GAP$}{text:>width$}", ""),
            });
        }
        line.trim_end().to_owned()
    };
    (0..rows + 2).map(line).collect()
}

/// Precision of a formatted number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Digits {
    /// Up to the first digit of the median uncertainty, or the second if the first is a 1; four digits
    /// if the uncertainty is unknown.
    Standard,
    /// One more digit: policies run on the same webs, so that they differ by less than they vary.
    Fine,
}

/// Returns the number of decimals that suits all values.
fn decimals(spreads: &[MeanWithInterval], scale: f64, digits: Digits) -> usize {
    let mut halves: Vec<f64> =
        spreads.iter().map(|it| half(it) * scale).filter(|half| *half > 0.0).collect();
    halves.sort_by(f64::total_cmp);
    let largest = spreads.iter().map(|it| (it.mean * scale).abs()).filter(|it| it.is_finite());
    let largest = largest.fold(0.0, f64::max);
    let size = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
    let shown = match halves.get(halves.len() / 2) {
        Some(half) => {
            let place = half.log10().floor() as i32;
            let leading = half / 10f64.powi(place);
            let first = if leading < 1.95 { 1 - place } else { -place };
            first + i32::from(digits == Digits::Fine)
        }
        None => 3 - size,
    };
    // At most five digits in total.
    shown.min(4 - size).clamp(0, 6) as usize
}

/// Formats means with half of their confidence intervals.
pub(crate) fn with_half(spreads: &[MeanWithInterval], scale: f64, digits: Digits) -> Vec<String> {
    let decimals = decimals(spreads, scale, digits);
    let half_of = |it: &MeanWithInterval| match it.interval {
        Some(_) if half(it).is_finite() => format_fixed(half(it) * scale, decimals),
        _ => String::new(),
    };
    let halves: Vec<String> = spreads.iter().map(half_of).collect();
    let width = halves.iter().map(|half| half.chars().count()).max().unwrap_or(0);
    let means = means(spreads, scale, digits);
    let cell = |(mean, half): (&String, &String)| match half.is_empty() {
        true => mean.clone(),
        false => format!("{mean} ± {half:>width$}"),
    };
    means.iter().zip(&halves).map(cell).collect()
}

/// Formats means.
pub(crate) fn means(spreads: &[MeanWithInterval], scale: f64, digits: Digits) -> Vec<String> {
    let decimals = decimals(spreads, scale, digits);
    let cell = |it: &MeanWithInterval| match it.mean.is_finite() {
        true => format_fixed(it.mean * scale, decimals),
        false => "–".to_owned(),
    };
    spreads.iter().map(cell).collect()
}

fn half(spread: &MeanWithInterval) -> f64 {
    spread.interval.map_or(f64::NAN, |(low, high)| 0.5 * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(mean: f64, half: f64) -> MeanWithInterval {
        MeanWithInterval { mean, interval: Some((mean - half, mean + half)) }
    }

    #[test]
    fn numbers_have_as_many_digits_as_are_known() {
        let check = |spreads: &[MeanWithInterval], expect: &[&str]| {
            assert_eq!(with_half(spreads, 1.0, Digits::Standard), expect);
        };
        let fine = with_half(&[spread(0.41234, 0.0051)], 1.0, Digits::Fine);
        assert_eq!(fine, ["0.4123 ± 0.0051"]);
        check(&[spread(0.41234, 0.0051), spread(1.2, 0.004)], &["0.412 ± 0.005", "1.200 ± 0.004"]);
        check(&[spread(0.41234, 0.0012)], &["0.4123 ± 0.0012"]);
        check(&[spread(2.7654, 1.23)], &["2.8 ± 1.2"]);
        check(&[spread(123_456.7, 34.0)], &["123,457 ± 34"]);
        check(&[spread(0.5, 1e-12)], &["0.50000 ± 0.00000"]);
        check(&[MeanWithInterval { mean: 0.123_456, interval: None }], &["0.1235"]);
        check(&[MeanWithInterval { mean: f64::NAN, interval: None }], &["–"]);
        check(&[spread(0.5, 0.0), spread(2.0, f64::NAN)], &["0.500 ± 0.000", "2.000"]);
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be() {
        let columns = [
            Column::new(["", "policy"], vec!["optimum".to_owned(), "uniform".to_owned()]),
            Column::new(["the", "cost"], vec!["0.5".to_owned(), "–".to_owned()]),
        ];
        let expect = ["          the", "policy   cost", "optimum   0.5", "uniform     –"];
        assert_eq!(lines(&columns), expect);
        assert_eq!(width(&columns), 13);
    }
}
