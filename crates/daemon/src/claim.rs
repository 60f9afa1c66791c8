//! Fetches that others make: what they are given, and what they report.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use freshet_store::StoredValidators;

use crate::clock::Millis;

/// What somebody holds who was given sources to fetch. Nobody can guess it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lease(pub(crate) u128);

impl fmt::Display for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Lease {
    type Err = InvalidLease;

    fn from_str(text: &str) -> Result<Self, InvalidLease> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex {
            return Err(InvalidLease);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| InvalidLease)
    }
}

/// Not a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a lease: 32 hexadecimal digits, as a claim gave them")]
pub struct InvalidLease;

/// What somebody is to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// To be shown with the reports.
    pub lease: Lease,
    /// When it ends: what is not reported by then goes back.
    pub until: Millis,
    /// What is to be fetched now.
    pub items: Vec<Claimed>,
    /// When there may be more, if that is known.
    pub next: Option<Millis>,
}

/// A source that somebody is to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// Its number.
    pub source: u32,
    /// What is to be fetched.
    pub url: String,
    /// What the server gave to ask with, as it was last reported.
    pub validators: StoredValidators,
    /// Why, in a word: `new`, `worth`, `pending`, `overdue`, `retry` or `spare`.
    pub reason: &'static str,
}

/// What came of a fetch that somebody else made.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the claim gave.
    pub lease: Lease,
    /// The source.
    pub source: u32,
    /// What was seen.
    pub seen: Seen,
    /// When it was fetched; `None` for now.
    pub at: Option<Millis>,
    /// The status of HTTP; 0 if there was none.
    pub status: u16,
    /// Bytes that came.
    pub bytes: u64,
    /// How long it took.
    pub duration: Duration,
    /// What the server gave to ask with the next time.
    pub validators: Option<StoredValidators>,
    /// What there is to say: of a change, what changed.
    pub note: String,
}

/// What was seen.
#[derive(Clone, Debug)]
pub enum Seen {
    /// The same as before.
    Unchanged,
    /// Something else than before.
    Changed,
    /// Something with this digest: it has changed if the last one was another.
    Digest(u128),
    /// This document: whether it has changed is found out here.
    Document {
        /// Its bytes.
        bytes: Vec<u8>,
        /// What the server says that it is.
        content_type: Option<String>,
    },
    /// Nothing, for the moment.
    Failed {
        /// Whether other sources of the host would not have come either.
        host: bool,
        /// For how long the host wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// That the source is no more.
    Gone,
    /// That it may not be fetched.
    Disallowed,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is recorded. `true` if it showed a change.
    Recorded(bool),
    /// There is no such lease, or it ended long ago.
    NoLease,
    /// The source is not of this lease, was reported before, or was given to somebody else since.
    NotHeld,
    /// It was fetched before it was claimed, or will be.
    WrongTime,
    /// There is no such source any more.
    NoSource,
}
