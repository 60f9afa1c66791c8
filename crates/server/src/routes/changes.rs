//! The log of changes, page by page.

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
use crate::input::Query;
use crate::page::limit;
use crate::problem::Problem;

/// Seconds that somebody may wait for a change.
const LONGEST: u64 = 30;
/// Entries that are looked at for one page at most.
const LOOKED: usize = 20_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which entries of the log.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ChangesQuery {
    /// Those after this cursor, in the order in which they were logged; from the oldest on unless given.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Entries of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
    /// Seconds to wait if there is none yet.
    #[param(minimum = 0, maximum = 30, default = 0)]
    wait: Option<u64>,
    /// Of sources with this tag.
    tag: Option<String>,
    /// Of the host with this name: at this port if one is given, at any otherwise.
    host: Option<String>,
    /// Of URLs that begin so; `*` stands for any run of characters.
    url: Option<String>,
    /// Of sources that counted at least so much.
    #[param(minimum = 0.0)]
    min_importance: Option<f64>,
    /// Of which at most so much is the same: the smaller, the larger the change.
    #[param(minimum = 0.0, maximum = 1.0)]
    max_similarity: Option<f64>,
    /// That tell one of these, separated by commas: `changed`, `failing`, `recovered`, `quiet`,
    /// `gone`. All unless given.
    #[param(example = "changed,failing")]
    kinds: Option<String>,
}

impl ChangesQuery {
    fn filter(&self) -> Result<Filter, Problem> {
        let raw = RawFilter {
            tag: self.tag.clone(),
            host: self.host.clone(),
            url: self.url.clone(),
            min_importance: self.min_importance,
            max_similarity: self.max_similarity,
            kinds: Vec::new(),
        };
        filter(raw, self.kinds.as_deref())
    }
}

/// Which entries are wanted, with the kinds as they are written.
pub(super) fn filter(mut raw: RawFilter, kinds: Option<&str>) -> Result<Filter, Problem> {
    let kinds = kinds.iter().flat_map(|kinds| kinds.split(','));
    let kinds = kinds.map(|kind| kind.trim().parse::<EntryKind>()).collect::<Result<_, _>>();
    raw.kinds = kinds.map_err(|why| Problem::field("kinds", why))?;
    Filter::try_from(raw).map_err(|why| Problem::field(why.field, why.reason))
}

/// A page of the log.
#[derive(Debug, Serialize, ToSchema)]
struct ChangesPage {
    /// The entries, the oldest first.
    items: Vec<Entry>,
    /// Give it as `after` for what comes next. It is always there: the log goes on.
    next: i64,
    /// Whether there is more already.
    more: bool,
}

/// Read the log of changes
///
/// Each entry is there until it is forgotten (`keep.changes` in freshet.toml): who goes on from `next`
/// misses none. With `wait` the answer comes as soon as there is something.
///
/// `GET /v1/changes/stream` sends entries as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(ChangesQuery),
    responses((status = 200, description = "A page of the log", body = ChangesPage),
        (status = 410, description = "Entries after this cursor are forgotten, or it is of another log")))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<ChangesQuery>,
) -> Result<Json<ChangesPage>, Problem> {
    let limit = limit(asked.limit)?;
    let wait = asked.wait.unwrap_or(0);
    if wait > LONGEST {
        return Err(Problem::field("wait", format!("{wait} is not from 0 to {LONGEST} seconds")));
    }
    let filter = asked.filter()?;
    let deadline = Instant::now() + Duration::from_secs(wait);
    let mut cursor = app.hub.cursor();
    let mut closing = app.closing.clone();
    let mut after = start(&app, asked.after).await?;
    loop {
        cursor.mark_unchanged();
        let page = look(&app, after, limit, filter.clone()).await?;
        if !page.items.is_empty() || page.more {
            return Ok(Json(page));
        }
        after = page.next;
        let news = tokio::select! {
            changed = timeout_at(deadline, cursor.changed()) => changed.is_ok_and(|it| it.is_ok()),
            _ = closing.wait_for(|closing| *closing) => false,
        };
        if !news {
            return Ok(Json(page));
        }
    }
}

/// Where to begin. A cursor that the log cannot go on from is refused: something would be missed.
async fn start(app: &App, after: Option<i64>) -> Result<i64, Problem> {
    let after = after.unwrap_or(0);
    if after < 0 {
        return Err(Problem::field("after", format!("{after} is not a cursor")));
    }
    let (forgotten, last) =
        app.read(|reader| Ok((reader.pruned_cursor()?, reader.last_cursor()?))).await?;
    match gap(after, forgotten, last) {
        None => Ok(after),
        Some(detail) => {
            let mut problem = Problem::new(StatusCode::GONE, detail);
            problem.field = Some("after".to_owned());
            Err(problem.hint("begin again without `after`, and look at the sources themselves"))
        }
    }
}

/// What is missing after a cursor, if something is. From 0 on means: all that there is.
pub(super) fn gap(after: i64, forgotten: i64, last: i64) -> Option<String> {
    if after > last {
        return Some(format!("the log ends at {last}: {after} is of another log"));
    }
    (0 < after && after < forgotten)
        .then(|| format!("entries up to {forgotten} are forgotten, and some after {after}"))
}

async fn look(app: &App, after: i64, limit: usize, filter: Filter) -> Result<ChangesPage, Problem> {
    let found = app.read(move |reader| {
        // What is in the log by now has been looked at when the end is reached.
        let newest = reader.last_cursor()?;
        let mut items: Vec<Change> = Vec::new();
        let (mut at, mut looked) = (after, 0);
        loop {
            let some = reader.changes(at, limit, &filter.change_filter())?;
            let is_end = some.len() < limit;
            looked += some.len();
            for change in some {
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
            if looked >= LOOKED {
                return Ok((items, at, true));
            }
        }
    });
    let (items, next, more) = found.await?;
    Ok(ChangesPage { items: items.iter().map(Entry::from_change).collect(), next, more })
}
