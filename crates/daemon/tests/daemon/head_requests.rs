//! HEAD comes before GET where it saves bodies, and is disabled where it misleads.

use std::time::Duration;

use freshet_daemon::{SourceEdit, SourceSelector};
use freshet_store::{ChangeFilter, Reader, StoredOutcome};

use crate::test_site::{Home, Page, Site, add, until, very_often};

const FAST: &str = "budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n\
    [keep]\nobservations = 1000000\n";
const ALL: usize = 1_000_000;

/// More than 64 KiB of text that contains a price.
fn long(price: u32) -> String {
    format!("{} It costs {price} today.", "A word and another. ".repeat(4000))
}

/// A page that is always sent in full, whatever validators the request has.
fn page_without_304(price: u32, etag: &str) -> Page {
    Page { text: long(price), etag_without_304: Some(format!("\"{etag}\"")), ..Page::default() }
}

/// Requests for a path in order: `h` for HEAD, `G` for GET.
fn requests_of(site: &Site, path: &str) -> String {
    let seen = site.requests().into_iter().filter(|it| it.path == path);
    seen.map(|it| if it.method == "HEAD" { 'h' } else { 'G' }).collect()
}

fn count(requested: &str, letter: char) -> usize {
    requested.chars().filter(|it| *it == letter).count()
}

