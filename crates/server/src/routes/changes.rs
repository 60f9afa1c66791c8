//! Pages of the change log.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use freshet_notify::{Entry, EntryKind, Filter, RawFilter};
use freshet_store::Change;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extractors::QueryParams;
use crate::pagination::check_limit;
use crate::problem::Problem;

/// Maximum seconds that a request may wait for a change.
const MAX_WAIT_SECONDS: u64 = 30;
/// Maximum number of log entries examined for one page.
const MAX_SCANNED: usize = 20_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Filter and position in the change log.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChangesQuery {
    /// Return entries after this cursor, in log order; from the oldest by default.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Maximum number of entries in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
    /// Seconds to wait for an entry if there is none yet.
    #[param(minimum = 0, maximum = 30, default = 0)]
    wait: Option<u64>,
    /// Only sources with this tag.
    tag: Option<String>,
    /// Only this host: the given port, or any port if none is given.
    host: Option<String>,
    /// Only URLs that start with this; `*` matches any characters.
    url: Option<String>,
    /// Only sources of at least this importance at the time.
    #[param(minimum = 0.0)]
    min_importance: Option<f64>,
    /// Only changes of at most this similarity; smaller means a larger change.
    #[param(minimum = 0.0, maximum = 1.0)]
    max_similarity: Option<f64>,
    /// Only these kinds, separated by commas: `changed`, `failing`, `recovered`, `quiet`, `gone`.
    /// All by default.
    #[param(example = "changed,failing")]
    kinds: Option<String>,
}

impl ChangesQuery {
    fn to_filter(&self) -> Result<Filter, Problem> {
        let raw = RawFilter {
            tag: self.tag.clone(),
            host: self.host.clone(),
            url: self.url.clone(),
            min_importance: self.min_importance,
            max_similarity: self.max_similarity,
            kinds: Vec::new(),
        };
        parse_filter(raw, self.kinds.as_deref())
    }
}

/// Parses a filter, with the kinds separated by commas.
pub(super) fn parse_filter(mut raw: RawFilter, kinds: Option<&str>) -> Result<Filter, Problem> {
    let kinds = kinds.iter().flat_map(|kinds| kinds.split(','));
    let kinds = kinds.map(|kind| kind.trim().parse::<EntryKind>()).collect::<Result<_, _>>();
    raw.kinds = kinds.map_err(|error| Problem::invalid("kinds", error))?;
    Filter::try_from(raw).map_err(|error| Problem::invalid(error.field, error.reason))
}

/// A page of the change log.
#[derive(Debug, Serialize, ToSchema)]
struct ChangesPage {
    /// Entries, oldest first.
    items: Vec<Entry>,
    /// Cursor of the next page: pass it as `after`. Never null, because the log continues.
    next: i64,
    /// True if more entries exist already.
    more: bool,
}

/// List changes
///
/// An entry stays in the log until it expires (`keep.changes` in freshet.toml); a client that
/// continues from `next` misses none. With `wait`, the response is sent as soon as there is an
/// entry.
///
/// `GET /v1/changes/stream` sends entries as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(ChangesQuery),
    responses((status = 200, description = "A page of the change log", body = ChangesPage),
        (status = 410, description = "Entries after this cursor have expired, or the cursor is from another log")))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<ChangesQuery>,
) -> Result<Json<ChangesPage>, Problem> {
    let limit = check_limit(query.limit)?;
    let wait = query.wait.unwrap_or(0);
    if wait > MAX_WAIT_SECONDS {
        return Err(Problem::invalid(
            "wait",
            format!("wait out of range: {wait} is not between 0 and {MAX_WAIT_SECONDS} seconds"),
        ));
    }
    let filter = query.to_filter()?;
    let deadline = Instant::now() + Duration::from_secs(wait);
    let mut cursor = app.broadcast.cursor();
    let mut closing = app.closing.clone();
    let mut after = check_cursor(&app, query.after).await?;
    loop {
        cursor.mark_unchanged();
        let page = read_page(&app, after, limit, filter.clone()).await?;
        if !page.items.is_empty() || page.more {
            return Ok(Json(page));
        }
        after = page.next;
        let has_news = tokio::select! {
            changed = timeout_at(deadline, cursor.changed()) => changed.is_ok_and(|it| it.is_ok()),
            _ = closing.wait_for(|closing| *closing) => false,
        };
        if !has_news {
            return Ok(Json(page));
        }
    }
}

/// Returns the start cursor. A cursor that would skip entries is refused.
async fn check_cursor(app: &App, after: Option<i64>) -> Result<i64, Problem> {
    let after = after.unwrap_or(0);
    if after < 0 {
        return Err(Problem::invalid(
            "after",
            format!("invalid cursor: {after}; cursors are 0 or more"),
        ));
    }
    let (pruned, last) =
        app.read(|reader| Ok((reader.pruned_cursor()?, reader.last_cursor()?))).await?;
    match missing_entries(after, pruned, last) {
        None => Ok(after),
        Some(detail) => {
            let mut problem = Problem::new(StatusCode::GONE, detail);
            problem.field = Some("after".to_owned());
            Err(problem.with_hint(
                "start again without `after`, and read the current state from `/v1/sources`",
            ))
        }
    }
}

/// Returns what is missing after a cursor, if anything is. Cursor 0 means everything that is still
/// in the log.
pub(super) fn missing_entries(after: i64, pruned: i64, last: i64) -> Option<String> {
    if after > last {
        return Some(format!("cursor {after} is from another log: this log ends at {last}"));
    }
    (0 < after && after < pruned).then(|| {
        format!("entries after cursor {after} have expired: the log starts after {pruned}")
    })
}

async fn read_page(
    app: &App,
    after: i64,
    limit: usize,
    filter: Filter,
) -> Result<ChangesPage, Problem> {
    let found = app.read(move |reader| {
        // All entries up to here will have been examined when the end is reached.
        let newest = reader.last_cursor()?;
        let mut items: Vec<Change> = Vec::new();
        let (mut at, mut scanned) = (after, 0);
        loop {
            let batch = reader.changes(at, limit, &filter.change_filter())?;
            let is_end = batch.len() < limit;
            scanned += batch.len();
            for change in batch {
                at = change.cursor;
                if filter.matches(&change) {
                    items.push(change);
                    if items.len() == limit {
                        return Ok((items, at, true));
                    }
                }
            }
            if is_end {
                return Ok((items, at.max(newest), false));
            }
            if scanned >= MAX_SCANNED {
                return Ok((items, at, true));
            }
        }
    });
    let (items, next, more) = found.await?;
    Ok(ChangesPage { items: items.iter().map(Entry::from_change).collect(), next, more })
}
