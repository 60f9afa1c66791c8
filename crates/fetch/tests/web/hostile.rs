//! Servers that mean harm, or are broken. Each has its named outcome.

use std::time::Duration;

use freshet_fetch::{Blame, FetchError, Outcome, Phase, ProtocolFault, Size};

use crate::server::{Server, Step, ok};
use crate::{content, failed, fetch, fetcher, fetcher_with, text};

const HEAD: &str = "HTTP/1.1 200 OK\r\n";
const SHORT: Duration = Duration::from_millis(100);

#[track_caller]
fn check_timeout(error: &FetchError, phase: Phase) {
    assert_eq!(*error, FetchError::Timeout { phase, after: SHORT });
}

fn protocol(fault: ProtocolFault) -> FetchError {
    FetchError::Protocol { fault }
}

#[tokio::test]
async fn endless_body() {
    let steps = vec![Step::Send(format!("{HEAD}\r\n").into()), Step::Flood(vec![b'x'; 65_536])];
    let server = Server::always(steps).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { what: Size::Wire, limit: 1 << 20 });
}

#[tokio::test]
async fn endless_chunks() {
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let server = Server::always(vec![Step::Send(head.into()), Step::Flood(chunk.into())]).await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "too-large");
}

#[tokio::test]
async fn endless_chunks_of_a_byte() {
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    let chunks = Step::Flood(b"1\r\nx\r\n".repeat(1000));
    let server = Server::always(vec![Step::Send(head.clone().into()), chunks]).await;
    let answer = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(answer.blame(), Some(Blame::Source));
    // Given up long before there is as much of them as a body may have.
    assert!(answer.trace.sizes.wire < 100_000, "{:?}", answer.trace.sizes);
    let error = failed(answer);
    assert!(matches!(error, FetchError::TooLarge { what: Size::Frames, .. }), "{error:?}");
    // Some are no harm.
    let few = format!("{head}{}0\r\n\r\n", "1\r\nx\r\n".repeat(10_000));
    let server = Server::saying(few).await;
    assert_eq!(text(fetch(&fetcher(), &server.url("/")).await).len(), 10_000);
}

#[tokio::test]
async fn a_body_that_is_declared_too_large_is_not_begun() {
    let head = format!("{HEAD}Content-Length: 1048577\r\n\r\n");
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { what: Size::Wire, limit: 1 << 20 });
}

#[tokio::test]
async fn slow_headers() {
    for begun in ["", "HTTP/1.1 200 OK\r\nX: "] {
        let steps = vec![Step::Send(begun.into()), Step::Hang];
        let server = Server::always(steps).await;
        let fetcher = fetcher_with(&["first_byte = \"100ms\""]);
        check_timeout(&failed(fetch(&fetcher, &server.url("/")).await), Phase::FirstByte);
    }
}

#[tokio::test]
async fn slow_body() {
    let head = format!("{HEAD}Content-Length: 10\r\n\r\nabc");
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let idle = fetcher_with(&["idle = \"100ms\""]);
    check_timeout(&failed(fetch(&idle, &server.url("/")).await), Phase::Idle);
    let body = fetcher_with(&["body = \"100ms\""]);
    check_timeout(&failed(fetch(&body, &server.url("/")).await), Phase::Body);
    let total = fetcher_with(&["total = \"100ms\""]);
    check_timeout(&failed(fetch(&total, &server.url("/")).await), Phase::Total);
}

#[tokio::test]
async fn header_flood() {
    let steps = vec![Step::Send(HEAD.into()), Step::Flood(b"X-Header: some value\r\n".repeat(100))];
    let server = Server::always(steps).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { what: Size::Head, limit: 64 * 1024 });
    let long =
        vec![Step::Send(HEAD.into()), Step::Send(b"X: ".into()), Step::Flood(vec![b'x'; 4096])];
    let server = Server::always(long).await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await), error);
}

#[tokio::test]
async fn flood_of_interim_answers() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(64);
    let server = Server::always(vec![Step::Flood(interim.clone())]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { what: Size::Head, limit: 64 << 10 });
    let hurried = fetcher_with(&["first_byte = \"100ms\""]);
    let server = Server::always(vec![Step::Send(interim), Step::Hang]).await;
    check_timeout(&failed(fetch(&hurried, &server.url("/")).await), Phase::FirstByte);
    let few = [b"HTTP/1.1 103 Early\r\n\r\n".repeat(3), b"HTTP/1.1 200 OK\r\n\r\nx".to_vec()];
    let server = Server::saying(few.concat()).await;
    assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "x");
}

