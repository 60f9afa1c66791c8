//! robots.txt decides on fetches, and is itself fetched with care.

use std::time::Duration;

use freshet_fetch::{
    FetchBlame, FetchError, FetchOutcome, FetchRequest, FetchResponse, GuardRefusal, ProtocolFault,
    RetryAfter, RobotsAbsence, RobotsPermission, RobotsReason,
};
use tokio::time::{advance, pause, resume};

use crate::certificates::{Authority, VALID, named};
use crate::encodings::gzip;
use crate::guard::FRONT;
use crate::server::{Closed, Server, Step, ok, redirect, reply};
use crate::{failed, fetch, fetcher_with, text};

const RULES: &str = "user-agent: *\ndisallow: /no\ncrawl-delay: 7\nsitemap: https://x.test/s.xml\n";

fn obeying_fetcher() -> freshet_fetch::Fetcher {
    fetcher_with(&["robots = true"])
}

#[track_caller]
fn disallowed(result: FetchResponse) -> RobotsPermission {
    match result.outcome {
        FetchOutcome::Disallowed(permission) => *permission,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn absence(result: &FetchResponse) -> RobotsAbsence {
    match &result.trace.robots.as_ref().unwrap().reason {
        RobotsReason::NoFile(absence) => absence.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn with_robots(steps: Vec<Step>) -> Server {
    Server::new(move |path, _| match path {
        "/robots.txt" => steps.clone(),
        _ => ok("page"),
    })
    .await
}

#[tokio::test]
async fn rules_are_obeyed_and_reported() {
    let server = with_robots(ok(RULES)).await;
    let fetcher = obeying_fetcher();
    let result = fetch(&fetcher, &server.url("/no/x?y")).await;
    assert_eq!(result.blame(), None);
    let permission = disallowed(result);
    let RobotsReason::Rules(verdict) = &permission.reason else { panic!("{permission:?}") };
    assert_eq!(verdict.rule.as_ref().unwrap().line, 2);
    assert_eq!(permission.file.crawl_delay, Some(Duration::from_secs(7)));
    assert_eq!(permission.file.sitemaps, ["https://x.test/s.xml"]);
    let result = fetch(&fetcher, &server.url("/yes")).await;
    assert!(result.trace.robots.as_ref().unwrap().allowed);
    assert_eq!(text(result), "page");
    // One request for both pages.
    assert_eq!(server.paths(), ["/robots.txt", "/yes"]);
}

#[tokio::test]
async fn robots_are_ignored_if_the_settings_say_so() {
    let server = with_robots(ok("user-agent: *\ndisallow: /")).await;
    let fetcher = fetcher_with(&["robots = false"]);
    assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "page");
    let permission =
        fetcher.check_robots(&FetchRequest::new(&server.url("/")).unwrap()).await.unwrap();
    assert!(!permission.allowed);
}

// RFC 9309 §2.3.1.3: an unavailable file allows everything.
#[tokio::test]
async fn an_absent_robots_file_allows_everything() {
    for status in [404, 400, 401, 403, 410, 451, 499] {
        let server = with_robots(reply(&format!("{status} No"), "", RULES)).await;
        let result = fetch(&obeying_fetcher(), &server.url("/no")).await;
        assert_eq!(absence(&result), RobotsAbsence::Status { status });
        assert_eq!(text(result), "page", "{status}");
    }
}

// RFC 9309 §2.3.1.4: an unreachable file allows nothing.
#[tokio::test]
async fn an_unreachable_robots_file_allows_nothing() {
    for status in [500, 503, 599, 429, 600, 999] {
        let server = with_robots(reply(&format!("{status} Oops"), "", "")).await;
        let fetcher = obeying_fetcher();
        for _ in 0..3 {
            let result = fetch(&fetcher, &server.url("/")).await;
            assert_eq!(result.blame(), Some(FetchBlame::Host));
            let permission = disallowed(result);
            assert_eq!(permission.reason, RobotsReason::Unreachable(FetchError::Status { status }));
            assert_eq!(permission.file.status, Some(status));
        }
        // Not requested again for each page.
        assert_eq!(server.paths(), ["/robots.txt"]);
    }
}

#[tokio::test]
async fn a_host_without_a_listener_fails() {
    let closed = Closed::new();
    let closed_address = closed.address;
    let error = failed(fetch(&obeying_fetcher(), &format!("http://{closed_address}/")).await);
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn a_robots_file_that_times_out_allows_nothing() {
    let server = with_robots(vec![Step::Hang]).await;
    let fetcher = fetcher_with(&["robots = true", "first_byte = \"100ms\""]);
    assert_eq!(failed(fetch(&fetcher, &server.url("/")).await).name(), "timeout");
    let fetcher = fetcher_with(&["robots = true", "total = \"1s\""]);
    assert_eq!(failed(fetch(&fetcher, &server.url("/")).await).name(), "timeout");
    assert_eq!(server.paths(), ["/robots.txt", "/robots.txt"]);
}

// RFC 9309 §2.3.1.2: at least five redirects, also to another authority.
#[tokio::test]
async fn redirects_of_robots_are_followed() {
    let other = with_robots(ok(RULES)).await;
    let to = other.url("/robots.txt");
    let server = Server::new(move |path, _| match path {
        "/robots.txt" => redirect("301 Moved", "/1"),
        "/1" => redirect("302 Found", "/2"),
        "/2" => redirect("307 Found", "/3"),
        "/3" => redirect("308 Found", "/4"),
        "/4" => redirect("301 Found", &to),
        _ => ok("page"),
    })
    .await;
    let fetcher = fetcher_with(&["robots = true", "redirects = 0"]);
    disallowed(fetch(&fetcher, &server.url("/no")).await);
}

// §2.3.1.3 covers 4xx; a redirect that cannot be followed is treated alike.
#[tokio::test]
async fn invalid_redirects_of_robots_count_as_absence() {
    for (status, headers) in [
        (302, ""),
        (301, "Location: http://[::1\r\n"),
        (300, "Location: /x\r\n"),
        (305, ""),
        (306, ""),
    ] {
        let server = with_robots(reply(&format!("{status} Go"), headers, RULES)).await;
        let result = fetch(&obeying_fetcher(), &server.url("/no")).await;
        assert_eq!(absence(&result), RobotsAbsence::InvalidLocation { status });
        assert_eq!(text(result), "page");
    }
    let server = with_robots(redirect("302 Found", "file:///etc/robots.txt")).await;
    let result = fetch(&obeying_fetcher(), &server.url("/no")).await;
    let scheme = "file".to_owned();
    assert_eq!(absence(&result), RobotsAbsence::Refused(GuardRefusal::Redirect { scheme }));
}

// The request is unconditional: a 304 is invalid, and the rules are unknown.
#[tokio::test]
async fn a_304_makes_the_robots_file_unreachable() {
    let server = with_robots(reply("304 Not Modified", "", "")).await;
    let result = fetch(&obeying_fetcher(), &server.url("/")).await;
    assert_eq!(result.blame(), Some(FetchBlame::Host));
    assert_eq!(
        failed(result),
        FetchError::Protocol { fault: ProtocolFault::UnexpectedNotModified }
    );
    assert_eq!(server.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn retry_after_of_the_robots_file_is_obeyed() {
    let server = with_robots(reply("503 Busy", "Retry-After: 3600\r\n", "")).await;
    let fetcher = fetcher_with(&["robots = true", "robots_retry = \"1s\""]);
    let first = fetch(&fetcher, &server.url("/")).await;
    let Some(RetryAfter::Delay(delay)) = first.trace.retry_after else { panic!("{first:?}") };
    assert_eq!(delay.as_secs_f64().round(), 3600.0);
    // The host is left alone for the rest of the delay.
    pause();
    advance(Duration::from_secs(3000)).await;
    resume();
    let Some(RetryAfter::Delay(left)) = fetch(&fetcher, &server.url("/")).await.trace.retry_after
    else {
        panic!("{first:?}")
    };
    assert!(left <= Duration::from_secs(600), "{left:?}");
    assert_eq!(server.paths(), ["/robots.txt"]);
}

// The file over http may disallow pages; without it nothing would be disallowed.
#[tokio::test]
async fn a_robots_redirect_from_https_to_http_is_followed() {
    let plain = with_robots(ok(RULES)).await;
    let authority = Authority::new();
    let server = authority.server(&VALID, redirect("302 Found", &plain.url("/robots.txt"))).await;
    let [roots, names] = named(&authority);
    let fetcher = fetcher_with(&["robots = true", &roots, &names]);
    disallowed(fetch(&fetcher, &format!("https://secure.example:{}/no", server.port())).await);
}

#[tokio::test]
async fn a_redirect_loop_of_robots_allows_everything() {
    let server = Server::new(|path, _| match path {
        "/robots.txt" => redirect("302 Found", "/r"),
        "/r" => redirect("302 Found", "/robots.txt"),
        _ => ok("page"),
    })
    .await;
    assert_eq!(text(fetch(&obeying_fetcher(), &server.url("/")).await), "page");
    assert_eq!(server.paths(), ["/robots.txt", "/r", "/"]);
    let endless = Server::new(|path, _| match path {
        "/" => ok("page"),
        path => redirect("302 Found", &format!("{path}x")),
    })
    .await;
    assert_eq!(text(fetch(&obeying_fetcher(), &endless.url("/")).await), "page");
    assert_eq!(endless.paths().len(), 12);
}

#[tokio::test]
async fn a_robots_redirect_to_a_private_address_is_refused() {
    let inside = Server::always(ok("user-agent: *\nallow: /")).await;
    let server = with_robots(redirect("302 Found", &inside.url("/robots.txt"))).await;
    let fetcher = fetcher_with(&["robots = true", "allow = [\"front.example\"]", FRONT]);
    let page = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
    let RobotsAbsence::Refused(GuardRefusal::Address { address, .. }) = absence(&page) else {
        panic!("{page:?}")
    };
    assert_eq!(address, inside.address.ip());
    assert_eq!(text(page), "page");
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_huge_robots_file_is_truncated() {
    let mut file = b"user-agent: *\ndisallow: /no\n".to_vec();
    file.resize(10 << 20, b'#');
    file.extend(b"\ndisallow: /late\n");
    let server = with_robots(reply("200 OK", "", &file)).await;
    let fetcher = obeying_fetcher();
    let permission = disallowed(fetch(&fetcher, &server.url("/no")).await);
    assert!(permission.file.truncated);
    assert_eq!(text(fetch(&fetcher, &server.url("/late")).await), "page");
    let endless = with_robots(vec![
        Step::Send(b"HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /no\n".to_vec()),
        Step::Flood(b"# x\n".repeat(10_000)),
    ])
    .await;
    disallowed(fetch(&obeying_fetcher(), &endless.url("/no")).await);
}

// Limits on pages do not apply to the file, and a truncated line is not a rule.
#[tokio::test]
async fn a_truncated_robots_file_has_no_partial_rule() {
    let lines = b"user-agent: *\ndisallow: /no\n".to_vec();
    let mut file = [lines, b"#".repeat((500 << 10) - 50)].concat();
    file.extend(b"\ndisallow: /yes-and-more-than-that\n");
    file.extend(b"# more\n".repeat(10_000));
    for wire in ["1KiB", "100KiB", "600KiB"] {
        let server = with_robots(reply("200 OK", "", &file)).await;
        let fetcher = fetcher_with(&["robots = true", &format!("wire_bytes = \"{wire}\"")]);
        assert!(disallowed(fetch(&fetcher, &server.url("/no")).await).file.truncated);
        for path in ["/yes", "/yes-and-more", "/other"] {
            assert_eq!(text(fetch(&fetcher, &server.url(path)).await), "page", "{wire} {path}");
        }
    }
    // Empty gzip members without end: truncated on the wire, in the middle of a line.
    let mut packed = gzip(b"user-agent: *\ndisallow: /no\ndisallow: /y");
    while packed.len() < 700 << 10 {
        packed.extend(gzip(&[]).repeat(100));
    }
    packed.truncate(packed.len() - 5);
    let server = with_robots(reply("200 OK", "Content-Encoding: gzip\r\n", &packed)).await;
    let result = fetch(&obeying_fetcher(), &server.url("/yes")).await;
    assert_ne!(result.outcome.name(), "disallowed", "{result:?}");
}

#[tokio::test]
async fn robots_are_checked_for_each_hop() {
    let other = with_robots(ok("user-agent: *\ndisallow: /")).await;
    let to = other.url("/page");
    let server = Server::new(move |path, _| match path {
        "/robots.txt" => ok(RULES),
        "/go" => redirect("302 Found", "/no"),
        _ => redirect("302 Found", &to),
    })
    .await;
    let fetcher = obeying_fetcher();
    disallowed(fetch(&fetcher, &server.url("/go")).await);
    disallowed(fetch(&fetcher, &server.url("/away")).await);
    assert_eq!(server.paths(), ["/robots.txt", "/go", "/away"]);
    assert_eq!(other.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn concurrent_pages_fetch_robots_once() {
    let server = with_robots(ok(RULES)).await;
    let fetcher = obeying_fetcher();
    let mut pages = tokio::task::JoinSet::new();
    for number in 0..30 {
        let (fetcher, url) = (fetcher.clone(), server.url(&format!("/{number}")));
        pages.spawn(async move { text(fetch(&fetcher, &url).await) });
    }
    pages.join_all().await;
    let request_count = server.paths().iter().filter(|path| *path == "/robots.txt").count();
    assert_eq!((request_count, server.paths().len()), (1, 31));
}

// RFC 9309 §2.4: a day, and longer only while the file is unreachable.
#[tokio::test]
async fn a_copy_holds_for_a_day() {
    let server = Server::new(|path, number| match (path, number) {
        ("/robots.txt", 1) => ok(RULES),
        ("/robots.txt", _) => reply("500 Oops", "", ""),
        _ => ok("page"),
    })
    .await;
    let fetcher = obeying_fetcher();
    let fetch_after = async |hours: u64| {
        pause();
        advance(Duration::from_secs(hours * 3600)).await;
        resume();
        disallowed(fetch(&fetcher, &server.url("/no")).await)
    };
    for (hours, request_count) in [(0, 1), (23, 1), (2, 2), (24 * 20, 3)] {
        let permission = fetch_after(hours).await;
        assert!(matches!(permission.reason, RobotsReason::Rules(_)), "{permission:?}");
        assert_eq!(server.paths().len(), request_count);
    }
    // After 30 days the copy is too old, and the file counts as unreachable.
    let permission = fetch_after(24 * 10).await;
    assert!(matches!(permission.reason, RobotsReason::Unreachable(_)), "{permission:?}");
    // After another 30 days it counts as absent.
    pause();
    advance(Duration::from_secs(31 * 86_400)).await;
    resume();
    assert_eq!(text(fetch(&fetcher, &server.url("/no")).await), "page");
}
