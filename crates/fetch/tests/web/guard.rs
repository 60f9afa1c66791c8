//! Addresses that must not be reached are not, however they are spelled.

use std::net::IpAddr;

use freshet_fetch::{AddressKind, FetchOutcome, FetchRequest, GuardRefusal};

use crate::server::{Server, ok, redirect};
use crate::{fetch, fetcher, fetcher_with, text};

/// Resolves an allowed name to an address that is not allowed.
pub(crate) const FRONT: &str = "resolve = { \"front.example\" = [\"127.0.0.1\"] }";

#[track_caller]
fn refused(outcome: &FetchOutcome) -> (IpAddr, AddressKind) {
    match outcome {
        FetchOutcome::Refused(GuardRefusal::Address { address, kind: zone, .. }) => {
            (*address, *zone)
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn all_spellings_of_loopback_are_refused() {
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
        let result = fetch(&fetcher, &format!("http://{host}:{port}/")).await;
        let (_, zone) = refused(&result.outcome);
        assert!(matches!(zone, AddressKind::Loopback | AddressKind::Unspecified), "{host}: {zone}");
        assert_eq!(result.trace.requests, 0);
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn metadata_and_private_networks_are_refused() {
    let fetcher = fetcher_with(&["allow = []"]);
    for (host, zone) in [
        ("169.254.169.254", AddressKind::LinkLocal),
        ("[fd00:ec2::254]", AddressKind::Private),
        ("[::ffff:169.254.169.254]", AddressKind::LinkLocal),
        ("10.0.0.1", AddressKind::Private),
        ("192.168.0.1", AddressKind::Private),
        ("100.100.100.200", AddressKind::Shared),
        ("224.0.0.1", AddressKind::Multicast),
        ("[fe80::1]", AddressKind::LinkLocal),
    ] {
        for scheme in ["http", "https"] {
            let result = fetch(&fetcher, &format!("{scheme}://{host}/")).await;
            assert_eq!(refused(&result.outcome).1, zone, "{host}");
        }
    }
}

#[tokio::test]
async fn a_password_in_a_url_does_not_hide_its_host() {
    let url_with_userinfo = "http://example.com@127.0.0.1/";
    assert!(FetchRequest::new(url_with_userinfo).is_err());
    let server = Server::always(redirect("302 Found", "http://example.com:x@127.0.0.2/")).await;
    let result = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(refused(&result.outcome).0, IpAddr::from([127, 0, 0, 2]));
    // A backslash ends the host like a slash.
    let server = Server::always(redirect("302 Found", r"http://127.0.0.2\@example.com/")).await;
    let result = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(refused(&result.outcome).0, IpAddr::from([127, 0, 0, 2]));
}

#[tokio::test]
async fn redirect_to_a_private_address() {
    let private_server = Server::always(ok("secret")).await;
    let server = Server::always(redirect("302 Found", &private_server.url("/"))).await;
    let fetcher = fetcher_with(&["allow = [\"front.example\"]", FRONT]);
    let result = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
    assert_eq!(refused(&result.outcome), (private_server.address.ip(), AddressKind::Loopback));
    assert_eq!(result.trace.hops.len(), 2);
    assert_eq!(private_server.connections(), 0);
}

#[tokio::test]
async fn allowed_addresses_are_reached() {
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
        let result = fetch(&fetcher, &url).await;
        if reached {
            assert_eq!(text(result), "x", "{allow} {url}");
        } else {
            refused(&result.outcome);
        }
    }
    let with_port = fetcher_with(&[&format!("allow = [\"127.0.0.1:{port}\"]")]);
    assert_eq!(text(fetch(&with_port, &server.url("/")).await), "x");
    let other_port = fetcher_with(&["allow = [\"127.0.0.1:1\"]"]);
    refused(&fetch(&other_port, &server.url("/")).await.outcome);
}

#[tokio::test]
async fn the_guard_applies_to_robots() {
    let server = Server::always(ok("user-agent: *\nallow: /")).await;
    let fetcher = fetcher_with(&["allow = []", "robots = true"]);
    refused(&fetch(&fetcher, &server.url("/")).await.outcome);
    assert!(fetcher.check_robots(&FetchRequest::new(&server.url("/")).unwrap()).await.is_err());
    assert_eq!(server.connections(), 0);
}
