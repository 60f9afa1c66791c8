//! One request and its answer, within all limits.

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

use crate::connect::{Connector, MOST_HEADERS, Stop, within};
use crate::error::{FetchError, Phase, ProtocolFault, Size, TlsFault};
use crate::link::{Link, Pool};
use crate::outcome::Hop;
use crate::request::Verb;
use crate::request_hook::Road;
use crate::route::Route;
use crate::settings::Settings;

/// The longest URL that is asked for.
pub(crate) const LONGEST_URL: usize = 16 * 1024;

/// Heads of an answer: the last one and those before it that only say that it is coming (1xx).
const HEADS: u64 = 16;

/// Sends requests and reads answers.
pub(crate) struct Exchange {
    pub(crate) settings: Arc<Settings>,
    connector: Connector,
    pub(crate) pool: Pool,
}

/// An answer whose body has not been read yet.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Incoming,
    pub(crate) link: Link,
    pub(crate) route: Route,
    pub(crate) arrived: Instant,
}

impl Exchange {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let pool = Pool::new(settings.limits.kept, settings.limits.keep);
        Self { connector: Connector::new(Arc::clone(&settings)), pool, settings }
    }

    /// Asks for a URL when it may be asked for. What can be said of the hop is written down as it becomes
    /// known, also if it fails. `delay` is what the host's robots.txt asks for.
    pub(crate) async fn ask(
        &self,
        hop: &mut Hop,
        verb: &Verb,
        headers: HeaderMap,
        delay: Option<Duration>,
        road: &mut Road<'_>,
    ) -> Result<Reply, Stop> {
        road.pass(&hop.url, delay).await?;
        let reply = self.send(hop, verb, headers, road.requests).await;
        road.answered(&hop.url, &reply);
        reply
    }

    async fn send(
        &self,
        hop: &mut Hop,
        verb: &Verb,
        headers: HeaderMap,
        requests: &mut u32,
    ) -> Result<Reply, Stop> {
        let scheme = || hop.url.scheme().to_owned();
        let refused = || Stop::Refused(crate::guard::Refusal::Scheme { scheme: scheme() });
        let route = Route::of(&hop.url, &self.settings).ok_or_else(refused)?;
        let url = FetchError::Url { limit: LONGEST_URL };
        let limit = self.settings.limits.first_byte;
        let mut kept = self.pool.take(&route);
        loop {
            let mut link = match kept.take() {
                Some(link) => link,
                None => {
                    let link = self.connector.open(&route).await?;
                    self.pool.offer(&route, &link);
                    link
                }
            };
            (hop.address, hop.version) = (Some(link.address), Some(link.version()));
            (hop.reused, hop.timings) = (link.reused, link.timings);
            let request = request(&hop.url, verb, &headers, &link).ok_or_else(|| url.clone())?;
            *requests += 1;
            let before = link.received.bytes();
            // Of HTTP/2, where answers share a connection, the library counts what frames them.
            if !link.is_second() {
                link.received.allow(HEADS * self.settings.limits.head_bytes);
            }
            let clock = Instant::now();
            let response = within(limit, Phase::FirstByte, link.send(request)).await;
            hop.timings.first_byte = clock.elapsed();
            match response {
                Ok(Ok(response)) => {
                    hop.status = Some(response.status().as_u16());
                    // Of the proxy's own: the host has not been asked.
                    if link.absolute.is_some() && hop.status == Some(407) {
                        return Err(FetchError::Proxy { status: hop.status }.into());
                    }
                    if link.is_second() && !self.is_head_in_bounds(response.headers()) {
                        return Err(self.large_head().into());
                    }
                    return Ok(Reply::new(response, link, route));
                }
                // A kept connection may have been closed just now, which is nobody's fault: once more
                // on a new one. Who sends something says by it whether it came before.
                Ok(Err(error)) if link.reused && is_unanswered(&error, &link, before) => {
                    self.pool.forget_shared(&route);
                }
                Ok(Err(error)) => {
                    if link.received.is_declined() {
                        let (host, fault) = (route.host.clone(), TlsFault::Alert);
                        return Err(FetchError::Tls { host, fault }.into());
                    }
                    return Err(self.failed(&error, &link, before).into());
                }
                Err(late) => {
                    self.pool.forget_shared(&route);
                    return Err(late.into());
                }
            }
        }
    }

    /// Why there is no head.
    fn failed(&self, error: &hyper::Error, link: &Link, before: u64) -> FetchError {
        if error.is_parse_too_large() || link.received.is_over() {
            return self.large_head();
        }
        let ours = library(error).filter(|it| it.is_library());
        if let Some(error) = ours {
            let came = link.received.bytes() - before;
            let is_flood = error.reason() == Some(h2::Reason::ENHANCE_YOUR_CALM);
            if is_flood || came > self.settings.limits.head_bytes {
                return self.large_head();
            }
        }
        let fault = match second(error) {
            Some(ProtocolFault::Reset(_)) if ours.is_some() => ProtocolFault::Head,
            Some(fault) => fault,
            None if error.is_parse() => ProtocolFault::Head,
            None => ProtocolFault::Closed,
        };
        FetchError::Protocol { fault }
    }

    fn large_head(&self) -> FetchError {
        FetchError::TooLarge { what: Size::Head, limit: self.settings.limits.head_bytes }
    }

    /// Whether a head of HTTP/2 is one that HTTP/1.1 would let pass: its lines, each with a colon, a blank
    /// and two bytes that end it.
    fn is_head_in_bounds(&self, headers: &HeaderMap) -> bool {
        let line =
            |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
        let bytes: usize = headers.iter().map(line).sum();
        headers.len() <= MOST_HEADERS && bytes as u64 <= self.settings.limits.head_bytes
    }
}

