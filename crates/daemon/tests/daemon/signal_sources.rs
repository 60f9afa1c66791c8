//! Sitemaps and feeds that the daemon reads, and the effect of their signals.

mod discovery;
mod documents;
mod large_sitemaps;
mod persistence;

use std::fmt::Write as _;
use std::time::Duration;

use freshet_daemon::{Daemon, NewSignalSourceRequest, SignalSourceState, days_from_millis};
use freshet_store::SignalSourceQuery;

use crate::test_site::{Home, Site, add, until};

/// Documents are read only when a test asks for it: a day takes a day.
pub(crate) const CALM: &str = "budget = \"100000/day\"\n[hosts]\ngap = \"0s\"\n";

/// The test clock shows this plus some seconds, times its factor.
pub(crate) const START: i64 = 1_700_000_000;

/// Formats a `lastmod` date, in seconds after the start of the clock.
pub(crate) fn date(seconds: i64) -> String {
    // 1,700,000,000 is 2023-11-14T22:13:20Z: before the end of the month there is no need for a
    // calendar.
    let at = 22 * 3600 + 13 * 60 + 20 + seconds;
    let (day, at) = (14 + at.div_euclid(86_400), at.rem_euclid(86_400));
    format!("2023-11-{day:02}T{:02}:{:02}:{:02}Z", at / 3600, at / 60 % 60, at % 60)
}

/// Builds a sitemap of URLs with their dates.
pub(crate) fn sitemap(entries: &[(String, Option<String>)]) -> String {
    let mut text = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_owned();
    for (url, changed) in entries {
        write!(text, "<url><loc>{url}</loc>").unwrap();
        if let Some(changed) = changed {
            write!(text, "<lastmod>{changed}</lastmod>").unwrap();
        }
        text += "</url>";
    }
    text + "</urlset>"
}

/// Builds a sitemap of a site's pages, all with one date.
pub(crate) fn pages(site: &Site, paths: &[String], changed: Option<&str>) -> String {
    let entry = |path: &String| (site.url(path), changed.map(str::to_owned));
    sitemap(&paths.iter().map(entry).collect::<Vec<_>>())
}

pub(crate) fn index(urls: &[String]) -> String {
    let parts: String =
        urls.iter().map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
    let space = "http://www.sitemaps.org/schemas/sitemap/0.9";
    format!("<sitemapindex xmlns=\"{space}\">{parts}</sitemapindex>")
}

pub(crate) fn paths(some: usize) -> Vec<String> {
    (0..some).map(|n| format!("/{n}")).collect()
}

/// Starts a daemon and waits until every page has a copy.
pub(crate) async fn start_with_copies(home: &Home, site: &Site, paths: &[String]) -> Daemon {
    for path in paths {
        site.set(path, "as ever");
    }
    let daemon = home.start();
    add(&daemon, paths.iter().map(|path| site.request(path)).collect()).await;
    let reader = home.reader();
    let is_there = |id| reader.source(id).unwrap().is_some_and(|it| it.fetched_at.is_some());
    let last = u32::try_from(paths.len()).unwrap();
    until("all have a copy", || (0..last).all(is_there)).await;
    daemon
}

/// Adds a signal source and returns its state after the first read.
pub(crate) async fn add_and_read(
    daemon: &Daemon,
    request: NewSignalSourceRequest,
) -> SignalSourceState {
    let number = daemon.handle().add_signal_source(request).await.unwrap().id;
    wait_for_first_read(daemon, number).await
}

