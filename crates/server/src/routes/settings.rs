//! Settings that can be changed at run time and persist.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use freshet_daemon::EffectiveSettings;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::etag;
use crate::extractors::JsonBody;
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(get, patch))
}

/// Effective settings, and the ones in freshet.toml.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Settings)]
struct SettingsView {
    /// Fetch budget.
    budget: SettingView,
    /// Objective of sources that have none of their own.
    objective: SettingView,
}

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Setting)]
struct SettingView {
    /// Effective value.
    value: String,
    /// Value in freshet.toml.
    written: String,
    /// True if it was changed at run time.
    adjusted: bool,
}

impl SettingsView {
    fn new(settings: EffectiveSettings) -> Self {
        let setting = |value, written, adjusted: &Option<String>| SettingView {
            value,
            written,
            adjusted: adjusted.is_some(),
        };
        Self {
            budget: setting(
                settings.budget,
                settings.configured_budget,
                &settings.overrides.budget,
            ),
            objective: setting(
                settings.objective,
                settings.configured_objective,
                &settings.overrides.objective,
            ),
        }
    }
}

/// Settings to change. Omitted fields stay unchanged; `null` restores the value of freshet.toml.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
struct SettingsInput {
    /// Fetch budget: `500/day`, `20%/day`, `0.2/source/day`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, example = "500/day")]
    budget: Option<Option<String>>,
    /// Objective: `harmonic`, `freshness`, `age`, `capture …`.
    #[serde(deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, example = "harmonic")]
    objective: Option<Option<String>>,
}

/// Distinguishes `null` from an omitted field.
fn nullable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// Get the settings that can be changed at run time
#[utoipa::path(get, path = "/v1/settings", tag = "plan",
    responses((status = 200, description = "Effective and configured values", body = SettingsView)))]
async fn get(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    etag::json(&headers, &SettingsView::new(app.handle.effective_settings().await?))
}

/// Change settings
///
/// They take effect at once and persist over restarts, whatever freshet.toml says, until they are
/// reset with `null`.
#[utoipa::path(patch, path = "/v1/settings", tag = "plan", request_body = SettingsInput,
    responses((status = 200, description = "The settings after the change", body = SettingsView)))]
async fn patch(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<SettingsInput>,
) -> Result<Json<SettingsView>, Problem> {
    // Concurrent changes must not overwrite each other.
    let _lock = app.settings_lock.lock().await;
    let mut adjusted = app.handle.effective_settings().await?.overrides;
    if let Some(budget) = input.budget {
        adjusted.budget = budget;
    }
    if let Some(objective) = input.objective {
        adjusted.objective = objective;
    }
    app.handle.override_settings(adjusted).await?;
    Ok(Json(SettingsView::new(app.handle.effective_settings().await?)))
}
