//! State survives a restart.

use freshet_store::{ChangeFilter, StoredOutcome};

use crate::test_site::{Home, Site, add, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_continues_with_the_learned_state() {
    let site = Site::start().await;
    for page in 0..10 {
        site.set(&format!("/{page}"), "first");
    }
    // Nothing is pruned, though a day passes in a minute.
    let text = "budget = \"100000/day\"\n[hosts]\ngap = \"0s\"\n[keep]\nobservations = 1000000\n";
    let home = Home::new(text, 1440.0);
    let daemon = home.start();
    add(&daemon, (0..10).map(|page| site.request(&format!("/{page}"))).collect()).await;
    until("all have a copy", || site.fetches().len() == 10).await;
    daemon.stop().await;

    let reader = home.reader();
    let before: Vec<_> = (0..10).map(|id| reader.source(id).unwrap().unwrap()).collect();
    assert!(before.iter().all(|it| it.fetched_at.is_some()));
    site.set("/3", "second");
    let daemon = home.start();
    let changes = || reader.changes(0, 100, &ChangeFilter::default()).unwrap();
    until("the change is found", || !changes().is_empty()).await;
    let explained = daemon.handle().explain(&site.url("/3")).await.unwrap();
    assert!(explained.changes_a_day > 0.0);
    daemon.stop().await;
    assert_eq!(changes().len(), 1);
    let firsts = |id| {
        let history = reader.history(id, 1_000_000).unwrap();
        history.iter().filter(|it| it.outcome == StoredOutcome::First).count()
    };
    assert!((0..10).all(|id| firsts(id) == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_holds_over_restarts() {
    let site = Site::start().await;
    for page in 0..50 {
        site.set(&format!("/{page}"), "text");
    }
    // One fetch per 50 ms of test time.
    let home = Home::new("budget = \"1200/day\"\n[hosts]\ngap = \"0s\"\n", 1440.0);
    let started_at = tokio::time::Instant::now();
    let daemon = home.start();
    add(&daemon, (0..50).map(|page| site.request(&format!("/{page}"))).collect()).await;
    daemon.stop().await;
    let fetches = || site.fetches().values().sum::<usize>();
    for round in 1..10 {
        let daemon = home.start();
        until("some are fetched", || fetches() >= 5 * round).await;
        daemon.stop().await;
    }
    let paid = started_at.elapsed().as_secs_f64() / 0.05;
    // The budget earned so far plus ten at the first start, and no burst at later starts.
    assert!((fetches() as f64) < paid + 12.0, "{} fetches, {paid} paid for", fetches());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_store_has_one_daemon() {
    let home = Home::new("", 1.0);
    let daemon = home.start();
    let second = freshet_daemon::Daemon::start(home.config(), home.clock());
    let error = second.err().unwrap();
    assert!(error.to_string().contains("in use by"), "{error}");
    daemon.stop().await;
    home.start().stop().await;
    assert!(home.path().join("freshet.db").exists());
}
