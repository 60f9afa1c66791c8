//! What people publish instead of a sitemap: each has a name, and nothing is lost by it.

use std::io::Write;

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::StoredOutcome;

use super::{
    CALM, all, date, first_read, index, pages, paths, read, read_again, sitemap, with_copies,
};
use crate::web::{Home, Page, Site, add, until};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_sitemap_has_a_name_and_changes_nothing() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(2)).await;
    let good = pages(&site, &paths(2), Some(&date(-100)));
    site.raw("/sitemap.xml", good.clone());
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let (number, source) = (it.herald.id, it.herald.source.unwrap());
    let packed = gzip(&good);
    let cases: [(&str, Vec<u8>); 8] = [
        ("html", b"<!doctype html><html><body>Not found</body></html>".to_vec()),
        ("empty", Vec::new()),
        ("cut-off", good.as_bytes()[..good.len() - 12].to_vec()),
        ("bad-gzip", [&packed[..12], [0xff; 60].as_slice()].concat()),
        ("json-no-feed", b"{\"error\": \"no\"}".to_vec()),
        ("unknown-format", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec()),
        (
            "bad-json",
            b"{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{]".to_vec(),
        ),
        ("unknown-format", vec![0, 159, 146, 150, 1, 2, 3, 255, 254]),
    ];
    let reader = home.reader();
    for (name, body) in cases {
        site.raw("/sitemap.xml", body);
        let it = read_again(&daemon, number).await;
        let last = it.last.unwrap();
        assert_eq!(last.outcome, name, "{last:?}");
        let fetch = &reader.history(source, 1).unwrap()[0];
        assert_eq!(fetch.outcome, StoredOutcome::Failed, "{name}");
        assert!(fetch.note.starts_with(name), "{name}: {}", fetch.note);
        assert_eq!(reader.count_signalled_sources(number, 9).unwrap(), 2, "{name}");
    }
    for (status, name) in [(500, "failed"), (404, "gone"), (503, "failed")] {
        site.put("/sitemap.xml", Page { status, ..Page::default() });
        let last = read_again(&daemon, number).await.last.unwrap();
        let expect = if name == "failed" { "status" } else { name };
        assert_eq!(last.outcome, expect, "{status}");
    }
    // As soon as it is one again, all is as it was.
    site.raw("/sitemap.xml", good);
    let last = read_again(&daemon, number).await.last.unwrap();
    assert_eq!((last.outcome.as_str(), last.known, last.signals), ("read", 2, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_before_the_end_counts() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(3);
    let daemon = with_copies(&home, &site, &paths).await;
    let text = pages(&site, &paths, Some(&date(3600)));
    let cut = text.rfind("<url>").unwrap() + 7;
    site.raw("/sitemap.xml", text[..cut].to_owned());
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let last = it.last.unwrap();
    assert_eq!((last.outcome.as_str(), last.pages, last.signals), ("cut-off", 2, 2));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_too_long_is_read_as_far_as_it_may_be() {
    let text = format!("{CALM}[signals]\nbytes = \"64kB\"\n");
    let (site, home) = (Site::start().await, Home::new(&text, 1.0));
    let daemon = with_copies(&home, &site, &paths(1)).await;
    let known = site.url("/0");
    let filler = (0..5000).map(|n| (site.url(&format!("/none/{n}")), None));
    let entries: Vec<_> = std::iter::once((known, Some(date(-1)))).chain(filler).collect();
    let text = sitemap(&entries);
    // Whoever says so before is not even read.
    site.raw("/plain.xml", text.clone());
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/plain.xml"))).await;
    assert_eq!(it.last.unwrap().outcome, "too-large");
    site.raw("/packed.xml.gz", gzip(&text));
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/packed.xml.gz"))).await;
    let last = it.last.unwrap();
    assert!(matches!(last.outcome.as_str(), "too-large" | "gzip-bomb"), "{last:?}");
    assert_eq!(last.known, 1);
    // It is the same each time: no reason to ask again in a minute.
    let fetch = &home.reader().history(it.herald.source.unwrap(), 1).unwrap()[0];
    assert_eq!(fetch.outcome, StoredOutcome::First);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_document_is_not_sent_again() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(1)).await;
    let body = pages(&site, &paths(1), Some(&date(-5)));
    let etag = Some("\"one\"".to_owned());
    site.put("/s.xml", Page { body: Some(body.into()), etag, ..Page::default() });
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let again = read_again(&daemon, it.herald.id).await;
    let history = home.reader().history(it.herald.source.unwrap(), 2).unwrap();
    assert_eq!((history[0].status, history[0].outcome), (304, StoredOutcome::Unchanged));
    assert!(again.herald.last_signal_at > it.herald.last_signal_at);
    assert_eq!(again.last, it.last);
    assert_eq!(again.report.unwrap().reads, 2);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_stands_twice_in_a_feed_is_no_news_each_time() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(1)).await;
    let page = site.url("/0");
    let item = |title: &str, part: &str| {
        format!("<item><title>{title}</title><link>{page}{part}</link></item>")
    };
    let feed = |items: &[String]| {
        format!("<rss version='2.0'><channel>{}</channel></rss>", items.concat())
    };
    let two = [item("second", "#2"), item("first", "#1")];
    site.raw("/feed", feed(&two));
    let number = read(&daemon, NewSignalSourceRequest::feed(site.url("/feed"))).await.herald.id;
    for _ in 0..3 {
        assert_eq!(read_again(&daemon, number).await.last.unwrap().signals, 0);
    }
    site.raw("/feed", feed(&[&[item("third", "#3")], two.as_slice()].concat()));
    assert_eq!(read_again(&daemon, number).await.last.unwrap().signals, 1);
    assert_eq!(read_again(&daemon, number).await.last.unwrap().signals, 0);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_is_not_there_is_looked_for_again_soon_and_for_ever() {
    // An hour in a second.
    let (site, home) = (Site::start().await, Home::new(CALM, 3600.0));
    site.put("/s.xml", Page { status: 404, ..Page::default() });
    let daemon = home.start();
    let wanted = NewSignalSourceRequest::sitemap(site.url("/s.xml"));
    let it = read(&daemon, wanted).await;
    assert_eq!(it.last.unwrap().outcome, "gone");
    // By itself, and sooner than a page that is gone.
    let begin = daemon.handle().now();
    until("it is asked for again", || site.fetches()["/s.xml"] > 2).await;
    assert!(daemon.handle().now() - begin < 7 * 86_400_000);
    // However often that was in vain, the next time has a day.
    for _ in 0..8 {
        let due = read_again(&daemon, it.herald.id).await.source.unwrap().due_at;
        let due = due.expect("it has a day");
        assert!(due < daemon.handle().now() + 31 * 86_400_000, "{due}");
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_sitemap_that_cannot_be_read() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.set("/robots.txt", "User-agent: *\nDisallow: /private\n");
    let daemon = home.start();
    for (path, outcome) in [("/none.xml", "gone"), ("/private/s.xml", "disallowed")] {
        let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url(path))).await;
        assert_eq!(it.last.unwrap().outcome, outcome);
    }
    site.set("/0", "a page of the same host");
    add(&daemon, vec![site.wanted("/0")]).await;
    until("it is fetched", || site.fetches().contains_key("/0")).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_names_pages_instead_has_no_parts_any_more() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(2)).await;
    let whole = pages(&site, &paths(2), Some(&date(-9)));
    site.raw("/index.xml", index(&[site.url("/a.xml")]));
    site.raw("/a.xml", whole.clone());
    let mut wanted = NewSignalSourceRequest::sitemap(site.url("/index.xml"));
    wanted.given.min_interval = Some(0.25);
    wanted.given.max_interval = Some(0.5);
    let root = read(&daemon, wanted).await;
    assert_eq!(root.parts, 1);
    // How often it is to be read holds for its parts.
    let part = all(&daemon).await.pop().unwrap();
    let source = part.source.unwrap();
    assert_eq!(part.herald.parent, Some(root.herald.id));
    assert_eq!((source.min_interval, source.max_interval), (0.25, 0.5));
    // Not if it is broken off: the rest may name parts.
    site.raw("/index.xml", whole[..whole.len() - 9].to_owned());
    assert_eq!(read_again(&daemon, root.herald.id).await.parts, 1);
    site.raw("/index.xml", whole);
    let root = read_again(&daemon, root.herald.id).await;
    assert_eq!((root.parts, root.last.unwrap().known), (0, 2));
    daemon.stop().await;
    assert!(home.reader().check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_parts_of_an_index_come_and_go_with_it() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = with_copies(&home, &site, &paths).await;
    let part = |name: &str| site.url(name);
    site.raw("/index.xml", index(&[part("/a.xml"), part("/b.xml.gz"), part("/a.xml")]));
    site.raw("/a.xml", pages(&site, &paths[..2], Some(&date(-9))));
    site.raw("/b.xml.gz", gzip(&pages(&site, &paths[2..], Some(&date(-9)))));
    let root = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/index.xml"))).await;
    let last = root.last.unwrap();
    assert_eq!((last.format.as_str(), last.parts), ("sitemap-index", 3));
    assert_eq!(last.defects["part-again"], 1);
    assert_eq!(root.parts, 2);
    // It is looked at for new parts each day.
    assert_eq!(root.source.unwrap().max_interval, 1.0);
    let reader = home.reader();
    let named = |name: &str| {
        reader
            .find_signal_source(freshet_store::SignalSourceKind::Sitemap, &site.url(name))
            .unwrap()
    };
    for name in ["/a.xml", "/b.xml.gz"] {
        let it = first_read(&daemon, named(name).unwrap().id).await;
        assert_eq!(it.last.unwrap().known, 2, "{name}");
        assert_eq!(it.herald.parent, Some(root.herald.id));
    }
    // One is gone, and another leads back to where it came from, and so do its parts.
    site.raw("/index.xml", index(&[part("/a.xml"), part("/loop.xml")]));
    site.raw("/loop.xml", index(&[part("/index.xml"), part("/loop.xml"), part("/deep.xml")]));
    site.raw("/deep.xml", index(&[part("/deeper.xml")]));
    read_again(&daemon, root.herald.id).await;
    assert!(named("/b.xml.gz").is_none() && named("/a.xml").is_some());
    let back = first_read(&daemon, named("/loop.xml").unwrap().id).await.last.unwrap();
    assert_eq!((back.defects["part-again"], back.defects["nested-index"]), (2, 1));
    let deep = first_read(&daemon, named("/deep.xml").unwrap().id).await.last.unwrap();
    assert_eq!(deep.defects["part-too-deep"], 1);
    assert!(named("/deeper.xml").is_none());
    // An index that breaks takes nothing away, and neither does one that is empty.
    for odd in ["<html></html>".to_owned(), index(&[])] {
        site.raw("/index.xml", odd);
        read_again(&daemon, root.herald.id).await;
        assert!(named("/a.xml").is_some() && named("/loop.xml").is_some());
    }
    assert_eq!(daemon.handle().remove_herald(root.herald.id).await.unwrap(), 4);
    assert_eq!(reader.count_signal_sources().unwrap(), (0, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_lies_floods_nobody() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(8);
    let daemon = with_copies(&home, &site, &paths).await;
    site.raw("/s.xml", pages(&site, &paths, Some(&date(-100))));
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let before: usize = site.fetches().values().sum();
    // All have changed just now, each time, and nothing has. What is said to be tomorrow is no date.
    for round in 0..20 {
        site.raw("/s.xml", pages(&site, &paths, Some(&date(600 + round))));
        let last = read_again(&daemon, it.herald.id).await.last.unwrap();
        assert_eq!(last.signals, 8);
        site.raw("/s.xml", pages(&site, &paths, Some("2031-01-01")));
        let last = read_again(&daemon, it.herald.id).await.last.unwrap();
        assert_eq!(last.signals, 0);
    }
    daemon.stop().await;
    let after: usize = site.fetches().values().sum();
    // The budget holds whatever is said: 40 reads that were asked for, and some that it gives meanwhile.
    let spent: f64 = home.reader().ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert!((after as f64) <= spent + 0.5, "{after} fetches, {spent} paid for");
    assert!(after - before < 40 + 80, "{} fetches", after - before);
}
