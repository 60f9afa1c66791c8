//! A fetch keeps to the manners of every host that it comes to.

use std::time::Duration;

use freshet_daemon::{Alone, NewSourceRequest};
use freshet_store::Store;

use crate::web::{Home, Page, Site, add, often, until};

const MUCH: &str = "budget = \"100000000/day\"\n[hosts]\ngap = ";

/// Sites with pages that lead to one, and the sources there.
async fn crossroads(
    sites: usize,
    pages: usize,
    target: &Site,
) -> (Vec<Site>, Vec<NewSourceRequest>) {
    let (mut all, mut wanted) = (Vec::new(), Vec::new());
    for number in 0..sites {
        let site = Site::start().await;
        for page in 0..pages {
            let path = format!("/{number}-{page}");
            target.set(&path, "text");
            site.redirect(&path, target.url(&path));
            wanted.push(site.wanted(&path));
        }
        all.push(site);
    }
    (all, wanted)
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_keep_the_gap_of_the_host_that_they_lead_to() {
    let target = Site::start().await;
    target.set("/robots.txt", "User-agent: *\nDisallow: /never\n");
    let (_sites, mut wanted) = crossroads(8, 4, &target).await;
    for page in 0..8 {
        target.set(&format!("/own-{page}"), "text");
        wanted.push(target.wanted(&format!("/own-{page}")));
    }
    let home = Home::new(&format!("{MUCH}\"30ms\"\n"), 1.0);
    let daemon = home.start();
    add(&daemon, wanted).await;
    until("all have come through", || target.fetches().len() == 40).await;
    daemon.stop().await;
    let seen = target.seen();
    let least = seen.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    assert!(least >= Duration::from_millis(29), "{least:?}");
    assert_eq!(seen.iter().filter(|it| it.path == "/robots.txt").count(), 1);
    let reader = home.reader();
    assert!((0..40).all(|id| reader.source(id).unwrap().unwrap().fetched_at.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_wants_silence_has_it_from_redirects_too() {
    let (target, other) = (Site::start().await, Site::start().await);
    let (sites, mut wanted) = crossroads(5, 2, &target).await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    for path in target_paths(5, 2) {
        target.put(&path, angry.clone());
    }
    other.set("/", "text");
    wanted.push(often(other.wanted("/")));
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    let asked = || target.fetches().values().sum::<usize>();
    let daemon = home.start();
    add(&daemon, wanted).await;
    until("each site was asked", || sites.iter().all(|site| site.fetches().len() == 2)).await;
    until("the other is fetched a lot", || other.seen().len() > 100).await;
    daemon.stop().await;
    assert_eq!(asked(), 1, "silence for an hour");

    // After a restart, and of sources that are new there too.
    let daemon = home.start();
    target.set("/new", "text");
    add(&daemon, vec![target.wanted("/new")]).await;
    let before = other.seen().len();
    until("the other is fetched again", || other.seen().len() > before + 100).await;
    daemon.stop().await;
    assert_eq!(asked(), 1, "silence for an hour");

    // And of somebody who only looks, with nobody else there.
    let alone = Alone::new(home.config(), home.clock());
    let looked = alone.look(&target.url("/look"), false).await.unwrap();
    let (host, wait) = looked.rests.unwrap();
    assert_eq!(host, target.address.to_string());
    assert!((3_000_000..=3_600_000).contains(&wait), "{wait}");
    assert_eq!(asked(), 1);
}

fn target_paths(sites: usize, pages: usize) -> Vec<String> {
    (0..sites).flat_map(|site| (0..pages).map(move |page| format!("/{site}-{page}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robots_txt_that_wants_silence_has_it() {
    let (target, other) = (Site::start().await, Site::start().await);
    let (sites, mut wanted) = crossroads(4, 1, &target).await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    target.put("/robots.txt", angry);
    other.set("/", "text");
    wanted.extend([often(other.wanted("/")), target.wanted("/own")]);
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    for _ in 0..2 {
        let daemon = home.start();
        add(&daemon, wanted.clone()).await;
        until("each site was asked", || sites.iter().all(|site| !site.fetches().is_empty())).await;
        let before = other.seen().len();
        until("the other is fetched a lot", || other.seen().len() > before + 100).await;
        daemon.stop().await;
        assert_eq!(target.seen().len(), 1, "{:?}", target.seen());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_look_hears_is_kept() {
    let site = Site::start().await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    site.put("/angry", angry);
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    home.start().stop().await;
    for round in 0..2 {
        let alone = Alone::new(home.config(), home.clock());
        let looked = alone.look(&site.url("/angry"), false).await.unwrap();
        assert_eq!(looked.rests.is_some(), round > 0);
        alone.remember(&mut Store::open(&home.store(), 0).unwrap()).unwrap();
    }
    assert_eq!(site.fetches()["/angry"], 1);
    let alone = Alone::new(home.config(), home.clock());
    alone.look(&site.url("/angry"), true).await.unwrap();
    assert_eq!(site.fetches()["/angry"], 2, "forced");
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_is_asked_for_once_over_restarts() {
    let site = Site::start().await;
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 0.02\n");
    site.set("/", "text");
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    for round in 1..4 {
        let daemon = home.start();
        add(&daemon, vec![site.wanted("/")]).await;
        until("it is fetched", || site.fetches().get("/").is_some_and(|&some| some >= 3 * round))
            .await;
        daemon.stop().await;
    }
    let files = site.seen().iter().filter(|it| it.path == "/robots.txt").count();
    assert_eq!(files, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_has_all_that_was_asked_for() {
    let site = Site::start().await;
    for page in 0..5 {
        site.set(&format!("/{page}"), "text");
    }
    let home = Home::new(&format!("{MUCH}\"10ms\"\n"), 1.0);
    let daemon = home.start();
    add(&daemon, (0..5).map(|page| site.wanted(&format!("/{page}"))).collect()).await;
    until("some are fetched", || site.seen().len() > 20).await;
    daemon.stop().await;
    let spent: f64 = home.reader().ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert_eq!(spent, site.seen().len() as f64);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cap_on_bytes_holds_from_the_start() {
    let site = Site::start().await;
    for page in 0..20 {
        site.set(&format!("/{page}"), &"word ".repeat(20_000));
    }
    let text = "budget = \"100000000/day\"\nbytes = \"24KiB/day\"\n[hosts]\ngap = \"0s\"\nconnections = 8\n";
    let mut home = Home::new(text, 1.0);
    home.fetch = "robots = false".to_owned();
    let daemon = home.start();
    add(&daemon, (0..20).map(|page| site.wanted(&format!("/{page}"))).collect()).await;
    let reader = home.reader();
    let came = || reader.ledger(0).unwrap().iter().map(|it| it.bytes).sum::<u64>();
    until("something came", || came() > 0).await;
    daemon.stop().await;
    assert_eq!(site.fetches().len(), 1);
}
