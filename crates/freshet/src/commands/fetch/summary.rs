//! Text summary of `freshet fetch`.

use std::fmt::Write;
use std::time::Duration;

use freshet_fetch::{
    CharsetSource, FetchBlame, FetchHop, FetchOutcome, FetchResponse, FetchTrace, GuardRefusal,
    RobotsAbsence, RobotsPermission, RobotsReason, RobotsRule,
};

use crate::clock::now;
use crate::number::{format_count, format_days, format_significant, pluralize};
use crate::terminal::sanitize_line;

/// Rows with a label and a text each.
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
            let _ = writeln!(out, "{label:width$}   {}", sanitize_line(text));
        }
        out
    }
}

/// Describes the outcome in one line.
pub(super) fn outcome(answer: &FetchResponse) -> String {
    sanitize_line(&describe_outcome(answer))
}

pub(crate) fn text(answer: &FetchResponse) -> String {
    let FetchResponse { outcome, trace } = answer;
    let mut rows = Rows::default();
    rows.add("outcome", describe_outcome(answer));
    for (number, hop) in trace.hops.iter().enumerate() {
        rows.add(if number == 0 { "url" } else { "  redirect" }, describe_hop(hop));
    }
    if let Some(moved) = trace.moved_permanently_to() {
        rows.add("moved", format!("permanently, to {moved}"));
    }
    if let FetchOutcome::Content(content) = outcome {
        let charset = content.charset();
        let lossy = if content.text().lossy { ", with invalid bytes" } else { "" };
        let kind = content.media_type.as_deref().unwrap_or("no content type");
        let known = match charset.source {
            CharsetSource::ByteOrderMark => "from the byte-order mark",
            CharsetSource::Header => "from the header",
            CharsetSource::Page => "from the page",
            CharsetSource::Guess => "guessed",
        };
        rows.add("type", format!("{kind}; {}, {known}{lossy}", charset.name()));
        let coded: Vec<&str> = trace.codings.iter().map(|it| it.name()).collect();
        let wire = match coded.is_empty() {
            true => String::new(),
            false => {
                format!(
                    " ({} on the wire, {})",
                    format_count(trace.body_sizes.encoded as usize),
                    coded.join(", ")
                )
            }
        };
        rows.add(
            "size",
            format!("{} bytes{wire}", format_count(trace.body_sizes.decoded as usize)),
        );
    }
    if let Some(validators) = &trace.validators {
        if let Some(etag) = &validators.etag {
            rows.add("etag", etag);
        }
        if let Some(modified) = &validators.last_modified {
            rows.add("modified", modified);
        }
        if validators.is_empty() {
            rows.add("validators", "none: each fetch transfers the whole content");
        }
    }
    if let Some(age) = trace.cache_hint.max_age {
        rows.add("max-age", time(age));
    }
    if let Some(wait) = trace.retry_after {
        rows.add("retry after", time(wait.delay_from(now())));
    }
    if let Some(permission) = &trace.robots {
        rows.add("robots.txt", describe_permission(permission));
        if let Some(delay) = permission.file.crawl_delay {
            rows.add("crawl delay", time(delay));
        }
    }
    rows.add("time", describe_timing(trace));
    rows.text()
}

