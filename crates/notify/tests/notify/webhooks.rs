//! Webhooks: delivery in order, signatures, retries.

use std::collections::HashSet;
use std::time::Duration;

use freshet_notify::{DestinationHealth, FailureKind, RawFilter, Target};

use crate::receiver::Receiver;
use crate::test_daemon::{FAST_RETRIES, TestDaemon, wait_until, webhook};

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_delivered_with_a_signature() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let raw = webhook(&receiver.url);
    let secret = secret_of(&raw);
    let id = daemon.add_destination("hook", raw).await;
    let cursor = daemon.log_change(1, "one word").await;
    wait_until("arrived", async || receiver.cursors() == [cursor]).await;
    let request = receiver.requests().remove(0);
    let entry = &request.json()["entries"][0];
    assert_eq!(entry["url"], "https://a.example/news");
    assert_eq!(entry["kind"], "changed");
    assert_eq!(entry["summary"], "one word");
    assert_eq!(entry["links"]["source"], "/v1/sources/1");
    assert!(request.is_signed_by(&secret));
    assert!(request.headers["webhook-id"].starts_with("msg_"));
    assert_eq!(request.headers["content-type"], "application/json");
    wait_until("cursor recorded", async || daemon.destination(id).await.cursor == cursor).await;
    assert!(daemon.destination(id).await.delivered_at.is_some());
    daemon.stop().await;
}

