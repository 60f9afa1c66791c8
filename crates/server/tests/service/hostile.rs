//! Tests with hostile clients: foreign host names, foreign origins, endless bodies, malformed
//! requests.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Service, parse};

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_name_is_refused() {
    let service =
        Service::start_with("", |it| it.hosts = vec!["freshet.example.com".to_owned()]).await;
    let port = service.address.port();
    let own = [
        format!("127.0.0.1:{port}"),
        "127.0.0.1".to_owned(),
        format!("localhost:{port}"),
        "LOCALHOST".to_owned(),
        format!("[::1]:{port}"),
        "freshet.example.com".to_owned(),
        "Freshet.Example.com.:443".to_owned(),
    ];
    for host in own {
        assert_eq!(
            service.send("GET", "/healthz", &[("Host", &host)], "").await.status,
            200,
            "{host}"
        );
    }
    let others = [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:7343",
        "192.168.1.1",
        "localhost@evil.example",
        "",
        "[::2]",
        "x:y:z",
    ];
    for host in others {
        let answer = service.send("GET", "/healthz", &[("Host", host)], "").await;
        answer.assert_problem(403, None);
    }
    let none = service.send_bytes(b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n").await;
    none.assert_problem(400, Some("Host"));
    let two = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    service.send_bytes(two).await.assert_problem(400, Some("Host"));
    let absolute_url =
        b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    service.send_bytes(absolute_url).await.assert_problem(400, Some("Host"));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_pages_of_another_origin_are_refused() {
    let service = Service::start().await;
    let body = json!({ "sources": [{ "url": "https://a.example/" }] }).to_string();
    let kind = ("Content-Type", "application/json");
    let own = format!("http://{}", service.address);
    for origin in ["https://evil.example", "null", "http://localhost:1", "http://127.0.0.1", ""] {
        let answer = service.send("PUT", "/v1/sources", &[kind, ("Origin", origin)], &body).await;
        answer.assert_problem(403, None);
    }
    for site in ["cross-site", "same-site"] {
        let headers = [kind, ("Sec-Fetch-Site", site)];
        service.send("PUT", "/v1/sources", &headers, &body).await.assert_problem(403, None);
    }
    // An HTML form can send these types, but not JSON.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let headers = [("Content-Type", kind)];
        service.send("PUT", "/v1/sources", &headers, &body).await.assert_problem(415, None);
    }
    assert!(service.get("/v1/sources").await.ok()["items"].as_array().unwrap().is_empty());
    let headers = [kind, ("Origin", own.as_str()), ("Sec-Fetch-Site", "same-origin")];
    service.send("PUT", "/v1/sources", &headers, &body).await.ok();
    // Responses are not shared with other origins.
    let answer =
        service.send("GET", "/v1/sources", &[("Origin", "https://evil.example")], "").await;
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
    for (header, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.headers[header], value);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_a_whole_oversized_body_gets_the_refusal() {
    let service = Service::start().await;
    // More than the socket buffers hold.
    let body = vec![b' '; 32 << 20];
    let head = format!(
        "PUT /v1/sources HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        service.address,
        body.len()
    );
    let mut stream = TcpStream::connect(service.address).await.unwrap();
    stream
        .write_all(&[head.as_bytes(), &body].concat())
        .await
        .expect("the absolute_url body is read");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).await.unwrap();
    parse(&text).assert_problem(413, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_too_large_or_too_slow_are_refused() {
    let service = Service::start().await;
    let impatient_service =
        Service::start_with("", |it| it.timeouts.request_body = Duration::from_millis(100)).await;
    let host = service.address;
    let head = |length: &str| {
        format!(
            "POST /v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             {length}\r\nConnection: close\r\n\r\n"
        )
    };
    // `Content-Length` is too large: refused before the body is sent.
    let answer = service.send_bytes(head("Content-Length: 99999999999").as_bytes()).await;
    answer.assert_problem(413, None);
    // The length is unknown.
    let mut large = head("Transfer-Encoding: chunked").into_bytes();
    for _ in 0..40 {
        large.extend_from_slice(b"10000\r\n");
        large.extend_from_slice(&[b' '; 0x10000]);
        large.extend_from_slice(b"\r\n");
    }
    let mut stream = TcpStream::connect(host).await.unwrap();
    let (mut read, mut write) = stream.split();
    let mut text = Vec::new();
    // The connection may be closed before all is sent.
    let sending = async {
        let _ = write.write_all(&large).await;
    };
    let reading = async {
        let mut bytes = [0; 4096];
        while !String::from_utf8_lossy(&text).contains("larger than") {
            match read.read(&mut bytes).await {
                Ok(count) if count > 0 => text.extend_from_slice(&bytes[..count]),
                _ => break,
            }
        }
    };
    tokio::join!(sending, reading);
    assert_eq!(parse(&text).status, 413, "{}", String::from_utf8_lossy(&text));
    // The body is never sent.
    let answer = impatient_service.send_bytes(head("Content-Length: 10").as_bytes()).await;
    answer.assert_problem(408, None);
    // Nested too deeply to parse.
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let kind = [("Content-Type", "application/json")];
    service.send("POST", "/v1/claims", &kind, &deep).await.assert_problem(400, Some("body"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_incomplete_head_is_closed_after_its_timeout() {
    let service =
        Service::start_with("", |it| it.timeouts.request_head = Duration::from_millis(100)).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc").await.unwrap();
        slow.push(stream);
    }
    for mut stream in slow {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_keep_no_client_out() {
    let service = Service::start_with("", |it| {
        // Longer than the test runs.
        it.timeouts.request_head = Duration::from_secs(3600);
        it.max_connections = 8;
    });
    let service = service.await;
    let host = service.address;
    let mut follower = TcpStream::connect(host).await.unwrap();
    let ask = format!("GET /v1/changes/stream HTTP/1.1\r\nHost: {host}\r\n\r\n");
    follower.write_all(ask.as_bytes()).await.unwrap();
    let mut received = String::new();
    let mut bytes = [0; 1024];
    // The stream has started before the others connect.
    let count = follower.read(&mut bytes).await.unwrap();
    received.push_str(&String::from_utf8_lossy(&bytes[..count]));
    let mut flood = Vec::new();
    for n in 0..500 {
        let mut stream = TcpStream::connect(host).await.unwrap();
        // No bytes, half a head, or a request and then nothing.
        let bytes_to_send = match n % 3 {
            0 => String::new(),
            1 => "GET /v1/status HTTP/1.1\r\nHost: loc".to_owned(),
            _ => format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        };
        // The connection may have been evicted.
        let _ = stream.write_all(bytes_to_send.as_bytes()).await;
        flood.push(stream);
    }
    service.get("/healthz").await.ok();
    service.get("/v1/status").await.ok();
    // The first of them was evicted.
    let mut rest = Vec::new();
    let _ = flood[0].read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    // The connection that is being answered is not evicted.
    let source = service.add(&["https://a.example/"]).await[0];
    service.report_texts(source, &["one", "two"]).await;
    while !received.contains("event: changed") {
        let count = follower.read(&mut bytes).await.unwrap();
        assert!(count > 0, "{received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn if_all_connections_are_in_use_requests_get_503_and_monitoring_is_answered() {
    let service = Service::start_with("", |it| it.max_connections = 2).await;
    let host = service.address;
    let ask = format!("GET /v1/changes/stream HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut followers = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(ask.as_bytes()).await.unwrap();
        let mut some = [0; 64];
        assert!(stream.read(&mut some).await.unwrap() > 0);
        followers.push(stream);
    }
    for _ in 0..200 {
        let answer = service.get("/v1/status").await;
        answer.assert_problem(503, None);
        assert_eq!(answer.headers["retry-after"], "1");
        service.get("/healthz").await.ok();
    }
    drop(followers);
    while service.get("/v1/status").await.status != 200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_reads_no_responses_is_disconnected() {
    let service =
        Service::start_with("", |it| it.timeouts.write = Duration::from_millis(100)).await;
    let (host, length) = (service.address, document_len(&service).await);
    let mut client = TcpStream::connect(host).await.unwrap();
    let one = format!("GET /v1/openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n");
    // More than the socket buffers hold.
    let many = one.repeat((64 << 20) / length);
    let _ = client.write_all(many.as_bytes()).await;
    // Only the connection of this request is left.
    while !service.get("/metrics").await.body.contains("freshet_http_connections 1\n") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the length of the OpenAPI document.
async fn document_len(service: &Service) -> usize {
    service.get("/v1/openapi.json").await.body.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_paths_and_headers_are_refused() {
    let service = Service::start().await;
    let paths = [
        "/../../etc/passwd",
        "/v1/../../etc/passwd",
        "/v1/sources/%2e%2e%2f%2e%2e",
        "//etc/passwd",
        "/v1/feeds/tag/..%2f..%2fetc%2fpasswd",
        "/v1/docs/../../x",
        "/v1/sources/0%00",
        "/%ff",
        "/v1/tokens/..%2f",
        "/v1/sources/0/versions/..%2f1",
        "/.git/config",
        "/v1/sources/",
    ];
    for path in paths {
        let answer = service.get(path).await;
        assert!(
            (400..500).contains(&answer.status) || path.contains("feeds"),
            "{path}: {answer:?}"
        );
        assert!(!answer.body.contains("root:"), "{path}");
    }
    // Client input is never copied into a header.
    let split = "/v1/feeds/tag/x%0d%0aSet-Cookie:%20a=b.atom";
    let answer = service.get(split).await;
    assert!(!answer.headers.contains_key("set-cookie"), "{answer:?}");
    let id = "\"x\r\nSet-Cookie: a=b\"";
    service.add(&["https://a.example/"]).await;
    let claim = service.claim(1).await;
    let body = json!({ "lease": claim["lease"], "reports": [{
        "source": 0, "outcome": "unchanged", "etag": id }] });
    let answer = service.send_json("POST", "/v1/reports", body).await.ok();
    assert_eq!(answer["items"][0]["problem"]["field"], "reports[0].etag");
    // Not HTTP, or malformed HTTP.
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "a: b\r\n".repeat(2_000));
    let requests: [&[u8]; 5] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"POST /v1/claims HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\
          Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
        many.as_bytes(),
    ];
    for bytes in requests {
        let mut stream = TcpStream::connect(service.address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text).await;
        let answer = parse(&text);
        assert!((400..500).contains(&answer.status), "{}", String::from_utf8_lossy(&text));
        answer.assert_problem(answer.status, None);
        assert_eq!(answer.headers["content-length"], answer.body.len().to_string());
    }
    service.get("/readyz").await.ok();
}
