//! A hub by its specification (WebSub, W3C Recommendation of 23 January 2018), a proxy before the service,
//! and a daemon that can be stopped and started again between them.

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
use freshet_daemon::{Clock, Config, Daemon, Offer, Subscribed};
use freshet_server::{Server, Settings};
use freshet_store::{NewSignalSource, SignalSourceKind};
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::{Answer, parse};

/// What a hub does with requests.
#[derive(Clone, Debug)]
pub(crate) enum Habit {
    /// Takes them, and makes sure (§5.3): the lease is of so many seconds.
    Verify(u64),
    /// Makes sure before it answers.
    VerifyAtOnce(u64),
    /// Takes them, and then says nothing.
    Silent,
    /// Takes them, and denies (§5.2).
    Deny,
    /// Refuses them with a status.
    Refuse(u16),
    /// Leads to another path.
    Lead(u16, &'static str),
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) fields: HashMap<String, String>,
    /// What came of making sure.
    pub(crate) verified: Option<bool>,
}

impl Asked {
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
    /// By path; others are as the empty one.
    habits: Mutex<HashMap<&'static str, Habit>>,
    asked: Mutex<Vec<Asked>>,
}

impl Hub {
    pub(crate) async fn start(habit: Habit) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let habits = Mutex::new(HashMap::from([("", habit)]));
        let inner = Arc::new(Inner { habits, asked: Mutex::default() });
        let hub = Self { address, inner };
        let router = Router::new().fallback(post(subscribe)).with_state(hub.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        hub
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// Does this from now on, at a path or everywhere else.
    pub(crate) fn does(&self, path: &'static str, habit: Habit) {
        self.inner.habits.lock().unwrap().insert(path, habit);
    }

    /// What it was asked for so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.inner.asked.lock().unwrap().clone()
    }

    /// Waits until there is such a request.
    pub(crate) async fn saw(&self, what: impl Fn(&Asked) -> bool) -> Asked {
        until(async || self.asked().into_iter().find(|it| what(it))).await
    }

    /// Waits until it has made sure of so many requests of a mode, and gives the last of them.
    pub(crate) async fn verified(&self, mode: &str, count: usize) -> Asked {
        until(async || {
            let all = self.asked();
            let mut all = all
                .into_iter()
                .filter(|it| it.field("hub.mode") == mode && it.verified == Some(true));
            all.nth(count - 1)
        })
        .await
    }

