//! Bodies that are too long to be held.

use std::io::{self, Write};
use std::time::Duration;

use freshet_fetch::{Answer, Blame, BodySink, FetchError, Outcome, Request, Size};

use crate::encodings::gzip;
use crate::server::{Server, ok, reply};
use crate::{content, failed, fetcher_with};

/// Takes note of what it is given, and takes so many bytes at most.
struct Sink {
    total: usize,
    largest: usize,
    room: usize,
}

impl Sink {
    fn new() -> Self {
        Self { total: 0, largest: 0, room: usize::MAX }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.total + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.total += bytes.len();
        self.largest = self.largest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn put_aside(url: &str, to: &mut (dyn Write + Send), body_bytes: u64) -> Answer {
    let time = Duration::from_secs(60);
    let mut aside = BodySink { to, wire_bytes: 1 << 30, body_bytes, body: time };
    // Whatever may be held has no say here.
    let fetcher = fetcher_with(&["body_bytes = \"1KiB\"", "wire_bytes = \"1KiB\""]);
    fetcher.fetch_aside(&Request::new(url).unwrap(), &mut aside).await
}

#[tokio::test]
async fn a_long_body_is_never_held_as_a_whole() {
    let length = 40 << 20;
    let packed = gzip(&vec![b'x'; length]);
    let server = Server::always(reply("200 OK", "Content-Encoding: gzip\r\n", packed)).await;
    let mut sink = Sink::new();
    let answer = put_aside(&server.url("/"), &mut sink, length as u64).await;
    assert_eq!((answer.trace.sizes.body, sink.total), (length as u64, length));
    assert!(sink.largest <= 16 * 1024, "{}", sink.largest);
    assert_eq!(content(answer).body, b"");
    let mut sink = Sink::new();
    let answer = put_aside(&server.url("/"), &mut sink, length as u64 - 1).await;
    let limit = length as u64 - 1;
    assert_eq!(failed(answer), FetchError::TooLarge { what: Size::Body, limit });
}

#[tokio::test]
async fn what_cannot_be_put_aside_is_our_own_fault() {
    let server = Server::always(ok("a body that does not fit")).await;
    let mut sink = Sink { room: 3, ..Sink::new() };
    let answer = put_aside(&server.url("/"), &mut sink, 1 << 20).await;
    assert_eq!(answer.blame(), Some(Blame::Us));
    assert_eq!(failed(answer), FetchError::Aside { kind: io::ErrorKind::StorageFull });
}

#[tokio::test]
async fn nothing_else_is_different() {
    let server = Server::always(reply("404 Not Found", "", "no")).await;
    let mut sink = Sink::new();
    let answer = put_aside(&server.url("/"), &mut sink, 100).await;
    assert!(matches!(answer.outcome, Outcome::Gone), "{:?}", answer.outcome);
    assert_eq!(sink.total, 0);
}
