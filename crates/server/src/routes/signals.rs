//! Signals pushed through the API.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use freshet_daemon::parse_source_url;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access_control::AuthContext;
use crate::app::App;
use crate::extractors::{BulkBody, BulkItem, BulkJsonBody};
use crate::problem::Problem;

/// Maximum number of sources in a request.
const MAX_SOURCES: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(add_signals))
}

/// Sources that have changed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignalsInput {
    /// URLs of sources.
    #[serde(default)]
    #[schema(max_items = 10000, value_type = Vec<String>)]
    urls: Vec<BulkItem<String>>,
    /// Ids of sources.
    #[serde(default)]
    #[schema(max_items = 10000, value_type = Vec<u32>)]
    ids: Vec<BulkItem<u32>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct UnparsedSignals {
    urls: Vec<Box<RawValue>>,
    ids: Vec<Box<RawValue>>,
}

impl BulkBody for SignalsInput {
    type Unparsed = UnparsedSignals;

    fn read(unread: UnparsedSignals) -> Self {
        Self {
            urls: BulkItem::parse_list(unread.urls, "urls"),
            ids: BulkItem::parse_list(unread.ids, "ids"),
        }
    }
}

/// Result of the signals.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Signalled)]
struct SignalResult {
    /// Number of sources signalled.
    signalled: u64,
    /// URLs that are not sources.
    unknown: Vec<String>,
    /// Problems of the items that are invalid.
    refused: Vec<Problem>,
}

/// Signal that sources have changed
///
/// A signal raises the value of a fetch; the budget decides when it is made. Sources with
/// `observed` are fetched only after a signal, and every signal is trusted. For other sources, a
/// signal counts as much as earlier signals with the same token have proved true.
#[utoipa::path(post, path = "/v1/signals", tag = "sources", request_body = SignalsInput,
    responses((status = 200, description = "The signals are recorded", body = SignalResult)))]
async fn add_signals(
    State(app): State<Arc<App>>,
    Extension(auth): Extension<AuthContext>,
    BulkJsonBody(input): BulkJsonBody<SignalsInput, 16>,
) -> Result<Json<SignalResult>, Problem> {
    let SignalsInput { urls, ids } = input;
    for (field, count) in [("ids", ids.len()), ("urls", urls.len())] {
        if count > MAX_SOURCES {
            return Err(Problem::invalid(
                field,
                format!("too many sources: {count}, at most {MAX_SOURCES} are allowed"),
            ));
        }
    }
    if urls.is_empty() && ids.is_empty() {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "no source is given");
        return Err(problem.with_hint("pass `urls` or `ids`"));
    }
    let mut refused = Vec::new();
    let urls = split_valid(urls, &mut refused);
    let mut ids = split_valid(ids, &mut refused);
    let (found, unknown) = app
        .read(move |reader| {
            let (mut found, mut unknown) = (Vec::new(), Vec::new());
            for url in urls {
                let canonical = parse_source_url(&url).map_or_else(|_| url.clone(), |(url, _)| url);
                match reader.find_source(&canonical)? {
                    Some(id) => found.push(id),
                    None => unknown.push(url),
                }
            }
            Ok((found, unknown))
        })
        .await?;
    ids.extend(found);
    ids.sort_unstable();
    ids.dedup();
    let sender = auth.name.as_deref().unwrap_or("api");
    Ok(Json(SignalResult {
        signalled: app.handle.report_changes(sender, ids).await?,
        unknown,
        refused,
    }))
}

fn split_valid<T: DeserializeOwned>(all: Vec<BulkItem<T>>, refused: &mut Vec<Problem>) -> Vec<T> {
    let each = all.into_iter().map(BulkItem::result);
    each.filter_map(|it| it.map_err(|problem| refused.push(problem)).ok()).collect()
}
