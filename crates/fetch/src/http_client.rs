//! Sends one request and reads its response, within all limits.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use tokio::time::Instant;
use url::{Position, Url};

use crate::connect::{Connector, FetchStop, MAX_HEADER_LINES, with_timeout};
use crate::connection::{Connection, ConnectionPool};
use crate::error::{FetchError, ProtocolFault, ResponsePart, TimeoutPhase, TlsFault};
use crate::fetch_response::FetchHop;
use crate::request::RequestMethod;
use crate::request_hook::RequestContext;
use crate::route::Route;
use crate::settings::FetchSettings;

/// Maximum length of a requested URL.
pub(crate) const MAX_URL_LEN: usize = 16 * 1024;

/// Maximum number of response heads: the final one and the interim ones (1xx) before it.
const MAX_RESPONSE_HEADS: u64 = 16;

/// Sends requests and reads responses.
pub(crate) struct HttpClient {
    pub(crate) settings: Arc<FetchSettings>,
    connector: Connector,
    pub(crate) pool: ConnectionPool,
}

/// Response whose body has not been read yet.
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Incoming,
    pub(crate) connection: Connection,
    pub(crate) route: Route,
    pub(crate) received_at: Instant,
}

impl HttpClient {
    pub(crate) fn new(settings: Arc<FetchSettings>) -> Self {
        let pool = ConnectionPool::new(
            settings.limits.max_idle_connections,
            settings.limits.idle_connection_timeout,
        );
        Self { connector: Connector::new(Arc::clone(&settings)), pool, settings }
    }

    /// Sends a request once the hook allows it. The hop is filled in as facts become known, also on
    /// failure. `crawl_delay` is that of the host's robots.txt.
    pub(crate) async fn send_when_allowed(
        &self,
        hop: &mut FetchHop,
        method: &RequestMethod,
        headers: HeaderMap,
        crawl_delay: Option<Duration>,
        context: &mut RequestContext<'_>,
    ) -> Result<ResponseHead, FetchStop> {
        context.wait_until_allowed(&hop.url, crawl_delay).await?;
        let response = self.send(hop, method, headers, context.request_count).await;
        context.report_response(&hop.url, &response);
        response
    }

    async fn send(
        &self,
        hop: &mut FetchHop,
        method: &RequestMethod,
        headers: HeaderMap,
        request_count: &mut u32,
    ) -> Result<ResponseHead, FetchStop> {
        let scheme = || hop.url.scheme().to_owned();
        let refused =
            || FetchStop::Refused(crate::guard::GuardRefusal::Scheme { scheme: scheme() });
        let route = Route::from_url(&hop.url, &self.settings).ok_or_else(refused)?;
        let not_sendable = FetchError::UrlNotSendable { max_len: MAX_URL_LEN };
        let limit = self.settings.limits.first_byte_timeout;
        let mut pooled = self.pool.take_idle(&route);
        loop {
            let mut connection = match pooled.take() {
                Some(connection) => connection,
                None => {
                    let connection = self.connector.connect(&route).await?;
                    self.pool.add_shared(&route, &connection);
                    connection
                }
            };
            (hop.address, hop.version) = (Some(connection.address), Some(connection.version()));
            (hop.reused, hop.timings) = (connection.reused, connection.timings);
            let request = build_request(&hop.url, method, &headers, &connection)
                .ok_or_else(|| not_sendable.clone())?;
            *request_count += 1;
            let received_before = connection.received.count();
            // For HTTP/2, where responses share a connection, the library limits the framing.
            if !connection.is_http2() {
                connection
                    .received
                    .set_limit_from_now(MAX_RESPONSE_HEADS * self.settings.limits.max_head_bytes);
            }
            let clock = Instant::now();
            let response =
                with_timeout(limit, TimeoutPhase::FirstByte, connection.send(request)).await;
            hop.timings.first_byte = clock.elapsed();
            match response {
                Ok(Ok(response)) => {
                    hop.status = Some(response.status().as_u16());
                    // The 407 is the proxy's own: the host was not asked.
                    if connection.proxy_auth.is_some() && hop.status == Some(407) {
                        return Err(FetchError::Proxy { status: hop.status }.into());
                    }
                    if connection.is_http2() && !self.is_head_within_limits(response.headers()) {
                        return Err(self.head_too_large().into());
                    }
                    return Ok(ResponseHead::new(response, connection, route));
                }
                // A pooled connection may have been closed in the meantime, which is nobody's
                // fault: the request is retried on a new one. A host that sent any byte of a
                // response has seen the request.
                Ok(Err(error))
                    if connection.reused && is_retryable(&error, &connection, received_before) =>
                {
                    self.pool.forget_shared(&route);
                }
                Ok(Err(error)) => {
                    if connection.received.is_tls_rejected() {
                        let (host, fault) = (route.host.clone(), TlsFault::Rejected);
                        return Err(FetchError::Tls { host, fault }.into());
                    }
                    return Err(self.head_error(&error, &connection, received_before).into());
                }
                Err(timeout) => {
                    self.pool.forget_shared(&route);
                    return Err(timeout.into());
                }
            }
        }
    }

