//! Bodies that are too long for memory.

use std::io::{self, Write};
use std::time::Duration;

use freshet_fetch::{
    BodySink, FetchBlame, FetchError, FetchOutcome, FetchRequest, FetchResponse, ResponsePart,
};

use crate::encodings::gzip;
use crate::server::{Server, ok, reply};
use crate::{content, failed, fetcher_with};

/// Sink that measures its input and accepts a limited number of bytes.
struct Sink {
    total: usize,
    largest: usize,
    capacity: usize,
}

impl Sink {
    fn new() -> Self {
        Self { total: 0, largest: 0, capacity: usize::MAX }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.total + bytes.len() > self.capacity {
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

async fn fetch_into_sink(
    url: &str,
    writer: &mut (dyn Write + Send),
    body_bytes: u64,
) -> FetchResponse {
    let time = Duration::from_secs(60);
    let mut body_sink =
        BodySink { writer, max_wire_bytes: 1 << 30, max_body_bytes: body_bytes, timeout: time };
    // The limits for bodies in memory must not matter.
    let fetcher = fetcher_with(&["body_bytes = \"1KiB\"", "wire_bytes = \"1KiB\""]);
    fetcher.fetch_into(&FetchRequest::new(url).unwrap(), &mut body_sink).await
}

#[tokio::test]
async fn a_long_body_is_streamed_to_the_sink() {
    let length = 40 << 20;
    let packed = gzip(&vec![b'x'; length]);
    let server = Server::always(reply("200 OK", "Content-Encoding: gzip\r\n", packed)).await;
    let mut sink = Sink::new();
    let result = fetch_into_sink(&server.url("/"), &mut sink, length as u64).await;
    assert_eq!((result.trace.body_sizes.decoded, sink.total), (length as u64, length));
    assert!(sink.largest <= 16 * 1024, "{}", sink.largest);
    assert_eq!(content(result).body, b"");
    let mut sink = Sink::new();
    let result = fetch_into_sink(&server.url("/"), &mut sink, length as u64 - 1).await;
    let limit = length as u64 - 1;
    assert_eq!(failed(result), FetchError::TooLarge { part: ResponsePart::DecodedBody, limit });
}

#[tokio::test]
async fn a_failing_sink_is_our_own_fault() {
    let server = Server::always(ok("a body that does not fit")).await;
    let mut sink = Sink { capacity: 3, ..Sink::new() };
    let result = fetch_into_sink(&server.url("/"), &mut sink, 1 << 20).await;
    assert_eq!(result.blame(), Some(FetchBlame::Us));
    assert_eq!(failed(result), FetchError::SinkWrite { kind: io::ErrorKind::StorageFull });
}

#[tokio::test]
async fn other_outcomes_leave_the_sink_empty() {
    let server = Server::always(reply("404 Not Found", "", "no")).await;
    let mut sink = Sink::new();
    let result = fetch_into_sink(&server.url("/"), &mut sink, 100).await;
    assert!(matches!(result.outcome, FetchOutcome::Gone), "{:?}", result.outcome);
    assert_eq!(sink.total, 0);
}
