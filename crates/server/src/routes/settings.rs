//! Settings that hold at once and over restarts.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use freshet_daemon::InForce;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::etag;
use crate::input::Input;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(get, patch))
}

/// What holds, and what freshet.toml says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Settings)]
struct SettingsView {
    /// How many fetches there may be.
    budget: SettingView,
    /// What copies are to be good for, where a source does not say.
    objective: SettingView,
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Setting)]
struct SettingView {
    /// What holds.
    value: String,
    /// What freshet.toml says.
    written: String,
    /// Whether it was changed since.
    adjusted: bool,
}

impl SettingsView {
    fn of(it: InForce) -> Self {
        let setting = |value, written, adjusted: &Option<String>| SettingView {
            value,
            written,
            adjusted: adjusted.is_some(),
        };
        Self {
            budget: setting(it.budget, it.written_budget, &it.adjusted.budget),
            objective: setting(it.objective, it.written_objective, &it.adjusted.objective),
        }
    }
}

/// What is to hold from now on. What is left out stays as it is; `null` is back to freshet.toml.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct SettingsInput {
    /// How many fetches there may be: `500/day`, `20%/day`, `0.2/source/day`.
    #[serde(deserialize_with = "said")]
    #[schema(value_type = Option<String>, example = "500/day")]
    budget: Option<Option<String>>,
    /// What copies are to be good for: `harmonic`, `freshness`, `age`, `capture …`.
    #[serde(deserialize_with = "said")]
    #[schema(value_type = Option<String>, example = "harmonic")]
    objective: Option<Option<String>>,
}

/// Tells `null` from nothing.
fn said<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// The settings that can be changed while it runs
#[utoipa::path(get, path = "/v1/settings", tag = "plan",
    responses((status = 200, description = "What holds, and what is written", body = SettingsView)))]
async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    etag::json(&headers, &SettingsView::of(app.handle.settings().await?))
}

/// Change settings
///
/// They hold at once and over restarts, whatever freshet.toml says, until they are taken back.
#[utoipa::path(patch, path = "/v1/settings", tag = "plan", request_body = SettingsInput,
    responses((status = 200, description = "What holds now", body = SettingsView)))]
async fn patch(
    State(app): State<Arc<App>>,
    Input(input): Input<SettingsInput>,
) -> Result<Json<SettingsView>, Problem> {
    // Two who change something at once both count.
    let _turn = app.adjusting.lock().await;
    let mut adjusted = app.handle.settings().await?.adjusted;
    if let Some(budget) = input.budget {
        adjusted.budget = budget;
    }
    if let Some(objective) = input.objective {
        adjusted.objective = objective;
    }
    app.handle.adjust(adjusted).await?;
    Ok(Json(SettingsView::of(app.handle.settings().await?)))
}
