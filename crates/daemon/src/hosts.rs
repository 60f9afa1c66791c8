//! What hosts are doing, and what their robots.txt said.

use std::cmp::Ordering;

use freshet_engine::{Engine, HostState};
use freshet_fetch::RobotsFile;
use freshet_store::{Reader, RobotsRecord, StoreError};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::clock::{Millis, millis};

/// Hosts that are held at once at least while the worst are looked for.
const MANY: usize = 4096;

/// What a host is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostNow {
    /// Its number; its name is in the store.
    pub number: u32,
    /// Fetches under way.
    pub asked: u32,
    /// From when on it may be asked again, if it was asked before.
    pub free: Option<Millis>,
    /// Failures in a row.
    pub failures: u8,
    /// Whether it is taken to be out of reach.
    pub down: bool,
    /// Sources of it that are worth their price, or nearly.
    pub candidates: u64,
    /// What a fetch there must be worth, if it cannot take all that is worth the price.
    pub price: Option<f64>,
    /// How many times the common price that is.
    pub saturation: Option<f64>,
    /// Milliseconds between two fetches, by the settings or by what it asks for.
    pub gap: Millis,
}

impl HostNow {
    pub(crate) fn of(engine: &Engine, it: &HostState) -> Self {
        let saturation = it.price.map(|price| price / engine.price()).filter(|it| it.is_finite());
        Self {
            number: it.number,
            asked: it.asked,
            free: it.free.is_finite().then(|| millis(it.free)),
            failures: it.failures,
            down: it.down,
            candidates: it.candidates as u64,
            price: it.price,
            saturation,
            gap: millis(it.gap),
        }
    }
}

/// Hosts by their numbers. Those of which nothing is known are left out.
pub(crate) fn some(engine: &Engine, ids: &[u32]) -> Vec<HostNow> {
    let known = ids.iter().filter_map(|&id| engine.host_state(id));
    known.map(|it| HostNow::of(engine, &it)).collect()
}

/// Those that fail or cannot take all that is worth the price, the worst first: those that are out of
/// reach, those that failed, those that are dearest.
pub(crate) fn worst(engine: &Engine, most: usize) -> Vec<HostNow> {
    let most = most.max(1);
    let mut found: Vec<HostState> = Vec::new();
    for it in engine.troubled_hosts() {
        found.push(it);
        // When all of very many fail, they are not all sorted.
        if found.len() >= MANY.max(4 * most) {
            found.select_nth_unstable_by(most, worse);
            found.truncate(most);
        }
    }
    found.sort_by(worse);
    found.truncate(most);
    found.iter().map(|it| HostNow::of(engine, it)).collect()
}

fn worse(one: &HostState, other: &HostState) -> Ordering {
    let rank = |it: &HostState| (it.down, it.failures);
    let price = |it: &HostState| it.price.unwrap_or(0.0);
    rank(other).cmp(&rank(one)).then(price(other).total_cmp(&price(one)))
}

/// A robots.txt as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotsRead {
    /// Where it is.
    pub url: String,
    /// When it was read.
    pub at: Millis,
    /// The status of the answer.
    pub status: Option<u16>,
    /// Whether there is a file. Without one all is allowed.
    pub found: bool,
    /// Its size in bytes, if that was kept.
    pub bytes: Option<u64>,
    /// Whether it is longer than what is read of it.
    pub cut: bool,
    /// Milliseconds between two fetches that it asks of us.
    pub crawl_delay: Option<Millis>,
    /// What in it is for us, line by line and in its order; each line with its number in the file, if
    /// that is known.
    pub lines: Vec<(Option<usize>, String)>,
    /// The sitemaps that it names.
    pub sitemaps: Vec<String>,
}

/// What is kept of the robots.txt files of a host, by its name: one for each scheme at most.
///
/// # Errors
/// If the store cannot be read.
pub fn robots(reader: &Reader, host: &str) -> Result<Vec<RobotsRead>, StoreError> {
    let mut read = Vec::new();
    for scheme in ["https", "http"] {
        let Ok(url) = Url::parse(&format!("{scheme}://{host}/robots.txt")) else { continue };
        let kept = reader.robots(url.as_str())?;
        read.extend(kept.and_then(|kept| as_read(url, &kept)));
    }
    Ok(read)
}

fn as_read(url: Url, kept: &RobotsRecord) -> Option<RobotsRead> {
    let file = RobotsFile::from_bytes(url, &kept.record, std::time::Duration::ZERO)?;
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
    Some(RobotsRead {
        url: kept.url.clone(),
        at: kept.at,
        status: file.status,
        found: rules.is_some(),
        bytes: file.bytes,
        cut: file.cut,
        crawl_delay: delay.map(|it| Millis::try_from(it.as_millis()).unwrap_or(Millis::MAX)),
        lines,
        sitemaps: file.sitemaps,
    })
}
