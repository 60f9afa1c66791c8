//! Fetches from servers on loopback, honest and hostile, each with the outcome it must have.

#![allow(clippy::unwrap_used)]

mod answers;
mod aside;
mod certificates;
mod encodings;
mod frames;
mod fuzz;
mod gate;
mod guard;
mod hostile;
mod local;
#[path = "../corpus/mutant.rs"]
mod mutant;
mod names;
mod post;
mod proxies;
mod redirects;
mod robots;
mod rules;
mod second;
mod secrets;
mod server;
mod tls;
mod unreachable;
mod wire;

use freshet_fetch::{
    Answer, Content, FetchError, Fetcher, Outcome, RawSettings, Request, Settings,
};

/// Settings with limits that a test can wait for, and loopback opened.
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

fn settings(text: &str) -> Settings {
    let raw: RawSettings = toml::from_str(text).unwrap();
    raw.try_into().unwrap()
}

/// What is not a limit.
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

/// A fetcher with some lines of [`QUICK`] replaced or added: `key = value` each.
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

async fn fetch(fetcher: &Fetcher, url: &str) -> Answer {
    fetcher.fetch(&Request::new(url).unwrap()).await
}

#[track_caller]
fn content(answer: Answer) -> Content {
    match answer.outcome {
        Outcome::Content(content) => content,
        other => panic!("{other:?}, {:?}", answer.trace),
    }
}

#[track_caller]
fn text(answer: Answer) -> String {
    content(answer).text().text.into_owned()
}

#[track_caller]
fn failed(answer: Answer) -> FetchError {
    match answer.outcome {
        Outcome::Failed(error) => error,
        other => panic!("{other:?}, {:?}", answer.trace),
    }
}
