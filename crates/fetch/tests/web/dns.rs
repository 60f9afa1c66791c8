//! DNS, with servers written for the tests.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use freshet_fetch::{AddressKind, FetchBlame, FetchError, FetchOutcome, Fetcher, GuardRefusal};
use tokio::net::UdpSocket;

use crate::server::{Closed, Server, Step, ok, redirect};
use crate::{failed, fetch, fetcher_with, text};

/// DNS server that answers for all names, by the number of the query, with a TTL.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    query_count: Arc<Mutex<usize>>,
}

impl NameServer {
    pub(crate) async fn new<F>(seconds: u32, answer: F) -> Self
    where
        F: Fn(usize) -> Vec<Ipv4Addr> + Send + 'static,
    {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let query_count = Arc::new(Mutex::new(0));
        let count = Arc::clone(&query_count);
        tokio::spawn(async move {
            let mut buffer = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let addresses = if is_for_v4(&buffer[..length]) {
                    let mut count = count.lock().unwrap();
                    *count += 1;
                    answer(*count)
                } else {
                    Vec::new()
                };
                let reply = reply(&buffer[..length], &addresses, seconds);
                let _ = socket.send_to(&reply, from).await;
            }
        });
        Self { address, query_count }
    }

    fn query_count(&self) -> usize {
        *self.query_count.lock().unwrap()
    }

    fn fetcher(&self, lines: &[&str]) -> Fetcher {
        let dns = format!("dns = [\"{}\"]", self.address);
        fetcher_with(&[&[dns.as_str()], lines].concat())
    }
}

/// Returns the end of the question (RFC 1035 §4.1.2).
fn question_end(message: &[u8]) -> usize {
    let mut at = 12;
    while message[at] != 0 {
        at += 1 + usize::from(message[at]);
    }
    at + 5
}

fn is_for_v4(message: &[u8]) -> bool {
    let end = question_end(message);
    message[end - 4..end - 2] == [0, 1]
}

fn reply(question: &[u8], addresses: &[Ipv4Addr], seconds: u32) -> Vec<u8> {
    let mut reply = question[..2].to_vec();
    reply.extend([0x81, 0x80, 0, 1, 0, addresses.len() as u8, 0, 0, 0, 0]);
    reply.extend(&question[12..question_end(question)]);
    for address in addresses {
        reply.extend([0xc0, 12, 0, 1, 0, 1]);
        reply.extend(seconds.to_be_bytes());
        reply.extend([0, 4]);
        reply.extend(address.octets());
    }
    reply
}

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const INSIDE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

