//! The one way to a connection: resolve, judge, connect to what was judged, secure, shake hands.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::count::{Counted, Received};
use crate::driver::{Driver, Used};
use crate::error::{FetchError, Phase, ProtocolFault, TlsFault};
use crate::guard::{Checked, Refusal};
use crate::link::{Link, Sender};
use crate::outcome::Timings;
use crate::resolve::Resolver;
use crate::route::Route;
use crate::settings::{Proxy, Settings};
use crate::tls;

/// The longest head of a proxy's answer.
const PROXY_HEAD: usize = 8192;
/// Addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;
/// Lines in the head of an answer that the library reads. More would cost each answer an allocation.
pub(crate) const MOST_HEADERS: usize = 100;
/// What a stream of HTTP/2 and a connection may have under way: enough for a fast line, and it bounds
/// what a host can make us hold.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// Of heads that are too large the library of HTTP/2 only says that they are no heads. So it takes so many
/// times as much, and who asked measures them.
const HEAD_SLACK: u64 = 4;

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Stop {
    Refused(Refusal),
    Failed(FetchError),
}

impl From<FetchError> for Stop {
    fn from(error: FetchError) -> Self {
        Self::Failed(error)
    }
}

/// Makes connections.
pub(crate) struct Connector {
    settings: Arc<Settings>,
    resolver: Resolver,
    tls: Option<TlsConnector>,
}

impl Connector {
    pub(crate) fn new(settings: Arc<Settings>) -> Self {
        let (resolver, tls) = (Resolver::new(&settings), tls::connector(&settings));
        Self { settings, resolver, tls }
    }

    /// A new connection.
    pub(crate) async fn open(&self, route: &Route) -> Result<Link, Stop> {
        let limits = &self.settings.limits;
        let proxy = route.proxy.and_then(|number| self.settings.proxy(number));
        let mut timings = Timings::default();
        let clock = Instant::now();
        let targets = self.judged(route, proxy).await?;
        let way = match proxy {
            Some(proxy) => self.way_to(proxy).await?,
            None => targets.clone(),
        };
        timings.resolve = clock.elapsed();

        let clock = Instant::now();
        let absolute = proxy.is_some() && targets.is_empty() && !route.tls;
        let (stream, at) = match proxy {
            Some(proxy) if absolute => dial_proxy(proxy, &way, limits.connect).await?,
            Some(proxy) => self.through(proxy, &way, &targets, route).await?,
            None => dial(&way, limits.connect).await?,
        };
        timings.connect = clock.elapsed();

        let clock = Instant::now();
        let received = Received::new();
        let (sender, used) = if route.tls {
            let failed = |fault| FetchError::Tls { host: route.host.clone(), fault };
            let name = server_name(&route.host).ok_or_else(|| failed(TlsFault::WrongName))?;
            let tls = self.tls.as_ref().ok_or_else(|| failed(TlsFault::Incompatible))?;
            let shake = tls.connect(name, stream);
            let stream = within(limits.tls, Phase::Tls, shake).await?;
            let stream = stream.map_err(|error| failed(tls::fault(&error)))?;
            timings.tls = clock.elapsed();
            let is_second = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            self.speak(stream, is_second, &received).await?
        } else {
            self.speak(stream, false, &received).await?
        };
        let authorization = proxy.and_then(|proxy| proxy.authorization.clone());
        let absolute = absolute.then_some(authorization);
        let address = at.address();
        Ok(Link { sender, used, address, timings, reused: false, received, absolute })
    }

    /// A tunnel to the first address that the proxy reaches, or to the name if it is to look that up.
    async fn through(
        &self,
        proxy: &Proxy,
        way: &[Checked],
        targets: &[Checked],
        route: &Route,
    ) -> Result<(TcpStream, Checked), FetchError> {
        let limit = self.settings.limits.connect;
        let targets: Vec<String> = match targets {
            [] => vec![format!("{}:{}", route.host, route.port)],
            some => some.iter().map(|target| target.address().to_string()).collect(),
        };
        let start = Instant::now();
        let mut last = FetchError::Proxy { status: None };
        for (tried, target) in targets.iter().enumerate() {
            let (mut stream, at) = dial_proxy(proxy, way, limit).await?;
            let left = share(limit, start, targets.len() - tried);
            last = match timeout(left, tunnel(&mut stream, proxy, target)).await {
                Ok(Ok(())) => return Ok((stream, at)),
                // Who we are does not depend on where we go.
                Ok(Err(error @ FetchError::Proxy { status: Some(407) })) => return Err(error),
                Ok(Err(error)) => error,
                Err(_) => FetchError::Timeout { phase: Phase::Proxy, after: limit },
            };
        }
        Err(last)
    }

    /// The addresses of the host that the guard lets through. None at all if a trusted proxy is to
    /// look the name up.
    async fn judged(&self, route: &Route, proxy: Option<&Proxy>) -> Result<Vec<Checked>, Stop> {
        if proxy.is_some_and(|proxy| proxy.trusted) && !route.is_literal() {
            return Ok(Vec::new());
        }
        let mut passed = Vec::new();
        let mut refused = None;
        for address in self.resolve(&route.host).await? {
            match self.settings.guard.judge(&route.host, address, route.port) {
                Ok(checked) => passed.push(checked),
                Err(refusal) => refused = Some(refusal),
            }
        }
        // Each gets a share of the time: with more, none would have enough.
        passed.truncate(MOST_ADDRESSES);
        match refused {
            _ if !passed.is_empty() => Ok(passed),
            Some(refusal) => Err(Stop::Refused(refusal)),
            None => Err(FetchError::NoSuchHost { host: route.host.clone() }.into()),
        }
    }

