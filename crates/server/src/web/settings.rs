//! Budget, objective, who is told, and who may ask.

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
use freshet_daemon::{Adjusted, InForce};

use self::destinations::DestinationRow;
use self::objectives::{Choice, choices};
use self::tokens::TokenRow;
use super::form::Fields;
use super::frame::{Frame, page};
use super::said::{Flash, go_to};
use crate::app::App;
use crate::problem::Problem;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings", get(show))
        .route("/settings/budget", post(budget))
        .route("/settings/objective", post(objective))
        .merge(destinations::routes())
        .merge(tokens::routes())
}

#[derive(Template)]
#[template(path = "settings.html")]
struct Settings {
    frame: Frame,
    budget: Setting,
    objective: Setting,
    choices: Vec<Choice>,
    /// The words behind `capture`, if that is the objective.
    capture: String,
    destinations: Vec<DestinationRow>,
    tokens: Vec<TokenRow>,
    address: String,
}

struct Setting {
    value: String,
    written: String,
    is_adjusted: bool,
}

async fn show(State(app): State<Arc<App>>, frame: Frame) -> Result<Response, Problem> {
    let frame = frame.at("settings");
    let InForce { budget, objective, written_budget, written_objective, adjusted } =
        app.handle.settings().await?;
    let now = frame.now;
    let destinations = app.read(move |reader| DestinationRow::all(reader, now)).await?;
    let tokens = if frame.may_admin {
        TokenRow::all(&app.read(|reader| reader.tokens()).await?, now)
    } else {
        Vec::new()
    };
    let capture = objective.strip_prefix("capture").unwrap_or_default().trim().to_owned();
    page(&Settings {
        choices: choices(&objective),
        capture,
        budget: Setting {
            value: budget,
            written: written_budget,
            is_adjusted: adjusted.budget.is_some(),
        },
        objective: Setting {
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

async fn budget(State(app): State<Arc<App>>, fields: Fields) -> Result<Response, Problem> {
    let wanted = fields.get("budget").map(ToOwned::to_owned).filter(|_| !fields.has("reset"));
    // A bare number is meant as the rest of the page says it.
    let wanted = wanted.map(|it| {
        let is_number = it.replace(',', "").parse::<f64>().is_ok();
        if is_number { format!("{}/day", it.replace(',', "")) } else { it }
    });
    if wanted.is_none() && !fields.has("reset") {
        return Err(Problem::field("budget", "there is nothing in it").hint("such as 500/day"));
    }
    let told = match adjust(&app, |adjusted| adjusted.budget = wanted).await? {
        Ok(holds) => Flash::good(format!("The budget is {} from now on.", holds.budget)),
        Err(why) => Flash::bad(format!("The budget stays as it was: {why}.")),
    };
    Ok(go_to(&app, "/settings", told))
}

/// Changes what is set; or tells why that cannot be.
async fn adjust(
    app: &App,
    change: impl FnOnce(&mut Adjusted),
) -> Result<Result<InForce, String>, Problem> {
    let _turn = app.adjusting.lock().await;
    let mut adjusted = app.handle.settings().await?.adjusted;
    change(&mut adjusted);
    if let Err(why) = app.handle.adjust(adjusted).await {
        let problem = Problem::from(why);
        let is_theirs = problem.status == StatusCode::BAD_REQUEST.as_u16();
        return if is_theirs { Ok(Err(problem.detail)) } else { Err(problem) };
    }
    app.web.forecasts.forget().await;
    Ok(Ok(app.handle.settings().await?))
}

async fn objective(State(app): State<Arc<App>>, fields: Fields) -> Result<Response, Problem> {
    let wanted = fields.get("objective").filter(|_| !fields.has("reset")).map(|it| match it {
        "capture" => {
            format!("capture {}", fields.get("capture").unwrap_or_default()).trim().to_owned()
        }
        other => other.to_owned(),
    });
    if wanted.is_none() && !fields.has("reset") {
        return Err(Problem::field("objective", "none is chosen"));
    }
    let told = match adjust(&app, |adjusted| adjusted.objective = wanted).await? {
        Ok(holds) => Flash::good(format!("The objective is {} from now on.", holds.objective)),
        Err(why) => Flash::bad(format!("The objective stays as it was: {why}.")),
    };
    Ok(go_to(&app, "/settings", told))
}
