use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// How long an update can be captured.
///
/// A change in instant k is captured by the first fetch of its page in an instant j ≥ k, if it is
/// still available then. The change of instant j itself counts, because a fetch comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Life {
    /// `append`: forever.
    #[default]
    Append,
    /// `window:60`: for its own instant and w more, j − k ≤ w.
    Window(u32),
    /// `changes:3`: until the n-th change after it. Fewer than n changes in k+1, …, j.
    Changes(NonZeroU32),
    /// `overwrite`: until the next change. The same as `changes:1`.
    Overwrite,
}

impl Life {
    /// Returns true if a change is still available after the given number of instants and of further changes.
    #[must_use]
    pub fn holds(self, delay: u32, later: u32) -> bool {
        match self {
            Self::Append => true,
            Self::Window(instants) => delay <= instants,
            Self::Changes(changes) => later < changes.get(),
            Self::Overwrite => later == 0,
        }
    }
}

/// Error for an invalid life.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLife {
    /// Unknown form.
    #[error("`{0}` is not a life such as `append`, `window:60`, `changes:3` or `overwrite`")]
    Form(String),
    /// A life of zero changes is empty.
    #[error("life `changes:0` keeps nothing: use `changes:1` or more")]
    NoChanges,
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Append => f.write_str("append"),
            Self::Window(instants) => write!(f, "window:{instants}"),
            Self::Changes(changes) => write!(f, "changes:{changes}"),
            Self::Overwrite => f.write_str("overwrite"),
        }
    }
}

impl FromStr for Life {
    type Err = InvalidLife;

    fn from_str(text: &str) -> Result<Self, InvalidLife> {
        let number = |text: &str| text.parse::<u32>().ok();
        match text.split_once(':').map_or((text, None), |(name, rest)| (name, number(rest))) {
            ("append", None) if text == "append" => Ok(Self::Append),
            ("overwrite", None) if text == "overwrite" => Ok(Self::Overwrite),
            ("window", Some(instants)) => Ok(Self::Window(instants)),
            ("changes", Some(changes)) => {
                NonZeroU32::new(changes).map(Self::Changes).ok_or(InvalidLife::NoChanges)
            }
            _ => Err(InvalidLife::Form(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, life: Life, holds: [bool; 4]) {
        assert_eq!(text.parse(), Ok(life));
        assert_eq!(life.to_string(), text);
        let cases = [(0, 0), (2, 1), (3, 0), (9, 2)];
        assert_eq!(cases.map(|(delay, later)| life.holds(delay, later)), holds, "{text}");
    }

    #[test]
    fn every_life_has_its_name_and_its_end() {
        check("append", Life::Append, [true, true, true, true]);
        check("window:0", Life::Window(0), [true, false, false, false]);
        check("window:2", Life::Window(2), [true, true, false, false]);
        check("changes:1", Life::Changes(NonZeroU32::MIN), [true, false, true, false]);
        check("changes:2", Life::Changes(NonZeroU32::new(2).unwrap()), [true, true, true, false]);
        check("overwrite", Life::Overwrite, [true, false, true, false]);
    }

    #[test]
    fn a_wrong_life_says_what_a_right_one_looks_like() {
        for text in ["", "appendix", "append:3", "window", "window:", "window:-1", "changes:1.5"] {
            assert_eq!(
                text.parse::<Life>().unwrap_err().to_string(),
                format!(
                    "`{text}` is not a life such as `append`, `window:60`, `changes:3` or \
                     `overwrite`"
                )
            );
        }
        assert_eq!("changes:0".parse::<Life>(), Err(InvalidLife::NoChanges));
    }
}