fn secret_of(raw: &freshet_notify::RawTarget) -> String {
    match &raw.to {
        freshet_notify::RawChannel::Webhook(it) => it.keys[0].reveal_secret().to_owned(),
        _ => unreachable!(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_arrive_in_order_and_ids_stay_although_half_of_the_attempts_fail() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    // Every second request fails, in different ways.
    let receiver = Receiver::new(|n| match n % 6 {
        1 => Some((500, String::new())),
        3 => Some((429, String::new())),
        5 => Some((408, String::new())),
        _ => Some((200, String::new())),
    })
    .await;
    daemon.add_destination("hook", webhook(&receiver.url)).await;
    let mut cursors = Vec::new();
    for round in 0..40 {
        cursors.push(daemon.log_change(round % 3, "x").await);
    }
    wait_until("all arrived", async || receiver.cursors().len() >= cursors.len()).await;
    assert_eq!(receiver.cursors(), cursors);
    // A retry has the same id and body, and a new signature.
    let requests = receiver.requests();
    for pair in requests.windows(2) {
        let same = pair[0].headers["webhook-id"] == pair[1].headers["webhook-id"];
        assert_eq!(same, !pair[0].accepted);
        assert_eq!(same, pair[0].body == pair[1].body);
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_keeps_its_id_over_a_restart() {
    let mut daemon = TestDaemon::new(FAST_RETRIES).await;
    let receiver = Receiver::new(|n| (n > 1).then(|| (200, String::new()))).await;
    daemon.add_destination("hook", webhook(&receiver.url)).await;
    let first = daemon.log_change(0, "x").await;
    wait_until("sent", async || receiver.count() == 1).await;
    // Entries logged meanwhile are not added to the delivery in flight.
    let second = daemon.log_change(0, "y").await;
    daemon.restart(None).await;
    wait_until("both arrived", async || receiver.cursors().len() == 2).await;
    assert_eq!(receiver.cursors(), [first, second]);
    let ids: Vec<_> =
        receiver.requests().iter().map(|it| it.headers["webhook-id"].clone()).collect();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_entries_are_delivered_in_batches() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    daemon.pause(id, true).await;
    let last = daemon.log_changes(&[(0, "x"); 250]).await;
    daemon.pause(id, false).await;
    wait_until("all arrived", async || daemon.destination(id).await.cursor == last).await;
    let sizes: Vec<_> = receiver.requests().iter().map(|it| it.cursors().len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
    assert_eq!(receiver.cursors(), (last - 249..=last).collect::<Vec<_>>());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_matching_entries_are_delivered() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let mut raw = webhook(&receiver.url);
    raw.filter = RawFilter { url: Some("a.example/news".into()), ..RawFilter::default() };
    daemon.add_destination("hook", raw).await;
    daemon.log_changes(&[(0, "x"), (2, "x"), (0, "x")]).await;
    let matching = daemon.log_change(1, "x").await;
    wait_until("arrived", async || receiver.cursors() == [matching]).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_is_one_message() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let mut raw = webhook(&receiver.url);
    raw.digest = Some("1h".into());
    daemon.add_destination("hook", raw).await;
    let mut cursors = Vec::new();
    for source in [0, 1, 2, 0] {
        cursors.push(daemon.log_change(source, "x").await);
    }
    assert_eq!(receiver.count(), 0);
    daemon.advance_clock(Duration::from_secs(3600)).await;
    wait_until("arrived", async || !receiver.cursors().is_empty()).await;
    assert_eq!((receiver.requests().len(), receiver.cursors()), (1, cursors));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_deliveries_are_given_up_and_later_ones_arrive() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    // The first delivery fails transiently in all attempts, the second permanently.
    let receiver = Receiver::new(|n| match n {
        1..=5 => Some((503, String::new())),
        6..=8 => Some((422, String::new())),
        _ => Some((200, String::new())),
    })
    .await;
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    let first = daemon.log_change(0, "x").await;
    wait_until("given up", async || daemon.destination(id).await.cursor == first).await;
    let second = daemon.log_change(0, "y").await;
    wait_until("second one given up", async || daemon.destination(id).await.cursor == second).await;
    let third = daemon.log_change(0, "z").await;
    wait_until("third one delivered", async || receiver.cursors() == [third]).await;
    let dead = daemon.dead_letters(id).await;
    let tried: Vec<_> =
        dead.iter().map(|it| (it.delivery.first_cursor, it.delivery.attempts)).collect();
    assert_eq!(tried, [(first, 5), (second, 3)]);
    assert_eq!(dead[0].delivery.error, "HTTP status 503");
    // Resent deliveries keep their ids.
    let retried = daemon.notifier.retry_dead_letters(id).await.unwrap().unwrap();
    assert_eq!((retried.sent, retried.remaining), (2, 0));
    assert!(daemon.destination(id).await.delivered_at.is_some());
    assert_eq!(receiver.cursors(), [third, first, second]);
    let requests = receiver.requests();
    assert_eq!(requests[0].headers["webhook-id"], requests[9].headers["webhook-id"]);
    assert_eq!(requests[0].body, requests[9].body);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn status_410_pauses_a_destination_and_loses_nothing() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 410 } else { 200 }, String::new()))).await;
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    let cursor = daemon.log_change(0, "x").await;
    wait_until("paused", async || daemon.destination(id).await.paused).await;
    let row = daemon.destination(id).await;
    assert!(row.error.unwrap().contains("410"));
    assert!(row.cursor < cursor);
    daemon.pause(id, false).await;
    wait_until("delivered", async || receiver.cursors() == [cursor]).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_is_respected() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let receiver = Receiver::new(|_| Some((429, "Retry-After: 3600\r\n".into()))).await;
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    daemon.log_change(0, "x").await;
    wait_until("postponed", async || daemon.destination(id).await.retry_at.is_some()).await;
    let wait = daemon.destination(id).await.retry_at.unwrap() - daemon.handle.now();
    assert!((3_500_000..=3_600_000).contains(&wait), "{wait}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_receiver_delays_no_other() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let (slow, quick) = (Receiver::new(|_| None).await, Receiver::accepting().await);
    daemon.add_destination("slow", webhook(&slow.url)).await;
    daemon.add_destination("quick", webhook(&quick.url)).await;
    let mut cursors = Vec::new();
    for _ in 0..5 {
        cursors.push(daemon.log_change(0, "x").await);
        wait_until("arrived", async || quick.cursors() == cursors).await;
    }
    wait_until("slow receiver has a request", async || slow.requests().len() == 1).await;
    // The notifier still stops in time.
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_keys_sign_during_a_rotation() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let raw = webhook(&receiver.url);
    let old = secret_of(&raw);
    let id = daemon.add_destination("hook", raw.clone()).await;
    let key = daemon.rotate_key(id, Duration::from_secs(3600)).await;
    daemon.log_change(0, "x").await;
    wait_until("arrived", async || receiver.count() == 1).await;
    let request = receiver.requests().remove(0);
    assert!(request.is_signed_by(&old) && request.is_signed_by(&key));
    // The old key expires.
    let newest = daemon.rotate_key(id, Duration::ZERO).await;
    daemon.log_change(0, "y").await;
    wait_until("arrived", async || receiver.requests().len() == 2).await;
    let request = receiver.requests().remove(1);
    assert!(request.is_signed_by(&newest));
    assert!(!request.is_signed_by(&old) && !request.is_signed_by(&key));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_keeps_its_id_with_another_key() {
    let daemon = TestDaemon::new(&FAST_RETRIES.replace("20ms", "10h")).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 503 } else { 200 }, String::new()))).await;
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    let first = daemon.log_change(0, "x").await;
    wait_until("failed", async || daemon.destination(id).await.attempts == 1).await;
    let second = daemon.log_change(0, "y").await;
    let key = daemon.rotate_key(id, Duration::ZERO).await;
    assert_eq!(daemon.destination(id).await.attempts, 1);
    // Resuming retries at once.
    daemon.pause(id, true).await;
    daemon.pause(id, false).await;
    wait_until("both arrived", async || receiver.cursors() == [first, second]).await;
    let requests = receiver.requests();
    assert_eq!(requests[0].headers["webhook-id"], requests[1].headers["webhook-id"]);
    assert_eq!(requests[0].body, requests[1].body);
    assert!(!requests[0].is_signed_by(&key) && requests[1].is_signed_by(&key));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_settings_are_tried_at_once_unless_retry_after_was_requested() {
    let slow = FAST_RETRIES.replace("20ms", "10h");
    let daemon = TestDaemon::new(&slow).await;
    let answer = |first: (u16, &'static str)| {
        Receiver::new(move |n| {
            Some(if n == 1 { (first.0, first.1.into()) } else { (200, "".into()) })
        })
    };
    let (down, busy) = (answer((503, "")).await, answer((503, "Retry-After: 3600\r\n")).await);
    let ids = [
        daemon.add_destination("down", webhook(&down.url)).await,
        daemon.add_destination("busy", webhook(&busy.url)).await,
    ];
    daemon.log_change(0, "x").await;
    for id in ids {
        wait_until("postponed", async || daemon.destination(id).await.retry_at.is_some()).await;
    }
    // A reload without changes does not retry, one with changes does.
    daemon.reload(&slow);
    daemon.reload(FAST_RETRIES);
    wait_until("retried", async || down.count() == 2).await;
    let remaining = daemon.destination(ids[1]).await.retry_at.unwrap() - daemon.handle.now();
    assert!(remaining > 3_000_000 && busy.count() == 1, "{remaining}");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unhealthy_destinations_are_listed_with_error_and_start() {
    let daemon = TestDaemon::new(&FAST_RETRIES.replace("20ms", "10h")).await;
    let (down, good) =
        (Receiver::new(|_| Some((503, String::new()))).await, Receiver::accepting().await);
    daemon.add_destination("good", webhook(&good.url)).await;
    let id = daemon.add_destination("down", webhook(&down.url)).await;
    let paused = daemon.add_destination("paused", webhook(&good.url)).await;
    daemon.pause(paused, true).await;
    let before = daemon.handle.now();
    daemon.log_change(0, "x").await;
    wait_until("failed", async || daemon.destination(id).await.attempts == 1).await;
    let health = daemon.handle.read(DestinationHealth::read).await.unwrap();
    assert_eq!((health.all, health.failing, health.paused, health.dead), (3, 1, 1, 0));
    let [it, other] = &health.troubled[..] else { panic!("{health:?}") };
    assert_eq!((it.name.as_str(), it.why.as_deref()), ("down", Some("HTTP status 503")));
    assert!(it.moments.0.unwrap() >= before && it.next.is_some() && !it.paused);
    assert_eq!((other.name.as_str(), other.paused, &other.why), ("paused", true, &None));
    assert!(other.since.is_some());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pruned_entries_are_reported_as_a_gap() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let first = daemon.log_change(0, "before").await;
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    daemon.pause(id, true).await;
    let last = daemon.log_changes(&[(0, "x"); 3]).await;
    let keep = freshet_store::Retention { change_days: 1.0, ..Default::default() };
    let later = daemon.handle.now() + 3 * 86_400_000;
    daemon
        .handle
        .write(move |store| {
            store.set_retention(keep);
            store.prune(later).map(|_| ())
        })
        .await
        .unwrap();
    let forgotten = daemon.handle.read(|reader| reader.pruned_cursor()).await.unwrap();
    assert_eq!(forgotten, last);
    daemon.pause(id, false).await;
    wait_until("delivered", async || receiver.count() == 1).await;
    let gap = &receiver.requests()[0].json()["gap"];
    assert_eq!((gap["from"].as_i64(), gap["to"].as_i64()), (Some(first + 1), Some(last)));
    let next = daemon.log_change(0, "y").await;
    wait_until("next entry delivered", async || receiver.cursors() == [next]).await;
    assert!(receiver.requests()[1].json().get("gap").is_none());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_notification_returns_the_response() {
    let daemon = TestDaemon::new(FAST_RETRIES).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 202 } else { 418 }, String::new()))).await;
    let target = Target::try_from(webhook(&receiver.url)).unwrap();
    let receipt = daemon.notifier.send_test("hook", &target).await.unwrap();
    assert_eq!(receipt.answer, "202: reply");
    assert!(receipt.sent.contains("1 entry"), "{receipt:?}");
    assert_eq!(receiver.requests()[0].json()["test"], true);
    let error = daemon.notifier.send_test("hook", &target).await.unwrap_err();
    assert_eq!(
        (error.kind, error.response.as_deref()),
        (FailureKind::Permanent, Some("418: reply"))
    );
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_destinations_get_all_entries() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    for n in 0..100 {
        daemon.add_destination(&format!("hook-{n}"), webhook(&receiver.url)).await;
    }
    let cursors: HashSet<_> =
        [daemon.log_change(0, "x").await, daemon.log_change(1, "y").await].into();
    wait_until("all arrived", async || receiver.cursors().len() == 200).await;
    assert_eq!(receiver.cursors().into_iter().collect::<HashSet<_>>(), cursors);
    let ids: HashSet<_> =
        receiver.requests().iter().map(|it| it.headers["webhook-id"].clone()).collect();
    assert!(ids.len() >= 100);
    daemon.stop().await;
}
