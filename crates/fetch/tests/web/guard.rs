//! What must not be reached is not reached, however it is spelled.

use std::net::IpAddr;

use freshet_fetch::{Outcome, Refusal, Request, Zone};

use crate::server::{Server, ok, redirect};
use crate::{fetch, fetcher, fetcher_with, text};

/// A name that is opened, at an address that is not.
pub(crate) const FRONT: &str = "resolve = { \"front.example\" = [\"127.0.0.1\"] }";

#[track_caller]
fn refused(outcome: &Outcome) -> (IpAddr, Zone) {
    match outcome {
        Outcome::Refused(Refusal::Address { address, zone, .. }) => (*address, *zone),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn odd_spellings_of_loopback_are_refused() {
    let server = Server::always(ok("secret")).await;
    let port = server.port();
    let fetcher = fetcher_with(&["allow = []"]);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "127。0。0。1",
        "127.0.0.1",
        "①②⑦.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "0",
        "0.0.0.0",
        "[::]",
        "localhost",
        "LocalHost.",
        "127.0.0.2",
    ] {
        let answer = fetch(&fetcher, &format!("http://{host}:{port}/")).await;
        let (_, zone) = refused(&answer.outcome);
        assert!(matches!(zone, Zone::Loopback | Zone::Unspecified), "{host}: {zone}");
        assert_eq!(answer.trace.requests, 0);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn metadata_and_private_networks_are_refused() {
    let fetcher = fetcher_with(&["allow = []"]);
    for (host, zone) in [
        ("169.254.169.254", Zone::LinkLocal),
        ("[fd00:ec2::254]", Zone::Private),
        ("[::ffff:169.254.169.254]", Zone::LinkLocal),
        ("10.0.0.1", Zone::Private),
        ("192.168.0.1", Zone::Private),
        ("100.100.100.200", Zone::Shared),
        ("224.0.0.1", Zone::Multicast),
        ("[fe80::1]", Zone::LinkLocal),
    ] {
        for scheme in ["http", "https"] {
            let answer = fetch(&fetcher, &format!("{scheme}://{host}/")).await;
            assert_eq!(refused(&answer.outcome).1, zone, "{host}");
        }
    }
}

#[tokio::test]
async fn a_password_in_a_url_does_not_hide_its_host() {
    let spelled = "http://example.com@127.0.0.1/";
    assert!(Request::new(spelled).is_err());
    let server = Server::always(redirect("302 Found", "http://example.com:x@127.0.0.2/")).await;
    let answer = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(refused(&answer.outcome).0, IpAddr::from([127, 0, 0, 2]));
    // A backslash ends the host as a slash does.
    let server = Server::always(redirect("302 Found", r"http://127.0.0.2\@example.com/")).await;
    let answer = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(refused(&answer.outcome).0, IpAddr::from([127, 0, 0, 2]));
}

#[tokio::test]
async fn redirect_to_a_private_address() {
    let inside = Server::always(ok("secret")).await;
    let server = Server::always(redirect("302 Found", &inside.url("/"))).await;
    let fetcher = fetcher_with(&["allow = [\"front.example\"]", FRONT]);
    let answer = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
    assert_eq!(refused(&answer.outcome), (inside.address.ip(), Zone::Loopback));
    assert_eq!(answer.trace.hops.len(), 2);
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn what_is_opened_is_reached() {
    let server = Server::always(ok("x")).await;
    let port = server.port();
    for (allow, url, reached) in [
        ("127.0.0.0/8", server.url("/"), true),
        ("127.0.0.1", format!("http://[::ffff:127.0.0.1]:{port}/"), true),
        ("localhost", format!("http://localhost:{port}/"), true),
        ("localhost", server.url("/"), false),
        ("10.0.0.0/8", server.url("/"), false),
    ] {
        let fetcher = fetcher_with(&[&format!("allow = [\"{allow}\"]")]);
        let answer = fetch(&fetcher, &url).await;
        if reached {
            assert_eq!(text(answer), "x", "{allow} {url}");
        } else {
            refused(&answer.outcome);
        }
    }
    let with_port = fetcher_with(&[&format!("allow = [\"127.0.0.1:{port}\"]")]);
    assert_eq!(text(fetch(&with_port, &server.url("/")).await), "x");
    let other_port = fetcher_with(&["allow = [\"127.0.0.1:1\"]"]);
    refused(&fetch(&other_port, &server.url("/")).await.outcome);
}

#[tokio::test]
async fn robots_are_guarded_too() {
    let server = Server::always(ok("user-agent: *\nallow: /")).await;
    let fetcher = fetcher_with(&["allow = []", "robots = true"]);
    refused(&fetch(&fetcher, &server.url("/")).await.outcome);
    assert!(fetcher.permission(&Request::new(&server.url("/")).unwrap()).await.is_err());
    assert_eq!(server.connections(), 0);
}
