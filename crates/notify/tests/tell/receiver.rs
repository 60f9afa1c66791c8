//! Somebody who receives webhooks, and answers as a test says.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// What came.
#[derive(Clone, Debug)]
pub(crate) struct Came {
    pub(crate) head: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
    /// Whether it was answered with success.
    pub(crate) taken: bool,
}

pub(crate) struct Receiver {
    pub(crate) url: String,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Receiver {
    /// Answers by the number of the request, from 1: a status and headers, each line ended; nothing for
    /// no answer at all.
    pub(crate) async fn new(
        answer: impl Fn(usize) -> Option<(u16, String)> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook/hidden-path", listener.local_addr().unwrap());
        let came: Arc<Mutex<Vec<Came>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&came), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move {
                    while let Some(mut one) = read(&mut stream).await {
                        let said = {
                            let mut seen = seen.lock().unwrap();
                            let said = answer(seen.len() + 1);
                            one.taken = matches!(said, Some((200..=299, _)));
                            seen.push(one);
                            said
                        };
                        let Some((status, headers)) = said else {
                            std::future::pending::<()>().await;
                            return;
                        };
                        let text = format!(
                            "HTTP/1.1 {status} Said\r\n{headers}Content-Length: 4\r\n\r\nsaid"
                        );
                        if stream.write_all(text.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { url, came }
    }

    pub(crate) async fn good() -> Self {
        Self::new(|_| Some((200, String::new()))).await
    }

    pub(crate) fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.came.lock().unwrap().len()
    }

    /// Cursors of the entries that were taken, in order.
    pub(crate) fn cursors(&self) -> Vec<i64> {
        let taken = self.came().into_iter().filter(|it| it.taken);
        taken.flat_map(|it| it.cursors()).collect()
    }
}

impl Came {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn cursors(&self) -> Vec<i64> {
        let body = self.json();
        let entries = body["entries"].as_array().unwrap().iter();
        entries.map(|entry| entry["cursor"].as_i64().unwrap()).collect()
    }

    /// Whether one of the signatures is by this key.
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

/// HMAC-SHA256 written out (RFC 2104): not by what signs.
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

async fn read(stream: &mut tokio::net::TcpStream) -> Option<Came> {
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
    Some(Came { head, headers, body, taken: false })
}
