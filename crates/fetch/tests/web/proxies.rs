//! Fetches through a proxy.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::{FetchBlame, FetchError, FetchOutcome, Fetcher, TimeoutPhase};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::certificates::{Authority, VALID, named};
use crate::server::{Closed, Server, Step, ok, read_head};
use crate::{failed, fetch, quick_with, settings, text};

/// Proxy that tunnels every request to one server and records the requested targets.
struct Tunnel {
    proxy: Server,
    requests: tokio::sync::mpsc::UnboundedReceiver<String>,
}

async fn tunnel_to(server: &Server) -> Tunnel {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Server::at(listener.local_addr().unwrap());
    let target = server.address;
    let (sender, requests) = tokio::sync::mpsc::unbounded_channel();
    let sender = Arc::new(sender);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sender = Arc::clone(&sender);
            tokio::spawn(async move {
                let Some(head) = read_head(&mut stream).await else { return };
                let _ = sender.send(head);
                let mut server = TcpStream::connect(target).await.unwrap();
                stream.write_all(b"HTTP/1.1 200 Connected\r\nVia: x\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut server).await;
            });
        }
    });
    Tunnel { proxy, requests }
}

fn fetcher_through(proxy: &Server, lines: &[&str], options: &str) -> Fetcher {
    let rule = format!(
        "[[rules]]\nmatch = \"*.example\"\nproxy = {{ url = \"http://{}\"{options} }}",
        proxy.address
    );
    Fetcher::new(settings(&format!("{}\n{rule}", quick_with(lines))))
}

const NAMES: &str =
    "resolve = { \"a.example\" = [\"127.0.0.1\"], \"b.example\" = [\"127.0.0.2\"] }";

#[tokio::test]
async fn a_proxy_gets_the_address_that_was_checked() {
    let server = Server::always(ok("x")).await;
    let mut tunnel = tunnel_to(&server).await;
    let fetcher = fetcher_through(&tunnel.proxy, &[NAMES], "");
    let result = fetch(&fetcher, "http://a.example/page").await;
    assert_eq!(result.trace.hops[0].address, Some(tunnel.proxy.address));
    assert_eq!(text(result), "x");
    assert!(tunnel.requests.recv().await.unwrap().starts_with("CONNECT 127.0.0.1:80 HTTP/1.1\r\n"));
    assert!(server.heads()[0].contains("host: a.example\r\n"));
    let refused = fetch(&fetcher, "http://b.example/").await;
    assert!(matches!(refused.outcome, FetchOutcome::Refused(_)), "{refused:?}");
    assert!(tunnel.requests.try_recv().is_err());
}

#[tokio::test]
async fn a_trusted_proxy_gets_names() {
    let proxy = Server::always(ok("x")).await;
    let fetcher = fetcher_through(&proxy, &[], ", trusted = true");
    assert_eq!(text(fetch(&fetcher, "http://unknown.example/page?x").await), "x");
    let head = &proxy.heads()[0];
    assert!(head.starts_with("GET http://unknown.example/page?x HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: unknown.example\r\n"));
    // Addresses are checked all the same.
    let rule = format!(
        "[[rules]]\nmatch = \"*\"\nproxy = {{ url = \"http://{}\", trusted = true }}",
        proxy.address
    );
    let fetcher = Fetcher::new(settings(&format!("{}\n{rule}", quick_with(&["allow = []"]))));
    let refused = fetch(&fetcher, "http://169.254.169.254/").await;
    assert!(matches!(refused.outcome, FetchOutcome::Refused(_)), "{refused:?}");
}

#[tokio::test]
async fn tls_connections_are_tunneled() {
    let authority = Authority::new();
    let server = authority.server(&VALID, ok("x")).await;
    let [roots, names] = named(&authority);
    let mut tunnel = tunnel_to(&server).await;
    let fetcher = fetcher_through(&tunnel.proxy, &[&roots, &names], "");
    assert_eq!(text(fetch(&fetcher, "https://secure.example/").await), "x");
    assert!(tunnel.requests.recv().await.unwrap().starts_with("CONNECT 127.0.0.1:443 "));
    let trusting_fetcher = fetcher_through(&tunnel.proxy, &[&roots], ", trusted = true");
    assert_eq!(text(fetch(&trusting_fetcher, "https://secure.example/").await), "x");
    assert!(tunnel.requests.recv().await.unwrap().starts_with("CONNECT secure.example:443 "));
}

