//! External clients: leases, the budget, and misbehaviour.

use std::collections::HashSet;
use std::time::Duration;

use freshet_daemon::{
    Claim, Daemon, FetchReport, LeaseId, NewSignalSourceRequest, NewSourceRequest, ReportResult,
    ReportedOutcome, SettingsOverrides,
};
use freshet_store::{ChangeFilter, StoredOutcome};

use crate::test_site::{Home, add, until};

/// Longer than any test takes.
const LEASE: Duration = Duration::from_secs(3600);

fn pages(hosts: usize, each: usize) -> Vec<NewSourceRequest> {
    let all = (0..hosts).flat_map(|host| (0..each).map(move |page| (host, page)));
    all.map(|(host, page)| NewSourceRequest::new(format!("http://host-{host}.example/{page}")))
        .collect()
}

/// Only the test fetches, and the budget exceeds the number of sources.
fn home(more: &str) -> Home {
    let text = format!("crew = 0\nbudget = \"1000000/day\"\nburst = 1000\n{more}");
    Home::new(&text, 1.0)
}

fn new_report(lease: LeaseId, source: u32, seen: ReportedOutcome) -> FetchReport {
    FetchReport {
        lease,
        source,
        outcome: seen,
        fetched_at: None,
        status: 200,
        bytes: 10_000,
        duration: Duration::from_millis(20),
        validators: None,
        note: String::new(),
    }
}

async fn claim(daemon: &Daemon, most: u32) -> Claim {
    daemon.handle().claim(most, LEASE).await.unwrap()
}

