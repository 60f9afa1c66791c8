//! Redirects.

use freshet_fetch::{FetchError, FetchOutcome, FetchRequest, GuardRefusal};

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
    let result = fetch(&fetcher, &server.url("/a")).await;
    let statuses: Vec<_> = result.trace.hops.iter().map(|hop| hop.status.unwrap()).collect();
    assert_eq!(statuses, [301, 308, 200]);
    assert_eq!(result.trace.moved_permanently_to().unwrap().as_str(), server.url("/c"));
    assert_eq!(text(result), "x");
    let result = fetch(&fetcher, &server.url("/t")).await;
    assert_eq!(result.trace.final_url().unwrap().as_str(), server.url("/c"));
    assert!(result.trace.moved_permanently_to().is_none());
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
async fn too_many_redirects_fail() {
    let server = Server::new(|path, _| redirect("302 Found", &format!("{path}x"))).await;
    let error = failed(fetch(&fetcher(), &server.url("/")).await);
    assert_eq!(error, FetchError::TooManyRedirects { limit: 10 });
    assert_eq!(server.paths().len(), 11);
    let error = failed(fetch(&fetcher_with(&["redirects = 0"]), &server.url("/")).await);
    assert_eq!(error, FetchError::TooManyRedirects { limit: 0 });
}

#[tokio::test]
async fn redirects_without_a_valid_location_fail() {
    for headers in
        ["", "Location: http://[::1\r\n", "Location: http://\u{fffd}/\r\n", "Location: //\r\n"]
    {
        let server = Server::always(reply("302 Found", headers, "")).await;
        let error = failed(fetch(&fetcher(), &server.url("/")).await);
        assert!(
            matches!(error, FetchError::InvalidLocation { status: 302, .. }),
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
            FetchOutcome::Refused(GuardRefusal::Redirect { scheme }) => {
                assert!(to.starts_with(&scheme))
            }
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
    let request =
        FetchRequest::new(&server.url("/start")).unwrap().with_header("Authorization", "hunter2");
    let request = request.unwrap().with_header("Cookie", "a=b").unwrap();
    let result = fetcher().fetch(&request).await;
    assert!(!format!("{request:?} {result:?}").contains("hunter2"));
    assert_eq!(text(result), "x");
    for head in server.heads() {
        assert!(head.contains("authorization: hunter2\r\n") && head.contains("cookie: a=b\r\n"));
    }
    let head = &other.heads()[0];
    assert!(!head.contains("hunter2") && !head.contains("cookie"), "{head}");
}

#[tokio::test]
async fn an_invalid_location_is_shown() {
    for (to, message) in [
        ("http://[::1/\u{e4}", r"invalid redirect (302): `http://[::1/\xc3\xa4` is not a URL"),
        ("http://me:hunter2@[::1/", "invalid redirect (302): `…@[::1/` is not a URL"),
    ] {
        let server = Server::always(redirect("302 Found", to)).await;
        assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).to_string(), message);
    }
}
