//! The callback of WebSub hubs: the path of each subscription is unguessable, and deliveries are
//! signed.

use std::sync::Arc;

use axum::extract::{Extension, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{HubCallResult, HubMode, PushResult};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access_control::Peer;
use crate::app::App;
use crate::extractors::{PathParams, read_body};
use crate::problem::Problem;

/// Maximum size of a delivery, in bytes.
const MAX_BODY_BYTES: usize = 4 << 20;
/// Seconds until a retry if too many deliveries are in progress.
const BUSY_RETRY_SECONDS: u32 = 10;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(verify, push))
}

/// Verify a subscription (WebSub)
///
/// Called by a hub, by WebSub §5.3: `hub.challenge` is returned if `hub.mode` and `hub.topic`
/// match a pending request of freshet. With `hub.mode=denied` the hub rejects the subscription
/// (§5.2). Callback URLs are below `signals.callback` of freshet.toml; each subscription has its
/// own.
#[utoipa::path(get, path = "/websub/{callback}", tag = "signals",
    params(("callback" = String, Path, description = "Callback token of a subscription"),
        ("hub.mode" = Option<String>, Query, description = "`subscribe`, `unsubscribe` or `denied`"),
        ("hub.topic" = Option<String>, Query, description = "Topic URL"),
        ("hub.challenge" = Option<String>, Query, description = "Text to return"),
        ("hub.lease_seconds" = Option<String>, Query, description = "Duration of the subscription"),
        ("hub.reason" = Option<String>, Query, description = "Reason of the denial")),
    responses((status = 200, description = "The challenge", body = String, content_type = "text/plain"),
        (status = 404, description = "No such subscription, or the request does not match it"),
        (status = 429, description = "Too many unknown callback URLs")))]
async fn verify(
    State(app): State<Arc<App>>,
    PathParams(callback): PathParams<String>,
    RawQuery(query): RawQuery,
    peer: Option<Extension<Peer>>,
) -> Result<Response, Problem> {
    check_callback(&app, &callback, peer)?;
    let query = query.unwrap_or_default();
    let field = |name: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let required = |name: &str| field(name).ok_or_else(|| Problem::invalid(name, "required"));
    let (mode, topic) = (required("hub.mode")?, required("hub.topic")?);
    let (websub, now) = (app.handle.subscriber(), app.handle.now());
    let (confirmed, body) = match mode.as_str() {
        "denied" => {
            let reason = field("hub.reason").unwrap_or_default();
            (websub.on_denial(&callback, &topic, &reason, now), String::new())
        }
        "subscribe" | "unsubscribe" => {
            let is_leaving = mode == "unsubscribe";
            let mode = if is_leaving { HubMode::Unsubscribe } else { HubMode::Subscribe };
            let challenge = required("hub.challenge")?;
            let lease = field("hub.lease_seconds").and_then(|it| it.trim().parse().ok());
            (websub.on_verification(&callback, mode, &topic, lease, now), challenge)
        }
        other => return Err(Problem::not_found(format!("unknown mode `{other}`"))),
    };
    match confirmed {
        HubCallResult::Confirmed => {
            let kind = (CONTENT_TYPE, "text/plain; charset=utf-8");
            Ok((StatusCode::OK, [kind], body).into_response())
        }
        HubCallResult::Refused => {
            Err(Problem::not_found("the request does not match the subscription"))
        }
        HubCallResult::Unknown => Err(unknown_callback()),
    }
}

/// Deliver content (WebSub)
///
/// Called by a hub, by WebSub §7, with the current content of the topic. `X-Hub-Signature` is an
/// HMAC of the body with the secret that the hub was given, by SHA-1, SHA-256, SHA-384 or SHA-512.
/// A delivery without a valid signature gets the same response and is ignored.
#[utoipa::path(post, path = "/websub/{callback}", tag = "signals",
    params(("callback" = String, Path, description = "Callback token of a subscription"),
        ("X-Hub-Signature" = Option<String>, Header, description = "`sha256=…`")),
    request_body(content = String, content_type = "application/atom+xml"),
    responses((status = 202, description = "Received"),
        (status = 404, description = "No such subscription"),
        (status = 410, description = "The subscription has ended"),
        (status = 429, description = "Too many deliveries, or too many unknown callback URLs")))]
async fn push(
    State(app): State<Arc<App>>,
    PathParams(callback): PathParams<String>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    check_callback(&app, &callback, peer)?;
    let Ok(_slot) = app.hub_push_slots.try_acquire() else {
        let problem =
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent deliveries");
        return Err(problem.with_retry_after(BUSY_RETRY_SECONDS));
    };
    let (parts, body) = request.into_parts();
    let body = read_body(&parts.headers, body, &app, MAX_BODY_BYTES).await?;
    let signature = parts.headers.get("x-hub-signature").and_then(|it| it.to_str().ok());
    let pushed = app.handle.receive_push(&callback, signature, body).await?;
    app.metrics.record_push(pushed);
    match pushed {
        PushResult::Accepted(_) | PushResult::BadSignature => Ok(StatusCode::ACCEPTED),
        PushResult::Unknown => Err(unknown_callback()),
        PushResult::Gone => Err(Problem::new(StatusCode::GONE, "the subscription has ended")),
        PushResult::RateLimited(seconds) => {
            let detail = "too many deliveries from this hub";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry_after(seconds))
        }
    }
}

/// Refuses an unknown callback path. A client that guesses gets only a limited number of answers.
fn check_callback(app: &App, callback: &str, peer: Option<Extension<Peer>>) -> Result<(), Problem> {
    if app.handle.subscriber().has_callback(callback) {
        return Ok(());
    }
    let now = app.handle.now();
    match peer.and_then(|Extension(peer)| app.callback_guesses.record_failure(peer.0.ip(), now)) {
        Some(seconds) => {
            let detail = "too many unknown callback URLs";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry_after(seconds))
        }
        None => Err(unknown_callback()),
    }
}

fn unknown_callback() -> Problem {
    Problem::not_found("no subscription has this callback URL")
}
