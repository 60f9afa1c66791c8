//! Receiver of a webhook that fails half of the deliveries.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Delivery that was received completely.
#[derive(Clone)]
pub(crate) struct ReceivedDelivery {
    headers: HashMap<String, String>,
    body: String,
    /// True if the delivery was accepted; the sender may not have received the response.
    accepted: bool,
}

pub(crate) struct WebhookReceiver {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<ReceivedDelivery>>>,
}

impl WebhookReceiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<ReceivedDelivery>>> = Arc::default();
        let deliveries = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let deliveries = Arc::clone(&deliveries);
                std::thread::spawn(move || while answer(&stream, &deliveries).is_some() {});
            }
        });
        Self { url, received }
    }

    /// Returns the accepted cursors, each once, in the order in which they were first received.
    pub(crate) fn cursors(&self) -> Vec<i64> {
        let mut cursors: Vec<i64> = Vec::new();
        for delivery in self.received.lock().unwrap().iter().filter(|it| it.accepted) {
            let body: Value = serde_json::from_str(&delivery.body).unwrap();
            for entry in body["entries"].as_array().unwrap() {
                let cursor = entry["cursor"].as_i64().unwrap();
                if cursors.last().is_none_or(|&last| cursor > last) {
                    cursors.push(cursor);
                } else {
                    assert!(
                        cursors.contains(&cursor),
                        "{cursor} was received after {:?}",
                        cursors.last()
                    );
                }
            }
        }
        cursors
    }

    /// Returns the number of received deliveries, and the number of rejected ones.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let received = self.received.lock().unwrap();
        (received.len(), received.iter().filter(|it| !it.accepted).count())
    }

    /// Checks that repeated deliveries with the same id have the same body, and that every signature is
    /// valid according to Python, if it is installed.
    pub(crate) fn check(&self, secret: &str) {
        let received = self.received.lock().unwrap().clone();
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut lines = String::new();
        for it in &received {
            let id = it.headers["webhook-id"].as_str();
            assert_eq!(*names.entry(id).or_insert(&it.body), it.body, "{id} has two bodies");
            let line = json!({ "headers": it.headers, "body": it.body, "secret": secret });
            lines.push_str(&format!("{line}\n"));
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kill/verify.py");
        let child = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else { return };
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let valid = String::from_utf8(output.stdout).unwrap();
        assert_eq!(valid.trim(), received.len().to_string(), "valid signatures");
    }
}

fn answer(mut stream: &TcpStream, received: &Mutex<Vec<ReceivedDelivery>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut headers = HashMap::new();
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).unwrap();
    // Half of the deliveries fail, in different ways that depend on their number.
    let mut received = received.lock().unwrap();
    let (status, accepted) = match (received.len() * 7 + 3) % 10 {
        0 | 1 => (500, false),
        2 => (429, false),
        // No response is sent, whether the delivery is accepted or not.
        3 => (0, false),
        4 => (0, true),
        _ => (200, true),
    };
    received.push(ReceivedDelivery { headers, body, accepted });
    drop(received);
    if status == 0 {
        return None;
    }
    let text = format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(text.as_bytes()).ok()
}
