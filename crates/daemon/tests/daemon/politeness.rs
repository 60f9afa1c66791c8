//! No host is contacted more often than its limits allow, and no host delays another.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::test_site::{Home, Page, Site, add, until};

#[tokio::test(flavor = "multi_thread")]
async fn many_sources_of_one_host_keep_its_gap() {
    let site = Site::start().await;
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"20ms\"\n", 1.0);
    let daemon = home.start();
    for page in 0..500 {
        site.set(&format!("/{page}"), "text");
    }
    site.set("/robots.txt", "User-agent: *\nDisallow: /never\n");
    let mut request: Vec<_> = (0..500).map(|page| site.request(&format!("/{page}"))).collect();
    for it in &mut request {
        it.settings.max_interval = Some(1.0 / 1440.0);
    }
    add(&daemon, request).await;
    until("some are fetched", || site.requests().len() > 60).await;
    daemon.stop().await;
    let seen = site.requests();
    let min_gap = seen.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    // The millisecond clock may be off by one.
    assert!(min_gap >= Duration::from_millis(19), "{min_gap:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_stops_fetches_from_that_host_only() {
    let (angry, other) = (Site::start().await, Site::start().await);
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let page = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    for path in 0..20 {
        angry.put(&format!("/{path}"), page.clone());
        other.set(&format!("/{path}"), "text");
    }
    let sites = [&angry, &other];
    let request =
        sites.iter().flat_map(|site| (0..20).map(|path| site.request(&format!("/{path}"))));
    add(&daemon, request.collect()).await;
    until("the other is fetched a lot", || other.requests().len() > 300).await;
    daemon.stop().await;
    assert_eq!(angry.fetches().values().sum::<usize>(), 1, "silence for an hour");

    // Also after a restart.
    let daemon = home.start();
    let before = other.requests().len();
    until("the other is fetched again", || other.requests().len() > before + 100).await;
    daemon.stop().await;
    assert_eq!(angry.fetches().values().sum::<usize>(), 1, "silence for an hour");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rules_of_robots_txt_are_respected() {
    let site = Site::start().await;
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 0.05\nDisallow: /private\n");
    for page in 0..50 {
        site.set(&format!("/{page}"), "text");
    }
    site.set("/private", "text");
    let home = Home::new("budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let mut request: Vec<_> = (0..50).map(|page| site.request(&format!("/{page}"))).collect();
    request.push(site.request("/private"));
    add(&daemon, request).await;
    until("some are fetched", || site.requests().len() > 60).await;
    daemon.stop().await;
    assert!(!site.fetches().contains_key("/private"));
    let seen = site.requests();
    // The first few may come before robots.txt is read.
    let gaps: Vec<_> = seen.windows(2).skip(5).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(gaps.iter().min().unwrap() >= &Duration::from_millis(48), "{gaps:?}");
    let state = home.reader();
    let private = state.find_source(&site.url("/private")).unwrap().unwrap();
    let note = &state.history(private, 1).unwrap()[0].note;
    assert_eq!(note, "disallowed by robots.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hosts_do_not_delay_each_other() {
    // To test with more hosts: `FRESHET_HOSTS=10000 cargo test --release -p freshet-daemon
    // thousands`.
    let count = std::env::var("FRESHET_HOSTS").ok().and_then(|it| it.parse().ok()).unwrap_or(2000);
    let site = Site::start().await;
    site.set("/", "text");
    let home = Home::new("budget = \"1000000000/day\"\ncrew = 64\n[hosts]\ngap = \"1s\"\n", 1.0);
    let daemon = home.start();
    // All of 127.0.0.0/8 is this machine, but a server listens at one address and only ports that
    // answer can tell hosts apart, so the test uses host names.
    let port = site.address.port();
    let request = (0..count).map(|host| {
        freshet_daemon::NewSourceRequest::new(format!("http://h{host}.localhost:{port}/"))
    });
    add(&daemon, request.collect()).await;
    let hosts = || {
        let seen = site.requests().into_iter().filter(|it| it.path == "/");
        seen.map(|it| it.host).collect::<HashSet<_>>().len()
    };
    while hosts() < count {
        let before = hosts();
        until("more hosts are asked", || hosts() > before.min(count - 1)).await;
    }
    daemon.stop().await;
    let mut last = HashMap::new();
    for seen in site.requests() {
        if let Some(before) = last.insert(seen.host, seen.at) {
            let gap = seen.at - before;
            assert!(gap >= Duration::from_millis(998), "{gap:?}");
        }
    }
    assert_eq!(last.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn host_statuses_show_failures_and_robots_txt() {
    let (angry, other) = (Site::start().await, Site::start().await);
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let robots = "User-agent: nobody\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 0.5\n\
                  Disallow: /private\nAllow: /private/<b>\nSitemap: https://a.example/map.xml\n";
    other.set("/robots.txt", robots);
    other.set("/a", "text");
    angry.put("/a", Page { status: 503, ..Page::default() });
    add(&daemon, vec![angry.request("/a"), other.request("/a")]).await;
    let reader = home.reader();
    until("both were asked", || {
        (0..2).all(|id| reader.source(id).unwrap().is_some_and(|it| it.fetches > 0))
    })
    .await;
    let handle = daemon.handle();
    let hosts = handle.host_statuses(vec![1, 0, 7]).await.unwrap();
    assert_eq!(hosts.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 0]);
    assert_eq!((hosts[0].gap_ms, hosts[0].failures), (500, 0));
    assert!(hosts[1].failures > 0 && hosts[1].available_at.unwrap() > handle.now(), "{hosts:?}");
    let worst = handle.worst_hosts(5).await.unwrap();
    assert_eq!(worst.iter().map(|it| it.id).collect::<Vec<_>>(), [0]);
    daemon.stop().await;

    let read = freshet_daemon::read_robots(&reader, &other.address.to_string()).unwrap();
    let [it] = &read[..] else { panic!("{read:?}") };
    assert_eq!((it.status, it.is_present, it.is_truncated), (Some(200), true, false));
    assert_eq!((it.bytes, it.crawl_delay), (Some(robots.len() as u64), Some(500)));
    let lines: Vec<_> = it.lines.iter().map(|(line, text)| (*line, text.as_str())).collect();
    let expect = [
        (Some(4), "User-agent: *"),
        (Some(6), "Disallow: /private"),
        (Some(7), "Allow: /private/<b>"),
        (None, "Crawl-delay: 0.5"),
    ];
    assert_eq!(lines, expect);
    assert_eq!(it.sitemaps, ["https://a.example/map.xml"]);
    let none = freshet_daemon::read_robots(&reader, &angry.address.to_string()).unwrap();
    assert!(none.iter().all(|it| !it.is_present && it.status == Some(404)), "{none:?}");
    assert!(freshet_daemon::read_robots(&reader, "no such host/x").unwrap().is_empty());
}
