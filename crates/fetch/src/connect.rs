//! Opens connections: resolves the name, checks the addresses, connects to one that passed, does
//! the TLS handshake and starts HTTP.

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

use crate::connection::{Connection, RequestSender};
use crate::connection_driver::{ConnectionDriver, ConnectionHandle};
use crate::counted_stream::{CountedStream, ReceivedBytes};
use crate::error::{FetchError, ProtocolFault, TimeoutPhase, TlsFault};
use crate::fetch_response::HopTimings;
use crate::guard::{AllowedAddress, GuardRefusal};
use crate::resolve::Resolver;
use crate::route::Route;
use crate::settings::{FetchSettings, Proxy};
use crate::tls;

/// Maximum length of the head of a proxy's CONNECT response.
const MAX_PROXY_HEAD_BYTES: usize = 8192;
/// Maximum number of addresses tried per host.
const MAX_ADDRESSES_TRIED: usize = 8;
/// Maximum number of header lines that the HTTP/1.1 library reads. More would cost each response an
/// allocation.
pub(crate) const MAX_HEADER_LINES: usize = 100;
/// HTTP/2 flow-control windows: large enough for a fast line, and a bound on the memory that a
/// host can make the client hold.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// For a head that is too large, the HTTP/2 library reports only a malformed head. It is therefore
/// given this many times the limit, and the client measures the head itself.
const HTTP2_HEAD_SLACK: u64 = 4;

/// Reason for which a request ended without a response.
#[derive(Debug)]
pub(crate) enum FetchStop {
    Refused(GuardRefusal),
    Failed(FetchError),
}

impl From<FetchError> for FetchStop {
    fn from(error: FetchError) -> Self {
        Self::Failed(error)
    }
}

/// Opens connections.
pub(crate) struct Connector {
    settings: Arc<FetchSettings>,
    resolver: Resolver,
    tls: Option<TlsConnector>,
}

impl Connector {
    pub(crate) fn new(settings: Arc<FetchSettings>) -> Self {
        let (resolver, tls) = (Resolver::new(&settings), tls::connector(&settings));
        Self { settings, resolver, tls }
    }

    /// Opens a new connection.
    pub(crate) async fn connect(&self, route: &Route) -> Result<Connection, FetchStop> {
        let limits = &self.settings.limits;
        let proxy = route.proxy.and_then(|rule| self.settings.proxy(rule));
        let mut timings = HopTimings::default();
        let clock = Instant::now();
        let targets = self.allowed_addresses(route, proxy).await?;
        let addresses = match proxy {
            Some(proxy) => self.proxy_addresses(proxy).await?,
            None => targets.clone(),
        };
        timings.resolve = clock.elapsed();

        let clock = Instant::now();
        let is_absolute = proxy.is_some() && targets.is_empty() && !route.tls;
        let (stream, address_used) = match proxy {
            Some(proxy) if is_absolute => {
                connect_to_proxy(proxy, &addresses, limits.connect_timeout).await?
            }
            Some(proxy) => self.connect_through_proxy(proxy, &addresses, &targets, route).await?,
            None => connect_any(&addresses, limits.connect_timeout).await?,
        };
        timings.connect = clock.elapsed();

        let clock = Instant::now();
        let received = ReceivedBytes::new();
        let (sender, handle) = if route.tls {
            let failed = |fault| FetchError::Tls { host: route.host.clone(), fault };
            let name = server_name(&route.host).ok_or_else(|| failed(TlsFault::WrongName))?;
            let tls = self.tls.as_ref().ok_or_else(|| failed(TlsFault::Incompatible))?;
            let handshake = tls.connect(name, stream);
            let stream = with_timeout(limits.tls_timeout, TimeoutPhase::Tls, handshake).await?;
            let stream = stream.map_err(|error| failed(tls::fault(&error)))?;
            timings.tls = clock.elapsed();
            let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            self.start_http(stream, is_http2, &received).await?
        } else {
            self.start_http(stream, false, &received).await?
        };
        let authorization = proxy.and_then(|proxy| proxy.authorization.clone());
        let proxy_auth = is_absolute.then_some(authorization);
        let address = address_used.socket_address();
        Ok(Connection { sender, handle, address, timings, reused: false, received, proxy_auth })
    }

