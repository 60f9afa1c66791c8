//! Tests of destinations.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use crate::client::{Service, log};

/// Configuration that allows loopback and retries quickly.
const ALLOW_LOOPBACK: &str =
    "[notify]\nwait = \"20ms\"\nattempts = 2\n[fetch]\nallow = [\"127.0.0.1\"]\n";

/// A webhook receiver that answers with a status that can be changed.
struct Hook {
    url: String,
    status: Arc<Mutex<u16>>,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Hook {
    async fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hidden-path", listener.local_addr().unwrap());
        let hook = Self { url, status: Arc::new(Mutex::new(status)), received: Arc::default() };
        let (status, received) = (Arc::clone(&hook.status), Arc::clone(&hook.received));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let (mut line, mut length) = (String::new(), 0);
                while stream.read_line(&mut line).await.unwrap_or(0) > 2 {
                    if let Some(it) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                        length = it.trim().parse().unwrap();
                    }
                    line.clear();
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).await.unwrap();
                let status = *status.lock().unwrap();
                if status < 300 {
                    received.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                }
                let answer = format!(
                    "HTTP/1.1 {status} Answer\r\nConnection: close\r\nContent-Length: 4\r\n\r\nsaid"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        hook
    }
}

async fn wait_until<F: Future<Output = bool>>(condition: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..3000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("timed out waiting until {condition}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_is_created_tested_changed_and_removed() {
    let (service, hook) =
        (Service::start_with(ALLOW_LOOPBACK, |_| {}).await, Hook::start(200).await);
    let to = json!({ "webhook": { "url": hook.url, "headers": { "X-Key": "hunter2" } } });
    let input = json!({ "name": "shop", "to": to, "filter": { "tag": "prices" } });
    let made = service.send_json("POST", "/v1/destinations", input.clone()).await;
    assert_eq!(made.status, 201);
    let made = made.ok();
    let secret = made["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"));
    let path = format!("/v1/destinations/{}", made["id"]);
    service.send_json("POST", "/v1/destinations", input).await.assert_problem(409, Some("name"));
    let tested = service.send("POST", &format!("{path}/test"), &[], "").await.ok();
    assert_eq!(
        (&tested["arrived"], &tested["receipt"]["answer"]),
        (&true.into(), &"200: said".into())
    );
    assert_eq!(hook.received.lock().unwrap()[0]["test"], true);
    let paused =
        service.send_json("POST", &format!("{path}/pause"), json!({ "paused": true })).await;
    assert_eq!(paused.ok()["paused"], true);
    let health = &service.get("/v1/status").await.ok()["destinations"];
    assert_eq!((&health["all"], &health["paused"]), (&1.into(), &1.into()));
    let troubled = &health["troubled"][0];
    assert_eq!((&troubled["name"], troubled["since"].is_string()), (&"shop".into(), true));
    assert!(!health.to_string().contains("hidden-path"), "{health}");
    let plain = json!({ "to": { "webhook": { "url": hook.url } }, "digest": "1h" });
    let changed = service.send_json("PUT", &path, plain).await.ok();
    assert_eq!((&changed["digest"], &changed["filter"]), (&"1h".into(), &json!({})));
    let other = json!({ "to": { "command": { "name": "x" } } });
    service.send_json("PUT", &path, other).await.assert_problem(409, None);
    let rotated = service.send_json("POST", &format!("{path}/rotate"), json!({})).await.ok();
    assert_eq!(rotated["keys"].as_array().unwrap().len(), 2);
    let newer = rotated["secret"].as_str().unwrap().to_owned();
    assert_ne!(newer, secret);
    let shown = [service.get("/v1/destinations").await.body, service.get(&path).await.body];
    for hidden in [&secret[6..], &newer[6..], "hunter2", "hidden-path"] {
        assert!(shown.iter().all(|it| !it.contains(hidden)), "{hidden} in {shown:?}");
        assert!(!log().contains(hidden), "{hidden} is logged");
    }
    assert_eq!(service.send("DELETE", &path, &[], "").await.status, 204);
    service.get(&path).await.assert_problem(404, None);
    service.send("DELETE", &path, &[], "").await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_deliveries_are_listed_and_retried() {
    let (service, hook) =
        (Service::start_with(ALLOW_LOOPBACK, |_| {}).await, Hook::start(500).await);
    let ids = service.add(&["https://a.example/"]).await;
    let input = json!({ "name": "shop", "to": { "webhook": { "url": hook.url } } });
    let made = service.send_json("POST", "/v1/destinations", input).await.ok();
    let path = format!("/v1/destinations/{}", made["id"]);
    service.report_texts(ids[0], &["one", "two"]).await;
    let dead = async || service.get(&format!("{path}/dead")).await.ok();
    wait_until("the delivery is given up", async || {
        !dead().await["items"].as_array().unwrap().is_empty()
    })
    .await;
    let letter = dead().await["items"][0].clone();
    assert_eq!((&letter["attempts"], &letter["error"]), (&2.into(), &"HTTP status 500".into()));
    assert_eq!(letter["letter"]["entries"][0]["url"], "https://a.example/");
    let retry = format!("{path}/retry");
    let failed = service.send("POST", &retry, &[], "").await.ok();
    assert_eq!((&failed["sent"], &failed["left"]), (&0.into(), &1.into()));
    *hook.status.lock().unwrap() = 200;
    let sent = service.send("POST", &retry, &[], "").await.ok();
    assert_eq!((&sent["sent"], &sent["left"]), (&1.into(), &0.into()));
    assert_eq!(hook.received.lock().unwrap().len(), 1);
    let gone = format!("{path}/dead/{}", letter["id"]);
    service.send("DELETE", &gone, &[], "").await.assert_problem(404, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_destinations_name_the_field_and_private_addresses_are_refused() {
    // No private address is allowed.
    let (service, hook) = (Service::start().await, Hook::start(200).await);
    let url = "https://a.example/";
    let cases = [
        (json!({ "name": "a b", "to": { "webhook": { "url": url } } }), "name"),
        (
            json!({ "name": "a", "to": { "webhook": { "url": "file:///etc/passwd" } } }),
            "to.webhook.url",
        ),
        (json!({ "name": "a", "to": { "email": { "to": ["a@b\r\nBcc: c@d"] } } }), "to.email.to"),
        (json!({ "name": "a", "to": { "command": { "name": "/bin/sh" } } }), "to.command.name"),
        (
            json!({ "name": "a", "to": { "webhook": { "url": url, "headers": { "A": "b\r\nC: d" } } } }),
            "to.webhook.headers",
        ),
        (
            json!({ "name": "a", "to": { "email": { "to": ["a@b.c"] } }, "subject": "{{x}}" }),
            "subject",
        ),
        (json!({ "name": "a", "to": { "webhook": { "url": url } }, "digest": "soon" }), "digest"),
        (
            json!({ "name": "a", "to": { "webhook": { "url": url } }, "filter": { "max_similarity": 2 } }),
            "filter.max_similarity",
        ),
        (json!({ "name": "a", "to": { "webhook": { "url": url } }, "after": -1 }), "after"),
        (
            json!({ "name": "a", "to": { "webhook": { "url": url, "keys": [] } } }),
            "to.webhook.keys",
        ),
    ];
    for (body, field) in cases {
        service.send_json("POST", "/v1/destinations", body).await.assert_problem(400, Some(field));
    }
    let input = json!({ "name": "inside", "to": { "webhook": { "url": hook.url } } });
    let made = service.send_json("POST", "/v1/destinations", input).await.ok();
    let test = format!("/v1/destinations/{}/test", made["id"]);
    let tested = service.send("POST", &test, &[], "").await.ok();
    assert_eq!((&tested["arrived"], &tested["answer"]), (&false.into(), &Value::Null));
    assert!(hook.received.lock().unwrap().is_empty());
}
