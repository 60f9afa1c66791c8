//! Formatting of numbers: `0.001`, `1,000`, `10 k`, `1 M`, `10⁻⁶`.

/// No-break space between a number and its suffix.
const SPACE: char = '\u{a0}';

/// Formats a number with three significant digits (four below 10,000), as on ticks.
///
/// ```
/// assert_eq!(freshet_chart::number(0.1 + 0.2), "0.3");
/// assert_eq!(freshet_chart::number(5_000.0), "5,000");
/// assert_eq!(freshet_chart::number(1_234_567.0), "1.23\u{a0}M");
/// ```
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let significant = if (1e3..1e4).contains(&value.abs()) { 4 } else { 3 };
    Decimal::rounded(value, significant).label()
}

/// `digits × 10^exponent`. Ticks are computed in decimals, so that 0.3 never becomes 0.30000000000000004.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) digits: i64,
    pub(crate) exponent: i32,
}

impl Decimal {
    pub(crate) fn new(digits: i64, exponent: i32) -> Decimal {
        Decimal { digits, exponent }
    }

    fn rounded(value: f64, significant: usize) -> Decimal {
        let text = format!("{value:.*e}", significant - 1);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = mantissa.replace('.', "").parse().unwrap_or(0);
        let exponent: i32 = exponent.parse().unwrap_or(0);
        Decimal { digits, exponent: exponent - (significant as i32 - 1) }.normalised()
    }

    /// Returns the nearest `f64`. Converts through text, because `3.0 * 10f64.powi(-1)` is not the nearest to 0.3.
    pub(crate) fn value(self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn times(self, factor: i64) -> Decimal {
        Decimal { digits: self.digits * factor, exponent: self.exponent }
    }

    fn normalised(self) -> Decimal {
        if self.digits == 0 {
            return Decimal { digits: 0, exponent: 0 };
        }
        let mut decimal = self;
        while decimal.digits % 10 == 0 {
            decimal.digits /= 10;
            decimal.exponent += 1;
        }
        decimal
    }

    /// Returns the exponent of the leading digit: 3 for 1,000 to 9,999.
    fn magnitude(self) -> i32 {
        self.digits.unsigned_abs().checked_ilog10().map_or(0, |log| log as i32 + self.exponent)
    }

    /// Formats the number without trailing zeros.
    pub(crate) fn label(self) -> String {
        let decimal = self.normalised();
        match Unit::of(decimal.magnitude()) {
            Some(unit) => decimal.in_unit(unit, (unit.exponent() - decimal.exponent).max(0)),
            None => decimal.scientific(),
        }
    }

    fn in_unit(self, unit: Unit, decimals: i32) -> String {
        if self.digits == 0 {
            return "0".to_owned();
        }
        let mut digits = self.digits.unsigned_abs().to_string();
        let shift = self.exponent - unit.exponent() + decimals;
        digits.extend(std::iter::repeat_n('0', usize::try_from(shift).unwrap_or(0)));
        let decimals = usize::try_from(decimals).unwrap_or(0);
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);

        let mut label = String::from(if self.digits < 0 { "−" } else { "" });
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index) % 3 == 0 {
                label.push(',');
            }
            label.push(digit);
        }
        if !fraction.is_empty() {
            label.push('.');
            label.push_str(fraction);
        }
        if let Some(suffix) = unit.suffix() {
            label.push(SPACE);
            label.push(suffix);
        }
        label
    }

    fn scientific(self) -> String {
        let decimal = self.normalised();
        if decimal.digits == 0 {
            return "0".to_owned();
        }
        let sign = if decimal.digits < 0 { "−" } else { "" };
        let digits = decimal.digits.unsigned_abs().to_string();
        let power = superscript(decimal.magnitude());
        match digits.split_at(1) {
            ("1", "") => format!("{sign}10{power}"),
            (first, "") => format!("{sign}{first}×10{power}"),
            (first, rest) => format!("{sign}{first}.{rest}×10{power}"),
        }
    }
}

/// Returns the labels of evenly spaced ticks, with one suffix and one number of decimals for the whole axis.
pub(crate) fn labels(ticks: &[Decimal], step: Decimal) -> Vec<String> {
    let magnitude = ticks.iter().filter(|tick| tick.digits != 0).map(|tick| tick.magnitude()).max();
    let Some(mut unit) = Unit::of(magnitude.unwrap_or(0)) else {
        return ticks.iter().map(|tick| tick.scientific()).collect();
    };
    // A suffix must shorten the label: 1,000,050 is better than 1.00005 M.
    while unit != Unit::One && unit.exponent() - step.exponent > 2 {
        unit = unit.smaller();
    }
    let decimals = (unit.exponent() - step.exponent).max(0);
    ticks.iter().map(|tick| tick.in_unit(unit, decimals)).collect()
}

