//! Small website on loopback whose pages a test writes.

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, String>,
    /// Pages that answer 429 with a Retry-After of an hour.
    rate_limited: HashSet<String>,
    /// Requested paths.
    requests: Vec<String>,
}

impl Site {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let site = Self { address: listener.local_addr().unwrap(), state: Arc::default() };
        let served = site.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let site = served.clone();
                thread::spawn(move || site.answer(stream.unwrap()));
            }
        });
        site
    }

    fn answer(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).unwrap_or(0) == 0 {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, body) = {
            let mut state = self.state.lock().unwrap();
            let is_rate_limited = state.rate_limited.contains(&path);
            let page = state.pages.get(&path).cloned();
            state.requests.push(path);
            let nonce = state.requests.len();
            match page {
                _ if is_rate_limited => {
                    ("429 Too Many Requests\r\nRetry-After: 3600", String::new())
                }
                // The bytes differ each time, but not the content.
                Some(text) => (
                    "200 OK",
                    format!(
                        "<html><body><main><h1>Page</h1><p>{text}</p></main>\
                         <script>nonce={nonce}</script></body></html>"
                    ),
                ),
                None => ("404 Not Found", String::new()),
            }
        };
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/html; charset=utf-8\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
    }

    pub(crate) fn set(&self, path: &str, text: &str) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), text.to_owned());
    }

    pub(crate) fn remove(&self, path: &str) {
        self.state.lock().unwrap().pages.remove(path);
    }

    pub(crate) fn rate_limit(&self, path: &str) {
        self.state.lock().unwrap().rate_limited.insert(path.to_owned());
    }

    /// Returns the number of requests of a page.
    pub(crate) fn requests(&self, path: &str) -> usize {
        self.state.lock().unwrap().requests.iter().filter(|it| *it == path).count()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
