//! Payload of a delivery: its entries, as sent in webhooks and stored in dead letters.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::entry::{Entry, EntryKind, Links};
use crate::timestamp::rfc3339;

/// Entries that are delivered together. Its JSON is the body of a webhook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Payload {
    /// Entries, in order of the log.
    pub entries: Vec<Entry>,
    /// Entries before these that were pruned before they could be delivered, if there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// True for a test notification.
    #[serde(default, skip_serializing_if = "is_false")]
    pub test: bool,
}

/// Range of entries that were pruned before they could be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// First cursor.
    pub from: i64,
    /// Last cursor.
    pub to: i64,
}

fn is_false(it: &bool) -> bool {
    !*it
}

impl Payload {
    pub(crate) fn from_entries(entries: Vec<Entry>, gap: Option<Gap>) -> Self {
        Self { entries, gap, test: false }
    }

    /// Creates a test notification.
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
            summary: format!("test notification for the destination {name}: nothing has changed"),
            old_version: None,
            new_version: None,
            links: Links { source: "/v1/sources/0".to_owned(), diff: None },
        };
        Self { entries: vec![entry], gap: None, test: true }
    }

    /// Returns the payload as JSON.
    pub(crate) fn body(&self) -> Vec<u8> {
        // Serialization cannot fail: numbers that JSON cannot represent become null.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Parses the body of a dead letter.
    ///
    /// # Errors
    /// Returns an error if the body is not a payload.
    pub fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }

    /// Returns the id of a delivery: the same for each attempt to deliver the same body to the same destination of the
    /// same store, and unique otherwise.
    pub(crate) fn id(identity: &str, destination: u32, body: &[u8]) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("freshet letter {identity} {destination} "));
        digest.update(body);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.finalize()[..16]);
        format!("msg_{:032x}", u128::from_be_bytes(bytes))
    }
}
