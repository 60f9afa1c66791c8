//! Hosts that cannot be reached have their own named outcome, also if it is robots.txt that is asked for
//! first: the one that the page itself would have.

use std::net::Ipv4Addr;

use freshet_fetch::{Answer, Because, Blame, FetchError, Outcome, Phase, ProtocolFault, TlsFault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::certificates::{Authority, Shown, VALID, named};
use crate::names::NameServer;
use crate::server::{Closed, Server, Step, ok, reply};
use crate::{failed, fetch, fetcher_with};

/// Fetches with robots.txt obeyed and not. Both must fail for the same reason; the record tells them
/// apart.
async fn check(url: &str, lines: &[&str], blame: Blame, is_expected: impl Fn(&FetchError) -> bool) {
    for obeyed in [true, false] {
        let robots = format!("robots = {obeyed}");
        let answer = fetch(&fetcher_with(&[lines, &[robots.as_str()]].concat()), url).await;
        let Answer { outcome: Outcome::Failed(error), trace } = &answer else {
            panic!("{url}, {obeyed}: {answer:?}")
        };
        assert!(is_expected(error), "{url}, {obeyed}: {error:?}");
        assert_eq!(answer.blame(), Some(blame), "{url}, {obeyed}: {error}");
        match trace.robots.as_ref().map(|it| (it.allowed, &it.because)) {
            Some((false, Because::Unreachable(cause))) if obeyed => assert_eq!(cause, error),
            None if !obeyed => {}
            other => panic!("{url}, {obeyed}: {other:?}"),
        }
    }
}

async fn check_tls(authority: &Authority, server: &Server, expect: TlsFault) {
    let [roots, names] = named(authority);
    let url = format!("https://secure.example:{}/", server.port());
    check(
        &url,
        &[&roots, &names],
        Blame::Host,
        |error| matches!(error, FetchError::Tls { fault, .. } if *fault == expect),
    )
    .await;
}

#[tokio::test]
async fn a_name_that_does_not_resolve() {
    let names = NameServer::new(60, |_| Vec::new()).await;
    let dns = format!("dns = [\"{}\"]", names.address);
    check(
        "http://nobody.example/",
        &[&dns],
        Blame::Host,
        |error| matches!(error, FetchError::NoSuchHost { host } if host == "nobody.example"),
    )
    .await;
}

#[tokio::test]
async fn no_name_server() {
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let dns = format!("dns = [\"{}\"]", silent.local_addr().unwrap());
    let fetcher = fetcher_with(&["robots = true", &dns, "connect = \"200ms\""]);
    let answer = fetch(&fetcher, "http://silent.example/").await;
    assert!(matches!(failed(answer).name(), "timeout" | "no-name-server"));
}

#[tokio::test]
async fn nobody_listens() {
    let closed = Closed::new();
    let gone = closed.address;
    check(
        &format!("http://{gone}/"),
        &[],
        Blame::Host,
        |error| matches!(error, FetchError::Connect { address, .. } if *address == gone),
    )
    .await;
}

#[tokio::test]
async fn all_addresses_are_tried_and_the_last_is_named() {
    let names = NameServer::new(60, |_| vec![Ipv4Addr::LOCALHOST; 1]).await;
    let dns = format!("dns = [\"{}\"]", names.address);
    let closed = Closed::new();
    let gone = closed.address;
    let url = format!("http://gone.example:{}/", gone.port());
    check(&url, &[&dns], Blame::Host, |error| error.name() == "connect").await;
}

#[tokio::test]
async fn certificates_that_are_not_valid() {
    let authority = Authority::new();
    for (shown, expect) in [
        (Shown { until: 2001, ..VALID }, TlsFault::Expired),
        (Shown { from: 3999, ..VALID }, TlsFault::NotYetValid),
        (Shown { name: "other.example", ..VALID }, TlsFault::WrongName),
    ] {
        check_tls(&authority, &authority.server(&shown, ok("x")).await, expect).await;
    }
    let server = authority.server(&VALID, ok("x")).await;
    let [_, names] = named(&authority);
    let url = format!("https://secure.example:{}/", server.port());
    check(&url, &[&names], Blame::Host, |error| {
        matches!(error, FetchError::Tls { fault: TlsFault::UnknownIssuer, .. })
    })
    .await;
}

#[tokio::test]
async fn what_is_no_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let rude = Server::at(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(&b"220 mail.example ESMTP\r\n".repeat(20)).await;
            let _ = stream.read(&mut [0; 4096]).await;
        }
    });
    check_tls(&Authority::new(), &rude, TlsFault::Garbage).await;
}

