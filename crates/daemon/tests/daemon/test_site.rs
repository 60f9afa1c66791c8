//! A site whose pages the test sets, a daemon that watches it, and helpers to wait.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use freshet_daemon::{Clock, Config, Daemon, NewSourceRequest, SourceEdit};
use freshet_store::Reader;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// Response of the server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) status: u16,
    pub(crate) retry_after: Option<u64>,
    /// Redirect target.
    pub(crate) redirect_to: Option<String>,
    /// True if no response ever comes.
    pub(crate) is_silent: bool,
    /// Exact body, instead of a page around `text`.
    pub(crate) body: Option<Bytes>,
    /// `ETag`; a request that sends it gets a 304.
    pub(crate) etag: Option<String>,
    /// `ETag` without 304 responses. `{}` stands for a different value each time.
    pub(crate) etag_without_304: Option<String>,
    /// Status of HEAD responses.
    pub(crate) head_status: Option<u16>,
}

/// A request that the server received.
#[derive(Clone, Debug)]
pub(crate) struct SiteRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) host: String,
    pub(crate) at: Instant,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, Page>,
    seen: Vec<SiteRequest>,
    nonce: u64,
}

/// A server on loopback.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let site = Self { address, state: Arc::default() };
        let served = site.clone();
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let site = served.clone();
                tokio::spawn(async move {
                    let answer = service_fn(move |request| {
                        let answer = site.answer(&request);
                        let (site, path) = (site.clone(), request.uri().path().to_owned());
                        async move {
                            while site.is_silent(&path) {
                                tokio::time::sleep(Duration::from_millis(5)).await;
                            }
                            Ok::<_, Infallible>(answer)
                        }
                    });
                    let http = hyper::server::conn::http1::Builder::new();
                    let _ = http.serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        site
    }

    fn is_silent(&self, path: &str) -> bool {
        self.state.lock().unwrap().pages.get(path).is_some_and(|page| page.is_silent)
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let mut state = self.state.lock().unwrap();
        let path = request.uri().path().to_owned();
        let host = request.headers().get("host").and_then(|it| it.to_str().ok());
        let host = host.unwrap_or_default().to_owned();
        let method = request.method().to_string();
        let is_head = method == "HEAD";
        state.seen.push(SiteRequest { method, path: path.clone(), host, at: Instant::now() });
        state.nonce += 1;
        let nonce = state.nonce;
        let Some(page) = state.pages.get(&path) else {
            return Response::builder().status(404).body(Full::default()).unwrap();
        };
        if let Some(status) = page.head_status.filter(|_| is_head) {
            return Response::builder().status(status).body(Full::default()).unwrap();
        }
        let mut answer =
            Response::builder().status(if page.status == 0 { 200 } else { page.status });
        if let Some(seconds) = page.retry_after {
            answer = answer.header("retry-after", seconds);
        }
        if let Some(to) = &page.redirect_to {
            answer = answer.header("location", to);
        }
        if let Some(etag) = &page.etag {
            let shown = request.headers().get("if-none-match").and_then(|it| it.to_str().ok());
            if shown == Some(etag) {
                return Response::builder().status(304).body(Full::default()).unwrap();
            }
            answer = answer.header("etag", etag);
        }
        if let Some(etag) = &page.etag_without_304 {
            answer = answer.header("etag", etag.replace("{}", &nonce.to_string()));
        }
        if let Some(body) = &page.body {
            return answer.body(Full::from(body.clone())).unwrap();
        }
        let text = &page.text;
        let kind = if path == "/robots.txt" { "text/plain" } else { "text/html" };
        let body = if path == "/robots.txt" {
            text.clone()
        } else {
            // The bytes differ each time, the content does not.
            format!(
                "<html><head><title>{path}</title></head><body><main><h1>{path}</h1><p>{text}</p>\
                 </main><script>nonce={nonce}</script></body></html>"
            )
        };
        answer.header("content-type", kind).body(Full::from(body)).unwrap()
    }

    pub(crate) fn set(&self, path: &str, text: &str) {
        self.put(path, Page { text: text.to_owned(), ..Page::default() });
    }

    /// Sets a document that is not an HTML page.
    pub(crate) fn set_document(&self, path: &str, body: impl Into<Bytes>) {
        self.put(path, Page { body: Some(body.into()), ..Page::default() });
    }

    pub(crate) fn redirect(&self, path: &str, to: String) {
        self.put(path, Page { status: 302, redirect_to: Some(to), ..Page::default() });
    }

    pub(crate) fn put(&self, path: &str, page: Page) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    pub(crate) fn requests(&self) -> Vec<SiteRequest> {
        self.state.lock().unwrap().seen.clone()
    }

    /// Number of fetches per path, without robots.txt.
    pub(crate) fn fetches(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for seen in self.requests().into_iter().filter(|it| it.path != "/robots.txt") {
            *counts.entry(seen.path).or_default() += 1;
        }
        counts
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn request(&self, path: &str) -> NewSourceRequest {
        NewSourceRequest::new(self.url(path))
    }
}

/// Requests a fetch 20 times a second, whatever its value.
pub(crate) fn very_often(mut request: NewSourceRequest) -> NewSourceRequest {
    request.settings.max_interval = Some(0.05 / 86_400.0);
    request
}

/// A directory with a store and a configuration.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    pub(crate) text: String,
    /// Settings under `[fetch]`.
    pub(crate) fetch: String,
    pub(crate) factor: f64,
}

impl Home {
    pub(crate) fn new(text: &str, factor: f64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, text: text.to_owned(), fetch: String::new(), factor }
    }

    pub(crate) fn config(&self) -> Config {
        let allow = "allow = [\"127.0.0.0/8\", \"localhost\"]";
        let text = format!("{}\n[fetch]\n{allow}\n{}\n", self.text, self.fetch);
        Config::parse(&text, &self.folder.path().join("freshet.toml")).unwrap()
    }

    pub(crate) fn clock(&self) -> Clock {
        // All clocks share one start, so that time continues over restarts.
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        let at = *START.get_or_init(Instant::now);
        let wall = move || 1_700_000_000_000 + at.elapsed().as_millis() as i64;
        let passed = at.elapsed().as_millis() as f64 * self.factor;
        Clock::starting_at(Box::new(wall), 1_700_000_000_000 + passed as i64, self.factor)
    }

    pub(crate) fn start(&self) -> Daemon {
        Daemon::start(self.config(), self.clock()).unwrap()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("freshet.db")
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(&self.store()).unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(crate) async fn add(daemon: &Daemon, request: Vec<NewSourceRequest>) {
    daemon.handle().edit(SourceEdit::Add(request)).await.unwrap();
}

/// Waits until a condition holds, at most a minute.
#[track_caller]
pub(crate) fn until(what: &'static str, holds: impl Fn() -> bool) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let end = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < end, "{caller}: never happened: {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
