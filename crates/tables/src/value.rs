//! Validation of a single cell.

use crate::error::{Fault, Quoted};

/// Range of numbers that the planner can square and divide without loss.
const SMALLEST: f64 = 1e-30;
const LARGEST: f64 = 1e30;

/// Range of the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Range {
    /// Zero or more.
    NotNegative,
    /// More than zero.
    Positive,
    /// Zero or more, or infinite.
    Limit,
}

/// Parses a number.
pub(crate) fn parse(text: &str, range: Range) -> Result<f64, Fault> {
    let value: f64 = match text.parse() {
        Ok(value) => value,
        Err(_) => text.trim().parse().map_err(|_| Fault::NotANumber(Quoted::new(text)))?,
    };
    if (SMALLEST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    // `1e-400` parses as 0 and `1e400` as infinity; both are rejected.
    let lost = if value == 0.0 {
        text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9'))
    } else {
        value.is_infinite() && text.bytes().any(|b| b.is_ascii_digit())
    };
    if lost && !value.is_sign_negative() {
        return Err(Fault::OutOfRange(Quoted::new(text)));
    }
    check_with(value, range, || Quoted::new(text))
}

/// Validates a number.
pub(crate) fn check(value: f64, range: Range) -> Result<f64, Fault> {
    if (SMALLEST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    check_with(value, range, || Quoted::number(value))
}

#[cold]
fn check_with(value: f64, range: Range, quoted: impl Fn() -> Quoted) -> Result<f64, Fault> {
    if value.is_nan() {
        Err(Fault::NotFinite(quoted()))
    } else if value < 0.0 {
        Err(Fault::Negative(quoted()))
    } else if value == 0.0 && range == Range::Positive {
        Err(Fault::NotPositive(quoted()))
    } else if value == 0.0 {
        // Avoids negative zero.
        Ok(0.0)
    } else if value.is_infinite() && range == Range::Limit {
        Ok(value)
    } else if value.is_infinite() {
        Err(Fault::NotFinite(quoted()))
    } else if !(SMALLEST..=LARGEST).contains(&value) {
        Err(Fault::OutOfRange(quoted()))
    } else {
        Ok(value)
    }
}

/// Parses a boolean.
pub(crate) fn parse_bool(text: &str) -> Result<bool, Fault> {
    match text {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => match text.trim() {
            // Spreadsheets write TRUE, Python writes True, and data frames with gaps write 1.0.
            "0" | "0.0" | "false" | "False" | "FALSE" => Ok(false),
            "1" | "1.0" | "true" | "True" | "TRUE" => Ok(true),
            _ => Err(Fault::NotABool(Quoted::new(text))),
        },
    }
}

/// Converts a number to a boolean.
pub(crate) fn check_bool(value: f64) -> Result<bool, Fault> {
    if value == 0.0 || value == 1.0 {
        Ok(value == 1.0)
    } else {
        Err(Fault::NotABool(Quoted::number(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, range: Range, expect: Result<f64, &str>) {
        let got = parse(text, range).map_err(|fault| fault.to_string());
        assert_eq!(got, expect.map_err(str::to_owned));
    }

    #[test]
    fn numbers_in_range() {
        check("3.25", Range::NotNegative, Ok(3.25));
        check(" 1e3\t", Range::NotNegative, Ok(1000.0));
        check("0", Range::NotNegative, Ok(0.0));
        check("0e-999", Range::NotNegative, Ok(0.0));
        check("1e-30", Range::Positive, Ok(1e-30));
        check("1e30", Range::Limit, Ok(1e30));
        check("inf", Range::Limit, Ok(f64::INFINITY));
        check("Infinity", Range::Limit, Ok(f64::INFINITY));
        assert!(parse("-0.0", Range::NotNegative).unwrap().is_sign_positive());
    }

    #[test]
    fn numbers_out_of_range() {
        check("-3", Range::NotNegative, Err("`-3` is negative"));
        check("-inf", Range::Limit, Err("`-inf` is negative"));
        check("-1e400", Range::Limit, Err("`-1e400` is negative"));
        check("NaN", Range::Limit, Err("`NaN` is not a finite number"));
        check("inf", Range::NotNegative, Err("`inf` is not a finite number"));
        check("1e-31", Range::NotNegative, Err("`1e-31` is outside 1e-30 to 1e30"));
        check("1e31", Range::Limit, Err("`1e31` is outside 1e-30 to 1e30"));
        check("1e400", Range::Limit, Err("`1e400` is outside 1e-30 to 1e30"));
        check("1e-400", Range::NotNegative, Err("`1e-400` is outside 1e-30 to 1e30"));
        check("0", Range::Positive, Err("`0` is not above 0"));
        check("1,5", Range::NotNegative, Err("`1,5` is not a number"));
        check("a\nb", Range::NotNegative, Err("`a\\nb` is not a number"));
    }

    #[test]
    fn long_values_are_cut_in_messages() {
        let fault = parse(&"x".repeat(1000), Range::Limit).unwrap_err();
        assert_eq!(fault.to_string(), format!("`{}…` is not a number", "x".repeat(80)));
    }

    #[test]
    fn yes_and_no() {
        let read = |text| parse_bool(text).map_err(|fault| fault.to_string());
        assert_eq!((read("1"), read("True"), read("1.0")), (Ok(true), Ok(true), Ok(true)));
        assert_eq!((read("0"), read(" false"), read("0.0")), (Ok(false), Ok(false), Ok(false)));
        assert_eq!(read("2"), Err("`2` is not 0, 1, true or false".to_owned()));
    }
}
