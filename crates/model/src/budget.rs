//! Request budgets: in total, or per source.

use std::fmt;
use std::str::FromStr;

use crate::{InvalidRate, PerDay};

/// A request budget, as written in arguments and configurations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Fetches per day in total: `5000/day`, `10/s`.
    Total(PerDay),
    /// Fetches per day for each source: `0.2/source/day`, `20%/day`.
    PerSource(PerDay),
}

/// Error of parsing a budget.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidBudget {
    /// The text has none of the formats of a budget.
    #[error("`{0}` is not a budget such as `5000/day`, `10/s`, `0.2/source/day` or `20%/day`")]
    Malformed(String),
    /// The format is right, but the number is not.
    #[error("budget {0}")]
    InvalidRate(InvalidRate),
}

impl Budget {
    /// Returns the total fetches per day for a number of sources.
    #[must_use]
    pub fn for_sources(self, sources: usize) -> PerDay {
        match self {
            Self::Total(total) => total,
            Self::PerSource(per_source) => {
                let total = per_source.get() * sources as f64;
                PerDay::new(total.min(f64::MAX)).unwrap_or(PerDay::ZERO)
            }
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total(total) => write!(f, "{total}"),
            Self::PerSource(per_source) => write!(f, "{}/source/day", per_source.get()),
        }
    }
}

impl FromStr for Budget {
    type Err = InvalidBudget;

    fn from_str(text: &str) -> Result<Self, InvalidBudget> {
        let parse_rate = |rate: &str| {
            rate.parse::<PerDay>().map_err(|error| match error {
                InvalidRate::Malformed(_) => InvalidBudget::Malformed(text.to_owned()),
                other => InvalidBudget::InvalidRate(other),
            })
        };
        let parts: Vec<&str> = text.split('/').map(str::trim).collect();
        match parts[..] {
            [number, "source", unit] => {
                parse_rate(&format!("{number}/{unit}")).map(Self::PerSource)
            }
            [percent, unit] if percent.ends_with('%') => {
                let number = percent.trim_end_matches('%').trim();
                let per_source = parse_rate(&format!("{number}/{unit}"))?;
                PerDay::new(per_source.get() / 100.0)
                    .map(Self::PerSource)
                    .map_err(InvalidBudget::InvalidRate)
            }
            _ => parse_rate(text).map(Self::Total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, sources: usize, expect: f64) {
        let budget: Budget = text.parse().unwrap();
        assert_eq!(budget.for_sources(sources).get(), expect);
    }

    #[test]
    fn every_format_of_a_budget() {
        check("5000/day", 10, 5000.0);
        check("10/s", 10, 864_000.0);
        check("0.2/source/day", 10, 2.0);
        check("1/source/hour", 10, 240.0);
        check("20%/day", 10, 2.0);
        check("20 % / day", 10, 2.0);
    }

    #[test]
    fn the_error_of_an_invalid_budget_shows_valid_ones() {
        let message = |text: &str| text.parse::<Budget>().unwrap_err().to_string();
        assert_eq!(
            message("lots"),
            "`lots` is not a budget such as `5000/day`, `10/s`, `0.2/source/day` or `20%/day`"
        );
        assert_eq!(message("-3/source/day"), "budget -3 is negative");
        assert_eq!(message("inf/day"), "budget inf is not a finite number");
    }
}
