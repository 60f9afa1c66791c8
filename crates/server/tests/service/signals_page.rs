//! The pages of signals, over real sockets.

use serde_json::json;

use crate::client::{Answer, Service};
use crate::hub::{TestDaemon, wait_until};
use crate::indexnow::Site;

const HOSTILE: &str = "https://a.example/s.xml?q=<script>alert(1)</script>";

/// Submits a form with the key of its page.
async fn send(service: &Service, page: &str, to: &str, fields: &[(&str, &str)]) -> Answer {
    let shown = service.get(page).await;
    let (_, rest) = shown.body.split_once("name=\"key\" value=\"").unwrap();
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.append_pair("key", rest.split('"').next().unwrap());
    body.extend_pairs(fields);
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    service.send("POST", to, &kind, &body.finish()).await
}

#[track_caller]
fn has(answer: &Answer, text: &str) {
    assert!(answer.body.contains(text), "no {text} in {answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_is_added_paused_and_removed_by_forms() {
    let service = Service::start().await;
    let empty = service.get("/signals").await;
    has(&empty, "No signal sources yet");
    has(&empty, "<a href=\"/signals\" aria-current=\"page\">Signals</a>");
    let fields = [
        ("url", HOSTILE),
        ("kind", "feed"),
        ("discover", "on"),
        ("include", "a.example/blog/\r\n a.example/news/ \r\n"),
        ("most", "77"),
        ("tags", "<b>bold</b>"),
    ];
    let added = send(&service, "/signals", "/signals", &fields).await;
    assert_eq!(added.status, 303, "{added:?}");
    let place = added.headers["location"].clone();
    let path = place.split('?').next().unwrap().to_owned();
    let page = service.get(&place).await;
    has(&page, "Signal source added");
    has(&page, "a.example/blog/, a.example/news/");
    has(&page, "77, 0 so far");
    has(&page, "No signals yet");
    has(&page, "not fetched yet");
    for page in [page, service.get("/signals").await] {
        assert!(!page.body.contains("<script>alert") && !page.body.contains("<b>bold"));
        has(&page, "a.example/s.xml");
        has(&page, "Feed, added manually");
    }
    let known = service.get("/v1/signal-sources").await.ok();
    assert_eq!(known["items"][0]["rule"]["tags"], json!(["<b>bold</b>"]));
    // The source behind a signal source redirects to it.
    let source = service.get(&format!("/sources/{}", known["items"][0]["source"])).await;
    assert_eq!((source.status, &source.headers["location"]), (303, &path));

    send(&service, &path, &format!("{path}/pause"), &[("paused", "1")]).await;
    assert_eq!(service.get("/v1/signal-sources").await.ok()["items"][0]["paused"], true);
    has(&service.get(&path).await, "Resume");
    let found = service.get("/signals?text=%3Cscript%3Ealert(2)").await;
    has(&found, "No signal source matches");
    assert!(!found.body.contains("<script>alert(2)"));
    let removed = send(&service, &path, &format!("{path}/remove"), &[]).await;
    assert!(removed.headers["location"].starts_with("/signals?flash="), "{removed:?}");
    assert_eq!(service.get("/v1/signal-sources").await.ok()["items"], json!([]));
    assert_eq!(service.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_form_is_shown_again_with_its_error() {
    let service = Service::start().await;
    for (fields, field) in [
        ([("url", "nonsense"), ("most", "")], "url-error"),
        ([("url", "https://a.example/"), ("most", "many")], "most-error"),
        ([("url", "https://a.example/"), ("include", "/no-host")], "include-error"),
    ] {
        let answer = send(&service, "/signals", "/signals", &fields).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        has(&answer, &format!("id=\"{field}\""));
        has(&answer, &format!("value=\"{}\"", fields[0].1));
    }
    // A forged form.
    let kind = [("Content-Type", "application/x-www-form-urlencoded")];
    let forged = service.send("POST", "/signals", &kind, "key=0&url=https://a.example/").await;
    assert_eq!(forged.status, 403);
    assert_eq!(service.get("/v1/signal-sources").await.ok()["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn document_problems_and_the_effect_of_signals_are_shown() {
    let settings = "concurrency = 2\nfetch.allow = [\"127.0.0.1\"]\nbudget = \"20/day\"";
    let (site, daemon) = (Site::start().await, TestDaemon::start(60.0, settings).await);
    site.publish("/s.xml", "<!doctype html><html><body>welcome</body></html>");
    let get = async |path: &str| daemon.send("GET", path, "").await;
    let body = json!({ "url": site.url("/s.xml") }).to_string();
    let number = daemon.send("POST", "/v1/signal-sources", &body).await.ok()["number"].clone();
    daemon.send("POST", &format!("/v1/signal-sources/{number}/read?wait=60"), "").await.ok();
    let list = get("/signals").await;
    has(&list, "<span class=\"state bad\">html</span>");
    has(&list, "html × 1");
    let page = get(&format!("/signals/{number}")).await;
    has(&page, "The document is an HTML page, not a sitemap or feed.");

    site.publish("/page", "first");
    let source = daemon.pages(&[&site.url("/page")]).await[0];
    let check = format!("/v1/sources/{source}/check?wait=60");
    let signal = json!({ "ids": [source] }).to_string();
    daemon.send("POST", &check, "").await.ok();
    for round in 0..30 {
        site.publish("/page", &format!("version {round} of a page"));
        daemon.send("POST", "/v1/signals", &signal).await.ok();
        daemon.send("POST", &check, "").await.ok();
    }
    daemon.send("POST", "/v1/signals", &signal).await.ok();
    let page = get(&format!("/sources/{source}")).await;
    has(&page, "1 signal of api, ");
    has(&page, ">Signal source</a>");
    let list = wait_until(async || {
        let list = get("/signals").await;
        list.body.contains("API client, push, 31 signals").then_some(list)
    })
    .await;
    has(&list, "none missed");
}
