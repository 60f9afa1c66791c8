//! Failures of the store are named, and no data is lost.

use freshet_daemon::{Config, Daemon};
use freshet_store::ChangeFilter;

use crate::test_site::{Home, Site, add, until};

const FAST: &str = "budget = \"1000000/day\"\n[hosts]\ngap = \"0s\"\nconnections = 8\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_is_reported_and_results_are_written_later() {
    let site = Site::start().await;
    for page in 0..40 {
        site.set(&format!("/{page}"), "first");
    }
    let mut home = Home::new(FAST, 1440.0);
    home.text = format!("{FAST}[keep]\nsize = \"400KiB\"\n");
    let daemon = home.start();
    add(&daemon, (0..40).map(|page| site.request(&format!("/{page}"))).collect()).await;
    let reader = home.reader();
    let copied = |id| reader.source(id).unwrap().is_some_and(|it| it.version == 1);
    until("all have a copy", || (0..40).all(copied)).await;
    let watch = daemon.handle().watch_status();
    let noise: String = (0..4000).map(|it| format!("{:x} ", it * 7919 % 65_521)).collect();
    for page in 0..40 {
        site.set(&format!("/{page}"), &format!("{page} {noise}"));
    }
    until("it says that there is no room", || {
        watch.borrow().write_error.as_ref().is_some_and(|it| it.contains("the disk is full"))
    })
    .await;
    // No new fetch starts meanwhile.
    until("what was under way is over", || watch.borrow().concurrency.active == 0).await;
    home.text = FAST.to_owned();
    daemon.handle().reload(home.config()).await.unwrap();
    let changes = || reader.changes(0, 1000, &ChangeFilter::default()).unwrap();
    until("all changes are in the log", || changes().len() >= 40).await;
    until("it says that all is well", || watch.borrow().write_error.is_none()).await;
    daemon.stop().await;
    let mut urls: Vec<_> = changes().into_iter().map(|it| it.url).collect();
    urls.sort();
    urls.dedup();
    assert_eq!((urls.len(), changes().len()), (40, 40));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_cannot_be_opened_is_reported() {
    let home = Home::new("", 1.0);
    let start = |config: Config| Daemon::start(config, home.clock()).err().unwrap();
    let mut config = home.config();
    config.store = home.path().join("nowhere/freshet.db");
    let error = start(config.clone());
    assert!(error.to_string().contains("its directory does not exist"), "{error}");
    assert!(error.hint().unwrap().starts_with("create it with `mkdir -p"));
    config.store = home.path().join("freshet.toml");
    std::fs::write(&config.store, "budget = \"1/day\"\n".repeat(100)).unwrap();
    let error = start(config);
    assert!(error.to_string().contains("not a database"), "{error}");
}