    /// Opens a tunnel to the first address that the proxy reaches, or to the host name if the proxy
    /// resolves names.
    async fn connect_through_proxy(
        &self,
        proxy: &Proxy,
        addresses: &[AllowedAddress],
        targets: &[AllowedAddress],
        route: &Route,
    ) -> Result<(TcpStream, AllowedAddress), FetchError> {
        let limit = self.settings.limits.connect_timeout;
        let targets: Vec<String> = match targets {
            [] => vec![format!("{}:{}", route.host, route.port)],
            targets => targets.iter().map(|target| target.socket_address().to_string()).collect(),
        };
        let start = Instant::now();
        let mut last_error = FetchError::Proxy { status: None };
        for (tried_count, target) in targets.iter().enumerate() {
            let (mut stream, address_used) = connect_to_proxy(proxy, addresses, limit).await?;
            let remaining = remaining_share(limit, start, targets.len() - tried_count);
            last_error = match timeout(remaining, open_tunnel(&mut stream, proxy, target)).await {
                Ok(Ok(())) => return Ok((stream, address_used)),
                // The credentials are the same for every address.
                Ok(Err(error @ FetchError::Proxy { status: Some(407) })) => return Err(error),
                Ok(Err(error)) => error,
                Err(_) => FetchError::Timeout { phase: TimeoutPhase::Proxy, after: limit },
            };
        }
        Err(last_error)
    }

    /// Returns the addresses of the host that the guard allows. The list is empty if a trusted
    /// proxy resolves the name.
    async fn allowed_addresses(
        &self,
        route: &Route,
        proxy: Option<&Proxy>,
    ) -> Result<Vec<AllowedAddress>, FetchStop> {
        if proxy.is_some_and(|proxy| proxy.trusted) && !route.is_literal() {
            return Ok(Vec::new());
        }
        let mut allowed = Vec::new();
        let mut refused = None;
        for address in self.resolve(&route.host).await? {
            match self.settings.guard.check(&route.host, address, route.port) {
                Ok(checked) => allowed.push(checked),
                Err(refusal) => refused = Some(refusal),
            }
        }
        // The addresses share the time limit: with more of them none would have enough.
        allowed.truncate(MAX_ADDRESSES_TRIED);
        match refused {
            _ if !allowed.is_empty() => Ok(allowed),
            Some(refusal) => Err(FetchStop::Refused(refusal)),
            None => Err(FetchError::NoSuchHost { host: route.host.clone() }.into()),
        }
    }

    async fn proxy_addresses(&self, proxy: &Proxy) -> Result<Vec<AllowedAddress>, FetchStop> {
        let addresses = self.resolve(&proxy.host).await.map_err(|stop| match stop {
            FetchStop::Failed(error) => proxy_error(error, proxy).into(),
            refused @ FetchStop::Refused(_) => refused,
        })?;
        let to_allowed = |ip| AllowedAddress::from_settings((ip, proxy.port).into());
        Ok(addresses.into_iter().map(to_allowed).collect())
    }

    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, FetchStop> {
        let addresses = self.resolver.addresses(host);
        Ok(with_timeout(self.settings.limits.connect_timeout, TimeoutPhase::Resolve, addresses)
            .await??)
    }

    /// Starts HTTP on a stream. The connection lives until its last handle is dropped.
    async fn start_http<T>(
        &self,
        stream: T,
        is_http2: bool,
        received: &ReceivedBytes,
    ) -> Result<(RequestSender, ConnectionHandle), FetchStop>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let max_head_bytes = self.settings.limits.max_head_bytes;
        let failed = |_| FetchStop::from(FetchError::Protocol { fault: ProtocolFault::Closed });
        let stream = TokioIo::new(CountedStream::new(stream, received.clone()));
        let (driver, handle) = ConnectionDriver::new();
        let handshake = async {
            if is_http2 {
                let (sender, connection) = http2::Builder::new(driver.clone())
                    .max_header_list_size(
                        u32::try_from(HTTP2_HEAD_SLACK * max_head_bytes).unwrap_or(u32::MAX),
                    )
                    .initial_stream_window_size(STREAM_WINDOW)
                    .initial_connection_window_size(CONNECTION_WINDOW)
                    .handshake(stream)
                    .await
                    .map_err(failed)?;
                driver.spawn(connection);
                Ok((RequestSender::Http2(sender), handle))
            } else {
                let (sender, connection) = http1::Builder::new()
                    .max_buf_size(usize::try_from(max_head_bytes).unwrap_or(usize::MAX))
                    .ignore_invalid_headers_in_responses(true)
                    .handshake(stream)
                    .await
                    .map_err(failed)?;
                driver.spawn(connection);
                Ok((RequestSender::Http1(sender), handle))
            }
        };
        with_timeout(self.settings.limits.tls_timeout, TimeoutPhase::Connect, handshake).await?
    }
}

