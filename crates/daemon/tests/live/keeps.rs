//! Sources are kept fresh, and their changes are logged once.

use freshet_daemon::{Edit, NewSourceRequest, SourceSettings, Which};
use freshet_store::{ChangeFilter, Decision, StoredOutcome, StoredReason};

use crate::web::{Home, Site, add, until};

/// With nothing to wait for, and nothing that is forgotten: a day passes in a minute.
const FAST: &str = "budget = \"1000000/day\"\n[hosts]\ngap = \"0s\"\nconnections = 8\n\
    [keep]\nobservations = 1000000\n";
/// More fetches of a source than there are.
const ALL: usize = 1_000_000;

/// Sources of which no two fetches are at the same moment, by a clock that tells milliseconds apart.
fn apart(site: &Site, count: usize) -> Vec<NewSourceRequest> {
    let one = |page| {
        let mut wanted = site.wanted(&format!("/{page}"));
        wanted.settings.min_interval = Some(1.0 / 1440.0);
        wanted
    };
    (0..count).map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_found_and_logged_once() {
    let site = Site::start().await;
    for page in 0..20 {
        site.set(&format!("/{page}"), "It costs 49.90 today.");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, apart(&site, 20)).await;
    until("all have a copy", || site.fetches().len() == 20).await;
    site.set("/7", "It costs 59.90 today.");
    let reader = home.reader();
    let changes = || reader.changes(0, 100, &ChangeFilter::default()).unwrap();
    until("the change is logged", || !changes().is_empty()).await;
    let after = site.fetches()["/7"];
    until("it is fetched again", || site.fetches()["/7"] > after + 3).await;
    daemon.stop().await;

    let changes = changes();
    assert_eq!(changes.len(), 1);
    let it = &changes[0];
    assert_eq!(it.url, site.url("/7"));
    assert_eq!(it.change.summary, "1 changed: 49.90 → 59.90");
    assert!(it.change.last_unchanged_at.unwrap() < it.change.first_changed_at);
    assert_ne!(it.change.old_digest, Some(it.change.new_digest));
    assert!(it.change.similarity > 0.3 && it.change.similarity < 1.0);
    let versions = reader.versions(it.source).unwrap();
    assert_eq!(versions.len(), 2);
    let newest = reader.version(it.source, it.new_version.unwrap()).unwrap().unwrap();
    assert!(String::from_utf8(newest.content).unwrap().contains("59.90"));
    let history = reader.history(it.source, ALL).unwrap();
    assert_eq!(history.iter().filter(|it| it.outcome == StoredOutcome::Changed).count(), 1);
    assert_eq!(history.iter().filter(|it| it.outcome == StoredOutcome::First).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_owners_say_holds_at_once() {
    let site = Site::start().await;
    site.set("/a", "one");
    site.set("/b", "one");
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, vec![site.wanted("/a"), site.wanted("/b")]).await;
    until("both have a copy", || site.fetches().len() == 2).await;
    let handle = daemon.handle();
    let which = |path: &str| Which { urls: vec![site.url(path)], ..Which::default() };
    let paused = SourceSettings { paused: Some(true), ..SourceSettings::default() };
    assert_eq!(handle.edit(Edit::Change(which("/a"), paused.into())).await.unwrap().known, 1);
    let removed = handle.edit(Edit::Remove(which("/b"))).await.unwrap();
    assert_eq!((removed.removed, removed.unknown), (1, Vec::new()));
    let unknown = handle.edit(Edit::Remove(which("/c"))).await.unwrap();
    assert_eq!((unknown.removed, unknown.unknown), (0, vec![site.url("/c")]));
    let explained = handle.explain(&site.url("/a")).await.unwrap();
    assert_eq!(explained.standing, "paused");
    assert!(handle.explain(&site.url("/b")).await.is_err());
    // What was under way when it was said may still come, and whoever asks waits for that.
    handle.check(&site.url("/a")).await.unwrap();
    let count = || site.fetches().values().sum::<usize>();
    let before = count();
    // A paused source is fetched for those who ask for it.
    handle.check(&site.url("/a")).await.unwrap();
    assert!(count() > before);
    let wrong = SourceSettings { goal: Some("beauty".to_owned()), ..SourceSettings::default() };
    let refused =
        handle.edit(Edit::Change(which("/a"), wrong.into())).await.unwrap_err().to_string();
    assert!(refused.contains("`beauty` is not one of harmonic"), "{refused}");
    assert_eq!(handle.status().await.unwrap().sources, 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_counts_is_the_owners_to_say() {
    let site = Site::start().await;
    site.set("/a", "one<p id=price>1 €</p>");
    site.set("/b", "one<p id=price>1 €</p>");
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    let mut selected = site.wanted("/a");
    selected.settings.settings = Some(r##"{"select":["#price"]}"##.to_owned());
    add(&daemon, vec![selected, site.wanted("/b")]).await;
    let reader = home.reader();
    let first = |id| reader.history(id, 10).unwrap().len();
    until("both have a copy", || first(0) > 0 && first(1) > 0).await;
    for page in ["/a", "/b"] {
        site.set(page, "two<p id=price>1 €</p>");
    }
    let changes = || reader.changes(0, 100, &ChangeFilter::default()).unwrap();
    until("the change is logged", || !changes().is_empty()).await;
    let before = site.fetches()["/a"];
    until("the other one is looked at", || site.fetches()["/a"] > before + 2).await;
    site.set("/a", "three<p id=price>2 €</p>");
    until("its change is logged too", || changes().len() == 2).await;
    daemon.stop().await;
    let urls: Vec<_> = changes().into_iter().map(|it| it.url).collect();
    assert_eq!(urls, [site.url("/b"), site.url("/a")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fetches_tell_of_the_time_before_is_kept() {
    let site = Site::start().await;
    for page in 0..5 {
        site.set(&format!("/{page}"), "as ever");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, apart(&site, 5)).await;
    let reader = home.reader();
    let sum = || {
        let all = reader.stats_buckets(0, i64::MAX, i64::MAX).unwrap();
        all.into_iter().next().unwrap_or_default()
    };
    until("what did not change is measured", || sum().held > 0.0).await;
    // A copy that is found unchanged was fresh all the time.
    let before = sum();
    assert_eq!((before.changed, before.fresh), (0, before.held));
    assert!(before.expected > 0.0 && before.expected < before.held);
    site.set("/3", "something else");
    until("the change is counted", || sum().changed == 1).await;
    until("how things stand is kept", || sum().freshness.is_some()).await;
    daemon.stop().await;
    let sum = sum();
    assert!(sum.fresh < sum.held && sum.fresh > 0.0, "{sum:?}");
    assert_eq!(sum.failed, 0);
    assert_eq!(sum.budget, Some(1_000_000.0));
    assert!(sum.price.is_none_or(|price| price > 0.0) && sum.bytes > 0);
    // All fetches that were answered are counted, once.
    let recorded: usize =
        (0..5).map(|id| reader.source(id).unwrap().unwrap().fetches as usize).sum();
    assert_eq!(sum.fetches as usize, recorded);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fetch_says_why_it_was_made() {
    let site = Site::start().await;
    for page in ["/a", "/b"] {
        site.set(page, "as ever");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, vec![site.wanted("/a"), site.wanted("/b")]).await;
    let reader = home.reader();
    let history = || reader.history(0, ALL).unwrap();
    let is_worth = |it: &Decision| it.reason == StoredReason::Value;
    until("it was fetched by its worth", || {
        history().iter().filter_map(|it| it.decision).any(|it| is_worth(&it))
    })
    .await;
    let handle = daemon.handle();
    let which = Which { urls: vec![site.url("/a")], ..Which::default() };
    let paused = SourceSettings { paused: Some(true), ..SourceSettings::default() };
    handle.edit(Edit::Change(which, paused.into())).await.unwrap();
    // What is under way by then is waited for the first time.
    handle.check(&site.url("/a")).await.unwrap();
    handle.check(&site.url("/a")).await.unwrap();
    daemon.stop().await;
    let history = history();
    assert_eq!(history[0].decision.unwrap().reason, StoredReason::Requested);
    let decisions: Vec<_> = history.iter().rev().map(|it| it.decision.unwrap()).collect();
    let first = decisions[0];
    assert_eq!((first.reason, first.value), (StoredReason::New, None));
    let by_worth: Vec<_> = decisions.iter().filter(|it| is_worth(it)).collect();
    assert!(!by_worth.is_empty());
    for it in by_worth {
        assert!(it.value.unwrap() > 0.0 && it.price.unwrap() > 0.0, "{it:?}");
        // Whoever finds no change believes in fewer.
        assert!(it.rate_after.unwrap() < it.rate_before.unwrap(), "{it:?}");
    }
}
