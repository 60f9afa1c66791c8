//! What came of a fetch, for programs.

use std::time::Duration;

use freshet_fetch::{Answer, Because, Blame, Hop, Outcome, Permission, Refusal, Validators};
use serde::Serialize;

use super::summary::is_of_robots;
use crate::clock::now;

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    url: &'a str,
    outcome: &'static str,
    status: Option<u16>,
    final_url: Option<&'a str>,
    /// Where the source has moved to for good.
    moved_to: Option<&'a str>,
    requests: u32,
    total_seconds: f64,
    wire_bytes: u64,
    body_bytes: u64,
    codings: Vec<&'static str>,
    media_type: Option<&'a str>,
    charset: Option<Charset>,
    etag: Option<&'a str>,
    last_modified: Option<&'a str>,
    max_age_seconds: Option<u64>,
    no_store: bool,
    retry_after_seconds: Option<u64>,
    /// Whose fault it is: `host`, `source` or `us`.
    blame: Option<&'static str>,
    error: Option<Fault>,
    refused: Option<Refused>,
    robots: Option<Robots<'a>>,
    hops: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Charset {
    name: &'static str,
    known_by: &'static str,
    lossy: bool,
}

#[derive(Serialize)]
struct Fault {
    name: &'static str,
    message: String,
    /// What it was that could not be had: `page` or `robots.txt`.
    of: &'static str,
}

#[derive(Serialize)]
struct Refused {
    name: &'static str,
    message: String,
    address: Option<String>,
    zone: Option<&'static str>,
}

#[derive(Serialize)]
struct Step<'a> {
    url: &'a str,
    status: Option<u16>,
    address: Option<String>,
    version: Option<&'static str>,
    reused: bool,
    resolve_seconds: f64,
    connect_seconds: f64,
    tls_seconds: f64,
    first_byte_seconds: f64,
    body_seconds: f64,
}

/// What robots.txt says.
#[derive(Serialize)]
pub(crate) struct RobotsReport<'a> {
    allowed: bool,
    refused: Option<Refused>,
    #[serde(flatten)]
    robots: Option<Robots<'a>>,
}

#[derive(Serialize)]
struct Robots<'a> {
    #[serde(rename = "robots_url")]
    url: &'a str,
    #[serde(rename = "robots_allows")]
    allowed: bool,
    because: &'static str,
    agent: Option<&'a str>,
    agent_line: Option<usize>,
    rule: Option<String>,
    rule_line: Option<usize>,
    error: Option<String>,
    status: Option<u16>,
    age_seconds: f64,
    crawl_delay_seconds: Option<f64>,
    sitemaps: &'a [String],
    cut: bool,
}

impl<'a> Report<'a> {
    pub(crate) fn of(url: &'a str, answer: &'a Answer) -> Self {
        let Answer { outcome, trace } = answer;
        let content = match outcome {
            Outcome::Content(content) => Some(content),
            _ => None,
        };
        let validators = trace.validators.as_ref();
        Self {
            url,
            outcome: outcome.name(),
            status: trace.status(),
            final_url: trace.final_url().map(|it| it.as_str()),
            moved_to: trace.moved().map(|it| it.as_str()),
            requests: trace.requests,
            total_seconds: trace.total.as_secs_f64(),
            wire_bytes: trace.sizes.wire,
            body_bytes: trace.sizes.body,
            codings: trace.codings.iter().map(|it| it.name()).collect(),
            media_type: content.and_then(|it| it.media_type.as_deref()),
            charset: content.map(|content| {
                let charset = content.charset();
                let lossy = content.text().lossy;
                Charset { name: charset.name(), known_by: charset.known.name(), lossy }
            }),
            etag: validators.and_then(|Validators { etag, .. }| etag.as_deref()),
            last_modified: validators.and_then(|it| it.last_modified.as_deref()),
            max_age_seconds: trace.cache.max_age.map(|it| it.as_secs()),
            no_store: trace.cache.no_store,
            retry_after_seconds: trace.retry_after.map(|it| it.length(now()).as_secs()),
            blame: answer.blame().map(Blame::name),
            error: match outcome {
                Outcome::Failed(error) => Some(Fault {
                    name: error.name(),
                    message: error.to_string(),
                    of: if is_of_robots(answer) { "robots.txt" } else { "page" },
                }),
                _ => None,
            },
            refused: match outcome {
                Outcome::Refused(refusal) => Some(Refused::of(refusal)),
                _ => None,
            },
            robots: trace.robots.as_ref().map(Robots::of),
            hops: trace.hops.iter().map(Step::of).collect(),
        }
    }
}

impl<'a> RobotsReport<'a> {
    pub(crate) fn of(permission: &'a Result<Permission, Refusal>) -> Self {
        Self {
            allowed: permission.as_ref().is_ok_and(|it| it.allowed),
            refused: permission.as_ref().err().map(Refused::of),
            robots: permission.as_ref().ok().map(Robots::of),
        }
    }
}

impl Refused {
    fn of(refusal: &Refusal) -> Self {
        let (address, zone) = match refusal {
            Refusal::Address { address, zone, .. } => (Some(*address), Some(zone.name())),
            Refusal::Public { address, .. } => (Some(*address), None),
            _ => (None, None),
        };
        let address = address.map(|it| it.to_string());
        Self { name: refusal.name(), message: refusal.to_string(), address, zone }
    }
}

impl<'a> Robots<'a> {
    fn of(permission: &'a Permission) -> Self {
        let verdict = match &permission.because {
            Because::Rules(verdict) => Some(verdict),
            _ => None,
        };
        let (agent, rule) = match verdict {
            Some(verdict) => (verdict.agent.as_ref(), verdict.rule.as_ref()),
            None => (None, None),
        };
        let file = &*permission.file;
        Self {
            url: file.url.as_str(),
            allowed: permission.allowed,
            because: match permission.because {
                Because::Rules(_) => "rules",
                Because::NoFile(_) => "no-file",
                Because::Unreachable(_) => "unreachable",
            },
            agent: agent.map(|it| it.token.as_str()),
            agent_line: agent.map(|it| it.line),
            rule: rule.map(super::summary::rule),
            rule_line: rule.map(|it| it.line),
            error: match &permission.because {
                Because::Unreachable(error) => Some(error.to_string()),
                Because::NoFile(absence) => Some(absence.to_string()),
                Because::Rules(_) => None,
            },
            status: file.status,
            age_seconds: permission.age.as_secs_f64(),
            crawl_delay_seconds: file.crawl_delay.map(|it| it.as_secs_f64()),
            sitemaps: &file.sitemaps,
            cut: file.cut,
        }
    }
}

impl<'a> Step<'a> {
    fn of(hop: &'a Hop) -> Self {
        let seconds = |time: Duration| time.as_secs_f64();
        Self {
            url: hop.url.as_str(),
            status: hop.status,
            address: hop.address.map(|it| it.to_string()),
            version: hop.version,
            reused: hop.reused,
            resolve_seconds: seconds(hop.timings.resolve),
            connect_seconds: seconds(hop.timings.connect),
            tls_seconds: seconds(hop.timings.tls),
            first_byte_seconds: seconds(hop.timings.first_byte),
            body_seconds: seconds(hop.timings.body),
        }
    }
}
