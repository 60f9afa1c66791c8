//! Tokens: who may ask, and for what.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_notify::rfc3339;
use freshet_store::Token;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::{Input, Place, Query};
use crate::page::limit;
use crate::problem::Problem;
use crate::token::{Scope, Scopes, Secret};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(remove))
}

/// A token, without what is secret of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Token)]
struct TokenView {
    /// What its owner calls it.
    name: String,
    /// What it allows.
    scopes: Vec<Scope>,
    /// When it was made (RFC 3339, UTC).
    made: String,
    /// When it was last used, within some minutes.
    used: Option<String>,
}

impl TokenView {
    fn of(it: &Token) -> Self {
        Self {
            name: it.name.clone(),
            scopes: Scopes::from_bits(it.scopes).iter().collect(),
            made: rfc3339(it.created_at),
            used: it.used_at.map(rfc3339),
        }
    }
}

/// Which tokens.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Those whose names come after this: the `next` of the page before.
    after: Option<String>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A page of tokens, by name.
#[derive(Debug, Serialize, ToSchema)]
struct TokenPage {
    /// The tokens.
    items: Vec<TokenView>,
    /// Give it as `after` for the following page; none if this is the last.
    next: Option<String>,
}

/// List tokens
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens", params(ListQuery),
    responses((status = 200, description = "A page of tokens", body = TokenPage)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<ListQuery>,
) -> Result<Json<TokenPage>, Problem> {
    let limit = limit(asked.limit)?;
    let tokens = app.read(|reader| reader.tokens()).await?;
    let behind = |it: &&Token| asked.after.as_ref().is_none_or(|after| it.name > *after);
    let items: Vec<_> = tokens.iter().filter(behind).take(limit).map(TokenView::of).collect();
    let next = items.last().filter(|_| items.len() == limit).map(|it| it.name.clone());
    Ok(Json(TokenPage { items, next }))
}

/// A token that is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TokenInput {
    /// What it is called. One of the same name does not count any more.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// What it allows.
    #[schema(min_items = 1)]
    scopes: Vec<Scope>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
struct NewToken {
    /// The token itself. It is not shown again.
    token: String,
    /// What is known of it.
    #[serde(flatten)]
    about: TokenView,
}

/// Make a token
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = TokenInput,
    responses((status = 201, description = "It counts from now on", body = NewToken)))]
async fn add(
    State(app): State<Arc<App>>,
    Input(input): Input<TokenInput>,
) -> Result<Response, Problem> {
    let (secret, token) = make(&app, input.name, &input.scopes).await?;
    let new = NewToken { token: secret.reveal().to_owned(), about: TokenView::of(&token) };
    Ok((StatusCode::CREATED, Json(new)).into_response())
}

/// Makes a token that counts from now on.
pub(crate) async fn make(
    app: &App,
    name: String,
    scopes: &[Scope],
) -> Result<(Secret, Token), Problem> {
    if name.is_empty() || name.len() > 100 || name.contains(|it: char| it.is_control() || it == '/')
    {
        let detail = "a name is one line of 1 to 100 bytes without `/`";
        return Err(Problem::field("name", detail));
    }
    if scopes.is_empty() {
        return Err(Problem::field("scopes", "a token that allows nothing is of no use"));
    }
    let secret = Secret::random().map_err(|why| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("no randomness: {why}"))
    })?;
    let scopes: Scopes = scopes.iter().copied().collect();
    let made = app.handle.now();
    let token =
        Token { name, hash: secret.hash(), scopes: scopes.bits(), created_at: made, used_at: None };
    app.handle.put_token(token.clone()).await?;
    Ok((secret, token))
}

/// Take a token back
#[utoipa::path(delete, path = "/v1/tokens/{name}", tag = "tokens",
    params(("name" = String, Path, description = "What it is called")),
    responses((status = 204, description = "It does not count any more")))]
async fn remove(
    State(app): State<Arc<App>>,
    Place(name): Place<String>,
) -> Result<StatusCode, Problem> {
    match app.handle.remove_token(name.clone()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::absent(format!("there is no token {name:?}"))),
    }
}
