//! Website whose pages change with time, and which remembers the versions that it has served.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) struct Site {
    state: Arc<State>,
    port: u16,
    hosts: usize,
}

struct State {
    start: Instant,
    frozen: Mutex<Option<Instant>>,
    pages: usize,
    requests: AtomicUsize,
    served: Mutex<HashSet<(usize, u64)>>,
}

impl Site {
    pub(crate) fn start(pages: usize, hosts: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            start: Instant::now(),
            frozen: Mutex::default(),
            pages,
            requests: AtomicUsize::new(0),
            served: Mutex::default(),
        });
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&served);
                std::thread::spawn(move || serve(&state, &stream));
            }
        });
        Self { state, port, hosts }
    }

    pub(crate) fn url(&self, page: usize) -> String {
        format!("http://h{}.localhost:{}/{page}", page % self.hosts, self.port)
    }

    pub(crate) fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn freeze(&self) {
        *self.state.frozen.lock().unwrap() = Some(Instant::now());
    }

    pub(crate) fn version(&self, url: &str) -> u64 {
        self.state.version(page_of(url))
    }

    pub(crate) fn has_served(&self, url: &str, version: u64) -> bool {
        self.state.served.lock().unwrap().contains(&(page_of(url), version))
    }
}

fn page_of(url: &str) -> usize {
    url.rsplit('/').next().unwrap().parse().unwrap()
}

impl State {
    /// Returns the current version of a page. Pages change every 0.2 to 25 seconds.
    fn version(&self, page: usize) -> u64 {
        let now = self.frozen.lock().unwrap().unwrap_or_else(Instant::now);
        let period = 0.2 * 125_f64.powf(page as f64 / self.pages as f64);
        ((now - self.start).as_secs_f64() / period) as u64
    }
}

/// Returns the last version number in a text.
pub(crate) fn version_in(text: &str) -> Option<u64> {
    let at = text.rfind("version")?;
    let digits: String = text[at + 7..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn serve(state: &State, stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut path = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(rest) = line.strip_prefix("GET ") {
                path = rest.split(' ').next().unwrap().to_owned();
            }
            if line == "\r\n" {
                break;
            }
        }
        let page = page_of(&path);
        let version = state.version(page);
        let nonce = state.requests.fetch_add(1, Ordering::SeqCst);
        state.served.lock().unwrap().insert((page, version));
        let body = format!(
            "<html><head><title>Page {page}</title></head><body><main><h1>Page {page}</h1>\
             <p>This page is at version{version} at this moment.</p></main>\
             <script>nonce = {nonce}</script></body></html>"
        );
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut out = stream;
        if out.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}