/// Claims until at least one source is due.
async fn claim_some(daemon: &Daemon, most: u32) -> Claim {
    for _ in 0..12_000 {
        let claim = claim(daemon, most).await;
        if !claim.items.is_empty() {
            return claim;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("nothing is ever due");
}

async fn report(
    daemon: &Daemon,
    lease: LeaseId,
    source: u32,
    seen: ReportedOutcome,
) -> ReportResult {
    daemon.handle().report(&[new_report(lease, source, seen)]).await.unwrap()[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_source_is_claimed_once_and_hosts_keep_their_gap() {
    let home = home("[hosts]\ngap = \"1h\"\n");
    let daemon = home.start();
    add(&daemon, pages(20, 5)).await;
    let mut given = HashSet::new();
    let mut hosts = HashSet::new();
    while given.len() < 20 {
        for item in claim_some(&daemon, 7).await.items {
            assert!(given.insert(item.source), "{} twice", item.url);
            let host = item.url.split('/').nth(2).unwrap().to_owned();
            assert!(hosts.insert(host), "{} while another is out", item.url);
        }
    }
    // Every host is in its gap or has a fetch in flight.
    assert_eq!(claim(&daemon, 7).await.items, []);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_digest_is_a_change_and_a_report_counts_once() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    let first = claim_some(&daemon, 10).await;
    assert_eq!(first.items[0].reason, "new");
    let taken = report(&daemon, first.lease, 0, ReportedOutcome::Digest(1)).await;
    assert_eq!(taken, ReportResult::Recorded(false));
    assert_eq!(
        report(&daemon, first.lease, 0, ReportedOutcome::Digest(2)).await,
        ReportResult::NotHeld
    );
    let second = claim_some(&daemon, 10).await;
    let mut late = new_report(second.lease, 0, ReportedOutcome::Changed);
    late.fetched_at = Some(home.clock().now() - 60_000_000);
    assert_eq!(daemon.handle().report(&[late]).await.unwrap(), [ReportResult::WrongTime]);
    let taken = report(&daemon, second.lease, 0, ReportedOutcome::Digest(2)).await;
    assert_eq!(taken, ReportResult::Recorded(true));
    let reader = home.reader();
    let changes = reader.changes(0, 10, &ChangeFilter::default()).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].change.old_digest, Some(1_u128.to_be_bytes()));
    assert!(
        changes[0]
            .change
            .last_unchanged_at
            .is_some_and(|at| at <= changes[0].change.first_changed_at)
    );
    let guess = "0123456789abcdef0123456789abcdef".parse().unwrap();
    assert_eq!(report(&daemon, guess, 0, ReportedOutcome::Gone).await, ReportResult::NoLease);
    assert_eq!(report(&daemon, guess, 77, ReportedOutcome::Gone).await, ReportResult::NoSource);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reported_document_is_compared_by_the_daemon() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    let page = |text: &str, nonce: u32| ReportedOutcome::Document {
        bytes: format!("<main><p>{text}</p></main><script>{nonce}</script>").into_bytes(),
        content_type: Some("text/html".to_owned()),
    };
    let texts = [("a text of some words", false), ("a text of some words", false), ("other", true)];
    for (nonce, (text, changed)) in (0..).zip(texts) {
        let claim = claim_some(&daemon, 1).await;
        let taken = report(&daemon, claim.lease, 0, page(text, nonce)).await;
        assert_eq!(taken, ReportResult::Recorded(changed), "{text}");
    }
    let version = home.reader().version(0, 2).unwrap().unwrap();
    assert!(String::from_utf8_lossy(&version.content).contains("other"));
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_another_kind_is_neither_unchanged_nor_a_change() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    let page = |text: &str| ReportedOutcome::Document {
        bytes: text.as_bytes().to_vec(),
        content_type: Some("text/plain".to_owned()),
    };
    let rate = async || daemon.handle().sample_beliefs(1).await.unwrap()[0].1.change_rate;
    let comes = async |seen: ReportedOutcome| {
        let claim = claim_some(&daemon, 1).await;
        report(&daemon, claim.lease, 0, seen).await
    };
    assert_eq!(comes(page("one")).await, ReportResult::Recorded(false));
    let seen = [
        (ReportedOutcome::Digest(1), false),
        (page("two"), false),
        (ReportedOutcome::Digest(2), false),
        (ReportedOutcome::Digest(2), true),
    ];
    for (seen, is_learnt) in seen {
        let before = rate().await;
        assert_eq!(comes(seen).await, ReportResult::Recorded(false));
        assert_eq!(rate().await != before, is_learnt);
    }
    assert_eq!(comes(ReportedOutcome::Digest(3)).await, ReportResult::Recorded(true));
    // A change that the crawler reported is not found again by a document.
    assert_eq!(comes(page("three")).await, ReportResult::Recorded(false));
    assert_eq!(comes(ReportedOutcome::Changed).await, ReportResult::Recorded(true));
    assert_eq!(comes(page("four")).await, ReportResult::Recorded(false));
    assert_eq!(comes(page("five")).await, ReportResult::Recorded(true));
    daemon.stop().await;
    assert_eq!(home.reader().changes(0, 10, &ChangeFilter::default()).unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawler_that_only_says_unchanged_has_one_first_copy() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    for _ in 0..3 {
        let claim = claim_some(&daemon, 1).await;
        report(&daemon, claim.lease, 0, ReportedOutcome::Unchanged).await;
    }
    daemon.stop().await;
    let history = home.reader().history(0, 10).unwrap();
    let firsts = history.iter().filter(|it| it.outcome == StoredOutcome::First).count();
    assert_eq!((history.len(), firsts), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_report_is_recorded_at_its_fetch_time() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    let clock = home.clock();
    let mut fetch_times = Vec::new();
    for seen in [ReportedOutcome::Digest(1), ReportedOutcome::Digest(2)] {
        let claim = claim_some(&daemon, 1).await;
        let at = clock.now();
        while clock.now() < at + 50 {
            tokio::task::yield_now().await;
        }
        let late = FetchReport { fetched_at: Some(at), ..new_report(claim.lease, 0, seen) };
        let taken = daemon.handle().report(&[late]).await.unwrap();
        assert!(matches!(taken[0], ReportResult::Recorded(_)));
        fetch_times.push(at);
        let mut fetched = None;
        home.reader()
            .load_schedule(|row| {
                fetched =
                    freshet_engine::LearnedState::from_bytes(row.learned).unwrap().last_fetch()
            })
            .unwrap();
        assert_eq!(fetched.map(|day| (day * 86_400_000.0).round() as i64), Some(at));
    }
    daemon.stop().await;
    let changes = home.reader().changes(0, 10, &ChangeFilter::default()).unwrap();
    let change = &changes[0].change;
    assert_eq!(
        (change.last_unchanged_at, change.first_changed_at),
        (Some(fetch_times[0]), fetch_times[1])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unreported_sources_return_and_a_late_report_is_refused() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(3, 1)).await;
    let short = Duration::from_millis(50);
    let mut lost = Vec::new();
    // Some sources may be handed out twice before all have been.
    while lost.iter().map(|(_, id)| id).collect::<HashSet<_>>().len() < 3 {
        let claim = daemon.handle().claim(10, short).await.unwrap();
        lost.extend(claim.items.iter().map(|item| (claim.lease, item.source)));
        tokio::task::yield_now().await;
    }
    let again = claim_some(&daemon, 1).await;
    let (source, lease) = (again.items[0].source, again.lease);
    let old = lost.iter().find(|(_, id)| *id == source).unwrap().0;
    assert_eq!(report(&daemon, old, source, ReportedOutcome::Gone).await, ReportResult::NotHeld);
    assert_eq!(
        report(&daemon, lease, source, ReportedOutcome::Digest(1)).await,
        ReportResult::Recorded(false)
    );
    let history = home.reader().history(source, 10).unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].outcome, StoredOutcome::First);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn claims_keep_to_the_budget_over_restarts() {
    let site = pages(400, 1);
    // A burst of ten, then one per minute.
    let text = "crew = 0\nbudget = \"1440/day\"\nburst = 10\n[hosts]\ngap = \"0s\"\n";
    let home = Home::new(text, 1.0);
    let started_at = tokio::time::Instant::now();
    let mut claimed = 0;
    for round in 0..5 {
        let daemon = home.start();
        if round == 0 {
            add(&daemon, site.clone()).await;
        }
        for _ in 0..20 {
            claimed += claim(&daemon, 100).await.items.len();
        }
        daemon.stop().await;
    }
    let most = 12 + started_at.elapsed().as_secs() as usize / 60;
    assert!((1..=most).contains(&claimed), "{claimed} of {most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_survives_a_restart() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(4, 1)).await;
    let mut held = Vec::new();
    while held.len() < 4 {
        let claim = claim_some(&daemon, 4).await;
        held.extend(claim.items.iter().map(|item| (claim.lease, item.source)));
    }
    assert_eq!(
        report(&daemon, held[0].0, held[0].1, ReportedOutcome::Digest(1)).await,
        ReportResult::Recorded(false)
    );
    // The leases are stored soon, even without a clean shutdown.
    let kept = || home.reader().leases().unwrap().iter().map(|it| it.sources.len()).sum::<usize>();
    until("they are in the store", || kept() == 3).await;
    daemon.stop().await;

    let daemon = home.start();
    assert_eq!(daemon.handle().status().await.unwrap().claimed, 3);
    // Leased sources are not handed out again.
    for _ in 0..20 {
        let items = claim(&daemon, 10).await.items;
        assert!(items.iter().all(|item| item.source == held[0].1), "{items:?}");
    }
    for &(lease, source) in &held[1..] {
        let taken = report(&daemon, lease, source, ReportedOutcome::Digest(2)).await;
        assert_eq!(taken, ReportResult::Recorded(false));
    }
    for &(lease, source) in &held {
        let again = report(&daemon, lease, source, ReportedOutcome::Digest(3)).await;
        assert!(matches!(again, ReportResult::NotHeld | ReportResult::NoLease), "{again:?}");
    }
    daemon.stop().await;
    let reader = home.reader();
    assert!((0..4).all(|id| reader.history(id, 10).unwrap().len() == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_ends_while_the_daemon_is_down_expires() {
    let home = home("[hosts]\ngap = \"0s\"\n");
    let daemon = home.start();
    add(&daemon, pages(1, 1)).await;
    let short = Duration::from_millis(20);
    let mut lost = daemon.handle().claim(1, short).await.unwrap();
    while lost.items.is_empty() {
        lost = daemon.handle().claim(1, short).await.unwrap();
    }
    let clock = home.clock();
    daemon.stop().await;
    while clock.now() <= lost.expires_at {
        tokio::task::yield_now().await;
    }
    let daemon = home.start();
    // The report is late, but the source has not been handed out again.
    assert_eq!(
        report(&daemon, lost.lease, 0, ReportedOutcome::Digest(1)).await,
        ReportResult::Recorded(false)
    );
    let again = claim_some(&daemon, 1).await;
    assert_eq!(report(&daemon, lost.lease, 0, ReportedOutcome::Gone).await, ReportResult::NotHeld);
    assert_eq!(
        report(&daemon, again.lease, 0, ReportedOutcome::Digest(1)).await,
        ReportResult::Recorded(false)
    );
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_overrides_persist_over_a_restart() {
    let home = Home::new("budget = \"100/day\"\n", 1.0);
    let daemon = home.start();
    let adjusted = |budget: Option<&str>| SettingsOverrides {
        budget: budget.map(str::to_owned),
        objective: Some("age".to_owned()),
    };
    let error = daemon.handle().override_settings(adjusted(Some("lots"))).await.unwrap_err();
    assert!(error.to_string().starts_with("budget: "), "{error}");
    daemon.handle().override_settings(adjusted(Some("200/day"))).await.unwrap();
    assert_eq!(daemon.handle().status().await.unwrap().budget, 200.0);
    daemon.stop().await;
    let daemon = home.start();
    assert_eq!(daemon.handle().status().await.unwrap().budget, 200.0);
    daemon.handle().reload(home.config()).await.unwrap();
    let force = daemon.handle().effective_settings().await.unwrap();
    assert_eq!(
        (force.objective.as_str(), force.configured_objective.as_str()),
        ("age", "harmonic")
    );
    daemon.handle().override_settings(adjusted(None)).await.unwrap();
    assert_eq!(daemon.handle().status().await.unwrap().budget, 100.0);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_of_an_api_client_are_counted() {
    let home = home("");
    let daemon = home.start();
    add(&daemon, pages(2, 1)).await;
    assert_eq!(daemon.handle().report_changes("api", vec![0, 1, 99]).await.unwrap(), 2);
    assert_eq!(daemon.handle().sample_beliefs(10).await.unwrap().len(), 2);
    assert_eq!(daemon.handle().plan().await.unwrap().sources, 2);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_sources_are_never_claimed() {
    let home = home("");
    let daemon = home.start();
    let sitemap = NewSignalSourceRequest::sitemap("https://host0.example/sitemap.xml");
    daemon.handle().add_signal_source(sitemap).await.unwrap();
    add(&daemon, pages(2, 1)).await;
    let mut claimed = Vec::new();
    while claimed.len() < 2 {
        claimed.extend(claim_some(&daemon, 10).await.items.into_iter().map(|it| it.url));
    }
    assert!(claimed.iter().all(|url| !url.contains("sitemap")), "{claimed:?}");
    // It waits while only external clients fetch.
    let explained = daemon.handle().explain_id(0).await.unwrap().unwrap();
    assert!(
        explained.due_at.unwrap() > explained.explained_at + 3_600_000,
        "{}",
        explained.headline
    );
    daemon.stop().await;
}
