//! Tests of the change stream.

use std::time::Duration;

use freshet_store::Retention;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::changes::service_with_changes;
use crate::client::Service;

/// A client of the stream.
struct Follower {
    stream: TcpStream,
    text: String,
}

impl Follower {
    async fn open(service: &Service, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        let host = service.address;
        let head =
            format!("GET /v1/changes/stream{path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut follower = Self { stream, text: String::new() };
        follower.read_until("\r\n\r\n").await;
        assert!(follower.text.starts_with("HTTP/1.1 200"), "{}", follower.text);
        assert!(follower.text.contains("text/event-stream"));
        follower
    }

    /// Reads until a text is received.
    async fn read_until(&mut self, part: &str) {
        let mut bytes = [0; 4096];
        while !self.text.contains(part) {
            let read = timeout(Duration::from_secs(60), self.stream.read(&mut bytes)).await;
            let count = read.unwrap_or_else(|_| panic!("no {part} in {}", self.text)).unwrap();
            assert!(count > 0, "the stream ended: {}", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    /// Returns the ids of the events received, in order, without those of heartbeats.
    fn ids(&self) -> Vec<i64> {
        let lines: Vec<&str> = self.text.lines().collect();
        let with_event = lines.windows(2).filter(|pair| pair[1].starts_with("event: "));
        with_event.filter_map(|pair| pair[0].strip_prefix("id: ")?.parse().ok()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_client_receives_all_entries_from_its_position() {
    let service = service_with_changes().await;
    let mut all = Follower::open(&service, "?after=0", "").await;
    let mut back = Follower::open(&service, "?after=0", "Last-Event-ID: 4\r\n").await;
    let mut news = Follower::open(&service, "?after=0&tag=news", "").await;
    let mut now = Follower::open(&service, "", "").await;
    all.read_until("id: 6\n").await;
    service.report_texts(0, &["news of today"]).await;
    service.report_texts(1, &["and the rest"]).await;
    for follower in [&mut all, &mut back, &mut now] {
        follower.read_until("id: 8\nevent: changed\ndata: {").await;
    }
    news.read_until("id: 7\nevent").await;
    assert_eq!(all.ids(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(back.ids(), [5, 6, 7, 8]);
    assert_eq!(now.ids(), [7, 8]);
    assert_eq!(news.ids(), [1, 3, 5, 7]);
    for invalid in ["x", "é"] {
        service
            .send("GET", "/v1/changes/stream", &[("Last-Event-ID", invalid)], "")
            .await
            .assert_problem(400, Some("Last-Event-ID"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_carry_the_position_and_the_stream_ends_with_the_server() {
    let mut service =
        Service::start_with("", |it| it.timeouts.heartbeat = Duration::from_millis(20)).await;
    let mut follower = Follower::open(&service, "", "").await;
    follower.read_until(": beat\nid: 0\n\n").await;
    service.server.take().unwrap().stop().await;
    let mut rest = Vec::new();
    // The stream ends and does not hang.
    timeout(Duration::from_secs(60), follower.stream.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_entries_are_announced() {
    let service = service_with_changes().await;
    let handle = service.daemon.handle();
    let now = handle.now();
    let pruned = handle.write(move |store| {
        store.set_retention(Retention { change_days: 1.0, ..Retention::default() });
        // Two days later, all entries have expired.
        store.prune(now + 2 * 86_400_000)
    });
    pruned.await.unwrap();
    service.get("/v1/changes?after=2").await.assert_problem(410, Some("after"));
    assert_eq!(service.get("/v1/changes").await.ok()["items"].as_array().unwrap().len(), 0);
    let mut follower = Follower::open(&service, "?after=2", "").await;
    follower.read_until("event: forgotten\ndata: {").await;
    assert!(follower.text.contains("\"from\":6"), "{}", follower.text);
    let mut ahead = Follower::open(&service, "?after=99", "").await;
    ahead.read_until("event: forgotten\ndata: {").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_receive_the_same_entries() {
    let service = Service::start().await;
    service.add(&["https://a.example/"]).await;
    let mut followers = Vec::new();
    for _ in 0..200 {
        followers.push(Follower::open(&service, "", "").await);
    }
    service.report_texts(0, &["one", "two", "three"]).await;
    for follower in &mut followers {
        follower.read_until("id: 2\nevent").await;
        assert_eq!(follower.ids(), [1, 2]);
    }
    let metrics = service.get("/metrics").await;
    assert!(metrics.body.contains("freshet_stream_clients 200"), "{}", metrics.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_when_its_token_is_revoked() {
    let service = service_with_changes().await;
    let secret = service.token("reader", &[freshet_server::Scope::Read]).await;
    let authorization = format!("Authorization: Bearer {secret}\r\nConnection: close\r\n");
    let mut follower = Follower::open(&service, "?after=0", &authorization).await;
    follower.read_until("id: 6\n").await;
    service.daemon.handle().remove_token("reader".to_owned()).await.unwrap();
    service.report_texts(0, &["for nobody any more"]).await;
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_secs(60), follower.stream.read_to_end(&mut rest)).await;
    ended.expect("it ends").unwrap();
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("event: changed"), "{rest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_after_the_limit() {
    let service = Service::start().await;
    let source = service.add(&["https://a.example/"]).await[0];
    service.report_texts(source, &["one", "two words", "three more words", "something else"]).await;
    let answer = service.get("/v1/changes/stream?after=0&limit=2").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["content-type"], "text/event-stream");
    assert_eq!(answer.body.matches("event: changed").count(), 2, "{}", answer.body);
    service.get("/v1/changes/stream?limit=0").await.assert_problem(400, Some("limit"));
    service.get("/v1/changes/stream?wait=1").await.assert_problem(400, Some("wait"));
}
