//! Through a proxy.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use freshet_fetch::{Blame, FetchError, Fetcher, Outcome, Phase};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::certificates::{Authority, VALID, named};
use crate::server::{Closed, Server, Step, ok, read_head};
use crate::{failed, fetch, quick_with, settings, text};

/// A proxy that makes tunnels to one server, whatever it is asked for. Says whom it was asked for.
struct Tunnel {
    proxy: Server,
    asked: tokio::sync::mpsc::UnboundedReceiver<String>,
}

async fn tunnel_to(server: &Server) -> Tunnel {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Server::at(listener.local_addr().unwrap());
    let target = server.address;
    let (sender, asked) = tokio::sync::mpsc::unbounded_channel();
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
    Tunnel { proxy, asked }
}

fn through(proxy: &Server, lines: &[&str], more: &str) -> Fetcher {
    let rule = format!(
        "[[rules]]\nmatch = \"*.example\"\nproxy = {{ url = \"http://{}\"{more} }}",
        proxy.address
    );
    Fetcher::new(settings(&format!("{}\n{rule}", quick_with(lines))))
}

const NAMES: &str =
    "resolve = { \"a.example\" = [\"127.0.0.1\"], \"b.example\" = [\"127.0.0.2\"] }";

#[tokio::test]
async fn a_proxy_is_given_the_address_that_was_judged() {
    let server = Server::always(ok("x")).await;
    let mut tunnel = tunnel_to(&server).await;
    let fetcher = through(&tunnel.proxy, &[NAMES], "");
    let answer = fetch(&fetcher, "http://a.example/page").await;
    assert_eq!(answer.trace.hops[0].address, Some(tunnel.proxy.address));
    assert_eq!(text(answer), "x");
    assert!(tunnel.asked.recv().await.unwrap().starts_with("CONNECT 127.0.0.1:80 HTTP/1.1\r\n"));
    assert!(server.heads()[0].contains("host: a.example\r\n"));
    let refused = fetch(&fetcher, "http://b.example/").await;
    assert!(matches!(refused.outcome, Outcome::Refused(_)), "{refused:?}");
    assert!(tunnel.asked.try_recv().is_err());
}