/// Returns the labels of ticks on a logarithmic axis, which do not mix powers of ten and suffixes.
pub(crate) fn log_labels(ticks: &[Decimal]) -> Vec<String> {
    let powers = ticks.iter().any(|tick| Unit::of(tick.magnitude()).is_none());
    let label = |tick: &Decimal| match Unit::of(tick.magnitude()) {
        Some(unit) if powers && unit != Unit::One => tick.scientific(),
        _ => tick.label(),
    };
    ticks.iter().map(label).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    One,
    Kilo,
    Mega,
    Giga,
    Tera,
}

impl Unit {
    /// Returns `None` if only a power of ten is short.
    fn of(magnitude: i32) -> Option<Unit> {
        match magnitude {
            -4..=3 => Some(Unit::One),
            4..=5 => Some(Unit::Kilo),
            6..=8 => Some(Unit::Mega),
            9..=11 => Some(Unit::Giga),
            12..=14 => Some(Unit::Tera),
            _ => None,
        }
    }

    fn exponent(self) -> i32 {
        match self {
            Unit::One => 0,
            Unit::Kilo => 3,
            Unit::Mega => 6,
            Unit::Giga => 9,
            Unit::Tera => 12,
        }
    }

    fn suffix(self) -> Option<char> {
        match self {
            Unit::One => None,
            Unit::Kilo => Some('k'),
            Unit::Mega => Some('M'),
            Unit::Giga => Some('G'),
            Unit::Tera => Some('T'),
        }
    }

    fn smaller(self) -> Unit {
        match self {
            Unit::One | Unit::Kilo => Unit::One,
            Unit::Mega => Unit::Kilo,
            Unit::Giga => Unit::Mega,
            Unit::Tera => Unit::Giga,
        }
    }
}

fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    exponent
        .to_string()
        .chars()
        .map(|c| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: f64, expect: &str) {
        assert_eq!(number(value).replace(SPACE, " "), expect, "{value:e}");
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        check(0.0, "0");
        check(-0.0, "0");
        check(0.1 + 0.2, "0.3");
        check(-2.5, "−2.5");
        check(999.0, "999");
        check(999.96, "1,000");
        check(1_000.0, "1,000");
        check(9_876.0, "9,876");
        check(10_000.0, "10 k");
        check(123_456.0, "123 k");
        check(1e6, "1 M");
        check(2.5e9, "2.5 G");
        check(7e14, "700 T");
        check(1e15, "10¹⁵");
        check(0.001, "0.001");
        check(0.000_1, "0.0001");
        check(0.000_01, "10⁻⁵");
        check(-2.5e-30, "−2.5×10⁻³⁰");
        check(f64::MAX, "1.8×10³⁰⁸");
        check(f64::MIN_POSITIVE / 1e10, "2.23×10⁻³¹⁸");
        check(f64::NAN, "–");
        check(f64::NEG_INFINITY, "−∞");
    }

    #[test]
    fn an_axis_keeps_one_suffix_and_one_number_of_decimals() {
        let axis = |step: Decimal, from: i64, to: i64| {
            let ticks: Vec<Decimal> = (from..=to).map(|index| step.times(index)).collect();
            labels(&ticks, step).join(" | ").replace(SPACE, " ")
        };
        assert_eq!(axis(Decimal::new(2, -1), 0, 5), "0 | 0.2 | 0.4 | 0.6 | 0.8 | 1.0");
        assert_eq!(axis(Decimal::new(5, 3), 0, 3), "0 | 5 k | 10 k | 15 k");
        assert_eq!(axis(Decimal::new(2, 3), 0, 4), "0 | 2,000 | 4,000 | 6,000 | 8,000");
        assert_eq!(axis(Decimal::new(5, 5), 0, 3), "0 | 0.5 M | 1.0 M | 1.5 M");
        assert_eq!(axis(Decimal::new(5, 1), 20_000, 20_001), "1,000.00 k | 1,000.05 k");
        assert_eq!(axis(Decimal::new(5, -1), 2_000_000, 2_000_001), "1,000,000.0 | 1,000,000.5");
        assert_eq!(axis(Decimal::new(5, 29), 0, 2), "0 | 5×10²⁹ | 10³⁰");
    }
}
