//! Tests of the OpenAPI document and of its page.

use std::collections::HashSet;

use serde_json::Value;

use crate::client::Service;

fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let all = paths.flat_map(|(path, item)| {
        let item = item.as_object().unwrap().iter();
        item.map(|(method, it)| (method.to_uppercase(), path.clone(), it))
    });
    all.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_describes_every_route_with_all_its_responses() {
    let service = Service::start().await;
    let answer = service.get("/v1/openapi.json").await;
    let document = answer.ok();
    assert_eq!(document["openapi"], "3.1.0");
    let tag = answer.headers["etag"].as_str();
    let same = service.send("GET", "/v1/openapi.json", &[("If-None-Match", tag)], "").await;
    assert_eq!(same.status, 304);
    let operations = operations(&document);
    let ids: HashSet<_> =
        operations.iter().map(|it| it.2["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len());
    for (method, path, operation) in &operations {
        assert!(operation["summary"].is_string(), "{method} {path}");
        let responses = operation["responses"].as_object().unwrap();
        for code in ["400", "403", "405", "500", "503"] {
            let content = &responses[code]["content"]["application/problem+json"];
            assert!(content.is_object(), "{method} {path} {code}");
        }
        // Every documented route exists.
        let request_path = path.replace("{id}", "0").replace("{n}", "0").replace("{tag}", "x.atom");
        let request_path = request_path.replace("{name}", "x").replace("{number}", "0");
        // A stream has no end, so its request is made to fail.
        let request_path = request_path.replace("/stream", "/stream?after=-1");
        let answer = service.send(method, &request_path, &[], "").await;
        let code = answer.status.to_string();
        assert!(responses.contains_key(&code), "{method} {path}: {answer:?}");
        assert!(!answer.body.contains("no such path"), "{method} {path}: {answer:?}");
    }
    let stream = &document["paths"]["/v1/changes/stream"]["get"];
    assert!(stream["responses"]["200"]["content"]["text/event-stream"].is_object(), "{stream}");
    // Every referenced schema exists.
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_page_loads_no_other_resource() {
    let service = Service::start().await;
    let page = service.get("/v1/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.headers["content-security-policy"].starts_with("default-src 'none'"));
    for word in ["<script", "<img", "<link", "@import", "url(", "src="] {
        assert!(!page.body.contains(word), "{word}");
    }
    let document = service.get("/v1/openapi.json").await.ok();
    for (method, path, operation) in operations(&document) {
        assert!(page.body.contains(operation["operationId"].as_str().unwrap()), "{method} {path}");
    }
    assert!(page.body.contains("/v1/changes/stream"));
}
