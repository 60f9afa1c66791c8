//! Text form of lifetimes and urgencies: `overwrite`, `changes:3`, `window:6h`, `decay:2d`.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::{UpdateLifetime, Urgency};

/// Error of an invalid lifetime or urgency.
#[derive(Clone, Debug, PartialEq)]
pub enum InvalidCapture {
    /// The lifetime ends after 0 further changes.
    ZeroChanges,
    /// The window of the lifetime is not a positive finite number of days.
    LifetimeWindow(f32),
    /// The window of the urgency is not a positive finite number of days.
    UrgencyWindow(f32),
    /// The half-life of the urgency is not a positive finite number of days.
    HalfLife(f32),
    /// The text is not a lifetime.
    UnknownLifetime(String),
    /// The text is not an urgency.
    UnknownUrgency(String),
}

impl fmt::Display for InvalidCapture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = |f: &mut fmt::Formatter<'_>, field: &str, days: &f32| {
            write!(f, "{field} is not a positive number of days: {days}")
        };
        match self {
            Self::ZeroChanges => f.write_str("life is 0 changes, at least `changes:1` is needed"),
            Self::LifetimeWindow(window) => days(f, "window of the life", window),
            Self::UrgencyWindow(window) => days(f, "window of the urgency", window),
            Self::HalfLife(half_life) => days(f, "half-life of the urgency", half_life),
            Self::UnknownLifetime(text) => write!(
                f,
                "`{text}` is not a life such as `append`, `overwrite`, `changes:3` or `window:6h`"
            ),
            Self::UnknownUrgency(text) => {
                write!(f, "`{text}` is not an urgency such as `uniform`, `decay:6h` or `window:2d`")
            }
        }
    }
}

impl Error for InvalidCapture {}

/// Time units and how many of them make a day, longest first.
const UNITS: [(char, f64); 4] = [('d', 1.0), ('h', 24.0), ('m', 1_440.0), ('s', 86_400.0)];

/// Parses a number with an optional unit into days; days if there is no unit.
fn days(text: &str) -> Option<f32> {
    let text = text.trim();
    let unit = UNITS.iter().find_map(|&(unit, a_day)| Some((text.strip_suffix(unit)?, a_day)));
    let (number, a_day) = unit.unwrap_or((text, 1.0));
    let number: f64 = number.trim().replace('_', "").parse().ok()?;
    Some((number / a_day) as f32)
}

/// Displays days in the longest unit in which they are a whole number, otherwise in days.
struct DisplayDays(f32);

impl fmt::Display for DisplayDays {
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

impl fmt::Display for UpdateLifetime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Append => f.write_str("append"),
            Self::Changes(1) => f.write_str("overwrite"),
            Self::Changes(changes) => write!(f, "changes:{changes}"),
            Self::Window(days) => write!(f, "window:{}", DisplayDays(days)),
        }
    }
}

impl FromStr for UpdateLifetime {
    type Err = InvalidCapture;

    fn from_str(text: &str) -> Result<Self, InvalidCapture> {
        let form = || InvalidCapture::UnknownLifetime(text.to_owned());
        let life = match text.trim().split_once(':') {
            None if text.trim() == "append" => Self::Append,
            None if text.trim() == "overwrite" => Self::OVERWRITE,
            Some(("changes", number)) => Self::Changes(number.trim().parse().map_err(|_| form())?),
            Some(("window", time)) => Self::Window(days(time).ok_or_else(form)?),
            _ => return Err(form()),
        };
        life.validate()
    }
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Uniform => f.write_str("uniform"),
            Self::Decay(half_life) => write!(f, "decay:{}", DisplayDays(half_life)),
            Self::Window(days) => write!(f, "window:{}", DisplayDays(days)),
        }
    }
}

impl FromStr for Urgency {
    type Err = InvalidCapture;

    fn from_str(text: &str) -> Result<Self, InvalidCapture> {
        let form = || InvalidCapture::UnknownUrgency(text.to_owned());
        let urgency = match text.trim().split_once(':') {
            None if text.trim() == "uniform" => Self::Uniform,
            Some(("decay", time)) => Self::Decay(days(time).ok_or_else(form)?),
            Some(("window", time)) => Self::Window(days(time).ok_or_else(form)?),
            _ => return Err(form()),
        };
        urgency.validate()
    }
}
