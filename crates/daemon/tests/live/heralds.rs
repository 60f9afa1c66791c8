//! Sitemaps and feeds that the daemon reads, and what becomes of what they say.

mod documents;
mod finding;
mod going_on;
mod large;

use std::fmt::Write as _;
use std::time::Duration;

use freshet_daemon::{Daemon, NewSignalSourceRequest, SignalSourceState, days};
use freshet_store::SignalSourceQuery;

use crate::web::{Home, Site, add, until};

/// As often as a test asks for it, and not by itself: a day is as long as one.
pub(crate) const CALM: &str = "budget = \"100000/day\"\n[hosts]\ngap = \"0s\"\n";

/// What the clock of a test shows is some seconds after this, times its factor.
pub(crate) const START: i64 = 1_700_000_000;

/// A date as sitemaps have it, so many seconds after the start of the clock.
pub(crate) fn date(seconds: i64) -> String {
    // 1,700,000,000 is 2023-11-14T22:13:20Z: before the end of the month there is no need for a calendar.
    let at = 22 * 3600 + 13 * 60 + 20 + seconds;
    let (day, at) = (14 + at.div_euclid(86_400), at.rem_euclid(86_400));
    format!("2023-11-{day:02}T{:02}:{:02}:{:02}Z", at / 3600, at / 60 % 60, at % 60)
}

/// A sitemap of URLs with what stands beside them.
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

/// A sitemap of pages of a site, all of one date.
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

/// A daemon with pages that all have a copy.
pub(crate) async fn with_copies(home: &Home, site: &Site, paths: &[String]) -> Daemon {
    for path in paths {
        site.set(path, "as ever");
    }
    let daemon = home.start();
    add(&daemon, paths.iter().map(|path| site.wanted(path)).collect()).await;
    let reader = home.reader();
    let is_there = |id| reader.source(id).unwrap().is_some_and(|it| it.fetched_at.is_some());
    let last = u32::try_from(paths.len()).unwrap();
    until("all have a copy", || (0..last).all(is_there)).await;
    daemon
}

/// Waits until a sitemap that is new has been read, and gives what is known of it then.
pub(crate) async fn read(daemon: &Daemon, wanted: NewSignalSourceRequest) -> SignalSourceState {
    let number = daemon.handle().add_herald(wanted).await.unwrap().id;
    first_read(daemon, number).await
}

