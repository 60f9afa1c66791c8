//! Search for sources in small steps, so that a page takes milliseconds however many sources there
//! are.

use std::time::Duration;

use freshet_store::{Reader, SourcePage, SourceQuery, SourceState, StoreError};
use tokio::time::Instant;

/// Number of sources examined in one step.
const SCAN_STRIDE: u32 = 2_000;
/// Time after which a page is returned even if it is not full.
const SCAN_TIMEOUT: Duration = Duration::from_millis(10);

/// Returns a page of the sources that match a query. A page that is short or empty is not
/// necessarily the last.
pub(crate) fn find_page(reader: &Reader, query: &SourceQuery) -> Result<SourcePage, StoreError> {
    if is_indexed(query) {
        return reader.list_sources(query);
    }
    let (start, end) = (Instant::now(), reader.next_source_id()?);
    let mut page = SourcePage { sources: Vec::new(), next_after: query.after };
    loop {
        let until = page
            .next_after
            .map_or(0, |after| after.saturating_add(1))
            .saturating_add(SCAN_STRIDE - 1);
        let mut step = query.clone();
        step.after = page.next_after;
        step.max_id = Some(until);
        step.limit = query.limit - page.sources.len();
        let found = reader.list_sources(&step)?;
        page.sources.extend(found.sources);
        if found.next_after.is_some() {
            page.next_after = found.next_after;
            return Ok(page);
        }
        page.next_after = Some(until);
        if until >= end {
            page.next_after = None;
            return Ok(page);
        }
        if start.elapsed() > SCAN_TIMEOUT {
            return Ok(page);
        }
    }
}

/// True if an index finds the matching sources directly.
fn is_indexed(query: &SourceQuery) -> bool {
    // Failing, gone, disallowed and paused sources are few and indexed; the other states are not.
    let state = match query.state {
        Some(SourceState::New | SourceState::Good) => return false,
        rare => rare.is_some(),
    };
    let paused = match query.paused {
        Some(false) => return false,
        rare => rare.is_some(),
    };
    let indexed_filters = [query.tag.is_some(), !query.hosts.is_empty(), state, paused];
    query.url_contains.is_none()
        && query.url_prefix.is_none()
        && indexed_filters.into_iter().filter(|it| *it).count() <= 1
}