// A machine without IPv6 gets IPv6 addresses all the same, and often first.
#[tokio::test]
async fn a_proxy_gets_one_address_after_the_other() {
    let server = Server::always(ok("x")).await;
    let target = server.address;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Server::at(listener.local_addr().unwrap());
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let sender = sender.clone();
            tokio::spawn(async move {
                let head = read_head(&mut stream).await.unwrap();
                let is_v6 = head.starts_with("CONNECT [");
                sender.send(head.split(' ').nth(1).unwrap().to_owned()).unwrap();
                if is_v6 {
                    let _ = stream.write_all(b"HTTP/1.1 502 No Route\r\n\r\n").await;
                    return;
                }
                let mut server = TcpStream::connect(target).await.unwrap();
                stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut server).await;
            });
        }
    });
    let names = "resolve = { \"both.example\" = [\"::1\", \"127.0.0.3\", \"127.0.0.1\"] }";
    let allow = "allow = [\"127.0.0.1\", \"::1\"]";
    let fetcher = fetcher_through(&proxy, &[names, allow], "");
    assert_eq!(text(fetch(&fetcher, "http://both.example/").await), "x");
    // Refused addresses are not requested from the proxy.
    assert_eq!(requests.recv().await.unwrap(), "[::1]:80");
    assert_eq!(requests.recv().await.unwrap(), "127.0.0.1:80");
    assert!(requests.try_recv().is_err());
}

#[tokio::test]
async fn a_407_is_the_proxys_error() {
    // A tunnel is not requested for the next address, and the response does not count as the
    // host's.
    let proxy = Server::saying("HTTP/1.1 407 Who\r\n\r\n").await;
    let names = "resolve = { \"a.example\" = [\"127.0.0.1\", \"::1\"] }";
    for (options, allow) in
        [("", "allow = [\"127.0.0.1\", \"::1\"]"), (", trusted = true", "allow = []")]
    {
        let result =
            fetch(&fetcher_through(&proxy, &[names, allow], options), "http://a.example/").await;
        assert_eq!(failed(result), FetchError::Proxy { status: Some(407) });
    }
    assert_eq!(proxy.heads().len(), 2);
}

#[tokio::test]
async fn a_refusing_proxy_fails() {
    for (response, status) in [
        ("HTTP/1.1 407 Who\r\n\r\n", Some(407)),
        ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfake", Some(200)),
        ("garbage\r\n\r\n", None),
        ("", None),
    ] {
        let proxy = Server::saying(response).await;
        let error =
            failed(fetch(&fetcher_through(&proxy, &[NAMES], ""), "http://a.example/").await);
        assert_eq!(error, FetchError::Proxy { status }, "{response}");
    }
}

#[tokio::test]
async fn an_unreachable_proxy_fails() {
    let closed = Closed::new();
    let closed_address = closed.address;
    for options in ["", ", trusted = true"] {
        let fetcher = fetcher_through(&Server::at(closed_address), &[NAMES], options);
        let result = fetch(&fetcher, "http://a.example/").await;
        assert_eq!(result.blame(), Some(FetchBlame::Us));
        let (proxy, kind) = (closed_address.to_string(), Some(ErrorKind::ConnectionRefused));
        assert_eq!(failed(result), FetchError::ProxyUnreachable { proxy, kind });
    }
    let rule = "[[rules]]\nmatch = \"*\"\nproxy = { url = \"http://a..b.test:1\" }";
    let fetcher = Fetcher::new(settings(&format!("{}\n{rule}", quick_with(&[NAMES]))));
    let error = failed(fetch(&fetcher, "http://a.example/").await);
    assert_eq!(error, FetchError::ProxyUnreachable { proxy: "a..b.test:1".to_owned(), kind: None });
    assert_eq!(error.name(), "proxy");
}

#[tokio::test]
async fn a_silent_proxy_times_out() {
    let proxy = Server::always(vec![Step::Hang]).await;
    let result =
        fetch(&fetcher_through(&proxy, &[NAMES, "connect = \"200ms\""], ""), "http://a.example/")
            .await;
    assert_eq!(result.blame(), Some(FetchBlame::Us));
    let error = failed(result);
    let after = Duration::from_millis(200);
    assert_eq!(error, FetchError::Timeout { phase: TimeoutPhase::Proxy, after });
    assert!(error.to_string().contains("proxy"), "{error}");
}

#[tokio::test]
async fn the_password_of_a_proxy_is_for_the_proxy() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hunter2").unwrap();
    let basic = format!(
        ", basic = {{ user = \"me\", password = {{ file = \"{}\" }} }}",
        file.path().display()
    );
    let server = Server::always(ok("x")).await;
    let mut tunnel = tunnel_to(&server).await;
    assert_eq!(
        text(fetch(&fetcher_through(&tunnel.proxy, &[NAMES], &basic), "http://a.example/").await),
        "x"
    );
    let expect = "Proxy-Authorization: Basic bWU6aHVudGVyMg==\r\n";
    assert!(tunnel.requests.recv().await.unwrap().contains(expect));
    assert!(!server.heads()[0].to_lowercase().contains("proxy-authorization"));
}
