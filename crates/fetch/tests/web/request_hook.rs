//! A hook is asked before each request, and can stop a fetch that is resumed later.

use std::time::Duration;

use freshet_fetch::{
    FetchError, FetchOutcome, FetchRequest, FetchResponse, Fetcher, HookEvent, RequestHook,
    RobotsFile,
};

use crate::server::{Server, ok, redirect};
use crate::{failed, fetcher_with, text};

/// Fetches with a hook that allows some requests; returns the result and the requested paths.
/// `stored` holds the stored robots.txt.
async fn fetch_with_hook(
    fetcher: &Fetcher,
    request: FetchRequest,
    allows: impl Fn(&str) -> bool,
    stored: &mut Option<Vec<u8>>,
) -> (FetchResponse, Vec<String>) {
    let (hook, mut events) = RequestHook::new();
    let request = request.with_hook(hook);
    let mut fetch = std::pin::pin!(fetcher.fetch(&request));
    let mut requested = Vec::new();
    loop {
        let event = tokio::select! {
            answer = &mut fetch => return (answer, requested),
            Some(event) = events.recv() => event,
        };
        match event {
            HookEvent::MayRequest { url, crawl_delay: delay, reply: answer } => {
                let delay = delay.map_or(String::new(), |it| format!(" after {it:?}"));
                requested.push(format!("{}{delay}", url.path()));
                answer.send(allows(url.path())).unwrap();
            }
            HookEvent::LoadRobots { url, reply: answer } => {
                let file = stored.as_deref().and_then(|bytes| {
                    RobotsFile::from_bytes(url, bytes, Duration::from_secs(3600))
                });
                answer.send(file).unwrap();
            }
            HookEvent::RobotsFetched(file) => *stored = file.to_bytes(),
            HookEvent::ResponseReceived { .. } => {}
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
async fn a_postponed_fetch_resumes_at_its_last_hop() {
    let server = site().await;
    let fetcher = fetcher_with(&["robots = true"]);
    let request = || FetchRequest::new(&server.url("/a")).unwrap();
    let (answer, requested) =
        fetch_with_hook(&fetcher, request(), |path| path != "/b", &mut None).await;
    assert_eq!(requested, ["/robots.txt", "/a after 7s", "/b after 7s"]);
    let hops = answer.trace.hops.clone();
    assert_eq!(failed(answer), FetchError::Postponed { host: "127.0.0.1".to_owned() });
    let (answer, requested) =
        fetch_with_hook(&fetcher, request().resume_from(hops), |_| true, &mut None).await;
    assert_eq!(requested, ["/b after 7s"]);
    assert_eq!(answer.trace.hops.len(), 2);
    assert_eq!(text(answer), "page");
    assert_eq!(server.paths(), ["/robots.txt", "/a", "/b"]);
}

#[tokio::test]
async fn a_postponed_robots_request_is_not_an_absence() {
    let server = site().await;
    let fetcher = fetcher_with(&["robots = true"]);
    let request = || FetchRequest::new(&server.url("/no")).unwrap();
    let (answer, _) = fetch_with_hook(&fetcher, request(), |_| false, &mut None).await;
    assert!(matches!(failed(answer), FetchError::Postponed { .. }));
    let (answer, requested) = fetch_with_hook(&fetcher, request(), |_| true, &mut None).await;
    assert!(matches!(answer.outcome, FetchOutcome::Disallowed(_)));
    assert_eq!(requested, ["/robots.txt"]);
}

#[tokio::test]
async fn a_stored_robots_file_is_not_fetched() {
    let server = site().await;
    let mut stored = None;
    let request = |path| FetchRequest::new(&server.url(path)).unwrap();
    let first = fetcher_with(&["robots = true"]);
    fetch_with_hook(&first, request("/x"), |_| true, &mut stored).await;
    let second = fetcher_with(&["robots = true"]);
    let (answer, requested) = fetch_with_hook(&second, request("/no"), |_| true, &mut stored).await;
    assert!(requested.is_empty());
    let FetchOutcome::Disallowed(permission) = answer.outcome else { panic!() };
    assert_eq!(permission.file.crawl_delay, Some(Duration::from_secs(7)));
    assert!(permission.age >= Duration::from_secs(3600));
    // A day later it is requested again.
    let third = fetcher_with(&["robots = true", "robots_retry = \"1s\""]);
    let age = Duration::from_secs(90_000);
    let old =
        RobotsFile::from_bytes(server.url("/robots.txt").parse().unwrap(), &stored.unwrap(), age);
    assert!(old.unwrap().age() >= age);
    let (_, requested) = fetch_with_hook(&third, request("/x"), |_| true, &mut None).await;
    assert_eq!(requested, ["/robots.txt", "/x after 7s"]);
}
