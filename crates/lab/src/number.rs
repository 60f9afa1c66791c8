//! Formatting of numbers.

/// Formats four significant digits without trailing zeros.
#[must_use]
pub fn significant(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "–".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "∞" } else { "−∞" }.to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if !(1e-4..1e9).contains(&size) {
        format!("{value:.3e}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.decimals$}");
        if decimals == 0 {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// Formats a number of decimals.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { significant(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, expect) in [
            (0.0, "0"),
            (1234.5678, "1235"),
            (0.5, "0.5"),
            (-0.000_123_456, "-0.0001235"),
            (1e-7, "1.000e-7"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(significant(value), expect);
        }
        assert_eq!((fixed(0.5, 3), fixed(f64::INFINITY, 3)), ("0.500".to_owned(), "∞".to_owned()));
    }
}
