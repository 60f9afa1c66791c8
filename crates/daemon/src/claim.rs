//! Fetches made by external clients: what a claim hands out and what a report returns.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use freshet_store::StoredValidators;

use crate::clock::Millis;

/// Identifies a lease on claimed sources. It is random, so that clients cannot guess each other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeaseId(pub(crate) u128);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for LeaseId {
    type Err = InvalidLeaseId;

    fn from_str(text: &str) -> Result<Self, InvalidLeaseId> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex {
            return Err(InvalidLeaseId);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| InvalidLeaseId)
    }
}

/// A text that is not a lease id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a lease id: expected the 32 hexadecimal digits that the claim returned")]
pub struct InvalidLeaseId;

/// Sources handed out to an external client to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Lease id to send with the reports.
    pub lease: LeaseId,
    /// End of the lease. Sources that are not reported by then return to the schedule.
    pub expires_at: Millis,
    /// Sources to fetch now.
    pub items: Vec<ClaimedSource>,
    /// Earliest time at which another claim may return sources, if known.
    pub next_claim_at: Option<Millis>,
}

/// A claimed source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedSource {
    /// Source id.
    pub source: u32,
    /// URL to fetch.
    pub url: String,
    /// Validators that the server last sent, for a conditional request.
    pub validators: StoredValidators,
    /// Reason for the fetch: `new`, `worth`, `pending`, `overdue`, `retry` or `spare`.
    pub reason: &'static str,
}

/// Outcome of a fetch made by an external client.
#[derive(Clone, Debug)]
pub struct FetchReport {
    /// Lease id of the claim.
    pub lease: LeaseId,
    /// Source id.
    pub source: u32,
    /// What the client observed.
    pub outcome: ReportedOutcome,
    /// Time of the fetch; `None` for now.
    pub fetched_at: Option<Millis>,
    /// HTTP status; 0 without a response.
    pub status: u16,
    /// Bytes received.
    pub bytes: u64,
    /// Duration of the fetch.
    pub duration: Duration,
    /// Validators that the server sent, for the next conditional request.
    pub validators: Option<StoredValidators>,
    /// Free text; for a change, a description of it.
    pub note: String,
}

/// What an external client observed.
#[derive(Clone, Debug)]
pub enum ReportedOutcome {
    /// The source has not changed.
    Unchanged,
    /// The source has changed.
    Changed,
    /// Digest of the content. The source has changed if the last digest differs.
    Digest(u128),
    /// The document itself. The daemon decides whether it has changed.
    Document {
        /// Raw bytes.
        bytes: Vec<u8>,
        /// Media type that the server sent.
        content_type: Option<String>,
    },
    /// The fetch failed for now.
    Failed {
        /// True if other sources of the host would have failed too.
        host: bool,
        /// Delay that the host asked for.
        retry_after: Option<Duration>,
    },
    /// The source no longer exists.
    Gone,
    /// The source may not be fetched.
    Disallowed,
}

/// Result of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportResult {
    /// Recorded; true if the report showed a change.
    Recorded(bool),
    /// The lease does not exist, or ended too long ago.
    NoLease,
    /// The source is not part of the lease, was reported already, or has been handed out again.
    NotHeld,
    /// The fetch time lies before the claim or in the future.
    WrongTime,
    /// The source no longer exists.
    NoSource,
}
