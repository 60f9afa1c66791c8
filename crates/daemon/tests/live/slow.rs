//! Pages and hosts that do not answer keep nobody else from being fetched.

use std::collections::{BTreeMap, HashSet};

use freshet_daemon::NewSourceRequest;
use freshet_store::StoredOutcome;

use crate::web::{Home, Page, Site, add, often, until};

#[tokio::test(flavor = "multi_thread")]
async fn one_slow_page_does_not_stop_its_host() {
    let site = Site::start().await;
    site.put("/slow", Page { never: true, ..Page::default() });
    site.set("/quick", "text");
    let mut home = Home::new("budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    home.fetch = "robots = false\n[fetch.limits]\nfirst_byte = \"2s\"".to_owned();
    let daemon = home.start();
    add(&daemon, vec![site.wanted("/slow")]).await;
    let reader = home.reader();
    let failed =
        |id| reader.history(id, 1).unwrap().iter().any(|it| it.outcome == StoredOutcome::Failed);
    until("the slow one failed", || failed(0)).await;
    add(&daemon, vec![often(site.wanted("/quick"))]).await;
    let quick = || site.fetches().get("/quick").copied().unwrap_or(0);
    until("the quick one is fetched", || quick() > 10).await;
    // Two that nothing comes from any more: now it is the host, and it rests.
    site.put("/quick", Page { never: true, ..Page::default() });
    site.put("/third", Page { never: true, ..Page::default() });
    add(&daemon, vec![site.wanted("/third")]).await;
    until("both fail", || failed(1) && failed(2)).await;
    let wait = daemon.handle().explain(&site.url("/quick")).await.unwrap();
    assert!(wait.text.contains("rests for"), "{}", wait.text);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_never_answer_keep_no_fetcher_from_others() {
    let (site, dead) = (Site::start().await, Site::start().await);
    site.set("/", "text");
    dead.put("/", Page { never: true, ..Page::default() });
    let mut home = Home::new("budget = \"1000000000/day\"\n[hosts]\ngap = \"100ms\"\n", 1.0);
    // Nobody gives up on them before the test is over.
    let never = "[fetch.limits]\nfirst_byte = \"1h\"\ntotal = \"1h\"";
    home.fetch = format!("robots = false\n{never}");
    let daemon = home.start();
    let hosts = |site: &Site, count: usize| {
        let port = site.address.port();
        let wanted = |host| NewSourceRequest::new(format!("http://h{host}.localhost:{port}/"));
        (0..count).map(|host| often(wanted(host))).collect()
    };
    // More than there are fetchers at the start.
    let silent: Vec<NewSourceRequest> = hosts(&dead, 100);
    add(&daemon, silent).await;
    until("the dead are asked", || dead.seen().len() >= 32).await;
    add(&daemon, hosts(&site, 200)).await;
    let asked = || {
        let mut times = BTreeMap::new();
        site.seen().into_iter().for_each(|it| *times.entry(it.host).or_insert(0) += 1);
        times
    };
    until("the others are fetched again and again", || {
        let times = asked();
        times.len() == 200 && times.values().all(|&some| some >= 3)
    })
    .await;
    let seen: HashSet<String> = dead.seen().into_iter().map(|it| it.host).collect();
    assert_eq!(seen.len(), dead.seen().len(), "one request at a time");
    daemon.stop().await;
}
