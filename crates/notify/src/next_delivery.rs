//! Selects the next entries to deliver to a destination.

use std::time::Duration;

use freshet_store::{Destination, Reader, StoreError};

use crate::entry::Entry;
use crate::payload::{Gap, Payload};
use crate::target::{RawChannel, Target};

/// Entries per page read from the log, and pages read by one call.
const PAGE_ENTRIES: usize = 500;
const MAX_PAGES: usize = 20;
/// Maximum number of entries in one message of a webhook, and in a digest.
const MAX_WEBHOOK_ENTRIES: usize = 100;
const MAX_DIGEST_ENTRIES: usize = 1000;
/// Size of the URLs and summaries of one message, in bytes, after which no more entries are added.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Next entries to deliver.
#[derive(Debug, PartialEq)]
pub(crate) enum NextDelivery {
    /// Deliver a payload, which completes all entries up to a cursor.
    Deliver {
        payload: Payload,
        last_cursor: i64,
        /// True if this delivery was started before, with the same entries.
        is_started: bool,
    },
    /// No entry up to this cursor, which is the end of the log.
    NoneUpTo(i64),
    /// No entry up to this cursor, and more of the log to examine.
    Unfinished(i64),
    /// Entries of a digest that is due at this time.
    NotBefore(i64),
}

/// Finds the next entries to deliver after `examined`, the cursor up to which no entry matches.
pub(crate) fn find_next(
    reader: &Reader,
    row: &Destination,
    target: &Target,
    examined: i64,
    now: i64,
) -> Result<NextDelivery, StoreError> {
    let last = reader.last_cursor()?;
    let pruned = reader.pruned_cursor()?;
    let mut after = row.cursor.max(examined);
    let mut gap = None;
    if after < pruned {
        // A destination that starts at 0 gets the existing entries, so nothing is missing.
        gap = (after > 0).then_some(Gap { from: after + 1, to: pruned });
        after = pruned;
    }
    let max_entries = match (target.digest, &target.raw().to) {
        (Some(_), _) => MAX_DIGEST_ENTRIES,
        (None, RawChannel::Webhook(_)) => MAX_WEBHOOK_ENTRIES,
        (None, _) => 1,
    };
    // A started delivery continues, if some of its entries are left.
    let started = row.in_flight_cursor.filter(|&cursor| cursor > after);
    let end = started.unwrap_or(i64::MAX);
    let log_filter = target.filter.change_filter();
    let (mut entries, mut first, mut bytes) = (Vec::new(), None, 0);
    let mut cursor = after;
    let (mut is_full, mut is_end) = (false, false);
    for _ in 0..MAX_PAGES {
        let page = reader.changes(cursor, PAGE_ENTRIES, &log_filter)?;
        let is_last = page.len() < PAGE_ENTRIES;
        for change in page {
            is_end = change.cursor > end;
            if is_end || entries.len() == max_entries || bytes > MAX_TEXT_BYTES && started.is_none()
            {
                is_full = true;
                break;
            }
            cursor = change.cursor;
            if target.filter.matches(&change) {
                first.get_or_insert(change.change.first_changed_at);
                bytes += change.url.len() + change.change.summary.len();
                entries.push(Entry::from_change(&change));
            }
        }
        is_full |= entries.len() == max_entries;
        if is_full || is_last {
            if !is_full {
                is_end = true;
                cursor = cursor.max(last.min(end));
            }
            break;
        }
    }
    if entries.is_empty() && gap.is_none() && started.is_some() {
        // All entries of the started delivery are pruned: continue with the next ones.
        let row = Destination { in_flight_cursor: None, ..row.clone() };
        return find_next(reader, &row, target, examined, now);
    }
    if entries.is_empty() && gap.is_none() {
        let is_log_end = cursor >= last;
        return Ok(if is_log_end {
            NextDelivery::NoneUpTo(cursor)
        } else {
            NextDelivery::Unfinished(cursor)
        });
    }
    if let (Some(period), Some(first), None) = (target.digest, first, started) {
        let remaining = first.saturating_add(duration_millis(period)).saturating_sub(now);
        // If more than the period remains, the clock was set back: deliver now.
        if (1..=duration_millis(period)).contains(&remaining) && !is_full && gap.is_none() {
            return Ok(NextDelivery::NotBefore(now + remaining));
        }
    }
    // A started delivery can reach further than one call examines, as the examined cursor is not saved at
    // once. Its remaining entries are in the next payload.
    let last_cursor = started.filter(|_| is_end).unwrap_or(cursor).max(after);
    Ok(NextDelivery::Deliver {
        payload: Payload::from_entries(entries, gap),
        last_cursor,
        is_started: started == Some(last_cursor),
    })
}

