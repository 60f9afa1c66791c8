//! What changed between two versions.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use freshet_daemon::Handle;
use freshet_detect::{Diff, Document, Part, Row, diff};
use freshet_store::{Reader, Source, StoreError, Version};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::{Place, Query};
use crate::problem::Problem;

/// Characters of a line that are told, about.
pub(crate) const LONGEST_LINE: usize = 2000;
/// Lines around a change.
const CONTEXT: usize = 3;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(get))
}

/// Between which versions, and how it is told.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiffQuery {
    /// The number of the older version; the one before `to` unless given.
    from: Option<u32>,
    /// The number of the newer version; the newest unless given.
    to: Option<u32>,
    /// How it is told.
    #[serde(default)]
    #[param(inline)]
    format: DiffFormat,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DiffFormat {
    /// Rows of two columns, as JSON.
    #[default]
    Json,
    /// As `diff -u`, as text.
    Unified,
    /// Words within lines, as `[-old-]{+new+}`, as text.
    Words,
}

/// What changed between two versions, row by row.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Diff)]
struct DiffView {
    /// The older version.
    from: u32,
    /// The newer version.
    to: u32,
    /// Lines that went, or became others.
    removed: usize,
    /// Lines that came, or were others.
    added: usize,
    /// All lines of both, in order.
    rows: Vec<RowView>,
}

/// A line of both versions, or of one, or one that became another.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Row)]
struct RowView {
    /// What happened to it.
    kind: RowKind,
    /// The old line; none if it was added.
    old: Option<Vec<PartView>>,
    /// The new line; none if it was removed.
    new: Option<Vec<PartView>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RowKind {
    /// In both.
    Same,
    /// Only in the older one.
    Removed,
    /// Only in the newer one.
    Added,
    /// It became another.
    Changed,
}

/// A run of words in a line.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Part)]
struct PartView {
    /// With the signs and spaces between them.
    text: String,
    /// Whether the other line has them too.
    same: bool,
}

/// What changed between two versions
///
/// Of both, what counts by the settings of today.
#[utoipa::path(get, path = "/v1/sources/{id}/diff", tag = "versions",
    params(("id" = u32, Path, description = "The number of the source"), DiffQuery),
    responses((status = 200, description = "What changed", content(
        (DiffView = "application/json"), (String = "text/plain")))))]
async fn get(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<DiffQuery>,
) -> Result<Response, Problem> {
    let (from, to, format) = (asked.from, asked.to, asked.format);
    let handle = app.handle.clone();
    let found = app.read(move |reader| {
        Ok(match pair(reader, id, from, to)? {
            Ok((source, old, new)) => {
                let texts = [text(&handle, &source, &old), text(&handle, &source, &new)];
                let diff = diff(&texts[0], &texts[1]).cut(LONGEST_LINE);
                Ok((old.meta.number, new.meta.number, diff))
            }
            Err(problem) => Err(problem),
        })
    });
    let (from, to, diff) = found.await??;
    let plain = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok(match format {
        DiffFormat::Json => Json(DiffView::of(from, to, diff)).into_response(),
        DiffFormat::Unified => (plain, diff.unified(CONTEXT)).into_response(),
        DiffFormat::Words => (plain, diff.words()).into_response(),
    })
}

pub(crate) type Pair = Result<(Source, Version, Version), Problem>;

/// A source and two of its versions.
pub(crate) fn pair(
    reader: &Reader,
    id: u32,
    from: Option<u32>,
    to: Option<u32>,
) -> Result<Pair, StoreError> {
    let Some(source) = reader.source(id)? else { return Ok(Err(Problem::no_source(id))) };
    let kept: Vec<u32> = reader.versions(id)?.iter().map(|it| it.number).collect();
    let lacking = |what: String| Problem::absent(what).hint(format!("kept are: {kept:?}"));
    let Some(to) = to.or(kept.first().copied()) else {
        return Ok(Err(Problem::absent(format!("there is no version of source {id}"))));
    };
    let Some(from) = from.or(kept.iter().copied().find(|&n| n < to)) else {
        return Ok(Err(lacking(format!("there is no version of source {id} before {to}"))));
    };
    let old = reader.version(id, from)?;
    let new = reader.version(id, to)?;
    Ok(match (old, new) {
        (Some(old), Some(new)) => Ok((source, old, new)),
        (None, _) => Err(lacking(format!("version {from} of source {id} is not kept"))),
        (_, None) => Err(lacking(format!("version {to} of source {id} is not kept"))),
    })
}

/// What counts of a version.
pub(crate) fn text(handle: &Handle, source: &Source, version: &Version) -> String {
    let kind = Some(version.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
    let document = Document { bytes: &version.content, content_type: kind, charset: None };
    // What became a source is a URL.
    handle.reading(&source.url, &source.settings, &document).map(|it| it.text).unwrap_or_default()
}

impl DiffView {
    fn of(from: u32, to: u32, diff: Diff) -> Self {
        let (removed, added) = diff.counts();
        Self { from, to, removed, added, rows: diff.rows.into_iter().map(RowView::of).collect() }
    }
}

impl RowView {
    fn of(row: Row) -> Self {
        let whole = |text: String, same| Some(vec![PartView { text, same }]);
        let parts = |parts: Vec<Part>| {
            Some(parts.into_iter().map(|it| PartView { text: it.text, same: it.same }).collect())
        };
        match row {
            Row::Same(line) => {
                Self { kind: RowKind::Same, old: whole(line.clone(), true), new: whole(line, true) }
            }
            Row::Removed(line) => {
                Self { kind: RowKind::Removed, old: whole(line, false), new: None }
            }
            Row::Added(line) => Self { kind: RowKind::Added, old: None, new: whole(line, false) },
            Row::Changed { old, new } => {
                Self { kind: RowKind::Changed, old: parts(old), new: parts(new) }
            }
        }
    }
}
