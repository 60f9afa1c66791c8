//! From one page to another.

use freshet_fetch::{FetchError, Outcome, Refusal, Request};

use crate::server::{Server, ok, redirect, reply};
use crate::{failed, fetch, fetcher, fetcher_with, text};

#[tokio::test]
async fn redirects_are_followed_and_recorded() {
    let server = Server::new(|path, _| match path {
        "/a" => redirect("301 Moved", "b#part"),
        "/b" => redirect("308 Moved", "/c"),
        "/t" => redirect("302 Found", "/c"),
        _ => ok("x"),
    })
    .await;
    let fetcher = fetcher();
    let answer = fetch(&fetcher, &server.url("/a")).await;
    let statuses: Vec<_> = answer.trace.hops.iter().map(|hop| hop.status.unwrap()).collect();
    assert_eq!(statuses, [301, 308, 200]);
    assert_eq!(answer.trace.moved().unwrap().as_str(), server.url("/c"));
    assert_eq!(text(answer), "x");
    let answer = fetch(&fetcher, &server.url("/t")).await;
    assert_eq!(answer.trace.final_url().unwrap().as_str(), server.url("/c"));
    assert!(answer.trace.moved().is_none());
}

#[tokio::test]
async fn redirect_loop() {
    let server = Server::new(|path, _| match path {
        "/a" => redirect("302 Found", "/b"),
        _ => redirect("302 Found", "/a#x"),
    })
    .await;
    let error = failed(fetch(&fetcher(), &server.url("/a")).await);
    assert_eq!(
        error,
        FetchError::RedirectLoop { url: Box::new(server.url("/a").parse().unwrap()) }
    );
    assert_eq!(server.paths(), ["/a", "/b"]);
}

#[tokio::test]
async fn redirects_without_end() {
    let server = Server::new(|path, _| redirect("302 Found", &format!("{path}x"))).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooManyRedirects { limit: 10 });
    assert_eq!(server.paths().len(), 11);
    let error = failed(fetch(&fetcher_with(&["redirects = 0"]), &server.url("/")).await);
    assert_eq!(error, FetchError::TooManyRedirects { limit: 0 });
}

#[tokio::test]
async fn redirects_to_nowhere() {
    for headers in
        ["", "Location: http://[::1\r\n", "Location: http://\u{fffd}/\r\n", "Location: //\r\n"]
    {
        let server = Server::always(reply("302 Found", headers, "")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert!(
            matches!(error, FetchError::NoLocation { status: 302, .. }),
            "{headers}: {error:?}"
        );
    }
    for status in ["300 Choices", "305 Use Proxy"] {
        let server = Server::always(redirect(status, "/x")).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "status");
    }
}

#[tokio::test]
async fn redirects_to_other_schemes_are_refused() {
    for to in ["file:///etc/passwd", "exec:id", "ftp://x.test/", "data:,x", "javascript:1"] {
        let server = Server::always(redirect("302 Found", to)).await;
        let fetcher = fetcher_with(&["files = [\"/\"]", "commands = { id = [\"id\"] }"]);
        match fetch(&fetcher, &server.url("/")).await.outcome {
            Outcome::Refused(Refusal::Redirect { scheme }) => assert!(to.starts_with(&scheme)),
            other => panic!("{to}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn secrets_stay_with_their_origin() {
    let other = Server::always(ok("x")).await;
    let to = other.url("/there");
    let server = Server::new(move |path, _| match path {
        "/start" => redirect("302 Found", "/next"),
        _ => redirect("302 Found", &to),
    })
    .await;
    let request = Request::new(&server.url("/start")).unwrap().header("Authorization", "hunter2");
    let request = request.unwrap().header("Cookie", "a=b").unwrap();
    let answer = fetcher().fetch(&request).await;
    assert!(!format!("{request:?} {answer:?}").contains("hunter2"));
    assert_eq!(text(answer), "x");
    for head in server.heads() {
        assert!(head.contains("authorization: hunter2\r\n") && head.contains("cookie: a=b\r\n"));
    }
    let head = &other.heads()[0];
    assert!(!head.contains("hunter2") && !head.contains("cookie"), "{head}");
}

#[tokio::test]
async fn a_location_that_is_none_is_shown() {
    for (to, says) in [
        ("http://[::1/\u{e4}", r"a redirect (302) to `http://[::1/\xc3\xa4`, which is no URL"),
        ("http://me:hunter2@[::1/", "a redirect (302) to `…@[::1/`, which is no URL"),
    ] {
        let server = Server::always(redirect("302 Found", to)).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).to_string(), says);
    }
}
