//! Sitemaps that are much larger than the set of known pages.

use std::fs;

use freshet_daemon::NewSignalSourceRequest;
use freshet_store::SignalSourceQuery;

use super::{CALM, add_and_read, date, index, paths, sitemap, start_with_copies};
use crate::test_site::{Home, Site};

const PARTS: usize = 6;
const EACH: usize = 50_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_large_sitemap_stores_known_pages_only_and_does_not_block_the_event_loop() {
    let (site, home) = (Site::start().await, Home::new(CALM, 1.0));
    let known = paths(5);
    let daemon = start_with_copies(&home, &site, &known).await;
    let part = |n: usize| format!("/part{n}.xml");
    for n in 0..PARTS {
        let strange = (0..EACH - 1).map(|it| (site.url(&format!("/none/{n}/{it}")), None));
        let own = known.get(n).unwrap_or(&known[0]);
        let own = std::iter::once((site.url(own), Some(date(-50))));
        site.set_document(&part(n), sitemap(&own.chain(strange).collect::<Vec<_>>()));
    }
    let urls: Vec<String> = (0..PARTS).map(|n| site.url(&part(n))).collect();
    site.set_document("/index.xml", index(&urls));
    let root = add_and_read(&daemon, NewSignalSourceRequest::sitemap(site.url("/index.xml"))).await;
    let parts =
        SignalSourceQuery { parent: Some(root.signal_source.id), ..SignalSourceQuery::default() };
    let parts = daemon.handle().signal_sources(parts).await.unwrap();
    let numbers: Vec<u32> = parts.iter().map(|it| it.signal_source.id).collect();
    assert_eq!(parts.len(), PARTS);
    // All at once, while the status is requested.
    let mut reads = tokio::task::JoinSet::new();
    for it in parts {
        let handle = daemon.handle();
        reads.spawn(async move {
            handle.read_signal_source(it.signal_source.id).await.unwrap();
            handle.signal_source(it.signal_source.id).await.unwrap().unwrap()
        });
    }
    let mut answers = 0;
    let mut pages = 0;
    while !reads.is_empty() {
        tokio::select! {
            biased;
            status = async { daemon.handle().status().await.unwrap() } => {
                assert_eq!(status.sources, 5);
                answers += 1;
                while let Some(done) = reads.try_join_next() {
                    let last = done.unwrap().last_read.unwrap();
                    assert_eq!((last.outcome.as_str(), last.known), ("read", 1), "{last:?}");
                    pages += last.pages;
                }
                tokio::task::yield_now().await;
            }
        }
    }
    assert_eq!(pages, (PARTS * EACH) as u64);
    assert!(answers > 100, "{answers} answers meanwhile");
    let reader = home.reader();
    let rows: u64 =
        numbers.iter().map(|n| reader.count_signalled_sources(*n, u32::MAX).unwrap()).sum();
    // Each child has signalled one page.
    assert_eq!(rows, PARTS as u64);
    daemon.stop().await;
    assert!(reader.check_integrity().unwrap().is_ok());
    let left: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("freshet.db")), "{left:?}");
}