    async fn way_to(&self, proxy: &Proxy) -> Result<Vec<Checked>, Stop> {
        let addresses = self.resolve(&proxy.host).await.map_err(|stop| match stop {
            Stop::Failed(error) => blame_proxy(error, proxy).into(),
            refused @ Stop::Refused(_) => refused,
        })?;
        let by_owner = |ip| Checked::by_owner((ip, proxy.port).into());
        Ok(addresses.into_iter().map(by_owner).collect())
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Stop> {
        let addresses = self.resolver.addresses(host);
        Ok(within(self.settings.limits.connect, Phase::Resolve, addresses).await??)
    }

    /// Begins to speak HTTP. The connection lives on its own for as long as somebody can send on it.
    async fn speak<T>(
        &self,
        stream: T,
        is_second: bool,
        received: &Received,
    ) -> Result<(Sender, Used), Stop>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let head = self.settings.limits.head_bytes;
        let failed = |_| Stop::from(FetchError::Protocol { fault: ProtocolFault::Closed });
        let stream = TokioIo::new(Counted::new(stream, received.clone()));
        let (driver, used) = Driver::new();
        let shake = async {
            if is_second {
                let (sender, connection) = http2::Builder::new(driver.clone())
                    .max_header_list_size(u32::try_from(HEAD_SLACK * head).unwrap_or(u32::MAX))
                    .initial_stream_window_size(STREAM_WINDOW)
                    .initial_connection_window_size(CONNECTION_WINDOW)
                    .handshake(stream)
                    .await
                    .map_err(failed)?;
                driver.run(connection);
                Ok((Sender::Second(sender), used))
            } else {
                let (sender, connection) = http1::Builder::new()
                    .max_buf_size(usize::try_from(head).unwrap_or(usize::MAX))
                    .ignore_invalid_headers_in_responses(true)
                    .handshake(stream)
                    .await
                    .map_err(failed)?;
                driver.run(connection);
                Ok((Sender::First(sender), used))
            }
        };
        within(self.settings.limits.tls, Phase::Connect, shake).await?
    }
}

/// Connects to the first address that answers. Each gets its share of the time that is left.
async fn dial(way: &[Checked], limit: Duration) -> Result<(TcpStream, Checked), FetchError> {
    let start = Instant::now();
    let mut last = FetchError::Timeout { phase: Phase::Connect, after: limit };
    for (tried, &checked) in way.iter().enumerate() {
        let left = share(limit, start, way.len() - tried);
        let address = checked.address();
        last = match timeout(left, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Requests are small and wait for nothing.
                let _ = stream.set_nodelay(true);
                return Ok((stream, checked));
            }
            Ok(Err(error)) => {
                let ours = is_ours(&error);
                FetchError::Connect { address, kind: error.kind(), ours }
            }
            Err(_) => FetchError::Timeout { phase: Phase::Connect, after: limit },
        };
    }
    Err(last)
}

async fn dial_proxy(
    proxy: &Proxy,
    way: &[Checked],
    limit: Duration,
) -> Result<(TcpStream, Checked), FetchError> {
    dial(way, limit).await.map_err(|error| blame_proxy(error, proxy))
}

/// What kept us from the proxy says nothing of the host.
fn blame_proxy(error: FetchError, proxy: &Proxy) -> FetchError {
    let kind = match error {
        FetchError::Timeout { after, .. } => {
            return FetchError::Timeout { phase: Phase::Proxy, after };
        }
        FetchError::Connect { kind, .. } => Some(kind),
        _ => None,
    };
    FetchError::NoProxy { proxy: format!("{}:{}", proxy.host, proxy.port), kind }
}

/// The part of the time that is left for each of so many.
fn share(limit: Duration, start: Instant, among: usize) -> Duration {
    limit.saturating_sub(start.elapsed()) / u32::try_from(among).unwrap_or(u32::MAX).max(1)
}

/// Whether this machine lacks something: a network, or handles for one more connection.
fn is_ours(error: &io::Error) -> bool {
    const NO_HANDLES: [i32; 2] = [23, 24];
    matches!(
        error.kind(),
        io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::PermissionDenied
    ) || error.raw_os_error().is_some_and(|code| NO_HANDLES.contains(&code))
}

/// Asks a proxy for a way through (RFC 9110 §9.3.6).
async fn tunnel(stream: &mut TcpStream, proxy: &Proxy, target: &str) -> Result<(), FetchError> {
    let failed = |status| FetchError::Proxy { status };
    let mut ask = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(value) = &proxy.authorization {
        ask.extend_from_slice(b"Proxy-Authorization: ");
        ask.extend_from_slice(value.as_bytes());
        ask.extend_from_slice(b"\r\n");
    }
    ask.extend_from_slice(b"\r\n");
    stream.write_all(&ask).await.map_err(|_| failed(None))?;
    let mut head = Vec::new();
    while memchr::memmem::find(&head, b"\r\n\r\n").is_none() {
        let read = stream.read_buf(&mut head).await.map_err(|_| failed(None))?;
        if read == 0 || head.len() > PROXY_HEAD {
            return Err(failed(None));
        }
    }
    let digits = head.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
    let status = digits.and_then(|it| std::str::from_utf8(it).ok()?.parse().ok());
    // We speak first in a tunnel: what follows the head is nobody's answer.
    match status {
        Some(200..=299) if head.ends_with(b"\r\n\r\n") => Ok(()),
        _ => Err(failed(status)),
    }
}

fn server_name(host: &str) -> Option<ServerName<'static>> {
    let host = host.trim_end_matches('.').trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).ok()
}

/// What comes of something, if it comes in time.
pub(crate) async fn within<T>(
    limit: Duration,
    phase: Phase,
    work: impl Future<Output = T>,
) -> Result<T, FetchError> {
    timeout(limit, work).await.map_err(|_| FetchError::Timeout { phase, after: limit })
}
