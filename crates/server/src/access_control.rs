//! Access control: authenticates and authorizes each request before any handler runs.

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

use crate::app::{App, timeout_problem};
use crate::problem::Problem;
use crate::token::{self, Scope, Scopes};
use crate::web;

/// Address of the other end of a connection.
#[derive(Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Returns the scope that a request needs; `None` if it needs no token.
pub(crate) fn required_scope(method: &Method, path: &str) -> Option<Scope> {
    let is_reading = matches!(*method, Method::GET | Method::HEAD);
    if web::is_page(path) {
        return web::required_scope(method, path);
    }
    match path {
        "/healthz" | "/readyz" | "/v1/openapi.json" | "/v1/docs" if is_reading => None,
        // These requests carry a secret of their own.
        _ if path == "/indexnow" || path.starts_with("/websub/") => None,
        "/v1/claims" | "/v1/reports" => Some(Scope::Claim),
        _ if path == "/v1/tokens" || path.starts_with("/v1/tokens/") => Some(Scope::Admin),
        _ if is_reading => Some(Scope::Read),
        _ => Some(Scope::Write),
    }
}

/// Hash of the token that admitted a request; `None` if it needed none.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash(pub(crate) Option<[u8; 32]>);

/// Identity of the sender of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuthContext {
    /// Name of the token; `None` if no token is required.
    pub(crate) name: Option<String>,
    /// Scopes of the token.
    scopes: Scopes,
    /// Secret that identifies the browser session: the cookie, or the token.
    pub(crate) session: Option<String>,
}

impl AuthContext {
    /// True if the sender has a scope.
    pub(crate) fn can(&self, scope: Scope) -> bool {
        self.scopes.allows(scope)
    }

    /// Sender of a request to a service without tokens.
    fn anonymous() -> Self {
        let scopes = [Scope::Read, Scope::Write, Scope::Claim].into_iter().collect();
        Self { name: None, scopes, session: None }
    }
}

/// Middleware that admits or refuses a request, and adds security headers to the response.
pub(crate) async fn check_access(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|it| it.as_str().to_owned());
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        headers: request.headers(),
        peer: request.extensions().get::<Peer>().map(|peer| peer.0.ip()),
    };
    let is_page = web::is_page(request.uri().path());
    let admitted = admit(&app, head).await;
    let mut parts = is_page.then(|| page_parts(&request));
    let mut response = match admitted {
        Ok((token_hash, auth)) => {
            if let Some(parts) = &mut parts {
                parts.extensions.insert(auth.clone());
            }
            request.extensions_mut().insert(TokenHash(token_hash));
            request.extensions_mut().insert(auth);
            let answer = AssertUnwindSafe(next.run(request)).catch_unwind();
            match timeout(app.timeouts.response, answer).await {
                Ok(Ok(response)) => response,
                Ok(Err(_)) => {
                    tracing::error!(%method, route, "a request handler panicked");
                    let detail = "internal error: see the log of freshet";
                    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail).into_response()
                }
                Err(_) => timeout_problem().into_response(),
            }
        }
        Err(problem) => problem.into_response(),
    };
    if let Some(parts) = parts {
        response = web::to_page(&app, parts, response).await;
    }
    set_security_headers(response.headers_mut());
    let route = route.as_deref().unwrap_or("other");
    app.metrics.record_response(&method, route, response.status(), start.elapsed());
    tracing::debug!(%method, route, status = response.status().as_u16(), "answered");
    response
}

/// Returns the parts of the request that an error page needs.
fn page_parts(request: &Request) -> Parts {
    let mut head = Request::new(());
    *head.method_mut() = request.method().clone();
    *head.uri_mut() = request.uri().clone();
    head.into_parts().0
}

/// The parts of a request that access control looks at.
struct RequestHead<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
    peer: Option<IpAddr>,
}

/// Hash of the token that admitted the request, if any, and its sender.
type Admission = (Option<[u8; 32]>, AuthContext);

async fn admit(app: &Arc<App>, head: RequestHead<'_>) -> Result<Admission, Problem> {
    let host = requested_host(head.uri, head.headers)?;
    if !app.is_own_host(host_without_port(&host)) {
        let detail = format!("unknown host name `{host}`");
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).with_hint(
            "if the service has this name, add it to `hosts` under [server] in freshet.toml",
        ));
    }
    if !head.method.is_safe() {
        check_origin(head.headers, &host, app.url.as_deref())?;
    }
    let Some(scope) = required_scope(head.method, head.uri.path()) else {
        // Forms are bound to the session, so it is needed here too.
        let session = web::session_cookie(head.headers).map(ToOwned::to_owned);
        return Ok((None, AuthContext { session, ..AuthContext::default() }));
    };
    authorize(app, head, scope).await
}

