//! A WebSub hub by the specification (W3C Recommendation of 23 January 2018), a proxy in front of
//! the service, and a daemon that can be restarted.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use freshet_daemon::{Clock, Config, Daemon, HubOffer, SubscriptionStatus};
use freshet_server::{Server, ServerSettings};
use freshet_store::{NewSignalSource, SignalSourceKind};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::{Answer, parse};

/// Behavior of a hub.
#[derive(Clone, Debug)]
pub(crate) enum HubBehavior {
    /// Accepts and verifies (§5.3), with a lease of this many seconds.
    Verify(u64),
    /// Verifies before it responds.
    VerifyAtOnce(u64),
    /// Accepts and never verifies.
    Silent,
    /// Accepts and then denies (§5.2).
    Deny,
    /// Refuses with a status.
    Refuse(u16),
    /// Redirects to another path.
    Redirect(u16, &'static str),
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct HubRequest {
    pub(crate) path: String,
    pub(crate) fields: HashMap<String, String>,
    /// Result of the verification.
    pub(crate) verified: Option<bool>,
}

impl HubRequest {
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }
}

#[derive(Clone)]
pub(crate) struct Hub {
    pub(crate) address: SocketAddr,
    inner: Arc<Inner>,
}

struct Inner {
    /// Behaviors by path; the empty path is the default.
    behaviors: Mutex<HashMap<&'static str, HubBehavior>>,
    requests: Mutex<Vec<HubRequest>>,
}

impl Hub {
    pub(crate) async fn start(behavior: HubBehavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let behaviors = Mutex::new(HashMap::from([("", behavior)]));
        let inner = Arc::new(Inner { behaviors, requests: Mutex::default() });
        let hub = Self { address, inner };
        let router = Router::new().fallback(post(subscribe)).with_state(hub.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        hub
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Sets the behavior at a path, or the default.
    pub(crate) fn set_behavior(&self, path: &'static str, behavior: HubBehavior) {
        self.inner.behaviors.lock().unwrap().insert(path, behavior);
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<HubRequest> {
        self.inner.requests.lock().unwrap().clone()
    }

    /// Waits for a matching request.
    pub(crate) async fn wait_for_request(
        &self,
        matches: impl Fn(&HubRequest) -> bool,
    ) -> HubRequest {
        wait_until(async || self.requests().into_iter().find(|it| matches(it))).await
    }

    /// Waits until `count` requests of a mode are verified, and returns the last of them.
    pub(crate) async fn verified(&self, mode: &str, count: usize) -> HubRequest {
        wait_until(async || {
            let all = self.requests();
            let mut all = all
                .into_iter()
                .filter(|it| it.field("hub.mode") == mode && it.verified == Some(true));
            all.nth(count - 1)
        })
        .await
    }

    async fn verify(&self, index: usize, request: &HubRequest, lease: u64) {
        let challenge = format!("challenge {index} ü&=");
        let mut query = form(&[
            ("hub.mode", request.field("hub.mode")),
            ("hub.topic", request.field("hub.topic")),
            ("hub.challenge", &challenge),
        ]);
        if request.field("hub.mode") == "subscribe" {
            query.push_str(&format!("&hub.lease_seconds={lease}"));
        }
        let answer = get_callback(request.field("hub.callback"), &query).await;
        let is_verified = (200..300).contains(&answer.status) && answer.body == challenge;
        self.inner.requests.lock().unwrap()[index].verified = Some(is_verified);
    }
}

async fn subscribe(
    State(hub): State<Hub>,
    uri: axum::http::Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let kind = headers.get("content-type").map(|it| it.to_str().unwrap().to_owned());
    if kind.as_deref() != Some("application/x-www-form-urlencoded") {
        return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
    }
    let fields = form_urlencoded::parse(&body).into_owned().collect();
    let path = uri.path().trim_start_matches('/').to_owned();
    let request = HubRequest { path: path.clone(), fields, verified: None };
    let index = {
        let mut all = hub.inner.requests.lock().unwrap();
        all.push(request.clone());
        all.len() - 1
    };
    // §5.1: the required parameters; a secret must be shorter than 200 bytes.
    let is_good =
        ["hub.callback", "hub.mode", "hub.topic"].iter().all(|it| !request.field(it).is_empty())
            && request.field("hub.secret").len() < 200;
    if !is_good {
        return (StatusCode::BAD_REQUEST, "hub.reason=odd").into_response();
    }
    let behavior = {
        let behaviors = hub.inner.behaviors.lock().unwrap();
        behaviors.get(path.as_str()).or(behaviors.get("")).cloned()
    };
    match behavior.unwrap() {
        HubBehavior::Verify(lease) => {
            tokio::spawn(async move { hub.verify(index, &request, lease).await });
            StatusCode::ACCEPTED.into_response()
        }
        HubBehavior::VerifyAtOnce(lease) => {
            hub.verify(index, &request, lease).await;
            StatusCode::NO_CONTENT.into_response()
        }
        HubBehavior::Silent => StatusCode::ACCEPTED.into_response(),
        HubBehavior::Deny => {
            let query = form(&[
                ("hub.mode", "denied"),
                ("hub.topic", request.field("hub.topic")),
                ("hub.reason", "not for\nyou"),
            ]);
            let callback = request.field("hub.callback").to_owned();
            tokio::spawn(async move { get_callback(&callback, &query).await });
            StatusCode::ACCEPTED.into_response()
        }
        HubBehavior::Refuse(status) => {
            (StatusCode::from_u16(status).unwrap(), "why\nnot").into_response()
        }
        HubBehavior::Redirect(status, path) => {
            let status = StatusCode::from_u16(status).unwrap();
            (status, [("location", format!("/{path}"))]).into_response()
        }
    }
}

/// Serves until the test ends.
pub(crate) async fn axum_serve(listener: TcpListener, router: Router) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let router = router.clone();
        tokio::spawn(async move {
            let service = hyper_util::service::TowerToHyperService::new(router);
            let io = hyper_util::rt::TokioIo::new(stream);
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
        });
    }
}

pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// Sends a GET request to a callback, as hubs do.
pub(crate) async fn get_callback(callback: &str, query: &str) -> Answer {
    let (host, path) = callback.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let sign = if path.contains('?') { '&' } else { '?' };
    let text =
        format!("GET /{path}{sign}{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    exchange(host, text.as_bytes()).await
}

/// Delivers content to a callback (§7), with this `X-Hub-Signature`.
pub(crate) async fn deliver(callback: &str, signature: Option<&str>, body: &str) -> Answer {
    let (host, path) = callback.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let signature = signature.map_or(String::new(), |it| format!("X-Hub-Signature: {it}\r\n"));
    let text = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/atom+xml\r\n\
         Link: <http://hub.example/>; rel=\"hub\"\r\n{signature}Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    exchange(host, text.as_bytes()).await
}

async fn exchange(host: &str, bytes: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(host).await.unwrap();
    let _ = stream.write_all(bytes).await;
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    parse(&text)
}

/// Computes an HMAC-SHA-256 signature (RFC 2104), independently of the implementation.
pub(crate) fn signature(secret: &str, body: &str) -> String {
    let mut key = [0_u8; 64];
    key[..secret.len()].copy_from_slice(secret.as_bytes());
    let inner = Sha256::new().chain_update(key.map(|it| it ^ 0x36)).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(key.map(|it| it ^ 0x5c)).chain_update(inner).finalize();
    let digits: String = outer.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={digits}")
}

/// Waits for a condition.
pub(crate) async fn wait_until<T>(mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(it) = condition().await {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("timed out waiting for a condition");
}

/// A daemon with a service behind a proxy.
pub(crate) struct TestDaemon {
    folder: TempDir,
    /// Public URL.
    pub(crate) url: String,
    target: Arc<Mutex<SocketAddr>>,
    running: Option<(Daemon, Server)>,
    factor: f64,
}

impl TestDaemon {
    /// Starts a daemon whose clock runs `factor` times as fast, with additional configuration.
    pub(crate) async fn start(factor: f64, settings: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = Arc::new(Mutex::new(listener.local_addr().unwrap()));
        tokio::spawn(proxy(listener, Arc::clone(&target)));
        let folder = tempfile::tempdir().unwrap();
        let mut daemon = Self { folder, url, target, running: None, factor };
        daemon.restart(settings).await;
        daemon
    }

    pub(crate) fn config(&self, settings: &str) -> Config {
        let settings = settings.replace("URL", &self.url);
        let concurrency = if settings.contains("concurrency") { "" } else { "concurrency = 0" };
        let text = format!("{concurrency}\n{settings}\n[hosts]\ngap = \"0s\"\nconnections = 100\n");
        Config::parse(&text, &self.folder.path().join("freshet.toml")).unwrap()
    }

    /// Starts the daemon and the service; also used to restart them.
    pub(crate) async fn restart(&mut self, settings: &str) {
        let clock = Clock::new(Box::new(millis), self.factor);
        let daemon = Daemon::start(self.config(settings), clock).unwrap();
        let settings = ServerSettings::new("127.0.0.1:0".parse().unwrap());
        let server = Server::start(daemon.handle(), settings).await.unwrap();
        *self.target.lock().unwrap() = server.address();
        self.running = Some((daemon, server));
    }

    pub(crate) async fn stop(&mut self) {
        let (daemon, server) = self.running.take().unwrap();
        server.stop().await;
        assert!(daemon.stop().await);
    }

    pub(crate) fn handle(&self) -> freshet_daemon::DaemonHandle {
        self.running.as_ref().unwrap().0.handle()
    }

    /// Adds a feed and returns its number.
    pub(crate) async fn feed(&self, url: &str) -> u32 {
        let feed = NewSignalSource::new_polled(SignalSourceKind::Feed, url, "a.example", 0);
        self.handle().write(move |store| store.add_signal_sources(&[feed])).await.unwrap()[0].id
    }

    /// Adds sources and returns their ids.
    pub(crate) async fn pages(&self, urls: &[&str]) -> Vec<u32> {
        let sources: Vec<_> = urls.iter().map(|url| serde_json::json!({ "url": url })).collect();
        let body = serde_json::json!({ "sources": sources }).to_string();
        let answer = self.send("PUT", "/v1/sources", &body).await.ok();
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_u64().unwrap() as u32).collect()
    }

    /// Sends a request with a JSON body through the proxy.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let host = self.url.strip_prefix("http://").unwrap();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        exchange(host, text.as_bytes()).await
    }

    /// Offers the hubs that a feed names.
    pub(crate) fn offer(&self, feed: u32, topic: &str, hubs: &[String]) {
        let offer = HubOffer { feed, topic: topic.to_owned(), hubs: hubs.to_vec() };
        self.handle().subscriber().offer_hubs(offer);
    }

    /// Returns the subscriptions.
    pub(crate) fn list(&self) -> Vec<SubscriptionStatus> {
        let handle = self.handle();
        handle.subscriber().statuses(handle.now())
    }

    /// Waits for a matching subscription.
    pub(crate) async fn wait_for_subscription(
        &self,
        matches: impl Fn(&SubscriptionStatus) -> bool,
    ) -> SubscriptionStatus {
        wait_until(async || self.list().into_iter().find(|it| matches(it))).await
    }

    /// Returns the signal sources that have announced a source, from the store.
    pub(crate) async fn signal_sources_of(&self, page: u32) -> Vec<u32> {
        let read = self.handle().read(move |reader| reader.latest_signals(page)).await.unwrap();
        read.into_iter().map(|it| it.signal_source).collect()
    }
}

/// Forwards connections to the service.
async fn proxy(listener: TcpListener, target: Arc<Mutex<SocketAddr>>) {
    loop {
        let Ok((mut from, _)) = listener.accept().await else { continue };
        let to = *target.lock().unwrap();
        tokio::spawn(async move {
            let Ok(mut to) = TcpStream::connect(to).await else { return };
            let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
        });
    }
}

fn millis() -> i64 {
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64
}
