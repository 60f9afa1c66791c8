//! Many sources at once: added, or described anew.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::{Edit, NewSourceRequest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::source::{SourceSettingsView, check_url};
use crate::app::App;
use crate::input::{Bulk, Each, Many, field_of};
use crate::problem::Problem;

/// Sources that one request may bring.
const MOST: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(put))
}

/// Sources that are wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UpsertInput {
    /// The sources; their URLs tell them apart.
    #[schema(max_items = 10000, value_type = Vec<SourceInput>)]
    sources: Vec<Each<SourceInput>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unread {
    sources: Vec<Box<RawValue>>,
}

impl Bulk for UpsertInput {
    type Unread = Unread;

    fn read(unread: Unread) -> Self {
        Self { sources: Each::all(unread.sources, "sources") }
    }
}

/// A source that is wanted. What is left out is as usual, or stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SourceInput {
    /// What is fetched.
    #[schema(example = "https://example.com/")]
    url: String,
    /// How much it matters: 1 unless said.
    #[schema(minimum = 0.0, maximum = 1e12)]
    importance: Option<f64>,
    /// What a fetch takes from the budget: 1 unless said.
    #[schema(minimum = 1e-6, maximum = 1e6)]
    cost: Option<f64>,
    /// Seconds that must lie between two fetches; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    min_interval: Option<f64>,
    /// Seconds after which it is fetched whatever it is worth; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    max_interval: Option<f64>,
    /// Whether it is left alone for the time being.
    paused: Option<bool>,
    /// Whether somebody announces all its changes, with `POST /v1/signals`.
    observed: Option<bool>,
    /// Names to find it by. They replace those before.
    #[schema(max_items = 100)]
    tags: Option<Vec<String>>,
    /// What counts of it: the settings under `[detect]` in freshet.toml. `{}` for nothing special.
    #[schema(value_type = Option<Object>)]
    detect: Option<serde_json::Map<String, serde_json::Value>>,
    /// What its copy is to be good for: `harmonic`, `freshness`, `age`, `capture …`; empty for as usual.
    objective: Option<String>,
    /// Changes a day that are expected before the first fetch. Of a source that is known it says nothing.
    #[schema(minimum = 0.0, maximum = 1e6)]
    change_rate: Option<f64>,
}

impl SourceInput {
    /// The URL, and what is said of it.
    fn parts(self) -> (String, SourceSettingsView) {
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
            SourceSettingsView {
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

/// What became of each source.
#[derive(Debug, Serialize, ToSchema)]
struct Upserted {
    /// One for each source, in their order.
    items: Vec<UpsertedItem>,
    /// How many are new.
    created: usize,
    /// How many were there, and were described anew.
    updated: usize,
    /// How many were refused.
    refused: usize,
}

/// What became of a source.
#[derive(Debug, Serialize, ToSchema)]
struct UpsertedItem {
    /// As it was given, if it was.
    url: Option<String>,
    /// What became of it.
    status: UpsertedStatus,
    /// Its number, unless it was refused.
    id: Option<u32>,
    /// Why it was refused, if it was.
    problem: Option<Problem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum UpsertedStatus {
    /// It is new.
    Created,
    /// It was there.
    Updated,
    /// Something in it cannot be meant. The others are not held up by that.
    Refused,
}

/// Add sources, or describe them anew
///
/// By their URLs: the same request again changes nothing. Each source has its own answer; what is
/// refused does not hold up the others.
#[utoipa::path(put, path = "/v1/sources", tag = "sources", request_body = UpsertInput,
    responses((status = 200, description = "What became of each", body = Upserted)))]
async fn put(
    State(app): State<Arc<App>>,
    Many(input): Many<UpsertInput, 16>,
) -> Result<Json<Upserted>, Problem> {
    let count = input.sources.len();
    if count > MOST {
        let detail = format!("{count} sources, not {MOST} or less");
        return Err(Problem::field("sources", detail).hint("send them in several requests"));
    }
    let now = app.handle.now();
    let mut items = Vec::with_capacity(count);
    let mut wanted = Vec::with_capacity(count);
    for (at, source) in input.sources.into_iter().enumerate() {
        let source = match source {
            Each::Read(source) => source,
            Each::Odd { problem, given } => {
                let (url, problem) = (field_of(&given, "url"), Some(problem));
                items.push(UpsertedItem {
                    url,
                    status: UpsertedStatus::Refused,
                    id: None,
                    problem,
                });
                continue;
            }
        };
        let (url, said) = source.parts();
        let checked = check_url(&url).and_then(|()| said.given()).and_then(|given| {
            let it = NewSourceRequest { url: url.clone(), settings: given };
            it.check(now)?;
            Ok(it)
        });
        let problem = match checked {
            Ok(it) => {
                wanted.push(it);
                None
            }
            Err(problem) => Some(problem.within(&format!("sources[{at}]"))),
        };
        let url = Some(url);
        items.push(UpsertedItem { url, status: UpsertedStatus::Refused, id: None, problem });
    }
    let applied = match wanted.is_empty() {
        true => Default::default(),
        false => app.handle.edit(Edit::Add(wanted)).await?,
    };
    let mut added = applied.added.into_iter();
    for item in items.iter_mut().filter(|item| item.problem.is_none()) {
        let Some(added) = added.next() else { break };
        item.id = Some(added.id);
        item.status = if added.is_new { UpsertedStatus::Created } else { UpsertedStatus::Updated };
    }
    let of = |status| items.iter().filter(|item| item.status == status).count();
    let (created, updated) = (of(UpsertedStatus::Created), of(UpsertedStatus::Updated));
    let refused = of(UpsertedStatus::Refused);
    Ok(Json(Upserted { items, created, updated, refused }))
}