/// Returns the host name of the request; there must be exactly one.
fn requested_host(uri: &Uri, headers: &HeaderMap) -> Result<String, Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let refuse = |detail: &str| {
        let mut problem = Problem::new(StatusCode::BAD_REQUEST, detail);
        problem.field = Some("Host".to_owned());
        problem
    };
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(refuse("the request must have exactly one `Host` header"));
    };
    let host = host.to_str().map_err(|_| refuse("the `Host` header is not a host name"))?;
    if let Some(authority) = uri.authority()
        && !authority.as_str().eq_ignore_ascii_case(host)
    {
        return Err(refuse("the `Host` header and the request line name different hosts"));
    }
    Ok(host.to_owned())
}

/// Returns the host of `host:port`.
pub(crate) fn host_without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Refuses requests that browsers send for pages of other origins (cross-site request forgery).
fn check_origin(headers: &HeaderMap, host: &str, url: Option<&str>) -> Result<(), Problem> {
    let refuse = || {
        let detail = "requests from pages of another origin are not allowed";
        Err(Problem::new(StatusCode::FORBIDDEN, detail))
    };
    let text = |name: &HeaderName| headers.get(name).map(|it| it.to_str().unwrap_or_default());
    let site = HeaderName::from_static("sec-fetch-site");
    if matches!(text(&site), Some("cross-site" | "same-site")) {
        return refuse();
    }
    let Some(origin) = text(&ORIGIN) else { return Ok(()) };
    // Behind a proxy, the host name may differ from the one in the browser.
    if url.is_some_and(|url| is_origin_of(origin, url)) {
        return Ok(());
    }
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    match authority {
        Some(authority) if authority.eq_ignore_ascii_case(host) => Ok(()),
        _ => refuse(),
    }
}

/// True if a URL has an origin.
fn is_origin_of(origin: &str, url: &str) -> bool {
    let Ok(url) = url::Url::parse(url) else { return false };
    url.origin().ascii_serialization().eq_ignore_ascii_case(origin)
}

async fn authorize(
    app: &Arc<App>,
    head: RequestHead<'_>,
    scope: Scope,
) -> Result<Admission, Problem> {
    let tokens = app.tokens().await?;
    // The admin scope can grant every other, so it always takes a token.
    if scope != Scope::Admin && app.allows_anonymous(&tokens) {
        return Ok((None, AuthContext::anonymous()));
    }
    let presented = presented_token(head.headers);
    // Cookies are for pages only: API clients present a token.
    let cookie = web::session_cookie(head.headers).filter(|_| web::is_page(head.uri.path()));
    let session = cookie.and_then(|cookie| app.web.sessions.find(cookie, app.handle.now()));
    let found = match (&presented, session) {
        (Some(presented), _) => token::find_token(&tokens, presented),
        (None, Some(session)) => tokens.iter().find(|token| token.hash == session.token),
        (None, None) => None,
    };
    let Some(token) = found else {
        app.metrics.refused.inc();
        let now = app.handle.now();
        if presented.is_some()
            && let Some(seconds) =
                head.peer.and_then(|peer| app.auth_failures.record_failure(peer, now))
        {
            let detail = "too many invalid tokens";
            return Err(
                Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry_after(seconds)
            );
        }
        let detail = match presented {
            Some(_) => "invalid token",
            None => "a token is required",
        };
        return Err(Problem::new(StatusCode::UNAUTHORIZED, detail).with_hint(format!(
            "send `Authorization: Bearer …`; create a token with `freshet token add NAME --scope {}`",
            scope.name()
        )));
    };
    if !Scopes::from_bits(token.scopes).allows(scope) {
        let detail = format!("the token `{}` may not {}", token.name, scope_action(scope));
        return Err(Problem::new(StatusCode::FORBIDDEN, detail).with_hint(format!(
            "create one that may with `freshet token add NAME --scope {}`",
            scope.name()
        )));
    }
    app.record_token_use(token);
    let auth = AuthContext {
        name: Some(token.name.clone()),
        scopes: Scopes::from_bits(token.scopes),
        session: presented.as_deref().or(cookie).map(ToOwned::to_owned),
    };
    Ok((Some(token.hash), auth))
}

fn scope_action(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Write => "change anything",
        Scope::Claim => "claim sources",
        Scope::Admin => "manage tokens",
    }
}

/// Returns the presented token: a bearer token, or the password of basic authentication, which is
/// all that feed readers support.
fn presented_token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(BASE64_STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

/// Sets headers that keep browsers from sniffing, framing, caching or sharing a response.
pub(crate) fn set_security_headers(headers: &mut HeaderMap) {
    let policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    let defaults = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in defaults {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_split_off_a_host() {
        let cases = [
            ("localhost", "localhost"),
            ("localhost:80", "localhost"),
            ("[::1]", "[::1]"),
            ("[::1]:80", "[::1]"),
            ("127.0.0.1:", "127.0.0.1"),
        ];
        for (authority, expect) in cases {
            assert_eq!(host_without_port(authority), expect);
        }
    }

    #[test]
    fn every_route_needs_a_token_unless_it_is_exempt() {
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
            assert_eq!(required_scope(&method, path), expect, "{method} {path}");
        }
    }
}
