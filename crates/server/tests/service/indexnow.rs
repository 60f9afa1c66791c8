//! Tests of IndexNow over real sockets, with a site that publishes its key or does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use freshet_store::{SignalSource, SignalSourceKind};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::client::Answer;
use crate::hub::{TestDaemon, axum_serve, form, wait_until};

const CONFIG: &str = "fetch.allow = [\"127.0.0.1\"]\nsignals.indexnow = true";
const KEY: &str = "0123456789abcdef";

/// A site: its files, the requests it received, and whether it delays its responses.
#[derive(Clone)]
pub(crate) struct Site {
    host: String,
    /// Value of the `Link` header.
    pub(crate) links: Arc<Mutex<String>>,
    files: Arc<Mutex<HashMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
    is_delayed: Arc<Mutex<bool>>,
    release: Arc<Notify>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (links, files, asked, is_delayed, release) = Default::default();
        let site = Self { host, links, files, asked, is_delayed, release };
        let router = Router::new().fallback(get(file)).with_state(site.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        site
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub(crate) fn publish(&self, path: &str, text: &str) {
        self.files.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// Returns the number of requests for a path.
    pub(crate) fn request_count(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|it| *it == path).count()
    }
}

async fn file(State(site): State<Site>, uri: Uri) -> Response {
    site.asked.lock().unwrap().push(uri.path().to_owned());
    let is_held = *site.is_delayed.lock().unwrap();
    if is_held && uri.path().ends_with(".txt") && uri.path() != "/robots.txt" {
        site.release.notified().await;
    }
    let found = site.files.lock().unwrap().get(uri.path()).cloned();
    match found {
        Some(text) => match text.strip_prefix("to ") {
            Some(to) => (StatusCode::FOUND, [("location", to.to_owned())]).into_response(),
            None => {
                let links = site.links.lock().unwrap().clone();
                ([("link", links)], text).into_response()
            }
        },
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn announce(daemon: &TestDaemon, body: Value) -> Answer {
    daemon.send("POST", "/indexnow", &body.to_string()).await
}

async fn announce_one(daemon: &TestDaemon, fields: &[(&str, &str)]) -> Answer {
    daemon.send("GET", &format!("/indexnow?{}", form(fields)), "").await
}

async fn signal_source(daemon: &TestDaemon, host: &str) -> Option<SignalSource> {
    let host = host.to_owned();
    daemon
        .handle()
        .read(move |it| it.find_signal_source(SignalSourceKind::IndexNow, &host))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_with_a_published_key_is_a_signal() {
    let site = Site::start().await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    daemon.pages(&[&site.url("/a"), &site.url("/b")]).await;
    site.publish(&format!("/{KEY}.txt"), &format!("\u{feff}{KEY}\r\n"));
    let answer = announce_one(&daemon, &[("url", &site.url("/a")), ("key", KEY)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let it = wait_until(async || {
        signal_source(&daemon, &site.host).await.filter(|it| it.last_signal_at.is_some())
    })
    .await;
    assert_eq!(it.origin, freshet_store::SignalSourceOrigin::Push);
    // Many pages at once: unknown ones are ignored, and the key is not fetched again.
    let urls: Vec<_> =
        (0..10_000).map(|n| site.url(&format!("/{n}"))).chain([site.url("/b")]).collect();
    let all = json!({ "host": site.host, "key": KEY, "urlList": urls[1..] });
    assert_eq!(announce(&daemon, all).await.status, 200);
    assert_eq!(site.request_count(&format!("/{KEY}.txt")), 1);
    assert_eq!(daemon.handle().indexnow_checks(), 1);
    assert_eq!(daemon.handle().status().await.unwrap().sources, 2, "nothing was added");
    // A key in another directory, for the pages below it.
    site.publish("/blog/key.txt", "another-key");
    daemon.pages(&[&site.url("/blog/x")]).await;
    let place = site.url("/blog/key.txt");
    let below = json!({ "host": site.host, "key": "another-key", "keyLocation": place,
        "urlList": [site.url("/blog/x")] });
    assert_eq!(announce(&daemon, below).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_without_a_published_key_is_refused() {
    let (site, other) = (Site::start().await, Site::start().await);
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    daemon.pages(&[&site.url("/a")]).await;
    let one = |key| json!({ "host": site.host, "key": key, "urlList": [site.url("/a")] });
    announce(&daemon, one("not-there")).await.assert_problem(403, None);
    site.publish("/other-key.txt", "something else");
    announce(&daemon, one("other-key")).await.assert_problem(403, None);
    site.publish("/long-file.txt", &format!("long-file{}", " ".repeat(5000)));
    announce(&daemon, one("long-file")).await.assert_problem(403, None);
    // A redirect to another host does not prove ownership.
    other.publish("/key-elsewhere.txt", "key-elsewhere");
    site.publish("/key-elsewhere.txt", &format!("to {}", other.url("/key-elsewhere.txt")));
    announce(&daemon, one("key-elsewhere")).await.assert_problem(403, None);
    assert_eq!(other.request_count("/key-elsewhere.txt"), 1);
    // A missing key is cached for a while.
    announce(&daemon, one("not-there")).await.assert_problem(403, None);
    assert_eq!(site.request_count("/not-there.txt"), 1);
    assert!(signal_source(&daemon, &site.host).await.is_none());
    // A key that robots.txt forbids to fetch is not accepted either.
    let closed = Site::start().await;
    closed.publish("/robots.txt", "User-agent: *\nDisallow: /");
    closed.publish("/closed-key.txt", "closed-key");
    daemon.pages(&[&closed.url("/a")]).await;
    let announcement =
        json!({ "host": closed.host, "key": "closed-key", "urlList": [closed.url("/a")] });
    announce(&daemon, announcement).await.assert_problem(403, None);
    assert_eq!(closed.request_count("/closed-key.txt"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_announcement_is_refused_without_any_request() {
    let site = Site::start().await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    let page = site.url("/a");
    daemon.pages(&[&page]).await;
    let host = site.host.as_str();
    // 400: invalid format.
    announce_one(&daemon, &[("key", KEY)]).await.assert_problem(400, Some("url"));
    announce_one(&daemon, &[("url", &page)]).await.assert_problem(400, Some("key"));
    announce_one(&daemon, &[("url", "nothing"), ("key", KEY)])
        .await
        .assert_problem(400, Some("url"));
    announce_one(&daemon, &[("url", "file:///etc/passwd"), ("key", KEY)])
        .await
        .assert_problem(400, Some("url"));
    daemon.send("POST", "/indexnow", "{").await.assert_problem(400, Some("body"));
    announce(&daemon, json!({ "host": host, "key": KEY })).await.assert_problem(400, Some("body"));
    let none = json!({ "host": host, "key": KEY, "urlList": [] });
    announce(&daemon, none).await.assert_problem(400, Some("urlList"));
    let many: Vec<_> = (0..10_001).map(|_| page.as_str()).collect();
    let many = json!({ "host": host, "key": KEY, "urlList": many });
    announce(&daemon, many).await.assert_problem(400, Some("urlList"));
    let invalid = json!({ "host": host, "key": KEY, "urlList": [page, "http://"] });
    announce(&daemon, invalid).await.assert_problem(400, Some("urlList[1]"));
    // 422: pages of another host, or an invalid key.
    for key in ["short", &"x".repeat(129), "with space", "schlüssel", "../../etc"] {
        announce_one(&daemon, &[("url", &page), ("key", key)])
            .await
            .assert_problem(422, Some("key"));
    }
    let foreign = json!({ "host": host, "key": KEY, "urlList": [page, "https://b.example/"] });
    announce(&daemon, foreign).await.assert_problem(422, Some("urlList[1]"));
    let fields = [("url", page.as_str()), ("key", KEY), ("keyLocation", "https://b.example/k.txt")];
    announce_one(&daemon, &fields).await.assert_problem(422, Some("keyLocation"));
    let below = site.url("/blog/k.txt");
    let fields = [("url", page.as_str()), ("key", KEY), ("keyLocation", below.as_str())];
    announce_one(&daemon, &fields).await.assert_problem(422, Some("url"));
    let beside = site.url("/blogs/a");
    let fields = [("url", beside.as_str()), ("key", KEY), ("keyLocation", below.as_str())];
    announce_one(&daemon, &fields).await.assert_problem(422, Some("url"));
    assert_eq!(site.asked.lock().unwrap().len(), 0);
    assert_eq!(daemon.handle().indexnow_checks(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_pages_cause_no_request_and_slow_sites_are_verified_later() {
    let site = Site::start().await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    let one = |path| json!({ "host": site.host, "key": KEY, "urlList": [site.url(path)] });
    assert_eq!(announce(&daemon, one("/a")).await.status, 202);
    daemon.pages(&[&site.url("/a")]).await;
    assert_eq!(announce(&daemon, one("/other")).await.status, 202);
    assert_eq!(site.asked.lock().unwrap().len(), 0);
    // The site delays its response.
    site.publish(&format!("/{KEY}.txt"), KEY);
    *site.is_delayed.lock().unwrap() = true;
    let answers = tokio::join!(announce(&daemon, one("/a")), announce(&daemon, one("/a")));
    assert_eq!((answers.0.status, answers.1.status), (202, 202));
    assert!(signal_source(&daemon, &site.host).await.is_none());
    assert_eq!(site.request_count(&format!("/{KEY}.txt")), 1, "one request for both");
    *site.is_delayed.lock().unwrap() = false;
    site.release.notify_one();
    wait_until(async || {
        signal_source(&daemon, &site.host).await.filter(|it| it.last_signal_at.is_some())
    })
    .await;
    assert_eq!(announce(&daemon, one("/a")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_announcements_are_refused_without_affecting_others() {
    let site = Site::start().await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    daemon.pages(&[&site.url("/a")]).await;
    site.publish(&format!("/{KEY}.txt"), KEY);
    let one = |key: &str| json!({ "host": site.host, "key": key, "urlList": [site.url("/a")] });
    assert_eq!(announce(&daemon, one(KEY)).await.status, 200);
    let mut statuses = Vec::new();
    for n in 0..10 {
        statuses.push(announce(&daemon, one(&format!("guess-{n:04}"))).await.status);
    }
    assert_eq!(statuses, [403, 403, 403, 403, 403, 429, 429, 429, 429, 429]);
    let answer = announce(&daemon, one("guess-more")).await;
    assert!(answer.headers["retry-after"].parse::<u32>().unwrap() > 0);
    assert_eq!(announce(&daemon, one(KEY)).await.status, 200);
    let mut last = 200;
    for _ in 0..60 {
        last = announce(&daemon, one(KEY)).await.status;
    }
    assert_eq!(last, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn indexnow_is_off_by_default_and_private_addresses_are_not_fetched() {
    let site = Site::start().await;
    let daemon = TestDaemon::start(1.0, "").await;
    daemon.pages(&[&site.url("/a")]).await;
    site.publish(&format!("/{KEY}.txt"), KEY);
    let one = json!({ "host": site.host, "key": KEY, "urlList": [site.url("/a")] });
    announce(&daemon, one.clone()).await.assert_problem(404, None);
    announce_one(&daemon, &[("url", &site.url("/a")), ("key", KEY)])
        .await
        .assert_problem(404, None);
    daemon.handle().reload(daemon.config("signals.indexnow = true")).await.unwrap();
    wait_until(async || (announce(&daemon, one.clone()).await.status == 403).then_some(())).await;
    assert_eq!(site.asked.lock().unwrap().len(), 0);
}
