//! Pages and hosts that do not answer block no other fetches.

use std::collections::{BTreeMap, HashSet};

use freshet_daemon::NewSourceRequest;
use freshet_store::StoredOutcome;

use crate::test_site::{Home, Page, Site, add, until, very_often};

#[tokio::test(flavor = "multi_thread")]
async fn one_slow_page_does_not_stop_its_host() {
    let site = Site::start().await;
    site.put("/slow", Page { is_silent: true, ..Page::default() });
    site.set("/quick", "text");
    let mut home = Home::new("budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    home.fetch = "robots = false\n[fetch.limits]\nfirst_byte = \"2s\"".to_owned();
    let daemon = home.start();
    add(&daemon, vec![site.request("/slow")]).await;
    let reader = home.reader();
    let failed =
        |id| reader.history(id, 1).unwrap().iter().any(|it| it.outcome == StoredOutcome::Failed);
    until("the slow one failed", || failed(0)).await;
    add(&daemon, vec![very_often(site.request("/quick"))]).await;
    let quick = || site.fetches().get("/quick").copied().unwrap_or(0);
    until("the quick one is fetched", || quick() > 10).await;
    // With two silent pages the host itself is at fault, and gets a cooldown.
    site.put("/quick", Page { is_silent: true, ..Page::default() });
    site.put("/third", Page { is_silent: true, ..Page::default() });
    add(&daemon, vec![site.request("/third")]).await;
    until("both fail", || failed(1) && failed(2)).await;
    let wait = daemon.handle().explain(&site.url("/quick")).await.unwrap();
    assert!(wait.text.contains("pauses for"), "{}", wait.text);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_hosts_block_no_fetcher() {
    let (site, dead) = (Site::start().await, Site::start().await);
    site.set("/", "text");
    dead.put("/", Page { is_silent: true, ..Page::default() });
    let mut home = Home::new("budget = \"1000000000/day\"\n[hosts]\ngap = \"100ms\"\n", 1.0);
    // No timeout expires during the test.
    let never = "[fetch.limits]\nfirst_byte = \"1h\"\ntotal = \"1h\"";
    home.fetch = format!("robots = false\n{never}");
    let daemon = home.start();
    let hosts = |site: &Site, count: usize| {
        let port = site.address.port();
        let request = |host| NewSourceRequest::new(format!("http://h{host}.localhost:{port}/"));
        (0..count).map(|host| very_often(request(host))).collect()
    };
    // More than the initial number of fetchers.
    let silent: Vec<NewSourceRequest> = hosts(&dead, 100);
    add(&daemon, silent).await;
    until("the dead are asked", || dead.requests().len() >= 32).await;
    add(&daemon, hosts(&site, 200)).await;
    let requested = || {
        let mut times = BTreeMap::new();
        site.requests().into_iter().for_each(|it| *times.entry(it.host).or_insert(0) += 1);
        times
    };
    until("the others are fetched again and again", || {
        let times = requested();
        times.len() == 200 && times.values().all(|&some| some >= 3)
    })
    .await;
    let seen: HashSet<String> = dead.requests().into_iter().map(|it| it.host).collect();
    assert_eq!(seen.len(), dead.requests().len(), "one request at a time");
    daemon.stop().await;
}
