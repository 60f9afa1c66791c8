//! What is delivered at once: some entries, as they are sent and as they are kept if that fails.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::entry::{Entry, EntryKind, Links};
use crate::moment::rfc3339;

/// What is delivered at once. As JSON, it is the body of a webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Payload {
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// What cannot be told any more, if there is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// Whether nothing has happened, and this only shows that it would be told.
    #[serde(default, skip_serializing_if = "is_false")]
    pub test: bool,
}

/// Entries that were forgotten before they could be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// The first cursor of them.
    pub from: i64,
    /// The last one.
    pub to: i64,
}

fn is_false(it: &bool) -> bool {
    !*it
}

impl Payload {
    pub(crate) fn of(entries: Vec<Entry>, gap: Option<Gap>) -> Self {
        Self { entries, gap, test: false }
    }

    /// One that shows that it arrives.
    #[must_use]
    pub fn test(name: &str, now: i64) -> Self {
        let entry = Entry {
            cursor: 0,
            kind: EntryKind::Changed,
            source: 0,
            url: "https://example.com/".to_owned(),
            host: "example.com".to_owned(),
            tags: vec!["test".to_owned()],
            importance: 1.0,
            last_unchanged: Some(rfc3339(now - 3_600_000)),
            first_changed: rfc3339(now),
            old_digest: Some("0".repeat(32)),
            new_digest: Some("1".repeat(32)),
            old_size: Some(100),
            new_size: 110,
            similarity: 0.9,
            summary: format!("a test of the destination {name}: nothing has changed"),
            old_version: None,
            new_version: None,
            links: Links { source: "/v1/sources/0".to_owned(), diff: None },
        };
        Self { entries: vec![entry], gap: None, test: true }
    }

    /// As JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        // All fields have a spelling in JSON: numbers that have none are null.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What was kept of one that could not be delivered.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }

    /// What it is called: the same whenever the same is sent to the same destination of the same store,
    /// and nothing else is called so.
    pub(crate) fn id(identity: &str, destination: u32, body: &[u8]) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("freshet letter {identity} {destination} "));
        digest.update(body);
        let mut half = [0; 16];
        half.copy_from_slice(&digest.finalize()[..16]);
        format!("msg_{:032x}", u128::from_be_bytes(half))
    }
}
