//! Sources say that they have changed.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use freshet_live::host_of;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::Input;
use crate::problem::Problem;

/// Sources that one request may name.
const MOST: usize = 10_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(signal))
}

/// Sources that have changed.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct SignalsInput {
    /// Those with these URLs.
    #[schema(max_items = 10000)]
    urls: Vec<String>,
    /// Those with these numbers.
    #[schema(max_items = 10000)]
    ids: Vec<u32>,
}

/// What was known of them.
#[derive(Debug, Serialize, ToSchema)]
struct Signalled {
    /// How many of them are sources.
    signalled: u64,
    /// URLs of which there is no source.
    unknown: Vec<String>,
}

/// Say that sources have changed
///
/// It raises what a fetch of them is worth; when they are fetched is up to the budget. Of sources with
/// `observed` no fetch is made without one.
#[utoipa::path(post, path = "/v1/signals", tag = "sources", request_body = SignalsInput,
    responses((status = 200, description = "They are taken note of", body = Signalled)))]
async fn signal(
    State(app): State<Arc<App>>,
    Input(input): Input<SignalsInput, 16>,
) -> Result<Json<Signalled>, Problem> {
    let SignalsInput { urls, mut ids } = input;
    for (field, count) in [("ids", ids.len()), ("urls", urls.len())] {
        if count > MOST {
            return Err(Problem::field(field, format!("{count}, not {MOST} or less")));
        }
    }
    if urls.is_empty() && ids.is_empty() {
        let problem = Problem::new(StatusCode::BAD_REQUEST, "no source is named");
        return Err(problem.hint("give `urls` or `ids`"));
    }
    let (found, unknown) = app
        .read(move |reader| {
            let (mut found, mut unknown) = (Vec::new(), Vec::new());
            for url in urls {
                let canonical = host_of(&url).map_or_else(|_| url.clone(), |(url, _)| url);
                match reader.find(&canonical)? {
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
    Ok(Json(Signalled { signalled: app.handle.signal(ids).await?, unknown }))
}
