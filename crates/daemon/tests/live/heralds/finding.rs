//! Pages that nobody knew, and sitemaps that a robots.txt names.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourceError, SignalSourcePatch};
use freshet_store::{SignalSourceKind, SignalSourceOrigin, SourceQuery};

use super::{CALM, all, first_read, index, pages, paths, read, read_again, sitemap, with_copies};
use crate::web::{Home, Page, Site, add, until};

fn discover(url: String) -> NewSignalSourceRequest {
    let rule = DiscoveryRule { discover: true, ..DiscoveryRule::default() };
    NewSignalSourceRequest { rule, ..NewSignalSourceRequest::sitemap(url) }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_added_as_the_rule_says() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(1)).await;
    for path in ["/blog/a", "/blog/b", "/blog/old/c"] {
        site.set(path, "a page");
    }
    let host = site.address.to_string();
    let urls = ["/0", "/blog/a", "/blog/old/c", "/shop", "/blog/b"].map(|path| site.url(path));
    let away = "http://other.example/blog/x".to_owned();
    let entries: Vec<_> = urls.into_iter().chain([away]).map(|url| (url, None)).collect();
    site.raw("/s.xml", sitemap(&entries));
    let mut wanted = discover(site.url("/s.xml"));
    wanted.rule.include = vec![format!("{host}/blog/")];
    wanted.rule.exclude = vec![format!("{host}/blog/old/")];
    wanted.rule.tags = vec!["found".to_owned()];
    wanted.rule.importance = Some(3.0);
    let it = read(&daemon, wanted.clone()).await;
    let last = it.last.unwrap();
    assert_eq!((last.known, last.found, it.herald.sources_added), (1, 2, 2));
    let reader = home.reader();
    let found = SourceQuery { tag: Some("found".to_owned()), ..SourceQuery::default() };
    let found = reader.list_sources(&found).unwrap().sources;
    let urls: Vec<&str> = found.iter().map(|it| it.url.as_str()).collect();
    assert_eq!(urls, [site.url("/blog/a"), site.url("/blog/b")]);
    assert!(found.iter().all(|it| it.importance == 3.0));
    until("they have copies", || site.fetches().contains_key("/blog/b")).await;
    // Those are known now, and nobody is added twice.
    let last = read_again(&daemon, it.herald.id).await.last.unwrap();
    assert_eq!((last.known, last.found), (3, 0));
    // What the rule says now holds from now on.
    wanted.rule.other_hosts = true;
    wanted.rule.include = vec!["other.example".to_owned()];
    let rule = Some(wanted.rule);
    let given = SignalSourcePatch { rule, ..SignalSourcePatch::default() };
    daemon.handle().change_herald(it.herald.id, given).await.unwrap();
    let last = read_again(&daemon, it.herald.id).await.last.unwrap();
    assert_eq!(last.found, 1);
    assert!(reader.find_source("http://other.example/blog/x").unwrap().is_some());
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_changes_holds_for_documents_that_do_not() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let marked = |path: &str, body: String| {
        let etag = Some("\"same\"".to_owned());
        site.put(path, Page { body: Some(body.into()), etag, ..Page::default() });
    };
    marked("/index.xml", index(&[site.url("/a.xml")]));
    marked("/a.xml", pages(&site, &paths(3), None));
    let daemon = home.start();
    let wanted = NewSignalSourceRequest::sitemap(site.url("/index.xml"));
    let root = read(&daemon, wanted).await.herald.id;
    let part = home
        .reader()
        .find_signal_source(SignalSourceKind::Sitemap, &site.url("/a.xml"))
        .unwrap()
        .unwrap();
    let part = first_read(&daemon, part.id).await.herald;
    let status = || home.reader().history(part.source.unwrap(), 1).unwrap()[0].status;
    read_again(&daemon, part.id).await;
    assert_eq!(status(), 304);
    let rule = Some(DiscoveryRule { discover: true, ..DiscoveryRule::default() });
    let given = SignalSourcePatch { rule, ..SignalSourcePatch::default() };
    daemon.handle().change_herald(root, given.clone()).await.unwrap();
    assert_eq!(read_again(&daemon, part.id).await.last.unwrap().found, 3);
    // What is said again changes nothing.
    daemon.handle().change_herald(root, given).await.unwrap();
    read_again(&daemon, part.id).await;
    assert_eq!(status(), 304);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_are_added_than_the_rule_allows_over_all_parts_and_restarts() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let names = paths(60);
    site.raw("/index.xml", index(&[site.url("/a.xml"), site.url("/b.xml")]));
    site.raw("/a.xml", pages(&site, &names[..30], None));
    site.raw("/b.xml", pages(&site, &names[30..], None));
    let daemon = home.start();
    let mut wanted = discover(site.url("/index.xml"));
    wanted.rule.most = 40;
    let root = read(&daemon, wanted).await.herald.id;
    let reader = home.reader();
    let part = |name: &str| {
        let kind = freshet_store::SignalSourceKind::Sitemap;
        reader.find_signal_source(kind, &site.url(name)).unwrap().unwrap().id
    };
    // In any order: all that there is room for, and no more.
    let a = first_read(&daemon, part("/a.xml")).await.last.unwrap();
    let b = first_read(&daemon, part("/b.xml")).await.last.unwrap();
    assert_eq!((a.found + b.found, a.over + b.over), (40, 20));
    let full = if a.over > 0 { a } else { b };
    assert!(full.words().contains("the limit of its rule is reached"), "{}", full.words());
    daemon.stop().await;
    let daemon = home.start();
    for name in ["/a.xml", "/b.xml"] {
        let again = read_again(&daemon, part(name)).await.last.unwrap();
        assert_eq!((again.found, again.known + again.over), (0, 30));
    }
    assert_eq!(reader.signal_source(root).unwrap().unwrap().sources_added, 40);
    assert_eq!(reader.count_sources(&SourceQuery::default()).unwrap(), 40);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sitemaps_of_robots_txt_are_read_if_enough_is_known_there() {
    for (known, is_read) in [(2, false), (3, true)] {
        let text = format!("{CALM}[signals]\nrobots_pages = 3\n");
        let (site, mut home) = (Site::start().await, Home::new(&text, 1.0));
        site.set("/robots.txt", "User-agent: *\nDisallow: /private\nSitemap: /s.xml\n");
        site.raw("/s.xml", pages(&site, &paths(3), None));
        for path in paths(3) {
            site.set(&path, "as ever");
        }
        let daemon = home.start();
        add(&daemon, paths(known).iter().map(|path| site.wanted(path)).collect()).await;
        until("all have a copy", || site.fetches().len() >= known).await;
        if is_read {
            until("its sitemap is read", || site.fetches().contains_key("/s.xml")).await;
        }
        let found = all(&daemon).await;
        assert_eq!(found.len(), usize::from(is_read));
        if let Some(it) = found.first() {
            assert_eq!(it.herald.origin, SignalSourceOrigin::Robots);
            let speaks_for = site.address.to_string();
            assert_eq!(it.rule.speaks_for.as_deref(), Some(speaks_for.as_str()));
            let refused = daemon.handle().remove_herald(it.herald.id).await.unwrap_err();
            assert!(refused.hint().unwrap().contains("robots = false"), "{refused}");
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
async fn a_sitemap_that_robots_txt_does_not_name_any_more_goes() {
    let text = format!("{CALM}[signals]\nrobots_pages = 1\n");
    let (site, mut home) = (Site::start().await, Home::new(&text, 1.0));
    home.fetch = "[fetch.limits]\nrobots = \"1ms\"\n".to_owned();
    site.set("/robots.txt", "User-agent: *\nAllow: /\nSitemap: /s.xml\n");
    site.raw("/s.xml", pages(&site, &paths(1), None));
    let daemon = with_copies(&home, &site, &paths(1)).await;
    until("its sitemap is read", || site.fetches().contains_key("/s.xml")).await;
    // A file that is not there says nothing of sitemaps.
    site.put("/robots.txt", Page { status: 404, ..Page::default() });
    daemon.handle().check_number(0).await.unwrap();
    assert_eq!(all(&daemon).await.len(), 1);
    site.set("/robots.txt", "User-agent: *\nAllow: /\n");
    while !all(&daemon).await.is_empty() {
        daemon.handle().check_number(0).await.unwrap();
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_robots_txt_does_not_allow_is_not_read() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.set("/robots.txt", "User-agent: *\nDisallow: /private\n");
    site.raw("/private/s.xml", pages(&site, &paths(1), None));
    let daemon = home.start();
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/private/s.xml"))).await;
    assert_eq!(it.last.unwrap().outcome, "disallowed");
    assert!(!site.fetches().contains_key("/private/s.xml"));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_refused_with_a_reason() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    site.raw("/index.xml", index(&[site.url("/a.xml")]));
    let daemon = home.start();
    let handle = daemon.handle();
    let odd = handle.add_herald(NewSignalSourceRequest::sitemap("not a url")).await.unwrap_err();
    assert!(matches!(odd, SignalSourceError::Url(_)), "{odd}");
    let mut wanted = discover(site.url("/index.xml"));
    wanted.rule.include = vec!["/no-host".to_owned()];
    let odd = handle.add_herald(wanted.clone()).await.unwrap_err();
    assert!(matches!(odd, SignalSourceError::Given { field: "include", .. }), "{odd}");
    let given = || SignalSourcePatch { paused: Some(true), ..SignalSourcePatch::default() };
    let odd = handle.change_herald(7, given()).await.unwrap_err();
    assert!(matches!(odd, SignalSourceError::Unknown(7)), "{odd}");
    let root =
        read(&daemon, NewSignalSourceRequest::sitemap(site.url("/index.xml"))).await.herald.id;
    let part = all(&daemon).await.pop().unwrap().herald;
    let odd = handle.remove_herald(part.id).await.unwrap_err();
    assert!(odd.hint().unwrap().ends_with("/index.xml"), "{odd}");
    // A part can be left alone.
    handle.change_herald(part.id, given()).await.unwrap();
    let part = handle.herald(part.id).await.unwrap().unwrap();
    assert!(part.source.unwrap().paused);
    assert_eq!(handle.remove_herald(root).await.unwrap(), 2);
    daemon.stop().await;
}
