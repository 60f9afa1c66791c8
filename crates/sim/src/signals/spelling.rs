//! Text form of signals: `recall=0.8,precision=0.5,delay=2h`, `liar:every=6h`.

use std::fmt;
use std::str::FromStr;

use super::{Quality, Signals};

/// Error for an invalid description of signals.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidSignals {
    /// Unknown syntax.
    #[error(
        "`{0}` is not a setting of signals: settings are `recall`, `precision` and `delay`, as in \
         `recall=0.8,precision=0.5,delay=2h`, or `liar:every=1d` alone"
    )]
    Unknown(String),
    /// A setting occurs twice.
    #[error("`{0}` is set twice")]
    Twice(&'static str),
    /// Invalid share.
    #[error("{name} `{text}` is not a share above 0 and up to 1, such as `{name}=0.8`")]
    Share {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        text: String,
    },
    /// The precision is too small to simulate.
    #[error("precision {precision} is too small: at least {least} can be simulated")]
    Precision {
        /// Its value.
        precision: f64,
        /// Smallest precision.
        least: f64,
    },
    /// Invalid time.
    #[error("{name} `{text}` is not a time such as `30m`, `2h` or `1.5d`{}", if *.name == "every" { ", a second or more" } else { "" })]
    Time {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        text: String,
    },
}

/// Default interval between false signals in days.
const EVERY: f64 = 1.0;
/// Shortest interval in days; simulated time must advance.
const SHORTEST: f64 = 1.0 / 86_400.0;
/// Longest accepted time in days.
const LONGEST: f64 = 1e6;
/// Smallest precision: a million signals per change.
const LEAST_PRECISION: f64 = 1e-6;

/// Units with their number per day, longest first.
const UNITS: [(&str, f64); 4] = [("d", 1.0), ("h", 24.0), ("m", 1_440.0), ("s", 86_400.0)];

/// Parses a number with a unit, or a number of days.
fn days(name: &'static str, text: &str, range: (f64, f64)) -> Result<f64, InvalidSignals> {
    let found = UNITS.iter().find_map(|&(unit, a_day)| Some((text.strip_suffix(unit)?, a_day)));
    let (number, a_day) = found.unwrap_or((text, 1.0));
    let time = number.trim().parse().ok().map(|number: f64| number / a_day);
    time.filter(|time| (range.0..=range.1).contains(time))
        .ok_or_else(|| InvalidSignals::Time { name, text: text.to_owned() })
}

fn share(name: &'static str, text: &str) -> Result<f64, InvalidSignals> {
    let share = text.parse().ok().filter(|&share: &f64| share > 0.0 && share <= 1.0);
    share.ok_or_else(|| InvalidSignals::Share { name, text: text.to_owned() })
}

impl FromStr for Signals {
    type Err = InvalidSignals;

    fn from_str(text: &str) -> Result<Self, InvalidSignals> {
        let unknown = |part: &str| InvalidSignals::Unknown(part.to_owned());
        if let Some(rest) = text.strip_prefix("liar") {
            let every = match rest.strip_prefix(":every=") {
                None if rest.is_empty() => EVERY,
                None => return Err(unknown(text)),
                Some(time) => days("every", time, (SHORTEST, LONGEST))?,
            };
            return Ok(Self::Liar { every });
        }
        let mut quality = Quality::PERFECT;
        let mut set = Vec::new();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| unknown(part))?;
            let value = value.trim();
            let name = match name.trim() {
                "recall" => {
                    quality.recall = share("recall", value)?;
                    "recall"
                }
                "precision" => {
                    quality.precision = share("precision", value)?;
                    "precision"
                }
                "delay" => {
                    quality.delay = days("delay", value, (0.0, LONGEST))?;
                    "delay"
                }
                _ => return Err(unknown(part)),
            };
            if set.contains(&name) {
                return Err(InvalidSignals::Twice(name));
            }
            set.push(name);
        }
        if quality.precision < LEAST_PRECISION {
            let precision = quality.precision;
            return Err(InvalidSignals::Precision { precision, least: LEAST_PRECISION });
        }
        Ok(Self::Drawn(quality))
    }
}

/// Formats a time in the longest unit in which it is whole, otherwise in days.
struct FormattedTime(f64);

impl fmt::Display for FormattedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, a_day) in UNITS {
            let number = (self.0 * a_day).round();
            if number > 0.0 && (number / a_day - self.0).abs() <= 1e-12 * self.0 {
                return write!(f, "{number}{unit}");
            }
        }
        write!(f, "{}d", self.0)
    }
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn(Quality { recall, precision, delay }) => {
                write!(f, "recall={recall},precision={precision}")?;
                if *delay > 0.0 { write!(f, ",delay={}", FormattedTime(*delay)) } else { Ok(()) }
            }
            Self::Liar { every } => write!(f, "liar:every={}", FormattedTime(*every)),
            Self::Recorded(said) => write!(f, "{} recorded", said.change_count()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_written_as_they_are_read() {
        let check = |text: &str, expect: &str| {
            let signals: Signals = text.parse().expect(text);
            assert_eq!(signals.to_string(), expect, "{text}");
            assert_eq!(expect.parse(), Ok(signals));
        };
        check("recall=0.8,precision=0.5,delay=2h", "recall=0.8,precision=0.5,delay=2h");
        check("delay = 90m, recall=0.2", "recall=0.2,precision=1,delay=90m");
        check("precision=0.01", "recall=1,precision=0.01");
        check("delay=0", "recall=1,precision=1");
        check("delay=0.3", "recall=1,precision=1,delay=432m");
        check("liar", "liar:every=1d");
        check("liar:every=12h", "liar:every=12h");
    }

    #[test]
    fn what_is_wrong_is_said() {
        let check = |text: &str, expect: &str| {
            let error = text.parse::<Signals>().expect_err(text).to_string();
            assert!(error.contains(expect), "{text}: {error}");
        };
        check("", "`` is not a setting");
        check("recall", "`recall` is not a setting");
        check("recall=0.5,honesty=1", "`honesty=1` is not a setting");
        check("recall=0.5,recall=0.6", "`recall` is set twice");
        check("recall=0", "recall `0` is not a share above 0");
        check("recall=80%", "recall `80%` is not a share");
        check("precision=1.1", "precision `1.1` is not a share");
        check("precision=NaN", "precision `NaN` is not a share");
        check("precision=1e-9", "at least 0.000001");
        check("delay=-1h", "delay `-1h` is not a time");
        check("delay=soon", "delay `soon` is not a time");
        check("delay=inf", "delay `inf` is not a time");
        check("liar:every=0", "every `0` is not a time such as `30m`, `2h` or `1.5d`, a second");
        check("liar,recall=1", "`liar,recall=1` is not a setting");
    }
}
