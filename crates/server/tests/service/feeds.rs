//! Tests of the Atom feeds.

use std::collections::HashSet;

use crate::changes::service_with_changes;
use crate::client::Service;

fn entries(feed: &str) -> Vec<&str> {
    feed.split("<entry>")
        .skip(1)
        .map(|entry| entry.split("<id>").nth(1).unwrap().split("</id>").next().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_have_a_separate_entry_for_each_change() {
    let service = service_with_changes().await;
    let all = service.get("/v1/feeds/all.atom").await;
    assert!(all.headers["content-type"].starts_with("application/atom+xml"), "{all:?}");
    let ids = entries(&all.body);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 6);
    let news = service.get("/v1/feeds/tag/news.atom").await;
    let source = service.get("/v1/feeds/source/0.atom").await;
    assert_eq!(entries(&news.body).len(), 3);
    // An entry has the same id in every feed.
    assert_eq!(entries(&news.body), entries(&source.body));
    assert!(ids.contains(&entries(&source.body)[0]));
    let own = format!("http://{}/v1/feeds/tag/news.atom", service.address);
    assert!(news.body.contains(&own), "{}", news.body);
    let tag = all.headers["etag"].as_str();
    let same = service.send("GET", "/v1/feeds/all.atom", &[("If-None-Match", tag)], "").await;
    assert_eq!(same.status, 304);
    assert_eq!(entries(&service.get("/v1/feeds/tag/%3Cx%3E.atom").await.body).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_start_with_the_configured_base_url() {
    let service = Service::start_with("", |it| {
        it.url = Some("https://freshet.example/api".to_owned());
        it.hosts = vec!["freshet.example".to_owned()];
    });
    let service = service.await;
    let source = service.add(&["https://a.example/"]).await[0];
    service.report_texts(source, &["one", "something else"]).await;
    for host in ["freshet.example".to_owned(), service.address.to_string()] {
        // Forwarding headers of the client are ignored.
        let headers = [("Host", host.as_str()), ("X-Forwarded-Proto", "gopher")];
        let feed = service.send("GET", "/v1/feeds/all.atom", &headers, "").await.body;
        assert!(feed.contains("https://freshet.example/api/v1/feeds/all.atom"), "{feed}");
        let links = feed.split("href=\"").skip(1).map(|it| it.split('"').next().unwrap());
        for link in links.filter(|link| *link != "https://a.example/") {
            assert!(link.starts_with("https://freshet.example/api/v1/"), "{link}");
        }
    }
    // Pages of the configured origin may make changes, also if the proxy calls the service by its
    // address.
    let kind = ("Content-Type", "application/json");
    let body = "{\"sources\":[]}";
    for (origin, status) in [
        ("https://freshet.example", 200),
        ("http://freshet.example", 403),
        ("https://evil.example", 403),
    ] {
        let answer = service.send("PUT", "/v1/sources", &[kind, ("Origin", origin)], body).await;
        assert_eq!(answer.status, status, "{origin}");
    }
}
