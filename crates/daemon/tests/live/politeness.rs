//! Hosts are asked no more often than they are to be, and nobody waits for another host.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::web::{Home, Page, Site, add, until};

#[tokio::test(flavor = "multi_thread")]
async fn many_sources_of_one_host_keep_its_gap() {
    let site = Site::start().await;
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"20ms\"\n", 1.0);
    let daemon = home.start();
    for page in 0..500 {
        site.set(&format!("/{page}"), "text");
    }
    site.set("/robots.txt", "User-agent: *\nDisallow: /never\n");
    let mut wanted: Vec<_> = (0..500).map(|page| site.wanted(&format!("/{page}"))).collect();
    for it in &mut wanted {
        it.settings.max_interval = Some(1.0 / 1440.0);
    }
    add(&daemon, wanted).await;
    until("some are fetched", || site.seen().len() > 60).await;
    daemon.stop().await;
    let seen = site.seen();
    let least = seen.windows(2).map(|pair| pair[1].at - pair[0].at).min().unwrap();
    // A clock in milliseconds may be one off.
    assert!(least >= Duration::from_millis(19), "{least:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_says_so_is_left_alone_and_others_are_not() {
    let (angry, other) = (Site::start().await, Site::start().await);
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let page = Page { status: 429, retry_after: Some(3600), ..Page::default() };
    for path in 0..20 {
        angry.put(&format!("/{path}"), page.clone());
        other.set(&format!("/{path}"), "text");
    }
    let sites = [&angry, &other];
    let wanted = sites.iter().flat_map(|site| (0..20).map(|path| site.wanted(&format!("/{path}"))));
    add(&daemon, wanted.collect()).await;
    until("the other is fetched a lot", || other.seen().len() > 300).await;
    daemon.stop().await;
    assert_eq!(angry.fetches().values().sum::<usize>(), 1, "silence for an hour");

    // After a restart too.
    let daemon = home.start();
    let before = other.seen().len();
    until("the other is fetched again", || other.seen().len() > before + 100).await;
    daemon.stop().await;
    assert_eq!(angry.fetches().values().sum::<usize>(), 1, "silence for an hour");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_host_asks_for_in_robots_txt_is_kept() {
    let site = Site::start().await;
    site.set("/robots.txt", "User-agent: *\nCrawl-delay: 0.05\nDisallow: /private\n");
    for page in 0..50 {
        site.set(&format!("/{page}"), "text");
    }
    site.set("/private", "text");
    let home = Home::new("budget = \"100000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let mut wanted: Vec<_> = (0..50).map(|page| site.wanted(&format!("/{page}"))).collect();
    wanted.push(site.wanted("/private"));
    add(&daemon, wanted).await;
    until("some are fetched", || site.seen().len() > 60).await;
    daemon.stop().await;
    assert!(!site.fetches().contains_key("/private"));
    let seen = site.seen();
    // The first few may come before the file is read.
    let gaps: Vec<_> = seen.windows(2).skip(5).map(|pair| pair[1].at - pair[0].at).collect();
    assert!(gaps.iter().min().unwrap() >= &Duration::from_millis(48), "{gaps:?}");
    let state = home.reader();
    let private = state.find_source(&site.url("/private")).unwrap().unwrap();
    let note = &state.history(private, 1).unwrap()[0].note;
    assert_eq!(note, "robots.txt does not allow it");
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hosts_do_not_wait_for_each_other() {
    // More of them on demand: `FRESHET_HOSTS=10000 cargo test --release -p freshet-daemon thousands`.
    let count = std::env::var("FRESHET_HOSTS").ok().and_then(|it| it.parse().ok()).unwrap_or(2000);
    let site = Site::start().await;
    site.set("/", "text");
    let home = Home::new("budget = \"1000000000/day\"\ncrew = 64\n[hosts]\ngap = \"1s\"\n", 1.0);
    let daemon = home.start();
    // All of 127.0.0.0/8 is this machine, but a server listens at one address: ports tell hosts apart
    // only if they answer, so names do.
    let port = site.address.port();
    let wanted = (0..count).map(|host| {
        freshet_daemon::NewSourceRequest::new(format!("http://h{host}.localhost:{port}/"))
    });
    add(&daemon, wanted.collect()).await;
    let hosts = || {
        let seen = site.seen().into_iter().filter(|it| it.path == "/");
        seen.map(|it| it.host).collect::<HashSet<_>>().len()
    };
    while hosts() < count {
        let before = hosts();
        until("more hosts are asked", || hosts() > before.min(count - 1)).await;
    }
    daemon.stop().await;
    let mut last = HashMap::new();
    for seen in site.seen() {
        if let Some(before) = last.insert(seen.host, seen.at) {
            let gap = seen.at - before;
            assert!(gap >= Duration::from_millis(998), "{gap:?}");
        }
    }
    assert_eq!(last.len(), count);
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_say_how_they_are() {
    let (angry, other) = (Site::start().await, Site::start().await);
    let home = Home::new("budget = \"10000000/day\"\n[hosts]\ngap = \"0s\"\n", 1.0);
    let daemon = home.start();
    let robots = "User-agent: nobody\nDisallow: /\n\nUser-agent: *\nCrawl-delay: 0.5\n\
                  Disallow: /private\nAllow: /private/<b>\nSitemap: https://a.example/map.xml\n";
    other.set("/robots.txt", robots);
    other.set("/a", "text");
    angry.put("/a", Page { status: 503, ..Page::default() });
    add(&daemon, vec![angry.wanted("/a"), other.wanted("/a")]).await;
    let reader = home.reader();
    until("both were asked", || {
        (0..2).all(|id| reader.source(id).unwrap().is_some_and(|it| it.fetches > 0))
    })
    .await;
    let handle = daemon.handle();
    let hosts = handle.hosts(vec![1, 0, 7]).await.unwrap();
    assert_eq!(hosts.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 0]);
    assert_eq!((hosts[0].gap, hosts[0].failures), (500, 0));
    assert!(hosts[1].failures > 0 && hosts[1].free.unwrap() > handle.now(), "{hosts:?}");
    let worst = handle.worst_hosts(5).await.unwrap();
    assert_eq!(worst.iter().map(|it| it.number).collect::<Vec<_>>(), [0]);
    daemon.stop().await;

    let read = freshet_daemon::robots(&reader, &other.address.to_string()).unwrap();
    let [it] = &read[..] else { panic!("{read:?}") };
    assert_eq!((it.status, it.found, it.cut), (Some(200), true, false));
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
    let none = freshet_daemon::robots(&reader, &angry.address.to_string()).unwrap();
    assert!(none.iter().all(|it| !it.found && it.status == Some(404)), "{none:?}");
    assert!(freshet_daemon::robots(&reader, "no such host/x").unwrap().is_empty());
}
