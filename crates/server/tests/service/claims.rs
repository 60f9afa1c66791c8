//! Tests of claims and reports, correct and incorrect.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Service;

fn report(lease: &Value, source: &Value, outcome: &str) -> Value {
    json!({ "lease": lease, "reports": [{ "source": source, "outcome": outcome }] })
}

async fn result(service: &Service, body: Value) -> String {
    let answer = service.send_json("POST", "/v1/reports", body).await.ok();
    answer["items"][0]["result"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claimed_source_is_reported_once_by_the_holder_of_its_lease() {
    let service = Service::start().await;
    service.add(&["https://a.example/0", "https://a.example/1", "https://a.example/2"]).await;
    let mine = service.claim(1).await;
    let other = service.claim(1).await;
    let source = &mine["items"][0]["source"];
    assert_ne!(source, &other["items"][0]["source"]);
    let unknown_lease = json!("0123456789abcdef0123456789abcdef");
    assert_eq!(result(&service, report(&unknown_lease, source, "changed")).await, "no_lease");
    // Claimed by another client.
    assert_eq!(result(&service, report(&other["lease"], source, "changed")).await, "not_held");
    // A time before the claim, and one in the future.
    for at in ["2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
        let mut body = report(&mine["lease"], source, "changed");
        body["reports"][0]["at"] = json!(at);
        assert_eq!(result(&service, body).await, "wrong_time");
    }
    assert_eq!(result(&service, report(&mine["lease"], source, "unchanged")).await, "recorded");
    assert_eq!(result(&service, report(&mine["lease"], source, "changed")).await, "not_held");
    assert_eq!(result(&service, report(&mine["lease"], &json!(99), "gone")).await, "no_source");
    let history = service.get(&format!("/v1/sources/{source}/observations")).await.ok();
    assert_eq!(history["items"].as_array().unwrap().len(), 1);
    assert!(service.get("/v1/changes").await.ok()["items"].as_array().unwrap().is_empty());
    let status = service.get("/v1/status").await.ok();
    assert_eq!((&status["claimed"], &status["fetches"]), (&json!(1), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_of_an_expired_lease_are_claimed_again() {
    let service = Service::start().await;
    service.add(&["https://a.example/0"]).await;
    let body = json!({ "max": 10, "lease_seconds": 1 });
    let mut gone = service.send_json("POST", "/v1/claims", body.clone()).await.ok();
    while gone["items"].as_array().unwrap().is_empty() {
        gone = service.send_json("POST", "/v1/claims", body.clone()).await.ok();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let again = service.claim(10).await;
    assert_eq!(again["items"][0]["source"], 0);
    // A late report finds the source claimed by another client, and does no harm.
    assert_eq!(result(&service, report(&gone["lease"], &json!(0), "changed")).await, "not_held");
    assert_eq!(result(&service, report(&again["lease"], &json!(0), "unchanged")).await, "recorded");
    assert!(service.get("/v1/changes").await.ok()["items"].as_array().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_outcome_is_recorded() {
    let service = Service::start().await;
    let urls: Vec<_> = (0..8).map(|n| format!("https://h{n}.example/")).collect();
    service.add(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut held = Vec::new();
    while held.len() < 8 {
        let claim = service.claim(8).await;
        let items = claim["items"].as_array().unwrap().clone();
        held.extend(items.into_iter().map(|item| (item["source"].clone(), claim["lease"].clone())));
    }
    let outcomes = [
        (json!({ "outcome": "changed", "note": "a new price" }), "good", true),
        (json!({ "outcome": "unchanged", "status": 304, "etag": "\"1\"" }), "good", false),
        (json!({ "outcome": "digest", "digest": "sha256:0011" }), "good", false),
        (json!({ "outcome": "document", "text": "hello", "duration": 12 }), "good", false),
        (
            json!({ "outcome": "document", "base64": "aGVsbG8=", "content_type": "text/plain" }),
            "good",
            false,
        ),
        (json!({ "outcome": "failed", "host": true, "retry_after": 3600 }), "failing", false),
        (json!({ "outcome": "failed", "note": "cases" }), "failing", false),
        (json!({ "outcome": "gone", "status": 410 }), "gone", false),
    ];
    let reports = held.iter().zip(&outcomes).map(|((source, lease), (outcome, ..))| {
        let mut report = outcome.clone();
        report["source"] = source.clone();
        report["lease"] = lease.clone();
        report
    });
    let reports: Vec<Value> = reports.collect();
    let answer = service.send_json("POST", "/v1/reports", json!({ "reports": reports })).await.ok();
    assert_eq!(answer["recorded"], 8, "{answer}");
    for (((source, _), (outcome, state, changed)), item) in
        held.iter().zip(&outcomes).zip(answer["items"].as_array().unwrap())
    {
        assert_eq!(item["changed"], *changed, "{outcome}");
        let seen = service.get(&format!("/v1/sources/{source}")).await.ok();
        assert_eq!(seen["state"], *state, "{outcome}");
    }
    let log = service.get("/v1/changes").await.ok();
    assert_eq!(log["items"][0]["summary"], "a new price");
    let hosts = service.get("/v1/hosts?limit=1000").await.ok();
    let resting =
        hosts["items"].as_array().unwrap().iter().filter(|it| !it["rests_until"].is_null());
    assert_eq!(resting.count(), 1, "{hosts}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_report_is_refused_without_affecting_others() {
    let service = Service::start().await;
    service.add(&["https://a.example/0"]).await;
    let claim = service.claim(1).await;
    let cases = [
        (json!({ "outcome": "digest" }), "digest"),
        (json!({ "outcome": "document" }), "text"),
        (json!({ "outcome": "document", "text": "a", "base64": "YQ==" }), "base64"),
        (json!({ "outcome": "document", "base64": "!" }), "base64"),
        (json!({ "outcome": "failed", "retry_after": -1 }), "retry_after"),
        (json!({ "outcome": "unchanged", "at": "yesterday" }), "at"),
        (json!({ "outcome": "unchanged", "etag": "a\r\nSet-Cookie: b" }), "etag"),
        (json!({ "outcome": "unchanged", "last_modified": "a\nb" }), "last_modified"),
        (json!({ "outcome": "unchanged", "status": 1000 }), "status"),
        (json!({ "outcome": "unchanged", "lease": "mine" }), "lease"),
        (json!({ "outcome": "unchanged", "note": "x".repeat(3000) }), "note"),
        (json!({ "outcome": "unchanged", "status": "fine" }), "status"),
        (json!({ "outcome": "perhaps" }), "outcome"),
        (json!({ "status": 200 }), "outcome"),
        (json!({ "outcome": "unchanged", "colour": "red" }), "colour"),
    ];
    for (mut report, field) in cases {
        report["source"] = json!(0);
        let others = json!({ "source": 99, "outcome": "unchanged" });
        let body = json!({ "lease": claim["lease"], "reports": [others, report] });
        let answer = service.send_json("POST", "/v1/reports", body).await.ok();
        assert_eq!(answer["items"][0]["result"], "no_source");
        let item = &answer["items"][1];
        assert_eq!((&item["source"], &item["result"]), (&json!(0), &json!("refused")));
        assert_eq!(item["problem"]["field"], format!("reports[1].{field}"), "{item}");
        assert_eq!(answer["recorded"], 0);
    }
    let body = json!({ "reports": [{ "source": 0, "outcome": "unchanged" }, 7] });
    let answer = service.send_json("POST", "/v1/reports", body).await.ok();
    assert_eq!(answer["items"][0]["problem"]["field"], "reports[0].lease");
    assert_eq!(answer["items"][1]["problem"]["field"], "reports[1]");
    assert_eq!(answer["items"][1]["source"], Value::Null);
    // None of these was recorded; a valid report beside an invalid one is.
    let good = json!({ "source": 0, "outcome": "unchanged" });
    let body = json!({ "lease": claim["lease"], "reports": [{ "source": "x" }, good] });
    let answer = service.send_json("POST", "/v1/reports", body).await.ok();
    assert_eq!(answer["items"][1]["result"], "recorded");
    // An error outside the list fails the whole request.
    let body = json!({ "lease": 7, "reports": [] });
    service.send_json("POST", "/v1/reports", body).await.assert_problem(400, Some("lease"));
}

/// Claims the only source and reports a fetch; returns the claimed item.
async fn claim_and_report(service: &Service, mut report: Value) -> Value {
    let claim = service.claim(1).await;
    report["source"] = claim["items"][0]["source"].clone();
    let body = json!({ "lease": claim["lease"], "reports": [report] });
    assert_eq!(result(service, body).await, "recorded");
    claim["items"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_without_validators_clears_the_previous_ones() {
    let service = Service::start().await;
    service.add(&["https://a.example/0"]).await;
    let often = json!({ "max_interval": 1e-6 });
    service.send_json("PATCH", "/v1/sources/0", often).await;
    claim_and_report(&service, json!({ "outcome": "document", "text": "a b", "etag": "\"1\"" }))
        .await;
    let item = claim_and_report(&service, json!({ "outcome": "unchanged", "status": 304 })).await;
    assert_eq!(item["etag"], "\"1\"");
    let item = claim_and_report(&service, json!({ "outcome": "document", "text": "a b c" })).await;
    assert_eq!(item["etag"], "\"1\"");
    let item = claim_and_report(&service, json!({ "outcome": "unchanged", "etag": "" })).await;
    assert_eq!(item["etag"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_of_private_addresses_are_not_handed_out() {
    let service = Service::start().await;
    let cases = ["http://169.254.169.254/latest", "http://[::1]/", "file:///etc/hostname"];
    service.add(&cases).await;
    service.add(&["https://a.example/"]).await;
    let mut urls = Vec::new();
    let mut disallowed = 0;
    while disallowed < cases.len() || urls.is_empty() {
        let body = json!({ "max": 10, "lease_seconds": 300 });
        let claim = service.send_json("POST", "/v1/claims", body).await.ok();
        let items = claim["items"].as_array().unwrap();
        urls.extend(items.iter().map(|item| item["url"].as_str().unwrap().to_owned()));
        let refused = service.get("/v1/sources?state=disallowed").await.ok();
        disallowed = refused["items"].as_array().unwrap().len();
    }
    assert_eq!(urls, ["https://a.example/"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn unreported_and_oversized_fetches_do_not_use_up_the_byte_budget() {
    let service = Service::start_with("bytes = \"2GB/day\"", |_| {}).await;
    let urls: Vec<_> = (0..4).map(|n| format!("https://h{n}.example/")).collect();
    service.add(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    // One claim is never reported, another reports too many bytes.
    let silent = service.claim(1).await;
    assert_eq!(silent["items"].as_array().unwrap().len(), 1);
    let huge = json!({ "outcome": "changed", "bytes": 1_u64 << 50 });
    let other = service.claim(1).await;
    let mut report = huge.clone();
    report["source"] = other["items"][0]["source"].clone();
    let body = json!({ "lease": other["lease"], "reports": [report] });
    assert_eq!(result(&service, body).await, "recorded");
    let status = service.get("/v1/status").await.ok();
    assert!(status["budget"].as_f64().unwrap() > 1.0, "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_gone_is_logged_once() {
    let service = Service::start().await;
    service.add(&["https://a.example/0"]).await;
    claim_and_report(&service, json!({ "outcome": "document", "text": "a b" })).await;
    let often = json!({ "max_interval": 1e-6 });
    service.send_json("PATCH", "/v1/sources/0", often).await;
    claim_and_report(&service, json!({ "outcome": "gone", "status": 404 })).await;
    let log = service.get("/v1/changes").await.ok();
    let kinds = |log: &Value| {
        let items = log["items"].as_array().unwrap().iter();
        items.map(|it| it["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&log), ["gone"]);
}
