//! Tests of sources: added, listed, found, changed, removed.

use serde_json::{Value, json};

use crate::client::Service;

fn urls(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item["url"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upsert_is_idempotent_and_each_source_has_its_own_result() {
    let service = Service::start().await;
    let body = json!({ "sources": [
        { "url": "https://a.example/1", "importance": 2.5, "tags": ["x", "y"], "min_interval": 60 },
        { "url": "not a url" },
        { "url": "https://a.example/2", "cost": 0 },
        { "url": "https://u:p@a.example/" },
        { "url": "https://a.example/3", "objective": "glory" },
        { "url": "https://a.example/4", "detect": { "select": 7 } },
        { "url": "https://a.example/5", "min_interval": 10, "max_interval": 5 },
        { "url": "https://a.example/6", "tags": [""] },
    ]});
    let first = service.send_json("PUT", "/v1/sources", body.clone()).await.ok();
    let fields = first["items"].as_array().unwrap().iter().map(|item| {
        assert_eq!(item["status"] == "refused", !item["problem"].is_null());
        item["problem"]["field"].as_str()
    });
    let fields: Vec<_> = fields.collect();
    assert_eq!(
        fields,
        [
            None,
            Some("sources[1].url"),
            Some("sources[2].cost"),
            Some("sources[3].url"),
            Some("sources[4].objective"),
            Some("sources[5].detect"),
            Some("sources[6].min_interval"),
            Some("sources[7].tags[0]"),
        ]
    );
    assert_eq!((&first["created"], &first["refused"]), (&json!(1), &json!(7)));
    let before = service.get("/v1/sources/0").await.ok();
    let second = service.send_json("PUT", "/v1/sources", body).await.ok();
    assert_eq!((&second["created"], &second["updated"]), (&json!(0), &json!(1)));
    assert_eq!(service.get("/v1/sources/0").await.ok(), before);
    assert_eq!(before["importance"], 2.5);
    assert_eq!(before["tags"], json!(["x", "y"]));
    assert_eq!(before["min_interval"], 60.0);
    assert_eq!(before["host"], "a.example");
    assert_eq!(before["state"], "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_paginated_and_filtered() {
    let service = Service::start().await;
    let sources = (0..25).map(|n| {
        json!({
            "url": format!("https://h{}.example/{n}", n % 2),
            "tags": if n % 5 == 0 { vec!["five"] } else { vec![] },
            "paused": n % 10 == 0,
        })
    });
    let sources: Vec<_> = sources.collect();
    service.send_json("PUT", "/v1/sources", json!({ "sources": sources })).await.ok();
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = service.get(&format!("/v1/sources?limit=7{after}")).await.ok();
        all.extend(urls(&page));
        match page["next"].as_i64() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(all.len(), 25);
    let cases = [
        ("host=h0.example", 13),
        ("host=H0.example:443", 13),
        ("host=h0.example:80", 0),
        ("host=nowhere.example", 0),
        ("tag=five", 5),
        ("tag=five&host=h1.example", 2),
        ("paused=true", 3),
        ("paused=true&tag=five", 3),
        ("state=new", 25),
        ("state=gone", 0),
        ("text=example/2", 6),
        ("text=%2F13", 1),
    ];
    for (query, expect) in cases {
        let page = service.get(&format!("/v1/sources?limit=1000&{query}")).await.ok();
        assert_eq!(urls(&page).len(), expect, "{query}");
        assert!(page["next"].is_null());
    }
    let found = service.get("/v1/sources/find?url=https://h1.example/13").await.ok();
    assert_eq!(found["id"], 13);
    // Not in canonical form.
    let found = service.get("/v1/sources/find?url=HTTPS://H1.example:443/13").await.ok();
    assert_eq!(found["id"], 13);
    service.get("/v1/sources/find?url=https://h1.example/99").await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_names_the_invalid_field() {
    let service = Service::start().await;
    service.add(&["https://a.example/"]).await;
    let cases = [
        ("/v1/sources?limit=0", 400, Some("limit")),
        ("/v1/sources?limit=1001", 400, Some("limit")),
        ("/v1/sources?limit=x", 400, Some("limit")),
        ("/v1/sources?limt=1", 400, Some("limt")),
        ("/v1/sources?limit=1&limit=2", 400, Some("limit")),
        ("/v1/sources?state=odd", 400, Some("state")),
        ("/v1/sources?after=-1", 400, Some("after")),
        ("/v1/sources/0/changes?after=-1", 400, Some("after")),
        ("/v1/sources/0/versions?after=-1", 400, Some("after")),
        ("/v1/sources/x", 400, Some("id")),
        ("/v1/sources/99999999999", 400, Some("id")),
        ("/v1/sources/7", 404, None),
        ("/v1/sources/7/observations", 404, None),
        ("/v1/sources/7/changes", 404, None),
        ("/v1/sources/7/versions", 404, None),
        ("/v1/sources/7/versions/1", 404, None),
        ("/v1/sources/0/versions/1", 404, None),
        ("/v1/sources/0/versions/x", 400, Some("n")),
        ("/v1/sources/7/diff", 404, None),
        ("/v1/sources/0/diff", 404, None),
        ("/v1/sources/0/diff?format=odd", 400, Some("format")),
        ("/v1/sources/7/explain", 404, None),
        ("/v1/sources/find", 400, Some("url")),
        ("/v1/nothing", 404, None),
        ("/v1/curve?points=1", 400, Some("points")),
        ("/v1/curve?target=1.5", 400, Some("target")),
        ("/v1/curve?from=5&to=2", 400, Some("from")),
        ("/v1/changes?kinds=odd", 400, Some("kinds")),
        ("/v1/changes?wait=31", 400, Some("wait")),
        ("/v1/changes?after=-1", 400, Some("after")),
        ("/v1/changes?max_similarity=2", 400, Some("max_similarity")),
        ("/v1/changes/stream?after=-1", 400, Some("after")),
        ("/v1/feeds/source/x.atom", 400, Some("id")),
        ("/v1/feeds/source/7.atom", 404, None),
    ];
    for (path, status, field) in cases {
        service.get(path).await.assert_problem(status, field);
    }
    let bodies = [
        ("PUT", "/v1/sources", json!({}), "sources"),
        ("PATCH", "/v1/sources/0", json!({ "importance": "much" }), "importance"),
        ("PATCH", "/v1/sources/0", json!({ "cost": -1 }), "cost"),
        ("POST", "/v1/claims", json!({ "max": 0 }), "max"),
        ("POST", "/v1/claims", json!({ "max": 1001 }), "max"),
        ("POST", "/v1/claims", json!({ "lease_seconds": 0 }), "lease_seconds"),
        ("POST", "/v1/reports", json!({ "report": [] }), "report"),
        ("PATCH", "/v1/settings", json!({ "budget": "lots" }), "budget"),
        ("PATCH", "/v1/settings", json!({ "objective": "glory" }), "objective"),
    ];
    for (method, path, body, field) in bodies {
        service.send_json(method, path, body).await.assert_problem(400, Some(field));
    }
    service.send_json("PATCH", "/v1/sources/7", json!({})).await.assert_problem(404, None);
    service.send_json("DELETE", "/v1/sources/7", json!({})).await.assert_problem(404, None);
    service.send_json("POST", "/v1/sources/remove", json!({})).await.assert_problem(400, None);
    service.send_json("POST", "/v1/signals", json!({})).await.assert_problem(400, None);
    let json_type = [("Content-Type", "application/json")];
    service.send("PUT", "/v1/sources", &json_type, "{").await.assert_problem(400, Some("body"));
    service.send("PUT", "/v1/sources", &[], "{}").await.assert_problem(415, None);
    let answer = service.send("PATCH", "/v1/status", &json_type, "{}").await;
    answer.assert_problem(405, None);
    assert!(answer.headers["allow"].contains("GET"), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_changed_and_removed() {
    let service = Service::start().await;
    service.add(&["https://a.example/0", "https://a.example/1", "https://b.example/2"]).await;
    let answer = service.get("/v1/sources/1").await;
    let tag = answer.headers["etag"].clone();
    let same = service.send("GET", "/v1/sources/1", &[("If-None-Match", &tag)], "").await;
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    let body = json!({ "paused": true, "tags": ["t"], "max_interval": 3600, "objective": "age" });
    let patched = service.send_json("PATCH", "/v1/sources/1", body).await.ok();
    assert_eq!((&patched["paused"], &patched["max_interval"]), (&json!(true), &json!(3600.0)));
    assert_eq!(patched["objective"], "age");
    let body = json!({ "max_interval": 0, "objective": "", "detect": { "select": ["main"] } });
    let patched = service.send_json("PATCH", "/v1/sources/1", body).await.ok();
    assert_eq!((&patched["paused"], &patched["max_interval"]), (&json!(true), &json!(0.0)));
    assert_eq!(patched["detect"], json!({ "select": ["main"] }));
    assert!(patched["objective"].is_null());
    let changed = service.send("GET", "/v1/sources/1", &[("If-None-Match", &tag)], "").await;
    assert_eq!(changed.status, 200);
    assert_eq!(service.send("DELETE", "/v1/sources/1", &[], "").await.status, 204);
    service.get("/v1/sources/1").await.assert_problem(404, None);
    let body = json!({ "ids": [0, 77], "urls": ["https://b.example/2", "https://c.example/"] });
    let removed = service.send_json("POST", "/v1/sources/remove", body.clone()).await.ok();
    assert_eq!(removed, json!({ "removed": 2, "unknown": ["https://c.example/"] }));
    assert_eq!(service.send_json("POST", "/v1/sources/remove", body).await.ok()["removed"], 0);
    assert!(urls(&service.get("/v1/sources").await.ok()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_of_a_wrong_type_is_refused_without_affecting_others() {
    let service = Service::start().await;
    let body = json!({ "sources": [
        { "url": "https://a.example/" },
        { "url": "https://b.example/", "tags": "news" },
        { "url": "https://c.example/", "importance": "x" },
        { "importance": 1 },
        { "url": "https://d.example/", "colour": "red" },
        "https://e.example/",
        { "url": "https://f.example/", "importance": 2 },
    ] });
    let answer = service.send_json("PUT", "/v1/sources", body).await.ok();
    assert_eq!((&answer["created"], &answer["refused"]), (&json!(2), &json!(5)), "{answer}");
    let items = answer["items"].as_array().unwrap();
    let fields: Vec<_> = items.iter().map(|it| it["problem"]["field"].as_str()).collect();
    let expect =
        ["sources[1].tags", "sources[2].importance", "sources[3].url", "sources[4].colour"];
    assert_eq!(fields[1..5], expect.map(Some));
    assert_eq!((fields[0], fields[5], fields[6]), (None, Some("sources[5]"), None));
    assert_eq!(items[2]["url"], "https://c.example/");
    assert_eq!(items[3]["url"], Value::Null);
    assert_eq!((&items[0]["id"], &items[6]["id"]), (&json!(0), &json!(1)));
    // A body that is not a list of items is refused as a whole.
    for (text, field) in
        [("{}", "sources"), ("{\"sources\":[}", "body"), ("{\"sources\":7}", "sources")]
    {
        let kind = [("Content-Type", "application/json")];
        service.send("PUT", "/v1/sources", &kind, text).await.assert_problem(400, Some(field));
    }
    let signals = json!({ "ids": [0, "x", 1], "urls": [7, "https://a.example/"] });
    let answer = service.send_json("POST", "/v1/signals", signals).await.ok();
    assert_eq!(answer["signalled"], 2);
    let fields = answer["refused"].as_array().unwrap().iter().map(|it| it["field"].clone());
    assert_eq!(fields.collect::<Vec<_>>(), ["urls[0]", "ids[1]"]);
}
