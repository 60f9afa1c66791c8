//! Secrets are never shown, not even misplaced ones. All secrets here are `hunter2`.

use std::fmt::{Debug, Display};

use freshet_fetch::{
    AllowEntry, FetchRequest, FetchResponse, FetchSettings, Fetcher, RawFetchSettings, UrlPattern,
};

use crate::server::{Server, ok, redirect, reply};
use crate::{QUICK, fetch, settings};

#[track_caller]
fn check(value: impl Debug + Display) {
    let output = format!("{value} {value:?} {value:#?}");
    assert!(!output.contains("hunter2"), "{output}");
}

#[test]
fn urls() {
    for url in [
        "http://me:hunter2@example.com/",
        "http://hunter2@example.com/",
        "http:me:hunter2@example.com/",
        r"http:\\me:hunter2@example.com\x",
        "http://me:hunter2@[",
        "http://me:hunter2@:x/",
        "http://me:hunter2@example.com:99999/",
        "me:hunter2@example.com",
        "hunter2:@example.com/x",
        "hunter2:x-oauth-basic@example.com/x",
        "hunter2@example.com",
        "//me:hunter2@example.com/",
        "ftp://me:hunter2@example.com/",
        "file://me:hunter2@example.com/x",
        "https://me:hun@hunter2@example.com/",
        "https://me:hunter2/@hunter2@example.com",
        " me:hunter2@example.com",
    ] {
        match FetchRequest::new(url) {
            Err(error) => check(error),
            Ok(request) => panic!("{url}: {request:?}"),
        }
    }
}

#[test]
fn headers() {
    let request = || FetchRequest::new("http://example.com/").unwrap();
    let request_with_secret = request().with_header("Authorization", "Bearer hunter2").unwrap();
    assert!(!format!("{request_with_secret:?}").contains("hunter2"));
    for (name, value) in
        [("Bearer hunter2", "x"), ("x", "hunter2\n"), ("Host", "hunter2"), ("hunter2 ", "")]
    {
        check(request().with_header(name, value).unwrap_err());
    }
}

#[test]
fn patterns_and_allow_entries() {
    for text in ["https://me:hunter2@example.com", "hunter2@example.com", "ftp://hunter2@x/y"] {
        check(text.parse::<UrlPattern>().unwrap_err());
        check(text.parse::<AllowEntry>().unwrap_err());
    }
}

#[test]
fn errors_of_invalid_settings_hide_secrets() {
    let rule = |text: &str| format!("[[rules]]\nmatch = \"x\"\n{text}");
    for text in [
        rule("proxy = \"http://me:hunter2@example.com\""),
        rule("proxy = [\"http://me:hunter2@example.com\"]"),
        rule("proxy = { url = \"http://me:hunter2@example.com\" }"),
        rule("proxy = { url = \"http://x\", basic = \"me:hunter2\" }"),
        rule("proxy = { url = \"http://x\", basic = { user = \"me\", password = \"hunter2\" } }"),
        rule("proxy = { url = \"hunter2@\" }"),
        rule("basic = \"me:hunter2\""),
        rule("basic = { user = \"me\", password = \"hunter2\" }"),
        rule("basic = { user = \"me\", password = { env = \"hunter2\" } }"),
        rule("bearer = \"hunter2\""),
        rule("bearer = { env = \"hunter2\" }"),
        rule("bearer = { file = \"hunter2\" }"),
        rule("bearer = { token = \"hunter2\" }"),
        rule("headers = \"Authorization: hunter2\""),
        rule("headers = { Authorization = [\"hunter2\"] }"),
        rule("headers = { Authorization = { env = \"hunter2\" } }"),
        rule("headers = { Authorization = \"hunter2\\n\" }"),
        "[[rules]]\nmatch = \"https://me:hunter2@example.com\"".to_owned(),
        "[[rules]]\nmatch = \"hunter2@example.com/x\"".to_owned(),
        "allow = [\"me:hunter2@example.com\"]".to_owned(),
    ] {
        match toml::from_str::<RawFetchSettings>(&text) {
            Err(error) => check(error.message()),
            Ok(raw) => {
                // The location of a secret is not secret, but a misplaced secret may be written
                // there.
                if !text.contains("env =") && !text.contains("file =") {
                    let output = format!("{raw:?}");
                    assert!(!output.contains("hunter2"), "{output}");
                }
                check(FetchSettings::try_from(raw).unwrap_err());
            }
        }
    }
    let numbers = toml::from_str::<RawFetchSettings>(&rule("basic = 4711")).unwrap_err();
    assert!(!numbers.message().contains("4711"), "{}", numbers.message());
}

#[test]
fn debug_of_valid_settings_hides_secrets() {
    let text = "commands = { x = [\"curl\", \"-H\", \"Authorization: hunter2\"] }\n\
                [[rules]]\nmatch = \"x\"\nheaders = { Authorization = \"hunter2\" }\n";
    let raw: RawFetchSettings = toml::from_str(text).unwrap();
    assert!(!format!("{raw:?} {raw:#?}").contains("hunter2"));
    let settings = FetchSettings::try_from(raw).unwrap();
    assert!(!format!("{settings:?} {settings:#?}").contains("hunter2"));
}

/// Returns everything that a result shows.
fn shown(result: &FetchResponse) -> String {
    let blame = result.blame();
    format!("{result:?} {result:#?} {blame:?} {:?}", result.trace.final_url())
}

#[tokio::test]
async fn redirects() {
    let there = Server::always(ok("x")).await;
    let port = there.port();
    for to in [
        format!("http://me:hunter2@127.0.0.1:{port}/"),
        format!("//me:hunter2@127.0.0.1:{port}/"),
        format!("http:\\\\me:hunter2@127.0.0.1:{port}/"),
        "http://me:hunter2@127.0.0.2/".to_owned(),
        "http://me:hunter2@[::1/".to_owned(),
        "https://me:hunter2@localhost:1/".to_owned(),
        "me:hunter2@example.com".to_owned(),
        "ftp://me:hunter2@example.com/".to_owned(),
    ] {
        for path in ["/", "/robots.txt"] {
            let to = to.clone();
            let server = Server::new(move |requested, _| match requested {
                requested if requested == path => redirect("302 Found", &to),
                "/robots.txt" => reply("404 No", "", ""),
                _ => ok("page"),
            })
            .await;
            let fetcher = Fetcher::new(settings(&QUICK.replace("robots = false", "robots = true")));
            let result = fetch(&fetcher, &server.url("/")).await;
            let output = shown(&result);
            assert!(!output.contains("hunter2"), "{path}: {output}");
        }
    }
    for head in there.heads() {
        assert!(!head.contains("hunter2") && !head.contains("uthorization"), "{head}");
    }
}
