//! What was said and learnt of who says it outlives the process.

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::SignalSourceOrigin;

use super::{
    CALM, all, date, first_read, index, pages, paths, read, read_again, sitemap, with_copies,
};
use crate::web::{Home, Page, Site, until};

#[tokio::test(flavor = "multi_thread")]
async fn signals_and_trust_outlive_the_process() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = with_copies(&home, &site, &paths).await;
    site.raw("/s.xml", pages(&site, &paths, Some(&date(-100))));
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let number = it.herald.id;
    let mut entries: Vec<_> = paths.iter().map(|it| (site.url(it), Some(date(-100)))).collect();
    entries[2].1 = Some(date(1000));
    site.set(&paths[2], "something else");
    site.raw("/s.xml", sitemap(&entries));
    let reader = home.reader();
    let changed = |id| reader.source(id).unwrap().unwrap().changed_at.is_some();
    read_again(&daemon, number).await;
    until("the first is found", || changed(2)).await;
    // Nothing can be fetched any more when the next one is told of.
    home_without_budget(&home, &daemon).await;
    entries[1].1 = Some(date(1000));
    site.set(&paths[1], "something else");
    site.raw("/s.xml", sitemap(&entries));
    let before = read_again(&daemon, number).await;
    let told = before.report.unwrap();
    assert_eq!((told.signals, told.reads), (2, 3), "{told:?}");
    daemon.stop().await;

    let daemon = home.start();
    let after = daemon.handle().herald(number).await.unwrap().unwrap();
    let counts = |it: freshet_daemon::SignalSourceReport| {
        (it.signals, it.late, it.tried, it.proved, it.missed, it.reads, it.found)
    };
    assert_eq!(counts(after.report.unwrap()), counts(told));
    until("what was pending is found", || changed(1)).await;
    // What was said is remembered: it is no news.
    let last = read_again(&daemon, number).await.last.unwrap();
    assert_eq!((last.known, last.signals), (4, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

/// The daemon goes on with a configuration that pays for nothing.
async fn home_without_budget(home: &Home, daemon: &freshet_daemon::Daemon) {
    let mut config = home.config();
    config.budget = "0/day".parse().unwrap();
    daemon.handle().reload(config).await.unwrap();
    while daemon.handle().status().await.unwrap().budget > 0.0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_configuration_names_comes_and_goes_with_it() {
    let site = Site::start().await;
    let named = |paths: &[&str]| {
        let each =
            paths.iter().map(|path| format!("[[signals.sitemap]]\nurl = \"{}\"\n", site.url(path)));
        format!("{CALM}{}", each.collect::<String>())
    };
    site.raw("/a.xml", pages(&site, &[], None));
    let mut home = Home::new(&named(&["/a.xml", "/b.xml"]), 1.0);
    let daemon = home.start();
    let names = |all: &[freshet_daemon::SignalSourceState]| -> Vec<String> {
        all.iter().map(|it| it.herald.name.clone()).collect()
    };
    let found = all(&daemon).await;
    assert_eq!(names(&found), [site.url("/a.xml"), site.url("/b.xml")]);
    assert!(found.iter().all(|it| it.herald.origin == SignalSourceOrigin::Config));
    let refused = daemon.handle().remove_herald(found[0].herald.id).await.unwrap_err();
    assert!(refused.hint().unwrap().contains("configuration"), "{refused}");
    until("it is read", || site.fetches().contains_key("/a.xml")).await;
    home.text = named(&["/b.xml", "/c.xml"]);
    daemon.handle().reload(home.config()).await.unwrap();
    let (b, c) = (site.url("/b.xml"), site.url("/c.xml"));
    loop {
        let mut found = names(&all(&daemon).await);
        found.sort();
        if found == [b.clone(), c.clone()] {
            break;
        }
        tokio::task::yield_now().await;
    }
    daemon.stop().await;
    home.text = named(&["/c.xml"]);
    let daemon = home.start();
    assert_eq!(names(&all(&daemon).await), [c]);
    daemon.stop().await;
    assert!(home.reader().check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_when_its_herald_is_gone_is_not_of_the_one_that_has_its_number_now() {
    let site = Site::start().await;
    let named = |path: &str| format!("{CALM}[[signals.sitemap]]\nurl = \"{}\"\n", site.url(path));
    let body = Some(index(&[site.url("/part.xml")]).into());
    let page = Page { body, ..Page::default() };
    site.put("/a.xml", Page { never: true, ..page.clone() });
    site.raw("/b.xml", pages(&site, &paths(1), None));
    let mut home = Home::new(&named("/a.xml"), 1.0);
    let daemon = home.start();
    until("it is asked for", || site.fetches().contains_key("/a.xml")).await;
    let before = all(&daemon).await[0].herald.clone();
    home.text = named("/b.xml");
    daemon.handle().reload(home.config()).await.unwrap();
    let after = loop {
        match all(&daemon).await.as_slice() {
            [it] if it.herald.name == site.url("/b.xml") => break it.herald.clone(),
            _ => tokio::task::yield_now().await,
        }
    };
    assert_eq!(before.id, after.id);
    // Now it comes; the other is read after that, as they are of one host.
    site.put("/a.xml", page);
    let it = first_read(&daemon, after.id).await;
    assert_eq!((it.last.unwrap().format.as_str(), it.parts), ("sitemap", 0));
    assert_eq!(it.report.unwrap().reads, 1);
    assert!(!site.fetches().contains_key("/part.xml"));
    daemon.stop().await;
    assert!(home.reader().check_integrity().unwrap().is_ok());
}
