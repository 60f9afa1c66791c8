//! Fetches from well-behaved and hostile servers on loopback, each with its expected outcome.

#![allow(clippy::unwrap_used)]

mod body_sink;
mod certificates;
mod dns;
mod encodings;
mod fuzz;
mod guard;
mod hostile;
mod http1_wire;
mod http2;
mod http2_frames;
mod local;
#[path = "../corpus/mutator.rs"]
mod mutator;
mod post;
mod proxies;
mod redirects;
mod request_hook;
mod responses;
mod robots;
mod secrets;
mod server;
mod tls;
mod unreachable;
mod url_rules;

use freshet_fetch::{
    FetchError, FetchOutcome, FetchRequest, FetchResponse, FetchSettings, FetchedContent, Fetcher,
    RawFetchSettings,
};

/// Settings with short limits that allow loopback.
const QUICK: &str = r#"
    allow = ["127.0.0.1"]
    robots = false
    [limits]
    connect = "5s"
    tls = "5s"
    first_byte = "5s"
    idle = "5s"
    body = "10s"
    total = "20s"
    wire_bytes = "1MiB"
    body_bytes = "2MiB"
"#;

fn settings(text: &str) -> FetchSettings {
    let raw: RawFetchSettings = toml::from_str(text).unwrap();
    raw.try_into().unwrap()
}

/// Keys outside of `[limits]`.
const TOP: [&str; 10] = [
    "allow",
    "robots",
    "contact",
    "user_agent",
    "downgrade",
    "dns",
    "resolve",
    "roots",
    "files",
    "commands",
];

/// Returns a fetcher with some lines of [`QUICK`] replaced or added, each as `key = value`.
fn fetcher_with(lines: &[&str]) -> Fetcher {
    Fetcher::new(settings(&quick_with(lines)))
}

fn quick_with(lines: &[&str]) -> String {
    let mut text = QUICK.to_owned();
    for line in lines {
        let (key, _) = line.split_once(" = ").unwrap();
        let old =
            text.lines().find(|it| it.trim().starts_with(&format!("{key} ="))).map(str::to_owned);
        text = match old {
            Some(old) => text.replace(&old, line),
            None if TOP.contains(&key) => format!("{line}\n{text}"),
            None => format!("{text}{line}\n"),
        };
    }
    text
}

fn fetcher() -> Fetcher {
    fetcher_with(&[])
}

async fn fetch(fetcher: &Fetcher, url: &str) -> FetchResponse {
    fetcher.fetch(&FetchRequest::new(url).unwrap()).await
}

#[track_caller]
fn content(result: FetchResponse) -> FetchedContent {
    match result.outcome {
        FetchOutcome::Content(content) => content,
        other => panic!("{other:?}, {:?}", result.trace),
    }
}

#[track_caller]
fn text(result: FetchResponse) -> String {
    content(result).text().text.into_owned()
}

#[track_caller]
fn failed(result: FetchResponse) -> FetchError {
    match result.outcome {
        FetchOutcome::Failed(error) => error,
        other => panic!("{other:?}, {:?}", result.trace),
    }
}
