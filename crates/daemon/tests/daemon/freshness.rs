//! Sources are kept fresh, and each change is logged once.

use freshet_daemon::{NewSourceRequest, SourceEdit, SourceSelector, SourceSettings};
use freshet_store::{ChangeFilter, Decision, StoredOutcome, StoredReason};

use crate::test_site::{Home, Site, add, until};

/// No gap and no pruning; a day passes in a minute.
const FAST: &str = "budget = \"1000000/day\"\n[hosts]\ngap = \"0s\"\nconnections = 8\n\
    [keep]\nobservations = 1000000\n";
/// More than the number of fetches of any source.
const ALL: usize = 1_000_000;

/// Sources whose fetches are at least a millisecond apart, the resolution of the clock.
fn spaced_requests(site: &Site, count: usize) -> Vec<NewSourceRequest> {
    let one = |page| {
        let mut request = site.request(&format!("/{page}"));
        request.settings.min_interval = Some(1.0 / 1440.0);
        request
    };
    (0..count).map(one).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_logged_once() {
    let site = Site::start().await;
    for page in 0..20 {
        site.set(&format!("/{page}"), "It costs 49.90 today.");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, spaced_requests(&site, 20)).await;
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
async fn edits_apply_at_once() {
    let site = Site::start().await;
    site.set("/a", "one");
    site.set("/b", "one");
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, vec![site.request("/a"), site.request("/b")]).await;
    until("both have a copy", || site.fetches().len() == 2).await;
    let handle = daemon.handle();
    let selector =
        |path: &str| SourceSelector { urls: vec![site.url(path)], ..SourceSelector::default() };
    let paused = SourceSettings { paused: Some(true), ..SourceSettings::default() };
    assert_eq!(
        handle.edit(SourceEdit::Update(selector("/a"), paused.into())).await.unwrap().updated,
        1
    );
    let removed = handle.edit(SourceEdit::Remove(selector("/b"))).await.unwrap();
    assert_eq!((removed.removed, removed.unknown_urls), (1, Vec::new()));
    let unknown = handle.edit(SourceEdit::Remove(selector("/c"))).await.unwrap();
    assert_eq!((unknown.removed, unknown.unknown_urls), (0, vec![site.url("/c")]));
    let explained = handle.explain(&site.url("/a")).await.unwrap();
    assert_eq!(explained.standing, "paused");
    assert!(handle.explain(&site.url("/b")).await.is_err());
    // A fetch in flight may still finish, and an on-demand check waits for it.
    handle.check(&site.url("/a")).await.unwrap();
    let count = || site.fetches().values().sum::<usize>();
    let before = count();
    // A paused source is still fetched on demand.
    handle.check(&site.url("/a")).await.unwrap();
    assert!(count() > before);
    let invalid_settings =
        SourceSettings { goal: Some("beauty".to_owned()), ..SourceSettings::default() };
    let error = handle
        .edit(SourceEdit::Update(selector("/a"), invalid_settings.into()))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("`beauty` is not one of harmonic"), "{error}");
    assert_eq!(handle.status().await.unwrap().sources, 1);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn detection_settings_decide_what_is_a_change() {
    let site = Site::start().await;
    site.set("/a", "one<p id=price>1 €</p>");
    site.set("/b", "one<p id=price>1 €</p>");
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    let mut selected = site.request("/a");
    selected.settings.detect_settings = Some(r##"{"select":["#price"]}"##.to_owned());
    add(&daemon, vec![selected, site.request("/b")]).await;
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
async fn fetches_measure_the_freshness_of_the_previous_copy() {
    let site = Site::start().await;
    for page in 0..5 {
        site.set(&format!("/{page}"), "as ever");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, spaced_requests(&site, 5)).await;
    let reader = home.reader();
    let sum = || {
        let all = reader.stats_buckets(0, i64::MAX, i64::MAX).unwrap();
        all.into_iter().next().unwrap_or_default()
    };
    until("what did not change is measured", || sum().held_days > 0.0).await;
    // A copy found unchanged was fresh all the time.
    let before = sum();
    assert_eq!((before.changed, before.fresh_days), (0, before.held_days));
    assert!(before.expected_fresh_days > 0.0 && before.expected_fresh_days < before.held_days);
    site.set("/3", "something else");
    until("the change is counted", || sum().changed == 1).await;
    until("how things stand is kept", || sum().freshness.is_some()).await;
    daemon.stop().await;
    let sum = sum();
    assert!(sum.fresh_days < sum.held_days && sum.fresh_days > 0.0, "{sum:?}");
    assert_eq!(sum.failed, 0);
    assert_eq!(sum.budget, Some(1_000_000.0));
    assert!(sum.price.is_none_or(|price| price > 0.0) && sum.bytes > 0);
    // Every answered fetch is counted, once.
    let recorded: usize =
        (0..5).map(|id| reader.source(id).unwrap().unwrap().fetches as usize).sum();
    assert_eq!(sum.fetches as usize, recorded);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fetch_records_its_reason() {
    let site = Site::start().await;
    for page in ["/a", "/b"] {
        site.set(page, "as ever");
    }
    let home = Home::new(FAST, 1440.0);
    let daemon = home.start();
    add(&daemon, vec![site.request("/a"), site.request("/b")]).await;
    let reader = home.reader();
    let history = || reader.history(0, ALL).unwrap();
    let is_worth = |it: &Decision| it.reason == StoredReason::Value;
    until("it was fetched by its worth", || {
        history().iter().filter_map(|it| it.decision).any(|it| is_worth(&it))
    })
    .await;
    let handle = daemon.handle();
    let selector = SourceSelector { urls: vec![site.url("/a")], ..SourceSelector::default() };
    let paused = SourceSettings { paused: Some(true), ..SourceSettings::default() };
    handle.edit(SourceEdit::Update(selector, paused.into())).await.unwrap();
    // The first check waits for a fetch in flight.
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
        // A fetch without a change lowers the estimated rate.
        assert!(it.rate_after.unwrap() < it.rate_before.unwrap(), "{it:?}");
    }
}
