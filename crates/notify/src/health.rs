//! How it goes with all destinations: those that are not told, why, and since when.

use std::collections::HashMap;

use freshet_store::{Reader, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::moment::rfc3339;
use crate::target::Target;

/// Destinations that are named.
const NAMED: usize = 100;

/// How it goes with all destinations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DestinationHealth)]
pub struct DestinationHealth {
    /// How many there are.
    pub all: u64,
    /// How many of them are paused.
    pub paused: u64,
    /// How many of the others cannot be told.
    pub failing: u64,
    /// Deliveries that were given up, and are kept.
    pub dead: u64,
    /// Those that are paused, cannot be told, or have deliveries that were given up; at most 100.
    pub troubled: Vec<UnhealthyDestination>,
}

/// A destination with which something is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TroubledDestination)]
pub struct UnhealthyDestination {
    /// What its owner calls it.
    pub name: String,
    /// `webhook`, `email` or `command`; `unknown` if its settings are of another freshet.
    pub kind: &'static str,
    /// Where. Of a URL no more than the host: the rest may be a secret.
    pub to: String,
    /// Whether nothing is delivered for the time being.
    pub paused: bool,
    /// Deliveries that failed since the last one that did not.
    pub attempts: u32,
    /// Why the last delivery failed, if it did.
    pub why: Option<String>,
    /// Since when it is paused, or all deliveries failed (RFC 3339, UTC).
    pub since: Option<String>,
    /// When it is tried again, if the last delivery failed.
    pub next: Option<String>,
    /// Deliveries that were given up, and are kept.
    pub dead: u64,
    /// `since` and `next` in milliseconds.
    #[serde(skip)]
    pub moments: (Option<i64>, Option<i64>),
}

impl DestinationHealth {
    /// As the store has it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(reader: &Reader) -> Result<Self, StoreError> {
        let (all, paused, failing) = reader.count_destinations()?;
        if all == 0 {
            return Ok(Self::default());
        }
        let dead: HashMap<u32, u64> =
            reader.count_dead_letters_by_destination()?.into_iter().collect();
        let rows = reader.unhealthy_destinations(NAMED)?;
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
