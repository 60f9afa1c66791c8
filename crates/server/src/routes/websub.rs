//! Where hubs call back (WebSub): nobody can guess the path, and what they send is signed.

use std::sync::Arc;

use axum::extract::{Extension, RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{Confirmed, Mode, Pushed};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::guard::Peer;
use crate::input::{Place, any};
use crate::problem::Problem;

/// Bytes of what a hub sends at most.
const MOST: usize = 4 << 20;
/// Seconds after which a hub may try again if others send at the time.
const BUSY: u32 = 10;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(verify, push))
}

/// A hub makes sure that it was freshet who asked
///
/// By WebSub §5.3: `hub.challenge` is sent back if `hub.mode` and `hub.topic` are what was asked for.
/// With `hub.mode=denied` the hub says that it does not do so (§5.2). Where hubs call is behind
/// `signals.callback` of freshet.toml; each subscription has an address of its own.
#[utoipa::path(get, path = "/websub/{callback}", tag = "signals",
    params(("callback" = String, Path, description = "Of one subscription"),
        ("hub.mode" = Option<String>, Query, description = "`subscribe`, `unsubscribe` or `denied`"),
        ("hub.topic" = Option<String>, Query, description = "What was asked for"),
        ("hub.challenge" = Option<String>, Query, description = "What is sent back"),
        ("hub.lease_seconds" = Option<String>, Query, description = "For how long it holds"),
        ("hub.reason" = Option<String>, Query, description = "Why it is denied")),
    responses((status = 200, description = "The challenge", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such subscription, or it is not what was asked for"),
        (status = 429, description = "Too many addresses that are none")))]
async fn verify(
    State(app): State<Arc<App>>,
    Place(callback): Place<String>,
    RawQuery(query): RawQuery,
    peer: Option<Extension<Peer>>,
) -> Result<Response, Problem> {
    known(&app, &callback, peer)?;
    let query = query.unwrap_or_default();
    let field = |name: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let needed = |name: &str| field(name).ok_or_else(|| Problem::field(name, "is not there"));
    let (mode, topic) = (needed("hub.mode")?, needed("hub.topic")?);
    let (websub, now) = (app.handle.websub(), app.handle.now());
    let (confirmed, answer) = match mode.as_str() {
        "denied" => {
            let reason = field("hub.reason").unwrap_or_default();
            (websub.deny(&callback, &topic, &reason, now), String::new())
        }
        "subscribe" | "unsubscribe" => {
            let is_leaving = mode == "unsubscribe";
            let mode = if is_leaving { Mode::Unsubscribe } else { Mode::Subscribe };
            let challenge = needed("hub.challenge")?;
            let lease = field("hub.lease_seconds").and_then(|it| it.trim().parse().ok());
            (websub.confirm(&callback, mode, &topic, lease, now), challenge)
        }
        other => return Err(Problem::absent(format!("nobody asked for `{other}`"))),
    };
    match confirmed {
        Confirmed::Yes => {
            let kind = (CONTENT_TYPE, "text/plain; charset=utf-8");
            Ok((StatusCode::OK, [kind], answer).into_response())
        }
        Confirmed::No => Err(Problem::absent("nobody asked for that")),
        Confirmed::Unknown => Err(none()),
    }
}

/// A hub sends what has changed
///
/// By WebSub §7: the topic as it is now. `X-Hub-Signature` is an HMAC of the body by the secret that the
/// hub was given, with SHA-1, SHA-256, SHA-384 or SHA-512. What is not signed so is answered alike, and
/// nothing comes of it.
#[utoipa::path(post, path = "/websub/{callback}", tag = "signals",
    params(("callback" = String, Path, description = "Of one subscription"),
        ("X-Hub-Signature" = Option<String>, Header, description = "`sha256=…`")),
    request_body(content = String, content_type = "application/atom+xml"),
    responses((status = 202, description = "It came"),
        (status = 404, description = "There is no such subscription"),
        (status = 410, description = "The subscription is over"),
        (status = 429, description = "It sends too much, or too many addresses that are none")))]
async fn push(
    State(app): State<Arc<App>>,
    Place(callback): Place<String>,
    peer: Option<Extension<Peer>>,
    request: Request,
) -> Result<StatusCode, Problem> {
    known(&app, &callback, peer)?;
    let Ok(_turn) = app.pushing.try_acquire() else {
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "others send at the time");
        return Err(problem.after(BUSY));
    };
    let (parts, body) = request.into_parts();
    let body = any(&parts.headers, body, &app, MOST).await?;
    let signature = parts.headers.get("x-hub-signature").and_then(|it| it.to_str().ok());
    let pushed = app.handle.pushed(&callback, signature, body).await?;
    app.metrics.pushed(pushed);
    match pushed {
        Pushed::Heard(_) | Pushed::Ignored => Ok(StatusCode::ACCEPTED),
        Pushed::Unknown => Err(none()),
        Pushed::Gone => {
            Err(Problem::new(StatusCode::GONE, "nothing is subscribed to here any more"))
        }
        Pushed::TooMany(seconds) => {
            let detail = "this hub sends too much";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(seconds))
        }
    }
}

/// Whether hubs call back here. Whoever guesses is told so only so often.
fn known(app: &App, callback: &str, peer: Option<Extension<Peer>>) -> Result<(), Problem> {
    if app.handle.websub().knows(callback) {
        return Ok(());
    }
    let now = app.handle.now();
    match peer.and_then(|Extension(peer)| app.guesses.count(peer.0.ip(), now)) {
        Some(seconds) => {
            let detail = "too many addresses that are none";
            Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(seconds))
        }
        None => Err(none()),
    }
}

fn none() -> Problem {
    Problem::absent("nothing is subscribed to here")
}
