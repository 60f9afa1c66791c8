//! Settings: budget, objective, notifications and API tokens.

mod destinations;
mod objectives;
mod tokens;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{EffectiveSettings, SettingsOverrides};

use self::destinations::DestinationRow;
use self::objectives::{ObjectiveChoice, objective_choices};
use self::tokens::TokenRow;
use super::flash::{FlashMessage, redirect_with_flash};
use super::form_fields::FormFields;
use super::frame::{Frame, render_page};
use crate::app::App;
use crate::problem::Problem;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/budget", post(set_budget))
        .route("/settings/objective", post(set_objective))
        .merge(destinations::routes())
        .merge(tokens::routes())
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    frame: Frame,
    budget: SettingField,
    objective: SettingField,
    choices: Vec<ObjectiveChoice>,
    /// Parameters of `capture`, if that is the objective.
    capture: String,
    destinations: Vec<DestinationRow>,
    tokens: Vec<TokenRow>,
    address: String,
}

struct SettingField {
    value: String,
    written: String,
    is_adjusted: bool,
}

async fn show(State(app): State<Arc<App>>, frame: Frame) -> Result<Response, Problem> {
    let frame = frame.with_section("settings");
    let EffectiveSettings {
        budget,
        objective,
        configured_budget: written_budget,
        configured_objective: written_objective,
        overrides: adjusted,
    } = app.handle.effective_settings().await?;
    let now = frame.now;
    let destinations = app.read(move |reader| DestinationRow::load(reader, now)).await?;
    let tokens = if frame.can_admin {
        TokenRow::from_tokens(&app.read(|reader| reader.tokens()).await?, now)
    } else {
        Vec::new()
    };
    let capture = objective.strip_prefix("capture").unwrap_or_default().trim().to_owned();
    render_page(&SettingsPage {
        choices: objective_choices(&objective),
        capture,
        budget: SettingField {
            value: budget,
            written: written_budget,
            is_adjusted: adjusted.budget.is_some(),
        },
        objective: SettingField {
            value: objective,
            written: written_objective,
            is_adjusted: adjusted.objective.is_some(),
        },
        destinations,
        tokens,
        address: app.address.to_string(),
        frame,
    })
}

async fn set_budget(State(app): State<Arc<App>>, fields: FormFields) -> Result<Response, Problem> {
    let requested = fields.get("budget").map(ToOwned::to_owned).filter(|_| !fields.has("reset"));
    // A number without a unit means fetches per day.
    let requested = requested.map(|it| {
        let is_number = it.replace(',', "").parse::<f64>().is_ok();
        if is_number { format!("{}/day", it.replace(',', "")) } else { it }
    });
    if requested.is_none() && !fields.has("reset") {
        return Err(
            Problem::invalid("budget", "budget is empty").with_hint("enter for example 500/day")
        );
    }
    let flash = match apply_adjustment(&app, |adjusted| adjusted.budget = requested).await? {
        Ok(effective) => FlashMessage::success(format!("Budget set to {}.", effective.budget)),
        Err(error) => FlashMessage::error(format!("Budget not changed: {error}.")),
    };
    Ok(redirect_with_flash(&app, "/settings", flash))
}

/// Applies an adjustment; the inner error is the reason why it is invalid.
async fn apply_adjustment(
    app: &App,
    change: impl FnOnce(&mut SettingsOverrides),
) -> Result<Result<EffectiveSettings, String>, Problem> {
    let _guard = app.settings_lock.lock().await;
    let mut adjusted = app.handle.effective_settings().await?.overrides;
    change(&mut adjusted);
    if let Err(error) = app.handle.override_settings(adjusted).await {
        let problem = Problem::from(error);
        let is_invalid_value = problem.status == StatusCode::BAD_REQUEST.as_u16();
        return if is_invalid_value { Ok(Err(problem.detail)) } else { Err(problem) };
    }
    app.web.forecasts.clear().await;
    Ok(Ok(app.handle.effective_settings().await?))
}

async fn set_objective(
    State(app): State<Arc<App>>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let requested = fields.get("objective").filter(|_| !fields.has("reset")).map(|it| match it {
        "capture" => {
            format!("capture {}", fields.get("capture").unwrap_or_default()).trim().to_owned()
        }
        other => other.to_owned(),
    });
    if requested.is_none() && !fields.has("reset") {
        return Err(Problem::invalid("objective", "no objective selected"));
    }
    let flash = match apply_adjustment(&app, |adjusted| adjusted.objective = requested).await? {
        Ok(effective) => {
            FlashMessage::success(format!("Objective set to {}.", effective.objective))
        }
        Err(error) => FlashMessage::error(format!("Objective not changed: {error}.")),
    };
    Ok(redirect_with_flash(&app, "/settings", flash))
}
