//! Webhooks: all arrives, in order, signed, again if need be.

use std::collections::HashSet;
use std::time::Duration;

use freshet_notify::{DestinationHealth, FailureKind, RawFilter, Target};

use crate::home::{Home, QUICK, hook, until};
use crate::receiver::Receiver;

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_arrives_signed() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let raw = hook(&receiver.url);
    let secret = secret_of(&raw);
    let id = home.tell("hook", raw).await;
    let cursor = home.change(1, "one word").await;
    until("it arrives", async || receiver.cursors() == [cursor]).await;
    let came = receiver.came().remove(0);
    let entry = &came.json()["entries"][0];
    assert_eq!(entry["url"], "https://a.example/news");
    assert_eq!(entry["kind"], "changed");
    assert_eq!(entry["summary"], "one word");
    assert_eq!(entry["links"]["source"], "/v1/sources/1");
    assert!(came.is_signed_by(&secret));
    assert!(came.headers["webhook-id"].starts_with("msg_"));
    assert_eq!(came.headers["content-type"], "application/json");
    until("it is written down", async || home.row(id).await.cursor == cursor).await;
    assert!(home.row(id).await.delivered_at.is_some());
    home.stop().await;
}

fn secret_of(raw: &freshet_notify::RawTarget) -> String {
    match &raw.to {
        freshet_notify::RawChannel::Webhook(it) => it.keys[0].reveal_secret().to_owned(),
        _ => unreachable!(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_arrives_in_order_though_half_fails_and_ids_stay() {
    let home = Home::new(QUICK).await;
    // Every second one fails, in another way each time.
    let receiver = Receiver::new(|n| match n % 6 {
        1 => Some((500, String::new())),
        3 => Some((429, String::new())),
        5 => Some((408, String::new())),
        _ => Some((200, String::new())),
    })
    .await;
    home.tell("hook", hook(&receiver.url)).await;
    let mut cursors = Vec::new();
    for round in 0..40 {
        cursors.push(home.change(round % 3, "x").await);
    }
    until("all arrives", async || receiver.cursors().len() >= cursors.len()).await;
    assert_eq!(receiver.cursors(), cursors);
    // A failure comes again as it was: the same id, the same bytes, and a new signature.
    let came = receiver.came();
    for pair in came.windows(2) {
        let same = pair[0].headers["webhook-id"] == pair[1].headers["webhook-id"];
        assert_eq!(same, !pair[0].taken);
        assert_eq!(same, pair[0].body == pair[1].body);
    }
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_the_same_one_after_a_restart() {
    let mut home = Home::new(QUICK).await;
    let receiver = Receiver::new(|n| (n > 1).then(|| (200, String::new()))).await;
    home.tell("hook", hook(&receiver.url)).await;
    let first = home.change(0, "x").await;
    until("it is sent", async || receiver.count() == 1).await;
    // More comes meanwhile: it is not put into the delivery that is under way.
    let second = home.change(0, "y").await;
    home.restart(None).await;
    until("both arrive", async || receiver.cursors().len() == 2).await;
    assert_eq!(receiver.cursors(), [first, second]);
    let ids: Vec<_> = receiver.came().iter().map(|it| it.headers["webhook-id"].clone()).collect();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "{ids:?}");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_wait_come_at_once() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let id = home.tell("hook", hook(&receiver.url)).await;
    home.pause(id, true).await;
    let last = home.changes(&[(0, "x"); 250]).await;
    home.pause(id, false).await;
    until("all arrives", async || home.row(id).await.cursor == last).await;
    let sizes: Vec<_> = receiver.came().iter().map(|it| it.cursors().len()).collect();
    assert_eq!(sizes, [100, 100, 50]);
    assert_eq!(receiver.cursors(), (last - 249..=last).collect::<Vec<_>>());
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_wanted_is_told() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let mut raw = hook(&receiver.url);
    raw.filter = RawFilter { url: Some("a.example/news".into()), ..RawFilter::default() };
    home.tell("hook", raw).await;
    home.changes(&[(0, "x"), (2, "x"), (0, "x")]).await;
    let wanted = home.change(1, "x").await;
    until("it arrives", async || receiver.cursors() == [wanted]).await;
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_is_one_message() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let mut raw = hook(&receiver.url);
    raw.digest = Some("1h".into());
    home.tell("hook", raw).await;
    let mut cursors = Vec::new();
    for source in [0, 1, 2, 0] {
        cursors.push(home.change(source, "x").await);
    }
    assert_eq!(receiver.count(), 0);
    home.pass(Duration::from_secs(3600)).await;
    until("it arrives", async || !receiver.cursors().is_empty()).await;
    assert_eq!((receiver.came().len(), receiver.cursors()), (1, cursors));
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_be_told_is_given_up_and_told_the_rest() {
    let home = Home::new(QUICK).await;
    // The first one fails as often as is tried, the next one for good.
    let receiver = Receiver::new(|n| match n {
        1..=5 => Some((503, String::new())),
        6..=8 => Some((422, String::new())),
        _ => Some((200, String::new())),
    })
    .await;
    let id = home.tell("hook", hook(&receiver.url)).await;
    let first = home.change(0, "x").await;
    until("it is given up", async || home.row(id).await.cursor == first).await;
    let second = home.change(0, "y").await;
    until("that too", async || home.row(id).await.cursor == second).await;
    let third = home.change(0, "z").await;
    until("the third arrives", async || receiver.cursors() == [third]).await;
    let dead = home.dead(id).await;
    let tried: Vec<_> =
        dead.iter().map(|it| (it.delivery.first_cursor, it.delivery.attempts)).collect();
    assert_eq!(tried, [(first, 5), (second, 3)]);
    assert_eq!(dead[0].delivery.error, "the answer is 503");
    // Sent once more, they bear the id that they bore.
    let retried = home.notifier.retry_dead_letters(id).await.unwrap().unwrap();
    assert_eq!((retried.sent, retried.remaining), (2, 0));
    assert!(home.row(id).await.delivered_at.is_some());
    assert_eq!(receiver.cursors(), [third, first, second]);
    let came = receiver.came();
    assert_eq!(came[0].headers["webhook-id"], came[9].headers["webhook-id"]);
    assert_eq!(came[0].body, came[9].body);
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_gone_is_paused_and_nothing_is_lost() {
    let home = Home::new(QUICK).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 410 } else { 200 }, String::new()))).await;
    let id = home.tell("hook", hook(&receiver.url)).await;
    let cursor = home.change(0, "x").await;
    until("it is paused", async || home.row(id).await.paused).await;
    let row = home.row(id).await;
    assert!(row.error.unwrap().contains("410"));
    assert!(row.cursor < cursor);
    home.pause(id, false).await;
    until("it arrives then", async || receiver.cursors() == [cursor]).await;
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_wants_to_be_left_alone_is() {
    let home = Home::new(QUICK).await;
    let receiver = Receiver::new(|_| Some((429, "Retry-After: 3600\r\n".into()))).await;
    let id = home.tell("hook", hook(&receiver.url)).await;
    home.change(0, "x").await;
    until("it is put off", async || home.row(id).await.retry_at.is_some()).await;
    let wait = home.row(id).await.retry_at.unwrap() - home.handle.now();
    assert!((3_500_000..=3_600_000).contains(&wait), "{wait}");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_slow_holds_up_nobody() {
    let home = Home::new(QUICK).await;
    let (slow, quick) = (Receiver::new(|_| None).await, Receiver::good().await);
    home.tell("slow", hook(&slow.url)).await;
    home.tell("quick", hook(&quick.url)).await;
    let mut cursors = Vec::new();
    for _ in 0..5 {
        cursors.push(home.change(0, "x").await);
        until("it arrives", async || quick.cursors() == cursors).await;
    }
    until("the slow one has something too", async || slow.came().len() == 1).await;
    // It ends in time all the same.
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_keys_sign_while_they_change() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let raw = hook(&receiver.url);
    let old = secret_of(&raw);
    let id = home.tell("hook", raw.clone()).await;
    let key = home.rotate(id, Duration::from_secs(3600)).await;
    home.change(0, "x").await;
    until("it arrives", async || receiver.count() == 1).await;
    let came = receiver.came().remove(0);
    assert!(came.is_signed_by(&old) && came.is_signed_by(&key));
    // The old one ends.
    let newest = home.rotate(id, Duration::ZERO).await;
    home.change(0, "y").await;
    until("it arrives", async || receiver.came().len() == 2).await;
    let came = receiver.came().remove(1);
    assert!(came.is_signed_by(&newest));
    assert!(!came.is_signed_by(&old) && !came.is_signed_by(&key));
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_is_the_same_one_with_another_key() {
    let home = Home::new(&QUICK.replace("20ms", "10h")).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 503 } else { 200 }, String::new()))).await;
    let id = home.tell("hook", hook(&receiver.url)).await;
    let first = home.change(0, "x").await;
    until("it fails", async || home.row(id).await.attempts == 1).await;
    let second = home.change(0, "y").await;
    let key = home.rotate(id, Duration::ZERO).await;
    assert_eq!(home.row(id).await.attempts, 1);
    // At once again.
    home.pause(id, true).await;
    home.pause(id, false).await;
    until("both arrive", async || receiver.cursors() == [first, second]).await;
    let came = receiver.came();
    assert_eq!(came[0].headers["webhook-id"], came[1].headers["webhook-id"]);
    assert_eq!(came[0].body, came[1].body);
    assert!(!came[0].is_signed_by(&key) && came[1].is_signed_by(&key));
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_settings_are_tried_at_once_unless_the_other_side_wants_to_be_left_alone() {
    let slow = QUICK.replace("20ms", "10h");
    let home = Home::new(&slow).await;
    let answer = |first: (u16, &'static str)| {
        Receiver::new(move |n| {
            Some(if n == 1 { (first.0, first.1.into()) } else { (200, "".into()) })
        })
    };
    let (down, busy) = (answer((503, "")).await, answer((503, "Retry-After: 3600\r\n")).await);
    let ids = [home.tell("down", hook(&down.url)).await, home.tell("busy", hook(&busy.url)).await];
    home.change(0, "x").await;
    for id in ids {
        until("it is put off", async || home.row(id).await.retry_at.is_some()).await;
    }
    // The same settings change nothing, others do.
    home.reload(&slow);
    home.reload(QUICK);
    until("it is tried again", async || down.count() == 2).await;
    let left = home.row(ids[1]).await.retry_at.unwrap() - home.handle.now();
    assert!(left > 3_000_000 && busy.count() == 1, "{left}");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_told_is_named_with_why_and_since_when() {
    let home = Home::new(&QUICK.replace("20ms", "10h")).await;
    let (down, good) =
        (Receiver::new(|_| Some((503, String::new()))).await, Receiver::good().await);
    home.tell("good", hook(&good.url)).await;
    let id = home.tell("down", hook(&down.url)).await;
    let paused = home.tell("paused", hook(&good.url)).await;
    home.pause(paused, true).await;
    let before = home.handle.now();
    home.change(0, "x").await;
    until("it fails", async || home.row(id).await.attempts == 1).await;
    let health = home.handle.read(DestinationHealth::read).await.unwrap();
    assert_eq!((health.all, health.failing, health.paused, health.dead), (3, 1, 1, 0));
    let [it, other] = &health.troubled[..] else { panic!("{health:?}") };
    assert_eq!((it.name.as_str(), it.why.as_deref()), ("down", Some("the answer is 503")));
    assert!(it.moments.0.unwrap() >= before && it.next.is_some() && !it.paused);
    assert_eq!((other.name.as_str(), other.paused, &other.why), ("paused", true, &None));
    assert!(other.since.is_some());
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_is_told_as_a_gap() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let first = home.change(0, "before").await;
    let id = home.tell("hook", hook(&receiver.url)).await;
    home.pause(id, true).await;
    let last = home.changes(&[(0, "x"); 3]).await;
    let keep = freshet_store::Retention { change_days: 1.0, ..Default::default() };
    let later = home.handle.now() + 3 * 86_400_000;
    home.handle
        .write(move |store| {
            store.set_retention(keep);
            store.prune(later).map(|_| ())
        })
        .await
        .unwrap();
    let forgotten = home.handle.read(|reader| reader.pruned_cursor()).await.unwrap();
    assert_eq!(forgotten, last);
    home.pause(id, false).await;
    until("it is told", async || receiver.count() == 1).await;
    let gap = &receiver.came()[0].json()["gap"];
    assert_eq!((gap["from"].as_i64(), gap["to"].as_i64()), (Some(first + 1), Some(last)));
    let next = home.change(0, "y").await;
    until("and what comes", async || receiver.cursors() == [next]).await;
    assert!(receiver.came()[1].json().get("gap").is_none());
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_says_what_was_answered() {
    let home = Home::new(QUICK).await;
    let receiver = Receiver::new(|n| Some((if n == 1 { 202 } else { 418 }, String::new()))).await;
    let target = Target::try_from(hook(&receiver.url)).unwrap();
    let receipt = home.notifier.send_test("hook", &target).await.unwrap();
    assert_eq!(receipt.answer, "202: said");
    assert!(receipt.sent.contains("1 entry"), "{receipt:?}");
    assert_eq!(receiver.came()[0].json()["test"], true);
    let trouble = home.notifier.send_test("hook", &target).await.unwrap_err();
    assert_eq!(
        (trouble.kind, trouble.response.as_deref()),
        (FailureKind::Permanent, Some("418: said"))
    );
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_destinations_are_all_told() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    for n in 0..100 {
        home.tell(&format!("hook-{n}"), hook(&receiver.url)).await;
    }
    let cursors: HashSet<_> = [home.change(0, "x").await, home.change(1, "y").await].into();
    until("all arrives", async || receiver.cursors().len() == 200).await;
    assert_eq!(receiver.cursors().into_iter().collect::<HashSet<_>>(), cursors);
    let ids: HashSet<_> =
        receiver.came().iter().map(|it| it.headers["webhook-id"].clone()).collect();
    assert!(ids.len() >= 100);
    home.stop().await;
}
