//! Tests of the pages of the change log.

use serde_json::{Value, json};

use crate::client::Service;

fn cursors(page: &Value) -> Vec<i64> {
    page["items"].as_array().unwrap().iter().map(|it| it["cursor"].as_i64().unwrap()).collect()
}

/// Starts a service whose log has six entries of two sources.
pub(crate) async fn service_with_changes() -> Service {
    let service = Service::start().await;
    let sources = json!({ "sources": [
        { "url": "https://a.example/news", "tags": ["news"], "importance": 5 },
        { "url": "https://b.example/other" },
    ]});
    service.send_json("PUT", "/v1/sources", sources).await.ok();
    for round in 0..4 {
        for source in [0, 1] {
            let text = format!("words of round {round} and of source {source}");
            service.report_texts(source, &[&text]).await;
        }
    }
    service
}

#[tokio::test(flavor = "multi_thread")]
async fn following_next_misses_no_entry() {
    let service = service_with_changes().await;
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = service.get(&format!("/v1/changes?limit=4&after={after}")).await.ok();
        seen.extend(cursors(&page));
        after = page["next"].as_i64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6]);
    let entry = &service.get("/v1/changes?limit=1").await.ok()["items"][0];
    assert_eq!((&entry["kind"], &entry["source"]), (&json!("changed"), &json!(0)));
    assert!(entry["last_unchanged"].as_str() <= entry["first_changed"].as_str());
    for (query, expect) in [
        ("tag=news", vec![1, 3, 5]),
        ("host=b.example", vec![2, 4, 6]),
        ("host=B.example:443", vec![2, 4, 6]),
        ("host=b.example:80", vec![]),
        ("url=https://a.example/n", vec![1, 3, 5]),
        ("min_importance=2", vec![1, 3, 5]),
        ("max_similarity=0", vec![]),
        ("kinds=changed", vec![1, 2, 3, 4, 5, 6]),
        ("kinds=failing,quiet", vec![]),
        ("tag=news&after=3", vec![5]),
    ] {
        assert_eq!(
            cursors(&service.get(&format!("/v1/changes?{query}")).await.ok()),
            expect,
            "{query}"
        );
    }
    // A filter that matches nothing still advances the cursor.
    assert_eq!(service.get("/v1/changes?host=c.example").await.ok()["next"], 6);
    // A cursor from another log, for example from before a restored backup.
    service.get("/v1/changes?after=7").await.assert_problem(410, Some("after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_request_is_answered_when_a_matching_entry_is_logged() {
    let service = service_with_changes().await;
    let waiting = service.get("/v1/changes?after=6&wait=30&tag=news");
    let changes = async {
        // An entry that does not match does not end the wait.
        service.report_texts(1, &["something else"]).await;
        service.report_texts(0, &["something else again"]).await;
    };
    let (page, ()) = tokio::join!(waiting, changes);
    assert_eq!(cursors(&page.ok()), [8]);
    let page = service.get("/v1/changes?after=8&wait=0").await.ok();
    assert_eq!((cursors(&page), &page["next"], &page["more"]), (vec![], &json!(8), &json!(false)));
}
