//! Entry of the change log as JSON: in the API, in webhooks and in the input of commands.

use freshet_store::{Change, ChangeKind};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::timestamp::rfc3339;

/// Entry of the change log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Entry {
    /// Position in the log: increasing, never reused.
    pub cursor: i64,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Source id.
    pub source: u32,
    /// URL of the source.
    pub url: String,
    /// Name of its host.
    pub host: String,
    /// Its tags at that time.
    pub tags: Vec<String>,
    /// Its importance at that time.
    pub importance: f64,
    /// Time of the last fetch that found the old content (RFC 3339, UTC); null if there was none.
    pub last_unchanged: Option<String>,
    /// Time of the first fetch that found this (RFC 3339, UTC).
    pub first_changed: String,
    /// Digest of the old relevant content, in hexadecimal.
    pub old_digest: Option<String>,
    /// Digest of the new relevant content; null if nothing has changed.
    pub new_digest: Option<String>,
    /// Size of the old relevant content in bytes.
    pub old_size: Option<u64>,
    /// Size of the new relevant content in bytes.
    pub new_size: u64,
    /// Similarity of the two, from 0 to 1.
    pub similarity: f64,
    /// Short description.
    pub summary: String,
    /// Number of the previous version, if there is one.
    pub old_version: Option<u32>,
    /// Number of the new version, if it was stored.
    pub new_version: Option<u32>,
    /// Related API paths.
    pub links: Links,
}

/// Kind of a log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// The relevant content of a source has changed.
    Changed,
    /// Fetches of a source failed several times in a row.
    Failing,
    /// A source that was failing or gone can be fetched again.
    Recovered,
    /// A source has not changed for a long time.
    Quiet,
    /// A source no longer exists.
    Gone,
}

/// Paths of the API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Links {
    /// Path of the source.
    pub source: String,
    /// Path of the diff between the two versions, if both were stored.
    pub diff: Option<String>,
}

impl Entry {
    /// Converts a stored log entry.
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
            links: Links::from_change(it),
        }
    }
}

impl Links {
    fn from_change(it: &Change) -> Self {
        let source = format!("/v1/sources/{}", it.source);
        let versions = it.old_version.zip(it.new_version);
        let diff = versions.map(|(old, new)| format!("{source}/diff?from={old}&to={new}"));
        Self { source, diff }
    }
}

impl EntryKind {
    /// All variants.
    pub const ALL: [Self; 5] =
        [Self::Changed, Self::Failing, Self::Recovered, Self::Quiet, Self::Gone];

    /// Returns the name used in the API.
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
        let kind = Self::ALL.into_iter().find(|it| it.name() == text);
        kind.ok_or_else(|| {
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
