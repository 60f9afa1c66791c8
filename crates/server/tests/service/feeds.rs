//! Changes for feed readers.

use std::collections::HashSet;

use crate::changes::with_changes;

fn entries(feed: &str) -> Vec<&str> {
    feed.split("<entry>")
        .skip(1)
        .map(|entry| entry.split("<id>").nth(1).unwrap().split("</id>").next().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_have_an_entry_of_its_own_for_each_change() {
    let service = with_changes().await;
    let all = service.get("/v1/feeds/all.atom").await;
    assert!(all.headers["content-type"].starts_with("application/atom+xml"), "{all:?}");
    let ids = entries(&all.body);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 6);
    let news = service.get("/v1/feeds/tag/news.atom").await;
    let source = service.get("/v1/feeds/source/0.atom").await;
    assert_eq!(entries(&news.body).len(), 3);
    // The same change is the same in every feed.
    assert_eq!(entries(&news.body), entries(&source.body));
    assert!(ids.contains(&entries(&source.body)[0]));
    let own = format!("http://{}/v1/feeds/tag/news.atom", service.address);
    assert!(news.body.contains(&own), "{}", news.body);
    let tag = all.headers["etag"].as_str();
    let same = service.send("GET", "/v1/feeds/all.atom", &[("If-None-Match", tag)], "").await;
    assert_eq!(same.status, 304);
    assert_eq!(entries(&service.get("/v1/feeds/tag/%3Cx%3E.atom").await.body).len(), 0);
}
