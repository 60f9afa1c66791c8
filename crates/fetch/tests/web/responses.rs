//! Responses of well-behaved servers.

use std::time::Duration;

use freshet_fetch::{
    ContentCoding, FetchBlame, FetchError, FetchOutcome, FetchRequest, RetryAfter, Validators,
};
use url::Url;

use crate::server::{Server, Step, ok, redirect, reply};
use crate::{content, failed, fetch, fetcher, fetcher_with, text};

#[tokio::test]
async fn content_comes_with_its_record() {
    let headers = "Content-Type: Text/HTML; charset=iso-8859-1\r\nETag: \"v1\"\r\n\
                   Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: max-age=60\r\n";
    let server = Server::always(reply("200 OK", headers, b"gr\xfcn")).await;
    let result = fetch(&fetcher(), &server.url("/a?b#part")).await;
    let trace = &result.trace;
    assert_eq!(trace.status(), Some(200));
    assert_eq!(trace.final_url().unwrap().as_str(), server.url("/a?b"));
    assert_eq!((trace.body_sizes.encoded, trace.body_sizes.decoded, trace.requests), (4, 4, 1));
    assert_eq!(trace.hops[0].address, Some(server.address));
    assert_eq!(trace.hops[0].version, Some("HTTP/1.1"));
    assert_eq!(trace.cache_hint.max_age, Some(Duration::from_secs(60)));
    let validators = trace.validators.clone().unwrap();
    assert_eq!(validators.etag.as_deref(), Some("\"v1\""));
    assert_eq!(validators.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(trace.moved_permanently_to().is_none());
    let content = content(result);
    assert_eq!(content.media_type.as_deref(), Some("text/html"));
    assert_eq!((content.charset().name(), content.text().text.as_ref()), ("windows-1252", "grün"));
}

#[tokio::test]
async fn a_request_is_honest() {
    let server = Server::always(ok("x")).await;
    fetch(&fetcher(), &server.url("/")).await;
    fetch(&fetcher_with(&["contact = \"mailto:me@example.com\""]), &server.url("/")).await;
    fetch(&fetcher_with(&["user_agent = \"other/2 (x)\""]), &server.url("/")).await;
    let heads = server.heads().map_lower();
    assert!(
        heads[0].contains("user-agent: freshet/0.1 (keeps a local copy fresh; no contact given)")
    );
    assert!(heads[0].contains(&format!("host: {}\r\n", server.address)));
    assert!(heads[0].contains("accept-encoding: gzip, br, zstd, deflate\r\n"));
    assert!(heads[1].contains("user-agent: freshet/0.1 (+mailto:me@example.com)\r\n"));
    assert!(heads[2].contains("user-agent: other/2 (x)\r\n"));
}

trait Lower {
    fn map_lower(self) -> Vec<String>;
}

impl Lower for Vec<String> {
    fn map_lower(self) -> Vec<String> {
        self.into_iter().map(|it| it.to_lowercase()).collect()
    }
}

#[tokio::test]
async fn a_conditional_request_gets_not_modified() {
    let server = Server::new(|_, number| match number {
        1 => reply("200 OK", "ETag: \"v1\"\r\nLast-Modified: then\r\n", "x"),
        _ => vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\nETag: \"v2\"\r\n\r\n".to_vec())],
    })
    .await;
    let fetcher = fetcher();
    let validators = fetch(&fetcher, &server.url("/")).await.trace.validators.unwrap();
    let request = FetchRequest::new(&server.url("/")).unwrap().with_validators(validators.clone());
    let result = fetcher.fetch(&request).await;
    assert!(matches!(result.outcome, FetchOutcome::NotModified), "{result:?}");
    let etag = Some("\"v2\"".to_owned());
    assert_eq!(result.trace.validators, Some(Validators { etag, ..validators }));
    let head = &server.heads()[1];
    assert!(head.contains("if-none-match: \"v1\"\r\n"), "{head}");
    assert!(head.contains("if-modified-since: then\r\n"), "{head}");
}

#[tokio::test]
async fn validators_are_sent_to_their_own_page_only() {
    let server = Server::always(ok("x")).await;
    let url = Url::parse(&server.url("/other")).unwrap();
    let validators = Validators {
        url,
        applies_to_origin: false,
        etag: Some("\"v1\"".to_owned()),
        last_modified: None,
    };
    let request = FetchRequest::new(&server.url("/")).unwrap().with_validators(validators);
    content(fetcher().fetch(&request).await);
    assert!(!server.heads()[0].contains("if-none-match"));
}

