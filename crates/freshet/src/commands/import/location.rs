//! What is found in a file, and where.

use std::fmt;

use freshet_daemon::NewSourceRequest;

use crate::failure::Failure;

/// A source as a file has it. Whether it can be one is not known yet.
pub(crate) struct Found {
    pub(crate) wanted: NewSourceRequest,
    pub(crate) place: Place,
}

impl Found {
    pub(crate) fn new(url: &str, place: Place) -> Self {
        Self { wanted: NewSourceRequest::new(url), place }
    }
}

/// Something in a file that cannot be a source.
pub(crate) struct Bad {
    pub(crate) place: Place,
    pub(crate) why: Failure,
}

/// Where something is in a file. Written behind the name of the file.
pub(crate) enum Place {
    Line(u64),
    Row(u64),
    Watch(String),
    /// What is said names the file and the place.
    Named,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, ":{number}"),
            Self::Row(number) => write!(f, ", row {number}"),
            Self::Watch(name) => write!(f, ", watch {name}"),
            Self::Named => Ok(()),
        }
    }
}
