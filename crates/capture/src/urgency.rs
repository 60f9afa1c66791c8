use std::fmt;
use std::str::FromStr;

use crate::{InvalidShare, Share};

/// Decrease of the worth of a change with the delay of its capture, from 1 in its own instant.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Urgency {
    /// `uniform`: no decrease.
    #[default]
    Uniform,
    /// `decay:0.9`: each instant of delay keeps this share of the worth, rᵗ. With r = 0 a change
    /// counts in its own instant only; r = 1 equals `uniform`.
    Decay(Share),
    /// `window:30`: full worth up to w instants of delay, t ≤ w, and zero after.
    Window(u32),
}

impl Urgency {
    /// Returns the worth of a change that is captured after the given number of instants.
    #[must_use]
    pub fn worth(self, delay: u32) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Decay(kept) => power(kept.get(), delay),
            Self::Window(instants) => f64::from(u8::from(delay <= instants)),
        }
    }
}

/// Returns `kept^delay`, accurate to one or two units in the last place for long delays; 0⁰ = 1.
fn power(kept: f64, delay: u32) -> f64 {
    let (mut power, mut square, mut left) = (1.0, kept, delay);
    while left > 0 {
        if left % 2 == 1 {
            power *= square;
        }
        square *= square;
        left /= 2;
    }
    power
}

/// Error for an invalid urgency.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InvalidUrgency {
    /// Unknown form.
    #[error("`{0}` is not an urgency such as `uniform`, `decay:0.9` or `window:30`")]
    Form(String),
    /// The worth of a change never rises and is never negative.
    #[error("decay {0}")]
    Decay(InvalidShare),
}

impl fmt::Display for Urgency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Decay(kept) => write!(f, "decay:{kept}"),
            Self::Window(instants) => write!(f, "window:{instants}"),
        }
    }
}

impl FromStr for Urgency {
    type Err = InvalidUrgency;

    fn from_str(text: &str) -> Result<Self, InvalidUrgency> {
        let form = || InvalidUrgency::Form(text.to_owned());
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::Uniform),
            Some(("decay", kept)) => {
                let kept = kept.parse().map_err(|_| form())?;
                Share::new(kept).map(Self::Decay).map_err(InvalidUrgency::Decay)
            }
            Some(("window", instants)) => instants.parse().map(Self::Window).map_err(|_| form()),
            _ => Err(form()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, worth: [f64; 4]) {
        let urgency: Urgency = text.parse().unwrap();
        assert_eq!(urgency.to_string(), text);
        assert_eq!([0, 1, 2, 3].map(|delay| urgency.worth(delay)), worth, "{text}");
    }

    #[test]
    fn every_urgency_has_its_name_and_its_fall() {
        check("uniform", [1.0, 1.0, 1.0, 1.0]);
        check("decay:0.5", [1.0, 0.5, 0.25, 0.125]);
        check("decay:0", [1.0, 0.0, 0.0, 0.0]);
        check("decay:1", [1.0, 1.0, 1.0, 1.0]);
        check("window:0", [1.0, 0.0, 0.0, 0.0]);
        check("window:2", [1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_wrong_urgency_says_what_a_right_one_looks_like() {
        for text in ["", "uniform:1", "decay", "decay:fast", "window:-1", "window:0.5", "later"] {
            assert_eq!(
                text.parse::<Urgency>().unwrap_err().to_string(),
                format!("`{text}` is not an urgency such as `uniform`, `decay:0.9` or `window:30`")
            );
        }
        let message = |text: &str| text.parse::<Urgency>().unwrap_err().to_string();
        assert_eq!(message("decay:1.5"), "decay 1.5 is not between 0 and 1");
        assert_eq!(message("decay:NaN"), "decay NaN is not between 0 and 1");
    }
}
