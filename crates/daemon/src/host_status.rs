//! Status of hosts and their robots.txt.

use std::cmp::Ordering;

use freshet_engine::{Engine, HostState};
use freshet_fetch::RobotsFile;
use freshet_store::{Reader, RobotsRecord, StoreError};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::clock::{Millis, millis_from_days};

/// Candidates collected before the first partial sort.
const MIN_CANDIDATES: usize = 4096;

/// Status of a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Host id; the store has its name.
    #[serde(rename = "number")]
    pub id: u32,
    /// Fetches in flight.
    #[serde(rename = "asked")]
    pub in_flight: u32,
    /// Earliest time of the next fetch; `None` if there was none before.
    #[serde(rename = "free")]
    pub available_at: Option<Millis>,
    /// Consecutive failures.
    pub failures: u8,
    /// True if the host is considered unreachable.
    #[serde(rename = "down")]
    pub is_down: bool,
    /// Sources of the host at or near their price.
    pub candidates: u64,
    /// Price at a saturated host, which cannot serve every fetch worth the global price.
    pub price: Option<f64>,
    /// Host price as a multiple of the global price.
    pub saturation: Option<f64>,
    /// Milliseconds between two fetches, by the settings or the host's crawl delay.
    #[serde(rename = "gap")]
    pub gap_ms: Millis,
}

impl HostStatus {
    pub(crate) fn new(engine: &Engine, it: &HostState) -> Self {
        let saturation = it.price.map(|price| price / engine.price()).filter(|it| it.is_finite());
        Self {
            id: it.number,
            in_flight: it.in_flight,
            available_at: it.free_at.is_finite().then(|| millis_from_days(it.free_at)),
            failures: it.failures,
            is_down: it.down,
            candidates: it.candidates as u64,
            price: it.price,
            saturation,
            gap_ms: millis_from_days(it.gap),
        }
    }
}

/// Returns the status of hosts by id. Unknown hosts are omitted.
pub(crate) fn host_statuses(engine: &Engine, ids: &[u32]) -> Vec<HostStatus> {
    let known = ids.iter().filter_map(|&id| engine.host_state(id));
    known.map(|it| HostStatus::new(engine, &it)).collect()
}

/// Returns failing and saturated hosts, the worst first: unreachable, then failing, then by price.
pub(crate) fn worst_hosts(engine: &Engine, max: usize) -> Vec<HostStatus> {
    let max = max.max(1);
    let mut found: Vec<HostState> = Vec::new();
    for it in engine.failing_or_saturated_hosts() {
        found.push(it);
        // Bounds the sort if very many hosts fail.
        if found.len() >= MIN_CANDIDATES.max(4 * max) {
            found.select_nth_unstable_by(max, compare_severity);
            found.truncate(max);
        }
    }
    found.sort_by(compare_severity);
    found.truncate(max);
    found.iter().map(|it| HostStatus::new(engine, it)).collect()
}

fn compare_severity(one: &HostState, other: &HostState) -> Ordering {
    let rank = |it: &HostState| (it.down, it.failures);
    let price = |it: &HostState| it.price.unwrap_or(0.0);
    rank(other).cmp(&rank(one)).then(price(other).total_cmp(&price(one)))
}

/// A robots.txt file as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsSummary {
    /// URL of the file.
    pub url: String,
    /// Time it was read.
    pub read_at: Millis,
    /// HTTP status.
    pub status: Option<u16>,
    /// True if the file exists. Without one everything is allowed.
    pub is_present: bool,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
    /// True if only part of the file was read.
    pub is_truncated: bool,
    /// Crawl delay for our user agent, in milliseconds.
    pub crawl_delay: Option<Millis>,
    /// Lines that apply to us, in order, with their line numbers where known.
    pub lines: Vec<(Option<usize>, String)>,
    /// Sitemaps named in the file.
    pub sitemaps: Vec<String>,
}

/// Returns the stored robots.txt files of a host by name, at most one per scheme.
///
/// # Errors
/// Returns [`StoreError`] if the store cannot be read.
pub fn read_robots(reader: &Reader, host: &str) -> Result<Vec<RobotsSummary>, StoreError> {
    let mut read = Vec::new();
    for scheme in ["https", "http"] {
        let Ok(url) = Url::parse(&format!("{scheme}://{host}/robots.txt")) else { continue };
        let record = reader.robots(url.as_str())?;
        read.extend(record.and_then(|record| summarize_robots(url, &record)));
    }
    Ok(read)
}

fn summarize_robots(url: Url, record: &RobotsRecord) -> Option<RobotsSummary> {
    let file = RobotsFile::from_bytes(url, &record.record, std::time::Duration::ZERO)?;
    let rules = file.rules();
    let mut lines: Vec<(Option<usize>, String)> = Vec::new();
    if let Some(rules) = rules {
        let agent = rules.agent().map(|it| (Some(it.line), format!("User-agent: {}", it.token)));
        lines.extend(agent);
        let mut each: Vec<_> = rules.iter().collect();
        each.sort_by_key(|rule| rule.line);
        lines.extend(each.into_iter().map(|rule| {
            let key = if rule.allow { "Allow" } else { "Disallow" };
            (Some(rule.line), format!("{key}: {}", rule.text))
        }));
    }
    let delay = file.crawl_delay;
    lines.extend(delay.map(|it| (None, format!("Crawl-delay: {}", it.as_secs_f64()))));
    Some(RobotsSummary {
        url: record.url.clone(),
        read_at: record.at,
        status: file.status,
        is_present: rules.is_some(),
        bytes: file.bytes_read,
        is_truncated: file.truncated,
        crawl_delay: delay.map(|it| Millis::try_from(it.as_millis()).unwrap_or(Millis::MAX)),
        lines,
        sitemaps: file.sitemaps,
    })
}
