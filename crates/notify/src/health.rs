//! Health of all destinations: which ones fail, why, and since when.

use std::collections::HashMap;

use freshet_store::{Reader, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::target::Target;
use crate::timestamp::rfc3339;

/// Maximum number of listed destinations.
const MAX_LISTED: usize = 100;

/// Health of all destinations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DestinationHealth)]
pub struct DestinationHealth {
    /// Number of destinations.
    pub all: u64,
    /// Number of paused destinations.
    pub paused: u64,
    /// Number of failing destinations that are not paused.
    pub failing: u64,
    /// Number of dead letters.
    pub dead: u64,
    /// Destinations that are paused, failing or have dead letters; at most 100.
    pub troubled: Vec<UnhealthyDestination>,
}

/// Destination that is paused, failing or has dead letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TroubledDestination)]
pub struct UnhealthyDestination {
    /// Name.
    pub name: String,
    /// `webhook`, `email` or `command`; `unknown` if its settings cannot be read.
    pub kind: &'static str,
    /// Address. Of a URL only the host: the rest may be secret.
    pub to: String,
    /// True if deliveries are paused.
    pub paused: bool,
    /// Number of failed attempts since the last success.
    pub attempts: u32,
    /// Error of the last attempt, if it failed.
    pub why: Option<String>,
    /// Start of the pause, or of the failures (RFC 3339, UTC).
    pub since: Option<String>,
    /// Time of the next retry, if the last attempt failed.
    pub next: Option<String>,
    /// Number of dead letters.
    pub dead: u64,
    /// `since` and `next` in milliseconds.
    #[serde(skip)]
    pub moments: (Option<i64>, Option<i64>),
}

impl DestinationHealth {
    /// Reads the health from the store.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the store cannot be read.
    pub fn read(reader: &Reader) -> Result<Self, StoreError> {
        let (all, paused, failing) = reader.count_destinations()?;
        if all == 0 {
            return Ok(Self::default());
        }
        let dead: HashMap<u32, u64> =
            reader.count_dead_letters_by_destination()?.into_iter().collect();
        let rows = reader.unhealthy_destinations(MAX_LISTED)?;
        let troubled = rows.into_iter().map(|row| {
            let target = Target::parse(&row.settings).ok();
            let since = if row.paused { row.paused_since } else { row.failing_since };
            let next = row.retry_at.filter(|_| !row.paused);
            UnhealthyDestination {
                kind: target.as_ref().map_or("unknown", Target::kind),
                to: target.map(|it| it.redacted_address()).unwrap_or_default(),
                name: row.name,
                paused: row.paused,
                attempts: row.attempts,
                why: row.error,
                since: since.map(rfc3339),
                next: next.map(rfc3339),
                dead: dead.get(&row.id).copied().unwrap_or(0),
                moments: (since, next),
            }
        });
        let troubled = troubled.collect();
        Ok(Self { all, paused, failing, dead: dead.values().sum(), troubled })
    }
}
