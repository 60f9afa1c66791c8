//! What robots.txt says decides over fetches, and is itself fetched with care.

use std::time::Duration;

use freshet_fetch::{
    Absence, Answer, Because, Blame, FetchError, Outcome, Permission, ProtocolFault, Refusal,
    Request, Wait,
};
use tokio::time::{advance, pause, resume};

use crate::certificates::{Authority, VALID, named};
use crate::encodings::gzip;
use crate::guard::FRONT;
use crate::server::{Closed, Server, Step, ok, redirect, reply};
use crate::{failed, fetch, fetcher_with, text};

const RULES: &str = "user-agent: *\ndisallow: /no\ncrawl-delay: 7\nsitemap: https://x.test/s.xml\n";

fn obeying() -> freshet_fetch::Fetcher {
    fetcher_with(&["robots = true"])
}

#[track_caller]
fn disallowed(answer: Answer) -> Permission {
    match answer.outcome {
        Outcome::Disallowed(permission) => *permission,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn absence(answer: &Answer) -> Absence {
    match &answer.trace.robots.as_ref().unwrap().because {
        Because::NoFile(absence) => absence.clone(),
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
async fn rules_are_obeyed_and_named() {
    let server = with_robots(ok(RULES)).await;
    let fetcher = obeying();
    let answer = fetch(&fetcher, &server.url("/no/x?y")).await;
    assert_eq!(answer.blame(), None);
    let permission = disallowed(answer);
    let Because::Rules(verdict) = &permission.because else { panic!("{permission:?}") };
    assert_eq!(verdict.rule.as_ref().unwrap().line, 2);
    assert_eq!(permission.file.crawl_delay, Some(Duration::from_secs(7)));
    assert_eq!(permission.file.sitemaps, ["https://x.test/s.xml"]);
    let answer = fetch(&fetcher, &server.url("/yes")).await;
    assert!(answer.trace.robots.as_ref().unwrap().allowed);
    assert_eq!(text(answer), "page");
    // Once for both.
    assert_eq!(server.paths(), ["/robots.txt", "/yes"]);
}

#[tokio::test]
async fn they_are_not_obeyed_by_those_who_say_so() {
    let server = with_robots(ok("user-agent: *\ndisallow: /")).await;
    let fetcher = fetcher_with(&["robots = false"]);
    assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "page");
    let permission = fetcher.permission(&Request::new(&server.url("/")).unwrap()).await.unwrap();
    assert!(!permission.allowed);
}

// RFC 9309 §2.3.1.3: unavailable files allow all.
#[tokio::test]
async fn no_file_allows_all() {
    for status in [404, 400, 401, 403, 410, 451, 499] {
        let server = with_robots(reply(&format!("{status} No"), "", RULES)).await;
        let answer = fetch(&obeying(), &server.url("/no")).await;
        assert_eq!(absence(&answer), Absence::Status { status });
        assert_eq!(text(answer), "page", "{status}");
    }
}

// RFC 9309 §2.3.1.4: unreachable files allow nothing.
#[tokio::test]
async fn a_file_that_cannot_be_reached_allows_nothing() {
    for status in [500, 503, 599, 429, 600, 999] {
        let server = with_robots(reply(&format!("{status} Oops"), "", "")).await;
        let fetcher = obeying();
        for _ in 0..3 {
            let answer = fetch(&fetcher, &server.url("/")).await;
            assert_eq!(answer.blame(), Some(Blame::Host));
            let permission = disallowed(answer);
            assert_eq!(permission.because, Because::Unreachable(FetchError::Status { status }));
            assert_eq!(permission.file.status, Some(status));
        }
        // Not asked again for each page.
        assert_eq!(server.paths(), ["/robots.txt"]);
    }
}

#[tokio::test]
async fn a_host_that_is_not_there_allows_nothing() {
    let closed = Closed::new();
    let gone = closed.address;
    let error = failed(fetch(&obeying(), &format!("http://{gone}/")).await);
    assert!(matches!(error, FetchError::Connect { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_that_takes_too_long_allows_nothing() {
    let server = with_robots(vec![Step::Hang]).await;
    let fetcher = fetcher_with(&["robots = true", "first_byte = \"100ms\""]);
    assert_eq!(failed(fetch(&fetcher, &server.url("/")).await).name(), "timeout");
    let fetcher = fetcher_with(&["robots = true", "total = \"1s\""]);
    assert_eq!(failed(fetch(&fetcher, &server.url("/")).await).name(), "timeout");
    assert_eq!(server.paths(), ["/robots.txt", "/robots.txt"]);
}

// RFC 9309 §2.3.1.2: at least five redirects, also to another authority.
#[tokio::test]
async fn redirects_of_the_file_are_followed() {
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

// §2.3.1.3 speaks of 4xx; a redirect that nobody can follow says as little as they do.
#[tokio::test]
async fn redirects_of_the_file_that_lead_nowhere() {
    for (status, headers) in [
        (302, ""),
        (301, "Location: http://[::1\r\n"),
        (300, "Location: /x\r\n"),
        (305, ""),
        (306, ""),
    ] {
        let server = with_robots(reply(&format!("{status} Go"), headers, RULES)).await;
        let answer = fetch(&obeying(), &server.url("/no")).await;
        assert_eq!(absence(&answer), Absence::Nowhere { status });
        assert_eq!(text(answer), "page");
    }
    let server = with_robots(redirect("302 Found", "file:///etc/robots.txt")).await;
    let answer = fetch(&obeying(), &server.url("/no")).await;
    let scheme = "file".to_owned();
    assert_eq!(absence(&answer), Absence::Refused(Refusal::Redirect { scheme }));
}

// Nothing was asked for on a condition: who says so is broken, and what the rules are nobody knows.
#[tokio::test]
async fn a_file_that_is_not_modified_is_out_of_reach() {
    let server = with_robots(reply("304 Not Modified", "", "")).await;
    let answer = fetch(&obeying(), &server.url("/")).await;
    assert_eq!(answer.blame(), Some(Blame::Host));
    assert_eq!(failed(answer), FetchError::Protocol { fault: ProtocolFault::Unasked });
    assert_eq!(server.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn a_host_that_wants_to_be_left_alone_says_so_in_place_of_the_file() {
    let server = with_robots(reply("503 Busy", "Retry-After: 3600\r\n", "")).await;
    let fetcher = fetcher_with(&["robots = true", "robots_retry = \"1s\""]);
    let first = fetch(&fetcher, &server.url("/")).await;
    let Some(Wait::For(wish)) = first.trace.retry_after else { panic!("{first:?}") };
    assert_eq!(wish.as_secs_f64().round(), 3600.0);
    // And so it is left alone, with what is left of its wish.
    pause();
    advance(Duration::from_secs(3000)).await;
    resume();
    let Some(Wait::For(left)) = fetch(&fetcher, &server.url("/")).await.trace.retry_after else {
        panic!("{first:?}")
    };
    assert!(left <= Duration::from_secs(600), "{left:?}");
    assert_eq!(server.paths(), ["/robots.txt"]);
}

// What would be read of the file over http forbids something; without it nothing would be forbidden.
#[tokio::test]
async fn the_file_is_followed_from_https_to_http() {
    let plain = with_robots(ok(RULES)).await;
    let authority = Authority::new();
    let server = authority.server(&VALID, redirect("302 Found", &plain.url("/robots.txt"))).await;
    let [roots, names] = named(&authority);
    let fetcher = fetcher_with(&["robots = true", &roots, &names]);
    disallowed(fetch(&fetcher, &format!("https://secure.example:{}/no", server.port())).await);
}

#[tokio::test]
async fn robots_redirecting_in_a_circle() {
    let server = Server::new(|path, _| match path {
        "/robots.txt" => redirect("302 Found", "/r"),
        "/r" => redirect("302 Found", "/robots.txt"),
        _ => ok("page"),
    })
    .await;
    assert_eq!(text(fetch(&obeying(), &server.url("/")).await), "page");
    assert_eq!(server.paths(), ["/robots.txt", "/r", "/"]);
    let endless = Server::new(|path, _| match path {
        "/" => ok("page"),
        path => redirect("302 Found", &format!("{path}x")),
    })
    .await;
    assert_eq!(text(fetch(&obeying(), &endless.url("/")).await), "page");
    assert_eq!(endless.paths().len(), 12);
}

#[tokio::test]
async fn robots_redirecting_to_a_private_address() {
    let inside = Server::always(ok("user-agent: *\nallow: /")).await;
    let server = with_robots(redirect("302 Found", &inside.url("/robots.txt"))).await;
    let fetcher = fetcher_with(&["robots = true", "allow = [\"front.example\"]", FRONT]);
    let page = fetch(&fetcher, &format!("http://front.example:{}/", server.port())).await;
    let Absence::Refused(Refusal::Address { address, .. }) = absence(&page) else {
        panic!("{page:?}")
    };
    assert_eq!(address, inside.address.ip());
    assert_eq!(text(page), "page");
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn robots_of_ten_megabytes() {
    let mut file = b"user-agent: *\ndisallow: /no\n".to_vec();
    file.resize(10 << 20, b'#');
    file.extend(b"\ndisallow: /late\n");
    let server = with_robots(reply("200 OK", "", &file)).await;
    let fetcher = obeying();
    let permission = disallowed(fetch(&fetcher, &server.url("/no")).await);
    assert!(permission.file.cut);
    assert_eq!(text(fetch(&fetcher, &server.url("/late")).await), "page");
    let endless = with_robots(vec![
        Step::Send(b"HTTP/1.1 200 OK\r\n\r\nuser-agent: *\ndisallow: /no\n".to_vec()),
        Step::Flood(b"# x\n".repeat(10_000)),
    ])
    .await;
    disallowed(fetch(&obeying(), &endless.url("/no")).await);
}

// A limit on pages is none on the file, and what stands where it is cut is no rule.
#[tokio::test]
async fn a_file_that_is_cut_has_no_half_a_rule() {
    let lines = b"user-agent: *\ndisallow: /no\n".to_vec();
    let mut file = [lines, b"#".repeat((500 << 10) - 50)].concat();
    file.extend(b"\ndisallow: /yes-and-more-than-that\n");
    file.extend(b"# more\n".repeat(10_000));
    for wire in ["1KiB", "100KiB", "600KiB"] {
        let server = with_robots(reply("200 OK", "", &file)).await;
        let fetcher = fetcher_with(&["robots = true", &format!("wire_bytes = \"{wire}\"")]);
        assert!(disallowed(fetch(&fetcher, &server.url("/no")).await).file.cut);
        for path in ["/yes", "/yes-and-more", "/other"] {
            assert_eq!(text(fetch(&fetcher, &server.url(path)).await), "page", "{wire} {path}");
        }
    }
    // Empty members of gzip, without end: cut on the wire, in the middle of a line.
    let mut packed = gzip(b"user-agent: *\ndisallow: /no\ndisallow: /y");
    while packed.len() < 700 << 10 {
        packed.extend(gzip(&[]).repeat(100));
    }
    packed.truncate(packed.len() - 5);
    let server = with_robots(reply("200 OK", "Content-Encoding: gzip\r\n", &packed)).await;
    let answer = fetch(&obeying(), &server.url("/yes")).await;
    assert_ne!(answer.outcome.name(), "disallowed", "{answer:?}");
}

#[tokio::test]
async fn each_hop_is_asked_for() {
    let other = with_robots(ok("user-agent: *\ndisallow: /")).await;
    let to = other.url("/page");
    let server = Server::new(move |path, _| match path {
        "/robots.txt" => ok(RULES),
        "/go" => redirect("302 Found", "/no"),
        _ => redirect("302 Found", &to),
    })
    .await;
    let fetcher = obeying();
    disallowed(fetch(&fetcher, &server.url("/go")).await);
    disallowed(fetch(&fetcher, &server.url("/away")).await);
    assert_eq!(server.paths(), ["/robots.txt", "/go", "/away"]);
    assert_eq!(other.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn many_pages_ask_once() {
    let server = with_robots(ok(RULES)).await;
    let fetcher = obeying();
    let mut pages = tokio::task::JoinSet::new();
    for number in 0..30 {
        let (fetcher, url) = (fetcher.clone(), server.url(&format!("/{number}")));
        pages.spawn(async move { text(fetch(&fetcher, &url).await) });
    }
    pages.join_all().await;
    let asked = server.paths().iter().filter(|path| *path == "/robots.txt").count();
    assert_eq!((asked, server.paths().len()), (1, 31));
}

// RFC 9309 §2.4: a day, and longer only while the file cannot be reached.
#[tokio::test]
async fn a_copy_holds_for_a_day() {
    let server = Server::new(|path, number| match (path, number) {
        ("/robots.txt", 1) => ok(RULES),
        ("/robots.txt", _) => reply("500 Oops", "", ""),
        _ => ok("page"),
    })
    .await;
    let fetcher = obeying();
    let go = async |hours: u64| {
        pause();
        advance(Duration::from_secs(hours * 3600)).await;
        resume();
        disallowed(fetch(&fetcher, &server.url("/no")).await)
    };
    for (hours, asked) in [(0, 1), (23, 1), (2, 2), (24 * 20, 3)] {
        let permission = go(hours).await;
        assert!(matches!(permission.because, Because::Rules(_)), "{permission:?}");
        assert_eq!(server.paths().len(), asked);
    }
    // After 30 days the copy is too old, and the file is out of reach.
    let permission = go(24 * 10).await;
    assert!(matches!(permission.because, Because::Unreachable(_)), "{permission:?}");
    // And 30 days later it is taken for absent.
    pause();
    advance(Duration::from_secs(31 * 86_400)).await;
    resume();
    assert_eq!(text(fetch(&fetcher, &server.url("/no")).await), "page");
}
