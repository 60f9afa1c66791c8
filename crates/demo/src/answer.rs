//! Response to a request.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, RETRY_AFTER,
};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};

use crate::clock::DAY;
use crate::faults::{ServerFault, delay, trouble, validated};
use crate::page::{Subject, html};
use crate::site::Site;
use crate::truth::{Client, Version};

type Answer = Response<Full<Bytes>>;

/// Path that robots.txt disallows.
const FORBIDDEN: [&str; 2] = ["/private/", "/search"];

/// Answers a request; an error ends the connection without a response.
pub(crate) async fn answer<B>(
    site: &Site,
    client: Client,
    request: &Request<B>,
) -> Result<Answer, io::Error> {
    let host = request.headers().get(HOST).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let path = request.uri().path();
    let is_head = request.method() == Method::HEAD;
    if !is_head && request.method() != Method::GET {
        return Ok(plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n"));
    }
    if path == "/robots.txt" {
        site.truth().asked_robots(client);
        return Ok(plain(StatusCode::OK, &robots()));
    }
    if FORBIDDEN.iter().any(|it| path.starts_with(it)) {
        site.truth().trespassed(client);
        return Ok(plain(StatusCode::FORBIDDEN, "robots.txt says so\n"));
    }
    let Some(page) = site.world.find(host, path) else {
        return Ok(plain(StatusCode::NOT_FOUND, "no such page\n"));
    };
    site.truth().asked(client);
    if site.lively {
        let now = site.clock.now();
        match trouble(site.world.seed(), site.world.host(page), page, now) {
            None => {}
            Some(ServerFault::Broken) => {
                return Ok(plain(StatusCode::INTERNAL_SERVER_ERROR, "something broke\n"));
            }
            Some(ServerFault::Dropped) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Some(ServerFault::TooMany { seconds }) => {
                let mut answer = plain(StatusCode::TOO_MANY_REQUESTS, "later, please\n");
                put(answer.headers_mut(), RETRY_AFTER, &seconds.to_string());
                return Ok(answer);
            }
        }
        if let Some(delay) = delay(site.world.seed(), page) {
            tokio::time::sleep(delay).await;
        }
    }
    let version = {
        // The time is read under the lock, so that it never goes back between responses.
        let mut truth = site.truth();
        let now = site.clock.now();
        if is_head { truth.version(page, now) } else { truth.answered(client, page, now) }
    };
    Ok(show(site, page, version, host, request.headers()))
}

/// Returns the page, or 304.
fn show(site: &Site, page: u32, version: Version, host: &str, asked: &HeaderMap) -> Answer {
    let seed = site.world.seed();
    let has = validated(seed, page);
    let etag = format!("\"{page:x}-{:x}\"", version.number);
    let seconds = version.since.mul_add(DAY, site.world.epoch()).max(0.0);
    let modified =
        httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds as u64));
    let is = |name: HeaderName, text: &str| {
        asked.get(name).is_some_and(|it| it.as_bytes() == text.as_bytes())
    };
    // RFC 9110 §13.1.3: If-Modified-Since is ignored if If-None-Match is present.
    let is_same = if has.etag && asked.contains_key(IF_NONE_MATCH) {
        is(IF_NONE_MATCH, &etag)
    } else {
        has.last_modified && is(IF_MODIFIED_SINCE, &modified)
    };
    let mut answer = if is_same {
        let mut answer = Response::new(Full::default());
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        answer
    } else {
        let subject = Subject { seed, page, version: version.number, host };
        let mut answer = Response::new(Full::new(html(&subject, site.next_answer()).into()));
        put(answer.headers_mut(), CONTENT_TYPE, "text/html; charset=utf-8");
        answer
    };
    let headers = answer.headers_mut();
    put(headers, CACHE_CONTROL, "no-cache");
    if has.etag {
        put(headers, ETAG, &etag);
    }
    if has.last_modified {
        put(headers, LAST_MODIFIED, &modified);
    }
    answer
}

fn robots() -> String {
    let mut text = "User-agent: *\n".to_owned();
    for path in FORBIDDEN {
        text.push_str("Disallow: ");
        text.push_str(path);
        text.push('\n');
    }
    text
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::copy_from_slice(text.as_bytes())));
    *answer.status_mut() = status;
    put(answer.headers_mut(), CONTENT_TYPE, "text/plain; charset=utf-8");
    answer
}

fn put(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}