impl Reply {
    fn new(response: Response<Incoming>, link: Link, route: Route) -> Self {
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Self { status, headers, body, link, route, arrived: Instant::now() }
    }
}

/// Whether the connection ended before there was anything of an answer.
fn is_unanswered(error: &hyper::Error, link: &Link, before: u64) -> bool {
    if !link.is_second() {
        return link.received.bytes() == before;
    }
    // RFC 9113 §8.7. Who gives up a connection for a reason of its own does not want the next one now.
    if library(error).is_some_and(h2::Error::is_library) {
        return false;
    }
    match second(error) {
        Some(ProtocolFault::GoAway(code)) => code == u32::from(h2::Reason::NO_ERROR),
        Some(ProtocolFault::Reset(code)) => code == u32::from(h2::Reason::REFUSED_STREAM),
        _ => true,
    }
}

/// An error of HTTP/2.
pub(crate) fn library(error: &hyper::Error) -> Option<&h2::Error> {
    error.source()?.downcast_ref()
}

/// What HTTP/2 says of an error.
pub(crate) fn second(error: &hyper::Error) -> Option<ProtocolFault> {
    let error = library(error)?;
    let code = error.reason().map_or(0, u32::from);
    Some(if error.is_reset() {
        ProtocolFault::Reset(code)
    } else if error.is_go_away() {
        ProtocolFault::GoAway(code)
    } else {
        ProtocolFault::Closed
    })
}

fn request(
    url: &Url,
    verb: &Verb,
    headers: &HeaderMap,
    link: &Link,
) -> Option<Request<Full<Bytes>>> {
    if url.as_str().len() > LONGEST_URL {
        return None;
    }
    let whole = link.is_second() || link.absolute.is_some();
    let target = if whole { url.as_str() } else { &url[Position::BeforePath..] };
    let (method, body) = match verb {
        Verb::Get => (Method::GET, Bytes::new()),
        Verb::Head => (Method::HEAD, Bytes::new()),
        Verb::Post(body) => (Method::POST, body.clone()),
    };
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.parse::<Uri>().ok()?;
    *request.headers_mut() = headers.clone();
    if !link.is_second() {
        let host = &url[Position::BeforeHost..Position::AfterPort];
        request.headers_mut().insert(header::HOST, host.parse().ok()?);
    }
    if let Some(Some(value)) = &link.absolute {
        let value: HeaderValue = value.clone();
        request.headers_mut().insert(header::PROXY_AUTHORIZATION, value);
    }
    Some(request)
}
