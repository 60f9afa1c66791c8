//! What is to be told next: from the log, after what was told.

use std::time::Duration;

use freshet_store::{Destination, Reader, StoreError};

use crate::entry::Entry;
use crate::letter::{Gap, Letter};
use crate::target::{RawTo, Target};

/// Entries that are read from the log at once, and pages in one go.
const PAGE: usize = 500;
const PAGES: usize = 20;
/// Entries of one message: of a webhook if many wait, and of a digest.
const SOME: usize = 100;
const MANY: usize = 1000;

/// What is to be told next.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// This, and with it all up to a cursor.
    Tell {
        letter: Letter,
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
    let forgotten = reader.forgotten()?;
    let mut after = row.cursor.max(seen);
    let mut gap = None;
    if after < forgotten {
        // Who asked for all that there is misses nothing.
        gap = (after > 0).then_some(Gap { from: after + 1, to: forgotten });
        after = forgotten;
    }
    let most = match (target.digest, &target.raw().to) {
        (Some(_), _) => MANY,
        (None, RawTo::Webhook(_)) => SOME,
        (None, _) => 1,
    };
    let end = row.until.unwrap_or(i64::MAX);
    let log = target.filter.in_log();
    let (mut entries, mut first) = (Vec::new(), None);
    let mut looked = after;
    let mut is_whole = false;
    for _ in 0..PAGES {
        let page = reader.changes(looked, PAGE, &log)?;
        let is_last = page.len() < PAGE;
        for change in page {
            if change.cursor > end || entries.len() == most {
                is_whole = true;
                break;
            }
            looked = change.cursor;
            if target.filter.matches(&change) {
                first.get_or_insert(change.change.changed);
                entries.push(Entry::of(&change));
            }
        }
        is_whole |= entries.len() == most;
        if is_whole || is_last {
            if !is_whole {
                looked = looked.max(last.min(end));
            }
            break;
        }
    }
    if entries.is_empty() && gap.is_none() {
        let is_end = looked >= last;
        return Ok(if is_end { Next::Nothing(looked) } else { Next::More(looked) });
    }
    if let (Some(period), Some(first), None) = (target.digest, first, row.until) {
        let due = first.saturating_add(millis(period));
        if due > now && !is_whole && gap.is_none() {
            return Ok(Next::Later(due));
        }
    }
    let until = row.until.unwrap_or(looked).max(after);
    Ok(Next::Tell { letter: Letter::of(entries, gap), until, begun: row.until.is_some() })
}

pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