#[tokio::test]
async fn an_unexpected_304_fails() {
    let server = Server::saying("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "protocol");
}

#[tokio::test]
async fn gone_and_failed_are_distinguished() {
    let server = Server::new(|path, _| match path {
        "/404" => reply("404 Not Found", "", "no"),
        "/410" => reply("410 Gone", "", "no"),
        "/403" => reply("403 Forbidden", "", "no"),
        "/206" => reply("206 Partial Content", "", "no"),
        "/500" => reply("500 Oops", "", "no"),
        "/503" => reply("503 Busy", "Retry-After: 120\r\n", "no"),
        "/429" => reply(
            "429 Slow down",
            "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 07:49:37 GMT\r\n",
            "no",
        ),
        _ => ok(""),
    })
    .await;
    let fetcher = fetcher();
    for path in ["/404", "/410"] {
        let result = fetch(&fetcher, &server.url(path)).await;
        assert!(matches!(result.outcome, FetchOutcome::Gone), "{result:?}");
    }
    for (path, status, blame, expected_seconds) in [
        ("/403", 403, FetchBlame::Source, None),
        ("/206", 206, FetchBlame::Source, None),
        ("/500", 500, FetchBlame::Host, None),
        ("/503", 503, FetchBlame::Host, Some(120)),
        ("/429", 429, FetchBlame::Host, Some(3600)),
    ] {
        let result = fetch(&fetcher, &server.url(path)).await;
        let retry_after = result.trace.retry_after;
        assert_eq!(
            retry_after,
            expected_seconds.map(|it| RetryAfter::Delay(Duration::from_secs(it))),
            "{path}"
        );
        let error = failed(result);
        assert_eq!((&error, error.blame()), (&FetchError::Status { status }, blame));
    }
    // Unwanted bodies are drained, and the connection is reused.
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_head_request_returns_validators() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\nETag: x\r\n\r\n").await;
    let result = fetcher().fetch(&FetchRequest::new(&server.url("/")).unwrap().head_only()).await;
    assert_eq!(result.trace.validators.as_ref().unwrap().etag.as_deref(), Some("x"));
    assert!(content(result).body.is_empty());
    assert!(server.heads()[0].starts_with("HEAD / "));
}

#[tokio::test]
async fn connections_are_reused() {
    let server = Server::always(ok("x")).await;
    let fetcher = fetcher();
    for number in 0..5 {
        let result = fetch(&fetcher, &server.url("/")).await;
        assert_eq!(result.trace.hops[0].reused, number > 0);
        assert_eq!(text(result), "x");
    }
    assert_eq!(server.connections(), 1);
    let kept_none = fetcher_with(&["kept = 0"]);
    for _ in 0..2 {
        assert!(!fetch(&kept_none, &server.url("/")).await.trace.hops[0].reused);
    }
}

#[tokio::test]
async fn a_pooled_connection_that_was_closed_is_replaced() {
    // Closes after each response without announcing it.
    let server = Server::new(|_, _| [ok("x"), vec![Step::Close]].concat()).await;
    let fetcher = fetcher();
    for _ in 0..5 {
        assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "x");
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn a_request_is_retried_if_its_pooled_connection_closes() {
    let server = Server::new(|path, number| match (path, number) {
        ("/a", _) => ok("x"),
        (_, 2) => vec![Step::Close],
        _ => ok("y"),
    })
    .await;
    let fetcher = fetcher();
    fetch(&fetcher, &server.url("/a")).await;
    let result = fetch(&fetcher, &server.url("/b")).await;
    assert_eq!(result.trace.requests, 2);
    assert_eq!(text(result), "y");
    assert_eq!(server.paths(), ["/a", "/b", "/b"]);
}

#[tokio::test]
async fn bodies_of_all_framings_are_read() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for result in [chunked, "HTTP/1.1 200 OK\r\n\r\nabcde", "HTTP/1.0 200 OK\r\n\r\nabcde"] {
        let server = Server::saying(result).await;
        assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "abcde");
    }
    let server = Server::saying("HTTP/1.1 204 No Content\r\n\r\n").await;
    let result = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(result.trace.codings, Vec::<ContentCoding>::new());
    assert_eq!(text(result), "");
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_timeout() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let fetcher = fetcher_with(&["keep = \"100ms\""]);
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        crate::server::read_head(&mut stream).await.unwrap();
        let result = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        tokio::io::AsyncWriteExt::write_all(&mut stream, result).await.unwrap();
        // End of the client's data.
        assert!(crate::server::read_head(&mut stream).await.is_none());
    });
    assert_eq!(text(fetch(&fetcher, &url).await), "x");
    let closed = tokio::time::timeout(Duration::from_secs(60), served).await;
    assert!(matches!(closed, Ok(Ok(()))), "{closed:?}");
}

#[tokio::test]
async fn user_validators_apply_to_redirects_within_the_origin() {
    let other = Server::always(ok("x")).await;
    let away = other.url("/page");
    let server = Server::new(move |path, _| match path {
        "/start" => redirect("302 Found", "/page"),
        "/leave" => redirect("302 Found", &away),
        _ => reply("304 Not Modified", "", ""),
    })
    .await;
    let request = |path: &str| {
        let request = FetchRequest::new(&server.url(path)).unwrap();
        let validators = Validators::new(request.url(), Some("\"v1\""), None).unwrap();
        request.with_validators(validators)
    };
    let result = fetcher().fetch(&request("/start")).await;
    assert!(matches!(result.outcome, FetchOutcome::NotModified), "{result:?}");
    let validators = result.trace.validators.unwrap();
    assert_eq!((validators.url.path(), validators.applies_to_origin), ("/page", false));
    assert_eq!(text(fetcher().fetch(&request("/leave")).await), "x");
    assert!(!other.heads()[0].contains("if-none-match"), "{}", other.heads()[0]);
}
