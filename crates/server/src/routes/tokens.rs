//! API tokens.

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
use crate::extractors::{JsonBody, PathParams, QueryParams};
use crate::pagination::check_limit;
use crate::problem::Problem;
use crate::token::{Scope, Scopes, TokenSecret};

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(remove))
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Token)]
struct TokenView {
    /// Name of the token.
    name: String,
    /// Scopes of the token.
    scopes: Vec<Scope>,
    /// Time of creation (RFC 3339, UTC).
    made: String,
    /// Time of the last use, to within a few minutes.
    used: Option<String>,
}

impl TokenView {
    fn new(token: &Token) -> Self {
        Self {
            name: token.name.clone(),
            scopes: Scopes::from_bits(token.scopes).iter().collect(),
            made: rfc3339(token.created_at),
            used: token.used_at.map(rfc3339),
        }
    }
}

/// Page of the list of tokens.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ListQuery {
    /// Cursor: `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A page of tokens, ordered by name.
#[derive(Debug, Serialize, ToSchema)]
struct TokenPage {
    /// The tokens.
    items: Vec<TokenView>,
    /// Cursor of the next page: pass it as `after`. Null on the last page.
    next: Option<String>,
}

/// List tokens
#[utoipa::path(get, path = "/v1/tokens", tag = "tokens", params(ListQuery),
    responses((status = 200, description = "A page of tokens", body = TokenPage)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<TokenPage>, Problem> {
    let limit = check_limit(query.limit)?;
    let tokens = app.read(|reader| reader.tokens()).await?;
    let is_after = |it: &&Token| query.after.as_ref().is_none_or(|after| it.name > *after);
    let items: Vec<_> = tokens.iter().filter(is_after).take(limit).map(TokenView::new).collect();
    let next = items.last().filter(|_| items.len() == limit).map(|it| it.name.clone());
    Ok(Json(TokenPage { items, next }))
}

/// A token to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TokenInput {
    /// Name of the token. A token of the same name is replaced.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// Scopes of the token.
    #[schema(min_items = 1)]
    scopes: Vec<Scope>,
}

/// A new token.
#[derive(Debug, Serialize, ToSchema)]
struct NewToken {
    /// The token. It is not shown again.
    token: String,
    /// Name, scopes and times.
    #[serde(flatten)]
    about: TokenView,
}

/// Create a token
#[utoipa::path(post, path = "/v1/tokens", tag = "tokens", request_body = TokenInput,
    responses((status = 201, description = "The new token", body = NewToken)))]
async fn add(
    State(app): State<Arc<App>>,
    JsonBody(input): JsonBody<TokenInput>,
) -> Result<Response, Problem> {
    let (secret, token) = create(&app, input.name, &input.scopes).await?;
    let new = NewToken { token: secret.reveal().to_owned(), about: TokenView::new(&token) };
    Ok((StatusCode::CREATED, Json(new)).into_response())
}

/// Creates a token.
pub(crate) async fn create(
    app: &App,
    name: String,
    scopes: &[Scope],
) -> Result<(TokenSecret, Token), Problem> {
    if name.is_empty() || name.len() > 100 || name.contains(|it: char| it.is_control() || it == '/')
    {
        let detail = "invalid name: a name is one line of 1 to 100 bytes without `/`";
        return Err(Problem::invalid("name", detail));
    }
    if scopes.is_empty() {
        return Err(Problem::invalid("scopes", "a token needs at least one scope"));
    }
    let secret = TokenSecret::random().map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("no source of randomness: {error}"))
    })?;
    let scopes: Scopes = scopes.iter().copied().collect();
    let created_at = app.handle.now();
    let token =
        Token { name, hash: secret.hash(), scopes: scopes.bits(), created_at, used_at: None };
    app.handle.put_token(token.clone()).await?;
    Ok((secret, token))
}

/// Revoke a token
#[utoipa::path(delete, path = "/v1/tokens/{name}", tag = "tokens",
    params(("name" = String, Path, description = "Name of the token")),
    responses((status = 204, description = "The token is revoked")))]
async fn remove(
    State(app): State<Arc<App>>,
    PathParams(name): PathParams<String>,
) -> Result<StatusCode, Problem> {
    match app.handle.remove_token(name.clone()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found(format!("no token has the name {name:?}"))),
    }
}