pub(crate) async fn first_read(daemon: &Daemon, number: u32) -> SignalSourceState {
    loop {
        let it = daemon.handle().herald(number).await.unwrap().unwrap();
        if it.last.is_some() {
            return it;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) async fn read_again(daemon: &Daemon, number: u32) -> SignalSourceState {
    daemon.handle().read_herald(number).await.unwrap();
    daemon.handle().herald(number).await.unwrap().unwrap()
}

pub(crate) async fn all(daemon: &Daemon) -> Vec<SignalSourceState> {
    daemon.handle().heralds(SignalSourceQuery::default()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sitemap_says_is_told_once_and_found() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(8);
    let daemon = with_copies(&home, &site, &paths).await;
    let old = date(-1000);
    site.raw("/sitemap.xml", pages(&site, &paths, Some(&old)));
    let first = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    let last = first.last.unwrap();
    assert_eq!((last.outcome.as_str(), last.format.as_str()), ("read", "sitemap"));
    assert_eq!((last.pages, last.known, last.signals), (8, 8, 0));
    // Two pages are said to have changed, and have.
    let mut entries: Vec<_> = paths.iter().map(|it| (site.url(it), Some(old.clone()))).collect();
    for at in [3, 6] {
        site.set(&paths[at], "something else");
        entries[at].1 = Some(date(3000));
    }
    site.raw("/sitemap.xml", sitemap(&entries));
    let second = read_again(&daemon, first.herald.id).await;
    assert_eq!(second.last.as_ref().unwrap().signals, 2, "{second:?}");
    assert_eq!(second.report.unwrap().signals, 2);
    let reader = home.reader();
    let changed = |id| reader.source(id).unwrap().unwrap().changed_at.is_some();
    until("what was said is found", || changed(3) && changed(6)).await;
    // Read once more, it says nothing new.
    let third = read_again(&daemon, first.herald.id).await;
    assert_eq!(third.last.unwrap().signals, 0);
    // It is no page.
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
async fn who_tells_the_truth_makes_a_page_due_sooner() {
    // A minute in a second, and fetches that are asked for only: the budget is a drop.
    let home = Home::new("budget = \"20/day\"\n[hosts]\ngap = \"0s\"\n", 60.0);
    let site = Site::start().await;
    let paths = paths(2);
    let daemon = with_copies(&home, &site, &paths).await;
    site.raw("/s.xml", pages(&site, &paths, Some(&date(-1000))));
    let number = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/s.xml"))).await.herald.id;
    let handle = daemon.handle();
    let mut said = 0;
    let rounds = 30;
    for round in 0..rounds {
        until("a second has passed", || handle.now() / 1000 > said).await;
        said = handle.now() / 1000;
        site.set("/0", &format!("version {round}"));
        let dates = [date(said - START), date(-1000)].map(Some);
        let entries: Vec<_> = paths.iter().map(|it| site.url(it)).zip(dates).collect();
        site.raw("/s.xml", sitemap(&entries));
        let it = read_again(&daemon, number).await;
        assert_eq!(it.last.unwrap().signals, 1, "in round {round}");
        if round < rounds - 1 {
            handle.check(&site.url("/0")).await.unwrap();
        }
    }
    let it = handle.announced(0).await.unwrap().unwrap();
    assert_eq!((it.herald, it.signals), (number, 1), "{it:?}");
    assert!(it.precision > 0.5, "{it:?}");
    let explained = handle.explain(&site.url("/0")).await.unwrap();
    let due = days(explained.due.unwrap());
    assert!(due < it.due_without, "{due} {it:?}");
    // It is told with its name, and by how much it moved the fetch.
    let said = explained.signals.unwrap();
    assert_eq!((said.name.as_str(), said.kind.as_str()), (site.url("/s.xml").as_str(), "sitemap"));
    let apart = 86_400.0 * (it.due_without - days(explained.worth_it.unwrap()));
    assert!((said.moved.unwrap() - apart).abs() < 0.01 * apart + 60.0, "{said:?} {apart}");
    let words = said.words(explained.worth_it, explained.now);
    assert!(words.starts_with(&format!("1 signal of {}, ", site.url("/s.xml"))), "{words}");
    assert!(words.contains(" instead of in "), "{words}");
    assert!(explained.text.contains("  signals   1 signal of"), "{}", explained.text);
    daemon.stop().await;
    // Without a daemon the store tells the same.
    let (config, reader, now) = (home.config(), home.reader(), explained.now);
    let alone = freshet_daemon::explain(&config, &reader, now, 0).unwrap().unwrap();
    let alone = alone.signals.unwrap();
    assert_eq!((alone.number, alone.signals, &alone.name), (said.number, 1, &said.name));
    assert!((alone.precision - said.precision).abs() < 0.05, "{alone:?} {said:?}");
    assert!(alone.moved.unwrap() > 0.0, "{alone:?}");
    let heralds = [reader.signal_source(number).unwrap().unwrap()];
    let reports = freshet_daemon::herald_reports(&config, &reader, now, &heralds).unwrap();
    let report = reports[0].unwrap();
    assert_eq!((report.sources, report.signals), (2, 30));
    assert!(report.tried > 20 && report.precision.unwrap() > 0.5, "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_first_what_is_later_than_the_copy_is_news() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(3);
    let daemon = with_copies(&home, &site, &paths).await;
    let dates = [Some(date(-5000)), Some(date(3600)), None];
    let entries: Vec<_> = paths.iter().map(|it| site.url(it)).zip(dates).collect();
    site.raw("/sitemap.xml", sitemap(&entries));
    let it = read(&daemon, NewSignalSourceRequest::sitemap(site.url("/sitemap.xml"))).await;
    assert_eq!(it.last.unwrap().signals, 1);
    let voices = home.reader().latest_signals(0).unwrap();
    assert_eq!(voices[0].entry.unwrap().changed_at, Some((START - 5000) * 1000));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_speaks_of_what_comes_into_it() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let paths = paths(4);
    let daemon = with_copies(&home, &site, &paths).await;
    let feed = |some: &[usize], text: &str| {
        let item = |at: &usize| {
            let link = site.url(&paths[*at]);
            format!("<item><title>{text}</title><link>{link}</link></item>")
        };
        let items: String = some.iter().map(item).collect();
        format!("<rss version=\"2.0\"><channel><title>t</title>{items}</channel></rss>")
    };
    site.raw("/feed", feed(&[0, 1], "a"));
    let it = read(&daemon, NewSignalSourceRequest::feed(site.url("/feed"))).await;
    let last = it.last.unwrap();
    assert_eq!((last.format.as_str(), last.known, last.signals), ("rss", 2, 0));
    site.raw("/feed", feed(&[2, 0, 1], "a"));
    let it = read_again(&daemon, it.herald.id).await;
    assert_eq!(it.last.unwrap().signals, 1);
    site.raw("/feed", feed(&[2, 0, 1], "edited"));
    let it = read_again(&daemon, it.herald.id).await;
    assert_eq!(it.last.unwrap().signals, 3);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_say_is_listened_to() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let daemon = with_copies(&home, &site, &paths(2)).await;
    site.set("/1", "something else");
    assert_eq!(daemon.handle().signal("robot", vec![1, 99]).await.unwrap(), 1);
    let reader = home.reader();
    until("it is found", || reader.source(1).unwrap().unwrap().changed_at.is_some()).await;
    assert_eq!(daemon.handle().signal("robot", vec![0]).await.unwrap(), 1);
    let all = all(&daemon).await;
    let [robot] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!((robot.herald.name.as_str(), robot.herald.kind.name()), ("robot", "api"));
    assert_eq!(robot.report.unwrap().signals, 2);
    assert!(robot.source.is_none());
    daemon.stop().await;
}
