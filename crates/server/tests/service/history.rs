//! Tests of the history of a source: fetches, changes, versions, differences.

use serde_json::{Value, json};

use crate::client::Service;

fn numbers(page: &Value, field: &str) -> Vec<i64> {
    page["items"].as_array().unwrap().iter().map(|item| item[field].as_i64().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn observations_changes_and_versions_are_paginated_and_versions_compared() {
    let service = Service::start().await;
    let id = service.add(&["https://a.example/page"]).await[0];
    let texts = ["one line\nsame", "two lines\nsame", "three lines\nsame", "<b>four</b>\nsame"];
    service.report_texts(id, &texts).await;
    let page = service.get("/v1/sources/0/observations?limit=3").await.ok();
    assert_eq!((numbers(&page, "n"), &page["next"]), (vec![4, 3, 2], &json!(2)));
    let page = service.get("/v1/sources/0/observations?limit=3&after=2").await.ok();
    assert_eq!((numbers(&page, "n"), &page["next"]), (vec![1], &Value::Null));
    assert_eq!(page["items"][0]["outcome"], "first");
    assert_eq!(page["items"][0]["decision"]["reason"], "new", "{page}");
    let page = service.get("/v1/sources/0/changes?limit=2").await.ok();
    assert_eq!((numbers(&page, "cursor"), &page["next"]), (vec![3, 2], &json!(2)));
    let page = service.get("/v1/sources/0/versions?limit=3").await.ok();
    assert_eq!((numbers(&page, "n"), &page["next"]), (vec![4, 3, 2], &json!(2)));

    // Nothing in a version runs in a browser.
    let answer = service.get("/v1/sources/0/versions/4").await;
    assert_eq!(answer.body, "<b>four</b>\nsame");
    assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    let tag = answer.headers["etag"].as_str();
    let same = service.send("GET", "/v1/sources/0/versions/4", &[("If-None-Match", tag)], "").await;
    assert_eq!(same.status, 304);

    let diff = service.get("/v1/sources/0/diff?from=1&to=2").await.ok();
    assert_eq!((&diff["from"], &diff["to"]), (&json!(1), &json!(2)));
    let kinds: Vec<_> = diff["rows"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
    assert!(kinds.contains(&&json!("same")) && kinds.len() > 1, "{diff}");
    let text = service.get("/v1/sources/0/diff?from=1&to=2&format=unified").await;
    assert!(text.body.contains("-one line") && text.body.contains("+two lines"), "{}", text.body);
    assert_eq!(text.headers["content-type"], "text/plain; charset=utf-8");
    let words = service.get("/v1/sources/0/diff?from=1&to=2&format=words").await;
    assert!(words.body.contains("[-") && words.body.contains("{+"), "{}", words.body);
    let last = service.get("/v1/sources/0/diff").await.ok();
    assert_eq!((&last["from"], &last["to"]), (&json!(3), &json!(4)));
    service.get("/v1/sources/0/diff?from=9").await.assert_problem(404, None);

    // The links of an entry are valid.
    let entry = &service.get("/v1/changes").await.ok()["items"][0];
    service.get(entry["links"]["source"].as_str().unwrap()).await.ok();
    service.get(entry["links"]["diff"].as_str().unwrap()).await.ok();
    let explained = service.get("/v1/sources/0/explain").await.ok();
    assert!(explained["headline"].as_str().is_some_and(|it| !it.is_empty()), "{explained}");
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_of_private_addresses_are_not_fetched() {
    let service = Service::start().await;
    let urls = [
        "http://127.0.0.1:1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://localhost/",
        "file:///etc/passwd",
        "exec:anything",
    ];
    let body: Vec<_> = urls.iter().map(|url| json!({ "url": url })).collect();
    let added = service.send_json("PUT", "/v1/sources", json!({ "sources": body })).await.ok();
    for item in added["items"].as_array().unwrap() {
        // Some are refused when they are added, the others when they are fetched.
        let Some(id) = item["id"].as_u64() else { continue };
        let path = format!("/v1/sources/{id}/check?wait=60");
        let check = service.send("POST", &path, &[], "").await.ok();
        let (outcome, state) = (&check["observation"]["outcome"], &check["source"]["state"]);
        assert!(state == "failing" || state == "disallowed", "{item}: {check}");
        assert!(outcome == "failed" || outcome == "disallowed", "{item}: {check}");
        assert_eq!(check["observation"]["bytes"], 0, "{item}: {check}");
    }
    let all = service.get("/v1/changes").await.ok();
    assert!(all["items"].as_array().unwrap().is_empty());
    service
        .send("POST", "/v1/sources/0/check?wait=61", &[], "")
        .await
        .assert_problem(400, Some("wait"));
    service.send("POST", "/v1/sources/99/check", &[], "").await.assert_problem(404, None);
}