fn changes(reader: &Reader) -> usize {
    reader.changes(0, 100, &ChangeFilter::default()).unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_304_is_fetched_by_head() {
    let site = Site::start().await;
    site.put("/", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/"))]).await;
    let heads = || count(&requests_of(&site, "/"), 'h');
    until("HEAD is believed", || heads() > 60).await;
    let reader = home.reader();
    assert_eq!(changes(&reader), 0);
    let before = requests_of(&site, "/");
    site.put("/", page_without_304(20, "b"));
    until("the change is found", || changes(&reader) == 1).await;
    let after = heads();
    until("and no other", || heads() > after + 20).await;
    daemon.stop().await;

    // The first copy, three unnecessary pages, five verified HEADs, then a few.
    assert_eq!(&before[..14], "GGGGhGhGhGhGhG");
    let later = &before[14..];
    let (heads, gets) = (count(later, 'h'), count(later, 'G'));
    assert!(gets > 0 && gets * 4 < heads, "{later}");
    assert!(!later.contains("GG"), "{later}");

    assert_eq!(changes(&reader), 1);
    let history = reader.history(0, ALL).unwrap();
    let by_head = history.iter().filter(|it| it.note.starts_with("HEAD: ")).collect::<Vec<_>>();
    assert!(by_head.iter().all(|it| it.outcome == StoredOutcome::Unchanged && it.bytes == 0));
    let gets = history.iter().filter(|it| it.bytes > 65_536).count();
    let all = requests_of(&site, "/");
    assert_eq!(gets, count(&all, 'G'), "each GET is one fetch");
    assert_eq!(by_head.len(), count(&all, 'h') - all.matches("hG").count(), "and each HEAD alone");
    // A HEAD that ends a fetch costs as much as a HEAD with its GET.
    let spent: f64 = reader.ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert_eq!(spent, history.len() as f64);
}

#[tokio::test(flavor = "multi_thread")]
async fn misleading_validators_are_detected() {
    let site = Site::start().await;
    site.put("/", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/"))]).await;
    let heads = || count(&requests_of(&site, "/"), 'h');
    until("HEAD is believed", || requests_of(&site, "/").ends_with("hhh")).await;
    site.put("/", page_without_304(20, "a"));
    let reader = home.reader();
    until("a check finds it", || changes(&reader) == 1).await;
    let before = heads();
    let gets = || count(&requests_of(&site, "/"), 'G');
    let later = gets() + 20;
    until("it is fetched on", || gets() > later).await;
    site.put("/", page_without_304(30, "a"));
    until("the next one is found at once", || changes(&reader) == 2).await;
    daemon.stop().await;
    assert_eq!(heads(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_without_head_support_gets_one_head() {
    for status in [405, 501, 404, 500] {
        let site = Site::start().await;
        site.put("/", Page { head_status: Some(status), ..page_without_304(10, "a") });
        let home = Home::new(FAST, 1.0);
        let daemon = home.start();
        add(&daemon, vec![very_often(site.request("/"))]).await;
        until("it is fetched a lot", || requests_of(&site, "/").len() > 30).await;
        daemon.stop().await;
        let requested = requests_of(&site, "/");
        assert!(requested.starts_with("GGGGhGG"), "{status}: {requested}");
        assert_eq!(count(&requested, 'h'), 1, "{status}: {requested}");
        let history = home.reader().history(0, ALL).unwrap();
        let fine =
            |it: &StoredOutcome| matches!(it, StoredOutcome::First | StoredOutcome::Unchanged);
        assert!(history.iter().all(|it| fine(&it.outcome)), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_get_follows_a_head_that_asks_for_a_pause() {
    let site = Site::start().await;
    site.put("/", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/"))]).await;
    until("HEAD is asked, and checked", || requests_of(&site, "/").contains("hGhG")).await;
    site.put("/", Page { head_status: Some(503), ..page_without_304(10, "a") });
    let reader = home.reader();
    let failed = || {
        let history = reader.history(0, 1).unwrap();
        history.first().is_some_and(|it| it.outcome == StoredOutcome::Failed && it.status == 503)
    };
    until("it fails", failed).await;
    // Every request is counted: HEAD, GET and robots.txt.
    let counted = daemon.handle().status().await.unwrap().requests;
    daemon.stop().await;
    assert_eq!(counted, site.requests().len() as u64);
    assert!(requests_of(&site, "/").ends_with('h'), "{}", requests_of(&site, "/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_head_is_sent_where_it_saves_nothing() {
    let (able, short, off) = (Site::start().await, Site::start().await, Site::start().await);
    able.put("/", Page { text: long(10), etag: Some("\"a\"".to_owned()), ..Page::default() });
    short.put("/", Page { text: "It costs 10.".to_owned(), ..page_without_304(10, "a") });
    off.put("/", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let without = Home::new(&format!("{FAST}[signals]\nhead = false\n"), 1.0);
    let (daemon, other) = (home.start(), without.start());
    add(&daemon, vec![very_often(able.request("/")), very_often(short.request("/"))]).await;
    add(&other, vec![very_often(off.request("/"))]).await;
    let sites = [&able, &short, &off];
    until("all are fetched", || sites.iter().all(|site| requests_of(site, "/").len() > 30)).await;
    daemon.stop().await;
    other.stop().await;
    for site in sites {
        assert_eq!(count(&requests_of(site, "/"), 'h'), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_on_demand_uses_no_head() {
    let site = Site::start().await;
    site.put("/", page_without_304(10, "a"));
    let home = Home::new(&FAST.replace("100000000", "0"), 1.0);
    let daemon = home.start();
    add(&daemon, vec![site.request("/")]).await;
    for _ in 0..10 {
        daemon.handle().check_id(0).await.unwrap();
    }
    daemon.stop().await;
    assert_eq!(requests_of(&site, "/"), "G".repeat(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn unstable_etags_disable_head() {
    let site = Site::start().await;
    site.put("/a", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/a"))]).await;
    until("HEAD is asked", || count(&requests_of(&site, "/a"), 'h') > 2).await;
    site.put("/b", page_without_304(10, "{}"));
    add(&daemon, vec![very_often(site.request("/b"))]).await;
    until("it is fetched a lot", || requests_of(&site, "/b").len() > 20).await;
    daemon.stop().await;
    assert_eq!(count(&requests_of(&site, "/b"), 'h'), 1, "{}", requests_of(&site, "/b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn head_requests_respect_robots_txt_and_the_gap() {
    let site = Site::start().await;
    site.put("/", page_without_304(10, "a"));
    let mut home = Home::new(&FAST.replace("0s", "20ms"), 1.0);
    home.fetch = "limits = { robots = \"200ms\" }".to_owned();
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/"))]).await;
    until("HEAD is asked", || requests_of(&site, "/").ends_with("hhh")).await;
    site.set("/robots.txt", "User-agent: *\nDisallow: /\n");
    let reader = home.reader();
    let outcome = || reader.history(0, 1).unwrap().first().map(|it| it.outcome);
    until("it is not allowed", || outcome() == Some(StoredOutcome::Disallowed)).await;
    daemon.stop().await;
    let seen = site.requests();
    let (_, before) = seen.split_last().unwrap();
    assert_eq!(seen.last().unwrap().path, "/robots.txt");
    let min_gap = before.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    // The millisecond clock may be off by one.
    assert!(min_gap >= Duration::from_millis(19), "{min_gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postponed_get_is_not_preceded_by_another_head() {
    let site = Site::start().await;
    // Longer than a fetch waits for its permit.
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 2.1\n");
    site.put("/", page_without_304(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/"))]).await;
    until("it was sent for nothing", || requests_of(&site, "/") == "GGGG").await;
    site.put("/", page_without_304(20, "b"));
    let reader = home.reader();
    until("the change is found", || changes(&reader) == 1).await;
    daemon.stop().await;
    assert_eq!(requests_of(&site, "/"), "GGGGhG");
    assert!(reader.history(0, ALL).unwrap().iter().all(|it| it.outcome != StoredOutcome::Failed));
}

#[tokio::test(flavor = "multi_thread")]
async fn useless_heads_disable_head() {
    let (site, other) = (Site::start().await, Site::start().await);
    site.put("/a", page_without_304(10, "a"));
    other.put("/", page_without_304(10, "a"));
    // Validators of another origin are not compared with stored ones.
    site.redirect("/r", other.url("/"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![very_often(site.request("/a"))]).await;
    until("HEAD is asked", || count(&requests_of(&site, "/a"), 'h') > 0).await;
    let selector = SourceSelector { urls: vec![site.url("/a")], ..SourceSelector::default() };
    daemon.handle().edit(SourceEdit::Remove(selector)).await.unwrap();
    add(&daemon, vec![very_often(site.request("/r"))]).await;
    until("it is fetched a lot", || requests_of(&site, "/r").len() > 30).await;
    daemon.stop().await;
    assert_eq!(count(&requests_of(&site, "/r"), 'h'), 5, "{}", requests_of(&site, "/r"));
    assert_eq!(count(&requests_of(&other, "/"), 'h'), 5);
}
