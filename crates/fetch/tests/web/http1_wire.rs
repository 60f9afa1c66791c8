//! Invalid HTTP/1.1, byte by byte. Each case has a named outcome.

use std::net::IpAddr;

use freshet_fetch::{FetchError, FetchOutcome, GuardRefusal, ProtocolFault, ResponsePart};

use crate::guard::FRONT;
use crate::server::{Server, Step, ok, redirect, reply};
use crate::{failed, fetch, fetcher, fetcher_with, text};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const FRAMING: FetchError = FetchError::Protocol { fault: ProtocolFault::Framing };

async fn flood_error(start: &str, flood: &str) -> FetchError {
    let steps = vec![Step::Send(start.into()), Step::Flood(flood.repeat(1000).into())];
    let server = Server::always(steps).await;
    failed(fetch(&fetcher(), &server.url("/")).await)
}

#[tokio::test]
async fn endless_chunk_parts_fail() {
    for (start, flood) in [
        ("3;", "x"),
        ("3;a=\"", "x"),
        ("3\r\nabc\r\n0\r\n", "X: y\r\n"),
        ("0\r\nX: ", "y"),
        ("3 ", " "),
        ("", "0"),
    ] {
        let error = flood_error(&format!("{CHUNKED}{start}"), flood).await;
        let is_large = matches!(error, FetchError::TooLarge { part: ResponsePart::Framing, .. });
        assert!(error == FRAMING || is_large, "{start:?} and {flood:?}: {error:?}");
    }
    // Chunks of one byte with an extension: more bytes on the wire than in the body.
    let error = flood_error(CHUNKED, "1;extension=of-this-chunk\r\nx\r\n").await;
    assert!(matches!(error.name(), "too-large" | "protocol"), "{error:?}");
}

#[tokio::test]
async fn endless_head_parts_fail() {
    for (start, flood) in [
        ("HTTP/1.1 200 ", "O"),
        ("HTTP/1.1 200 OK\r\n", "X"),
        ("HTTP/1.1 200 OK\r\nX: ", "y"),
        ("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
        ("HTTP/1.1 302 Found\r\nLocation: /", "x"),
    ] {
        let error = flood_error(start, flood).await;
        let expect = FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 };
        assert_eq!(error, expect, "{start:?} and {flood:?}");
    }
    for flood in ["\r\n", " ", "\0", "H"] {
        let error = flood_error("", flood).await;
        assert!(
            matches!(error.name(), "protocol" | "too-large" | "timeout"),
            "{flood:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn ambiguous_lengths_are_handled_by_rfc_9112() {
    let head = "HTTP/1.1 200 OK\r\n";
    // RFC 9112 §6.3: chunked wins over a length.
    for lines in [
        "Content-Length: 99\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1",
    ] {
        let server = Server::saying(format!("{head}{lines}\r\n\r\n3\r\nabc\r\n0\r\n\r\n")).await;
        assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "abc", "{lines}");
    }
    for lines in [
        "Content-Length: 3\r\nContent-Length: 4",
        "Content-Length: 3, 4",
        "Content-Length: -3",
        "Content-Length: +3",
        "Content-Length: 3.0",
        "Content-Length: 0x3",
        "Content-Length: 99999999999999999999999",
        "Content-Length: ",
    ] {
        let server = Server::saying(format!("{head}{lines}\r\n\r\nabc")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert_eq!(error, FetchError::Protocol { fault: ProtocolFault::Head }, "{lines}");
    }
    let server =
        Server::saying(format!("{head}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc")).await;
    assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "abc");
}

#[tokio::test]
async fn bodies_of_bodiless_statuses_are_ignored() {
    for status in ["204 No Content", "205 Reset"] {
        let result = format!("HTTP/1.1 {status}\r\nContent-Length: 3\r\n\r\nabc");
        let server = Server::always(vec![Step::Send(result.into()), Step::Close]).await;
        let outcome = fetch(&fetcher(), &server.url("/")).await.outcome;
        assert!(matches!(outcome, FetchOutcome::Content(_)), "{status}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_huge_location_fails() {
    let to = format!("/{}", "x".repeat(10 << 20));
    let server = Server::always(redirect("302 Found", &to)).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { part: ResponsePart::Head, limit: 64 << 10 });
    // A location that fits into a head, but not into a request.
    let server = Server::always(redirect("302 Found", &format!("/{}", "x".repeat(20_000)))).await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "url");
    assert_eq!(server.paths().len(), 1);
}

#[tokio::test]
async fn disguised_redirects_to_loopback_are_refused() {
    let private_server = Server::always(ok("secret")).await;
    let port = private_server.port();
    for to in [
        format!("//user@127.0.0.1:{port}/"),
        format!("http://front.example@127.0.0.1:{port}/"),
        format!("http://[::ffff:7f00:1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://127.1:{port}/"),
        format!("http://0x7f000001:{port}/"),
        format!("http:/\\/127.0.0.1:{port}/"),
        format!("\\\\127.0.0.1:{port}\\"),
        format!(" http://127.0.0.1:{port}/ "),
        format!("http://127.0.0.1:{port}#@front.example/"),
        format!("http://127.0.0.1:{port}?@front.example/"),
        format!("ht\ttp://127.0\t.0.1:{port}/"),
    ] {
        let server = Server::always(redirect("302 Found", &to)).await;
        let fetcher = fetcher_with(&["allow = [\"front.example\"]", FRONT]);
        let result = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
        match &result.outcome {
            FetchOutcome::Refused(GuardRefusal::Address { address, .. }) => {
                assert_eq!(*address, IpAddr::from([127, 0, 0, 1]), "{to}");
            }
            other => panic!("{to:?}: {other:?}"),
        }
    }
    assert_eq!(private_server.connections(), 0);
}

#[tokio::test]
async fn line_breaks_in_a_location_do_not_inject_headers() {
    for (to, path) in
        [("/a%0d%0aX: y", "/a%0d%0aX:%20y"), ("/a\tb", "/ab"), ("/a b\"<", "/a%20b%22%3C")]
    {
        let server = Server::new(move |path, _| match path {
            "/" => redirect("302 Found", to),
            _ => ok("x"),
        })
        .await;
        assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "x", "{to:?}");
        assert_eq!(server.paths(), ["/", path]);
        assert!(!server.heads()[1].to_lowercase().contains("\nx:"), "{}", server.heads()[1]);
    }
    // A folded line (RFC 9112 §5.2) makes the head invalid.
    let folded = reply("302 Found", "Location: /a\r\n /b\r\n", "");
    let result = fetch(&fetcher(), &Server::always(folded).await.url("/")).await;
    assert!(matches!(failed(result).name(), "protocol" | "no-location" | "redirect-loop"));
}

#[tokio::test]
async fn data_after_the_body_is_not_awaited() {
    // A short body with a flood after it: the page is complete, and the connection is not reused.
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let steps = vec![Step::Send(start.into()), Step::Flood(b"HTTP/1.1 200 OK\r\n".repeat(1000))];
    let server = Server::always(steps).await;
    let fetcher = fetcher();
    assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "x");
}
