//! A fetch respects the limits of every host it contacts.

use std::time::Duration;

use freshet_daemon::{NewSourceRequest, OfflineFetcher};
use freshet_store::Store;

use crate::test_site::{Home, Page, Site, add, until, very_often};

const MUCH: &str = "budget = \"100000000/day\"\n[hosts]\ngap = ";

/// Sites whose pages redirect to `target`, and their sources.
async fn redirecting_sites(
    sites: usize,
    pages: usize,
    target: &Site,
) -> (Vec<Site>, Vec<NewSourceRequest>) {
    let (mut all, mut request) = (Vec::new(), Vec::new());
    for number in 0..sites {
        let site = Site::start().await;
        for page in 0..pages {
            let path = format!("/{number}-{page}");
            target.set(&path, "text");
            site.redirect(&path, target.url(&path));
            request.push(site.request(&path));
        }
        all.push(site);
    }
    (all, request)
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_keep_the_gap_of_their_target_host() {
    let target = Site::start().await;
    target.set("/robots.txt", "User-agent: *\nDisallow: /never\n");
    let (_sites, mut request) = redirecting_sites(8, 4, &target).await;
    for page in 0..8 {
        target.set(&format!("/own-{page}"), "text");
        request.push(target.request(&format!("/own-{page}")));
    }
    let home = Home::new(&format!("{MUCH}\"30ms\"\n"), 1.0);
    let daemon = home.start();
    add(&daemon, request).await;
    until("all have come through", || target.fetches().len() == 40).await;
    daemon.stop().await;
    let seen = target.requests();
    let min_gap = seen.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    assert!(min_gap >= Duration::from_millis(29), "{min_gap:?}");
    assert_eq!(seen.iter().filter(|it| it.path == "/robots.txt").count(), 1);
    let reader = home.reader();
    assert!((0..40).all(|id| reader.source(id).unwrap().unwrap().fetched_at.is_some()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cooldown_applies_to_redirects_too() {
    let (target, other) = (Site::start().await, Site::start().await);
    let (sites, mut request) = redirecting_sites(5, 2, &target).await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    for path in target_paths(5, 2) {
        target.put(&path, angry.clone());
    }
    other.set("/", "text");
    request.push(very_often(other.request("/")));
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    let requested = || target.fetches().values().sum::<usize>();
    let daemon = home.start();
    add(&daemon, request).await;
    until("each site was asked", || sites.iter().all(|site| site.fetches().len() == 2)).await;
    until("the other is fetched a lot", || other.requests().len() > 100).await;
    daemon.stop().await;
    assert_eq!(requested(), 1, "silence for an hour");

    // The cooldown survives a restart and applies to new sources of the host.
    let daemon = home.start();
    target.set("/new", "text");
    add(&daemon, vec![target.request("/new")]).await;
    let before = other.requests().len();
    until("the other is fetched again", || other.requests().len() > before + 100).await;
    daemon.stop().await;
    assert_eq!(requested(), 1, "silence for an hour");

    // It applies to previews without a daemon too.
    let offline = OfflineFetcher::new(home.config(), home.clock());
    let preview = offline.preview(&target.url("/look"), false).await.unwrap();
    let (host, wait) = preview.postponed.unwrap();
    assert_eq!(host, target.address.to_string());
    assert!((3_000_000..=3_600_000).contains(&wait), "{wait}");
    assert_eq!(requested(), 1);
}

fn target_paths(sites: usize, pages: usize) -> Vec<String> {
    (0..sites).flat_map(|site| (0..pages).map(move |page| format!("/{site}-{page}"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_after_of_robots_txt_is_respected() {
    let (target, other) = (Site::start().await, Site::start().await);
    let (sites, mut request) = redirecting_sites(4, 1, &target).await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    target.put("/robots.txt", angry);
    other.set("/", "text");
    request.extend([very_often(other.request("/")), target.request("/own")]);
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    for _ in 0..2 {
        let daemon = home.start();
        add(&daemon, request.clone()).await;
        until("each site was asked", || sites.iter().all(|site| !site.fetches().is_empty())).await;
        let before = other.requests().len();
        until("the other is fetched a lot", || other.requests().len() > before + 100).await;
        daemon.stop().await;
        assert_eq!(target.requests().len(), 1, "{:?}", target.requests());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_saves_host_cooldowns() {
    let site = Site::start().await;
    let angry = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    site.put("/angry", angry);
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    home.start().stop().await;
    for round in 0..2 {
        let offline = OfflineFetcher::new(home.config(), home.clock());
        let preview = offline.preview(&site.url("/angry"), false).await.unwrap();
        assert_eq!(preview.postponed.is_some(), round > 0);
        offline.save_hosts(&mut Store::open(&home.store(), 0).unwrap()).unwrap();
    }
    assert_eq!(site.fetches()["/angry"], 1);
    let offline = OfflineFetcher::new(home.config(), home.clock());
    offline.preview(&site.url("/angry"), true).await.unwrap();
    assert_eq!(site.fetches()["/angry"], 2, "forced");
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_is_cached_over_restarts() {
    let site = Site::start().await;
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 0.02\n");
    site.set("/", "text");
    let home = Home::new(&format!("{MUCH}\"0s\"\n"), 1.0);
    for round in 1..4 {
        let daemon = home.start();
        add(&daemon, vec![site.request("/")]).await;
        until("it is fetched", || site.fetches().get("/").is_some_and(|&some| some >= 3 * round))
            .await;
        daemon.stop().await;
    }
    let files = site.requests().iter().filter(|it| it.path == "/robots.txt").count();
    assert_eq!(files, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_counts_every_fetch() {
    let site = Site::start().await;
    for page in 0..5 {
        site.set(&format!("/{page}"), "text");
    }
    let home = Home::new(&format!("{MUCH}\"10ms\"\n"), 1.0);
    let daemon = home.start();
    add(&daemon, (0..5).map(|page| site.request(&format!("/{page}"))).collect()).await;
    until("some are fetched", || site.requests().len() > 20).await;
    daemon.stop().await;
    let spent: f64 = home.reader().ledger(0).unwrap().iter().map(|it| it.fetches).sum();
    assert_eq!(spent, site.requests().len() as f64);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_byte_limit_holds_from_the_start() {
    let site = Site::start().await;
    for page in 0..20 {
        site.set(&format!("/{page}"), &"word ".repeat(20_000));
    }
    let text = "budget = \"100000000/day\"\nbytes = \"24KiB/day\"\n[hosts]\ngap = \"0s\"\nconnections = 8\n";
    let mut home = Home::new(text, 1.0);
    home.fetch = "robots = false".to_owned();
    let daemon = home.start();
    add(&daemon, (0..20).map(|page| site.request(&format!("/{page}"))).collect()).await;
    let reader = home.reader();
    let received = || reader.ledger(0).unwrap().iter().map(|it| it.bytes).sum::<u64>();
    until("something came", || received() > 0).await;
    daemon.stop().await;
    assert_eq!(site.fetches().len(), 1);
}