pub(crate) fn duration_millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use freshet_store::{
        Batch, FetchRecord, NewChange, NewSource, Retention, Store, StoredOutcome,
    };

    use super::*;
    use crate::target::{RawCommand, RawTarget};

    /// Creates a store with changes at these times, and a destination.
    fn store(times: &[i64]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("x.db"), 0).unwrap();
        store.add_sources(&[NewSource::new("https://a.example/", "a.example", 0)]).unwrap();
        for &at in times {
            store
                .record_batch(&Batch { fetches: vec![changed(0, at)], ..Batch::default() })
                .unwrap();
        }
        store.upsert_destination("x", "", 0, 0).unwrap();
        (folder, store)
    }

    /// Returns a fetch that found a change.
    fn changed(source: u32, at: i64) -> FetchRecord {
        let mut fetch = FetchRecord::new(source, at, StoredOutcome::Changed);
        fetch.change = Some(NewChange {
            last_unchanged_at: None,
            first_changed_at: at,
            old_digest: None,
            new_digest: [1; 16],
            old_size: None,
            new_size: 1,
            similarity: 0.0,
            summary: String::new(),
        });
        fetch
    }

    fn target(digest: Option<&str>) -> Target {
        let mut raw = RawTarget::new(RawChannel::Command(RawCommand { name: "x".to_owned() }));
        raw.digest = digest.map(str::to_owned);
        raw.try_into().unwrap()
    }

    fn row(store: &Store, cursor: i64, in_flight_cursor: Option<i64>) -> Destination {
        Destination { cursor, in_flight_cursor, ..store.destination(1).unwrap().unwrap() }
    }

    /// Returns the cursors of a delivery, the gap before it, and its last cursor.
    fn delivered(next: NextDelivery) -> (Vec<i64>, Option<Gap>, i64) {
        match next {
            NextDelivery::Deliver { payload, last_cursor, .. } => {
                let cursors = payload.entries.iter().map(|it| it.cursor).collect();
                (cursors, payload.gap, last_cursor)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_started_delivery_keeps_its_end() {
        let (_folder, store) = store(&[1, 2, 3, 4]);
        let (one, hour) = (target(None), target(Some("1h")));
        let next = |row: &Destination, target| find_next(&store, row, target, 0, 1 << 40).unwrap();
        assert_eq!(delivered(next(&row(&store, 1, None), &one)), (vec![2], None, 2));
        assert_eq!(delivered(next(&row(&store, 1, None), &hour)), (vec![2, 3, 4], None, 4));
        assert_eq!(delivered(next(&row(&store, 1, Some(3)), &hour)), (vec![2, 3], None, 3));
        assert_eq!(next(&row(&store, 4, None), &one), NextDelivery::NoneUpTo(4));
    }

    #[test]
    fn a_pruned_delivery_does_not_block_later_ones() {
        let day = 86_400_000;
        let (_folder, mut store) = store(&[1, 2, 3, 5 * day]);
        store.set_retention(Retention { change_days: 1.0, ..Retention::default() });
        store.prune(5 * day).unwrap();
        assert_eq!(store.pruned_cursor().unwrap(), 3);
        let target = target(None);
        let next = |row: &Destination| find_next(&store, row, &target, 0, 5 * day).unwrap();
        // A destination that starts at 0, and one that has received some entries.
        assert_eq!(delivered(next(&row(&store, 0, Some(2)))), (vec![4], None, 4));
        let gap = Some(Gap { from: 2, to: 3 });
        assert_eq!(delivered(next(&row(&store, 1, Some(2)))), (vec![4], gap, 4));
    }

    /// After a crash entries are examined again: the end of a started delivery can be further away than one call
    /// examines.
    #[test]
    fn a_started_delivery_is_completed_in_parts() {
        let (_folder, mut store) = store(&[]);
        store.add_sources(&[NewSource::new("https://b.example/", "b.example", 0)]).unwrap();
        let all = i64::try_from(PAGE_ENTRIES * MAX_PAGES).unwrap() + 1;
        // Two entries match, and one call reaches only the first.
        let fetches = (1..=all).map(|at| changed(u32::from(at >= all - 1), at)).collect();
        store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
        let hour = target(Some("1h")).modify(|raw| raw.filter.url = Some("b.example".to_owned()));
        let hour = hour.unwrap();
        let next = |row: &Destination| find_next(&store, row, &hour, 0, 1 << 40).unwrap();
        let first = next(&row(&store, 0, Some(all)));
        // Its new end must be recorded.
        assert!(matches!(first, NextDelivery::Deliver { is_started: false, .. }), "{first:?}");
        assert_eq!(delivered(first), (vec![all - 1], None, all - 1));
        assert_eq!(delivered(next(&row(&store, all - 1, None))), (vec![all], None, all));
    }

    #[test]
    fn a_digest_is_due_one_period_after_its_first_entry() {
        let (_folder, store) = store(&[1_000, 2_000]);
        let target = target(Some("10s"));
        let next = |now| find_next(&store, &row(&store, 0, None), &target, 0, now).unwrap();
        assert_eq!(next(2_500), NextDelivery::NotBefore(11_000));
        assert_eq!(delivered(next(11_000)).0, [1, 2]);
        // After the clock was set back, it is due at once.
        assert_eq!(delivered(next(-60_000)).0, [1, 2]);
    }
}
