//! What is told of a source beside its changes: that it is no more, that it fails, that it does no
//! longer, that nothing happens. Each is told once, with the fetch that shows it.

use rusqlite::Transaction;

use crate::change;
use crate::outcome::{Kind, Outcome, State};
use crate::record::Fetched;

/// What is told of sources beside their changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// That a source could not be fetched so many times in a row; 0 for never.
    pub failures: u32,
    /// That a source has not changed for so many milliseconds; 0 for never.
    pub quiet: i64,
}

/// What was there before a fetch.
pub(crate) struct Before {
    pub(crate) state: State,
    pub(crate) failures: u32,
    pub(crate) fetched: Option<i64>,
    pub(crate) changed: Option<i64>,
}

impl Watch {
    /// Tells what a fetch shows. Gives the cursor of what was told.
    pub(crate) fn tell(
        self,
        transaction: &Transaction<'_>,
        fetch: &Fetched,
        before: &Before,
    ) -> rusqlite::Result<Option<i64>> {
        let tell = |kind, since, summary: &str| {
            change::tell(transaction, fetch.source, kind, since, fetch.at, summary)
        };
        let is_good = fetch.outcome.state() == State::Good;
        // Whoever keeps an index must know of these two.
        if fetch.outcome == Outcome::Gone && before.state != State::Gone {
            return tell(Kind::Gone, before.fetched, "it is no more");
        }
        if is_good && before.state == State::Gone {
            return tell(Kind::Recovered, before.fetched, "it is there again");
        }
        if self.failures > 0 && !is_good && before.failures + 1 == self.failures {
            let times = self.failures;
            let why = if fetch.note.is_empty() { "no copy could be made" } else { &fetch.note };
            return tell(Kind::Failing, before.fetched, &format!("failed {times} times: {why}"));
        }
        if self.failures > 0 && is_good && before.failures >= self.failures {
            let times = before.failures;
            let cursor = tell(Kind::Recovered, before.fetched, &format!("after {times} failures"))?;
            return Ok(cursor);
        }
        if self.quiet > 0 && fetch.outcome == Outcome::Unchanged {
            let Some(last) = before.fetched else { return Ok(None) };
            let since = match before.changed {
                Some(changed) => changed,
                None => first_seen(transaction, fetch.source)?,
            };
            let due = since.saturating_add(self.quiet);
            if last < due && due <= fetch.at {
                let minutes = (fetch.at - since) / 60_000;
                let long = match minutes {
                    ..120 => format!("{minutes} minutes"),
                    120..2880 => format!("{} hours", minutes / 60),
                    _ => format!("{} days", minutes / 1440),
                };
                return tell(Kind::Quiet, Some(since), &format!("no change for {long}"));
            }
        }
        Ok(None)
    }
}

/// When a source that never changed was added.
fn first_seen(transaction: &Transaction<'_>, source: u32) -> rusqlite::Result<i64> {
    let sql = "SELECT added FROM source WHERE id = ?1";
    transaction.prepare_cached(sql)?.query_row([source], |row| row.get(0))
}
