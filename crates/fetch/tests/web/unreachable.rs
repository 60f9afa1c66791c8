//! Unreachable hosts have a named outcome, which is the same for robots.txt and for the page.

use std::net::Ipv4Addr;

use freshet_fetch::{
    FetchBlame, FetchError, FetchOutcome, FetchResponse, ProtocolFault, RobotsReason, TimeoutPhase,
    TlsFault,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::certificates::{Authority, Shown, VALID, named};
use crate::dns::NameServer;
use crate::server::{Closed, Server, Step, ok, reply};
use crate::{failed, fetch, fetcher_with};

/// Fetches with and without robots.txt. Both must fail for the same reason; the record tells them
/// apart.
async fn check(
    url: &str,
    lines: &[&str],
    blame: FetchBlame,
    is_expected: impl Fn(&FetchError) -> bool,
) {
    for obeyed in [true, false] {
        let robots = format!("robots = {obeyed}");
        let result = fetch(&fetcher_with(&[lines, &[robots.as_str()]].concat()), url).await;
        let FetchResponse { outcome: FetchOutcome::Failed(error), trace } = &result else {
            panic!("{url}, {obeyed}: {result:?}")
        };
        assert!(is_expected(error), "{url}, {obeyed}: {error:?}");
        assert_eq!(result.blame(), Some(blame), "{url}, {obeyed}: {error}");
        match trace.robots.as_ref().map(|it| (it.allowed, &it.reason)) {
            Some((false, RobotsReason::Unreachable(cause))) if obeyed => assert_eq!(cause, error),
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
        FetchBlame::Host,
        |error| matches!(error, FetchError::Tls { fault, .. } if *fault == expect),
    )
    .await;
}

#[tokio::test]
async fn an_unresolvable_name_fails() {
    let names = NameServer::new(60, |_| Vec::new()).await;
    let dns = format!("dns = [\"{}\"]", names.address);
    check(
        "http://nobody.example/",
        &[&dns],
        FetchBlame::Host,
        |error| matches!(error, FetchError::NoSuchHost { host } if host == "nobody.example"),
    )
    .await;
}

#[tokio::test]
async fn a_silent_dns_server_fails() {
    let silent = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let dns = format!("dns = [\"{}\"]", silent.local_addr().unwrap());
    let fetcher = fetcher_with(&["robots = true", &dns, "connect = \"200ms\""]);
    let result = fetch(&fetcher, "http://silent.example/").await;
    assert!(matches!(failed(result).name(), "timeout" | "no-name-server"));
}

#[tokio::test]
async fn a_closed_port_fails() {
    let closed = Closed::new();
    let closed_address = closed.address;
    check(
        &format!("http://{closed_address}/"),
        &[],
        FetchBlame::Host,
        |error| matches!(error, FetchError::Connect { address, .. } if *address == closed_address),
    )
    .await;
}

#[tokio::test]
async fn the_error_names_the_last_address() {
    let names = NameServer::new(60, |_| vec![Ipv4Addr::LOCALHOST; 1]).await;
    let dns = format!("dns = [\"{}\"]", names.address);
    let closed = Closed::new();
    let closed_address = closed.address;
    let url = format!("http://gone.example:{}/", closed_address.port());
    check(&url, &[&dns], FetchBlame::Host, |error| error.name() == "connect").await;
}

#[tokio::test]
async fn invalid_certificates_fail() {
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
    check(&url, &[&names], FetchBlame::Host, |error| {
        matches!(error, FetchError::Tls { fault: TlsFault::UnknownIssuer, .. })
    })
    .await;
}

#[tokio::test]
async fn a_server_without_tls_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::at(listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(&b"220 mail.example ESMTP\r\n".repeat(20)).await;
            let _ = stream.read(&mut [0; 4096]).await;
        }
    });
    check_tls(&Authority::new(), &server, TlsFault::NotTls).await;
}

#[tokio::test]
async fn a_handshake_without_end_times_out() {
    let silent = Server::always(vec![Step::Hang]).await;
    let url = format!("https://127.0.0.1:{}/", silent.port());
    check(&url, &["tls = \"100ms\""], FetchBlame::Host, |error| {
        matches!(error, FetchError::Timeout { phase: TimeoutPhase::Tls, .. })
    })
    .await;
}

#[tokio::test]
async fn slow_headers() {
    for partial_head in ["", "HTTP/1.1 200 OK\r\nX: "] {
        let server = Server::always(vec![Step::Send(partial_head.into()), Step::Hang]).await;
        check(&server.url("/"), &["first_byte = \"100ms\""], FetchBlame::Host, |error| {
            matches!(error, FetchError::Timeout { phase: TimeoutPhase::FirstByte, .. })
        })
        .await;
    }
}

#[tokio::test]
async fn missing_and_invalid_responses_fail() {
    for (response, expect) in [
        ("", ProtocolFault::Closed),
        ("HTTP/1.1 200 OK\r\nX: y", ProtocolFault::Closed),
        ("garbage\r\n\r\n", ProtocolFault::Head),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", ProtocolFault::Head),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", ProtocolFault::Framing),
    ] {
        let server = Server::saying(response).await;
        check(&server.url("/"), &[], FetchBlame::Host, |error| {
            *error == FetchError::Protocol { fault: expect }
        })
        .await;
    }
}

// A broken body concerns the page alone; a broken robots.txt concerns the whole host.
#[tokio::test]
async fn a_broken_robots_file_is_the_hosts_fault() {
    let gzip = reply("200 OK", "Content-Encoding: gzip\r\n", "not gzip");
    let unknown_coding = reply("200 OK", "Content-Encoding: rot13\r\n", "x");
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
    let short = vec![Step::Send(short.into()), Step::Close];
    let slow =
        vec![Step::Send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".into()), Step::Hang];
    let (long_timeout, short_timeout) = ("body = \"60s\"", "body = \"100ms\"");
    for (steps, limit, name) in [
        (gzip, long_timeout, "encoding"),
        (unknown_coding, long_timeout, "unknown-encoding"),
        (short, long_timeout, "truncated"),
        (slow, short_timeout, "timeout"),
    ] {
        let server = Server::always(steps).await;
        for (robots, blame) in
            [("robots = true", FetchBlame::Host), ("robots = false", FetchBlame::Source)]
        {
            let fetcher = fetcher_with(&[robots, limit]);
            let result = fetch(&fetcher, &server.url("/")).await;
            assert_eq!(result.blame(), Some(blame), "{name}, {robots}");
            assert_eq!(failed(result).name(), name);
        }
    }
}

#[tokio::test]
async fn a_proxy_error_is_our_fault() {
    let proxy = Server::saying("HTTP/1.1 502 Bad Gateway\r\n\r\n").await;
    let names = "resolve = { \"a.example\" = [\"127.0.0.1\"] }";
    let rule =
        format!("[[rules]]\nmatch = \"*\"\nproxy = {{ url = \"http://{}\" }}", proxy.address);
    for robots in ["robots = true", "robots = false"] {
        let text = format!("{}\n{rule}", crate::quick_with(&[robots, names]));
        let fetcher = freshet_fetch::Fetcher::new(crate::settings(&text));
        let result = fetch(&fetcher, "http://a.example/").await;
        assert_eq!(result.blame(), Some(FetchBlame::Us));
        assert_eq!(failed(result), FetchError::Proxy { status: Some(502) });
    }
}