#[tokio::test]
async fn a_trusted_proxy_is_given_names() {
    let proxy = Server::always(ok("x")).await;
    let fetcher = through(&proxy, &[], ", trusted = true");
    assert_eq!(text(fetch(&fetcher, "http://unknown.example/page?x").await), "x");
    let head = &proxy.heads()[0];
    assert!(head.starts_with("GET http://unknown.example/page?x HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("host: unknown.example\r\n"));
    // Addresses are judged all the same.
    let rule = format!(
        "[[rules]]\nmatch = \"*\"\nproxy = {{ url = \"http://{}\", trusted = true }}",
        proxy.address
    );
    let fetcher = Fetcher::new(settings(&format!("{}\n{rule}", quick_with(&["allow = []"]))));
    let refused = fetch(&fetcher, "http://169.254.169.254/").await;
    assert!(matches!(refused.outcome, Outcome::Refused(_)), "{refused:?}");
}

#[tokio::test]
async fn secure_connections_go_through() {
    let authority = Authority::new();
    let server = authority.server(&VALID, ok("x")).await;
    let [roots, names] = named(&authority);
    let mut tunnel = tunnel_to(&server).await;
    let fetcher = through(&tunnel.proxy, &[&roots, &names], "");
    assert_eq!(text(fetch(&fetcher, "https://secure.example/").await), "x");
    assert!(tunnel.asked.recv().await.unwrap().starts_with("CONNECT 127.0.0.1:443 "));
    let trusting = through(&tunnel.proxy, &[&roots], ", trusted = true");
    assert_eq!(text(fetch(&trusting, "https://secure.example/").await), "x");
    assert!(tunnel.asked.recv().await.unwrap().starts_with("CONNECT secure.example:443 "));
}

// A machine without IPv6 gets addresses of it all the same, and often first.
#[tokio::test]
async fn a_proxy_is_asked_for_one_address_after_the_other() {
    let server = Server::always(ok("x")).await;
    let target = server.address;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = Server::at(listener.local_addr().unwrap());
    let (sender, mut asked) = tokio::sync::mpsc::unbounded_channel();
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
    let fetcher = through(&proxy, &[names, allow], "");
    assert_eq!(text(fetch(&fetcher, "http://both.example/").await), "x");
    // What did not pass the guard is asked of nobody.
    assert_eq!(asked.recv().await.unwrap(), "[::1]:80");
    assert_eq!(asked.recv().await.unwrap(), "127.0.0.1:80");
    assert!(asked.try_recv().is_err());
}

#[tokio::test]
async fn a_proxy_that_wants_to_know_who_we_are() {
    // Of a tunnel it is not asked again for the next address, and as an answer it is not the host's.
    let proxy = Server::saying("HTTP/1.1 407 Who\r\n\r\n").await;
    let names = "resolve = { \"a.example\" = [\"127.0.0.1\", \"::1\"] }";
    for (more, allow) in
        [("", "allow = [\"127.0.0.1\", \"::1\"]"), (", trusted = true", "allow = []")]
    {
        let answer = fetch(&through(&proxy, &[names, allow], more), "http://a.example/").await;
        assert_eq!(failed(answer), FetchError::Proxy { status: Some(407) });
    }
    assert_eq!(proxy.heads().len(), 2);
}

#[tokio::test]
async fn a_proxy_that_does_not_let_us_through() {
    for (says, status) in [
        ("HTTP/1.1 407 Who\r\n\r\n", Some(407)),
        ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfake", Some(200)),
        ("garbage\r\n\r\n", None),
        ("", None),
    ] {
        let proxy = Server::saying(says).await;
        let error = failed(fetch(&through(&proxy, &[NAMES], ""), "http://a.example/").await);
        assert_eq!(error, FetchError::Proxy { status }, "{says}");
    }
}

#[tokio::test]
async fn a_proxy_that_is_not_there() {
    let closed = Closed::new();
    let gone = closed.address;
    for more in ["", ", trusted = true"] {
        let fetcher = through(&Server::at(gone), &[NAMES], more);
        let answer = fetch(&fetcher, "http://a.example/").await;
        assert_eq!(answer.blame(), Some(Blame::Us));
        let (proxy, kind) = (gone.to_string(), Some(ErrorKind::ConnectionRefused));
        assert_eq!(failed(answer), FetchError::NoProxy { proxy, kind });
    }
    let rule = "[[rules]]\nmatch = \"*\"\nproxy = { url = \"http://a..b.test:1\" }";
    let fetcher = Fetcher::new(settings(&format!("{}\n{rule}", quick_with(&[NAMES]))));
    let error = failed(fetch(&fetcher, "http://a.example/").await);
    assert_eq!(error, FetchError::NoProxy { proxy: "a..b.test:1".to_owned(), kind: None });
    assert_eq!(error.name(), "proxy");
}

#[tokio::test]
async fn a_proxy_that_says_nothing() {
    let proxy = Server::always(vec![Step::Hang]).await;
    let answer =
        fetch(&through(&proxy, &[NAMES, "connect = \"200ms\""], ""), "http://a.example/").await;
    assert_eq!(answer.blame(), Some(Blame::Us));
    let error = failed(answer);
    let after = Duration::from_millis(200);
    assert_eq!(error, FetchError::Timeout { phase: Phase::Proxy, after });
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
        text(fetch(&through(&tunnel.proxy, &[NAMES], &basic), "http://a.example/").await),
        "x"
    );
    let expect = "Proxy-Authorization: Basic bWU6aHVudGVyMg==\r\n";
    assert!(tunnel.asked.recv().await.unwrap().contains(expect));
    assert!(!server.heads()[0].to_lowercase().contains("proxy-authorization"));
}
