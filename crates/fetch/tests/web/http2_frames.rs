//! Invalid HTTP/2, frame by frame. Each case has a named outcome, and the connection is closed.

use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::{FetchBlame, FetchError, FetchResponse, Fetcher, ProtocolFault, TimeoutPhase};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_rustls::server::TlsStream;

use crate::certificates::{Authority, VALID, named, secure};
use crate::server::{Server, Step};
use crate::{failed, fetch, fetcher_with, text};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200` (RFC 7541, Appendix A).
const OK: &[u8] = &[0x88];

/// RFC 9113 §4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

fn head() -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, OK)
}

fn go_away(last: u32, code: u32) -> Vec<u8> {
    frame(GO_AWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// `:status: 103`, as a literal that is not indexed.
fn hint() -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, b"\x08\x03103")
}

async fn play(mut stream: TlsStream<TcpStream>, steps: &[Step]) -> Option<()> {
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.ok()?;
    stream.read_exact(&mut [0; 24]).await.ok()?;
    let mut kind = SETTINGS;
    while kind != HEADERS {
        let mut start = [0; 9];
        stream.read_exact(&mut start).await.ok()?;
        kind = start[3];
        let length = usize::from(start[1]) << 8 | usize::from(start[2]);
        stream.read_exact(&mut vec![0; length]).await.ok()?;
    }
    for step in steps {
        match step {
            Step::Send(bytes) => stream.write_all(bytes).await.ok()?,
            Step::Flood(bytes) => while stream.write_all(bytes).await.is_ok() {},
            Step::Hang => while let Ok(1..) = stream.read(&mut [0; 4096]).await {},
            Step::Close => stream.shutdown().await.ok()?,
        }
    }
    Some(())
}

/// Fetches from a server that plays these steps after the request, with its own fetcher.
async fn answer(steps: Vec<Step>, lines: &[&str]) -> FetchResponse {
    let authority = Authority::new();
    let (sender, mut ended) = mpsc::unbounded_channel();
    let steps = Arc::new(steps);
    let server: Server = secure(authority.acceptor(&VALID, &["h2"]), move |stream| {
        let (steps, sender) = (Arc::clone(&steps), sender.clone());
        async move {
            play(stream, &steps).await;
            let _ = sender.send(());
        }
    })
    .await;
    let [roots, names] = named(&authority);
    let fetcher: Fetcher = fetcher_with(&[&[roots.as_str(), &names][..], lines].concat());
    let answer = fetch(&fetcher, &format!("https://secure.example:{}/", server.port())).await;
    drop(fetcher);
    // The server must notice that the connection was closed.
    let end = tokio::time::timeout(Duration::from_secs(60), ended.recv()).await;
    assert!(end.is_ok(), "the connection lives on: {answer:?}");
    answer
}

fn send(frames: &[Vec<u8>]) -> Step {
    Step::Send(frames.concat())
}

const SHORT: &str = "first_byte = \"300ms\"";

#[tokio::test]
async fn a_valid_response_is_read() {
    let steps = vec![send(&[head(), frame(DATA, END_STREAM, 1, b"x")]), Step::Hang];
    assert_eq!(text(answer(steps, &[]).await), "x");
}

#[tokio::test]
async fn endless_continuations_fail() {
    let begun = frame(HEADERS, 0, 1, OK);
    // Empty ones, and ones with a header (`a: b`, not indexed).
    for piece in [frame(CONTINUATION, 0, 1, &[]), frame(CONTINUATION, 0, 1, b"\x00\x01a\x01b")] {
        let steps = vec![Step::Send(begun.clone()), Step::Flood(piece.repeat(100))];
        let answer = answer(steps, &[]).await;
        assert_eq!(answer.blame(), Some(FetchBlame::Source));
        assert_eq!(failed(answer).name(), "too-large");
    }
}

#[tokio::test]
async fn endless_control_frames_fail() {
    for piece in [
        frame(SETTINGS, 0, 0, &[]),
        frame(PING, 0, 0, b"12345678"),
        frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 0]),
        frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]),
        frame(0xfa, 0, 0, b"nobody knows this kind"),
        hint(),
    ] {
        let answer = answer(vec![Step::Flood(piece.repeat(100))], &[SHORT]).await;
        assert_eq!(answer.blame(), Some(FetchBlame::Host));
        let error = failed(answer);
        assert!(matches!(error.name(), "protocol" | "timeout"), "{piece:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_stalled_body_times_out() {
    let steps = vec![send(&[head(), frame(DATA, 0, 1, b"abc")]), Step::Hang];
    let answer = answer(steps, &["idle = \"200ms\""]).await;
    assert_eq!(answer.trace.body_sizes.encoded, 3);
    let after = Duration::from_millis(200);
    assert_eq!(failed(answer), FetchError::Timeout { phase: TimeoutPhase::Idle, after });
}

#[tokio::test]
async fn endless_empty_data_frames_fail() {
    let steps = vec![Step::Send(head()), Step::Flood(frame(DATA, 0, 1, &[]).repeat(100))];
    let error = failed(answer(steps, &["body = \"300ms\""]).await);
    assert!(matches!(error.name(), "protocol" | "timeout"), "{error:?}");
}

#[tokio::test]
async fn data_beyond_the_window_fails() {
    let steps = vec![Step::Send(head()), Step::Flood(frame(DATA, 0, 1, &[b'x'; 16_384]))];
    let lines = ["wire_bytes = \"64MiB\"", "body_bytes = \"64MiB\"", "body = \"3s\""];
    let error = failed(answer(steps, &lines).await);
    assert!(matches!(error.name(), "protocol" | "too-large"), "{error:?}");
}

// RFC 9113 §6.8: streams up to the last one named continue.
#[tokio::test]
async fn a_goaway_within_a_body_lets_it_finish() {
    let (part, rest) = (frame(DATA, 0, 1, b"abc"), frame(DATA, END_STREAM, 1, b"def"));
    let whole = vec![send(&[head(), part.clone(), go_away(1, 0), rest]), Step::Hang];
    assert_eq!(text(answer(whole, &[]).await), "abcdef");
    let cut = vec![send(&[head(), part.clone(), go_away(1, 0)]), Step::Close];
    let error = failed(answer(cut, &[]).await);
    assert_eq!(error, FetchError::Truncated { received: 3, declared: None });
    let other = vec![send(&[head(), part, go_away(0, 11)]), Step::Hang];
    let error = failed(answer(other, &[]).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::GoAway(11) });
}

#[tokio::test]
async fn a_reset_after_the_head_fails() {
    let reset = frame(RESET, 0, 1, &2_u32.to_be_bytes());
    let error = failed(answer(vec![send(&[head(), reset]), Step::Hang], &[]).await);
    assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::Reset(2) });
}

#[tokio::test]
async fn invalid_http2_heads_fail() {
    for payload in [
        // An index outside of the tables; an invalid status; a name in capitals; half a literal.
        &b"\xff\xff\xff\xff\xff"[..],
        b"\x08\x03abc",
        b"\x88\x00\x01A\x01b",
        b"\x88\x00\x7f",
        // RFC 9113 §8.2.2: valid in HTTP/1.1 only.
        b"\x88\x00\x11transfer-encoding\x04gzip",
        b"",
    ] {
        let steps =
            vec![Step::Send(frame(HEADERS, END_HEADERS | END_STREAM, 1, payload)), Step::Hang];
        let answer = answer(steps, &[SHORT]).await;
        assert_eq!(answer.blame(), Some(FetchBlame::Host));
        assert_eq!(failed(answer).name(), "protocol", "{}", payload.escape_ascii());
    }
}

// A large header that is put into the table once and referenced a thousand times.
#[tokio::test]
async fn an_expanding_head_fails() {
    let mut payload = OK.to_vec();
    // `a` with a value of 3900 bytes, into the table (RFC 7541 §6.2.1); then its index (§6.1).
    payload.extend(b"\x40\x01a\x7f\xbd\x1d");
    payload.extend([b'x'; 3900]);
    payload.extend([0xbe; 4000]);
    let steps = vec![Step::Send(frame(HEADERS, END_HEADERS, 1, &payload)), Step::Hang];
    let answer = answer(steps, &[SHORT]).await;
    assert_eq!(failed(answer).name(), "too-large");
}

/// `:status: 200` and a length of five.
fn head_of_five() -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, b"\x88\x0f\x0d\x015")
}

// As on HTTP/1.1: a server that closes within a body, or ends it before its length, has truncated
// it.
#[tokio::test]
async fn a_truncated_body_fails() {
    let (part, end) = (frame(DATA, 0, 1, b"abc"), frame(DATA, END_STREAM, 1, b"abc"));
    for (steps, max_received, declared) in [
        (vec![send(&[head(), part.clone()]), Step::Close], 3, None),
        (vec![send(&[head_of_five(), part]), Step::Close], 3, Some(5)),
        (vec![send(&[head_of_five(), end]), Step::Hang], 3, Some(5)),
    ] {
        let answer = answer(steps, &[]).await;
        assert_eq!(answer.blame(), Some(FetchBlame::Source));
        match failed(answer) {
            FetchError::Truncated { received, declared: declared_len } => {
                assert!(received <= max_received, "{received}");
                assert_eq!(declared_len, declared);
            }
            other => panic!("{other:?}"),
        }
    }
    let over = vec![send(&[head_of_five(), frame(DATA, END_STREAM, 1, b"abcdef")]), Step::Hang];
    assert_eq!(answer(over, &[]).await.blame(), Some(FetchBlame::Source));
}

#[tokio::test]
async fn invalid_frames_fail() {
    for bytes in [
        // Too large, on an idle stream, a push, and not a frame at all.
        frame(DATA, 0, 1, &[0; 20_000]),
        frame(HEADERS, END_HEADERS, 7, OK),
        frame(HEADERS, END_HEADERS, 2, OK),
        frame(5, END_HEADERS, 1, &[&2_u32.to_be_bytes()[..], OK].concat()),
        frame(DATA, 0, 0, b"x"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx".to_vec(),
    ] {
        let answer = answer(vec![Step::Send(bytes.clone()), Step::Hang], &[SHORT]).await;
        assert_eq!(answer.blame(), Some(FetchBlame::Host));
        let error = failed(answer);
        assert!(matches!(error.name(), "protocol" | "timeout"), "{bytes:?}: {error:?}");
    }
}