    /// Explains why there is no response head.
    fn head_error(
        &self,
        error: &hyper::Error,
        connection: &Connection,
        received_before: u64,
    ) -> FetchError {
        if error.is_parse_too_large() || connection.received.is_over_limit() {
            return self.head_too_large();
        }
        let library_error = h2_error(error).filter(|it| it.is_library());
        if let Some(error) = library_error {
            let received = connection.received.count() - received_before;
            let is_flood = error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM);
            if is_flood || received > self.settings.limits.max_head_bytes {
                return self.head_too_large();
            }
        }
        let fault = match h2_fault(error) {
            Some(ProtocolFault::Reset(_)) if library_error.is_some() => ProtocolFault::Head,
            Some(fault) => fault,
            None if error.is_parse() => ProtocolFault::Head,
            None => ProtocolFault::Closed,
        };
        FetchError::Protocol { fault }
    }

    fn head_too_large(&self) -> FetchError {
        FetchError::TooLarge {
            part: ResponsePart::Head,
            limit: self.settings.limits.max_head_bytes,
        }
    }

    /// True if an HTTP/2 head is within the limits of HTTP/1.1: the length of its lines, each with
    /// a colon, a space and two bytes of line ending.
    fn is_head_within_limits(&self, headers: &HeaderMap) -> bool {
        let line_len =
            |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
        let bytes: usize = headers.iter().map(line_len).sum();
        headers.len() <= MAX_HEADER_LINES && bytes as u64 <= self.settings.limits.max_head_bytes
    }
}

impl ResponseHead {
    fn new(response: Response<Incoming>, connection: Connection, route: Route) -> Self {
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Self { status, headers, body, connection, route, received_at: Instant::now() }
    }
}

/// True if the connection ended before any byte of a response.
fn is_retryable(error: &hyper::Error, connection: &Connection, received_before: u64) -> bool {
    if !connection.is_http2() {
        return connection.received.count() == received_before;
    }
    // RFC 9113 §8.7. A host that closes the connection with an error does not want a retry now.
    if h2_error(error).is_some_and(h2::Error::is_library) {
        return false;
    }
    match h2_fault(error) {
        Some(ProtocolFault::GoAway(code)) => code == u32::from(h2::Reason::NO_ERROR),
        Some(ProtocolFault::Reset(code)) => code == u32::from(h2::Reason::REFUSED_STREAM),
        _ => true,
    }
}

/// Returns the HTTP/2 error behind a library error.
pub(crate) fn h2_error(error: &hyper::Error) -> Option<&h2::Error> {
    error.source()?.downcast_ref()
}

/// Converts an HTTP/2 error into a protocol fault.
pub(crate) fn h2_fault(error: &hyper::Error) -> Option<ProtocolFault> {
    let error = h2_error(error)?;
    let code = error.reason().map_or(0, u32::from);
    Some(if error.is_reset() {
        ProtocolFault::Reset(code)
    } else if error.is_go_away() {
        ProtocolFault::GoAway(code)
    } else {
        ProtocolFault::Closed
    })
}

fn build_request(
    url: &Url,
    method: &RequestMethod,
    headers: &HeaderMap,
    connection: &Connection,
) -> Option<Request<Full<Bytes>>> {
    if url.as_str().len() > MAX_URL_LEN {
        return None;
    }
    let is_absolute = connection.is_http2() || connection.proxy_auth.is_some();
    let target = if is_absolute { url.as_str() } else { &url[Position::BeforePath..] };
    let (method, body) = match method {
        RequestMethod::Get => (Method::GET, Bytes::new()),
        RequestMethod::Head => (Method::HEAD, Bytes::new()),
        RequestMethod::Post(body) => (Method::POST, body.clone()),
    };
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    *request.headers_mut() = headers.clone();
    if !connection.is_http2() {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        request.headers_mut().insert(header::HOST, host.parse().ok()?);
    }
    if let Some(Some(value)) = &connection.proxy_auth {
        let value: HeaderValue = value.clone();
        request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
    }
    Some(request)
}
