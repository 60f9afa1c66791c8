//! Looking for sources, some at a time: a page takes milliseconds however many there are.

use std::time::Duration;

use freshet_store::{Reader, SourcePage, SourceQuery, SourceState, StoreError};
use tokio::time::Instant;

/// Sources that are looked at in one go.
const STRIDE: u32 = 2_000;
/// How long a page is looked for: then it is as full as it is.
const PATIENCE: Duration = Duration::from_millis(10);

/// A page of what is asked for. It can be short, or empty, and not the last.
pub(crate) fn page(reader: &Reader, query: &SourceQuery) -> Result<SourcePage, StoreError> {
    if is_indexed(query) {
        return reader.list_sources(query);
    }
    let (start, end) = (Instant::now(), reader.next_source_id()?);
    let mut page = SourcePage { sources: Vec::new(), next: query.after };
    loop {
        let until = page.next.map_or(0, |after| after.saturating_add(1)).saturating_add(STRIDE - 1);
        let mut step = query.clone();
        step.after = page.next;
        step.up_to = Some(until);
        step.limit = query.limit - page.sources.len();
        let found = reader.list_sources(&step)?;
        page.sources.extend(found.sources);
        if found.next.is_some() {
            page.next = found.next;
            return Ok(page);
        }
        page.next = Some(until);
        if until >= end {
            page.next = None;
            return Ok(page);
        }
        if start.elapsed() > PATIENCE {
            return Ok(page);
        }
    }
}

/// Whether an index leads to what is asked for and to nothing else.
fn is_indexed(query: &SourceQuery) -> bool {
    // Few are failing, gone or disallowed, or paused; the others have no index.
    let state = match query.state {
        Some(SourceState::New | SourceState::Good) => return false,
        rare => rare.is_some(),
    };
    let paused = match query.paused {
        Some(false) => return false,
        rare => rare.is_some(),
    };
    let lead = [query.tag.is_some(), !query.hosts.is_empty(), state, paused];
    query.text.is_none() && query.scheme.is_none() && lead.into_iter().filter(|it| *it).count() <= 1
}
