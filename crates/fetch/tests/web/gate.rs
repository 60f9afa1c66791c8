//! Who sends a fetch is asked before each request, and can stop it and let it go on.

use std::time::Duration;

use freshet_fetch::{
    Answer, FetchError, Fetcher, HookEvent, Outcome, Request, RequestHook, RobotsFile,
};

use crate::server::{Server, ok, redirect};
use crate::{failed, fetcher_with, text};

/// Fetches, lets pass what may, and says what was asked for. `kept` is what is remembered of robots.txt.
async fn through(
    fetcher: &Fetcher,
    request: Request,
    may: impl Fn(&str) -> bool,
    kept: &mut Option<Vec<u8>>,
) -> (Answer, Vec<String>) {
    let (gate, mut knocks) = RequestHook::new();
    let request = request.through(gate);
    let mut fetch = std::pin::pin!(fetcher.fetch(&request));
    let mut asked = Vec::new();
    loop {
        let knock = tokio::select! {
            answer = &mut fetch => return (answer, asked),
            Some(knock) = knocks.recv() => knock,
        };
        match knock {
            HookEvent::May { url, delay, answer } => {
                let delay = delay.map_or(String::new(), |it| format!(" after {it:?}"));
                asked.push(format!("{}{delay}", url.path()));
                answer.send(may(url.path())).unwrap();
            }
            HookEvent::Remembers { url, answer } => {
                let file = kept.as_deref().and_then(|bytes| {
                    RobotsFile::from_bytes(url, bytes, Duration::from_secs(3600))
                });
                answer.send(file).unwrap();
            }
            HookEvent::Found(file) => *kept = file.to_bytes(),
            HookEvent::Answered { .. } => {}
        }
    }
}

async fn site() -> Server {
    Server::new(|path, _| match path {
        "/a" => redirect("302 Found", "/b"),
        "/robots.txt" => ok("user-agent: *\ncrawl-delay: 7\ndisallow: /no"),
        _ => ok("page"),
    })
    .await
}

#[tokio::test]
async fn a_fetch_that_is_stopped_goes_on_where_it_stopped() {
    let server = site().await;
    let fetcher = fetcher_with(&["robots = true"]);
    let request = || Request::new(&server.url("/a")).unwrap();
    let (answer, asked) = through(&fetcher, request(), |path| path != "/b", &mut None).await;
    assert_eq!(asked, ["/robots.txt", "/a after 7s", "/b after 7s"]);
    let hops = answer.trace.hops.clone();
    assert_eq!(failed(answer), FetchError::NoTurn { host: "127.0.0.1".to_owned() });
    let (answer, asked) = through(&fetcher, request().going_on(hops), |_| true, &mut None).await;
    assert_eq!(asked, ["/b after 7s"]);
    assert_eq!(answer.trace.hops.len(), 2);
    assert_eq!(text(answer), "page");
    assert_eq!(server.paths(), ["/robots.txt", "/a", "/b"]);
}

#[tokio::test]
async fn no_turn_for_robots_txt_is_not_taken_for_its_absence() {
    let server = site().await;
    let fetcher = fetcher_with(&["robots = true"]);
    let request = || Request::new(&server.url("/no")).unwrap();
    let (answer, _) = through(&fetcher, request(), |_| false, &mut None).await;
    assert!(matches!(failed(answer), FetchError::NoTurn { .. }));
    let (answer, asked) = through(&fetcher, request(), |_| true, &mut None).await;
    assert!(matches!(answer.outcome, Outcome::Disallowed(_)));
    assert_eq!(asked, ["/robots.txt"]);
}

#[tokio::test]
async fn what_is_remembered_is_not_asked_for() {
    let server = site().await;
    let mut kept = None;
    let request = |path| Request::new(&server.url(path)).unwrap();
    let first = fetcher_with(&["robots = true"]);
    through(&first, request("/x"), |_| true, &mut kept).await;
    let second = fetcher_with(&["robots = true"]);
    let (answer, asked) = through(&second, request("/no"), |_| true, &mut kept).await;
    assert!(asked.is_empty());
    let Outcome::Disallowed(permission) = answer.outcome else { panic!() };
    assert_eq!(permission.file.crawl_delay, Some(Duration::from_secs(7)));
    assert!(permission.age >= Duration::from_secs(3600));
    // A day later it is asked for again.
    let third = fetcher_with(&["robots = true", "robots_retry = \"1s\""]);
    let age = Duration::from_secs(90_000);
    let old =
        RobotsFile::from_bytes(server.url("/robots.txt").parse().unwrap(), &kept.unwrap(), age);
    assert!(old.unwrap().age() >= age);
    let (_, asked) = through(&third, request("/x"), |_| true, &mut None).await;
    assert_eq!(asked, ["/robots.txt", "/x after 7s"]);
}