#[tokio::test]
async fn name_that_resolves_to_a_private_address() {
    let server = Server::always(ok("secret")).await;
    let names = NameServer::new(60, |_| vec![Ipv4Addr::new(10, 1, 2, 3), INSIDE]).await;
    let fetcher = names.fetcher(&["allow = []"]);
    let url = format!("http://public.example:{}/", server.port());
    match fetch(&fetcher, &url).await.outcome {
        FetchOutcome::Refused(GuardRefusal::Address { host, kind: zone, .. }) => {
            assert_eq!(host, "public.example");
            assert!(matches!(zone, AddressKind::Private | AddressKind::Loopback));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn name_that_resolves_differently_the_second_time() {
    let server = Server::new(|_, _| [ok("x"), vec![Step::Close]].concat()).await;
    // Allowed at first; then, with a TTL of 0, an address that is not.
    let names =
        NameServer::new(0, |number| vec![if number == 1 { LOOPBACK } else { INSIDE }]).await;
    let fetcher = names.fetcher(&["kept = 0"]);
    let url = format!("http://rebinding.example:{}/", server.port());
    let first = fetch(&fetcher, &url).await;
    // One lookup for the check and the connection.
    assert_eq!(names.query_count(), 1);
    assert_eq!(first.trace.hops[0].address, Some(server.address));
    assert_eq!(text(first), "x");
    match fetch(&fetcher, &url).await.outcome {
        FetchOutcome::Refused(GuardRefusal::Address { address, .. }) => assert_eq!(address, INSIDE),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn robots_and_page_are_checked_separately() {
    let server = Server::new(|_, _| [ok(""), vec![Step::Close]].concat()).await;
    let names =
        NameServer::new(0, |number| vec![if number == 1 { LOOPBACK } else { INSIDE }]).await;
    let fetcher = names.fetcher(&["robots = true", "kept = 0"]);
    let url = format!("http://rebinding.example:{}/page", server.port());
    let answer = fetch(&fetcher, &url).await;
    assert!(matches!(answer.outcome, FetchOutcome::Refused(_)), "{answer:?}");
    assert_eq!(server.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn each_address_of_a_name_is_checked() {
    let server = Server::always(ok("x")).await;
    let names = NameServer::new(60, |_| vec![Ipv4Addr::new(10, 0, 0, 1), INSIDE, LOOPBACK]).await;
    let url = format!("http://several.example:{}/", server.port());
    let answer = fetch(&names.fetcher(&[]), &url).await;
    assert_eq!(answer.trace.hops[0].address, Some(server.address));
    assert_eq!(text(answer), "x");
}

#[tokio::test]
async fn dns_answers_are_cached_for_their_ttl() {
    let server = Server::always(ok("x")).await;
    let url = format!("http://kept.example:{}/", server.port());
    for (seconds, expect) in [(3600, 1), (0, 3)] {
        let names = NameServer::new(seconds, |_| vec![LOOPBACK]).await;
        let fetcher = names.fetcher(&["kept = 0"]);
        for _ in 0..3 {
            assert_eq!(text(fetch(&fetcher, &url).await), "x");
        }
        assert_eq!(names.query_count(), expect, "{seconds}");
    }
}

#[tokio::test]
async fn a_name_without_an_address_fails() {
    let names = NameServer::new(60, |_| Vec::new()).await;
    let error = failed(fetch(&names.fetcher(&[]), "http://nobody.example/").await);
    assert_eq!(error, FetchError::NoSuchHost { host: "nobody.example".to_owned() });
}

#[tokio::test]
async fn a_silent_dns_server_times_out() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let dns = format!("dns = [\"{}\"]", silent.local_addr().unwrap());
    let fetcher = fetcher_with(&[&dns, "connect = \"200ms\""]);
    let error = failed(fetch(&fetcher, "http://silent.example/").await);
    assert!(matches!(error.name(), "timeout" | "no-name-server"), "{error:?}");
}

#[tokio::test]
async fn static_addresses_are_checked_too() {
    let server = Server::always(ok("x")).await;
    let url = format!("http://given.example:{}/", server.port());
    let static_address =
        |address: &str| format!("resolve = {{ \"Given.Example.\" = [\"{address}\"] }}");
    assert_eq!(text(fetch(&fetcher_with(&[&static_address("127.0.0.1")]), &url).await), "x");
    assert!(server.heads()[0].contains(&format!("host: given.example:{}\r\n", server.port())));
    let refused = fetch(&fetcher_with(&[&static_address("127.0.0.2")]), &url).await;
    assert!(matches!(refused.outcome, FetchOutcome::Refused(_)), "{refused:?}");
}

#[tokio::test]
async fn a_name_may_have_a_thousand_addresses() {
    // All of them are checked; some of the allowed ones are tried, so that each has enough time.
    let closed = Closed::new();
    let closed_address = closed.address;
    let names = NameServer::new(60, |_| vec![LOOPBACK; 60]).await;
    let url = format!("http://many.example:{}/", closed_address.port());
    assert_eq!(failed(fetch(&names.fetcher(&[]), &url).await).name(), "connect");
    let server = Server::always(ok("x")).await;
    let inside = |number: u32| Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 0, 0, 0)) + number);
    let list: Vec<String> = (0..1000).map(|it| format!("\"{}\"", inside(it))).collect();
    let many = format!("resolve = {{ \"many.example\" = [{}, \"127.0.0.1\"] }}", list.join(", "));
    let url = format!("http://many.example:{}/", server.port());
    assert_eq!(text(fetch(&fetcher_with(&[&many]), &url).await), "x");
}

/// DNS server that answers with an alias, chosen by a function.
async fn aliases(alias: fn(&[u8]) -> Vec<u8>) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let question = &buffer[..length];
            let name = alias(&question[12..question_end(question) - 4]);
            let mut reply = question[..2].to_vec();
            reply.extend([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
            reply.extend(&question[12..question_end(question)]);
            reply.extend([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, name.len() as u8]);
            reply.extend(name);
            let _ = socket.send_to(&reply, from).await;
        }
    });
    address
}

#[tokio::test]
async fn endless_aliases_fail() {
    // The name itself, and one that grows each time.
    let longer = |name: &[u8]| [b"\x01x", name].concat();
    for alias in [(|name: &[u8]| name.to_vec()) as fn(&[u8]) -> Vec<u8>, longer] {
        let dns = format!("dns = [\"{}\"]", aliases(alias).await);
        let fetcher = fetcher_with(&[&dns, "connect = \"2s\""]);
        let error = failed(fetch(&fetcher, "http://circle.example/").await);
        assert!(matches!(error.name(), "no-such-host" | "no-name-server" | "timeout"), "{error:?}");
    }
}

// RFC 2181 §11: a label may be any bytes, up to 63.
#[tokio::test]
async fn names_with_unusual_labels_resolve() {
    let server = Server::always(ok("x")).await;
    let names = NameServer::new(60, |_| vec![LOOPBACK]).await;
    let fetcher = names.fetcher(&[]);
    for name in ["exa_mple.t.test", "-a.test", "_dmarc.b.test", "a-.test", "dot.test."] {
        let url = format!("http://{name}:{}/", server.port());
        assert_eq!(text(fetch(&fetcher, &url).await), "x", "{name}");
    }
    assert_eq!(names.query_count(), 5);
}

#[tokio::test]
async fn invalid_names_are_not_our_fault() {
    let names = NameServer::new(60, |_| vec![LOOPBACK]).await;
    let fetcher = names.fetcher(&[]);
    let (long, longer) = ("a".repeat(64), "a23456789.".repeat(26));
    for name in ["a..b.test", ".a.test", &format!("{long}.test"), &format!("{longer}test")] {
        let hostile = redirect("302 Found", &format!("http://{name}/"));
        let server = Server::always(hostile).await;
        for url in [format!("http://{name}/"), server.url("/")] {
            let error = failed(fetch(&fetcher, &url).await);
            assert_ne!(error.blame(), FetchBlame::Us, "{url}: {error:?}");
            assert!(matches!(error.name(), "no-such-host" | "no-location"), "{url}: {error:?}");
        }
    }
    assert_eq!(names.query_count(), 0);
}

/// DNS server that answers with a response code, and optionally not at all for IPv6.
async fn coded(code: u8, is_mute: bool) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            let question = &buffer[..length];
            if is_mute && !is_for_v4(question) {
                continue;
            }
            let addresses: &[Ipv4Addr] = if code == 0 { &[LOOPBACK] } else { &[] };
            let mut reply = reply(question, addresses, 60);
            reply[3] |= code;
            let _ = socket.send_to(&reply, from).await;
        }
    });
    address
}

// RFC 1035 §4.1.1: 2 means that the name's servers failed, 3 that the name does not exist, 5 that
// our server refuses to answer.
#[tokio::test]
async fn dns_response_codes_decide_the_blame() {
    for (code, name, blame) in [
        (2, "no-name-server", FetchBlame::Host),
        (3, "no-such-host", FetchBlame::Host),
        (5, "no-name-server", FetchBlame::Us),
    ] {
        let dns = format!("dns = [\"{}\"]", coded(code, false).await);
        let error = failed(fetch(&fetcher_with(&[&dns]), "http://code.example/").await);
        assert_eq!((error.name(), error.blame()), (name, blame), "{code}: {error:?}");
    }
}

#[tokio::test]
async fn a_dns_server_without_ipv6_answers_is_not_awaited() {
    let server = Server::always(ok("x")).await;
    let dns = format!("dns = [\"{}\"]", coded(0, true).await);
    // The fetch has less time than a DNS query.
    let fetcher = fetcher_with(&[&dns, "connect = \"1h\""]);
    let url = format!("http://mute.example:{}/", server.port());
    assert_eq!(text(fetch(&fetcher, &url).await), "x");
}
