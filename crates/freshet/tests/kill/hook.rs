//! Somebody who is told of changes by a webhook, and fails half of the time.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A delivery that came, whole.
#[derive(Clone)]
pub(crate) struct Came {
    headers: HashMap<String, String>,
    body: String,
    /// Whether it was taken: then its sender may or may not have been told so.
    taken: bool,
}

pub(crate) struct Hook {
    pub(crate) url: String,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Hook {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let came: Arc<Mutex<Vec<Came>>> = Arc::default();
        let seen = Arc::clone(&came);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || while answer(&stream, &seen).is_some() {});
            }
        });
        Self { url, came }
    }

    /// Cursors that were taken, each once, in the order in which they first came.
    pub(crate) fn cursors(&self) -> Vec<i64> {
        let mut cursors: Vec<i64> = Vec::new();
        for came in self.came.lock().unwrap().iter().filter(|it| it.taken) {
            let body: Value = serde_json::from_str(&came.body).unwrap();
            for entry in body["entries"].as_array().unwrap() {
                let cursor = entry["cursor"].as_i64().unwrap();
                if cursors.last().is_none_or(|&last| cursor > last) {
                    cursors.push(cursor);
                } else {
                    assert!(cursors.contains(&cursor), "{cursor} came after {:?}", cursors.last());
                }
            }
        }
        cursors
    }

    /// How many deliveries came, and how many of them were not taken.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let came = self.came.lock().unwrap();
        (came.len(), came.iter().filter(|it| !it.taken).count())
    }

    /// What comes again under a name is what came under it before, and every signature is good by
    /// Python's own reckoning, where there is a Python.
    pub(crate) fn check(&self, secret: &str) {
        let came = self.came.lock().unwrap().clone();
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut lines = String::new();
        for it in &came {
            let id = it.headers["webhook-id"].as_str();
            assert_eq!(*names.entry(id).or_insert(&it.body), it.body, "{id} is two things");
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
        let good = String::from_utf8(output.stdout).unwrap();
        assert_eq!(good.trim(), came.len().to_string(), "signatures that are good");
    }
}

fn answer(mut stream: &TcpStream, seen: &Mutex<Vec<Came>>) -> Option<()> {
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
    // By the number of the delivery: half of them fail, each in another way.
    let mut seen = seen.lock().unwrap();
    let (status, taken) = match (seen.len() * 7 + 3) % 10 {
        0 | 1 => (500, false),
        2 => (429, false),
        // Nothing is answered, whether it was taken or not.
        3 => (0, false),
        4 => (0, true),
        _ => (200, true),
    };
    seen.push(Came { headers, body, taken });
    drop(seen);
    if status == 0 {
        return None;
    }
    let text = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(text.as_bytes()).ok()
}
