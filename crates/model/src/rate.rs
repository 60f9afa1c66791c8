//! Rates: always per day inside the program.

use std::fmt;
use std::str::FromStr;

/// Events per day: finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct PerDay(f64);

/// Error of creating or parsing a rate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidRate {
    /// The number is below zero.
    #[error("{0} is negative")]
    Negative(f64),
    /// The number is NaN or infinite.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// The text is not of the form `NUMBER/UNIT`.
    #[error("`{0}` is not a rate such as `5000/day`, `10/s` or `90/hour`")]
    Malformed(String),
}

impl PerDay {
    /// No events.
    pub const ZERO: Self = Self(0.0);

    /// Creates a rate.
    ///
    /// # Errors
    /// Returns [`InvalidRate`] if `value` is negative or not finite.
    pub fn new(value: f64) -> Result<Self, InvalidRate> {
        if !value.is_finite() {
            Err(InvalidRate::NotFinite(value))
        } else if value < 0.0 {
            Err(InvalidRate::Negative(value))
        } else {
            Ok(Self(value))
        }
    }

    /// Returns the events per day.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for PerDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/day", self.0)
    }
}

impl FromStr for PerDay {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let malformed = || InvalidRate::Malformed(text.to_owned());
        let (number, unit) = text.split_once('/').ok_or_else(malformed)?;
        let value: f64 = number.trim().replace('_', "").parse().map_err(|_| malformed())?;
        let per_day = match unit.trim() {
            "s" | "sec" | "second" => 86_400.0,
            "min" | "minute" => 1_440.0,
            "h" | "hour" => 24.0,
            "d" | "day" => 1.0,
            "w" | "week" => 1.0 / 7.0,
            "month" => 12.0 / 365.25,
            "y" | "year" => 1.0 / 365.25,
            _ => return Err(malformed()),
        };
        Self::new(value * per_day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<f64, &str>) {
        let got = text.parse::<PerDay>();
        match expect {
            Ok(value) => assert_eq!(got.map(PerDay::get), Ok(value)),
            Err(message) => assert_eq!(got.unwrap_err().to_string(), message),
        }
    }

    #[test]
    fn units_are_converted_to_days() {
        check("5000/day", Ok(5000.0));
        check("10/s", Ok(864_000.0));
        check("1_000 / hour", Ok(24_000.0));
        check("7/week", Ok(1.0));
        check("0/day", Ok(0.0));
    }

    #[test]
    fn invalid_rates_are_refused() {
        check("-1/day", Err("-1 is negative"));
        check("inf/day", Err("inf is not a finite number"));
        check("NaN/s", Err("NaN is not a finite number"));
        check("5000", Err("`5000` is not a rate such as `5000/day`, `10/s` or `90/hour`"));
        check(
            "5/fortnight",
            Err("`5/fortnight` is not a rate such as `5000/day`, `10/s` or `90/hour`"),
        );
    }
}