#[tokio::test]
async fn garbage_instead_of_http() {
    for garbage in
        [&b"<html>hello</html>\r\n\r\n"[..], b"\0\x01\x02\x03\r\n\r\n", b"SSH-2.0-x\r\n\r\n"]
    {
        let server = Server::saying(garbage).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, protocol(ProtocolFault::Head), "{}", garbage.escape_ascii());
    }
    for status in ["HTTP/1.1 99999 x", "HTTP/1.1 -1 x", "HTTP/9.9 200 OK", "HTTP/1.1 abc"] {
        let server = Server::saying(format!("{status}\r\n\r\n")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, protocol(ProtocolFault::Head), "{status}");
    }
}

#[tokio::test]
async fn nothing_at_all() {
    let server = Server::always(vec![Step::Close]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, protocol(ProtocolFault::Closed));
}

#[tokio::test]
async fn content_length_that_promises_too_much() {
    let server = Server::saying(format!("{HEAD}Content-Length: 10\r\n\r\nabc")).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::Truncated { got: 3, declared: Some(10) });
}

#[tokio::test]
async fn content_length_that_promises_too_little() {
    let lie = format!("{HEAD}Content-Length: 3\r\n\r\nabc{HEAD}Content-Length: 4\r\n\r\nfake");
    let server = Server::new(move |path, _| match path {
        "/lie" => vec![Step::Send(lie.clone().into())],
        _ => ok("true"),
    })
    .await;
    let fetcher = fetcher();
    assert_eq!(text(fetch(&fetcher, &server.url("/lie")).await), "abc");
    // What was said without being asked is never taken for the next answer: by then the connection
    // has been given up.
    let mut answer = fetch(&fetcher, &server.url("/next")).await;
    if answer.trace.hops[0].reused {
        answer = fetch(&fetcher, &server.url("/next")).await;
    }
    assert_eq!(text(answer), "true");
}

#[tokio::test]
async fn content_lengths_that_disagree() {
    for lengths in
        ["Content-Length: 3\r\nContent-Length: 4", "Content-Length: -1", "Content-Length: x"]
    {
        let server = Server::saying(format!("{HEAD}{lengths}\r\n\r\nabcd")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, protocol(ProtocolFault::Head), "{lengths}");
    }
}

#[tokio::test]
async fn chunks_that_are_none() {
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    for (chunks, expect) in [
        ("zz\r\nabc\r\n", protocol(ProtocolFault::Framing)),
        ("fffffffffffffffff\r\nabc", protocol(ProtocolFault::Framing)),
        ("3\r\nabcX\r\n", protocol(ProtocolFault::Framing)),
        ("3\r\nab", FetchError::Truncated { got: 2, declared: None }),
        ("3\r\nabc\r\n", FetchError::Truncated { got: 3, declared: None }),
    ] {
        let server = Server::saying(format!("{head}{chunks}")).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await), expect, "{chunks:?}");
    }
}

#[tokio::test]
async fn bytes_in_headers_that_are_no_text() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nETag: \"\xff\xfe\"\r\nContent-Type: text/\xff\r\n\
                 Cache-Control: \xff\r\nRetry-After: \xff\r\nLast-Modified: \xff\r\nX\xff: y\r\n\r\nx";
    let server = Server::saying(&head[..]).await;
    let answer = fetch(&fetcher(), &server.url("/%ff/\u{fffd}?\u{fffd}")).await;
    let validators = answer.trace.validators.as_ref().unwrap();
    assert!(validators.is_empty(), "{validators:?}");
    let content = content(answer);
    assert_eq!((content.media_type, content.body), (None, b"x".to_vec()));
    assert_eq!(server.paths(), ["/%ff/%EF%BF%BD?%EF%BF%BD"]);
}

