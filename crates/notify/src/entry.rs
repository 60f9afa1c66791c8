//! An entry of the change log as programs read it, wherever they read it.

use freshet_store::{Change, ChangeKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::moment::rfc3339;

/// An entry of the change log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Entry {
    /// Its place in the log: later ones are larger, and none is used twice.
    pub cursor: i64,
    /// What it tells.
    pub kind: EntryKind,
    /// The number of the source.
    pub source: u32,
    /// What is fetched.
    pub url: String,
    /// The name of its host.
    pub host: String,
    /// Its tags at that time.
    pub tags: Vec<String>,
    /// How much it counted at that time.
    pub importance: f64,
    /// When it was last seen as it was before (RFC 3339, UTC); none if never.
    pub last_unchanged: Option<String>,
    /// When this was first seen (RFC 3339, UTC).
    pub first_changed: String,
    /// The digest of what counted before, in hexadecimal digits.
    pub old_digest: Option<String>,
    /// The digest of what counts now; none if nothing has changed.
    pub new_digest: Option<String>,
    /// Bytes of what counted before.
    pub old_size: Option<u64>,
    /// Bytes of what counts now.
    pub new_size: u64,
    /// How much of it is the same, from 0 to 1.
    pub similarity: f64,
    /// What happened, in a few words.
    pub summary: String,
    /// The number of the version before, if there was one.
    pub old_version: Option<u32>,
    /// The number of the version that came with it, if one was kept.
    pub new_version: Option<u32>,
    /// Where there is more.
    pub links: Links,
}

/// What an entry tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// What counts of a source has changed.
    Changed,
    /// A source could not be fetched so many times in a row.
    Failing,
    /// A source that was failing, or gone, can be fetched again.
    Recovered,
    /// A source has not changed for so long.
    Quiet,
    /// A source is no more.
    Gone,
}

/// Paths of the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Links {
    /// The source.
    pub source: String,
    /// What changed from one version to the next, if both were kept.
    pub diff: Option<String>,
}

impl Entry {
    /// A change as it was logged.
    #[must_use]
    pub fn from_change(it: &Change) -> Self {
        let change = &it.change;
        let is_change = it.kind == ChangeKind::Changed;
        Self {
            cursor: it.cursor,
            kind: it.kind.into(),
            source: it.source,
            url: it.url.clone(),
            host: it.host.clone(),
            tags: it.tags.clone(),
            importance: it.importance,
            last_unchanged: change.last_unchanged_at.map(rfc3339),
            first_changed: rfc3339(change.first_changed_at),
            old_digest: change.old_digest.map(hex),
            new_digest: is_change.then(|| hex(change.new_digest)),
            old_size: change.old_size,
            new_size: change.new_size,
            similarity: change.similarity,
            summary: change.summary.clone(),
            old_version: it.old_version,
            new_version: it.new_version,
            links: Links::of(it),
        }
    }
}

impl Links {
    fn of(it: &Change) -> Self {
        let source = format!("/v1/sources/{}", it.source);
        let versions = it.old_version.zip(it.new_version);
        let diff = versions.map(|(old, new)| format!("{source}/diff?from={old}&to={new}"));
        Self { source, diff }
    }
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Changed, Self::Failing, Self::Recovered, Self::Quiet, Self::Gone];

    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Failing => "failing",
            Self::Recovered => "recovered",
            Self::Quiet => "quiet",
            Self::Gone => "gone",
        }
    }
}

impl std::str::FromStr for EntryKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|it| it.name() == text);
        known.ok_or_else(|| {
            format!("`{text}` is not one of changed, failing, recovered, quiet and gone")
        })
    }
}

impl From<ChangeKind> for EntryKind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::Changed => Self::Changed,
            ChangeKind::Failing => Self::Failing,
            ChangeKind::Recovered => Self::Recovered,
            ChangeKind::Quiet => Self::Quiet,
            ChangeKind::Gone => Self::Gone,
        }
    }
}

impl From<EntryKind> for ChangeKind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::Changed => Self::Changed,
            EntryKind::Failing => Self::Failing,
            EntryKind::Recovered => Self::Recovered,
            EntryKind::Quiet => Self::Quiet,
            EntryKind::Gone => Self::Gone,
        }
    }
}

fn hex(digest: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(digest))
}
