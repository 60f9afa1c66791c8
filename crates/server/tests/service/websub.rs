//! Tests of WebSub against a hub written from the specification.

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::SignalSourceKind;

use crate::hub::{
    Hub, HubBehavior, TestDaemon, deliver, form, get_callback, signature, wait_until,
};
use crate::indexnow::Site;

const TOPIC: &str = "https://a.example/feed.atom";
const FEED: &str = "https://a.example/feed";
/// Configuration that allows hubs on loopback.
const CONFIG: &str = "fetch.allow = [\"127.0.0.1\"]\nsignals.callback = \"URL\"";
/// Clock speed: ten minutes per second.
const FAST_CLOCK: f64 = 600.0;

fn entry(url: &str, updated: &str) -> String {
    format!("<entry><id>{url}</id><link href='{url}'/><updated>{updated}</updated></entry>")
}

fn atom(entries: &[String]) -> String {
    format!("<feed xmlns='http://www.w3.org/2005/Atom'>{}</feed>", entries.concat())
}

/// Starts a daemon that is subscribed to a feed at a hub; also returns the hub and its request.
async fn start_subscribed(factor: f64, lease: u64) -> (TestDaemon, Hub, crate::hub::HubRequest) {
    let hub = Hub::start(HubBehavior::Verify(lease)).await;
    let daemon = TestDaemon::start(factor, CONFIG).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    let request = hub.verified("subscribe", 1).await;
    daemon.wait_for_subscription(|it| it.state == "active").await;
    (daemon, hub, request)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_signals_the_known_pages_of_the_host() {
    let (daemon, _hub, request) = start_subscribed(1.0, 864_000).await;
    // §5.1: the parameters of the request.
    assert_eq!(request.field("hub.topic"), TOPIC);
    assert!(request.field("hub.lease_seconds").parse::<u64>().unwrap() > 0);
    let (callback, secret) = (request.field("hub.callback"), request.field("hub.secret"));
    assert!(callback.starts_with(&format!("{}/websub/", daemon.url)), "{callback}");
    assert!((32..200).contains(&secret.len()) && !callback.contains(secret));
    let active = &daemon.list()[0];
    assert!(active.expires_at.unwrap() > daemon.handle().now() + 863_000_000, "{active:?}");

    let urls = ["https://a.example/one", "https://a.example/two", "https://b.example/", TOPIC];
    let pages = daemon.pages(&urls).await;
    let body = atom(&[
        entry("https://a.example/one", "2026-11-01T00:00:00Z"),
        entry("https://b.example/", "2026-11-01T00:00:00Z"),
        entry("https://c.example/not-known", "2026-11-01T00:00:00Z"),
    ]);
    let answer = deliver(callback, Some(&signature(secret, &body)), &body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let number = daemon.list()[0].signal_source;
    for (page, is_signalled) in pages.iter().zip([true, false, true, true]) {
        let expect = if is_signalled { vec![number] } else { Vec::new() };
        wait_until(async || (daemon.signal_sources_of(*page).await == expect).then_some(())).await;
    }
    assert_eq!((daemon.list()[0].pushes, daemon.list()[0].rejected_pushes), (1, 0));
    let kind =
        daemon.handle().read(move |reader| reader.signal_source(number)).await.unwrap().unwrap();
    assert_eq!((kind.kind, kind.name.as_str()), (SignalSourceKind::WebSub, TOPIC));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_without_a_valid_signature_is_ignored() {
    let (daemon, _hub, request) = start_subscribed(1.0, 864_000).await;
    let (callback, secret) = (request.field("hub.callback"), request.field("hub.secret"));
    let page = daemon.pages(&["https://a.example/one"]).await[0];
    let body = atom(&[entry("https://a.example/one", "2026-11-01T00:00:00Z")]);
    let good = signature(secret, &body);
    let other_method = good.replace("sha256=", "sha1=");
    let of_other = signature(secret, "something else");
    let by_other = signature("another secret", &body);
    let signatures = [
        Some(other_method.as_str()),
        Some(&of_other),
        Some(&by_other),
        Some("sha256="),
        Some("x"),
        None,
    ];
    for signature in signatures {
        // §7.1: it is acknowledged and ignored.
        let answer = deliver(callback, signature, &body).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{signature:?}");
    }
    let it = &daemon.list()[0];
    assert_eq!((it.pushes, it.rejected_pushes, it.last_push_at), (6, 6, None));
    // An ignored delivery does not make the same entries count as already seen.
    assert_eq!(deliver(callback, Some(&good), &body).await.status, 202);
    wait_until(async || (daemon.signal_sources_of(page).await.len() == 1).then_some(())).await;
    assert_eq!(daemon.list()[0].rejected_pushes, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_pending_request_is_confirmed() {
    let hub = Hub::start(HubBehavior::Silent).await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    let request = hub.wait_for_request(|_| true).await;
    let callback = request.field("hub.callback");
    let verify = |mode: &str, topic: &str| {
        form(&[
            ("hub.mode", mode),
            ("hub.topic", topic),
            ("hub.challenge", "<b>x</b>"),
            ("hub.lease_seconds", "600"),
        ])
    };
    // §5.3: a verification that matches no request gets 404.
    for (mode, topic) in [
        ("subscribe", "https://a.example/feed.atom/"),
        ("subscribe", "https://A.example/feed.atom"),
        ("subscribe", ""),
        ("unsubscribe", TOPIC),
        ("publish", TOPIC),
    ] {
        get_callback(callback, &verify(mode, topic)).await.assert_problem(404, None);
    }
    get_callback(callback, "").await.assert_problem(400, Some("hub.mode"));
    let no_challenge = form(&[("hub.mode", "subscribe"), ("hub.topic", TOPIC)]);
    get_callback(callback, &no_challenge).await.assert_problem(400, Some("hub.challenge"));
    assert_eq!(daemon.list()[0].state, "asked");
    let other = format!("{}/websub/{}", daemon.url, "0".repeat(64));
    get_callback(&other, &verify("subscribe", TOPIC)).await.assert_problem(404, None);
    let answer = get_callback(callback, &verify("subscribe", TOPIC)).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "<b>x</b>"));
    assert!(answer.headers["content-type"].starts_with("text/plain"));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(daemon.list()[0].state, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_may_verify_before_it_responds() {
    let hub = Hub::start(HubBehavior::VerifyAtOnce(600)).await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    hub.verified("subscribe", 1).await;
    let it = daemon.wait_for_subscription(|it| it.state == "active").await;
    assert!(it.next_request_at > daemon.handle().now() + 400_000, "{it:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_denial_the_next_hub_is_asked() {
    let hub = Hub::start(HubBehavior::Deny).await;
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("one")]);
    let failing = daemon.wait_for_subscription(|it| it.state == "failing").await;
    assert_eq!(failing.note, "the hub denied the subscription: not for you");
    assert!(failing.next_request_at > daemon.handle().now() + 3_000_000, "{failing:?}");
    // A second hub gets another callback and another secret.
    let other = Hub::start(HubBehavior::Verify(600)).await;
    let second = daemon.feed("https://a.example/second").await;
    daemon.offer(second, "https://a.example/second", &[hub.url("two"), other.url("")]);
    let at_other = other.verified("subscribe", 1).await;
    let at_first = hub.wait_for_request(|it| it.path == "two").await;
    for field in ["hub.callback", "hub.secret"] {
        assert_ne!(at_first.field(field), at_other.field(field));
    }
    // An active subscription ends when it is denied (§5.2).
    let query = |topic| form(&[("hub.mode", "denied"), ("hub.topic", topic)]);
    daemon.wait_for_subscription(|it| it.feed == second && it.state == "active").await;
    get_callback(at_other.field("hub.callback"), &query("https://b.example/"))
        .await
        .assert_problem(404, None);
    daemon.wait_for_subscription(|it| it.feed == second && it.state == "active").await;
    let answer =
        get_callback(at_other.field("hub.callback"), &query("https://a.example/second")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    daemon.wait_for_subscription(|it| it.feed == second && it.state != "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_before_it_expires() {
    let (daemon, hub, first) = start_subscribed(FAST_CLOCK, 600).await;
    let until = daemon.list()[0].expires_at.unwrap();
    let second = hub.verified("subscribe", 2).await;
    // §5.1: the same parameters, so that it replaces the previous subscription.
    for field in ["hub.callback", "hub.topic", "hub.secret"] {
        assert_eq!(first.field(field), second.field(field), "{field}");
    }
    daemon.wait_for_subscription(|it| it.state == "active" && it.expires_at.unwrap() > until).await;
    hub.verified("subscribe", 4).await;
    assert!(hub.requests().iter().all(|it| it.field("hub.mode") == "subscribe"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_renewal_is_retried() {
    let (daemon, hub, _) = start_subscribed(FAST_CLOCK, 900).await;
    hub.set_behavior("", HubBehavior::Refuse(503));
    wait_until(async || (hub.requests().len() >= 3).then_some(())).await;
    hub.set_behavior("", HubBehavior::Verify(864_000));
    hub.verified("subscribe", 2).await;
    daemon.wait_for_subscription(|it| it.state == "active" && it.note.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_survives_a_restart_of_the_daemon() {
    let (mut daemon, hub, request) = start_subscribed(1.0, 864_000).await;
    let page = daemon.pages(&["https://a.example/one"]).await[0];
    let before = daemon.list();
    daemon.stop().await;
    daemon.restart(CONFIG).await;
    assert_eq!(daemon.list(), before);
    let (callback, secret) = (request.field("hub.callback"), request.field("hub.secret"));
    let body = atom(&[entry("https://a.example/one", "2026-11-01T00:00:00Z")]);
    assert_eq!(deliver(callback, Some(&signature(secret, &body)), &body).await.status, 202);
    wait_until(async || {
        (daemon.signal_sources_of(page).await == [before[0].signal_source]).then_some(())
    })
    .await;
    // The feed names the same hub again: no new request is made.
    daemon.offer(before[0].feed, TOPIC, &[hub.url("")]);
    daemon.stop().await;
    daemon.restart(CONFIG).await;
    assert_eq!(daemon.list()[0].pushes, 1);
    assert_eq!(hub.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_expired_while_stopped_is_requested_again() {
    let (mut daemon, hub, _) = start_subscribed(FAST_CLOCK, 86_400).await;
    daemon.stop().await;
    // The lease is shortened in the store, because the clock would take too long to reach its end.
    let config = daemon.config(CONFIG);
    let mut store = freshet_store::Store::open(&config.store, 0).unwrap();
    let mut rows = store.subscriptions().unwrap();
    (rows[0].expires_at, rows[0].next_action_at) = (Some(1), 1);
    store.update_subscriptions(&rows, &[]).unwrap();
    drop(store);
    daemon.restart(CONFIG).await;
    hub.verified("subscribe", 2).await;
    daemon.wait_for_subscription(|it| it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_feed_unsubscribes_from_its_hub() {
    let (daemon, hub, request) = start_subscribed(1.0, 864_000).await;
    let callback = request.field("hub.callback");
    daemon.handle().remove_signal_source(daemon.list()[0].feed).await.unwrap();
    let left = hub.verified("unsubscribe", 1).await;
    assert_eq!((left.field("hub.callback"), left.field("hub.topic")), (callback, TOPIC));
    assert_eq!(left.field("hub.secret"), "");
    assert!(daemon.list().is_empty());
    let body = atom(&[]);
    deliver(callback, Some(&signature(request.field("hub.secret"), &body)), &body)
        .await
        .assert_problem(410, None);
    // A new verification cannot revive it.
    let again = form(&[("hub.mode", "subscribe"), ("hub.topic", TOPIC), ("hub.challenge", "x")]);
    get_callback(callback, &again).await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_topic_or_hub_replaces_the_subscription() {
    let (daemon, hub, request) = start_subscribed(1.0, 864_000).await;
    let feed = daemon.list()[0].feed;
    // An additional hub changes nothing.
    let other = Hub::start(HubBehavior::Verify(864_000)).await;
    daemon.offer(feed, TOPIC, &[other.url(""), hub.url("")]);
    // A new topic URL does.
    daemon.offer(feed, "https://a.example/moved", &[other.url("")]);
    let moved = other.verified("subscribe", 1).await;
    assert_eq!(moved.field("hub.topic"), "https://a.example/moved");
    assert_ne!(moved.field("hub.callback"), request.field("hub.callback"));
    let left = hub.verified("unsubscribe", 1).await;
    assert_eq!(left.field("hub.callback"), request.field("hub.callback"));
    assert_eq!(hub.requests().len() + other.requests().len(), 3);
    // The feed names no hub any more.
    daemon.offer(feed, "https://a.example/moved", &[]);
    other.verified("unsubscribe", 1).await;
    wait_until(async || daemon.list().is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_hub_is_retried_and_a_refusing_one_is_replaced() {
    let hub = Hub::start(HubBehavior::Refuse(500)).await;
    let daemon = TestDaemon::start(FAST_CLOCK, CONFIG).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    let failing = daemon.wait_for_subscription(|it| it.state == "failing").await;
    assert_eq!(failing.note, "the hub responds with status 500: why not");
    wait_until(async || (hub.requests().len() >= 3).then_some(())).await;
    hub.set_behavior("", HubBehavior::Verify(86_400));
    hub.verified("subscribe", 1).await;
    daemon.wait_for_subscription(|it| it.state == "active").await;
    let second = daemon.feed("https://a.example/second").await;
    hub.set_behavior("no", HubBehavior::Refuse(403));
    daemon.offer(second, "https://a.example/second", &[hub.url("no"), hub.url("yes")]);
    daemon.wait_for_subscription(|it| it.feed == second && it.state == "active").await;
    assert_eq!(hub.requests().iter().filter(|it| it.path == "no").count(), 1);
    // Nothing listens at this address.
    let third = daemon.feed("https://a.example/third").await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    daemon.offer(third, "https://a.example/third", &[format!("http://{gone}/"), hub.url("yes")]);
    daemon.wait_for_subscription(|it| it.feed == third && it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_of_a_hub_are_followed_with_the_same_request() {
    for status in [307, 308] {
        let hub = Hub::start(HubBehavior::Verify(600)).await;
        hub.set_behavior("old", HubBehavior::Redirect(status, "new"));
        let daemon = TestDaemon::start(1.0, CONFIG).await;
        let feed = daemon.feed(FEED).await;
        daemon.offer(feed, TOPIC, &[hub.url("old")]);
        let request = hub.verified("subscribe", 1).await;
        assert_eq!(request.path, "new");
        assert_eq!(hub.requests()[0].fields, request.fields);
        daemon.wait_for_subscription(|it| it.state == "active").await;
    }
    let hub = Hub::start(HubBehavior::Redirect(307, "round")).await;
    hub.set_behavior("see", HubBehavior::Redirect(303, "other"));
    let daemon = TestDaemon::start(1.0, CONFIG).await;
    for (path, note) in [("round", "redirects"), ("see", "303")] {
        let topic = format!("https://a.example/{path}");
        let feed = daemon.feed(&topic).await;
        daemon.offer(feed, &topic, &[hub.url(path)]);
        let it = daemon.wait_for_subscription(|it| it.feed == feed && it.state == "failing").await;
        assert!(it.note.contains(note), "{}", it.note);
    }
    assert!(!hub.requests().iter().any(|it| it.path == "other"));
    assert!(hub.requests().len() < 10, "the redirects are limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_at_a_private_address_is_not_contacted() {
    let hub = Hub::start(HubBehavior::Verify(600)).await;
    let daemon = TestDaemon::start(1.0, "signals.callback = \"URL\"").await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    let it = daemon.wait_for_subscription(|it| it.state == "failing").await;
    assert!(it.note.contains("127.0.0.1"), "{}", it.note);
    assert!(hub.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_callback_url_no_hub_is_contacted() {
    let hub = Hub::start(HubBehavior::Verify(600)).await;
    let closed = "fetch.allow = [\"127.0.0.1\"]";
    let daemon = TestDaemon::start(1.0, closed).await;
    let feed = daemon.feed(FEED).await;
    daemon.offer(feed, TOPIC, &[hub.url("")]);
    let it = daemon.wait_for_subscription(|it| it.state == "off").await;
    assert!(it.note.contains("callback"), "{}", it.note);
    daemon.handle().reload(daemon.config(CONFIG)).await.unwrap();
    hub.verified("subscribe", 1).await;
    assert_eq!(hub.requests().len(), 1);
    daemon.wait_for_subscription(|it| it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_or_too_large_deliveries_are_refused() {
    let (daemon, _hub, request) = start_subscribed(1.0, 864_000).await;
    let callback = request.field("hub.callback");
    let large = " ".repeat(5 << 20);
    let answer = deliver(callback, Some("sha256=00"), &large).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let mut statuses = Vec::new();
    for _ in 0..70 {
        let answer = deliver(callback, Some("sha256=00"), "x").await;
        if answer.status == 429 {
            assert!(answer.headers["retry-after"].parse::<u32>().unwrap() > 0);
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses.iter().filter(|it| **it == 202).count().min(60), 60);
    assert!(statuses.contains(&429), "{statuses:?}");
    // Guesses of callback URLs are throttled, which does not affect real ones.
    let guess = |n: u32| format!("{}/websub/{n}", daemon.url);
    let mut statuses = Vec::new();
    for n in 0..12 {
        statuses.push(get_callback(&guess(n), "hub.mode=subscribe").await.status);
    }
    assert_eq!(statuses[..10], [404; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    assert_eq!(get_callback(callback, "").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_a_feed_subscribes_at_the_hub_that_it_names() {
    for by_header in [true, false] {
        let (hub, site) = (Hub::start(HubBehavior::Verify(864_000)).await, Site::start().await);
        let daemon = TestDaemon::start(1.0, &format!("concurrency = 4\n{CONFIG}")).await;
        let (at, itself, page) = (hub.url("hub"), site.url("/self"), site.url("/page"));
        let other = entry(&site.url("/other"), "2024-01-01T00:00:00Z");
        let links = format!("<link rel='hub' href='{at}'/><link rel='self' href='{itself}'/>");
        if by_header {
            *site.links.lock().unwrap() = format!("<{at}>; rel=\"hub\", <{itself}>; rel=\"self\"");
        }
        let entries = [if by_header { String::new() } else { links }, other];
        site.publish("/feed", &atom(&entries));
        site.publish("/page", "as it was");
        let id = daemon.pages(&[&page]).await[0];
        let is_there = async || {
            let found = daemon.handle().read(move |reader| reader.source(id)).await.unwrap();
            found.and_then(|it| it.fetched_at)
        };
        wait_until(is_there).await;
        let feed = daemon
            .handle()
            .add_signal_source(NewSignalSourceRequest::feed(site.url("/feed")))
            .await
            .unwrap();
        let request = hub.verified("subscribe", 1).await;
        assert_eq!((request.field("hub.topic"), request.path.as_str()), (itself.as_str(), "hub"));
        let it = daemon.wait_for_subscription(|it| it.state == "active").await;
        assert_eq!(it.feed, feed.id);
        // New entries of a feed are signals; repeated ones are not.
        let (callback, secret) = (request.field("hub.callback"), request.field("hub.secret"));
        for (title, signals) in [("one", 1), ("one", 1), ("two", 2)] {
            let new = format!(
                "<entry><id>{page}</id><title>{title}</title><link href='{page}'/></entry>"
            );
            let body = atom(&[new]);
            let answer = deliver(callback, Some(&signature(secret, &body)), &body).await;
            assert_eq!(answer.status, 202);
            let found = daemon.handle().signal_source(it.signal_source).await.unwrap().unwrap();
            assert_eq!(found.report.map(|it| it.signals), Some(signals), "{title}");
            // Wait until it is stored.
            let is_kept = async || {
                let signals =
                    daemon.handle().read(move |reader| reader.latest_signals(id)).await.unwrap();
                signals.into_iter().find(|it| it.signal_source == found.signal_source.id)?.entry
            };
            wait_until(is_kept).await;
        }
        // Removing the feed removes its subscription.
        daemon.handle().remove_signal_source(feed.id).await.unwrap();
        hub.verified("unsubscribe", 1).await;
        assert!(daemon.handle().signal_source(it.signal_source).await.unwrap().is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hubs_need_no_token_and_the_list_shows_no_secret() {
    let (daemon, _hub, request) = start_subscribed(1.0, 864_000).await;
    let (callback, secret) = (request.field("hub.callback"), request.field("hub.secret"));
    assert_eq!(deliver(callback, None, "x").await.status, 202);
    let list = daemon.send("GET", "/v1/subscriptions", "").await;
    let item = &list.ok()["items"][0];
    assert_eq!((&item["topic"], &item["state"]), (&TOPIC.into(), &"active".into()));
    assert_eq!((&item["pushes"], &item["ignored"]), (&1.into(), &1.into()));
    let path = callback.rsplit('/').next().unwrap();
    assert!(!list.body.contains(secret) && !list.body.contains(path));
    let metrics = daemon.send("GET", "/metrics", "").await.body;
    assert!(metrics.contains("freshet_hub_pushes_total{result=\"ignored\"} 1"), "{metrics}");
    assert!(!metrics.contains(path));
    let token = freshet_store::Token {
        name: "reader".to_owned(),
        hash: freshet_server::TokenSecret::random().unwrap().hash(),
        scopes: 1,
        created_at: 0,
        used_at: None,
    };
    daemon.handle().put_token(token).await.unwrap();
    daemon.send("GET", "/v1/subscriptions", "").await.assert_problem(401, None);
    assert_eq!(deliver(callback, None, "x").await.status, 202);
    daemon.send("POST", "/indexnow", "{}").await.assert_problem(404, None);
}
