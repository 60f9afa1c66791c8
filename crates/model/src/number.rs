//! Formats numbers for people.

/// Formats a number with four significant digits and separated thousands.
#[must_use]
pub fn format_significant(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    if value.is_infinite() {
        return "∞".to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e9).contains(&size) {
        format!("{value:.3e}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.decimals$}");
        let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            separate_thousands(integer)
        } else {
            format!("{}.{fraction}", separate_thousands(integer))
        }
    }
}

/// Formats a number with a fixed number of decimals and separated thousands.
#[must_use]
pub fn format_fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((integer, fraction)) => format!("{}.{fraction}", separate_thousands(integer)),
        None => separate_thousands(&text),
    }
}

/// Formats a count with separated thousands.
#[must_use]
pub fn format_count(value: usize) -> String {
    separate_thousands(&value.to_string())
}

/// Formats a share with four decimals, such as 0.9731. A share below 1 is never rounded to 1.
#[must_use]
pub fn format_share(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    let rounded = format!("{value:.4}");
    if rounded == "1.0000" && value < 1.0 { "0.9999+".to_owned() } else { rounded }
}

/// Formats a duration in days with the most readable unit.
#[must_use]
pub fn format_days(value: f64) -> String {
    format_days_in_unit_of(value, value)
}

/// Formats a duration in days with the unit of another duration, so that the two can be compared.
#[must_use]
pub fn format_days_in_unit_of(value: f64, reference: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "–".to_owned() } else { "for ever".to_owned() };
    }
    let (scale, unit) = unit_for_days(reference);
    format!("{} {unit}", format_significant(value * scale))
}

/// Returns the most readable unit for a duration in days, as units per day and the name of the unit.
#[must_use]
pub fn unit_for_days(days: f64) -> (f64, &'static str) {
    match days {
        v if !v.is_finite() => (1.0, "days"),
        v if v >= 730.0 => (1.0 / 365.25, "years"),
        v if v >= 2.0 => (1.0, "days"),
        v if v >= 2.0 / 24.0 => (24.0, "hours"),
        v if v >= 2.0 / 1440.0 => (1440.0, "minutes"),
        _ => (86_400.0, "seconds"),
    }
}

/// Formats a count with its noun: `1 source`, `2 sources`.
#[must_use]
pub fn pluralize(count: usize, singular: &str, plural: &str) -> String {
    format!("{} {}", format_count(count), if count == 1 { singular } else { plural })
}

fn separate_thousands(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (1234567.0, "1,234,567"),
            (1234.5678, "1,235"),
            (12.345678, "12.35"),
            (0.5, "0.5"),
            (0.000123456, "0.0001235"),
            (1e-7, "1.000e-7"),
            (-1500.0, "-1,500"),
            (f64::INFINITY, "∞"),
        ];
        for (value, expect) in cases {
            assert_eq!(format_significant(value), expect);
        }
    }

    #[test]
    fn fixed_decimals_are_kept() {
        let cases = [
            (1234.5, 1, "1,234.5"),
            (0.5, 3, "0.500"),
            (1e6, 0, "1,000,000"),
            (-1500.0, 0, "-1,500"),
        ];
        for (value, decimals, expect) in cases {
            assert_eq!(format_fixed(value, decimals), expect);
        }
    }

    #[test]
    fn durations_get_the_most_readable_unit() {
        assert_eq!(format_days(0.5), "12 hours");
        assert_eq!(format_days(3.25), "3.25 days");
        assert_eq!(format_days(90.0 / 86_400.0), "90 seconds");
        assert_eq!(format_days(3652.5), "10 years");
    }

    #[test]
    fn a_share_below_one_is_not_rounded_to_one() {
        assert_eq!(
            (format_share(0.99999), format_share(1.0)),
            ("0.9999+".to_owned(), "1.0000".to_owned())
        );
    }
}
