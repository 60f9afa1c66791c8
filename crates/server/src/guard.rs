//! Who asks, from where, and whether they may: before anything else is looked at.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::FutureExt;
use tokio::time::{Instant, timeout};

use crate::app::{App, too_long};
use crate::problem::Problem;
use crate::token::{self, Scope, Scopes};
use crate::web;

/// The other end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// What a request needs: `None` if anybody may.
pub(crate) fn needs(method: &Method, path: &str) -> Option<Scope> {
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    if web::is_page(path) {
        return web::needs(method, path);
    }
    match path {
        "/healthz" | "/readyz" | "/v1/openapi.json" | "/v1/docs" if is_reading => None,
        // They carry a secret of their own.
        _ if path == "/indexnow" || path.starts_with("/websub/") => None,
        "/v1/claims" | "/v1/reports" => Some(Scope::Claim),
        _ if path == "/v1/tokens" || path.starts_with("/v1/tokens/") => Some(Scope::Admin),
        _ if is_reading => Some(Scope::Read),
        _ => Some(Scope::Write),
    }
}

/// The token by which a request was let through; none where everybody may.
#[derive(Clone, Copy)]
pub(crate) struct By(pub(crate) Option<[u8; 32]>);

/// Who looks at a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who {
    /// The name of the token; none where everybody may.
    pub(crate) name: Option<String>,
    /// What it allows.
    scopes: Scopes,
    /// What tells this one from all others who look: the cookie, or the token.
    pub(crate) session: Option<String>,
}

impl Who {
    /// Whether something is allowed.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes.allow(scope)
    }

    /// Everybody, where there are no tokens.
    fn everybody() -> Self {
        let scopes = [Scope::Read, Scope::Write, Scope::Claim].into_iter().collect();
        Self { name: None, scopes, session: None }
    }
}

/// Lets a request through, or not; and says how browsers are to treat the answer.
pub(crate) async fn guard(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|it| it.as_str().to_owned());
    let asker = Asker {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
        peer: request.extensions().get::<Peer>().map(|peer| peer.0.ip()),
    };
    let is_page = web::is_page(request.uri().path());
    let admitted = admit(&app, asker).await;
    let mut parts = is_page.then(|| head(&request));
    let mut response = match admitted {
        Ok((by, who)) => {
            if let Some(parts) = &mut parts {
                parts.extensions.insert(who.clone());
            }
            request.extensions_mut().insert(By(by));
            request.extensions_mut().insert(who);
            let answer = AssertUnwindSafe(next.run(request)).catch_unwind();
            match timeout(app.limits.response, answer).await {
                Ok(Ok(response)) => response,
                Ok(Err(_)) => {
                    tracing::error!(%method, route, "a request could not be answered: a fault of ours");
                    let detail = "a fault of freshet: its log says more";
                    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).into_response()
                }
                Err(_) => too_long().into_response(),
            }
        }
        Err(problem) => problem.into_response(),
    };
    if let Some(parts) = parts {
        response = web::as_page(&app, parts, response).await;
    }
    protect(response.headers_mut());
    let route = route.as_deref().unwrap_or("other");
    app.metrics.answered(&method, route, response.status(), start.elapsed());
    tracing::debug!(%method, route, status = response.status().as_u16(), "answered");
    response
}

/// What a page that tells of a failure needs of the request.
fn head(request: &Request) -> Parts {
    let mut head = Request::new(());
    *head.method_mut() = request.method().clone();
    *head.uri_mut() = request.uri().clone();
    head.into_parts().0
}

/// What is looked at of a request before anything else.
struct Asker<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
    peer: Option<IpAddr>,
}

/// The token that counts, if one is needed, and who has it.
type Admitted = (Option<[u8; 32]>, Who);

async fn admit(app: &Arc<App>, asker: Asker<'_>) -> Result<Admitted, Problem> {
    let called = called(asker.uri, asker.headers)?;
    if !app.is_called(host_of(&called)) {
        let detail = format!("this service is not called `{called}`");
        return Err(Problem::new(StatusCode::FORBIDDEN, detail)
            .hint("name it in `hosts` under [server] in freshet.toml if it is"));
    }
    if !asker.method.is_safe() {
        same_origin(asker.headers, &called, app.url.as_deref())?;
    }
    let Some(scope) = needs(asker.method, asker.uri.path()) else {
        // What tells one from others tells their forms apart as well.
        let session = web::cookie(asker.headers).map(ToOwned::to_owned);
        return Ok((None, Who { session, ..Who::default() }));
    };
    authorize(app, asker, scope).await
}

/// By which name the service is asked for: exactly one.
fn called(uri: &Uri, headers: &HeaderMap) -> Result<String, Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let refuse = |detail: &str| {
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail);
        problem.field = Some("Host".to_owned());
        problem
    };
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(refuse("there must be one `Host` header"));
    };
    let host = host.to_str().map_err(|_| refuse("`Host` is not a name"))?;
    if let Some(authority) = uri.authority()
        && !authority.as_str().eq_ignore_ascii_case(host)
    {
        return Err(refuse("`Host` and the request line disagree"));
    }
    Ok(host.to_owned())
}