pub(crate) async fn wait_for_first_read(daemon: &Daemon, number: u32) -> SignalSourceState {
    loop {
        let it = daemon.handle().signal_source(number).await.unwrap().unwrap();
        if it.last_read.is_some() {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn reread(daemon: &Daemon, number: u32) -> SignalSourceState {
    daemon.handle().read_signal_source(number).await.unwrap();
    daemon.handle().signal_source(number).await.unwrap().unwrap()
}

pub(crate) async fn all(daemon: &Daemon) -> Vec<SignalSourceState> {
    daemon.handle().signal_sources(SignalSourceQuery::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_entry_signals_a_change_once() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(8);
    let daemon = start_with_copies(&home, &site, &paths).await;
    let old = date(-1000);
    site.set_document("/sitemap.xml", pages(&site, &paths, Some(&old)));
    let first =
        add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let last = first.last_read.unwrap();
    assert_eq!((last.outcome.as_str(), last.format.as_str()), ("read", "sitemap"));
    assert_eq!((last.pages, last.known, last.signals), (8, 8, 0));
    // Two pages are listed as changed, and are.
    let mut entries: Vec<_> = paths.iter().map(|it| (site.url(it), Some(old.clone()))).collect();
    for at in [3, 6] {
        site.set(&paths[at], "something else");
        entries[at].1 = Some(date(3000));
    }
    site.set_document("/sitemap.xml", sitemap(&entries));
    let second = reread(&daemon, first.signal_source.id).await;
    assert_eq!(second.last_read.as_ref().unwrap().signals, 2, "{second:?}");
    assert_eq!(second.report.unwrap().signals, 2);
    let reader = home.reader();
    let changed = |id| reader.source(id).unwrap().unwrap().changed_at.is_some();
    until("what was said is found", || changed(3) && changed(6)).await;
    // Reading it again yields no signal.
    let third = reread(&daemon, first.signal_source.id).await;
    assert_eq!(third.last_read.unwrap().signals, 0);
    // It does not count as a page.
    assert_eq!(daemon.handle().status().await.unwrap().sources, 8);
    assert_eq!(daemon.handle().status().await.unwrap().signal_sources, 1);
    let history = reader.history(third.source.unwrap().id, 9).unwrap();
    let outcomes: Vec<_> = history.iter().rev().map(|it| it.outcome).collect();
    use freshet_store::StoredOutcome::{Changed, First, Unchanged};
    assert_eq!(outcomes, [First, Changed, Unchanged]);
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_precise_signal_source_makes_a_page_due_sooner() {
    // A minute per second and a tiny budget: fetches happen on demand only.
    let home = Home::new("budget = \"20/day\"\n[hosts]\ngap = \"0s\"\n", 60.0);
    let site = Site::start().await;
    let paths = paths(2);
    let daemon = start_with_copies(&home, &site, &paths).await;
    site.set_document("/s.xml", pages(&site, &paths, Some(&date(-1000))));
    let number = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml")))
        .await
        .signal_source
        .id;
    let handle = daemon.handle();
    let mut answer = 0;
    let rounds = 30;
    for round in 0..rounds {
        until("a second has passed", || handle.now() / 1000 > answer).await;
        answer = handle.now() / 1000;
        site.set("/0", &format!("version {round}"));
        let dates = [date(answer - START), date(-1000)].map(Some);
        let entries: Vec<_> = paths.iter().map(|it| site.url(it)).zip(dates).collect();
        site.set_document("/s.xml", sitemap(&entries));
        let it = reread(&daemon, number).await;
        assert_eq!(it.last_read.unwrap().signals, 1, "in round {round}");
        if round < rounds - 1 {
            handle.check(&site.url("/0")).await.unwrap();
        }
    }
    let it = handle.pending_signals(0).await.unwrap().unwrap();
    assert_eq!((it.signal_source, it.count), (number, 1), "{it:?}");
    assert!(it.precision > 0.5, "{it:?}");
    let explained = handle.explain(&site.url("/0")).await.unwrap();
    let due = days_from_millis(explained.due_at.unwrap());
    assert!(due < it.due_without_signals, "{due} {it:?}");
    // The explanation names the signal source and the seconds that it moved the fetch.
    let answer = explained.signals.unwrap();
    assert_eq!(
        (answer.name.as_str(), answer.kind.as_str()),
        (site.url("/s.xml").as_str(), "sitemap")
    );
    let apart =
        86_400.0 * (it.due_without_signals - days_from_millis(explained.due_without_host.unwrap()));
    assert!(
        (answer.seconds_moved.unwrap() - apart).abs() < 0.01 * apart + 60.0,
        "{answer:?} {apart}"
    );
    let words = answer.describe(explained.due_without_host, explained.explained_at);
    assert!(words.starts_with(&format!("1 signal of {}, ", site.url("/s.xml"))), "{words}");
    assert!(words.contains(" instead of in "), "{words}");
    assert!(explained.text.contains("  signals   1 signal of"), "{}", explained.text);
    daemon.stop().await;
    // Without a daemon, the store gives the same explanation.
    let (config, reader, now) = (home.config(), home.reader(), explained.explained_at);
    let offline = freshet_daemon::explain_offline(&config, &reader, now, 0).unwrap().unwrap();
    let offline = offline.signals.unwrap();
    assert_eq!((offline.id, offline.pending, &offline.name), (answer.id, 1, &answer.name));
    assert!((offline.precision - answer.precision).abs() < 0.05, "{offline:?} {answer:?}");
    assert!(offline.seconds_moved.unwrap() > 0.0, "{offline:?}");
    let signal_sources = [reader.signal_source(number).unwrap().unwrap()];
    let reports =
        freshet_daemon::signal_source_reports_offline(&config, &reader, now, &signal_sources)
            .unwrap();
    let report = reports[0].unwrap();
    assert_eq!((report.sources, report.signals), (2, 30));
    assert!(report.signalled_fetches > 20 && report.precision.unwrap() > 0.5, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_entry_is_a_signal_if_it_is_later_than_the_copy() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(3);
    let daemon = start_with_copies(&home, &site, &paths).await;
    let dates = [Some(date(-5000)), Some(date(3600)), None];
    let entries: Vec<_> = paths.iter().map(|it| site.url(it)).zip(dates).collect();
    site.set_document("/sitemap.xml", sitemap(&entries));
    let it = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    assert_eq!(it.last_read.unwrap().signals, 1);
    let latest = home.reader().latest_signals(0).unwrap();
    assert_eq!(latest[0].entry.unwrap().changed_at, Some((START - 5000) * 1000));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_entries_of_a_feed_are_signals() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = start_with_copies(&home, &site, &paths).await;
    let feed = |some: &[usize], text: &str| {
        let item = |at: &usize| {
            let link = site.url(&paths[*at]);
            format!("<item><title>{text}</title><link>{link}</link></item>")
        };
        let items: String = some.iter().map(item).collect();
        format!("<rss version=\"2.0\"><channel><title>t</title>{items}</channel></rss>")
    };
    site.set_document("/feed", feed(&[0, 1], "a"));
    let it = add_and_read(&daemon, NewSignalSourceRequest::feed(site.url("/feed"))).await;
    let last = it.last_read.unwrap();
    assert_eq!((last.format.as_str(), last.known, last.signals), ("rss", 2, 0));
    site.set_document("/feed", feed(&[2, 0, 1], "a"));
    let it = reread(&daemon, it.signal_source.id).await;
    assert_eq!(it.last_read.unwrap().signals, 1);
    site.set_document("/feed", feed(&[2, 0, 1], "edited"));
    let it = reread(&daemon, it.signal_source.id).await;
    assert_eq!(it.last_read.unwrap().signals, 3);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_of_an_api_client_lead_to_fetches() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = start_with_copies(&home, &site, &paths(2)).await;
    site.set("/1", "something else");
    assert_eq!(daemon.handle().report_changes("robot", vec![1, 99]).await.unwrap(), 1);
    let reader = home.reader();
    until("it is found", || reader.source(1).unwrap().unwrap().changed_at.is_some()).await;
    assert_eq!(daemon.handle().report_changes("robot", vec![0]).await.unwrap(), 1);
    let all = all(&daemon).await;
    let [robot] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        (robot.signal_source.name.as_str(), robot.signal_source.kind.name()),
        ("robot", "api")
    );
    assert_eq!(robot.report.unwrap().signals, 2);
    assert!(robot.source.is_none());
    daemon.stop().await;
}
