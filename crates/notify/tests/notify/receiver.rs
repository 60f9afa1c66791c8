//! Receiver of webhooks with scripted responses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Received request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// True if the response was a success.
    pub(crate) accepted: bool,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Receiver {
    /// Starts a receiver. `answer` gets the number of the request, from 1, and returns status and headers, each with a line
    /// break; `None` for no response.
    pub(crate) async fn new(
        answer: impl Fn(usize) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook/hidden-path", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    while let Some(mut one) = read(&mut stream).await {
                        let response = {
                            let mut seen = seen.lock().unwrap();
                            let response = answer(seen.len() + 1);
                            one.accepted = matches!(response, Some((200..=299, _)));
                            seen.push(one);
                            response
                        };
                        let Some((status, headers)) = response else {
                            std::future::pending::<()>().await;
                            return;
                        };
                        let text = format!(
                            "HTTP/1.1 {status} Status\r\n{headers}Content-Length: 5\r\n\r\nreply"
                        );
                        if stream.write_all(text.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, requests }
    }

    pub(crate) async fn accepting() -> Self {
        Self::new(|_| Some((200, String::new()))).await
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Cursors of the entries that were accepted, in order.
    pub(crate) fn cursors(&self) -> Vec<i64> {
        let accepted = self.requests().into_iter().filter(|it| it.accepted);
        accepted.flat_map(|it| it.cursors()).collect()
    }
}

impl ReceivedRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn cursors(&self) -> Vec<i64> {
        let body = self.json();
        let entries = body["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["cursor"].as_i64().unwrap()).collect()
    }

    /// True if one of the signatures is by this key.
    pub(crate) fn is_signed_by(&self, secret: &str) -> bool {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut signed =
            format!("{}.{}.", self.headers["webhook-id"], self.headers["webhook-timestamp"])
                .into_bytes();
        signed.extend_from_slice(&self.body);
        let expect = format!("v1,{}", STANDARD.encode(hmac(&key, &signed)));
        self.headers["webhook-signature"].split(' ').any(|it| it == expect)
    }
}

/// HMAC-SHA256 by its definition (RFC 2104), independent of the crate that signs.
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    assert!(key.len() <= 64);
    let pad = |byte: u8| {
        let mut block = vec![byte; 64];
        block.iter_mut().zip(key).for_each(|(it, key)| *it ^= key);
        block
    };
    let inner = Sha256::digest([pad(0x36).as_slice(), text].concat());
    Sha256::digest([pad(0x5c).as_slice(), inner.as_slice()].concat()).to_vec()
}

async fn read(stream: &mut tokio::net::TcpStream) -> Option<ReceivedRequest> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let headers: HashMap<_, _> =
        lines.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { head, headers, body, accepted: false })
}
