//! Adding and updating many sources at once.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::{NewSourceRequest, SourceEdit};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::source_view::{SourceSettingsInput, check_url};
use crate::app::App;
use crate::extractors::{BulkBody, BulkItem, BulkJsonBody, raw_field};
use crate::problem::Problem;

/// Maximum number of sources in a request.
const MAX_SOURCES: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(upsert))
}

/// Sources to add or update.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpsertInput {
    /// The sources, identified by their URLs.
    #[schema(max_items = 10000, value_type = Vec<SourceInput>)]
    sources: Vec<BulkItem<SourceInput>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnparsedSources {
    sources: Vec<Box<RawValue>>,
}

impl BulkBody for UpsertInput {
    type Unparsed = UnparsedSources;

    fn read(unread: UnparsedSources) -> Self {
        Self { sources: BulkItem::parse_list(unread.sources, "sources") }
    }
}

/// A source to add or update. Omitted fields get their default, or stay unchanged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SourceInput {
    /// URL to fetch.
    #[schema(example = "https://example.com/")]
    url: String,
    /// Importance; default 1.
    #[schema(minimum = 0.0, maximum = 1e12)]
    importance: Option<f64>,
    /// Cost of a fetch, in units of the budget; default 1.
    #[schema(minimum = 1e-6, maximum = 1e6)]
    cost: Option<f64>,
    /// Minimum seconds between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    min_interval: Option<f64>,
    /// Maximum seconds between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    max_interval: Option<f64>,
    /// True if it is not fetched for now.
    paused: Option<bool>,
    /// True if every change is announced, with `POST /v1/signals`.
    observed: Option<bool>,
    /// Tags. They replace the present ones.
    #[schema(max_items = 100)]
    tags: Option<Vec<String>>,
    /// Change detection settings, as under `[detect]` in freshet.toml; `{}` for the default.
    #[schema(value_type = Option<Object>)]
    detect: Option<serde_json::Map<String, serde_json::Value>>,
    /// Objective: `harmonic`, `freshness`, `age`, `capture …`; empty for the default.
    objective: Option<String>,
    /// Expected changes per day before the first fetch. Ignored if the source already exists.
    #[schema(minimum = 0.0, maximum = 1e6)]
    change_rate: Option<f64>,
}

impl SourceInput {
    /// Splits the source into its URL and its settings.
    fn split(self) -> (String, SourceSettingsInput) {
        let Self {
            url,
            importance,
            cost,
            min_interval,
            max_interval,
            paused,
            observed,
            tags,
            detect,
            objective,
            change_rate,
        } = self;
        (
            url,
            SourceSettingsInput {
                importance,
                cost,
                min_interval,
                max_interval,
                paused,
                observed,
                tags,
                detect,
                objective,
                change_rate,
            },
        )
    }
}

/// Results for the sources.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Upserted)]
struct UpsertResult {
    /// One result for each source, in the same order.
    items: Vec<UpsertResultItem>,
    /// Number of sources added.
    created: usize,
    /// Number of sources updated.
    updated: usize,
    /// Number of sources refused.
    refused: usize,
}

/// Result for a source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UpsertedItem)]
struct UpsertResultItem {
    /// URL as given in the request, if it was.
    url: Option<String>,
    /// Result.
    status: UpsertStatus,
    /// Id of the source; null if it was refused.
    id: Option<u32>,
    /// Why it was refused, if it was.
    problem: Option<Problem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = UpsertedStatus)]
enum UpsertStatus {
    /// The source was added.
    Created,
    /// The source existed and was updated.
    Updated,
    /// The source is invalid. The others are not affected.
    Refused,
}

/// Add or update sources
///
/// Sources are identified by their URLs, so the request can be repeated. Each source has its own
/// result; an invalid one does not affect the others.
#[utoipa::path(put, path = "/v1/sources", tag = "sources", request_body = UpsertInput,
    responses((status = 200, description = "The result for each source", body = UpsertResult)))]
async fn upsert(
    State(app): State<Arc<App>>,
    BulkJsonBody(input): BulkJsonBody<UpsertInput, 16>,
) -> Result<Json<UpsertResult>, Problem> {
    let count = input.sources.len();
    if count > MAX_SOURCES {
        let detail = format!("too many sources: {count}, at most {MAX_SOURCES} are allowed");
        return Err(
            Problem::invalid("sources", detail).with_hint("split them into several requests")
        );
    }
    let now = app.handle.now();
    let mut items = Vec::with_capacity(count);
    let mut valid = Vec::with_capacity(count);
    for (at, source) in input.sources.into_iter().enumerate() {
        let source = match source {
            BulkItem::Valid(source) => source,
            BulkItem::Invalid { problem, raw } => {
                let (url, problem) = (raw_field(&raw, "url"), Some(problem));
                items.push(UpsertResultItem {
                    url,
                    status: UpsertStatus::Refused,
                    id: None,
                    problem,
                });
                continue;
            }
        };
        let (url, settings) = source.split();
        let checked =
            check_url(&url).and_then(|()| settings.into_settings()).and_then(|settings| {
                let it = NewSourceRequest { url: url.clone(), settings };
                it.to_new_source(now)?;
                Ok(it)
            });
        let problem = match checked {
            Ok(it) => {
                valid.push(it);
                None
            }
            Err(problem) => Some(problem.in_parent(&format!("sources[{at}]"))),
        };
        let url = Some(url);
        items.push(UpsertResultItem { url, status: UpsertStatus::Refused, id: None, problem });
    }
    let applied = match valid.is_empty() {
        true => Default::default(),
        false => app.handle.edit(SourceEdit::Add(valid)).await?,
    };
    let mut added = applied.add_results.into_iter();
    for item in items.iter_mut().filter(|item| item.problem.is_none()) {
        let Some(added) = added.next() else { break };
        item.id = Some(added.id);
        item.status = if added.is_new { UpsertStatus::Created } else { UpsertStatus::Updated };
    }
    let count = |status| items.iter().filter(|item| item.status == status).count();
    let (created, updated) = (count(UpsertStatus::Created), count(UpsertStatus::Updated));
    let refused = count(UpsertStatus::Refused);
    Ok(Json(UpsertResult { items, created, updated, refused }))
}
