//! Tests of tokens and their scopes.

use freshet_server::{Scope, ServeError, Server, ServerSettings};
use serde_json::json;

use crate::client::{Service, log};

async fn status_with(service: &Service, token: &str, method: &str, path: &str, body: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    service.send(method, path, &headers, body).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_allows_what_its_scopes_allow_and_nothing_else() {
    let service = Service::start().await;
    service.get("/v1/status").await.ok();
    // Access from the same machine needs no token, except to manage tokens.
    service.get("/v1/tokens").await.assert_problem(401, None);
    let read = service.token("read", &[Scope::Read]).await;
    // As soon as there is a token, every request needs one.
    let answer = service.get("/v1/status").await;
    answer.assert_problem(401, None);
    assert!(answer.headers.contains_key("www-authenticate"));
    for path in ["/healthz", "/readyz", "/v1/docs", "/v1/openapi.json"] {
        assert_eq!(service.get(path).await.status, 200, "{path}");
    }
    let write = service.token("write", &[Scope::Write]).await;
    let claim = service.token("claim", &[Scope::Claim]).await;
    let admin = service.token("admin", &[Scope::Admin]).await;
    let sources = r#"{"sources":[{"url":"https://a.example/"}]}"#;
    let cases = [
        ("GET", "/v1/status", "", [200, 403, 403, 200]),
        ("GET", "/metrics", "", [200, 403, 403, 200]),
        ("GET", "/v1/changes", "", [200, 403, 403, 200]),
        ("GET", "/v1/feeds/all.atom", "", [200, 403, 403, 200]),
        ("PUT", "/v1/sources", sources, [403, 200, 403, 200]),
        ("POST", "/v1/claims", "{}", [403, 403, 200, 200]),
        ("POST", "/v1/reports", r#"{"reports":[]}"#, [403, 403, 200, 200]),
        ("GET", "/v1/tokens", "", [403, 403, 403, 200]),
        ("GET", "/v1/nothing", "", [404, 403, 403, 404]),
    ];
    for (method, path, body, expect) in cases {
        for (token, expect) in [&read, &write, &claim, &admin].into_iter().zip(expect) {
            let status = status_with(&service, token, method, path, body).await;
            assert_eq!(status, expect, "{method} {path}");
        }
    }
    // Feed readers send the token as a password: `x:` and the token.
    let pair = base64(&format!("x:{read}"));
    let basic = format!("Basic {pair}");
    let feed = service.send("GET", "/v1/feeds/all.atom", &[("Authorization", &basic)], "").await;
    assert_eq!(feed.status, 200);
    // Tokens are never logged.
    for token in [&read, &write, &claim, &admin, &pair] {
        assert!(!log().contains(token.as_str()));
    }
    assert!(log().contains("answered"), "the log is empty");
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let chunks = text.as_bytes().chunks(3).map(|chunk| {
        let mut bytes = [0; 4];
        bytes[1..=chunk.len()].copy_from_slice(chunk);
        let number = u32::from_be_bytes(bytes);
        let digit = |at: u32| DIGITS[(number >> (18 - 6 * at) & 63) as usize] as char;
        let digits = (0..4).map(|at| if at as usize <= chunk.len() { digit(at) } else { '=' });
        digits.collect::<String>()
    });
    chunks.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_created_shown_once_and_revoked() {
    let service = Service::start().await;
    let admin = service.token("admin", &[Scope::Admin]).await;
    let bearer = format!("Bearer {admin}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let body = json!({ "name": "new one", "scopes": ["read", "claim"] }).to_string();
    let answer = service.send("POST", "/v1/tokens", &headers, &body).await;
    assert_eq!(answer.status, 201);
    let made = answer.ok();
    let token = made["token"].as_str().unwrap();
    assert_eq!(status_with(&service, token, "GET", "/v1/status", "").await, 200);
    let list = service.send("GET", "/v1/tokens", &headers, "").await;
    assert_eq!(list.ok()["items"].as_array().unwrap().len(), 2);
    assert!(!list.body.contains(token) && !list.body.contains("hash"));
    let gone = service.send("DELETE", "/v1/tokens/new%20one", &headers, "").await;
    assert_eq!(gone.status, 204);
    assert_eq!(status_with(&service, token, "GET", "/v1/status", "").await, 401);
    service.send("DELETE", "/v1/tokens/new%20one", &headers, "").await.assert_problem(404, None);
    for (body, field) in [
        (json!({ "name": "", "scopes": ["read"] }), "name"),
        (json!({ "name": "a/b", "scopes": ["read"] }), "name"),
        (json!({ "name": "a", "scopes": [] }), "scopes"),
        (json!({ "name": "a", "scopes": ["root"] }), "scopes[0]"),
    ] {
        let answer = service.send("POST", "/v1/tokens", &headers, &body.to_string()).await;
        answer.assert_problem(400, Some(field));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_tokens_is_throttled_and_valid_tokens_are_not() {
    let service = Service::start().await;
    let token = service.token("read", &[Scope::Read]).await;
    let mut codes = Vec::new();
    for guess in 0..15 {
        codes.push(
            status_with(&service, &format!("freshet_{guess}"), "GET", "/v1/status", "").await,
        );
    }
    assert_eq!(codes[..10], [401; 10]);
    assert_eq!(codes[10..], [429; 5]);
    let headers = [("Authorization", "Bearer guess")];
    let answer = service.send("GET", "/v1/status", &headers, "").await;
    answer.assert_problem(429, None);
    assert!(answer.headers["retry-after"].parse::<u64>().is_ok_and(|it| it > 0));
    assert_eq!(status_with(&service, &token, "GET", "/v1/status", "").await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_address_requires_a_token() {
    let service = Service::start().await;
    let public = ServerSettings::new("0.0.0.0:0".parse().unwrap());
    let refused = Server::start(service.daemon.handle(), public.clone()).await.err().unwrap();
    assert!(matches!(refused, ServeError::NoToken(_)), "{refused}");
    assert!(refused.hint().unwrap().contains("freshet token add"));
    service.token("only", &[Scope::Read]).await;
    let server = Server::start(service.daemon.handle(), public).await.unwrap();
    // Without its last token, the service admits no request.
    service.daemon.handle().remove_token("only".to_owned()).await.unwrap();
    let address = format!("127.0.0.1:{}", server.address().port()).parse().unwrap();
    let mut service = service;
    service.address = address;
    service.get("/v1/status").await.assert_problem(401, None);
    service.get("/healthz").await.ok();
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_tokens_and_destinations_are_paginated() {
    let service = Service::start().await;
    let token = service.token("root", &[Scope::Admin]).await;
    for name in ["a", "b", "c"] {
        service.token(name, &[Scope::Read]).await;
    }
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for n in 0..3 {
        let body = format!(
            "{{\"name\":\"d{n}\",\"to\":{{\"webhook\":{{\"url\":\"https://shop.example/{n}\"}}}}}}"
        );
        let made = service.send("POST", "/v1/destinations", &headers, &body).await;
        assert_eq!(made.status, 201, "{made:?}");
    }
    for (path, expect) in [("/v1/tokens", 4), ("/v1/destinations", 3)] {
        let (mut names, mut after) = (Vec::new(), String::new());
        loop {
            let page = service.send("GET", &format!("{path}?limit=1{after}"), &headers, "").await;
            let page = page.ok();
            for item in page["items"].as_array().unwrap() {
                names.push(item["name"].as_str().unwrap().to_owned());
            }
            after = match &page["next"] {
                serde_json::Value::Null => break,
                serde_json::Value::String(name) => format!("&after={name}"),
                number => format!("&after={number}"),
            };
        }
        assert_eq!(names.len(), expect, "{path}: {names:?}");
        names.dedup();
        assert_eq!(names.len(), expect, "{path}: {names:?}");
    }
}
