//! Tests of the plan, the curve, the settings, signals, hosts and metrics.

use freshet_server::Scope;
use freshet_store::{SignalSourceKind, SignalSourceQuery};
use serde_json::{Value, json};

use crate::client::Service;

#[tokio::test(flavor = "multi_thread")]
async fn plans_and_curves_follow_the_budget() {
    let service = Service::start().await;
    service.get("/v1/curve").await.assert_problem(409, None);
    let sources = (0..50).map(|n| {
        json!({
            "url": format!("https://h{n}.example/"), "change_rate": 0.1 + f64::from(n) / 10.0,
        })
    });
    let sources = sources.collect::<Vec<_>>();
    service.send_json("PUT", "/v1/sources", json!({ "sources": sources })).await.ok();
    let plan = service.get("/v1/plan").await.ok();
    assert_eq!((&plan["sources"], &plan["budget"]), (&json!(50), &json!(1e7)));
    let curve = service.get("/v1/curve?from=1&to=1000&points=5&target=0.9").await.ok();
    let points = curve["points"].as_array().unwrap();
    assert_eq!(points.len(), 5);
    assert_eq!((&points[0]["budget"], &curve["sources"]), (&json!(1.0), &json!(50)));
    let fresh: Vec<f64> = points.iter().map(|it| it["freshness"].as_f64().unwrap()).collect();
    assert!(fresh.windows(2).all(|pair| pair[0] < pair[1]), "{fresh:?}");
    // The budget of the target reaches it exactly.
    let needed = curve["target"]["budget"].as_f64().unwrap();
    let at = service.get(&format!("/v1/curve?from={needed}&to={needed}&points=2")).await.ok();
    let reached = at["points"][0]["freshness"].as_f64().unwrap();
    assert!((reached - 0.9).abs() < 1e-6, "{reached}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_take_effect_at_once_and_can_be_reset() {
    let service = Service::start().await;
    let settings = service.get("/v1/settings").await.ok();
    assert_eq!(settings["budget"]["adjusted"], false);
    let patched =
        service.send_json("PATCH", "/v1/settings", json!({ "budget": "77/day" })).await.ok();
    assert_eq!(patched["budget"]["value"], "77/day");
    assert_eq!(patched["budget"]["adjusted"], true);
    assert_eq!(patched["objective"]["adjusted"], false);
    assert_eq!(service.get("/v1/status").await.ok()["budget"], 77.0);
    let body = json!({ "objective": "age" });
    let patched = service.send_json("PATCH", "/v1/settings", body).await.ok();
    assert_eq!(patched["budget"]["value"], "77/day");
    assert_eq!(patched["objective"]["value"], "age");
    let patched = service.send_json("PATCH", "/v1/settings", json!({ "budget": null })).await.ok();
    assert_eq!(patched["budget"]["value"], patched["budget"]["written"]);
    assert_eq!(patched["objective"]["value"], "age");
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_hosts_health_and_metrics_are_reported() {
    let service = Service::start().await;
    service.add(&["https://a.example/", "https://b.example/"]).await;
    let body = json!({ "urls": ["https://a.example/", "https://c.example/"], "ids": [1, 0, 9] });
    let answer = service.send_json("POST", "/v1/signals", body).await.ok();
    assert_eq!(answer, json!({ "signalled": 2, "unknown": ["https://c.example/"], "refused": [] }));
    let hosts = service.get("/v1/hosts?limit=1").await.ok();
    assert_eq!((&hosts["items"][0]["name"], &hosts["next"]), (&json!("a.example"), &json!(0)));
    let hosts = service.get("/v1/hosts?after=0").await.ok();
    assert_eq!((&hosts["items"][0]["name"], &hosts["next"]), (&json!("b.example"), &json!(null)));
    let hosts = service.get("/v1/hosts?name=b.example").await.ok();
    assert_eq!(hosts["items"][0]["id"], 1);
    service.get("/v1/hosts?name=a%2Fb").await.assert_problem(400, Some("name"));
    assert_eq!(service.get("/healthz").await.body, "ok\n");
    assert_eq!(service.get("/readyz").await.body, "ready\n");
    let metrics = service.get("/metrics").await.body;
    for line in [
        "freshet_sources 2.0",
        "freshet_http_requests_total{method=\"GET\",route=\"/v1/hosts\",status=\"200\"} 3",
        "freshet_http_seconds_bucket",
        "# EOF",
    ] {
        assert!(metrics.contains(line), "no {line} in {metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_is_attributed_to_its_token() {
    let service = Service::start().await;
    service.add(&["https://a.example/", "https://b.example/"]).await;
    let body = json!({ "ids": [0, 1] });
    assert_eq!(service.send_json("POST", "/v1/signals", body.clone()).await.ok()["signalled"], 2);
    let secret = service.token("robot", &[Scope::Write]).await;
    let bearer = format!("Bearer {secret}");
    let headers = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    for _ in 0..2 {
        service.send("POST", "/v1/signals", &headers, &body.to_string()).await.ok();
    }
    let all = service.daemon.handle().signal_sources(SignalSourceQuery::default()).await.unwrap();
    let seen: Vec<_> = all
        .iter()
        .map(|it| {
            (it.signal_source.kind, it.signal_source.name.as_str(), it.report.unwrap().signals)
        })
        .collect();
    assert_eq!(seen, [(SignalSourceKind::Api, "api", 2), (SignalSourceKind::Api, "robot", 4)]);
    assert!(all.iter().all(|it| it.source.is_none()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_budget_nothing_is_due_and_there_is_no_price() {
    let service = Service::start().await;
    service.add(&["https://a.example/", "https://b.example/"]).await;
    let explained = service.get("/v1/sources/0/explain").await.ok();
    assert!(explained["headline"].as_str().unwrap().starts_with("due now"), "{explained}");
    service.send_json("PATCH", "/v1/settings", json!({ "budget": "0/day" })).await.ok();
    let explained = service.get("/v1/sources/0/explain").await.ok();
    let headline = "not due: the budget is 0 a day, so nothing is fetched";
    assert_eq!(explained["headline"], headline);
    let text = explained["text"].as_str().unwrap();
    assert!(
        text.contains(headline) && !text.contains("due now") && !text.contains("price"),
        "{text}"
    );
    assert_eq!((&explained["due"], &explained["price"]), (&Value::Null, &Value::Null));
    for path in ["/v1/plan", "/v1/status"] {
        let view = service.get(path).await.ok();
        assert_eq!((&view["budget"], &view["price"]), (&json!(0.0), &Value::Null), "{view}");
    }
    let claim = service.send_json("POST", "/v1/claims", json!({ "max": 3 })).await.ok();
    assert_eq!((&claim["items"], &claim["next"]), (&json!([]), &Value::Null), "{claim}");
}
