//! Malicious or broken servers. Each has a named outcome.

use std::time::Duration;

use freshet_fetch::{
    FetchBlame, FetchError, FetchOutcome, ProtocolFault, ResponsePart, TimeoutPhase,
};

use crate::server::{Server, Step, ok};
use crate::{content, failed, fetch, fetcher, fetcher_with, text};

const HEAD: &str = "HTTP/1.1 200 OK\r\n";
const SHORT: Duration = Duration::from_millis(100);

#[track_caller]
fn check_timeout(error: &FetchError, phase: TimeoutPhase) {
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
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::EncodedBody, limit: 1 << 20 });
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
    let result = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(result.blame(), Some(FetchBlame::Source));
    // Aborted long before the framing is as large as the body limit.
    assert!(result.trace.body_sizes.encoded < 100_000, "{:?}", result.trace.body_sizes);
    let error = failed(result);
    assert!(matches!(error, FetchError::TooLarge { part: ResponsePart::Framing, .. }), "{error:?}");
    // A moderate number is accepted.
    let moderate = format!("{head}{}0\r\n\r\n", "1\r\nx\r\n".repeat(10_000));
    let server = Server::saying(moderate).await;
    assert_eq!(text(fetch(&fetcher(), &server.url("/")).await).len(), 10_000);
}

#[tokio::test]
async fn a_body_declared_too_large_is_not_read() {
    let head = format!("{HEAD}Content-Length: 1048577\r\n\r\n");
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::EncodedBody, limit: 1 << 20 });
}

#[tokio::test]
async fn slow_headers() {
    for partial_head in ["", "HTTP/1.1 200 OK\r\nX: "] {
        let steps = vec![Step::Send(partial_head.into()), Step::Hang];
        let server = Server::always(steps).await;
        let fetcher = fetcher_with(&["first_byte = \"100ms\""]);
        check_timeout(&failed(fetch(&fetcher, &server.url("/")).await), TimeoutPhase::FirstByte);
    }
}

#[tokio::test]
async fn slow_body() {
    let head = format!("{HEAD}Content-Length: 10\r\n\r\nabc");
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let idle = fetcher_with(&["idle = \"100ms\""]);
    check_timeout(&failed(fetch(&idle, &server.url("/")).await), TimeoutPhase::Idle);
    let body = fetcher_with(&["body = \"100ms\""]);
    check_timeout(&failed(fetch(&body, &server.url("/")).await), TimeoutPhase::Body);
    let total = fetcher_with(&["total = \"100ms\""]);
    check_timeout(&failed(fetch(&total, &server.url("/")).await), TimeoutPhase::Total);
}

#[tokio::test]
async fn header_flood() {
    let steps = vec![Step::Send(HEAD.into()), Step::Flood(b"X-Header: some value\r\n".repeat(100))];
    let server = Server::always(steps).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 * 1024 });
    let long =
        vec![Step::Send(HEAD.into()), Step::Send(b"X: ".into()), Step::Flood(vec![b'x'; 4096])];
    let server = Server::always(long).await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await), error);
}

#[tokio::test]
async fn a_flood_of_interim_responses_fails() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(64);
    let server = Server::always(vec![Step::Flood(interim.clone())]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 });
    let hurried = fetcher_with(&["first_byte = \"100ms\""]);
    let server = Server::always(vec![Step::Send(interim), Step::Hang]).await;
    check_timeout(&failed(fetch(&hurried, &server.url("/")).await), TimeoutPhase::FirstByte);
    let moderate = [b"HTTP/1.1 103 Early\r\n\r\n".repeat(3), b"HTTP/1.1 200 OK\r\n\r\nx".to_vec()];
    let server = Server::saying(moderate.concat()).await;
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
async fn a_connection_closed_without_a_response_fails() {
    let server = Server::always(vec![Step::Close]).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, protocol(ProtocolFault::Closed));
}

#[tokio::test]
async fn a_content_length_that_is_too_large_fails() {
    let server = Server::saying(format!("{HEAD}Content-Length: 10\r\n\r\nabc")).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::Truncated { received: 3, declared: Some(10) });
}

#[tokio::test]
async fn a_content_length_that_is_too_small_cuts_the_body() {
    let understated =
        format!("{HEAD}Content-Length: 3\r\n\r\nabc{HEAD}Content-Length: 4\r\n\r\nfake");
    let server = Server::new(move |path, _| match path {
        "/lie" => vec![Step::Send(understated.clone().into())],
        _ => ok("true"),
    })
    .await;
    let fetcher = fetcher();
    assert_eq!(text(fetch(&fetcher, &server.url("/lie")).await), "abc");
    // Bytes after the response must not become the next response: by then the connection is closed.
    let mut result = fetch(&fetcher, &server.url("/next")).await;
    if result.trace.hops[0].reused {
        result = fetch(&fetcher, &server.url("/next")).await;
    }
    assert_eq!(text(result), "true");
}

#[tokio::test]
async fn conflicting_content_lengths_fail() {
    for lengths in
        ["Content-Length: 3\r\nContent-Length: 4", "Content-Length: -1", "Content-Length: x"]
    {
        let server = Server::saying(format!("{HEAD}{lengths}\r\n\r\nabcd")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, protocol(ProtocolFault::Head), "{lengths}");
    }
}

