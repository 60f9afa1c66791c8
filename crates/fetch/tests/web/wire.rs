//! HTTP/1.1 byte by byte, as no honest server sends it. Each has its named outcome.

use std::net::IpAddr;

use freshet_fetch::{FetchError, Outcome, ProtocolFault, Refusal, Size};

use crate::guard::FRONT;
use crate::server::{Server, Step, ok, redirect, reply};
use crate::{failed, fetch, fetcher, fetcher_with, text};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const FRAMING: FetchError = FetchError::Protocol { fault: ProtocolFault::Framing };

async fn flooded(start: &str, flood: &str) -> FetchError {
    let steps = vec![Step::Send(start.into()), Step::Flood(flood.repeat(1000).into())];
    let server = Server::always(steps).await;
    failed(fetch(&fetcher(), &server.url("/")).await)
}

#[tokio::test]
async fn chunks_with_something_without_end() {
    for (start, flood) in [
        ("3;", "x"),
        ("3;a=\"", "x"),
        ("3\r\nabc\r\n0\r\n", "X: y\r\n"),
        ("0\r\nX: ", "y"),
        ("3 ", " "),
        ("", "0"),
    ] {
        let error = flooded(&format!("{CHUNKED}{start}"), flood).await;
        let is_large = matches!(error, FetchError::TooLarge { what: Size::Frames, .. });
        assert!(error == FRAMING || is_large, "{start:?} and {flood:?}: {error:?}");
    }
    // Each of one byte, with an extension: more on the wire than in the body.
    let error = flooded(CHUNKED, "1;extension=of-this-chunk\r\nx\r\n").await;
    assert!(matches!(error.name(), "too-large" | "protocol"), "{error:?}");
}

#[tokio::test]
async fn heads_with_something_without_end() {
    for (start, flood) in [
        ("HTTP/1.1 200 ", "O"),
        ("HTTP/1.1 200 OK\r\n", "X"),
        ("HTTP/1.1 200 OK\r\nX: ", "y"),
        ("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
        ("HTTP/1.1 302 Found\r\nLocation: /", "x"),
    ] {
        let error = flooded(start, flood).await;
        let expect = FetchError::TooLarge { what: Size::Head, limit: 64 << 10 };
        assert_eq!(error, expect, "{start:?} and {flood:?}");
    }
    for flood in ["\r\n", " ", "\0", "H"] {
        let error = flooded("", flood).await;
        assert!(
            matches!(error.name(), "protocol" | "too-large" | "timeout"),
            "{flood:?}: {error:?}"
        );
    }
}

#[tokio::test]
async fn lengths_that_say_two_things() {
    let head = "HTTP/1.1 200 OK\r\n";
    // RFC 9112 §6.3: chunks win over a length.
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
async fn bodies_where_none_belongs() {
    for status in ["204 No Content", "205 Reset"] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 3\r\n\r\nabc");
        let server = Server::always(vec![Step::Send(answer.into()), Step::Close]).await;
        let outcome = fetch(&fetcher(), &server.url("/")).await.outcome;
        assert!(matches!(outcome, Outcome::Content(_)), "{status}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_location_of_ten_megabytes() {
    let to = format!("/{}", "x".repeat(10 << 20));
    let server = Server::always(redirect("302 Found", &to)).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooLarge { what: Size::Head, limit: 64 << 10 });
    // One that fits into a head, but into no request.
    let server = Server::always(redirect("302 Found", &format!("/{}", "x".repeat(20_000)))).await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "url");
    assert_eq!(server.paths().len(), 1);
}

#[tokio::test]
async fn locations_that_hide_where_they_lead() {
    let inside = Server::always(ok("secret")).await;
    let port = inside.port();
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
        let answer = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
        match &answer.outcome {
            Outcome::Refused(Refusal::Address { address, .. }) => {
                assert_eq!(*address, IpAddr::from([127, 0, 0, 1]), "{to}");
            }
            other => panic!("{to:?}: {other:?}"),
        }
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn locations_with_line_breaks_stay_in_their_line() {
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
    // A line that goes on in the next one (RFC 9112 §5.2) is no head.
    let folded = reply("302 Found", "Location: /a\r\n /b\r\n", "");
    let answer = fetch(&fetcher(), &Server::always(folded).await.url("/")).await;
    assert!(matches!(failed(answer).name(), "protocol" | "no-location" | "redirect-loop"));
}

#[tokio::test]
async fn nobody_waits_for_the_rest_of_a_connection() {
    // A length of nothing and a flood after it: the page is whole, and the connection is not kept.
    let start = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
    let steps = vec![Step::Send(start.into()), Step::Flood(b"HTTP/1.1 200 OK\r\n".repeat(1000))];
    let server = Server::always(steps).await;
    let fetcher = fetcher();
    assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "x");
}