/// Connects to the first address that answers. Each attempt gets its share of the remaining time.
async fn connect_any(
    addresses: &[AllowedAddress],
    limit: Duration,
) -> Result<(TcpStream, AllowedAddress), FetchError> {
    let start = Instant::now();
    let mut last_error = FetchError::Timeout { phase: TimeoutPhase::Connect, after: limit };
    for (tried_count, &checked) in addresses.iter().enumerate() {
        let remaining = remaining_share(limit, start, addresses.len() - tried_count);
        let address = checked.socket_address();
        last_error = match timeout(remaining, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Requests are small and must not wait for more data.
                let _ = stream.set_nodelay(true);
                return Ok((stream, checked));
            }
            Ok(Err(error)) => {
                let is_local = is_local_failure(&error);
                FetchError::Connect { address, kind: error.kind(), is_local }
            }
            Err(_) => FetchError::Timeout { phase: TimeoutPhase::Connect, after: limit },
        };
    }
    Err(last_error)
}

async fn connect_to_proxy(
    proxy: &Proxy,
    addresses: &[AllowedAddress],
    limit: Duration,
) -> Result<(TcpStream, AllowedAddress), FetchError> {
    connect_any(addresses, limit).await.map_err(|error| proxy_error(error, proxy))
}

/// Turns an error of the connection to the proxy into one that does not blame the host.
fn proxy_error(error: FetchError, proxy: &Proxy) -> FetchError {
    let kind = match error {
        FetchError::Timeout { after, .. } => {
            return FetchError::Timeout { phase: TimeoutPhase::Proxy, after };
        }
        FetchError::Connect { kind, .. } => Some(kind),
        _ => None,
    };
    FetchError::ProxyUnreachable { proxy: format!("{}:{}", proxy.host, proxy.port), kind }
}

/// Returns an equal share of the remaining time.
fn remaining_share(limit: Duration, start: Instant, count: usize) -> Duration {
    limit.saturating_sub(start.elapsed()) / u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// True if this machine lacks something: a network, or handles for one more connection.
fn is_local_failure(error: &io::Error) -> bool {
    const NO_HANDLES: [i32; 2] = [23, 24];
    matches!(
        error.kind(),
        io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::NetworkDown
            | io::ErrorKind::AddrNotAvailable
            | io::ErrorKind::PermissionDenied
    ) || error.raw_os_error().is_some_and(|code| NO_HANDLES.contains(&code))
}

/// Sends CONNECT to a proxy (RFC 9110 §9.3.6).
async fn open_tunnel(
    stream: &mut TcpStream,
    proxy: &Proxy,
    target: &str,
) -> Result<(), FetchError> {
    let failed = |status| FetchError::Proxy { status };
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n").into_bytes();
    if let Some(value) = &proxy.authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.map_err(|_| failed(None))?;
    let mut head = Vec::new();
    while memchr::memmem::find(&head, b"\r\n\r\n").is_none() {
        let read = stream.read_buf(&mut head).await.map_err(|_| failed(None))?;
        if read == 0 || head.len() > MAX_PROXY_HEAD_BYTES {
            return Err(failed(None));
        }
    }
    let digits = head.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
    let status = digits.and_then(|it| std::str::from_utf8(it).ok()?.parse().ok());
    // The client speaks first in a tunnel: bytes after the head are not a response of the host.
    match status {
        Some(200..=299) if head.ends_with(b"\r\n\r\n") => Ok(()),
        _ => Err(failed(status)),
    }
}

fn server_name(host: &str) -> Option<ServerName<'static>> {
    let host = host.trim_end_matches('.').trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned()).ok()
}

/// Runs `work` with a time limit.
pub(crate) async fn with_timeout<T>(
    limit: Duration,
    phase: TimeoutPhase,
    work: impl Future<Output = T>,
) -> Result<T, FetchError> {
    timeout(limit, work).await.map_err(|_| FetchError::Timeout { phase, after: limit })
}