#[tokio::test]
async fn malformed_chunks_fail() {
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    for (chunks, expect) in [
        ("zz\r\nabc\r\n", protocol(ProtocolFault::Framing)),
        ("fffffffffffffffff\r\nabc", protocol(ProtocolFault::Framing)),
        ("3\r\nabcX\r\n", protocol(ProtocolFault::Framing)),
        ("3\r\nab", FetchError::Truncated { received: 2, declared: None }),
        ("3\r\nabc\r\n", FetchError::Truncated { received: 3, declared: None }),
    ] {
        let server = Server::saying(format!("{head}{chunks}")).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await), expect, "{chunks:?}");
    }
}

#[tokio::test]
async fn undecodable_header_values_are_ignored() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nETag: \"\xff\xfe\"\r\nContent-Type: text/\xff\r\n\
                 Cache-Control: \xff\r\nRetry-After: \xff\r\nLast-Modified: \xff\r\nX\xff: y\r\n\r\nx";
    let server = Server::saying(&head[..]).await;
    let result = fetch(&fetcher(), &server.url("/%ff/\u{fffd}?\u{fffd}")).await;
    let validators = result.trace.validators.as_ref().unwrap();
    assert!(validators.is_empty(), "{validators:?}");
    let content = content(result);
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
async fn a_closed_port_fails() {
    let closed_address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    match failed(fetch(&fetcher(), &format!("http://{closed_address}/")).await) {
        FetchError::Connect { address, is_local: false, .. } => assert_eq!(address, closed_address),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_url_that_is_too_long_is_not_sent() {
    let server = Server::always(ok("x")).await;
    let url = server.url(&format!("/{}", "x".repeat(20_000)));
    assert_eq!(failed(fetch(&fetcher(), &url).await).name(), "url");
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn a_404_with_a_stalled_body_is_gone() {
    let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 10\r\n\r\nabc";
    let server = Server::always(vec![Step::Send(head.into()), Step::Hang]).await;
    let result = fetch(&fetcher_with(&["idle = \"100ms\""]), &server.url("/")).await;
    assert!(matches!(result.outcome, FetchOutcome::Gone), "{result:?}");
}

#[tokio::test]
async fn a_head_may_have_a_hundred_lines() {
    for (lines, fits) in [(50, true), (100, true), (101, false), (3000, false)] {
        let head = format!("{HEAD}{}\r\nx", "Set-Cookie: a=b\r\n".repeat(lines));
        let server = Server::saying(head).await;
        let result = fetch(&fetcher(), &server.url("/")).await;
        if fits {
            assert_eq!(text(result), "x", "{lines}");
        } else {
            let error = failed(result);
            assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 });
            assert!(error.to_string().contains("more than 100 lines"), "{error}");
        }
    }
}

// A request is retried only if the connection closed before any byte of the response.
#[tokio::test]
async fn a_request_is_retried_only_if_no_byte_arrived() {
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
        let result = fetch(&fetcher, &server.url("/")).await;
        let requests = result.trace.requests;
        match expect {
            None => assert_eq!((text(result).as_str(), requests), ("x", 2)),
            Some(error) => assert_eq!((failed(result), requests), (error, 1)),
        }
    }
}

#[tokio::test]
async fn the_size_of_a_failed_body_is_recorded() {
    let part = format!("{HEAD}Content-Length: 10\r\n\r\nabc");
    let endless = vec![Step::Send(format!("{HEAD}\r\n").into()), Step::Flood(vec![b'x'; 65_536])];
    for (steps, lines, wire) in [
        (vec![Step::Send(part.clone().into()), Step::Close], "idle = \"5s\"", 3..4),
        (vec![Step::Send(part.clone().into()), Step::Hang], "idle = \"100ms\"", 3..4),
        (vec![Step::Send(part.into()), Step::Hang], "total = \"2s\"", 3..4),
        (endless, "idle = \"5s\"", (1 << 20)..(2 << 20)),
    ] {
        let server = Server::always(steps).await;
        let result = fetch(&fetcher_with(&[lines]), &server.url("/")).await;
        let sizes = result.trace.body_sizes;
        assert!(
            wire.contains(&sizes.encoded) && wire.contains(&sizes.decoded),
            "{lines}: {sizes:?}"
        );
        failed(result);
    }
}

#[tokio::test]
async fn undefined_statuses_have_a_blame() {
    for (status, blame) in [
        (999, FetchBlame::Host),
        (600, FetchBlame::Host),
        (599, FetchBlame::Host),
        (429, FetchBlame::Host),
        (408, FetchBlame::Host),
        (421, FetchBlame::Host),
        (101, FetchBlame::Host),
        (400, FetchBlame::Source),
        (403, FetchBlame::Source),
        (407, FetchBlame::Source),
        (499, FetchBlame::Source),
        (300, FetchBlame::Source),
        (206, FetchBlame::Source),
    ] {
        let server = Server::saying(format!("HTTP/1.1 {status} Odd\r\nContent-Length: 0\r\n\r\n"));
        let result = fetch(&fetcher(), &server.await.url("/")).await;
        assert_eq!(result.blame(), Some(blame), "{status}");
        assert_eq!(failed(result), FetchError::Status { status });
    }
}
