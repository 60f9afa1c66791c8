//! The listener, and the limits of each connection.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use freshet_daemon::{DaemonError, DaemonHandle};
use freshet_notify::Notifier;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::access_control::{Peer, set_security_headers};
use crate::app::{App, is_local};
use crate::change_broadcast::ChangeBroadcast;
use crate::connection_limiter::{ActiveRequest, ConnectionLimiter, ConnectionSlot};
use crate::connection_stream::ConnectionStream;
use crate::file_limit;
use crate::problem::Problem;
use crate::routes;
use crate::true_freshness::TrueFreshness;

/// Maximum size of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Delay before the next accept after a failed one.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);
/// Paths that monitoring asks for: they are answered even if all connections are in use.
const MONITORING_PATHS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Time that open connections get to finish when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Address, limits and collaborators of a [`Server`].
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Base URL for clients if it is not the listen address: `https://freshet.example.com`,
    /// without a trailing slash.
    pub url: Option<String>,
    /// Host names the server answers to, besides its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Maximum number of requests answered at a time. A small number of further connections may
    /// wait.
    pub max_connections: usize,
    /// Timeouts of client connections.
    pub timeouts: ServerTimeouts,
    /// Sends change notifications; `None` if there are no destinations to notify.
    pub notifier: Option<Notifier>,
    /// Measured freshness, if it is known: in the demo.
    pub true_freshness: Option<watch::Receiver<TrueFreshness>>,
}

/// Timeouts of client connections.
#[derive(Clone, Copy, Debug)]
pub struct ServerTimeouts {
    /// For reading a request head.
    pub request_head: Duration,
    /// For reading a request body.
    pub request_body: Duration,
    /// For producing a response, unless it is a stream.
    pub response: Duration,
    /// For the client to accept the next bytes of a response.
    pub write: Duration,
    /// Interval between two heartbeats of a stream.
    pub heartbeat: Duration,
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        Self {
            request_head: Duration::from_secs(30),
            request_body: Duration::from_secs(30),
            response: Duration::from_secs(90),
            write: Duration::from_secs(60),
            heartbeat: Duration::from_secs(15),
        }
    }
}

impl ServerSettings {
    /// Returns the default settings for a listen address.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            url: None,
            hosts: Vec::new(),
            max_connections: 4096,
            timeouts: ServerTimeouts::default(),
            notifier: None,
            true_freshness: None,
        }
    }
}

/// Error of [`Server::start`].
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is reachable from other machines and there is no token.
    #[error("cannot listen on {0}: it is reachable from other machines, and there is no token")]
    NoToken(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Listen address.
        address: SocketAddr,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The system has no source of randomness.
    #[error("no source of randomness: {0}")]
    Random(#[from] getrandom::Error),
    /// The daemon refused an operation.
    #[error("{0}")]
    Daemon(#[from] DaemonError),
}

impl ServeError {
    /// Returns how to fix the error, if that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoToken(_) => Some(
                "create one with `freshet token add NAME --scope read,write,claim`, or listen on \
                 127.0.0.1"
                    .to_owned(),
            ),
            Self::Listen { .. } => Some(
                "set another address with `--listen`, or with `listen` under [server] in \
                 freshet.toml; \"off\" disables the service"
                    .to_owned(),
            ),
            Self::Random(_) => None,
            Self::Daemon(error) => error.hint(),
        }
    }
}

/// A running HTTP server. It keeps running if dropped; [`stop`](Self::stop) ends it.
pub struct Server {
    address: SocketAddr,
    listening: JoinHandle<()>,
    closing: watch::Sender<bool>,
    limiter: Arc<ConnectionLimiter>,
    handle: DaemonHandle,
}

impl Server {
    /// Starts a server over a daemon. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// Returns [`ServeError`] if the address cannot be listened on, or if it is reachable from
    /// other machines and there is no token.
    pub async fn start(handle: DaemonHandle, settings: ServerSettings) -> Result<Self, ServeError> {
        let is_public = !is_local(settings.listen.ip());
        if is_public && handle.read(|reader| reader.tokens()).await?.is_empty() {
            return Err(ServeError::NoToken(settings.listen));
        }
        let listen_error = |source| ServeError::Listen { address: settings.listen, source };
        let listener = TcpListener::bind(settings.listen).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let (closing, closed) = watch::channel(false);
        let max_connections = settings.max_connections;
        let limiter = ConnectionLimiter::new(file_limit::raise_for_connections(
            max_connections,
            ConnectionLimiter::max_files(max_connections),
        ));
        let broadcast = ChangeBroadcast::start(handle.clone());
        let daemon = handle.clone();
        let app = Arc::new(App::new(handle, broadcast, settings, address, closed)?);
        let router = routes::router(&app);
        let listening = tokio::spawn(listen(listener, router, app, Arc::clone(&limiter)));
        daemon.subscriber().set_open(true);
        Ok(Self { address, listening, closing, limiter, handle: daemon })
    }

    /// Returns the address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server: requests in progress get a short time to finish, and streams end.
    pub async fn stop(self) {
        self.handle.subscriber().set_open(false);
        self.listening.abort();
        let _ = self.closing.send(true);
        let _ = self.listening.await;
        let _ = timeout(SHUTDOWN_GRACE, self.limiter.wait_until_empty()).await;
    }
}

async fn listen(
    listener: TcpListener,
    router: Router,
    app: Arc<App>,
    limiter: Arc<ConnectionLimiter>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Every slot is answering a request, the spare ones too: drop the connection
                // without an answer.
                let Some(slot) = limiter.admit().await else { continue };
                let (router, app) = (router.clone(), Arc::clone(&app));
                tokio::spawn(serve(stream, peer, router, app, slot));
            }
            // For example, too many files are open.
            Err(_) => {
                limiter.evict_longest_idle();
                let _ = timeout(ACCEPT_RETRY_DELAY, limiter.wait_for_close()).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    app: Arc<App>,
    slot: Arc<ConnectionSlot>,
) {
    // Send small responses at once.
    let _ = stream.set_nodelay(true);
    app.metrics.connections.inc();
    let request_slot = Arc::clone(&slot);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        let active = request_slot.begin_request();
        let mut router = router.clone();
        async move {
            use tower_service::Service;
            let response =
                if active.is_over_limit && !MONITORING_PATHS.contains(&request.uri().path()) {
                    busy_response()
                } else {
                    router.call(request.map(Body::new)).await?
                };
            Ok::<_, Infallible>(response.map(|body| TrackedBody { body, _request: active }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(app.timeouts.request_head)
        .max_buf_size(MAX_HEAD_BYTES);
    let stream = ConnectionStream::new(stream, app.timeouts.write, Arc::clone(&slot));
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let mut closing = app.closing.clone();
    let close = async move {
        let _ = closing.wait_for(|closing| *closing).await;
    };
    // A connection error has no one to be reported to.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = slot.evicted() => {}
        () = close => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(SHUTDOWN_GRACE, connection).await;
        }
    }
    app.metrics.connections.dec();
}

fn busy_response() -> Response {
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "all connections are in use");
    let problem =
        problem.with_hint("try again, or raise `connections` under [server] in freshet.toml");
    let mut response = problem.with_retry_after(1).into_response();
    set_security_headers(response.headers_mut());
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// A response body that keeps its request counted as active until it is dropped.
struct TrackedBody {
    body: Body,
    _request: ActiveRequest,
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
