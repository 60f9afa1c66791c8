//! Documents that are published instead of a sitemap: each has a named outcome and does no harm.

use std::io::Write;

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::StoredOutcome;

use super::{
    CALM, add_and_read, all, date, index, pages, paths, reread, sitemap, start_with_copies,
    wait_for_first_read,
};
use crate::test_site::{Home, Page, Site, add, until};

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_sitemap_has_a_named_outcome_and_changes_nothing() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(2)).await;
    let good = pages(&site, &paths(2), Some(&date(-100)));
    site.set_document("/sitemap.xml", good.clone());
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let (number, source) = (it.signal_source.id, it.signal_source.source.unwrap());
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
        site.set_document("/sitemap.xml", body);
        let it = reread(&daemon, number).await;
        let last = it.last_read.unwrap();
        assert_eq!(last.outcome, name, "{last:?}");
        let fetch = &reader.history(source, 1).unwrap()[0];
        assert_eq!(fetch.outcome, StoredOutcome::Failed, "{name}");
        assert!(fetch.note.starts_with(name), "{name}: {}", fetch.note);
        assert_eq!(reader.count_signalled_sources(number, 9).unwrap(), 2, "{name}");
    }
    for (status, name) in [(500, "failed"), (404, "gone"), (503, "failed")] {
        site.put("/sitemap.xml", Page { status, ..Page::default() });
        let last = reread(&daemon, number).await.last_read.unwrap();
        let expect = if name == "failed" { "status" } else { name };
        assert_eq!(last.outcome, expect, "{status}");
    }
    // As soon as it is a sitemap again, nothing has been lost.
    site.set_document("/sitemap.xml", good);
    let last = reread(&daemon, number).await.last_read.unwrap();
    assert_eq!((last.outcome.as_str(), last.known, last.signals), ("read", 2, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_before_a_cut_off_count() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(3);
    let daemon = start_with_copies(&home, &site, &paths).await;
    let text = pages(&site, &paths, Some(&date(3600)));
    let cut = text.rfind("<url>").unwrap() + 7;
    site.set_document("/sitemap.xml", text[..cut].to_owned());
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let last = it.last_read.unwrap();
    assert_eq!((last.outcome.as_str(), last.pages, last.signals), ("cut-off", 2, 2));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_too_long_is_read_up_to_the_limit() {
    let text = format!("{CALM}[signals]\nbytes = \"64kB\"\n");
    let (site, home) = (Site::start().await, Home::new(&text, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(1)).await;
    let known = site.url("/0");
    let filler = (0..5000).map(|n| (site.url(&format!("/none/{n}")), None));
    let entries: Vec<_> = std::iter::once((known, Some(date(-1)))).chain(filler).collect();
    let text = sitemap(&entries);
    // A Content-Length that is too large prevents the download.
    site.set_document("/plain.xml", text.clone());
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/plain.xml"))).await;
    assert_eq!(it.last_read.unwrap().outcome, "too-large");
    site.set_document("/packed.xml.gz", gzip(&text));
    let it =
        add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/packed.xml.gz"))).await;
    let last = it.last_read.unwrap();
    assert!(matches!(last.outcome.as_str(), "too-large" | "gzip-bomb"), "{last:?}");
    assert_eq!(last.known, 1);
    // The outcome would be the same each time: no reason to retry within a minute.
    let fetch = &home.reader().history(it.signal_source.source.unwrap(), 1).unwrap()[0];
    assert_eq!(fetch.outcome, StoredOutcome::First);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_document_is_not_sent_again() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(1)).await;
    let body = pages(&site, &paths(1), Some(&date(-5)));
    let etag = Some("\"one\"".to_owned());
    site.put("/s.xml", Page { body: Some(body.into()), etag, ..Page::default() });
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let again = reread(&daemon, it.signal_source.id).await;
    let history = home.reader().history(it.signal_source.source.unwrap(), 2).unwrap();
    assert_eq!((history[0].status, history[0].outcome), (304, StoredOutcome::Unchanged));
    assert!(again.signal_source.last_signal_at > it.signal_source.last_signal_at);
    assert_eq!(again.last_read, it.last_read);
    assert_eq!(again.report.unwrap().reads, 2);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_listed_twice_in_a_feed_is_signalled_once() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(1)).await;
    let page = site.url("/0");
    let item = |title: &str, part: &str| {
        format!("<item><title>{title}</title><link>{page}{part}</link></item>")
    };
    let feed = |items: &[String]| {
        format!("<rss version='2.0'><channel>{}</channel></rss>", items.concat())
    };
    let two = [item("second", "#2"), item("first", "#1")];
    site.set_document("/feed", feed(&two));
    let number = add_and_read(&daemon, NewSignalSourceRequest::feed(site.url("/feed")))
        .await
        .signal_source
        .id;
    for _ in 0..3 {
        assert_eq!(reread(&daemon, number).await.last_read.unwrap().signals, 0);
    }
    site.set_document("/feed", feed(&[&[item("third", "#3")], two.as_slice()].concat()));
    assert_eq!(reread(&daemon, number).await.last_read.unwrap().signals, 1);
    assert_eq!(reread(&daemon, number).await.last_read.unwrap().signals, 0);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_sitemap_is_retried_for_ever() {
    // An hour per second.
    let (site, home) = (Site::start().await, Home::new(CALM, 3600.0));
    site.put("/s.xml", Page { status: 404, ..Page::default() });
    let daemon = home.start();
    let request = NewSignalSourceRequest::sitemap(site.url("/s.xml"));
    let it = add_and_read(&daemon, request).await;
    assert_eq!(it.last_read.unwrap().outcome, "gone");
    // It is retried by itself, sooner than a page that is gone.
    let begin = daemon.handle().now();
    until("it is asked for again", || site.fetches()["/s.xml"] > 2).await;
    assert!(daemon.handle().now() - begin < 7 * 86_400_000);
    // After any number of failures, the next read has a date.
    for _ in 0..8 {
        let due = reread(&daemon, it.signal_source.id).await.source.unwrap().due_at;
        let due = due.expect("it has a day");
        assert!(due < daemon.handle().now() + 31 * 86_400_000, "{due}");
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_sitemap_does_not_block_its_host() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.set("/robots.txt", "User-agent: *\nDisallow: /private\n");
    let daemon = home.start();
    for (path, outcome) in [("/none.xml", "gone"), ("/private/s.xml", "disallowed")] {
        let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url(path))).await;
        assert_eq!(it.last_read.unwrap().outcome, outcome);
    }
    site.set("/0", "a page of the same host");
    add(&daemon, vec![site.request("/0")]).await;
    until("it is fetched", || site.fetches().contains_key("/0")).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_becomes_a_sitemap_loses_its_children() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(2)).await;
    let whole = pages(&site, &paths(2), Some(&date(-9)));
    site.set_document("/index.xml", index(&[site.url("/a.xml")]));
    site.set_document("/a.xml", whole.clone());
    let mut request = NewSignalSourceRequest::sitemap(site.url("/index.xml"));
    request.patch.min_interval = Some(0.25);
    request.patch.max_interval = Some(0.5);
    let root = add_and_read(&daemon, request).await;
    assert_eq!(root.children, 1);
    // The interval applies to the children too.
    let part = all(&daemon).await.pop().unwrap();
    let source = part.source.unwrap();
    assert_eq!(part.signal_source.parent, Some(root.signal_source.id));
    assert_eq!((source.min_interval, source.max_interval), (0.25, 0.5));
    // Not if the document is cut off: the rest may name children.
    site.set_document("/index.xml", whole[..whole.len() - 9].to_owned());
    assert_eq!(reread(&daemon, root.signal_source.id).await.children, 1);
    site.set_document("/index.xml", whole);
    let root = reread(&daemon, root.signal_source.id).await;
    assert_eq!((root.children, root.last_read.unwrap().known), (0, 2));
    daemon.stop().await;
    assert!(home.reader().check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_children_of_an_index_follow_the_index() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = start_with_copies(&home, &site, &paths).await;
    let part = |name: &str| site.url(name);
    site.set_document("/index.xml", index(&[part("/a.xml"), part("/b.xml.gz"), part("/a.xml")]));
    site.set_document("/a.xml", pages(&site, &paths[..2], Some(&date(-9))));
    site.set_document("/b.xml.gz", gzip(&pages(&site, &paths[2..], Some(&date(-9)))));
    let root = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/index.xml"))).await;
    let last = root.last_read.unwrap();
    assert_eq!((last.format.as_str(), last.parts), ("sitemap-index", 3));
    assert_eq!(last.defects["part-again"], 1);
    assert_eq!(root.children, 2);
    // The index is read for new children every day.
    assert_eq!(root.source.unwrap().max_interval, 1.0);
    let reader = home.reader();
    let named = |name: &str| {
        reader
            .find_signal_source(freshet_store::SignalSourceKind::Sitemap, &site.url(name))
            .unwrap()
    };
    for name in ["/a.xml", "/b.xml.gz"] {
        let it = wait_for_first_read(&daemon, named(name).unwrap().id).await;
        assert_eq!(it.last_read.unwrap().known, 2, "{name}");
        assert_eq!(it.signal_source.parent, Some(root.signal_source.id));
    }
    // One child is gone, and another forms a cycle, as do its own children.
    site.set_document("/index.xml", index(&[part("/a.xml"), part("/loop.xml")]));
    site.set_document(
        "/loop.xml",
        index(&[part("/index.xml"), part("/loop.xml"), part("/deep.xml")]),
    );
    site.set_document("/deep.xml", index(&[part("/deeper.xml")]));
    reread(&daemon, root.signal_source.id).await;
    assert!(named("/b.xml.gz").is_none() && named("/a.xml").is_some());
    let back =
        wait_for_first_read(&daemon, named("/loop.xml").unwrap().id).await.last_read.unwrap();
    assert_eq!((back.defects["part-again"], back.defects["nested-index"]), (2, 1));
    let deep =
        wait_for_first_read(&daemon, named("/deep.xml").unwrap().id).await.last_read.unwrap();
    assert_eq!(deep.defects["part-too-deep"], 1);
    assert!(named("/deeper.xml").is_none());
    // A broken or empty index removes no children.
    for invalid in ["<html></html>".to_owned(), index(&[])] {
        site.set_document("/index.xml", invalid);
        reread(&daemon, root.signal_source.id).await;
        assert!(named("/a.xml").is_some() && named("/loop.xml").is_some());
    }
    assert_eq!(daemon.handle().remove_signal_source(root.signal_source.id).await.unwrap(), 4);
    assert_eq!(reader.count_signal_sources().unwrap(), (0, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn false_signals_cause_no_flood_of_fetches() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(8);
    let daemon = start_with_copies(&home, &site, &paths).await;
    site.set_document("/s.xml", pages(&site, &paths, Some(&date(-100))));
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let before: usize = site.fetches().values().sum();
    // Every page claims to have changed, each time, and none has. A date in the future is ignored.
    for round in 0..20 {
        site.set_document("/s.xml", pages(&site, &paths, Some(&date(600 + round))));
        let last = reread(&daemon, it.signal_source.id).await.last_read.unwrap();
        assert_eq!(last.signals, 8);
        site.set_document("/s.xml", pages(&site, &paths, Some("2031-01-01")));
        let last = reread(&daemon, it.signal_source.id).await.last_read.unwrap();
        assert_eq!(last.signals, 0);
    }
    daemon.stop().await;
    let after: usize = site.fetches().values().sum();
    // The budget holds against any number of signals: 40 requested reads, and some fetches in
    // between.
    let spent: f64 = home.reader().ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert!((after as f64) <= spent + 0.5, "{after} fetches, {spent} paid for");
    assert!(after - before < 40 + 80, "{} fetches", after - before);
}
