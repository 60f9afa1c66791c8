//! Listening, and answering on each connection within limits.

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
use freshet_daemon::{DaemonError, Handle};
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

use crate::app::{App, is_local};
use crate::connection_limiter::{ConnectionLimiter, ConnectionSlot, Visit};
use crate::files;
use crate::guard::{Peer, protect};
use crate::hub::Hub;
use crate::problem::Problem;
use crate::routes;
use crate::truth::Truth;
use crate::wire::Wire;

/// Bytes of a request's head at most.
const HEAD: usize = 64 << 10;
/// How long it waits for somebody to leave if nobody more can be let in.
const FULL: Duration = Duration::from_millis(100);
/// What those who watch the service ask for: it is answered however many others ask.
const WATCHING: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// How long connections may take to end when the service is to.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

/// Where and for whom.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where clients reach it, if not there: `https://freshet.example.com`, without a slash at the end.
    pub url: Option<String>,
    /// Names that clients may call it by, beside its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Connections that are answered at a time. Beside them there are some that wait to ask.
    pub connections: usize,
    /// What clients may take.
    pub limits: Limits,
    /// Who tells destinations of changes, if somebody does.
    pub notifier: Option<Notifier>,
    /// What is really so, where somebody knows: in the demo.
    pub truth: Option<watch::Receiver<Truth>>,
}

/// How long clients may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For the head of a request.
    pub head: Duration,
    /// For its body.
    pub body: Duration,
    /// For the answer to it, unless that is a stream.
    pub response: Duration,
    /// For taking the next piece of an answer.
    pub taking: Duration,
    /// Between two signs of life of a stream.
    pub beat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            response: Duration::from_secs(90),
            taking: Duration::from_secs(60),
            beat: Duration::from_secs(15),
        }
    }
}

impl Settings {
    /// A service at an address, with all else as usual.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            url: None,
            hosts: Vec::new(),
            connections: 4096,
            limits: Limits::default(),
            notifier: None,
            truth: None,
        }
    }
}

/// Why there is no service.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Others could come in.
    #[error("{0} can be reached from other machines, and there is no token")]
    NoToken(SocketAddr),
    /// It cannot listen there.
    #[error("cannot listen at {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// The system has no randomness.
    #[error("the system has no randomness: {0}")]
    Random(#[from] getrandom::Error),
    /// The daemon says no.
    #[error("{0}")]
    Live(#[from] DaemonError),
}

impl ServeError {
    /// The way out.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoToken(_) => Some(
                "make one with `freshet token add NAME --scope read,write,claim`, or listen at \
                 127.0.0.1"
                    .to_owned(),
            ),
            Self::Listen { .. } => Some(
                "name another address with `--listen`, or in `listen` under [server] in \
                 freshet.toml; \"off\" is for none"
                    .to_owned(),
            ),
            Self::Random(_) => None,
            Self::Live(error) => error.hint(),
        }
    }
}

/// A service that runs. Dropped, it goes on; [`stop`](Self::stop) ends it.
pub struct Server {
    address: SocketAddr,
    listening: JoinHandle<()>,
    closing: watch::Sender<bool>,
    seats: Arc<ConnectionLimiter>,
    handle: Handle,
}

impl Server {
    /// Starts a service over a daemon. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// If it cannot listen, or others could come in without a token.
    pub async fn start(handle: Handle, settings: Settings) -> Result<Self, ServeError> {
        let is_public = !is_local(settings.listen.ip());
        if is_public && handle.read(|reader| reader.tokens()).await?.is_empty() {
            return Err(ServeError::NoToken(settings.listen));
        }
        let refused = |source| ServeError::Listen { address: settings.listen, source };
        let listener = TcpListener::bind(settings.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (closing, closed) = watch::channel(false);
        let wanted = settings.connections;
        let seats =
            ConnectionLimiter::new(files::connections(wanted, ConnectionLimiter::files(wanted)));
        let hub = Hub::start(handle.clone());
        let daemon = handle.clone();
        let app = Arc::new(App::new(handle, hub, settings, address, closed)?);
        let router = routes::router(&app);
        let listening = tokio::spawn(listen(listener, router, app, Arc::clone(&seats)));
        daemon.websub().open(true);
        Ok(Self { address, listening, closing, seats, handle: daemon })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it: what was asked is answered if that takes no longer than a moment, and streams end.
    pub async fn stop(self) {
        self.handle.websub().open(false);
        self.listening.abort();
        let _ = self.closing.send(true);
        let _ = self.listening.await;
        let _ = timeout(SHUTDOWN_GRACE, self.seats.empty()).await;
    }
}

async fn listen(
    listener: TcpListener,
    router: Router,
    app: Arc<App>,
    seats: Arc<ConnectionLimiter>,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // All are being answered, and so many more besides: there is not even room to say so.
                let Some(seat) = seats.take().await else { continue };
                let (router, app) = (router.clone(), Arc::clone(&app));
                tokio::spawn(serve(stream, peer, router, app, seat));
            }
            // Too many files are open, for one.
            Err(_) => {
                seats.make_room();
                let _ = timeout(FULL, seats.somebody_leaves()).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    app: Arc<App>,
    seat: Arc<ConnectionSlot>,
) {
    // Small answers are not held back for more to come.
    let _ = stream.set_nodelay(true);
    app.metrics.connections.inc();
    let asked = Arc::clone(&seat);
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        let visit = asked.visit();
        let mut router = router.clone();
        async move {
            use tower_service::Service;
            let response = if visit.is_extra && !WATCHING.contains(&request.uri().path()) {
                all_in_use()
            } else {
                router.call(request.map(Body::new)).await?
            };
            Ok::<_, Infallible>(response.map(|body| Held { body, _visit: visit }))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(app.limits.head).max_buf_size(HEAD);
    let wire = Wire::new(stream, app.limits.taking, Arc::clone(&seat));
    let connection = http.serve_connection(TokioIo::new(wire), answer);
    let mut connection = std::pin::pin!(connection);
    let mut closing = app.closing.clone();
    let close = async move {
        let _ = closing.wait_for(|closing| *closing).await;
    };
    // Whatever breaks a connection, there is nobody left to tell.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = seat.is_wanted() => {}
        () = close => {
            connection.as_mut().graceful_shutdown();
            let _ = timeout(SHUTDOWN_GRACE, connection).await;
        }
    }
    app.metrics.connections.dec();
}

fn all_in_use() -> Response {
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "all connections are in use");
    let problem =
        problem.hint("`connections` under [server] in freshet.toml says how many there are");
    let mut response = problem.after(1).into_response();
    protect(response.headers_mut());
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// An answer that is on its way as long as this is there.
struct Held {
    body: Body,
    _visit: Visit,
}

impl hyper::body::Body for Held {
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
