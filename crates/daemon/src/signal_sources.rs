//! Signal sources: sitemaps and feeds, which are fetched like sources, and push sources.

mod change;
mod discovery_rule;
mod document_fetch;
mod entry_classifier;
mod handle;
mod offline;
mod read_result;
mod signal_buffer;
mod signal_reader;

pub use self::change::{NewSignalSourceRequest, SignalSourceError, SignalSourcePatch};
pub(crate) use self::change::{SignalSourceChange, SignalSourceChanges};
pub use self::discovery_rule::DiscoveryRule;
pub(crate) use self::document_fetch::CompletedRead;
pub(crate) use self::entry_classifier::{
    DocumentContext, classify_entry, dedup_entries, entry_date,
};
pub use self::handle::SignalSourceState;
pub use self::offline::{add_signal_source_offline, remove_signal_source_offline};
pub use self::read_result::{SignalSourceReadResult, defect_description};

use crate::clock::days_from_millis;

/// A signal about a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalReport {
    /// Source id.
    pub source: u32,
    /// Earliest and latest time of the change, if stated, in seconds since 1970.
    pub changed_between: Option<(i64, i64)>,
}

/// A signal and the entry to remember.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedEntry {
    pub(crate) report: SignalReport,
    /// True if it signals a change; otherwise the entry is only remembered.
    pub(crate) is_signal: bool,
    pub(crate) changed_at: Option<i64>,
    pub(crate) fingerprint: u64,
}

impl SignalReport {
    /// Converts the signal for the engine; the time is capped at `now`.
    pub(crate) fn stated_change_time(self, now: f64) -> Option<freshet_engine::StatedChangeTime> {
        let (first, last) = self.changed_between?;
        let day = days_from_millis(first.saturating_mul(1000)).min(now);
        let grain = (days_from_millis(last.saturating_mul(1000)) - day).clamp(0.0, 400.0);
        Some(freshet_engine::StatedChangeTime { earliest: day, resolution: grain })
    }
}
