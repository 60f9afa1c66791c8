//! Entries of an imported file and their locations.

use std::fmt;

use freshet_daemon::NewSourceRequest;

use crate::failure::Failure;

/// Source from a file, not validated yet.
pub(crate) struct ImportedSource {
    pub(crate) request: NewSourceRequest,
    pub(crate) location: EntryLocation,
}

impl ImportedSource {
    pub(crate) fn new(url: &str, location: EntryLocation) -> Self {
        Self { request: NewSourceRequest::new(url), location }
    }
}

/// Entry of a file that is not a valid source.
pub(crate) struct InvalidEntry {
    pub(crate) location: EntryLocation,
    pub(crate) reason: Failure,
}

/// Location of an entry in a file, formatted as a suffix to the file name.
pub(crate) enum EntryLocation {
    Line(u64),
    Row(u64),
    Watch(String),
    /// The reason already contains the file and the location.
    InReason,
}

impl fmt::Display for EntryLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, ":{number}"),
            Self::Row(number) => write!(f, ", row {number}"),
            Self::Watch(name) => write!(f, ", watch {name}"),
            Self::InReason => Ok(()),
        }
    }
}
