//! Who says that sources have changed, over the service.

use serde_json::{Value, json};

use crate::client::Service;
use crate::hub::Home;
use crate::indexnow::Site;

const CREW: &str = "crew = 2\nfetch.allow = [\"127.0.0.1\"]\nbudget = \"1000/day\"";

fn sitemap(urls: &[String]) -> String {
    let entry = |url: &String| format!("<url><loc>{url}</loc><lastmod>yesterday</lastmod></url>");
    let entries: String = urls.iter().map(entry).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

async fn ask(home: &Home, method: &str, path: &str, body: Value) -> Value {
    let answer = home.send(method, path, &body.to_string()).await;
    assert!(answer.status < 300, "{answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_is_added_read_shown_changed_and_removed() {
    let (site, home) = (Site::start().await, Home::start(1.0, CREW).await);
    let urls: Vec<String> = (0..5).map(|it| site.url(&format!("/blog/{it}"))).collect();
    site.has("/s.xml", &sitemap(&urls));
    home.pages(&[&urls[0]]).await;
    let wanted = json!({ "url": site.url("/s.xml"), "discover": true, "most": 3, "tags": ["blog"],
        "include": [format!("{}/blog/", site.url("").trim_start_matches("http://"))] });
    let answer = home.send("POST", "/v1/signal-sources", &wanted.to_string()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let added = answer.ok();
    assert_eq!(
        (added["kind"].as_str(), added["found_in"].as_str()),
        (Some("sitemap"), Some("given"))
    );
    assert_eq!(added["rule"]["most"], 3);
    assert_eq!((added["min_interval"].as_f64(), added["precision"].as_f64()), (Some(300.0), None));
    let at = format!("/v1/signal-sources/{}", added["number"]);

    let read = ask(&home, "POST", &format!("{at}/read?wait=60"), json!({})).await;
    let last = &read["last_read"];
    assert_eq!(
        (last["outcome"].as_str(), last["format"].as_str()),
        (Some("read"), Some("sitemap"))
    );
    assert_eq!(last["entries"], 5, "{read}");
    // One was known, three are added, and one more would have been.
    assert_eq!(read["found"], 3, "{read}");
    assert_eq!(
        last["defects"]["bad-date"].as_u64().or(last["defects"]["no-date"].as_u64()),
        Some(5),
        "{read}"
    );
    assert!(read["reads"].as_u64().unwrap() >= 1);
    assert!(read["next_read"].as_str().unwrap() > read["added"].as_str().unwrap());
    let tagged = ask(&home, "GET", "/v1/sources?tag=blog", json!({})).await;
    assert_eq!(tagged["items"].as_array().unwrap().len(), 3);

    // What is read is no page.
    let source = ask(&home, "GET", &format!("/v1/sources/{}", read["source"]), json!({})).await;
    assert_eq!(source["signal_source"], read["number"]);
    let all = ask(&home, "GET", "/v1/sources", json!({})).await;
    assert!(all["items"].as_array().unwrap().iter().all(|it| it["signal_source"].is_null()));

    // Said anew, what is left out stays.
    let again = home.send("POST", "/v1/signal-sources", &wanted.to_string()).await;
    assert_eq!((again.status, &again.ok()["number"]), (200, &added["number"]));
    let patch = json!({ "most": 4, "paused": true, "max_interval": 0 });
    let changed = ask(&home, "PATCH", &at, patch).await;
    assert_eq!(
        (&changed["rule"]["most"], &changed["rule"]["tags"][0]),
        (&json!(4), &json!("blog"))
    );
    assert_eq!((&changed["paused"], changed["max_interval"].as_f64()), (&json!(true), Some(0.0)));
    assert!(changed["next_read"].is_null(), "{changed}");

    let gone = home.send("DELETE", &at, "").await;
    assert_eq!(gone.status, 204, "{gone:?}");
    home.send("GET", &at, "").await.refuses(404, None);
    home.send("DELETE", &at, "").await.refuses(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_refused_with_its_field() {
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
        service.ask("POST", "/v1/signal-sources", body).await.refuses(400, Some(field));
    }
    let none = service.get("/v1/signal-sources").await.ok();
    assert_eq!(none["items"], json!([]));
    service.get("/v1/signal-sources?kind=x").await.refuses(400, Some("kind"));
    service.ask("POST", "/v1/signal-sources/7/read", json!({})).await.refuses(404, None);
    service.ask("PATCH", "/v1/signal-sources/7", json!({})).await.refuses(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_listed_by_kind_and_host_in_pages() {
    let service = Service::start().await;
    for n in 0..5 {
        let kind = if n % 2 == 0 { "sitemap" } else { "feed" };
        let url = format!("https://{}.example/{n}", if n < 3 { "a" } else { "b" });
        let body = json!({ "url": url, "kind": kind });
        assert_eq!(service.ask("POST", "/v1/signal-sources", body).await.status, 201);
    }
    let ids = service.add(&["https://a.example/"]).await;
    service.ask("POST", "/v1/signals", json!({ "ids": ids })).await.ok();
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
    // Who speaks by itself is not read.
    let api = service.get("/v1/signal-sources?kind=api").await.ok()["items"][0].clone();
    assert_eq!((&api["rule"], &api["signals"]), (&Value::Null, &json!(1)));
    let path = format!("/v1/signal-sources/{}/read", api["number"]);
    service.ask("POST", &path, json!({})).await.refuses(409, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_that_prove_true_move_the_next_fetch() {
    // A minute in a second, and fetches that are asked for only: the budget is a drop.
    let settings = "crew = 2\nfetch.allow = [\"127.0.0.1\"]\nbudget = \"20/day\"";
    let (site, home) = (Site::start().await, Home::start(60.0, settings).await);
    site.has("/page", "first");
    let page = home.pages(&[&site.url("/page")]).await[0];
    let check = format!("/v1/sources/{page}/check?wait=60");
    let explain = format!("/v1/sources/{page}/explain");
    ask(&home, "POST", &check, json!({})).await;
    let before = ask(&home, "GET", &explain, json!({})).await;
    assert_eq!(before["announced"], Value::Null);
    for round in 0..30 {
        site.has("/page", &format!("version {round} of a page"));
        ask(&home, "POST", "/v1/signals", json!({ "ids": [page] })).await;
        ask(&home, "POST", &check, json!({})).await;
    }
    ask(&home, "POST", "/v1/signals", json!({ "ids": [page] })).await;
    let after = ask(&home, "GET", &explain, json!({})).await;
    let said = &after["announced"];
    assert_eq!((&said["url"], &said["kind"]), (&json!("api"), &json!("api")), "{after}");
    assert_eq!(said["signals"], 1);
    assert!(said["precision"].as_f64().unwrap() > 0.5, "{said}");
    let source = format!("/v1/signal-sources/{}", said["signal_source"]);
    let source = ask(&home, "GET", &source, json!({})).await;
    // The first few came before anybody listened, and the last is not tried yet.
    let (tried, proved) = (source["tried"].as_u64().unwrap(), source["proved"].as_u64().unwrap());
    assert!(source["signals"] == 31 && (20..31).contains(&tried), "{source}");
    assert_eq!(proved, tried);
    if after["standing"] == "waiting" || after["standing"] == "candidate" {
        assert!(said["moved_seconds"].as_f64().unwrap() > 0.0, "{after}");
        let text = said["text"].as_str().unwrap();
        assert!(text.starts_with("1 signal of api, ") && text.contains(" instead of "), "{text}");
        assert!(after["text"].as_str().unwrap().contains(text), "{after}");
    }
}
