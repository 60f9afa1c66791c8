//! Search and sorting of sources. A page takes bounded time, however many sources there are: a long search
//! is done in parts, and the page says so.

use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::parse_host_filter;
use freshet_store::{Reader, SourceQuery, SourceState, StoreError};
use tokio::time::Instant;

use crate::app::App;
use crate::problem::Problem;
use crate::ranking::{CommonState, Rank, SortColumn, SortKey};

/// Sources per page.
const PAGE_SIZE: usize = 50;
/// Sources of a host, a tag or a rare state that are sorted at most.
const MAX_SORTED: usize = 200_000;
/// IDs scanned for one page at most, per batch, and maximum time.
const MAX_SCANNED: u32 = 1_000_000;
const STRIDE: u32 = 10_000;
const SCAN_TIMEOUT: Duration = Duration::from_millis(80);

/// Search conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceFilter {
    pub(super) host: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) state: Option<StateFilter>,
    pub(super) text: Option<String>,
}

/// State of a source, as a search condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateFilter {
    Good,
    New,
    Failing,
    Gone,
    Disallowed,
    Paused,
}

impl StateFilter {
    pub(super) const ALL: [Self; 6] =
        [Self::Good, Self::New, Self::Failing, Self::Gone, Self::Disallowed, Self::Paused];

    /// Name in the address.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::New => "new",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Disallowed => "disallowed",
            Self::Paused => "paused",
        }
    }

    /// Label in the form.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::New => "never fetched",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Disallowed => "disallowed",
            Self::Paused => "paused",
        }
    }

    fn state(self) -> Option<SourceState> {
        Some(match self {
            Self::Good => SourceState::Good,
            Self::New => SourceState::New,
            Self::Failing => SourceState::Failing,
            Self::Gone => SourceState::Gone,
            Self::Disallowed => SourceState::Disallowed,
            Self::Paused => return None,
        })
    }

    fn common(self) -> Option<CommonState> {
        match self {
            Self::Good => Some(CommonState::Good),
            Self::New => Some(CommonState::New),
            _ => None,
        }
    }
}

impl SourceFilter {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// True if a bulk edit can address all matches: only host and tag are given.
    pub(super) fn is_bulk_scope(&self) -> bool {
        (self.host.is_some() || self.tag.is_some()) && self.state.is_none() && self.text.is_none()
    }

    /// Converts the filter to a store query; `None` if the host does not exist.
    fn query(&self, reader: &Reader) -> Result<Option<SourceQuery>, StoreError> {
        let Some((hosts, scheme)) = find_hosts(reader, self.host.as_deref())? else {
            return Ok(None);
        };
        Ok(Some(SourceQuery {
            hosts,
            url_prefix: scheme,
            tag: self.tag.clone(),
            state: self.state.and_then(StateFilter::state),
            paused: (self.state == Some(StateFilter::Paused)).then_some(true),
            url_contains: self.text.clone(),
            ..SourceQuery::default()
        }))
    }

    /// True if one index, or the engine, answers the query.
    fn is_simple(&self) -> bool {
        let parts = [self.host.is_some(), self.tag.is_some(), self.state.is_some()];
        self.text.is_none() && parts.into_iter().filter(|it| *it).count() <= 1
    }
}

/// Host IDs, and the scheme if the filter names one.
type HostScope = (Vec<u32>, Option<&'static str>);

/// Finds the hosts of a filter; `None` if there are none.
pub(super) fn find_hosts(
    reader: &Reader,
    name: Option<&str>,
) -> Result<Option<HostScope>, StoreError> {
    let Some(name) = name else { return Ok(Some((Vec::new(), None))) };
    let Ok(filter) = parse_host_filter(name) else { return Ok(None) };
    let hosts: Vec<u32> = reader.find_hosts(&filter)?.iter().map(|it| it.id).collect();
    Ok((!hosts.is_empty()).then_some((hosts, filter.url_prefix)))
}

/// Position where a page starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PageCursor {
    /// First ID to scan, in a search in parts.
    start_id: u32,
    /// Rank of the last source of the previous page.
    after: Option<Rank>,
}

impl PageCursor {
    pub(super) fn is_first(self) -> bool {
        self == Self::default()
    }

    /// Formats the cursor for an address.
    pub(super) fn to_text(self) -> String {
        let after = self.after.map(Rank::to_text).unwrap_or_default();
        format!("{}.{after}", self.start_id)
    }

    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (start_id, after) = text.split_once('.')?;
        let after = match after {
            "" => None,
            text => Some(Rank::from_text(text)?),
        };
        Some(Self { start_id: start_id.parse().ok()?, after })
    }
}

/// A page of results.
#[derive(Debug, Default)]
pub(super) struct SearchResult {
    /// IDs in order.
    pub(super) ids: Vec<u32>,
    /// Number of matches among the scanned sources.
    pub(super) count: u64,
    /// True if there may be more matches.
    pub(super) is_partial: bool,
    /// IDs scanned and in total, in a search in parts.
    pub(super) scanned: Option<(u32, u32)>,
    /// Cursor of the next page.
    pub(super) next: Option<PageCursor>,
    /// Cursor to continue a search in parts.
    pub(super) search_further: Option<PageCursor>,
}

