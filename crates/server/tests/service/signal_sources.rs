//! Tests of signal sources.

use serde_json::{Value, json};

use crate::client::Service;
use crate::hub::TestDaemon;
use crate::indexnow::Site;

const CONFIG: &str = "concurrency = 2\nfetch.allow = [\"127.0.0.1\"]\nbudget = \"1000/day\"";

fn sitemap(urls: &[String]) -> String {
    let entry = |url: &String| format!("<url><loc>{url}</loc><lastmod>yesterday</lastmod></url>");
    let entries: String = urls.iter().map(entry).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

async fn ask(daemon: &TestDaemon, method: &str, path: &str, body: Value) -> Value {
    let answer = daemon.send(method, path, &body.to_string()).await;
    assert!(answer.status < 300, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_is_added_read_changed_and_removed() {
    let (site, daemon) = (Site::start().await, TestDaemon::start(1.0, CONFIG).await);
    let urls: Vec<String> = (0..5).map(|it| site.url(&format!("/blog/{it}"))).collect();
    site.publish("/s.xml", &sitemap(&urls));
    daemon.pages(&[&urls[0]]).await;
    let input = json!({ "url": site.url("/s.xml"), "discover": true, "most": 3, "tags": ["blog"],
        "include": [format!("{}/blog/", site.url("").trim_start_matches("http://"))] });
    let answer = daemon.send("POST", "/v1/signal-sources", &input.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let added = answer.ok();
    assert_eq!(
        (added["kind"].as_str(), added["found_in"].as_str()),
        (Some("sitemap"), Some("given"))
    );
    assert_eq!(added["rule"]["most"], 3);
    assert_eq!((added["min_interval"].as_f64(), added["precision"].as_f64()), (Some(300.0), None));
    let at = format!("/v1/signal-sources/{}", added["number"]);

    let read = ask(&daemon, "POST", &format!("{at}/read?wait=60"), json!({})).await;
    let last = &read["last_read"];
    assert_eq!(
        (last["outcome"].as_str(), last["format"].as_str()),
        (Some("read"), Some("sitemap"))
    );
    assert_eq!(last["entries"], 5, "{read}");
    // One is a source already, three are added, and one exceeds the limit.
    assert_eq!(read["found"], 3, "{read}");
    assert_eq!(
        last["defects"]["bad-date"].as_u64().or(last["defects"]["no-date"].as_u64()),
        Some(5),
        "{read}"
    );
    assert!(read["reads"].as_u64().unwrap() >= 1);
    assert!(read["next_read"].as_str().unwrap() > read["added"].as_str().unwrap());
    let tagged = ask(&daemon, "GET", "/v1/sources?tag=blog", json!({})).await;
    assert_eq!(tagged["items"].as_array().unwrap().len(), 3);

    // The sitemap itself is not listed as a source.
    let source = ask(&daemon, "GET", &format!("/v1/sources/{}", read["source"]), json!({})).await;
    assert_eq!(source["signal_source"], read["number"]);
    let all = ask(&daemon, "GET", "/v1/sources", json!({})).await;
    assert!(all["items"].as_array().unwrap().iter().all(|it| it["signal_source"].is_null()));

    // Added again, omitted fields stay unchanged.
    let again = daemon.send("POST", "/v1/signal-sources", &input.to_string()).await;
    assert_eq!((again.status, &again.ok()["number"]), (200, &added["number"]));
    let patch = json!({ "most": 4, "paused": true, "max_interval": 0 });
    let changed = ask(&daemon, "PATCH", &at, patch).await;
    assert_eq!(
        (&changed["rule"]["most"], &changed["rule"]["tags"][0]),
        (&json!(4), &json!("blog"))
    );
    assert_eq!((&changed["paused"], changed["max_interval"].as_f64()), (&json!(true), Some(0.0)));
    assert!(changed["next_read"].is_null(), "{changed}");

    let gone = daemon.send("DELETE", &at, "").await;
    assert_eq!(gone.status, 204, "{gone:?}");
    daemon.send("GET", &at, "").await.assert_problem(404, None);
    daemon.send("DELETE", &at, "").await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_names_the_invalid_field() {
    let service = Service::start().await;
    let url = "https://a.example/sitemap.xml";
    for (body, field) in [
        (json!({}), "url"),
        (json!({ "url": "no" }), "url"),
        (json!({ "url": url, "kind": "websub" }), "kind"),
        (json!({ "url": url, "include": ["/no-host"] }), "include"),
        (json!({ "url": url, "tags": [""] }), "tags[0]"),
        (json!({ "url": url, "importance": -1 }), "importance"),
        (json!({ "url": url, "min_interval": -1 }), "min_interval"),
        (json!({ "url": url, "min_interval": 10, "max_interval": 5 }), "min_interval"),
        (json!({ "url": url, "what": 1 }), "what"),
    ] {
        service
            .send_json("POST", "/v1/signal-sources", body)
            .await
            .assert_problem(400, Some(field));
    }
    let none = service.get("/v1/signal-sources").await.ok();
    assert_eq!(none["items"], json!([]));
    service.get("/v1/signal-sources?kind=x").await.assert_problem(400, Some("kind"));
    service
        .send_json("POST", "/v1/signal-sources/7/read", json!({}))
        .await
        .assert_problem(404, None);
    service.send_json("PATCH", "/v1/signal-sources/7", json!({})).await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn signal_sources_are_listed_by_kind_and_host_in_pages() {
    let service = Service::start().await;
    for n in 0..5 {
        let kind = if n % 2 == 0 { "sitemap" } else { "feed" };
        let url = format!("https://{}.example/{n}", if n < 3 { "a" } else { "b" });
        let body = json!({ "url": url, "kind": kind });
        assert_eq!(service.send_json("POST", "/v1/signal-sources", body).await.status, 201);
    }
    let ids = service.add(&["https://a.example/"]).await;
    service.send_json("POST", "/v1/signals", json!({ "ids": ids })).await.ok();
    let list = async |query: &str| {
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let path = format!("/v1/signal-sources?limit=2{query}{after}");
            let page = service.get(&path).await.ok();
            let urls = page["items"].as_array().unwrap().iter();
            found.extend(urls.map(|it| it["url"].as_str().unwrap().to_owned()));
            match page["next"].as_i64() {
                Some(next) => after = format!("&after={next}"),
                None => return found,
            }
        }
    };
    assert_eq!(list("").await.len(), 6);
    assert_eq!(list("&kind=feed").await, ["https://a.example/1", "https://b.example/3"]);
    assert_eq!(list("&host=a.example").await.len(), 3);
    assert_eq!(list("&host=example").await.len(), 0);
    assert_eq!(list("&kind=api").await, ["api"]);
    let metrics = service.get("/metrics").await.body;
    assert!(metrics.contains("freshet_signals_total{kind=\"api\"} 1\n"), "{metrics}");
    assert!(metrics.contains("freshet_signal_sources 6"), "{metrics}");
    // A signal source that pushes cannot be read.
    let api = service.get("/v1/signal-sources?kind=api").await.ok()["items"][0].clone();
    assert_eq!((&api["rule"], &api["signals"]), (&Value::Null, &json!(1)));
    let path = format!("/v1/signal-sources/{}/read", api["number"]);
    service.send_json("POST", &path, json!({})).await.assert_problem(409, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn reliable_signals_move_the_next_fetch_forward() {
    // One minute per second; the budget is so small that only requested fetches are made.
    let settings = "concurrency = 2\nfetch.allow = [\"127.0.0.1\"]\nbudget = \"20/day\"";
    let (site, daemon) = (Site::start().await, TestDaemon::start(60.0, settings).await);
    site.publish("/page", "first");
    let page = daemon.pages(&[&site.url("/page")]).await[0];
    let check = format!("/v1/sources/{page}/check?wait=60");
    let explain = format!("/v1/sources/{page}/explain");
    ask(&daemon, "POST", &check, json!({})).await;
    let before = ask(&daemon, "GET", &explain, json!({})).await;
    assert_eq!(before["announced"], Value::Null);
    for round in 0..30 {
        site.publish("/page", &format!("version {round} of a page"));
        ask(&daemon, "POST", "/v1/signals", json!({ "ids": [page] })).await;
        ask(&daemon, "POST", &check, json!({})).await;
    }
    ask(&daemon, "POST", "/v1/signals", json!({ "ids": [page] })).await;
    let after = ask(&daemon, "GET", &explain, json!({})).await;
    let announced = &after["announced"];
    assert_eq!((&announced["url"], &announced["kind"]), (&json!("api"), &json!("api")), "{after}");
    assert_eq!(announced["signals"], 1);
    assert!(announced["precision"].as_f64().unwrap() > 0.5, "{announced}");
    let source = format!("/v1/signal-sources/{}", announced["signal_source"]);
    let source = ask(&daemon, "GET", &source, json!({})).await;
    // The first signals came before the source was trusted, and the last is not verified yet.
    let (tried, proved) = (source["tried"].as_u64().unwrap(), source["proved"].as_u64().unwrap());
    assert!(source["signals"] == 31 && (20..31).contains(&tried), "{source}");
    assert_eq!(proved, tried);
    if after["standing"] == "waiting" || after["standing"] == "candidate" {
        assert!(announced["moved_seconds"].as_f64().unwrap() > 0.0, "{after}");
        let text = announced["text"].as_str().unwrap();
        assert!(text.starts_with("1 signal of api, ") && text.contains(" instead of "), "{text}");
        assert!(after["text"].as_str().unwrap().contains(text), "{after}");
    }
}