#[tokio::test]
async fn wrong_charset() {
    for (label, lossy) in [("utf-8", true), ("no-such-charset", false), ("iso-8859-1", false)] {
        let head =
            format!("{HEAD}Content-Length: 4\r\nContent-Type: text/html; charset={label}\r\n\r\n");
        let server = Server::saying([head.as_bytes(), b"gr\xfcn"].concat()).await;
        let content = content(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(content.text().lossy, lossy, "{label}");
    }
}

#[tokio::test]
async fn nobody_listens() {
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    match failed(fetch(&fetcher(), &format!("http://{gone}/")).await) {
        FetchError::Connect { address, ours: false, .. } => assert_eq!(address, gone),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_url_that_is_too_long() {
    let server = Server::always(ok("x")).await;
    let url = server.url(&format!("/{}", "x".repeat(20_000)));
    assert_eq!(failed(fetch(&fetcher(), &url).await).name(), "url");
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn a_slow_absence_is_an_absence() {
    let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nabc";
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let answer = fetch(&fetcher_with(&["idle = \"100ms\""]), &server.url("/")).await;
    assert!(matches!(answer.outcome, Outcome::Gone), "{answer:?}");
}

#[tokio::test]
async fn many_lines_in_a_head_and_too_many() {
    for (lines, fits) in [(50, true), (100, true), (101, false), (3000, false)] {
        let head = format!("{HEAD}{}\r\nx", "Set-Cookie: a=b\r\n".repeat(lines));
        let server = Server::saying(head).await;
        let answer = fetch(&fetcher(), &server.url("/")).await;
        if fits {
            assert_eq!(text(answer), "x", "{lines}");
        } else {
            let error = failed(answer);
            assert_eq!(error, FetchError::TooLarge { what: Size::Head, limit: 64 << 10 });
            assert!(error.to_string().contains("more than 100 lines"), "{error}");
        }
    }
}

// Only a connection that closes before any byte of the answer was merely closed too early.
#[tokio::test]
async fn a_kept_connection_is_replaced_only_if_nothing_came() {
    for (second, expect) in [
        (vec![Step::Close], None),
        (vec![Step::Send("H".into()), Step::Close], Some(protocol(ProtocolFault::Closed))),
        (
            vec![Step::Send("HTTP/1.1 200 OK\r\n".into()), Step::Close],
            Some(protocol(ProtocolFault::Closed)),
        ),
        (
            vec![Step::Send("garbage\r\n\r\n".into()), Step::Close],
            Some(protocol(ProtocolFault::Head)),
        ),
    ] {
        let server = Server::new(move |_, number| match number {
            2 => second.clone(),
            _ => ok("x"),
        })
        .await;
        let fetcher = fetcher();
        assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "x");
        let answer = fetch(&fetcher, &server.url("/")).await;
        let requests = answer.trace.requests;
        match expect {
            None => assert_eq!((text(answer).as_str(), requests), ("x", 2)),
            Some(error) => assert_eq!((failed(answer), requests), (error, 1)),
        }
    }
}

#[tokio::test]
async fn what_was_read_of_a_body_that_fails_is_recorded() {
    let part = format!("{HEAD}Content-Length: 10\r\n\r\nabc");
    let endless = vec![Step::Send(format!("{HEAD}\r\n").into()), Step::Flood(vec![b'x'; 65_536])];
    for (steps, lines, wire) in [
        (vec![Step::Send(part.clone().into()), Step::Close], "idle = \"5s\"", 3..4),
        (vec![Step::Send(part.clone().into()), Step::Hang], "idle = \"100ms\"", 3..4),
        (vec![Step::Send(part.into()), Step::Hang], "total = \"2s\"", 3..4),
        (endless, "idle = \"5s\"", (1 << 20)..(2 << 20)),
    ] {
        let server = Server::always(steps).await;
        let answer = fetch(&fetcher_with(&[lines]), &server.url("/")).await;
        let sizes = answer.trace.sizes;
        assert!(wire.contains(&sizes.wire) && wire.contains(&sizes.body), "{lines}: {sizes:?}");
        failed(answer);
    }
}

#[tokio::test]
async fn statuses_that_nobody_has_defined() {
    for (status, blame) in [
        (999, Blame::Host),
        (600, Blame::Host),
        (599, Blame::Host),
        (429, Blame::Host),
        (408, Blame::Host),
        (421, Blame::Host),
        (101, Blame::Host),
        (400, Blame::Source),
        (403, Blame::Source),
        (407, Blame::Source),
        (499, Blame::Source),
        (300, Blame::Source),
        (206, Blame::Source),
    ] {
        let server = Server::saying(format!("HTTP/1.1 {status} Odd\r\nContent-Length: 0\r\n\r\n"));
        let answer = fetch(&fetcher(), &server.await.url("/")).await;
        assert_eq!(answer.blame(), Some(blame), "{status}");
        assert_eq!(failed(answer), FetchError::Status { status });
    }
}