/// Searches one page.
pub(super) async fn search(
    app: &Arc<App>,
    filter: &SourceFilter,
    (order, is_descending): (SortKey, bool),
    cursor: PageCursor,
) -> Result<SearchResult, Problem> {
    let column = app.web.ranking.column(&app.handle, order).await?;
    let filter = filter.clone();
    app.read(move |reader| {
        let simple = filter.is_simple();
        if simple && filter.host.is_none() && filter.tag.is_none() {
            let common = filter.state.map(StateFilter::common);
            if let None | Some(Some(_)) = common {
                let ids = column.ids(common.flatten());
                return Ok(sorted_page(&column, ids, is_descending, cursor));
            }
        }
        let Some(query) = filter.query(reader)? else { return Ok(SearchResult::default()) };
        if simple {
            let ids = reader.source_ids(&SourceQuery { limit: MAX_SORTED + 1, ..query })?;
            let is_partial = ids.len() > MAX_SORTED;
            let found =
                sorted_page(&column, ids.into_iter().take(MAX_SORTED), is_descending, cursor);
            return Ok(SearchResult { is_partial, ..found });
        }
        scan(reader, &query, cursor.start_id, MAX_SCANNED).map(|(ids, until, end)| {
            let mut found = sorted_page(&column, ids.into_iter(), is_descending, cursor);
            if cursor.start_id > 0 || until < end {
                (found.is_partial, found.scanned) = (true, Some((until, end)));
            }
            found.search_further =
                (until < end).then_some(PageCursor { start_id: until, after: None });
            found
        })
    })
    .await
}

fn sorted_page(
    column: &SortColumn,
    ids: impl Iterator<Item = u32>,
    is_descending: bool,
    cursor: PageCursor,
) -> SearchResult {
    let (mut ranks, count) = column.page(ids, is_descending, cursor.after, PAGE_SIZE + 1);
    let has_more = ranks.len() > PAGE_SIZE;
    ranks.truncate(PAGE_SIZE);
    let after = ranks.last().copied().filter(|_| has_more);
    SearchResult {
        ids: ranks.into_iter().map(Rank::id).collect(),
        count: count as u64,
        next: after.map(|after| PageCursor { after: Some(after), ..cursor }),
        ..SearchResult::default()
    }
}

/// Scans up to `max_ids` IDs from `start_id`. Returns the matches, the next ID, and the number of IDs.
fn scan(
    reader: &Reader,
    query: &SourceQuery,
    start_id: u32,
    max_ids: u32,
) -> Result<(Vec<u32>, u32, u32), StoreError> {
    let (start, end) = (Instant::now(), reader.next_source_id()?);
    let (mut ids, mut at) = (Vec::new(), start_id);
    while at < end && at - start_id < max_ids && (at == start_id || start.elapsed() < SCAN_TIMEOUT)
    {
        let until = at.saturating_add(STRIDE).min(end);
        ids.extend(reader.source_ids(&SourceQuery {
            after: at.checked_sub(1),
            max_id: Some(until - 1),
            limit: STRIDE as usize,
            ..query.clone()
        })?);
        at = until;
    }
    Ok((ids, at, end))
}

#[cfg(test)]
mod tests {
    use freshet_store::{NewSource, Store};

    use super::*;

    #[test]
    fn a_search_in_parts_finds_each_match_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("s.db"), 0).unwrap();
        let source = |n: u32| NewSource::new(format!("https://a.example/{n}-"), "a.example", 0);
        store.import_sources((0..25_000).map(source)).unwrap();
        store.remove_sources(&[9_999]).unwrap();
        let query = SourceQuery { url_contains: Some("9-".to_owned()), ..SourceQuery::default() };
        let (mut found, mut start_id, mut parts) = (Vec::new(), 0, 0);
        loop {
            let (ids, until, end) = scan(&store, &query, start_id, 1).unwrap();
            assert_eq!((end, until > start_id), (25_000, true));
            found.extend(ids);
            (start_id, parts) = (until, parts + 1);
            if until == end {
                break;
            }
        }
        let expect = (0..25_000).filter(|n| n % 10 == 9 && *n != 9_999);
        assert_eq!((parts, found), (3, expect.collect::<Vec<u32>>()));
    }

    #[test]
    fn a_cursor_survives_formatting_and_rejects_garbage() {
        let after = Some(Rank::new(1.5, 7, true));
        for cursor in [PageCursor::default(), PageCursor { start_id: 10_000, after }] {
            assert_eq!(PageCursor::from_text(&cursor.to_text()), Some(cursor));
        }
        for text in ["", "1", "x.", "1.1", "1.zzzzzzzzzzzzzzzz", "99999999999."] {
            assert_eq!(PageCursor::from_text(text), None, "{text}");
        }
    }
}
