//! Who may ask.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use freshet_daemon::Millis;
use freshet_model::moment;
use freshet_store::Token;

use crate::app::App;
use crate::problem::Problem;
use crate::routes::tokens::make;
use crate::token::{Scope, Scopes};
use crate::web::form::Fields;
use crate::web::said::{Flash, go_to};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings/tokens", post(add))
        .route("/settings/tokens/remove", post(remove))
}

pub(super) struct TokenRow {
    pub(super) name: String,
    pub(super) scopes: String,
    pub(super) made: String,
    pub(super) used: String,
}

impl TokenRow {
    pub(super) fn all(tokens: &[Token], now: Millis) -> Vec<Self> {
        let row = |it: &Token| Self {
            name: it.name.clone(),
            scopes: Scopes::from_bits(it.scopes).to_string().replace(',', ", "),
            made: moment::from_now(it.created_at, now),
            used: moment::last(it.used_at, now),
        };
        tokens.iter().map(row).collect()
    }
}

async fn add(State(app): State<Arc<App>>, fields: Fields) -> Result<Response, Problem> {
    let name = fields.get("name").unwrap_or_default().to_owned();
    let scopes: Vec<Scope> = fields
        .all("scope")
        .map(|it| it.parse::<Scope>().map_err(|why| Problem::field("scope", why.to_string())))
        .collect::<Result<_, _>>()?;
    let tokens = app.tokens().await?;
    if tokens.iter().any(|it| it.name == name) {
        return Err(Problem::field("name", format!("there is a token `{name}` already"))
            .hint("remove it first, or choose another name"));
    }
    let (secret, token) = make(&app, name, &scopes).await?;
    let told = Flash {
        secret: Some(secret.reveal().to_owned()),
        ..Flash::good(format!("The token {} counts from now on.", token.name))
    };
    Ok(go_to(&app, "/settings#tokens", told))
}

async fn remove(State(app): State<Arc<App>>, fields: Fields) -> Result<Response, Problem> {
    let name = fields.text("name").to_owned();
    let told = if app.handle.remove_token(name.clone()).await? {
        Flash::good(format!("The token {name} does not count any more."))
    } else {
        Flash::bad(format!("There is no token {name}."))
    };
    Ok(go_to(&app, "/settings#tokens", told))
}
