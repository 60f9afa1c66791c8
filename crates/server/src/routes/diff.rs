//! Differences between versions.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use freshet_daemon::DaemonHandle;
use freshet_detect::{Diff, DiffPart, DiffRow, Document, diff};
use freshet_store::{Reader, Source, StoreError, Version};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extractors::{PathParams, QueryParams};
use crate::problem::Problem;

/// Length at which lines are cut, in characters, approximately.
pub(crate) const MAX_LINE_CHARS: usize = 2000;
/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(get))
}

/// Versions to compare, and the format of the difference.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiffQuery {
    /// Number of the older version; default: the one before `to`.
    from: Option<u32>,
    /// Number of the newer version; default: the newest.
    to: Option<u32>,
    /// Format.
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
    /// Unified diff, as text.
    Unified,
    /// Word diff, `[-old-]{+new+}`, as text.
    Words,
}

/// Difference between two versions, by row.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Diff)]
struct DiffView {
    /// Number of the older version.
    from: u32,
    /// Number of the newer version.
    to: u32,
    /// Number of lines removed or changed.
    removed: usize,
    /// Number of lines added or changed.
    added: usize,
    /// All lines of both versions, in order.
    rows: Vec<RowView>,
}

/// A line that is in both versions, in one of them, or changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Row)]
struct RowView {
    /// Kind of the row.
    kind: RowKind,
    /// Old line; null if the line was added.
    old: Option<Vec<PartView>>,
    /// New line; null if the line was removed.
    new: Option<Vec<PartView>>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RowKind {
    /// In both versions.
    Same,
    /// Only in the older version.
    Removed,
    /// Only in the newer version.
    Added,
    /// Changed.
    Changed,
}

/// A run of words in a line.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Part)]
struct PartView {
    /// Text, including punctuation and spaces.
    text: String,
    /// True if the other line contains it too.
    same: bool,
}

/// Compare two versions
///
/// Compares the relevant content of both, by the current change detection settings.
#[utoipa::path(get, path = "/v1/sources/{id}/diff", tag = "versions",
    params(("id" = u32, Path, description = "Id of the source"), DiffQuery),
    responses((status = 200, description = "The difference", content(
        (DiffView = "application/json"), (String = "text/plain")))))]
async fn get(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<DiffQuery>,
) -> Result<Response, Problem> {
    let (from, to, format) = (query.from, query.to, query.format);
    let handle = app.handle.clone();
    let found = app.read(move |reader| {
        Ok(match load_versions(reader, id, from, to)? {
            Ok((source, old, new)) => {
                let texts =
                    [version_text(&handle, &source, &old), version_text(&handle, &source, &new)];
                let diff = diff(&texts[0], &texts[1]).truncate_lines(MAX_LINE_CHARS);
                Ok((old.meta.number, new.meta.number, diff))
            }
            Err(problem) => Err(problem),
        })
    });
    let (from, to, diff) = found.await??;
    let plain = [(CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok(match format {
        DiffFormat::Json => Json(DiffView::new(from, to, diff)).into_response(),
        DiffFormat::Unified => (plain, diff.unified(CONTEXT_LINES)).into_response(),
        DiffFormat::Words => (plain, diff.words()).into_response(),
    })
}

pub(crate) type VersionPair = Result<(Source, Version, Version), Problem>;

/// Loads a source and two of its versions.
pub(crate) fn load_versions(
    reader: &Reader,
    id: u32,
    from: Option<u32>,
    to: Option<u32>,
) -> Result<VersionPair, StoreError> {
    let Some(source) = reader.source(id)? else { return Ok(Err(Problem::source_not_found(id))) };
    let kept: Vec<u32> = reader.versions(id)?.iter().map(|it| it.number).collect();
    let missing =
        |detail: String| Problem::not_found(detail).with_hint(format!("stored versions: {kept:?}"));
    let Some(to) = to.or(kept.first().copied()) else {
        return Ok(Err(Problem::not_found(format!("source {id} has no versions"))));
    };
    let Some(from) = from.or(kept.iter().copied().find(|&n| n < to)) else {
        return Ok(Err(missing(format!("source {id} has no version before {to}"))));
    };
    let old = reader.version(id, from)?;
    let new = reader.version(id, to)?;
    Ok(match (old, new) {
        (Some(old), Some(new)) => Ok((source, old, new)),
        (None, _) => Err(missing(format!("version {from} of source {id} is not stored"))),
        (_, None) => Err(missing(format!("version {to} of source {id} is not stored"))),
    })
}

/// Returns the relevant content of a version.
pub(crate) fn version_text(handle: &DaemonHandle, source: &Source, version: &Version) -> String {
    let kind = Some(version.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
    let document = Document { bytes: &version.content, content_type: kind, charset: None };
    // The URL of a source is valid, so parsing it cannot fail.
    handle
        .read_document(&source.url, &source.settings, &document)
        .map(|it| it.text)
        .unwrap_or_default()
}

impl DiffView {
    fn new(from: u32, to: u32, diff: Diff) -> Self {
        let (removed, added) = diff.counts();
        Self { from, to, removed, added, rows: diff.rows.into_iter().map(RowView::new).collect() }
    }
}

impl RowView {
    fn new(row: DiffRow) -> Self {
        let whole = |text: String, same| Some(vec![PartView { text, same }]);
        let parts = |parts: Vec<DiffPart>| {
            Some(parts.into_iter().map(|it| PartView { text: it.text, same: it.is_same }).collect())
        };
        match row {
            DiffRow::Same(line) => {
                Self { kind: RowKind::Same, old: whole(line.clone(), true), new: whole(line, true) }
            }
            DiffRow::Removed(line) => {
                Self { kind: RowKind::Removed, old: whole(line, false), new: None }
            }
            DiffRow::Added(line) => {
                Self { kind: RowKind::Added, old: None, new: whole(line, false) }
            }
            DiffRow::Changed { old, new } => {
                Self { kind: RowKind::Changed, old: parts(old), new: parts(new) }
            }
        }
    }
}
