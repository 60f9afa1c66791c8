//! An HTTP client, and a store filled with sources.

use std::net::SocketAddr;
use std::time::SystemTime;

use freshet_store::{NewSource, SourcePatch, Store};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    since.as_millis() as i64
}

/// A persistent connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    address: SocketAddr,
}

impl Client {
    pub(crate) async fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new(), address }
    }

    /// Sends a request and returns the body of the response.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: &str) -> Vec<u8> {
        let (address, length) = (self.address, body.len());
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(text.as_bytes()).await.unwrap();
        loop {
            if let Some((head, end)) = self.response_end() {
                let text = String::from_utf8_lossy(&self.buffer[..head]).into_owned();
                assert!(text.starts_with("HTTP/1.1 200"), "{text}");
                let rest = self.buffer.split_off(end);
                let body = self.buffer.split_off(head);
                self.buffer = rest;
                return body;
            }
            self.buffer.reserve(64 << 10);
            assert!(
                self.stream.read_buf(&mut self.buffer).await.unwrap() > 0,
                "the server closed the connection"
            );
        }
    }

    /// Returns the end of the head and of the response, if all of it was received.
    fn response_end(&self) -> Option<(usize, usize)> {
        let head = self.buffer.windows(4).position(|it| it == b"\r\n\r\n")? + 4;
        let text = std::str::from_utf8(&self.buffer[..head]).unwrap().to_ascii_lowercase();
        let length = text.split("content-length: ").nth(1).unwrap();
        let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
        (self.buffer.len() >= head + length).then_some((head, head + length))
    }
}

pub(crate) fn fill_store(store: &mut Store, sources: u32) {
    let all = (0..sources).map(|n| {
        let url = format!("https://host-{}.example/section-{}/page-{n}.html", n % 20_000, n % 97);
        let mut source = NewSource::new(url, format!("host-{}.example", n % 20_000), 0);
        let tags = (n % 1000 == 0).then(|| vec!["rare".to_owned()]);
        source.patch = SourcePatch { tags, ..SourcePatch::default() };
        source
    });
    store.import_sources(all).unwrap();
}

pub(crate) fn parse_claim(body: &[u8]) -> (String, Vec<u64>) {
    let claim: Value = serde_json::from_slice(body).unwrap();
    let items = claim["items"].as_array().unwrap().iter();
    let ids = items.map(|item| item["source"].as_u64().unwrap()).collect();
    (claim["lease"].as_str().unwrap().to_owned(), ids)
}

pub(crate) fn reports_json(lease: &str, ids: &[u64]) -> String {
    let each = ids.iter().map(|id| format!("{{\"source\":{id},\"outcome\":\"unchanged\"}}"));
    let each = each.collect::<Vec<_>>().join(",");
    format!("{{\"lease\":\"{lease}\",\"reports\":[{each}]}}")
}
