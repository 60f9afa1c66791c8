//! HEAD comes before GET where it saves bodies, and is given up where it misleads.

use std::time::Duration;

use freshet_daemon::{Edit, Which};
use freshet_store::{ChangeFilter, Reader, StoredOutcome};

use crate::web::{Home, Page, Site, add, often, until};

const FAST: &str = "budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n\
    [keep]\nobservations = 1000000\n";
const ALL: usize = 1_000_000;

/// More than 64 KiB of text, with a price in it.
fn long(price: u32) -> String {
    format!("{} It costs {price} today.", "A word and another. ".repeat(4000))
}

/// A page that comes as a whole whatever is shown.
fn stubborn(price: u32, etag: &str) -> Page {
    Page { text: long(price), stubborn: Some(format!("\"{etag}\"")), ..Page::default() }
}

/// How a page was asked for, a letter for each time.
fn asked(site: &Site, path: &str) -> String {
    let seen = site.seen().into_iter().filter(|it| it.path == path);
    seen.map(|it| if it.method == "HEAD" { 'h' } else { 'G' }).collect()
}

fn count(asked: &str, letter: char) -> usize {
    asked.chars().filter(|it| *it == letter).count()
}

fn changes(reader: &Reader) -> usize {
    reader.changes(0, 100, &ChangeFilter::default()).unwrap().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_always_comes_as_a_whole_is_asked_for_by_head() {
    let site = Site::start().await;
    site.put("/", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/"))]).await;
    let heads = || count(&asked(&site, "/"), 'h');
    until("HEAD is believed", || heads() > 60).await;
    let reader = home.reader();
    assert_eq!(changes(&reader), 0);
    let before = asked(&site, "/");
    site.put("/", stubborn(20, "b"));
    until("the change is found", || changes(&reader) == 1).await;
    let after = heads();
    until("and no other", || heads() > after + 20).await;
    daemon.stop().await;

    // The copy, three pages that were not needed, five HEADs that are checked, then few.
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
    let all = asked(&site, "/");
    assert_eq!(gets, count(&all, 'G'), "each GET is one fetch");
    assert_eq!(by_head.len(), count(&all, 'h') - all.matches("hG").count(), "and each HEAD alone");
    // To the budget a HEAD that ends a fetch is one, as a HEAD and its GET are.
    let spent: f64 = reader.ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert_eq!(spent, history.len() as f64);
}

#[tokio::test(flavor = "multi_thread")]
async fn validators_that_lie_are_found_out() {
    let site = Site::start().await;
    site.put("/", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/"))]).await;
    let heads = || count(&asked(&site, "/"), 'h');
    until("HEAD is believed", || asked(&site, "/").ends_with("hhh")).await;
    site.put("/", stubborn(20, "a"));
    let reader = home.reader();
    until("a check finds it", || changes(&reader) == 1).await;
    let before = heads();
    let gets = || count(&asked(&site, "/"), 'G');
    let later = gets() + 20;
    until("it is fetched on", || gets() > later).await;
    site.put("/", stubborn(30, "a"));
    until("the next one is found at once", || changes(&reader) == 2).await;
    daemon.stop().await;
    assert_eq!(heads(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_does_not_know_head_is_asked_once() {
    for status in [405, 501, 404, 500] {
        let site = Site::start().await;
        site.put("/", Page { to_head: Some(status), ..stubborn(10, "a") });
        let home = Home::new(FAST, 1.0);
        let daemon = home.start();
        add(&daemon, vec![often(site.wanted("/"))]).await;
        until("it is fetched a lot", || asked(&site, "/").len() > 30).await;
        daemon.stop().await;
        let asked = asked(&site, "/");
        assert!(asked.starts_with("GGGGhGG"), "{status}: {asked}");
        assert_eq!(count(&asked, 'h'), 1, "{status}: {asked}");
        let history = home.reader().history(0, ALL).unwrap();
        let fine =
            |it: &StoredOutcome| matches!(it, StoredOutcome::First | StoredOutcome::Unchanged);
        assert!(history.iter().all(|it| fine(&it.outcome)), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_wants_to_be_left_alone_gets_no_get_after_the_head() {
    let site = Site::start().await;
    site.put("/", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/"))]).await;
    until("HEAD is asked, and checked", || asked(&site, "/").contains("hGhG")).await;
    site.put("/", Page { to_head: Some(503), ..stubborn(10, "a") });
    let reader = home.reader();
    let failed = || {
        let history = reader.history(0, 1).unwrap();
        history.first().is_some_and(|it| it.outcome == StoredOutcome::Failed && it.status == 503)
    };
    until("it fails", failed).await;
    // Each request was counted, whether it was a HEAD, a GET or for robots.txt.
    let counted = daemon.handle().status().await.unwrap().requests;
    daemon.stop().await;
    assert_eq!(counted, site.seen().len() as u64);
    assert!(asked(&site, "/").ends_with('h'), "{}", asked(&site, "/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn where_it_saves_nothing_there_is_no_head() {
    let (able, short, off) = (Site::start().await, Site::start().await, Site::start().await);
    able.put("/", Page { text: long(10), etag: Some("\"a\"".to_owned()), ..Page::default() });
    short.put("/", Page { text: "It costs 10.".to_owned(), ..stubborn(10, "a") });
    off.put("/", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let without = Home::new(&format!("{FAST}[signals]\nhead = false\n"), 1.0);
    let (daemon, other) = (home.start(), without.start());
    add(&daemon, vec![often(able.wanted("/")), often(short.wanted("/"))]).await;
    add(&other, vec![often(off.wanted("/"))]).await;
    let sites = [&able, &short, &off];
    until("all are fetched", || sites.iter().all(|site| asked(site, "/").len() > 30)).await;
    daemon.stop().await;
    other.stop().await;
    for site in sites {
        assert_eq!(count(&asked(site, "/"), 'h'), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_page_gets_the_page() {
    let site = Site::start().await;
    site.put("/", stubborn(10, "a"));
    let home = Home::new(&FAST.replace("100000000", "0"), 1.0);
    let daemon = home.start();
    add(&daemon, vec![site.wanted("/")]).await;
    for _ in 0..10 {
        daemon.handle().check_number(0).await.unwrap();
    }
    daemon.stop().await;
    assert_eq!(asked(&site, "/"), "G".repeat(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_that_are_others_each_time_end_it() {
    let site = Site::start().await;
    site.put("/a", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/a"))]).await;
    until("HEAD is asked", || count(&asked(&site, "/a"), 'h') > 2).await;
    site.put("/b", stubborn(10, "{}"));
    add(&daemon, vec![often(site.wanted("/b"))]).await;
    until("it is fetched a lot", || asked(&site, "/b").len() > 20).await;
    daemon.stop().await;
    assert_eq!(count(&asked(&site, "/b"), 'h'), 1, "{}", asked(&site, "/b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_and_the_gap_hold_for_head() {
    let site = Site::start().await;
    site.put("/", stubborn(10, "a"));
    let mut home = Home::new(&FAST.replace("0s", "20ms"), 1.0);
    home.fetch = "limits = { robots = \"200ms\" }".to_owned();
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/"))]).await;
    until("HEAD is asked", || asked(&site, "/").ends_with("hhh")).await;
    site.set("/robots.txt", "User-agent: *\nDisallow: /\n");
    let reader = home.reader();
    let outcome = || reader.history(0, 1).unwrap().first().map(|it| it.outcome);
    until("it is not allowed", || outcome() == Some(StoredOutcome::Disallowed)).await;
    daemon.stop().await;
    let seen = site.seen();
    let (_, before) = seen.split_last().unwrap();
    assert_eq!(seen.last().unwrap().path, "/robots.txt");
    let least = before.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    // A clock in milliseconds may be one off.
    assert!(least >= Duration::from_millis(19), "{least:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_that_is_put_off_comes_without_another_head() {
    let site = Site::start().await;
    // Longer than a fetch waits for its turn.
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 2.1\n");
    site.put("/", stubborn(10, "a"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/"))]).await;
    until("it was sent for nothing", || asked(&site, "/") == "GGGG").await;
    site.put("/", stubborn(20, "b"));
    let reader = home.reader();
    until("the change is found", || changes(&reader) == 1).await;
    daemon.stop().await;
    assert_eq!(asked(&site, "/"), "GGGGhG");
    assert!(reader.history(0, ALL).unwrap().iter().all(|it| it.outcome != StoredOutcome::Failed));
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_that_tell_nothing_end_it() {
    let (site, other) = (Site::start().await, Site::start().await);
    site.put("/a", stubborn(10, "a"));
    other.put("/", stubborn(10, "a"));
    // What another origin says is not compared with what we have of this one.
    site.redirect("/r", other.url("/"));
    let home = Home::new(FAST, 1.0);
    let daemon = home.start();
    add(&daemon, vec![often(site.wanted("/a"))]).await;
    until("HEAD is asked", || count(&asked(&site, "/a"), 'h') > 0).await;
    let which = Which { urls: vec![site.url("/a")], ..Which::default() };
    daemon.handle().edit(Edit::Remove(which)).await.unwrap();
    add(&daemon, vec![often(site.wanted("/r"))]).await;
    until("it is fetched a lot", || asked(&site, "/r").len() > 30).await;
    daemon.stop().await;
    assert_eq!(count(&asked(&site, "/r"), 'h'), 5, "{}", asked(&site, "/r"));
    assert_eq!(count(&asked(&other, "/"), 'h'), 5);
}
