//! WebSub against a hub written by its specification.

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::SignalSourceKind;

use crate::hub::{Habit, Home, Hub, call, form, send, signature, until};
use crate::indexnow::Site;

const TOPIC: &str = "https://a.example/feed.atom";
const FEED: &str = "https://a.example/feed";
/// Hubs of tests are on this machine.
const OPEN: &str = "fetch.allow = [\"127.0.0.1\"]\nsignals.callback = \"URL\"";
/// Ten minutes are a second.
const FAST: f64 = 600.0;

fn entry(url: &str, updated: &str) -> String {
    format!("<entry><id>{url}</id><link href='{url}'/><updated>{updated}</updated></entry>")
}

fn atom(entries: &[String]) -> String {
    format!("<feed xmlns='http://www.w3.org/2005/Atom'>{}</feed>", entries.concat())
}

/// A home that is subscribed to a feed at a hub, and what the hub was asked for.
async fn subscribed(factor: f64, lease: u64) -> (Home, Hub, crate::hub::Asked) {
    let hub = Hub::start(Habit::Verify(lease)).await;
    let home = Home::start(factor, OPEN).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    let asked = hub.verified("subscribe", 1).await;
    home.is(|it| it.state == "active").await;
    (home, hub, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hub_sends_is_heard_of_known_pages() {
    let (home, _hub, asked) = subscribed(1.0, 864_000).await;
    // §5.1: what is asked for, and how.
    assert_eq!(asked.field("hub.topic"), TOPIC);
    assert!(asked.field("hub.lease_seconds").parse::<u64>().unwrap() > 0);
    let (callback, secret) = (asked.field("hub.callback"), asked.field("hub.secret"));
    assert!(callback.starts_with(&format!("{}/websub/", home.url)), "{callback}");
    assert!((32..200).contains(&secret.len()) && !callback.contains(secret));
    let active = &home.list()[0];
    assert!(active.until.unwrap() > home.handle().now() + 863_000_000, "{active:?}");

    let urls = ["https://a.example/one", "https://a.example/two", "https://b.example/", TOPIC];
    let pages = home.pages(&urls).await;
    let body = atom(&[
        entry("https://a.example/one", "2026-11-01T00:00:00Z"),
        entry("https://b.example/", "2026-11-01T00:00:00Z"),
        entry("https://c.example/not-known", "2026-11-01T00:00:00Z"),
    ]);
    let answer = send(callback, Some(&signature(secret, &body)), &body).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let herald = home.list()[0].herald;
    for (page, is_told) in pages.iter().zip([true, false, true, true]) {
        let expect = if is_told { vec![herald] } else { Vec::new() };
        until(async || (home.voices(*page).await == expect).then_some(())).await;
    }
    assert_eq!((home.list()[0].pushes, home.list()[0].ignored), (1, 0));
    let kind =
        home.handle().read(move |reader| reader.signal_source(herald)).await.unwrap().unwrap();
    assert_eq!((kind.kind, kind.name.as_str()), (SignalSourceKind::WebSub, TOPIC));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_signed_by_the_hub_is_ignored() {
    let (home, _hub, asked) = subscribed(1.0, 864_000).await;
    let (callback, secret) = (asked.field("hub.callback"), asked.field("hub.secret"));
    let page = home.pages(&["https://a.example/one"]).await[0];
    let body = atom(&[entry("https://a.example/one", "2026-11-01T00:00:00Z")]);
    let good = signature(secret, &body);
    let other_method = good.replace("sha256=", "sha1=");
    let of_other = signature(secret, "something else");
    let by_other = signature("another secret", &body);
    let odd = [
        Some(other_method.as_str()),
        Some(&of_other),
        Some(&by_other),
        Some("sha256="),
        Some("x"),
        None,
    ];
    for signature in odd {
        // §7.1: it is acknowledged, and nothing comes of it.
        let answer = send(callback, signature, &body).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{signature:?}");
    }
    let it = &home.list()[0];
    assert_eq!((it.pushes, it.ignored, it.pushed), (6, 6, None));
    // What was ignored is not remembered as said either.
    assert_eq!(send(callback, Some(&good), &body).await.status, 202);
    until(async || (home.voices(page).await.len() == 1).then_some(())).await;
    assert_eq!(home.list()[0].ignored, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_was_asked_for_is_confirmed() {
    let hub = Hub::start(Habit::Silent).await;
    let home = Home::start(1.0, OPEN).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    let asked = hub.saw(|_| true).await;
    let callback = asked.field("hub.callback");
    let verify = |mode: &str, topic: &str| {
        form(&[
            ("hub.mode", mode),
            ("hub.topic", topic),
            ("hub.challenge", "<b>x</b>"),
            ("hub.lease_seconds", "600"),
        ])
    };
    // §5.3: whatever we do not agree with is 404.
    for (mode, topic) in [
        ("subscribe", "https://a.example/feed.atom/"),
        ("subscribe", "https://A.example/feed.atom"),
        ("subscribe", ""),
        ("unsubscribe", TOPIC),
        ("publish", TOPIC),
    ] {
        call(callback, &verify(mode, topic)).await.refuses(404, None);
    }
    call(callback, "").await.refuses(400, Some("hub.mode"));
    let no_challenge = form(&[("hub.mode", "subscribe"), ("hub.topic", TOPIC)]);
    call(callback, &no_challenge).await.refuses(400, Some("hub.challenge"));
    assert_eq!(home.list()[0].state, "asked");
    let other = format!("{}/websub/{}", home.url, "0".repeat(64));
    call(&other, &verify("subscribe", TOPIC)).await.refuses(404, None);
    let answer = call(callback, &verify("subscribe", TOPIC)).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "<b>x</b>"));
    assert!(answer.headers["content-type"].starts_with("text/plain"));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(home.list()[0].state, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_may_make_sure_before_it_answers() {
    let hub = Hub::start(Habit::VerifyAtOnce(600)).await;
    let home = Home::start(1.0, OPEN).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    hub.verified("subscribe", 1).await;
    let it = home.is(|it| it.state == "active").await;
    assert!(it.next > home.handle().now() + 400_000, "{it:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hub_denies_is_told_and_tried_elsewhere() {
    let hub = Hub::start(Habit::Deny).await;
    let home = Home::start(1.0, OPEN).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("one")]);
    let denied = home.is(|it| it.state == "failing").await;
    assert_eq!(denied.note, "the hub denies it: not for you");
    assert!(denied.next > home.handle().now() + 3_000_000, "{denied:?}");
    // A second hub is asked under another address and with another secret.
    let other = Hub::start(Habit::Verify(600)).await;
    let second = home.feed("https://a.example/second").await;
    home.offer(second, "https://a.example/second", &[hub.url("two"), other.url("")]);
    let at_other = other.verified("subscribe", 1).await;
    let at_first = hub.saw(|it| it.path == "two").await;
    for field in ["hub.callback", "hub.secret"] {
        assert_ne!(at_first.field(field), at_other.field(field));
    }
    // What was active ends when it is denied (§5.2).
    let query = |topic| form(&[("hub.mode", "denied"), ("hub.topic", topic)]);
    home.is(|it| it.feed == second && it.state == "active").await;
    call(at_other.field("hub.callback"), &query("https://b.example/")).await.refuses(404, None);
    home.is(|it| it.feed == second && it.state == "active").await;
    let answer = call(at_other.field("hub.callback"), &query("https://a.example/second")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    home.is(|it| it.feed == second && it.state != "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_renewed_before_it_ends() {
    let (home, hub, first) = subscribed(FAST, 600).await;
    let until = home.list()[0].until.unwrap();
    let second = hub.verified("subscribe", 2).await;
    // §5.1: the same again, so that it takes the place of what was.
    for field in ["hub.callback", "hub.topic", "hub.secret"] {
        assert_eq!(first.field(field), second.field(field), "{field}");
    }
    home.is(|it| it.state == "active" && it.until.unwrap() > until).await;
    hub.verified("subscribe", 4).await;
    assert!(hub.asked().iter().all(|it| it.field("hub.mode") == "subscribe"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewal_that_fails_is_tried_again() {
    let (home, hub, _) = subscribed(FAST, 900).await;
    hub.does("", Habit::Refuse(503));
    until(async || (hub.asked().len() >= 3).then_some(())).await;
    hub.does("", Habit::Verify(864_000));
    hub.verified("subscribe", 2).await;
    home.is(|it| it.state == "active" && it.note.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscription_outlives_the_daemon() {
    let (mut home, hub, asked) = subscribed(1.0, 864_000).await;
    let page = home.pages(&["https://a.example/one"]).await[0];
    let before = home.list();
    home.stop().await;
    home.go(OPEN).await;
    assert_eq!(home.list(), before);
    let (callback, secret) = (asked.field("hub.callback"), asked.field("hub.secret"));
    let body = atom(&[entry("https://a.example/one", "2026-11-01T00:00:00Z")]);
    assert_eq!(send(callback, Some(&signature(secret, &body)), &body).await.status, 202);
    until(async || (home.voices(page).await == [before[0].herald]).then_some(())).await;
    // The feed says the same again: the hub is not asked again.
    home.offer(before[0].feed, TOPIC, &[hub.url("")]);
    home.stop().await;
    home.go(OPEN).await;
    assert_eq!(home.list()[0].pushes, 1);
    assert_eq!(hub.asked().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_ended_meanwhile_is_asked_for_again() {
    let (mut home, hub, _) = subscribed(FAST, 86_400).await;
    home.stop().await;
    // A clock that goes on from where it was would take a while: it is a lease of a shorter past.
    let config = home.config(OPEN);
    let mut store = freshet_store::Store::open(&config.store, 0).unwrap();
    let mut rows = store.subscriptions().unwrap();
    (rows[0].expires_at, rows[0].next_action_at) = (Some(1), 1);
    store.update_subscriptions(&rows, &[]).unwrap();
    drop(store);
    home.go(OPEN).await;
    hub.verified("subscribe", 2).await;
    home.is(|it| it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_is_removed_is_unsubscribed_from() {
    let (home, hub, asked) = subscribed(1.0, 864_000).await;
    let callback = asked.field("hub.callback");
    home.handle().remove_herald(home.list()[0].feed).await.unwrap();
    let left = hub.verified("unsubscribe", 1).await;
    assert_eq!((left.field("hub.callback"), left.field("hub.topic")), (callback, TOPIC));
    assert_eq!(left.field("hub.secret"), "");
    assert!(home.list().is_empty());
    let body = atom(&[]);
    send(callback, Some(&signature(asked.field("hub.secret"), &body)), &body)
        .await
        .refuses(410, None);
    // Nobody else can bring it back.
    let again = form(&[("hub.mode", "subscribe"), ("hub.topic", TOPIC), ("hub.challenge", "x")]);
    call(callback, &again).await.refuses(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_topic_or_hub_is_followed() {
    let (home, hub, asked) = subscribed(1.0, 864_000).await;
    let feed = home.list()[0].feed;
    // One more hub is no reason to move.
    let other = Hub::start(Habit::Verify(864_000)).await;
    home.offer(feed, TOPIC, &[other.url(""), hub.url("")]);
    // Another name of the feed is.
    home.offer(feed, "https://a.example/moved", &[other.url("")]);
    let moved = other.verified("subscribe", 1).await;
    assert_eq!(moved.field("hub.topic"), "https://a.example/moved");
    assert_ne!(moved.field("hub.callback"), asked.field("hub.callback"));
    let left = hub.verified("unsubscribe", 1).await;
    assert_eq!(left.field("hub.callback"), asked.field("hub.callback"));
    assert_eq!(hub.asked().len() + other.asked().len(), 3);
    // A feed that names no hub any more.
    home.offer(feed, "https://a.example/moved", &[]);
    other.verified("unsubscribe", 1).await;
    until(async || home.list().is_empty().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hubs_that_fail_are_asked_again_and_those_that_refuse_are_left() {
    let hub = Hub::start(Habit::Refuse(500)).await;
    let home = Home::start(FAST, OPEN).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    let failing = home.is(|it| it.state == "failing").await;
    assert_eq!(failing.note, "the hub answers 500: why not");
    until(async || (hub.asked().len() >= 3).then_some(())).await;
    hub.does("", Habit::Verify(86_400));
    hub.verified("subscribe", 1).await;
    home.is(|it| it.state == "active").await;
    let second = home.feed("https://a.example/second").await;
    hub.does("no", Habit::Refuse(403));
    home.offer(second, "https://a.example/second", &[hub.url("no"), hub.url("yes")]);
    home.is(|it| it.feed == second && it.state == "active").await;
    assert_eq!(hub.asked().iter().filter(|it| it.path == "no").count(), 1);
    // Nobody is there.
    let third = home.feed("https://a.example/third").await;
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    home.offer(third, "https://a.example/third", &[format!("http://{gone}/"), hub.url("yes")]);
    home.is(|it| it.feed == third && it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_has_moved_is_followed_with_the_same_request() {
    for status in [307, 308] {
        let hub = Hub::start(Habit::Verify(600)).await;
        hub.does("old", Habit::Lead(status, "new"));
        let home = Home::start(1.0, OPEN).await;
        let feed = home.feed(FEED).await;
        home.offer(feed, TOPIC, &[hub.url("old")]);
        let asked = hub.verified("subscribe", 1).await;
        assert_eq!(asked.path, "new");
        assert_eq!(hub.asked()[0].fields, asked.fields);
        home.is(|it| it.state == "active").await;
    }
    let hub = Hub::start(Habit::Lead(307, "round")).await;
    hub.does("see", Habit::Lead(303, "other"));
    let home = Home::start(1.0, OPEN).await;
    for (path, note) in [("round", "leads on"), ("see", "303")] {
        let topic = format!("https://a.example/{path}");
        let feed = home.feed(&topic).await;
        home.offer(feed, &topic, &[hub.url(path)]);
        let it = home.is(|it| it.feed == feed && it.state == "failing").await;
        assert!(it.note.contains(note), "{}", it.note);
    }
    assert!(!hub.asked().iter().any(|it| it.path == "other"));
    assert!(hub.asked().len() < 10, "it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_at_a_private_address_is_not_asked() {
    let hub = Hub::start(Habit::Verify(600)).await;
    let home = Home::start(1.0, "signals.callback = \"URL\"").await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    let it = home.is(|it| it.state == "failing").await;
    assert!(it.note.contains("127.0.0.1"), "{}", it.note);
    assert!(hub.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_asked_for_where_nobody_can_call_back() {
    let hub = Hub::start(Habit::Verify(600)).await;
    let closed = "fetch.allow = [\"127.0.0.1\"]";
    let home = Home::start(1.0, closed).await;
    let feed = home.feed(FEED).await;
    home.offer(feed, TOPIC, &[hub.url("")]);
    let it = home.is(|it| it.state == "off").await;
    assert!(it.note.contains("callback"), "{}", it.note);
    home.handle().reload(home.config(OPEN)).await.unwrap();
    hub.verified("subscribe", 1).await;
    assert_eq!(hub.asked().len(), 1);
    home.is(|it| it.state == "active").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_too_much_is_told_to_wait() {
    let (home, _hub, asked) = subscribed(1.0, 864_000).await;
    let callback = asked.field("hub.callback");
    let large = " ".repeat(5 << 20);
    let answer = send(callback, Some("sha256=00"), &large).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    let mut statuses = Vec::new();
    for _ in 0..70 {
        let answer = send(callback, Some("sha256=00"), "x").await;
        if answer.status == 429 {
            assert!(answer.headers["retry-after"].parse::<u32>().unwrap() > 0);
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses.iter().filter(|it| **it == 202).count().min(60), 60);
    assert!(statuses.contains(&429), "{statuses:?}");
    // Who guesses is told so only so often, and that keeps nobody else out.
    let guess = |n: u32| format!("{}/websub/{n}", home.url);
    let mut statuses = Vec::new();
    for n in 0..12 {
        statuses.push(call(&guess(n), "hub.mode=subscribe").await.status);
    }
    assert_eq!(statuses[..10], [404; 10]);
    assert_eq!(statuses[10..], [429; 2]);
    assert_eq!(call(callback, "").await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_is_read_is_subscribed_to_at_the_hub_that_it_names() {
    for by_header in [true, false] {
        let (hub, site) = (Hub::start(Habit::Verify(864_000)).await, Site::start().await);
        let home = Home::start(1.0, &format!("crew = 4\n{OPEN}")).await;
        let (at, itself, page) = (hub.url("hub"), site.url("/self"), site.url("/page"));
        let other = entry(&site.url("/other"), "2024-01-01T00:00:00Z");
        let links = format!("<link rel='hub' href='{at}'/><link rel='self' href='{itself}'/>");
        if by_header {
            *site.links.lock().unwrap() = format!("<{at}>; rel=\"hub\", <{itself}>; rel=\"self\"");
        }
        let entries = [if by_header { String::new() } else { links }, other];
        site.has("/feed", &atom(&entries));
        site.has("/page", "as it was");
        let id = home.pages(&[&page]).await[0];
        let is_there = async || {
            let found = home.handle().read(move |reader| reader.source(id)).await.unwrap();
            found.and_then(|it| it.fetched_at)
        };
        until(is_there).await;
        let feed = home
            .handle()
            .add_herald(NewSignalSourceRequest::feed(site.url("/feed")))
            .await
            .unwrap();
        let asked = hub.verified("subscribe", 1).await;
        assert_eq!((asked.field("hub.topic"), asked.path.as_str()), (itself.as_str(), "hub"));
        let it = home.is(|it| it.state == "active").await;
        assert_eq!(it.feed, feed.id);
        // What is in a feed and was not is news, what was said before is not.
        let (callback, secret) = (asked.field("hub.callback"), asked.field("hub.secret"));
        for (title, signals) in [("one", 1), ("one", 1), ("two", 2)] {
            let new = format!(
                "<entry><id>{page}</id><title>{title}</title><link href='{page}'/></entry>"
            );
            let body = atom(&[new]);
            let answer = send(callback, Some(&signature(secret, &body)), &body).await;
            assert_eq!(answer.status, 202);
            let herald = home.handle().herald(it.herald).await.unwrap().unwrap();
            assert_eq!(herald.report.map(|it| it.signals), Some(signals), "{title}");
            // Heard, and in the store before the next one comes.
            let is_kept = async || {
                let voices =
                    home.handle().read(move |reader| reader.latest_signals(id)).await.unwrap();
                voices.into_iter().find(|it| it.signal_source == herald.herald.id)?.entry
            };
            until(is_kept).await;
        }
        // With the feed goes what it named.
        home.handle().remove_herald(feed.id).await.unwrap();
        hub.verified("unsubscribe", 1).await;
        assert!(home.handle().herald(it.herald).await.unwrap().is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hubs_need_no_token_and_whoever_reads_sees_no_secret() {
    let (home, _hub, asked) = subscribed(1.0, 864_000).await;
    let (callback, secret) = (asked.field("hub.callback"), asked.field("hub.secret"));
    assert_eq!(send(callback, None, "x").await.status, 202);
    let list = home.send("GET", "/v1/subscriptions", "").await;
    let item = &list.ok()["items"][0];
    assert_eq!((&item["topic"], &item["state"]), (&TOPIC.into(), &"active".into()));
    assert_eq!((&item["pushes"], &item["ignored"]), (&1.into(), &1.into()));
    let path = callback.rsplit('/').next().unwrap();
    assert!(!list.body.contains(secret) && !list.body.contains(path));
    let metrics = home.send("GET", "/metrics", "").await.body;
    assert!(metrics.contains("freshet_hub_pushes_total{result=\"ignored\"} 1"), "{metrics}");
    assert!(!metrics.contains(path));
    let token = freshet_store::Token {
        name: "reader".to_owned(),
        hash: freshet_server::Secret::random().unwrap().hash(),
        scopes: 1,
        created_at: 0,
        used_at: None,
    };
    home.handle().put_token(token).await.unwrap();
    home.send("GET", "/v1/subscriptions", "").await.refuses(401, None);
    assert_eq!(send(callback, None, "x").await.status, 202);
    home.send("POST", "/indexnow", "{}").await.refuses(404, None);
}
