//! POST requests.

use std::sync::{Arc, Mutex};

use freshet_fetch::{FetchOutcome, FetchRequest, FetchResponse, Fetcher, GuardRefusal, RetryAfter};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::server::read_head;
use crate::{content, fetcher, fetcher_with, settings};

/// Starts a receiver on loopback that always sends the same response and records the requests:
/// heads and bodies.
async fn receiver(answer: &'static str) -> (String, Arc<Mutex<Vec<(String, Vec<u8>)>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let received: Arc<Mutex<Vec<_>>> = Arc::default();
    let record = Arc::clone(&received);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let record = Arc::clone(&record);
            tokio::spawn(async move {
                while let Some(head) = read_head(&mut stream).await {
                    let lower = head.to_ascii_lowercase();
                    let length = lower.split("content-length: ").nth(1);
                    let length = length.and_then(|it| it.split('\r').next()?.parse().ok());
                    let mut body = vec![0; length.unwrap_or(0)];
                    stream.read_exact(&mut body).await.unwrap();
                    record.lock().unwrap().push((lower, body));
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, received)
}

async fn post(fetcher: &Fetcher, url: &str, body: &str) -> FetchResponse {
    let request = FetchRequest::new(url)
        .unwrap()
        .with_post_body("application/json", body.to_owned())
        .unwrap();
    let request = request.with_header("webhook-id", "msg_1").unwrap();
    fetcher.fetch(&request).await
}

#[tokio::test]
async fn a_post_body_arrives_unchanged_without_a_robots_check() {
    let (url, received) = receiver("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let fetcher = fetcher_with(&["robots = true"]);
    for body in ["{\"a\": 1}", "", "zweite \u{fc}"] {
        let answer = post(&fetcher, &url, body).await;
        assert_eq!(answer.trace.status(), Some(200));
        assert_eq!(content(answer).body, b"ok");
    }
    let received = received.lock().unwrap();
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|(head, _)| {
        head.starts_with("post /hook http/1.1\r\n")
            && head.contains("content-type: application/json\r\n")
            && head.contains("webhook-id: msg_1\r\n")
            && head.contains("user-agent: freshet")
    }));
    assert_eq!(received[2].1, "zweite \u{fc}".as_bytes());
}

#[tokio::test]
async fn a_post_accepts_any_status_and_follows_no_redirect() {
    let (private, reached) = receiver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let answers: [(&'static str, u16); 4] = [
        ("HTTP/1.1 307 Go\r\nLocation: TARGET\r\nContent-Length: 0\r\n\r\n", 307),
        ("HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone", 410),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", 500),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204),
    ];
    for (text, status) in answers {
        let text: &'static str = text.replace("TARGET", &private).leak();
        let (url, _) = receiver(text).await;
        let answer = post(&fetcher(), &url, "x").await;
        assert_eq!(answer.trace.status(), Some(status));
        assert_eq!(answer.trace.hops.len(), 1);
        // The redirect target is reported.
        let to = answer.trace.redirect_target.as_ref().map(ToString::to_string);
        assert_eq!(to, (status == 307).then(|| private.clone()));
        content(answer);
    }
    assert!(reached.lock().unwrap().is_empty());
}

#[tokio::test]
async fn retry_after_of_a_post_is_reported() {
    let (url, _) =
        receiver("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n").await;
    let answer = post(&fetcher(), &url, "x").await;
    let seven = std::time::Duration::from_secs(7);
    assert_eq!(answer.trace.retry_after, Some(RetryAfter::Delay(seven)));
}

#[tokio::test]
async fn the_guard_applies_to_posts() {
    let (url, received) = receiver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let closed = Fetcher::new(settings("robots = false"));
    let port = url.rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "localhost"] {
        let answer = post(&closed, &format!("http://{host}:{port}"), "x").await;
        assert!(matches!(answer.outcome, FetchOutcome::Refused(_)), "{host}: {:?}", answer.outcome);
    }
    let answer = post(&closed, "file:///etc/hostname", "x").await;
    assert!(matches!(answer.outcome, FetchOutcome::Refused(GuardRefusal::Scheme { .. })));
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_post_has_no_headers_of_rules() {
    let (url, received) = receiver("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let rules = "allow = [\"127.0.0.1\"]\n[[rules]]\nmatch = \"http://127.0.0.1\"\n\
        headers = { x-inside = \"yes\", authorization = \"Bearer hunter2\" }";
    post(&Fetcher::new(settings(rules)), &url, "x").await;
    let (head, _) = received.lock().unwrap()[0].clone();
    assert!(!head.contains("x-inside") && !head.contains("hunter2"), "{head}");
}

#[tokio::test]
async fn a_long_post_response_is_truncated() {
    let long: &'static str =
        format!("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{}", "x".repeat(1_000_000))
            .leak();
    let (url, _) = receiver(long).await;
    let answer = post(&fetcher(), &url, "x").await;
    assert_eq!(answer.trace.status(), Some(200));
    assert!(content(answer).body.len() <= 8 * 1024);
}

#[test]
fn an_invalid_media_type_is_an_error() {
    let request = FetchRequest::new("http://example.com/").unwrap();
    assert!(request.with_post_body("text/plain\r\nx: y", "").is_err());
}