    async fn make_sure(&self, place: usize, asked: &Asked, lease: u64) {
        let challenge = format!("challenge {place} ü&=");
        let mut query = form(&[
            ("hub.mode", asked.field("hub.mode")),
            ("hub.topic", asked.field("hub.topic")),
            ("hub.challenge", &challenge),
        ]);
        if asked.field("hub.mode") == "subscribe" {
            query.push_str(&format!("&hub.lease_seconds={lease}"));
        }
        let answer = call(asked.field("hub.callback"), &query).await;
        let is_sure = (200..300).contains(&answer.status) && answer.body == challenge;
        self.inner.asked.lock().unwrap()[place].verified = Some(is_sure);
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
    let asked = Asked { path: path.clone(), fields, verified: None };
    let place = {
        let mut all = hub.inner.asked.lock().unwrap();
        all.push(asked.clone());
        all.len() - 1
    };
    // §5.1: what a request must have, and a secret has less than 200 bytes.
    let is_good =
        ["hub.callback", "hub.mode", "hub.topic"].iter().all(|it| !asked.field(it).is_empty())
            && asked.field("hub.secret").len() < 200;
    if !is_good {
        return (StatusCode::BAD_REQUEST, "hub.reason=odd").into_response();
    }
    let habit = {
        let habits = hub.inner.habits.lock().unwrap();
        habits.get(path.as_str()).or(habits.get("")).cloned()
    };
    match habit.unwrap() {
        Habit::Verify(lease) => {
            tokio::spawn(async move { hub.make_sure(place, &asked, lease).await });
            StatusCode::ACCEPTED.into_response()
        }
        Habit::VerifyAtOnce(lease) => {
            hub.make_sure(place, &asked, lease).await;
            StatusCode::NO_CONTENT.into_response()
        }
        Habit::Silent => StatusCode::ACCEPTED.into_response(),
        Habit::Deny => {
            let query = form(&[
                ("hub.mode", "denied"),
                ("hub.topic", asked.field("hub.topic")),
                ("hub.reason", "not for\nyou"),
            ]);
            let callback = asked.field("hub.callback").to_owned();
            tokio::spawn(async move { call(&callback, &query).await });
            StatusCode::ACCEPTED.into_response()
        }
        Habit::Refuse(status) => {
            (StatusCode::from_u16(status).unwrap(), "why\nnot").into_response()
        }
        Habit::Lead(status, path) => {
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

/// A GET of a callback with a query, as hubs make it.
pub(crate) async fn call(callback: &str, query: &str) -> Answer {
    let (host, path) = callback.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let sign = if path.contains('?') { '&' } else { '?' };
    let text =
        format!("GET /{path}{sign}{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    exchange(host, text.as_bytes()).await
}

/// Content is sent to a callback (§7), with this in `X-Hub-Signature`.
pub(crate) async fn send(callback: &str, signature: Option<&str>, body: &str) -> Answer {
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

/// RFC 2104, written down again.
pub(crate) fn signature(secret: &str, body: &str) -> String {
    let mut key = [0_u8; 64];
    key[..secret.len()].copy_from_slice(secret.as_bytes());
    let inner = Sha256::new().chain_update(key.map(|it| it ^ 0x36)).chain_update(body).finalize();
    let outer = Sha256::new().chain_update(key.map(|it| it ^ 0x5c)).chain_update(inner).finalize();
    let digits: String = outer.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={digits}")
}

/// Waits for a condition.
pub(crate) async fn until<T>(mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(it) = condition().await {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to be so");
}

/// A daemon with a service behind a proxy.
pub(crate) struct Home {
    folder: TempDir,
    /// Where others reach it.
    pub(crate) url: String,
    target: Arc<Mutex<SocketAddr>>,
    running: Option<(Daemon, Server)>,
    factor: f64,
}

impl Home {
    /// One whose clock goes so many times as fast, with more settings under `[signals]` and before that.
    pub(crate) async fn start(factor: f64, settings: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = Arc::new(Mutex::new(listener.local_addr().unwrap()));
        tokio::spawn(proxy(listener, Arc::clone(&target)));
        let folder = tempfile::tempdir().unwrap();
        let mut home = Self { folder, url, target, running: None, factor };
        home.go(settings).await;
        home
    }

    pub(crate) fn config(&self, settings: &str) -> Config {
        let settings = settings.replace("URL", &self.url);
        let crew = if settings.contains("crew") { "" } else { "crew = 0" };
        let text = format!("{crew}\n{settings}\n[hosts]\ngap = \"0s\"\nconnections = 100\n");
        Config::parse(&text, &self.folder.path().join("freshet.toml")).unwrap()
    }

    /// Starts it, also again.
    pub(crate) async fn go(&mut self, settings: &str) {
        let clock = Clock::new(Box::new(millis), self.factor);
        let daemon = Daemon::start(self.config(settings), clock).unwrap();
        let settings = Settings::new("127.0.0.1:0".parse().unwrap());
        let server = Server::start(daemon.handle(), settings).await.unwrap();
        *self.target.lock().unwrap() = server.address();
        self.running = Some((daemon, server));
    }

    pub(crate) async fn stop(&mut self) {
        let (daemon, server) = self.running.take().unwrap();
        server.stop().await;
        assert!(daemon.stop().await);
    }

    pub(crate) fn handle(&self) -> freshet_daemon::Handle {
        self.running.as_ref().unwrap().0.handle()
    }

    /// Adds a feed, and gives the number of its herald.
    pub(crate) async fn feed(&self, url: &str) -> u32 {
        let feed = NewSignalSource::polled(SignalSourceKind::Feed, url, "a.example", 0);
        self.handle().write(move |store| store.add_signal_sources(&[feed])).await.unwrap()[0].id
    }

    /// Adds pages, and gives their numbers.
    pub(crate) async fn pages(&self, urls: &[&str]) -> Vec<u32> {
        let sources: Vec<_> = urls.iter().map(|url| serde_json::json!({ "url": url })).collect();
        let body = serde_json::json!({ "sources": sources }).to_string();
        let answer = self.send("PUT", "/v1/sources", &body).await.ok();
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_u64().unwrap() as u32).collect()
    }

    /// A request from somewhere, with a body of JSON.
    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let host = self.url.strip_prefix("http://").unwrap();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        exchange(host, text.as_bytes()).await
    }

    /// A feed names hubs.
    pub(crate) fn offer(&self, feed: u32, topic: &str, hubs: &[String]) {
        let offer = Offer { feed, topic: topic.to_owned(), hubs: hubs.to_vec() };
        self.handle().websub().offer(offer);
    }

    /// The subscriptions as they are.
    pub(crate) fn list(&self) -> Vec<Subscribed> {
        let handle = self.handle();
        handle.websub().list(handle.now())
    }

    /// Waits until there is such a subscription.
    pub(crate) async fn is(&self, what: impl Fn(&Subscribed) -> bool) -> Subscribed {
        until(async || self.list().into_iter().find(|it| what(it))).await
    }

    /// Heralds that have spoken of a page, as the store has it.
    pub(crate) async fn voices(&self, page: u32) -> Vec<u32> {
        let read = self.handle().read(move |reader| reader.latest_signals(page)).await.unwrap();
        read.into_iter().map(|it| it.signal_source).collect()
    }
}

/// What stands before a service that others reach.
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
