//! Signals and learned trust survive a restart.

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::SignalSourceOrigin;

use super::{
    CALM, add_and_read, all, date, index, pages, paths, reread, sitemap, start_with_copies,
    wait_for_first_read,
};
use crate::test_site::{Home, Page, Site, until};

#[tokio::test(flavor = "multi_thread")]
async fn signals_and_trust_survive_a_restart() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = start_with_copies(&home, &site, &paths).await;
    site.set_document("/s.xml", pages(&site, &paths, Some(&date(-100))));
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await;
    let number = it.signal_source.id;
    let mut entries: Vec<_> = paths.iter().map(|it| (site.url(it), Some(date(-100)))).collect();
    entries[2].1 = Some(date(1000));
    site.set(&paths[2], "something else");
    site.set_document("/s.xml", sitemap(&entries));
    let reader = home.reader();
    let changed = |id| reader.source(id).unwrap().unwrap().changed_at.is_some();
    reread(&daemon, number).await;
    until("the first is found", || changed(2)).await;
    // Without a budget, the next signalled page cannot be fetched.
    reload_without_budget(&home, &daemon).await;
    entries[1].1 = Some(date(1000));
    site.set(&paths[1], "something else");
    site.set_document("/s.xml", sitemap(&entries));
    let before = reread(&daemon, number).await;
    let report = before.report.unwrap();
    assert_eq!((report.signals, report.reads), (2, 3), "{report:?}");
    daemon.stop().await;

    let daemon = home.start();
    let after = daemon.handle().signal_source(number).await.unwrap().unwrap();
    let counts = |it: freshet_daemon::SignalSourceReport| {
        (
            it.signals,
            it.late_signals,
            it.signalled_fetches,
            it.confirmed_fetches,
            it.missed_changes,
            it.reads,
            it.sources_found,
        )
    };
    assert_eq!(counts(after.report.unwrap()), counts(report));
    until("what was pending is found", || changed(1)).await;
    // The entries are remembered: none is a signal again.
    let last = reread(&daemon, number).await.last_read.unwrap();
    assert_eq!((last.known, last.signals), (4, 0));
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

/// Reloads a configuration with a budget of 0.
async fn reload_without_budget(home: &Home, daemon: &freshet_daemon::Daemon) {
    let mut config = home.config();
    config.budget = "0/day".parse().unwrap();
    daemon.handle().reload(config).await.unwrap();
    while daemon.handle().status().await.unwrap().budget > 0.0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn configured_signal_sources_follow_the_configuration() {
    let site = Site::start().await;
    let named = |paths: &[&str]| {
        let each =
            paths.iter().map(|path| format!("[[signals.sitemap]]\nurl = \"{}\"\n", site.url(path)));
        format!("{CALM}{}", each.collect::<String>())
    };
    site.set_document("/a.xml", pages(&site, &[], None));
    let mut home = Home::new(&named(&["/a.xml", "/b.xml"]), 1.0);
    let daemon = home.start();
    let names = |all: &[freshet_daemon::SignalSourceState]| -> Vec<String> {
        all.iter().map(|it| it.signal_source.name.clone()).collect()
    };
    let found = all(&daemon).await;
    assert_eq!(names(&found), [site.url("/a.xml"), site.url("/b.xml")]);
    assert!(found.iter().all(|it| it.signal_source.origin == SignalSourceOrigin::Config));
    let error = daemon.handle().remove_signal_source(found[0].signal_source.id).await.unwrap_err();
    assert!(error.hint().unwrap().contains("configuration"), "{error}");
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
async fn a_late_document_is_not_attributed_to_a_reused_id() {
    let site = Site::start().await;
    let named = |path: &str| format!("{CALM}[[signals.sitemap]]\nurl = \"{}\"\n", site.url(path));
    let body = Some(index(&[site.url("/part.xml")]).into());
    let page = Page { body, ..Page::default() };
    site.put("/a.xml", Page { is_silent: true, ..page.clone() });
    site.set_document("/b.xml", pages(&site, &paths(1), None));
    let mut home = Home::new(&named("/a.xml"), 1.0);
    let daemon = home.start();
    until("it is asked for", || site.fetches().contains_key("/a.xml")).await;
    let before = all(&daemon).await[0].signal_source.clone();
    home.text = named("/b.xml");
    daemon.handle().reload(home.config()).await.unwrap();
    let after = loop {
        match all(&daemon).await.as_slice() {
            [it] if it.signal_source.name == site.url("/b.xml") => break it.signal_source.clone(),
            _ => tokio::task::yield_now().await,
        }
    };
    assert_eq!(before.id, after.id);
    // The response comes now. The new document is read after it, since both are on one host.
    site.put("/a.xml", page);
    let it = wait_for_first_read(&daemon, after.id).await;
    assert_eq!((it.last_read.unwrap().format.as_str(), it.children), ("sitemap", 0));
    assert_eq!(it.report.unwrap().reads, 1);
    assert!(!site.fetches().contains_key("/part.xml"));
    daemon.stop().await;
    assert!(home.reader().check_integrity().unwrap().is_ok());
}
