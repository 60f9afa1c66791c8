//! IndexNow over real sockets, with a site that has its key or not.

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
use crate::hub::{Home, axum_serve, form, until};

const ON: &str = "fetch.allow = [\"127.0.0.1\"]\nsignals.indexnow = true";
const KEY: &str = "0123456789abcdef";

/// A site: what it has, what it was asked for, and whether it holds its answers back.
#[derive(Clone)]
pub(crate) struct Site {
    host: String,
    /// What stands in `Link` headers.
    pub(crate) links: Arc<Mutex<String>>,
    files: Arc<Mutex<HashMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
    held: Arc<Mutex<bool>>,
    go: Arc<Notify>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (links, files, asked, held, go) = Default::default();
        let site = Self { host, links, files, asked, held, go };
        let router = Router::new().fallback(get(file)).with_state(site.clone());
        tokio::spawn(async move { axum_serve(listener, router).await });
        site
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    pub(crate) fn has(&self, path: &str, text: &str) {
        self.files.lock().unwrap().insert(path.to_owned(), text.to_owned());
    }

    /// How often something was asked for.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|it| *it == path).count()
    }
}

async fn file(State(site): State<Site>, uri: Uri) -> Response {
    site.asked.lock().unwrap().push(uri.path().to_owned());
    let is_held = *site.held.lock().unwrap();
    if is_held && uri.path().ends_with(".txt") && uri.path() != "/robots.txt" {
        site.go.notified().await;
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

async fn say(home: &Home, body: Value) -> Answer {
    home.send("POST", "/indexnow", &body.to_string()).await
}

async fn say_one(home: &Home, fields: &[(&str, &str)]) -> Answer {
    home.send("GET", &format!("/indexnow?{}", form(fields)), "").await
}

async fn herald(home: &Home, host: &str) -> Option<SignalSource> {
    let host = host.to_owned();
    home.handle()
        .read(move |it| it.find_signal_source(SignalSourceKind::IndexNow, &host))
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_whose_key_is_on_the_site_is_heard() {
    let site = Site::start().await;
    let home = Home::start(1.0, ON).await;
    home.pages(&[&site.url("/a"), &site.url("/b")]).await;
    site.has(&format!("/{KEY}.txt"), &format!("\u{feff}{KEY}\r\n"));
    let answer = say_one(&home, &[("url", &site.url("/a")), ("key", KEY)]).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let it =
        until(async || herald(&home, &site.host).await.filter(|it| it.last_signal_at.is_some()))
            .await;
    assert_eq!(it.origin, freshet_store::SignalSourceOrigin::Push);
    // Many at once; what is not known is passed over, and the key is not asked for again.
    let urls: Vec<_> =
        (0..10_000).map(|n| site.url(&format!("/{n}"))).chain([site.url("/b")]).collect();
    let all = json!({ "host": site.host, "key": KEY, "urlList": urls[1..] });
    assert_eq!(say(&home, all).await.status, 200);
    assert_eq!(site.asked(&format!("/{KEY}.txt")), 1);
    assert_eq!(home.handle().indexnow_checks(), 1);
    assert_eq!(home.handle().status().await.unwrap().sources, 2, "nothing was added");
    // Somewhere else on the site, for what is below.
    site.has("/blog/key.txt", "another-key");
    home.pages(&[&site.url("/blog/x")]).await;
    let place = site.url("/blog/key.txt");
    let below = json!({ "host": site.host, "key": "another-key", "keyLocation": place,
        "urlList": [site.url("/blog/x")] });
    assert_eq!(say(&home, below).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_have_the_key_is_not_heard() {
    let (site, other) = (Site::start().await, Site::start().await);
    let home = Home::start(1.0, ON).await;
    home.pages(&[&site.url("/a")]).await;
    let one = |key| json!({ "host": site.host, "key": key, "urlList": [site.url("/a")] });
    say(&home, one("not-there")).await.refuses(403, None);
    site.has("/other-key.txt", "something else");
    say(&home, one("other-key")).await.refuses(403, None);
    site.has("/long-file.txt", &format!("long-file{}", " ".repeat(5000)));
    say(&home, one("long-file")).await.refuses(403, None);
    // A page that leads elsewhere does not lend its name.
    other.has("/key-elsewhere.txt", "key-elsewhere");
    site.has("/key-elsewhere.txt", &format!("to {}", other.url("/key-elsewhere.txt")));
    say(&home, one("key-elsewhere")).await.refuses(403, None);
    assert_eq!(other.asked("/key-elsewhere.txt"), 1);
    // That it is not there is known for a while, and costs nothing.
    say(&home, one("not-there")).await.refuses(403, None);
    assert_eq!(site.asked("/not-there.txt"), 1);
    assert!(herald(&home, &site.host).await.is_none());
    // Nor is one heard that robots.txt keeps us from.
    let closed = Site::start().await;
    closed.has("/robots.txt", "User-agent: *\nDisallow: /");
    closed.has("/closed-key.txt", "closed-key");
    home.pages(&[&closed.url("/a")]).await;
    let said = json!({ "host": closed.host, "key": "closed-key", "urlList": [closed.url("/a")] });
    say(&home, said).await.refuses(403, None);
    assert_eq!(closed.asked("/closed-key.txt"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_refused_before_anything_is_asked() {
    let site = Site::start().await;
    let home = Home::start(1.0, ON).await;
    let page = site.url("/a");
    home.pages(&[&page]).await;
    let host = site.host.as_str();
    // 400: not the format.
    say_one(&home, &[("key", KEY)]).await.refuses(400, Some("url"));
    say_one(&home, &[("url", &page)]).await.refuses(400, Some("key"));
    say_one(&home, &[("url", "nothing"), ("key", KEY)]).await.refuses(400, Some("url"));
    say_one(&home, &[("url", "file:///etc/passwd"), ("key", KEY)]).await.refuses(400, Some("url"));
    home.send("POST", "/indexnow", "{").await.refuses(400, Some("body"));
    say(&home, json!({ "host": host, "key": KEY })).await.refuses(400, Some("body"));
    let none = json!({ "host": host, "key": KEY, "urlList": [] });
    say(&home, none).await.refuses(400, Some("urlList"));
    let many: Vec<_> = (0..10_001).map(|_| page.as_str()).collect();
    let many = json!({ "host": host, "key": KEY, "urlList": many });
    say(&home, many).await.refuses(400, Some("urlList"));
    let odd = json!({ "host": host, "key": KEY, "urlList": [page, "http://"] });
    say(&home, odd).await.refuses(400, Some("urlList[1]"));
    // 422: not of this host, or not by the schema.
    for key in ["short", &"x".repeat(129), "with space", "schlüssel", "../../etc"] {
        say_one(&home, &[("url", &page), ("key", key)]).await.refuses(422, Some("key"));
    }
    let foreign = json!({ "host": host, "key": KEY, "urlList": [page, "https://b.example/"] });
    say(&home, foreign).await.refuses(422, Some("urlList[1]"));
    let fields = [("url", page.as_str()), ("key", KEY), ("keyLocation", "https://b.example/k.txt")];
    say_one(&home, &fields).await.refuses(422, Some("keyLocation"));
    let below = site.url("/blog/k.txt");
    let fields = [("url", page.as_str()), ("key", KEY), ("keyLocation", below.as_str())];
    say_one(&home, &fields).await.refuses(422, Some("url"));
    let beside = site.url("/blogs/a");
    let fields = [("url", beside.as_str()), ("key", KEY), ("keyLocation", below.as_str())];
    say_one(&home, &fields).await.refuses(422, Some("url"));
    assert_eq!(site.asked.lock().unwrap().len(), 0);
    assert_eq!(home.handle().indexnow_checks(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_knows_costs_nothing_and_what_takes_long_is_heard_later() {
    let site = Site::start().await;
    let home = Home::start(1.0, ON).await;
    let one = |path| json!({ "host": site.host, "key": KEY, "urlList": [site.url(path)] });
    assert_eq!(say(&home, one("/a")).await.status, 202);
    home.pages(&[&site.url("/a")]).await;
    assert_eq!(say(&home, one("/other")).await.status, 202);
    assert_eq!(site.asked.lock().unwrap().len(), 0);
    // The site takes its time.
    site.has(&format!("/{KEY}.txt"), KEY);
    *site.held.lock().unwrap() = true;
    let answers = tokio::join!(say(&home, one("/a")), say(&home, one("/a")));
    assert_eq!((answers.0.status, answers.1.status), (202, 202));
    assert!(herald(&home, &site.host).await.is_none());
    assert_eq!(site.asked(&format!("/{KEY}.txt")), 1, "once for both");
    *site.held.lock().unwrap() = false;
    site.go.notify_one();
    until(async || herald(&home, &site.host).await.filter(|it| it.last_signal_at.is_some())).await;
    assert_eq!(say(&home, one("/a")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_too_much_waits_and_keeps_nobody_from_speaking() {
    let site = Site::start().await;
    let home = Home::start(1.0, ON).await;
    home.pages(&[&site.url("/a")]).await;
    site.has(&format!("/{KEY}.txt"), KEY);
    let one = |key: &str| json!({ "host": site.host, "key": key, "urlList": [site.url("/a")] });
    assert_eq!(say(&home, one(KEY)).await.status, 200);
    let mut statuses = Vec::new();
    for n in 0..10 {
        statuses.push(say(&home, one(&format!("guess-{n:04}"))).await.status);
    }
    assert_eq!(statuses, [403, 403, 403, 403, 403, 429, 429, 429, 429, 429]);
    let answer = say(&home, one("guess-more")).await;
    assert!(answer.headers["retry-after"].parse::<u32>().unwrap() > 0);
    assert_eq!(say(&home, one(KEY)).await.status, 200);
    let mut last = 200;
    for _ in 0..60 {
        last = say(&home, one(KEY)).await.status;
    }
    assert_eq!(last, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_off_unless_the_owner_says_so_and_addresses_inside_stay_closed() {
    let site = Site::start().await;
    let home = Home::start(1.0, "").await;
    home.pages(&[&site.url("/a")]).await;
    site.has(&format!("/{KEY}.txt"), KEY);
    let one = json!({ "host": site.host, "key": KEY, "urlList": [site.url("/a")] });
    say(&home, one.clone()).await.refuses(404, None);
    say_one(&home, &[("url", &site.url("/a")), ("key", KEY)]).await.refuses(404, None);
    home.handle().reload(home.config("signals.indexnow = true")).await.unwrap();
    until(async || (say(&home, one.clone()).await.status == 403).then_some(())).await;
    assert_eq!(site.asked.lock().unwrap().len(), 0);
}