#[tokio::test]
async fn a_handshake_that_does_not_end() {
    let silent = Server::always(vec![Step::Hang]).await;
    let url = format!("https://127.0.0.1:{}/", silent.port());
    check(&url, &["tls = \"100ms\""], Blame::Host, |error| {
        matches!(error, FetchError::Timeout { phase: Phase::Tls, .. })
    })
    .await;
}

#[tokio::test]
async fn slow_headers() {
    for begun in ["", "HTTP/1.1 200 OK\r\nX: "] {
        let server = Server::always(vec![Step::Send(begun.into()), Step::Hang]).await;
        check(&server.url("/"), &["first_byte = \"100ms\""], Blame::Host, |error| {
            matches!(error, FetchError::Timeout { phase: Phase::FirstByte, .. })
        })
        .await;
    }
}

#[tokio::test]
async fn no_answer_and_no_sound_one() {
    for (says, expect) in [
        ("", ProtocolFault::Closed),
        ("HTTP/1.1 200 OK\r\nX: y", ProtocolFault::Closed),
        ("garbage\r\n\r\n", ProtocolFault::Head),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", ProtocolFault::Head),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", ProtocolFault::Framing),
    ] {
        let server = Server::saying(says).await;
        check(&server.url("/"), &[], Blame::Host, |error| {
            *error == FetchError::Protocol { fault: expect }
        })
        .await;
    }
}

// A broken body is the page's own affair; of robots.txt it stands between us and the whole host.
#[tokio::test]
async fn a_broken_file_is_a_fault_of_the_host() {
    let gzip = reply("200 OK", "Content-Encoding: gzip\r\n", "not gzip");
    let odd = reply("200 OK", "Content-Encoding: rot13\r\n", "x");
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
    let short = vec![Step::Send(short.into()), Step::Close];
    let slow =
        vec![Step::Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".into()), Step::Hang];
    let (patient, hurried) = ("body = \"60s\"", "body = \"100ms\"");
    for (steps, limit, name) in [
        (gzip, patient, "encoding"),
        (odd, patient, "unknown-encoding"),
        (short, patient, "truncated"),
        (slow, hurried, "timeout"),
    ] {
        let server = Server::always(steps).await;
        for (robots, blame) in [("robots = true", Blame::Host), ("robots = false", Blame::Source)] {
            let fetcher = fetcher_with(&[robots, limit]);
            let answer = fetch(&fetcher, &server.url("/")).await;
            assert_eq!(answer.blame(), Some(blame), "{name}, {robots}");
            assert_eq!(failed(answer).name(), name);
        }
    }
}

#[tokio::test]
async fn proxies_that_do_not_connect() {
    let proxy = Server::saying("HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
    let names = "resolve = { \"a.example\" = [\"127.0.0.1\"] }";
    let rule =
        format!("[[rules]]\nmatch = \"*\"\nproxy = {{ url = \"http://{}\" }}", proxy.address);
    for robots in ["robots = true", "robots = false"] {
        let text = format!("{}\n{rule}", crate::quick_with(&[robots, names]));
        let fetcher = freshet_fetch::Fetcher::new(crate::settings(&text));
        let answer = fetch(&fetcher, "http://a.example/").await;
        assert_eq!(answer.blame(), Some(Blame::Us));
        assert_eq!(failed(answer), FetchError::Proxy { status: Some(502) });
    }
}
