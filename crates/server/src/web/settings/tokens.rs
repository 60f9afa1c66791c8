//! API tokens.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use freshet_daemon::Millis;
use freshet_model::time_format;
use freshet_store::Token;

use crate::app::App;
use crate::problem::Problem;
use crate::routes::tokens::create;
use crate::token::{Scope, Scopes};
use crate::web::flash::{FlashMessage, redirect_with_flash};
use crate::web::form_fields::FormFields;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings/tokens", post(add))
        .route("/settings/tokens/remove", post(remove))
}

pub(super) struct TokenRow {
    pub(super) name: String,
    pub(super) scopes: String,
    pub(super) created: String,
    pub(super) used: String,
}

impl TokenRow {
    pub(super) fn from_tokens(tokens: &[Token], now: Millis) -> Vec<Self> {
        let row = |it: &Token| Self {
            name: it.name.clone(),
            scopes: Scopes::from_bits(it.scopes).to_string().replace(',', ", "),
            created: time_format::format_relative(it.created_at, now),
            used: time_format::format_last(it.used_at, now),
        };
        tokens.iter().map(row).collect()
    }
}

async fn add(State(app): State<Arc<App>>, fields: FormFields) -> Result<Response, Problem> {
    let name = fields.get("name").unwrap_or_default().to_owned();
    let scopes: Vec<Scope> = fields
        .all("scope")
        .map(|it| it.parse::<Scope>().map_err(|error| Problem::invalid("scope", error.to_string())))
        .collect::<Result<_, _>>()?;
    let tokens = app.tokens().await?;
    if tokens.iter().any(|it| it.name == name) {
        return Err(Problem::invalid("name", format!("token `{name}` already exists"))
            .with_hint("remove it first, or use another name"));
    }
    let (secret, token) = create(&app, name, &scopes).await?;
    let flash = FlashMessage {
        secret: Some(secret.reveal().to_owned()),
        ..FlashMessage::success(format!("Token {} created.", token.name))
    };
    Ok(redirect_with_flash(&app, "/settings#tokens", flash))
}

async fn remove(State(app): State<Arc<App>>, fields: FormFields) -> Result<Response, Problem> {
    let name = fields.text("name").to_owned();
    let flash = if app.handle.remove_token(name.clone()).await? {
        FlashMessage::success(format!("Token {name} removed."))
    } else {
        FlashMessage::error(format!("Token {name} not found."))
    };
    Ok(redirect_with_flash(&app, "/settings#tokens", flash))
}
