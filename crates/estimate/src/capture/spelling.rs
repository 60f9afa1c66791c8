//! Lives and urgencies as text: `overwrite`, `changes:3`, `window:6h`, `decay:2d`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::{Life, Urgency};

/// Why numbers or a text are no life or urgency.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidCapture {
    /// The life ends after 0 further changes.
    NoChanges,
    /// The window of the life is not a positive finite number of days.
    LifeDays(f32),
    /// The window of the urgency is not a positive finite number of days.
    UrgencyDays(f32),
    /// The half-life of the urgency is not a positive finite number of days.
    HalfLife(f32),
    /// The text is not a life.
    Life(String),
    /// The text is not an urgency.
    Urgency(String),
}

impl fmt::Display for InvalidCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = |f: &mut fmt::Formatter<'_>, what: &str, days: &f32| {
            write!(f, "{what} is not a positive number of days: {days}")
        };
        match self {
            Self::NoChanges => f.write_str("life is 0 changes, at least `changes:1` is needed"),
            Self::LifeDays(window) => days(f, "window of the life", window),
            Self::UrgencyDays(window) => days(f, "window of the urgency", window),
            Self::HalfLife(half_life) => days(f, "half-life of the urgency", half_life),
            Self::Life(text) => write!(
                f,
                "`{text}` is not a life such as `append`, `overwrite`, `changes:3` or `window:6h`"
            ),
            Self::Urgency(text) => {
                write!(f, "`{text}` is not an urgency such as `uniform`, `decay:6h` or `window:2d`")
            }
        }
    }
}

impl Error for InvalidCapture {}

/// Units, with how many make a day, longest first.
const UNITS: [(char, f64); 4] = [('d', 1.0), ('h', 24.0), ('m', 1_440.0), ('s', 86_400.0)];

/// Days from a number with a unit, or of days without.
fn days(text: &str) -> Option<f32> {
    let text = text.trim();
    let unit = UNITS.iter().find_map(|&(unit, a_day)| Some((text.strip_suffix(unit)?, a_day)));
    let (number, a_day) = unit.unwrap_or((text, 1.0));
    let number: f64 = number.trim().replace('_', "").parse().ok()?;
    Some((number / a_day) as f32)
}

/// In the longest unit in which it is whole, else in days.
struct Spelled(f32);

impl fmt::Display for Spelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, a_day) in UNITS {
            let number = (f64::from(self.0) * a_day).round();
            if number > 0.0 && (number / a_day) as f32 == self.0 {
                return write!(f, "{number}{unit}");
            }
        }
        write!(f, "{}d", self.0)
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Append => f.write_str("append"),
            Self::Changes(1) => f.write_str("overwrite"),
            Self::Changes(changes) => write!(f, "changes:{changes}"),
            Self::Days(days) => write!(f, "window:{}", Spelled(days)),
        }
    }
}

impl FromStr for Life {
    type Err = InvalidCapture;

    fn from_str(text: &str) -> Result<Self, InvalidCapture> {
        let form = || InvalidCapture::Life(text.to_owned());
        let life = match text.trim().split_once(':') {
            None if text.trim() == "append" => Self::Append,
            None if text.trim() == "overwrite" => Self::OVERWRITE,
            Some(("changes", number)) => Self::Changes(number.trim().parse().map_err(|_| form())?),
            Some(("window", time)) => Self::Days(days(time).ok_or_else(form)?),
            _ => return Err(form()),
        };
        life.check()
    }
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Uniform => f.write_str("uniform"),
            Self::Decay(half_life) => write!(f, "decay:{}", Spelled(half_life)),
            Self::Days(days) => write!(f, "window:{}", Spelled(days)),
        }
    }
}

impl FromStr for Urgency {
    type Err = InvalidCapture;

    fn from_str(text: &str) -> Result<Self, InvalidCapture> {
        let form = || InvalidCapture::Urgency(text.to_owned());
        let urgency = match text.trim().split_once(':') {
            None if text.trim() == "uniform" => Self::Uniform,
            Some(("decay", time)) => Self::Decay(days(time).ok_or_else(form)?),
            Some(("window", time)) => Self::Days(days(time).ok_or_else(form)?),
            _ => return Err(form()),
        };
        urgency.check()
    }
}
