//! Numbers as people read them.

/// Four significant digits, thousands separated.
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
        let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
        let rest = rest.trim_end_matches('0');
        if rest.is_empty() { thousands(whole) } else { format!("{}.{rest}", thousands(whole)) }
    }
}

/// So many decimals, thousands separated.
#[must_use]
pub fn format_fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, rest)) => format!("{}.{rest}", thousands(whole)),
        None => thousands(&text),
    }
}

/// A count with separated thousands.
#[must_use]
pub fn format_count(value: usize) -> String {
    thousands(&value.to_string())
}

/// A share as people say it: 0.9731, never rounded up to 1.
#[must_use]
pub fn format_share(value: f64) -> String {
    if value.is_nan() {
        return "–".to_owned();
    }
    let rounded = format!("{value:.4}");
    if rounded == "1.0000" && value < 1.0 { "0.9999+".to_owned() } else { rounded }
}

/// A time given in days, in the unit that reads best.
#[must_use]
pub fn format_days(value: f64) -> String {
    format_days_in_unit_of(value, value)
}

/// A time given in days, in the unit that reads best for `model`: so that times can be compared.
#[must_use]
pub fn format_days_in_unit_of(value: f64, model: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "–".to_owned() } else { "for ever".to_owned() };
    }
    let (scale, unit) = unit_for_days(model);
    format!("{} {unit}", format_significant(value * scale))
}

/// The unit that reads best for a time in days, and how many of it make a day.
#[must_use]
pub fn unit_for_days(model: f64) -> (f64, &'static str) {
    match model {
        v if !v.is_finite() => (1.0, "days"),
        v if v >= 730.0 => (1.0 / 365.25, "years"),
        v if v >= 2.0 => (1.0, "days"),
        v if v >= 2.0 / 24.0 => (24.0, "hours"),
        v if v >= 2.0 / 1440.0 => (1440.0, "minutes"),
        _ => (86_400.0, "seconds"),
    }
}

/// A count of things, in words.
#[must_use]
pub fn pluralize(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", format_count(number), if number == 1 { one } else { many })
}

fn thousands(digits: &str) -> String {
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
    fn numbers_read_well() {
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
    fn decimals_are_kept_where_asked_for() {
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
    fn times_take_the_unit_that_fits() {
        assert_eq!(format_days(0.5), "12 hours");
        assert_eq!(format_days(3.25), "3.25 days");
        assert_eq!(format_days(90.0 / 86_400.0), "90 seconds");
        assert_eq!(format_days(3652.5), "10 years");
    }

    #[test]
    fn a_share_below_one_is_not_shown_as_one() {
        assert_eq!(
            (format_share(0.99999), format_share(1.0)),
            ("0.9999+".to_owned(), "1.0000".to_owned())
        );
    }
}
