//! Sources say that they have changed.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use freshet_daemon::host_of;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::guard::Who;
use crate::input::{Bulk, Each, Many};
use crate::problem::Problem;

/// Sources that one request may name.
const MOST: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(signal))
}

/// Sources that have changed.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SignalsInput {
    /// Those with these URLs.
    #[serde(default)]
    #[schema(max_items = 10000, value_type = Vec<String>)]
    urls: Vec<Each<String>>,
    /// Those with these numbers.
    #[serde(default)]
    #[schema(max_items = 10000, value_type = Vec<u32>)]
    ids: Vec<Each<u32>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Unread {
    urls: Vec<Box<RawValue>>,
    ids: Vec<Box<RawValue>>,
}

impl Bulk for SignalsInput {
    type Unread = Unread;

    fn read(unread: Unread) -> Self {
        Self { urls: Each::all(unread.urls, "urls"), ids: Each::all(unread.ids, "ids") }
    }
}

/// What was known of them.
#[derive(Debug, Serialize, ToSchema)]
struct Signalled {
    /// How many of them are sources.
    signalled: u64,
    /// URLs of which there is no source.
    unknown: Vec<String>,
    /// What is wrong with those that are neither.
    refused: Vec<Problem>,
}

/// Say that sources have changed
///
/// It raises what a fetch of them is worth; when they are fetched is up to the budget. Of sources with
/// `observed` no fetch is made without one, and it is believed. Of others it counts as far as what came
/// with the same token has proved true.
#[utoipa::path(post, path = "/v1/signals", tag = "sources", request_body = SignalsInput,
    responses((status = 200, description = "They are taken note of", body = Signalled)))]
async fn signal(
    State(app): State<Arc<App>>,
    Extension(who): Extension<Who>,
    Many(input): Many<SignalsInput, 16>,
) -> Result<Json<Signalled>, Problem> {
    let SignalsInput { urls, ids } = input;
    for (field, count) in [("ids", ids.len()), ("urls", urls.len())] {
        if count > MOST {
            return Err(Problem::field(field, format!("{count}, not {MOST} or less")));
        }
    }
    if urls.is_empty() && ids.is_empty() {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "no source is named");
        return Err(problem.hint("give `urls` or `ids`"));
    }
    let mut refused = Vec::new();
    let urls = good(urls, &mut refused);
    let mut ids = good(ids, &mut refused);
    let (found, unknown) = app
        .read(move |reader| {
            let (mut found, mut unknown) = (Vec::new(), Vec::new());
            for url in urls {
                let canonical = host_of(&url).map_or_else(|_| url.clone(), |(url, _)| url);
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
    let by = who.name.as_deref().unwrap_or("api");
    Ok(Json(Signalled { signalled: app.handle.signal(by, ids).await?, unknown, refused }))
}

fn good<T: DeserializeOwned>(all: Vec<Each<T>>, refused: &mut Vec<Problem>) -> Vec<T> {
    let each = all.into_iter().map(Each::result);
    each.filter_map(|it| it.map_err(|problem| refused.push(problem)).ok()).collect()
}
