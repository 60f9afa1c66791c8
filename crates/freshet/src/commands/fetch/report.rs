//! JSON reports of `freshet fetch`.

use std::time::Duration;

use freshet_fetch::{
    FetchBlame, FetchHop, FetchOutcome, FetchResponse, GuardRefusal, RobotsPermission,
    RobotsReason, Validators,
};
use serde::Serialize;

use super::summary::is_of_robots;
use crate::clock::now;

#[derive(Serialize)]
pub(crate) struct FetchReport<'a> {
    url: &'a str,
    outcome: &'static str,
    status: Option<u16>,
    final_url: Option<&'a str>,
    /// Target of permanent redirects.
    moved_to: Option<&'a str>,
    requests: u32,
    total_seconds: f64,
    wire_bytes: u64,
    body_bytes: u64,
    codings: Vec<&'static str>,
    media_type: Option<&'a str>,
    charset: Option<CharsetReport>,
    etag: Option<&'a str>,
    last_modified: Option<&'a str>,
    max_age_seconds: Option<u64>,
    no_store: bool,
    retry_after_seconds: Option<u64>,
    /// Party that caused the failure: `host`, `source` or `us`.
    blame: Option<&'static str>,
    error: Option<ErrorReport>,
    refused: Option<RefusedReport>,
    robots: Option<RobotsFields<'a>>,
    hops: Vec<HopReport<'a>>,
}

#[derive(Serialize)]
struct CharsetReport {
    name: &'static str,
    known_by: &'static str,
    lossy: bool,
}

#[derive(Serialize)]
struct ErrorReport {
    name: &'static str,
    message: String,
    /// Document that could not be fetched: `page` or `robots.txt`.
    of: &'static str,
}

#[derive(Serialize)]
struct RefusedReport {
    name: &'static str,
    message: String,
    address: Option<String>,
    zone: Option<&'static str>,
}

#[derive(Serialize)]
struct HopReport<'a> {
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

/// Decision of robots.txt.
#[derive(Serialize)]
pub(crate) struct RobotsReport<'a> {
    allowed: bool,
    refused: Option<RefusedReport>,
    #[serde(flatten)]
    robots: Option<RobotsFields<'a>>,
}

#[derive(Serialize)]
struct RobotsFields<'a> {
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

impl<'a> FetchReport<'a> {
    pub(crate) fn new(url: &'a str, answer: &'a FetchResponse) -> Self {
        let FetchResponse { outcome, trace } = answer;
        let content = match outcome {
            FetchOutcome::Content(content) => Some(content),
            _ => None,
        };
        let validators = trace.validators.as_ref();
        Self {
            url,
            outcome: outcome.name(),
            status: trace.status(),
            final_url: trace.final_url().map(|it| it.as_str()),
            moved_to: trace.moved_permanently_to().map(|it| it.as_str()),
            requests: trace.requests,
            total_seconds: trace.duration.as_secs_f64(),
            wire_bytes: trace.body_sizes.encoded,
            body_bytes: trace.body_sizes.decoded,
            codings: trace.codings.iter().map(|it| it.name()).collect(),
            media_type: content.and_then(|it| it.media_type.as_deref()),
            charset: content.map(|content| {
                let charset = content.charset();
                let lossy = content.text().lossy;
                CharsetReport { name: charset.name(), known_by: charset.source.name(), lossy }
            }),
            etag: validators.and_then(|Validators { etag, .. }| etag.as_deref()),
            last_modified: validators.and_then(|it| it.last_modified.as_deref()),
            max_age_seconds: trace.cache_hint.max_age.map(|it| it.as_secs()),
            no_store: trace.cache_hint.no_store,
            retry_after_seconds: trace.retry_after.map(|it| it.delay_from(now()).as_secs()),
            blame: answer.blame().map(FetchBlame::name),
            error: match outcome {
                FetchOutcome::Failed(error) => Some(ErrorReport {
                    name: error.name(),
                    message: error.to_string(),
                    of: if is_of_robots(answer) { "robots.txt" } else { "page" },
                }),
                _ => None,
            },
            refused: match outcome {
                FetchOutcome::Refused(refusal) => Some(RefusedReport::new(refusal)),
                _ => None,
            },
            robots: trace.robots.as_ref().map(RobotsFields::new),
            hops: trace.hops.iter().map(HopReport::new).collect(),
        }
    }
}

impl<'a> RobotsReport<'a> {
    pub(crate) fn new(permission: &'a Result<RobotsPermission, GuardRefusal>) -> Self {
        Self {
            allowed: permission.as_ref().is_ok_and(|it| it.allowed),
            refused: permission.as_ref().err().map(RefusedReport::new),
            robots: permission.as_ref().ok().map(RobotsFields::new),
        }
    }
}

impl RefusedReport {
    fn new(refusal: &GuardRefusal) -> Self {
        let (address, zone) = match refusal {
            GuardRefusal::Address { address, kind, .. } => (Some(*address), Some(kind.name())),
            GuardRefusal::Public { address, .. } => (Some(*address), None),
            _ => (None, None),
        };
        let address = address.map(|it| it.to_string());
        Self { name: refusal.name(), message: refusal.to_string(), address, zone }
    }
}

impl<'a> RobotsFields<'a> {
    fn new(permission: &'a RobotsPermission) -> Self {
        let verdict = match &permission.reason {
            RobotsReason::Rules(verdict) => Some(verdict),
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
            because: match permission.reason {
                RobotsReason::Rules(_) => "rules",
                RobotsReason::NoFile(_) => "no-file",
                RobotsReason::Unreachable(_) => "unreachable",
            },
            agent: agent.map(|it| it.token.as_str()),
            agent_line: agent.map(|it| it.line),
            rule: rule.map(super::summary::format_rule),
            rule_line: rule.map(|it| it.line),
            error: match &permission.reason {
                RobotsReason::Unreachable(error) => Some(error.to_string()),
                RobotsReason::NoFile(absence) => Some(absence.to_string()),
                RobotsReason::Rules(_) => None,
            },
            status: file.status,
            age_seconds: permission.age.as_secs_f64(),
            crawl_delay_seconds: file.crawl_delay.map(|it| it.as_secs_f64()),
            sitemaps: &file.sitemaps,
            cut: file.truncated,
        }
    }
}

impl<'a> HopReport<'a> {
    fn new(hop: &'a FetchHop) -> Self {
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
