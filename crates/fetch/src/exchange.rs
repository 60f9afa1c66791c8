//! One request and its answer, within all limits.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use crate::connect::{Connector, Stop, within};
use crate::decode::Decoder;
use crate::error::{FetchError, Phase, ProtocolFault, Size};
use crate::headers;
use crate::link::{Link, Pool};
use crate::outcome::Hop;
use crate::route::Route;
use crate::settings::Settings;

/// The longest URL that is asked for.
pub(crate) const LONGEST_URL: usize = 16 * 1024;
/// A body that nobody wants is read up to here, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;
/// And for no longer than this: a new connection takes less.
const DRAINED_FOR: Duration = Duration::from_secs(1);

/// Sends requests and reads answers.
pub(crate) struct Exchange {
    pub(crate) settings: Arc<Settings>,
    connector: Connector,
    pool: Pool,
}

/// An answer whose body has not been read yet.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: Incoming,
    link: Link,
    route: Route,
    arrived: Instant,
}

/// A body, and how many bytes it took on the wire.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) body: Vec<u8>,
    pub(crate) wire: u64,
}

impl Exchange {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let pool = Pool::new(settings.limits.kept, settings.limits.keep);
        Self { connector: Connector::new(Arc::clone(&settings)), pool, settings }
    }

    /// Asks for a URL. What can be said of the hop is written down as it becomes known, also if it
    /// fails.
    pub(crate) async fn ask(
        &self,
        hop: &mut Hop,
        head: bool,
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
            let request = request(&hop.url, head, &headers, &link).ok_or_else(|| url.clone())?;
            *requests += 1;
            let clock = Instant::now();
            let response = within(limit, Phase::FirstByte, link.send(request)).await;
            hop.timings.first_byte = clock.elapsed();
            match response {
                Ok(Ok(response)) => {
                    hop.status = Some(response.status().as_u16());
                    return Ok(Reply::new(response, link, route));
                }
                // A kept connection may have been closed just now, which is nobody's fault: once more
                // on a new one. Nothing is asked for that must not be asked for twice.
                Ok(Err(error)) if link.reused => {
                    drop(error);
                    self.pool.forget_shared(&route);
                }
                Ok(Err(error)) => return Err(self.failed(&error).into()),
                Err(late) => {
                    self.pool.forget_shared(&route);
                    return Err(late.into());
                }
            }
        }
    }

    /// Reads a body. With `cut`, what is beyond so many bytes is left out, and no error.
    pub(crate) async fn read(
        &self,
        reply: Reply,
        hop: &mut Hop,
        cut: Option<u64>,
    ) -> Result<Read, FetchError> {
        let limits = &self.settings.limits;
        let codings = headers::codings(&reply.headers)?;
        let Reply { mut body, link, route, arrived, .. } = reply;
        let declared = body.size_hint().exact();
        let too_large = FetchError::TooLarge { what: Size::Wire, limit: limits.wire_bytes };
        if cut.is_none() && declared.is_some_and(|length| length > limits.wire_bytes) {
            return Err(too_large);
        }
        let expect = declared.unwrap_or(0).min(1 << 20) as usize;
        let mut decoder = Decoder::new(&codings, expect, cut.unwrap_or(limits.body_bytes));
        let mut wire = 0;
        let deadline = arrived + limits.body;
        let cut_here = |decoder: Decoder, wire| Ok(Read { body: decoder.into_part(), wire });
        loop {
            let idle = Instant::now() + limits.idle;
            let frame = match timeout_at(idle.min(deadline), body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => break,
                Ok(Some(Err(error))) => return Err(self.broken(&error, wire, declared)),
                Err(_) if idle < deadline => {
                    return Err(FetchError::Timeout { phase: Phase::Idle, after: limits.idle });
                }
                Err(_) => {
                    return Err(FetchError::Timeout { phase: Phase::Body, after: limits.body });
                }
            };
            let Some(data) = frame.data_ref() else { continue };
            wire += data.len() as u64;
            match decoder.push(data) {
                Ok(()) if wire <= limits.wire_bytes => {}
                Ok(()) if cut.is_some() => return cut_here(decoder, wire),
                Ok(()) => return Err(too_large),
                Err(FetchError::TooLarge { .. }) if cut.is_some() => {
                    return cut_here(decoder, wire);
                }
                Err(error) => return Err(error),
            }
        }
        hop.timings.body = arrived.elapsed();
        self.pool.keep(&route, link);
        Ok(Read { body: decoder.finish()?, wire })
    }

    /// Passes over a body that nobody wants. If it is short, the connection is of use again.
    pub(crate) async fn drain(&self, reply: Reply) {
        let Reply { mut body, link, route, .. } = reply;
        if link.is_second() {
            return self.pool.keep(&route, link);
        }
        let deadline = Instant::now() + self.settings.limits.idle.min(DRAINED_FOR);
        let mut left = DRAINED;
        while !body.is_end_stream() {
            match timeout_at(deadline, body.frame()).await {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => {
                    let length = frame.data_ref().map_or(0, Bytes::len) as u64;
                    match left.checked_sub(length) {
                        Some(rest) => left = rest,
                        None => return,
                    }
                }
                Ok(Some(Err(_))) | Err(_) => return,
            }
        }
        self.pool.keep(&route, link);
    }

    /// Why there is no head.
    fn failed(&self, error: &hyper::Error) -> FetchError {
        let limit = self.settings.limits.head_bytes;
        if error.is_parse_too_large() {
            return FetchError::TooLarge { what: Size::Head, limit };
        }
        let fault = match second(error) {
            Some(fault) => fault,
            None if error.is_parse() => ProtocolFault::Head,
            None => ProtocolFault::Closed,
        };
        FetchError::Protocol { fault }
    }

    /// Why there is no whole body.
    fn broken(&self, error: &hyper::Error, got: u64, declared: Option<u64>) -> FetchError {
        if let Some(fault) = second(error) {
            return FetchError::Protocol { fault };
        }
        let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
        let bad = |kind| matches!(kind, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
        if cause.is_some_and(|cause| bad(cause.kind())) {
            return FetchError::Protocol { fault: ProtocolFault::Framing };
        }
        FetchError::Truncated { got, declared }
    }
}

impl Reply {
    fn new(response: Response<Incoming>, link: Link, route: Route) -> Self {
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Self { status, headers, body, link, route, arrived: Instant::now() }
    }
}

/// What HTTP/2 says of an error.
fn second(error: &hyper::Error) -> Option<ProtocolFault> {
    let error = error.source()?.downcast_ref::<h2::Error>()?;
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
    head: bool,
    headers: &HeaderMap,
    link: &Link,
) -> Option<Request<Empty<Bytes>>> {
    if url.as_str().len() > LONGEST_URL {
        return None;
    }
    let whole = link.is_second() || link.absolute.is_some();
    let target = if whole { url.as_str() } else { &url[Position::BeforePath..] };
    let mut request = Request::new(Empty::new());
    *request.method_mut() = if head { Method::HEAD } else { Method::GET };
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
