//! What is to be told next: from the log, after what was told.

use std::time::Duration;

use freshet_store::{Destination, Reader, StoreError};

use crate::entry::Entry;
use crate::payload::{Gap, Payload};
use crate::target::{RawChannel, Target};

/// Entries that are read from the log at once, and pages in one go.
const PAGE: usize = 500;
const PAGES: usize = 20;
/// Entries of one message: of a webhook if many wait, and of a digest.
const SOME: usize = 100;
const MANY: usize = 1000;
/// URLs and summaries of one message, in bytes: no more are begun then.
const LARGE: usize = 1 << 20;

/// What is to be told next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// This, and with it all up to a cursor.
    Tell {
        letter: Payload,
        until: i64,
        /// Whether it was begun before: then it is the same as before.
        begun: bool,
    },
    /// Nothing up to this cursor.
    Nothing(i64),
    /// Nothing so far, and there is more to look at.
    More(i64),
    /// Something, from this moment on.
    Later(i64),
}

/// Looks for what is next, after what was looked at in vain.
pub(crate) fn next(
    reader: &Reader,
    row: &Destination,
    target: &Target,
    seen: i64,
    now: i64,
) -> Result<Next, StoreError> {
    let last = reader.last_cursor()?;
    let forgotten = reader.pruned_cursor()?;
    let mut after = row.cursor.max(seen);
    let mut gap = None;
    if after < forgotten {
        // Who asked for all that there is misses nothing.
        gap = (after > 0).then_some(Gap { from: after + 1, to: forgotten });
        after = forgotten;
    }
    let most = match (target.digest, &target.raw().to) {
        (Some(_), _) => MANY,
        (None, RawChannel::Webhook(_)) => SOME,
        (None, _) => 1,
    };
    // What was begun goes on, if anything of it is left.
    let begun = row.until.filter(|&until| until > after);
    let end = begun.unwrap_or(i64::MAX);
    let log = target.filter.change_filter();
    let (mut entries, mut first, mut bytes) = (Vec::new(), None, 0);
    let mut looked = after;
    let (mut is_whole, mut is_all) = (false, false);
    for _ in 0..PAGES {
        let page = reader.changes(looked, PAGE, &log)?;
        let is_last = page.len() < PAGE;
        for change in page {
            is_all = change.cursor > end;
            if is_all || entries.len() == most || bytes > LARGE && begun.is_none() {
                is_whole = true;
                break;
            }
            looked = change.cursor;
            if target.filter.matches(&change) {
                first.get_or_insert(change.change.first_changed_at);
                bytes += change.url.len() + change.change.summary.len();
                entries.push(Entry::from_change(&change));
            }
        }
        is_whole |= entries.len() == most;
        if is_whole || is_last {
            if !is_whole {
                is_all = true;
                looked = looked.max(last.min(end));
            }
            break;
        }
    }
    if entries.is_empty() && gap.is_none() && begun.is_some() {
        // All of it was forgotten: on with what is there.
        let row = Destination { until: None, ..row.clone() };
        return next(reader, &row, target, seen, now);
    }
    if entries.is_empty() && gap.is_none() {
        let is_end = looked >= last;
        return Ok(if is_end { Next::Nothing(looked) } else { Next::More(looked) });
    }
    if let (Some(period), Some(first), None) = (target.digest, first, begun) {
        let left = first.saturating_add(millis(period)).saturating_sub(now);
        // More than all of it is left if the clock was set back: then it has been long enough.
        if (1..=millis(period)).contains(&left) && !is_whole && gap.is_none() {
            return Ok(Next::Later(now + left));
        }
    }
    // It can be more than is looked at in one go: what was looked at in vain before is not written down at
    // once. What is not in this letter is told in the next one.
    let until = begun.filter(|_| is_all).unwrap_or(looked).max(after);
    Ok(Next::Tell { letter: Payload::of(entries, gap), until, begun: begun == Some(until) })
}

pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use freshet_store::{
        Batch, FetchRecord, NewChange, NewSource, Retention, Store, StoredOutcome,
    };

    use super::*;
    use crate::target::{RawCommand, RawTarget};

    /// A store with so many changes at these moments, and somebody who is told of them.
    fn store(moments: &[i64]) -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("x.db"), 0).unwrap();
        store.add_sources(&[NewSource::new("https://a.example/", "a.example", 0)]).unwrap();
        for &at in moments {
            store
                .record_batch(&Batch { fetches: vec![changed(0, at)], ..Batch::default() })
                .unwrap();
        }
        store.upsert_destination("x", "", 0, 0).unwrap();
        (folder, store)
    }

    /// A fetch that shows a change.
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

    fn row(store: &Store, cursor: i64, until: Option<i64>) -> Destination {
        Destination { cursor, until, ..store.destination(1).unwrap().unwrap() }
    }

    /// The cursors of what is next, the gap before it, and where it ends.
    fn told(next: Next) -> (Vec<i64>, Option<Gap>, i64) {
        match next {
            Next::Tell { letter, until, .. } => {
                let cursors = letter.entries.iter().map(|it| it.cursor).collect();
                (cursors, letter.gap, until)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_begun_ends_where_it_ended() {
        let (_folder, store) = store(&[1, 2, 3, 4]);
        let (one, hour) = (target(None), target(Some("1h")));
        let next = |row: &Destination, target| next(&store, row, target, 0, 1 << 40).unwrap();
        assert_eq!(told(next(&row(&store, 1, None), &one)), (vec![2], None, 2));
        assert_eq!(told(next(&row(&store, 1, None), &hour)), (vec![2, 3, 4], None, 4));
        assert_eq!(told(next(&row(&store, 1, Some(3)), &hour)), (vec![2, 3], None, 3));
        assert_eq!(next(&row(&store, 4, None), &one), Next::Nothing(4));
    }

    #[test]
    fn what_was_begun_and_forgotten_holds_up_nothing() {
        let day = 86_400_000;
        let (_folder, mut store) = store(&[1, 2, 3, 5 * day]);
        store.set_retention(Retention { change_days: 1.0, ..Retention::default() });
        store.prune(5 * day).unwrap();
        assert_eq!(store.pruned_cursor().unwrap(), 3);
        let target = target(None);
        let next = |row: &Destination| next(&store, row, &target, 0, 5 * day).unwrap();
        // Who wanted all that there is, and who had read some of it.
        assert_eq!(told(next(&row(&store, 0, Some(2)))), (vec![4], None, 4));
        let gap = Some(Gap { from: 2, to: 3 });
        assert_eq!(told(next(&row(&store, 1, Some(2)))), (vec![4], gap, 4));
    }

    /// After a crash all is looked at again that was looked at in vain: the end of what was begun can be
    /// further away than it is looked at in one go.
    #[test]
    fn what_was_begun_is_told_to_its_end() {
        let (_folder, mut store) = store(&[]);
        store.add_sources(&[NewSource::new("https://b.example/", "b.example", 0)]).unwrap();
        let all = i64::try_from(PAGE * PAGES).unwrap() + 1;
        // Two are wanted, with only the first of them within reach.
        let fetches = (1..=all).map(|at| changed(u32::from(at >= all - 1), at)).collect();
        store.record_batch(&Batch { fetches, ..Batch::default() }).unwrap();
        let hour = target(Some("1h")).modify(|raw| raw.filter.url = Some("b.example".to_owned()));
        let hour = hour.unwrap();
        let next = |row: &Destination| next(&store, row, &hour, 0, 1 << 40).unwrap();
        let first = next(&row(&store, 0, Some(all)));
        // Where it ends now is to be written down.
        assert!(matches!(first, Next::Tell { begun: false, .. }), "{first:?}");
        assert_eq!(told(first), (vec![all - 1], None, all - 1));
        assert_eq!(told(next(&row(&store, all - 1, None))), (vec![all], None, all));
    }

    #[test]
    fn a_digest_waits_from_its_first_entry_on() {
        let (_folder, store) = store(&[1_000, 2_000]);
        let target = target(Some("10s"));
        let next = |now| next(&store, &row(&store, 0, None), &target, 0, now).unwrap();
        assert_eq!(next(2_500), Next::Later(11_000));
        assert_eq!(told(next(11_000)).0, [1, 2]);
        // The clock was set back.
        assert_eq!(told(next(-60_000)).0, [1, 2]);
    }
}
