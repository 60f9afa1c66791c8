//! What came of a fetch, for people.

use std::fmt::Write;
use std::time::Duration;

use freshet_fetch::{
    Absence, Answer, Because, Blame, CharsetSource, Hop, Outcome, Permission, Refusal, Rule, Trace,
};

use crate::clock::now;
use crate::number::{count, days, plural, significant};
use crate::terminal::line;

/// Rows of a label and a text.
#[derive(Default)]
struct Rows(Vec<(&'static str, String)>);

impl Rows {
    fn add(&mut self, label: &'static str, text: impl Into<String>) {
        self.0.push((label, text.into()));
    }

    fn text(&self) -> String {
        let width = self.0.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
        let mut out = String::new();
        for (label, text) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{label:width$}   {}", line(text));
        }
        out
    }
}

/// The outcome in a line.
pub(super) fn outcome(answer: &Answer) -> String {
    line(&what(answer))
}

pub(crate) fn text(answer: &Answer) -> String {
    let Answer { outcome, trace } = answer;
    let mut rows = Rows::default();
    rows.add("outcome", what(answer));
    for (number, hop) in trace.hops.iter().enumerate() {
        rows.add(if number == 0 { "url" } else { "  then" }, way(hop));
    }
    if let Some(moved) = trace.moved() {
        rows.add("moved", format!("for good, to {moved}"));
    }
    if let Outcome::Content(content) = outcome {
        let charset = content.charset();
        let lossy = if content.text().lossy { ", with bytes that are no text in it" } else { "" };
        let kind = content.media_type.as_deref().unwrap_or("no type given");
        let known = match charset.known {
            CharsetSource::Mark => "says its byte-order mark",
            CharsetSource::Header => "says its header",
            CharsetSource::Page => "says the page",
            CharsetSource::Guess => "a guess",
        };
        rows.add("type", format!("{kind}; {}, {known}{lossy}", charset.name()));
        let coded: Vec<&str> = trace.codings.iter().map(|it| it.name()).collect();
        let wire = match coded.is_empty() {
            true => String::new(),
            false => {
                format!(" ({} on the wire, {})", count(trace.sizes.wire as usize), coded.join(", "))
            }
        };
        rows.add("size", format!("{} bytes{wire}", count(trace.sizes.body as usize)));
    }
    if let Some(validators) = &trace.validators {
        if let Some(etag) = &validators.etag {
            rows.add("etag", etag);
        }
        if let Some(modified) = &validators.last_modified {
            rows.add("modified", modified);
        }
        if validators.is_empty() {
            rows.add("validators", "none: each fetch brings the whole content");
        }
    }
    if let Some(age) = trace.cache.max_age {
        rows.add("fresh", format!("for {}, says the host", time(age)));
    }
    if let Some(wait) = trace.retry_after {
        rows.add("leave alone", format!("for {}, asks the host", time(wait.length(now()))));
    }
    if let Some(permission) = &trace.robots {
        rows.add("robots.txt", because(permission));
        if let Some(delay) = permission.file.crawl_delay {
            rows.add("crawl delay", time(delay));
        }
    }
    rows.add("time", spent(trace));
    rows.text()
}

/// Why a URL may or may not be fetched.
pub(super) fn robots(
    url: &impl std::fmt::Display,
    agent: &str,
    permission: &Result<Permission, Refusal>,
) -> String {
    let mut rows = Rows::default();
    rows.add("url", url.to_string());
    rows.add("we are", agent);
    match permission {
        Err(refusal) => rows.add("refused", refusal.to_string()),
        Ok(permission) => {
            let file = &permission.file;
            rows.add("verdict", if permission.allowed { "allowed" } else { "disallowed" });
            rows.add("because", because(permission));
            if let Because::Rules(verdict) = &permission.because {
                rows.add(
                    "group",
                    match &verdict.agent {
                        Some(agent) => {
                            format!("`user-agent: {}` from line {} on", agent.token, agent.line)
                        }
                        None => "none is for us, and none for all".to_owned(),
                    },
                );
            }
            let status = file.status.map(|it| format!(", status {it}")).unwrap_or_default();
            let cut = if file.cut { ", longer than the 500 KiB that are read" } else { "" };
            rows.add("file", format!("{}{status}{cut}", file.url));
            if !matches!(permission.because, Because::Unreachable(_)) {
                rows.add("age of our copy", time(permission.age));
            }
            if let Some(delay) = file.crawl_delay {
                rows.add("crawl delay", time(delay));
            }
            for sitemap in &file.sitemaps {
                rows.add("sitemap", sitemap);
            }
        }
    }
    rows.text()
}

/// A rule as it is written.
pub(super) fn rule(rule: &Rule) -> String {
    format!("{}: {}", if rule.allow { "allow" } else { "disallow" }, rule.text)
}

/// Whether it failed before the page was asked for.
pub(super) fn is_of_robots(answer: &Answer) -> bool {
    let robots = answer.trace.robots.as_ref();
    robots.is_some_and(|it| matches!(it.because, Because::Unreachable(_)))
}

fn what(answer: &Answer) -> String {
    let status = answer.trace.status().map(|it| format!(" ({it})")).unwrap_or_default();
    match &answer.outcome {
        Outcome::Content(_) => format!("content{status}"),
        Outcome::NotModified => format!("not modified{status}"),
        Outcome::Gone => format!("gone{status}"),
        Outcome::Disallowed(permission) => match &permission.because {
            Because::Unreachable(error) => {
                format!("disallowed while robots.txt cannot be had: {error}; fault of the host")
            }
            _ => "disallowed by robots.txt".to_owned(),
        },
        Outcome::Refused(refusal) => format!("refused by the guard: {refusal}"),
        Outcome::Failed(error) => {
            let before = if is_of_robots(answer) { "robots.txt cannot be reached: " } else { "" };
            let fault = match answer.blame() {
                Some(Blame::Us) => "this side",
                Some(Blame::Host) => "the host",
                Some(Blame::Source) | None => "the source",
            };
            format!("failed: {before}{error}; fault of {fault}")
        }
    }
}

fn way(hop: &Hop) -> String {
    let mut text = hop.url.to_string();
    if let (Some(address), Some(version)) = (hop.address, hop.version) {
        let _ = write!(text, " at {address}, {version}");
    }
    if let Some(status) = hop.status {
        let _ = write!(text, ", {status}");
    }
    text
}

fn because(permission: &Permission) -> String {
    let allows = if permission.allowed { "allowed" } else { "disallowed" };
    match &permission.because {
        Because::Rules(verdict) => match &verdict.rule {
            Some(it) => format!("{allows} by line {}, `{}`", it.line, rule(it)),
            None => "allowed: no rule is about it".to_owned(),
        },
        Because::NoFile(Absence::Status { status }) => {
            format!("allowed: there is no such file (status {status})")
        }
        Because::NoFile(absence) => format!("allowed: it is taken for absent: {absence}"),
        Because::Unreachable(error) => format!("disallowed, for it cannot be reached: {error}"),
    }
}

fn spent(trace: &Trace) -> String {
    let mut parts = Vec::new();
    if let Some(hop) = trace.hops.last() {
        let timings = &hop.timings;
        for (name, time) in [
            ("resolve", timings.resolve),
            ("connect", timings.connect),
            ("secure", timings.tls),
            ("first byte", timings.first_byte),
            ("body", timings.body),
        ] {
            if !time.is_zero() {
                parts.push(format!("{name} {}", short(time)));
            }
        }
    }
    let requests = plural(trace.requests as usize, "request", "requests");
    let detail = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{} for {requests}{detail}", short(trace.total))
}

fn short(time: Duration) -> String {
    format!("{} ms", significant(time.as_secs_f64() * 1e3))
}

fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        return short(time);
    }
    days(time.as_secs_f64() / 86_400.0)
}
