//! A daemon with a service, and an HTTP client that sends arbitrary requests.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Mutex, Once};
use std::time::{Duration, SystemTime};

use freshet_daemon::{Clock, Config, Daemon};
use freshet_notify::Notifier;
use freshet_server::{Scope, Server, ServerSettings, TokenSecret};
use freshet_store::Token;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Log output of all tests.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static LOGGING: Once = Once::new();

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns the log output so far.
pub(crate) fn log() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap()).into_owned()
}

/// A service for one test.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) daemon: Daemon,
    pub(crate) server: Option<Server>,
    _folder: TempDir,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    /// Returns the body as JSON; the response must be successful.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Asserts that the response is a problem with this status and field, and returns it.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, field: Option<&str>) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["status"], status);
        assert_eq!(problem["field"].as_str(), field, "{problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty());
        problem
    }
}

fn millis() -> i64 {
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now();
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as i64
}

impl Service {
    /// Starts a service on loopback whose daemon fetches nothing itself.
    pub(crate) async fn start() -> Self {
        Self::start_with("", |_| {}).await
    }

    /// Starts a service with additional configuration and changed settings.
    pub(crate) async fn start_with(config: &str, set: impl FnOnce(&mut ServerSettings)) -> Self {
        LOGGING.call_once(|| {
            let logger = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
            let _ = tracing::subscriber::set_global_default(
                logger.with_ansi(false).with_writer(|| Log).finish(),
            );
        });
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "concurrency = 0\nbudget = \"10000000/day\"\nburst = 100000\n{config}\n[hosts]\ngap = \"0s\"\n\
             connections = 1000\n"
        );
        let config = Config::parse(&text, &folder.path().join("freshet.toml")).unwrap();
        let notify_settings = freshet_notify::NotifySettings::from_config(&config);
        let daemon = Daemon::start(config, Clock::new(Box::new(millis), 1.0)).unwrap();
        let mut settings = ServerSettings::new("127.0.0.1:0".parse().unwrap());
        settings.notifier = Some(Notifier::start(daemon.handle(), notify_settings));
        set(&mut settings);
        let server = Server::start(daemon.handle(), settings).await.unwrap();
        Self { address: server.address(), daemon, server: Some(server), _folder: folder }
    }

    /// Creates a token.
    pub(crate) async fn token(&self, name: &str, scopes: &[Scope]) -> String {
        let secret = TokenSecret::random().unwrap();
        let scopes: freshet_server::Scopes = scopes.iter().copied().collect();
        let token = Token {
            name: name.to_owned(),
            hash: secret.hash(),
            scopes: scopes.bits(),
            created_at: 0,
            used_at: None,
        };
        self.daemon.handle().put_token(token).await.unwrap();
        secret.reveal().to_owned()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn send_json(&self, method: &str, path: &str, body: Value) -> Answer {
        let text = body.to_string();
        self.send(method, path, &[("Content-Type", "application/json")], &text).await
    }

    /// Sends a request; `headers` replace or complete the default ones.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("Connection: close\r\n\r\n");
        text.push_str(body);
        self.send_bytes(text.as_bytes()).await
    }

    /// Sends bytes and returns the response.
    pub(crate) async fn send_bytes(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        // A server that refuses a body may close the connection before all of it is sent.
        let _ = stream.write_all(bytes).await;
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        parse(&text)
    }

    /// Adds sources and returns their ids.
    pub(crate) async fn add(&self, urls: &[&str]) -> Vec<u64> {
        let sources: Vec<_> = urls.iter().map(|url| json!({ "url": url })).collect();
        let answer = self.send_json("PUT", "/v1/sources", json!({ "sources": sources })).await.ok();
        let items = answer["items"].as_array().unwrap();
        items.iter().map(|item| item["id"].as_u64().unwrap()).collect()
    }

    /// Claims until a source is due.
    pub(crate) async fn claim(&self, max: u32) -> Value {
        for _ in 0..6000 {
            let claim = self.send_json("POST", "/v1/claims", json!({ "max": max })).await.ok();
            if !claim["items"].as_array().unwrap().is_empty() {
                return claim;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no source became due");
    }

    /// Reports texts as the contents of a source, one after the other.
    pub(crate) async fn report_texts(&self, source: u64, texts: &[&str]) {
        for text in texts {
            let signal = json!({ "ids": [source] });
            self.send_json("POST", "/v1/signals", signal).await.ok();
            loop {
                let claim = self.claim(1000).await;
                let items = claim["items"].as_array().unwrap();
                let others = items.iter().filter(|item| item["source"] != source);
                // Other sources that are due are reported as unchanged.
                let mut reports: Vec<_> = others
                    .map(|item| json!({ "source": item["source"], "outcome": "unchanged" }))
                    .collect();
                let is_claimed = reports.len() < items.len();
                if is_claimed {
                    reports.push(json!({ "source": source, "outcome": "document",
                        "content_type": "text/plain", "text": text }));
                }
                let count = reports.len();
                let body = json!({ "lease": claim["lease"], "reports": reports });
                let reported = self.send_json("POST", "/v1/reports", body).await.ok();
                assert_eq!(reported["recorded"], count, "{reported}");
                if is_claimed {
                    break;
                }
            }
        }
    }
}

/// Parses a response.
pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Answer { status: status.unwrap_or(0), headers: headers.collect(), body: body.to_owned() }
}