/// The host of a host and a port.
pub(crate) fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Pages of others must not make browsers change something here.
fn same_origin(headers: &HeaderMap, called: &str, url: Option<&str>) -> Result<(), Problem> {
    let refuse = || {
        let detail = "a web page of another origin may not do that";
        Err(Problem::new(StatusCode::FORBIDDEN, detail))
    };
    let text = |name: &HeaderName| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let site = HeaderName::from_static("sec-fetch-site");
    if matches!(text(&site), Some("cross-site" | "same-site")) {
        return refuse();
    }
    let Some(origin) = text(&ORIGIN) else { return Ok(()) };
    // A proxy may call it by another name than browsers do.
    if url.is_some_and(|url| is_origin_of(origin, url)) {
        return Ok(());
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    match authority {
        Some(authority) if authority.eq_ignore_ascii_case(called) => Ok(()),
        _ => refuse(),
    }
}

/// Whether an address is of an origin.
fn is_origin_of(origin: &str, url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    url.origin().ascii_serialization().eq_ignore_ascii_case(origin)
}

async fn authorize(app: &Arc<App>, asker: Asker<'_>, scope: Scope) -> Result<Admitted, Problem> {
    let tokens = app.tokens().await?;
    // Whoever can make tokens can do everything: that takes one, everywhere.
    if scope != Scope::Admin && app.is_open(&tokens) {
        return Ok((None, Who::everybody()));
    }
    let shown = shown(asker.headers);
    // A cookie is for pages: whoever uses the API shows a token.
    let cookie = web::cookie(asker.headers).filter(|_| web::is_page(asker.uri.path()));
    let session = cookie.and_then(|cookie| app.web.sessions.find(cookie, app.handle.now()));
    let found = match (&shown, session) {
        (Some(shown), _) => token::find(&tokens, shown),
        (None, Some(session)) => tokens.iter().find(|token| token.hash == session.token),
        (None, None) => None,
    };
    let Some(token) = found else {
        app.metrics.refused.inc();
        let now = app.handle.now();
        if shown.is_some()
            && let Some(seconds) = asker.peer.and_then(|peer| app.failures.count(peer, now))
        {
            let detail = "too many tokens that do not count";
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).after(seconds));
        }
        let detail = match shown {
            Some(_) => "this token does not count",
            None => "a token is needed",
        };
        return Err(Problem::new(StatusCode::UNAUTHORIZED, detail).hint(format!(
            "send `Authorization: Bearer …`; make one with `freshet token add NAME --scope {}`",
            scope.name()
        )));
    };
    if !Scopes::from_bits(token.scopes).allow(scope) {
        let detail = format!("the token `{}` does not allow to {}", token.name, doing(scope));
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).hint(format!(
            "make one that does with `freshet token add NAME --scope {}`",
            scope.name()
        )));
    }
    app.used(token);
    let who = Who {
        name: Some(token.name.clone()),
        scopes: Scopes::from_bits(token.scopes),
        session: shown.as_deref().or(cookie).map(ToOwned::to_owned),
    };
    Ok((Some(token.hash), who))
}

fn doing(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Write => "change anything",
        Scope::Claim => "claim sources",
        Scope::Admin => "see or change tokens",
    }
}

/// The token that is shown: as such, or as a password for readers of feeds that know nothing else.
fn shown(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (way, rest) = said.split_once(' ')?;
    if way.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !way.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(BASE64_STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// How browsers are to treat an answer: as nothing but what it is, and for nobody else.
pub(crate) fn protect(headers: &mut HeaderMap) {
    let policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let usual = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in usual {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_from_its_port() {
        let cases = [
            ("localhost", "localhost"),
            ("localhost:80", "localhost"),
            ("[::1]", "[::1]"),
            ("[::1]:80", "[::1]"),
            ("127.0.0.1:", "127.0.0.1"),
        ];
        for (authority, expect) in cases {
            assert_eq!(host_of(authority), expect);
        }
    }

    #[test]
    fn what_is_not_said_to_be_free_takes_a_token() {
        let cases = [
            ("GET", "/healthz", None),
            ("POST", "/healthz", Some(Scope::Write)),
            ("GET", "/metrics", Some(Scope::Read)),
            ("GET", "/v1/sources", Some(Scope::Read)),
            ("PUT", "/v1/sources", Some(Scope::Write)),
            ("POST", "/v1/claims", Some(Scope::Claim)),
            ("GET", "/v1/tokens", Some(Scope::Admin)),
            ("DELETE", "/v1/tokens/x", Some(Scope::Admin)),
            ("BREW", "/anything", Some(Scope::Write)),
            ("GET", "/", Some(Scope::Read)),
            ("GET", "/login", None),
            ("POST", "/login", None),
            ("GET", "/assets/sign.svg", None),
            ("POST", "/assets/sign.svg", Some(Scope::Write)),
            ("POST", "/sources", Some(Scope::Write)),
            ("POST", "/settings/tokens", Some(Scope::Admin)),
            ("GET", "/v1", Some(Scope::Read)),
            ("GET", "/v1/assets/x", Some(Scope::Read)),
        ];
        for (method, path, expect) in cases {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert_eq!(needs(&method, path), expect, "{method} {path}");
        }
    }
}
