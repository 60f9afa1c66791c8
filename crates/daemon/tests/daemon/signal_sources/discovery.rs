//! Discovered pages, and sitemaps named in robots.txt.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourceError, SignalSourcePatch};
use freshet_store::{SignalSourceKind, SignalSourceOrigin, SourceQuery};

use super::{
    CALM, add_and_read, all, index, pages, paths, reread, sitemap, start_with_copies,
    wait_for_first_read,
};
use crate::test_site::{Home, Page, Site, add, until};

fn discover(url: String) -> NewSignalSourceRequest {
    let rule = DiscoveryRule { discover: true, ..DiscoveryRule::default() };
    NewSignalSourceRequest { rule, ..NewSignalSourceRequest::sitemap(url) }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_added_by_the_rule() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(1)).await;
    for path in ["/blog/a", "/blog/b", "/blog/old/c"] {
        site.set(path, "a page");
    }
    let host = site.address.to_string();
    let urls = ["/0", "/blog/a", "/blog/old/c", "/shop", "/blog/b"].map(|path| site.url(path));
    let away = "http://other.example/blog/x".to_owned();
    let entries: Vec<_> = urls.into_iter().chain([away]).map(|url| (url, None)).collect();
    site.set_document("/s.xml", sitemap(&entries));
    let mut request = discover(site.url("/s.xml"));
    request.rule.include = vec![format!("{host}/blog/")];
    request.rule.exclude = vec![format!("{host}/blog/old/")];
    request.rule.tags = vec!["found".to_owned()];
    request.rule.importance = Some(3.0);
    let it = add_and_read(&daemon, request.clone()).await;
    let last = it.last_read.unwrap();
    assert_eq!((last.known, last.found, it.signal_source.sources_added), (1, 2, 2));
    let reader = home.reader();
    let found = SourceQuery { tag: Some("found".to_owned()), ..SourceQuery::default() };
    let found = reader.list_sources(&found).unwrap().sources;
    let urls: Vec<&str> = found.iter().map(|it| it.url.as_str()).collect();
    assert_eq!(urls, [site.url("/blog/a"), site.url("/blog/b")]);
    assert!(found.iter().all(|it| it.importance == 3.0));
    until("they have copies", || site.fetches().contains_key("/blog/b")).await;
    // The pages are known now, and no page is added twice.
    let last = reread(&daemon, it.signal_source.id).await.last_read.unwrap();
    assert_eq!((last.known, last.found), (3, 0));
    // A changed rule applies from the next read on.
    request.rule.other_hosts = true;
    request.rule.include = vec!["other.example".to_owned()];
    let rule = Some(request.rule);
    let given = SignalSourcePatch { rule, ..SignalSourcePatch::default() };
    daemon.handle().update_signal_source(it.signal_source.id, given).await.unwrap();
    let last = reread(&daemon, it.signal_source.id).await.last_read.unwrap();
    assert_eq!(last.found, 1);
    assert!(reader.find_source("http://other.example/blog/x").unwrap().is_some());
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_rule_applies_to_unchanged_documents() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let marked = |path: &str, body: String| {
        let etag = Some("\"same\"".to_owned());
        site.put(path, Page { body: Some(body.into()), etag, ..Page::default() });
    };
    marked("/index.xml", index(&[site.url("/a.xml")]));
    marked("/a.xml", pages(&site, &paths(3), None));
    let daemon = home.start();
    let request = NewSignalSourceRequest::sitemap(site.url("/index.xml"));
    let root = add_and_read(&daemon, request).await.signal_source.id;
    let part = home
        .reader()
        .find_signal_source(SignalSourceKind::Sitemap, &site.url("/a.xml"))
        .unwrap()
        .unwrap();
    let part = wait_for_first_read(&daemon, part.id).await.signal_source;
    let status = || home.reader().history(part.source.unwrap(), 1).unwrap()[0].status;
    reread(&daemon, part.id).await;
    assert_eq!(status(), 304);
    let rule = Some(DiscoveryRule { discover: true, ..DiscoveryRule::default() });
    let given = SignalSourcePatch { rule, ..SignalSourcePatch::default() };
    daemon.handle().update_signal_source(root, given.clone()).await.unwrap();
    assert_eq!(reread(&daemon, part.id).await.last_read.unwrap().found, 3);
    // Setting the same rule again changes nothing.
    daemon.handle().update_signal_source(root, given).await.unwrap();
    reread(&daemon, part.id).await;
    assert_eq!(status(), 304);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_limit_holds_over_children_and_restarts() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let names = paths(60);
    site.set_document("/index.xml", index(&[site.url("/a.xml"), site.url("/b.xml")]));
    site.set_document("/a.xml", pages(&site, &names[..30], None));
    site.set_document("/b.xml", pages(&site, &names[30..], None));
    let daemon = home.start();
    let mut request = discover(site.url("/index.xml"));
    request.rule.max_pages = 40;
    let root = add_and_read(&daemon, request).await.signal_source.id;
    let reader = home.reader();
    let part = |name: &str| {
        let kind = freshet_store::SignalSourceKind::Sitemap;
        reader.find_signal_source(kind, &site.url(name)).unwrap().unwrap().id
    };
    // In any order: as many as the limit allows, and no more.
    let a = wait_for_first_read(&daemon, part("/a.xml")).await.last_read.unwrap();
    let b = wait_for_first_read(&daemon, part("/b.xml")).await.last_read.unwrap();
    assert_eq!((a.found + b.found, a.over + b.over), (40, 20));
    let full = if a.over > 0 { a } else { b };
    assert!(
        full.describe().contains("the page limit of the rule is reached"),
        "{}",
        full.describe()
    );
    daemon.stop().await;
    let daemon = home.start();
    for name in ["/a.xml", "/b.xml"] {
        let again = reread(&daemon, part(name)).await.last_read.unwrap();
        assert_eq!((again.found, again.known + again.over), (0, 30));
    }
    assert_eq!(reader.signal_source(root).unwrap().unwrap().sources_added, 40);
    assert_eq!(reader.count_sources(&SourceQuery::default()).unwrap(), 40);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_sitemaps_are_read_if_the_host_has_enough_sources() {
    for (known, is_read) in [(2, false), (3, true)] {
        let text = format!("{CALM}[signals]\nrobots_pages = 3\n");
        let (site, mut home) = (Site::start().await, Home::new(&text, 1.0));
        site.set("/robots.txt", "User-agent: *\nDisallow: /private\nSitemap: /s.xml\n");
        site.set_document("/s.xml", pages(&site, &paths(3), None));
        for path in paths(3) {
            site.set(&path, "as ever");
        }
        let daemon = home.start();
        add(&daemon, paths(known).iter().map(|path| site.request(path)).collect()).await;
        until("all have a copy", || site.fetches().len() >= known).await;
        if is_read {
            until("its sitemap is read", || site.fetches().contains_key("/s.xml")).await;
        }
        let found = all(&daemon).await;
        assert_eq!(found.len(), usize::from(is_read));
        if let Some(it) = found.first() {
            assert_eq!(it.signal_source.origin, SignalSourceOrigin::Robots);
            let speaks_for = site.address.to_string();
            assert_eq!(it.rule.only_host.as_deref(), Some(speaks_for.as_str()));
            let error =
                daemon.handle().remove_signal_source(it.signal_source.id).await.unwrap_err();
            assert!(error.hint().unwrap().contains("robots = false"), "{error}");
            daemon.stop().await;
            home.text = format!("{CALM}[signals]\nrobots = false\n");
            let daemon = home.start();
            assert_eq!(all(&daemon).await.len(), 0);
            daemon.stop().await;
        } else {
            daemon.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_no_longer_named_in_robots_txt_is_removed() {
    let text = format!("{CALM}[signals]\nrobots_pages = 1\n");
    let (site, mut home) = (Site::start().await, Home::new(&text, 1.0));
    home.fetch = "[fetch.limits]\nrobots = \"1ms\"\n".to_owned();
    site.set("/robots.txt", "User-agent: *\nAllow: /\nSitemap: /s.xml\n");
    site.set_document("/s.xml", pages(&site, &paths(1), None));
    let daemon = start_with_copies(&home, &site, &paths(1)).await;
    until("its sitemap is read", || site.fetches().contains_key("/s.xml")).await;
    // A missing robots.txt says nothing about sitemaps.
    site.put("/robots.txt", Page { status: 404, ..Page::default() });
    daemon.handle().check_id(0).await.unwrap();
    assert_eq!(all(&daemon).await.len(), 1);
    site.set("/robots.txt", "User-agent: *\nAllow: /\n");
    while !all(&daemon).await.is_empty() {
        daemon.handle().check_id(0).await.unwrap();
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_disallowed_by_robots_txt_is_not_read() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.set("/robots.txt", "User-agent: *\nDisallow: /private\n");
    site.set_document("/private/s.xml", pages(&site, &paths(1), None));
    let daemon = home.start();
    let it =
        add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/private/s.xml"))).await;
    assert_eq!(it.last_read.unwrap().outcome, "disallowed");
    assert!(!site.fetches().contains_key("/private/s.xml"));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_are_refused_with_a_reason() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.set_document("/index.xml", index(&[site.url("/a.xml")]));
    let daemon = home.start();
    let handle = daemon.handle();
    let invalid =
        handle.add_signal_source(NewSignalSourceRequest::sitemap("not a url")).await.unwrap_err();
    assert!(matches!(invalid, SignalSourceError::Url(_)), "{invalid}");
    let mut request = discover(site.url("/index.xml"));
    request.rule.include = vec!["/no-host".to_owned()];
    let invalid = handle.add_signal_source(request.clone()).await.unwrap_err();
    assert!(
        matches!(invalid, SignalSourceError::InvalidSetting { field: "include", .. }),
        "{invalid}"
    );
    let given = || SignalSourcePatch { paused: Some(true), ..SignalSourcePatch::default() };
    let invalid = handle.update_signal_source(7, given()).await.unwrap_err();
    assert!(matches!(invalid, SignalSourceError::NotFound(7)), "{invalid}");
    let root = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/index.xml")))
        .await
        .signal_source
        .id;
    let part = all(&daemon).await.pop().unwrap().signal_source;
    let invalid = handle.remove_signal_source(part.id).await.unwrap_err();
    assert!(invalid.hint().unwrap().ends_with("/index.xml"), "{invalid}");
    // A child can be paused.
    handle.update_signal_source(part.id, given()).await.unwrap();
    let part = handle.signal_source(part.id).await.unwrap().unwrap();
    assert!(part.source.unwrap().paused);
    assert_eq!(handle.remove_signal_source(root).await.unwrap(), 2);
    daemon.stop().await;
}
