//! What an honest server says.

use std::time::Duration;

use freshet_fetch::{Blame, Coding, FetchError, Outcome, Request, Validators, Wait};
use url::Url;

use crate::server::{Server, Step, ok, redirect, reply};
use crate::{content, failed, fetch, fetcher, fetcher_with, text};

#[tokio::test]
async fn content_comes_with_its_record() {
    let headers = "Content-Type: Text/HTML; charset=iso-8859-1\r\nETag: \"v1\"\r\n\
                   Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nCache-Control: max-age=60\r\n";
    let server = Server::always(reply("200 OK", headers, b"gr\xfcn")).await;
    let answer = fetch(&fetcher(), &server.url("/a?b#part")).await;
    let trace = &answer.trace;
    assert_eq!(trace.status(), Some(200));
    assert_eq!(trace.final_url().unwrap().as_str(), server.url("/a?b"));
    assert_eq!((trace.sizes.wire, trace.sizes.body, trace.requests), (4, 4, 1));
    assert_eq!(trace.hops[0].address, Some(server.address));
    assert_eq!(trace.hops[0].version, Some("HTTP/1.1"));
    assert_eq!(trace.cache.max_age, Some(Duration::from_secs(60)));
    let validators = trace.validators.clone().unwrap();
    assert_eq!(validators.etag.as_deref(), Some("\"v1\""));
    assert_eq!(validators.last_modified.as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
    assert!(trace.moved().is_none());
    let content = content(answer);
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
async fn what_has_not_changed_is_not_sent_again() {
    let server = Server::new(|_, number| match number {
        1 => reply("200 OK", "ETag: \"v1\"\r\nLast-Modified: then\r\n", "x"),
        _ => vec![Step::Send(b"HTTP/1.1 304 Not Modified\r\nETag: \"v2\"\r\n\r\n".to_vec())],
    })
    .await;
    let fetcher = fetcher();
    let validators = fetch(&fetcher, &server.url("/")).await.trace.validators.unwrap();
    let request = Request::new(&server.url("/")).unwrap().since(validators.clone());
    let answer = fetcher.fetch(&request).await;
    assert!(matches!(answer.outcome, Outcome::NotModified), "{answer:?}");
    let etag = Some("\"v2\"".to_owned());
    assert_eq!(answer.trace.validators, Some(Validators { etag, ..validators }));
    let head = &server.heads()[1];
    assert!(head.contains("if-none-match: \"v1\"\r\n"), "{head}");
    assert!(head.contains("if-modified-since: then\r\n"), "{head}");
}

#[tokio::test]
async fn validators_are_for_their_own_page_only() {
    let server = Server::always(ok("x")).await;
    let url = Url::parse(&server.url("/other")).unwrap();
    let validators =
        Validators { url, is_start: false, etag: Some("\"v1\"".to_owned()), last_modified: None };
    let request = Request::new(&server.url("/")).unwrap().since(validators);
    content(fetcher().fetch(&request).await);
    assert!(!server.heads()[0].contains("if-none-match"));
}

#[tokio::test]
async fn not_modified_without_being_asked_is_a_fault() {
    let server = Server::saying("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    assert_eq!(failed(fetch(&fetcher(), &server.url("/")).await).name(), "protocol");
}

#[tokio::test]
async fn absences_and_failures_are_told_apart() {
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
        let answer = fetch(&fetcher, &server.url(path)).await;
        assert!(matches!(answer.outcome, Outcome::Gone), "{answer:?}");
    }
    for (path, status, blame, wait) in [
        ("/403", 403, Blame::Source, None),
        ("/206", 206, Blame::Source, None),
        ("/500", 500, Blame::Host, None),
        ("/503", 503, Blame::Host, Some(120)),
        ("/429", 429, Blame::Host, Some(3600)),
    ] {
        let answer = fetch(&fetcher, &server.url(path)).await;
        let wish = answer.trace.retry_after;
        assert_eq!(wish, wait.map(|it| Wait::For(Duration::from_secs(it))), "{path}");
        let error = failed(answer);
        assert_eq!((&error, error.blame()), (&FetchError::Status { status }, blame));
    }
    // Bodies that nobody wants are passed over, and the connection stays.
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_head_is_enough() {
    let server =
        Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\nETag: x\r\n\r\n").await;
    let answer = fetcher().fetch(&Request::new(&server.url("/")).unwrap().head()).await;
    assert_eq!(answer.trace.validators.as_ref().unwrap().etag.as_deref(), Some("x"));
    assert!(content(answer).body.is_empty());
    assert!(server.heads()[0].starts_with("HEAD / "));
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::always(ok("x")).await;
    let fetcher = fetcher();
    for number in 0..5 {
        let answer = fetch(&fetcher, &server.url("/")).await;
        assert_eq!(answer.trace.hops[0].reused, number > 0);
        assert_eq!(text(answer), "x");
    }
    assert_eq!(server.connections(), 1);
    let kept_none = fetcher_with(&["kept = 0"]);
    for _ in 0..2 {
        assert!(!fetch(&kept_none, &server.url("/")).await.trace.hops[0].reused);
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_nobodys_fault() {
    // Closes after each answer without saying so.
    let server = Server::new(|_, _| [ok("x"), vec![Step::Close]].concat()).await;
    let fetcher = fetcher();
    for _ in 0..5 {
        assert_eq!(text(fetch(&fetcher, &server.url("/")).await), "x");
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn a_connection_that_dies_with_the_second_request_is_tried_once_more() {
    let server = Server::new(|path, number| match (path, number) {
        ("/a", _) => ok("x"),
        (_, 2) => vec![Step::Close],
        _ => ok("y"),
    })
    .await;
    let fetcher = fetcher();
    fetch(&fetcher, &server.url("/a")).await;
    let answer = fetch(&fetcher, &server.url("/b")).await;
    assert_eq!(answer.trace.requests, 2);
    assert_eq!(text(answer), "y");
    assert_eq!(server.paths(), ["/a", "/b", "/b"]);
}

#[tokio::test]
async fn bodies_of_all_framings_are_whole() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for answer in [chunked, "HTTP/1.1 200 OK\r\n\r\nabcde", "HTTP/1.0 200 OK\r\n\r\nabcde"] {
        let server = Server::saying(answer).await;
        assert_eq!(text(fetch(&fetcher(), &server.url("/")).await), "abcde");
    }
    let server = Server::saying("HTTP/1.1 204 No Content\r\n\r\n").await;
    let answer = fetch(&fetcher(), &server.url("/")).await;
    assert_eq!(answer.trace.codings, Vec::<Coding>::new());
    assert_eq!(text(answer), "");
}

#[tokio::test]
async fn a_connection_is_kept_for_no_longer_than_it_may() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let fetcher = fetcher_with(&["keep = \"100ms\""]);
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        crate::server::read_head(&mut stream).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";
        tokio::io::AsyncWriteExt::write_all(&mut stream, answer).await.unwrap();
        // The end of what the other side sends.
        assert!(crate::server::read_head(&mut stream).await.is_none());
    });
    assert_eq!(text(fetch(&fetcher, &url).await), "x");
    let closed = tokio::time::timeout(Duration::from_secs(60), served).await;
    assert!(matches!(closed, Ok(Ok(()))), "{closed:?}");
}

#[tokio::test]
async fn written_validators_are_for_where_the_url_leads_within_its_origin() {
    let other = Server::always(ok("x")).await;
    let away = other.url("/page");
    let server = Server::new(move |path, _| match path {
        "/start" => redirect("302 Found", "/page"),
        "/leave" => redirect("302 Found", &away),
        _ => reply("304 Not Modified", "", ""),
    })
    .await;
    let request = |path: &str| {
        let request = Request::new(&server.url(path)).unwrap();
        let validators = Validators::new(request.url(), Some("\"v1\""), None).unwrap();
        request.since(validators)
    };
    let answer = fetcher().fetch(&request("/start")).await;
    assert!(matches!(answer.outcome, Outcome::NotModified), "{answer:?}");
    let validators = answer.trace.validators.unwrap();
    assert_eq!((validators.url.path(), validators.is_start), ("/page", false));
    assert_eq!(text(fetcher().fetch(&request("/leave")).await), "x");
    assert!(!other.heads()[0].contains("if-none-match"), "{}", other.heads()[0]);
}