/// Describes why a URL may or may not be fetched.
pub(super) fn robots(
    url: &impl std::fmt::Display,
    agent: &str,
    permission: &Result<RobotsPermission, GuardRefusal>,
) -> String {
    let mut rows = Rows::default();
    rows.add("url", url.to_string());
    rows.add("user agent", agent);
    match permission {
        Err(refusal) => rows.add("refused", refusal.to_string()),
        Ok(permission) => {
            let file = &permission.file;
            rows.add("verdict", if permission.allowed { "allowed" } else { "disallowed" });
            rows.add("reason", describe_permission(permission));
            if let RobotsReason::Rules(verdict) = &permission.reason {
                rows.add(
                    "group",
                    match &verdict.agent {
                        Some(agent) => {
                            format!("`user-agent: {}`, from line {}", agent.token, agent.line)
                        }
                        None => "no group applies".to_owned(),
                    },
                );
            }
            let status = file.status.map(|it| format!(", status {it}")).unwrap_or_default();
            let cut = if file.truncated { ", truncated at 500 KiB" } else { "" };
            rows.add("file", format!("{}{status}{cut}", file.url));
            if !matches!(permission.reason, RobotsReason::Unreachable(_)) {
                rows.add("age of the copy", time(permission.age));
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

/// Formats a rule as in robots.txt.
pub(super) fn format_rule(rule: &RobotsRule) -> String {
    format!("{}: {}", if rule.allow { "allow" } else { "disallow" }, rule.text)
}

/// True if robots.txt could not be reached, so that the page was not requested.
pub(super) fn is_of_robots(answer: &FetchResponse) -> bool {
    let robots = answer.trace.robots.as_ref();
    robots.is_some_and(|it| matches!(it.reason, RobotsReason::Unreachable(_)))
}

fn describe_outcome(answer: &FetchResponse) -> String {
    let status = answer.trace.status().map(|it| format!(" ({it})")).unwrap_or_default();
    match &answer.outcome {
        FetchOutcome::Content(_) => format!("content{status}"),
        FetchOutcome::NotModified => format!("not modified{status}"),
        FetchOutcome::Gone => format!("gone{status}"),
        FetchOutcome::Disallowed(permission) => match &permission.reason {
            RobotsReason::Unreachable(error) => {
                format!(
                    "disallowed while robots.txt cannot be reached: {error}; caused by the host"
                )
            }
            _ => "disallowed by robots.txt".to_owned(),
        },
        FetchOutcome::Refused(refusal) => format!("refused by the guard: {refusal}"),
        FetchOutcome::Failed(error) => {
            let before = if is_of_robots(answer) { "robots.txt cannot be reached: " } else { "" };
            let cause = match answer.blame() {
                Some(FetchBlame::Us) => "this machine",
                Some(FetchBlame::Host) => "the host",
                Some(FetchBlame::Source) | None => "the source",
            };
            format!("failed: {before}{error}; caused by {cause}")
        }
    }
}

fn describe_hop(hop: &FetchHop) -> String {
    let mut text = hop.url.to_string();
    if let (Some(address), Some(version)) = (hop.address, hop.version) {
        let _ = write!(text, " at {address}, {version}");
    }
    if let Some(status) = hop.status {
        let _ = write!(text, ", {status}");
    }
    text
}

fn describe_permission(permission: &RobotsPermission) -> String {
    let allows = if permission.allowed { "allowed" } else { "disallowed" };
    match &permission.reason {
        RobotsReason::Rules(verdict) => match &verdict.rule {
            Some(it) => format!("{allows} by line {}, `{}`", it.line, format_rule(it)),
            None => "allowed: no rule matches".to_owned(),
        },
        RobotsReason::NoFile(RobotsAbsence::Status { status }) => {
            format!("allowed: there is no robots.txt (status {status})")
        }
        RobotsReason::NoFile(absence) => format!("allowed: treated as absent: {absence}"),
        RobotsReason::Unreachable(error) => {
            format!("disallowed: robots.txt cannot be reached: {error}")
        }
    }
}

fn describe_timing(trace: &FetchTrace) -> String {
    let mut parts = Vec::new();
    if let Some(hop) = trace.hops.last() {
        let timings = &hop.timings;
        for (name, time) in [
            ("resolve", timings.resolve),
            ("connect", timings.connect),
            ("TLS", timings.tls),
            ("first byte", timings.first_byte),
            ("body", timings.body),
        ] {
            if !time.is_zero() {
                parts.push(format!("{name} {}", format_millis(time)));
            }
        }
    }
    let requests = pluralize(trace.requests as usize, "request", "requests");
    let detail = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{} for {requests}{detail}", format_millis(trace.duration))
}

fn format_millis(time: Duration) -> String {
    format!("{} ms", format_significant(time.as_secs_f64() * 1e3))
}

fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        return format_millis(time);
    }
    format_days(time.as_secs_f64() / 86_400.0)
}
