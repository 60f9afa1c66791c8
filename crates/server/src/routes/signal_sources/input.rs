//! What is said of a signal source.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::routes::{check_tags, check_url};

const DAY: f64 = 86_400.0;
/// Patterns of a rule, and bytes of one, at most.
const PATTERNS: usize = 1000;
const LONGEST: usize = 8192;

/// A sitemap or feed that is to be read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalSourceInput {
    /// Where it is.
    #[schema(example = "https://example.com/sitemap.xml")]
    pub(crate) url: String,
    /// What it is listed as: a sitemap unless said. What is there is read whatever it is.
    #[serde(default)]
    #[schema(inline)]
    pub(crate) kind: ReadKind,
    /// Whether pages that it names and nobody knows become sources.
    #[serde(default)]
    pub(crate) discover: bool,
    /// Only those that match one of these patterns: `[SCHEME://]HOST[:PORT][/PATH]` with `*`.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(crate) include: Vec<String>,
    /// None of those that match one of these.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(crate) exclude: Vec<String>,
    /// How many are added at most, in all: 1000 unless said.
    pub(crate) most: Option<u64>,
    /// Names that they get.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub(crate) tags: Vec<String>,
    /// How much they matter: 1 unless said.
    #[schema(minimum = 0.0, maximum = 1e12)]
    pub(crate) importance: Option<f64>,
    /// Whether those of other hosts are added too.
    #[serde(default)]
    pub(crate) other_hosts: bool,
    /// Whether it is left alone for the time being.
    pub(crate) paused: Option<bool>,
    /// Seconds that must lie between two reads: 300 unless said.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) min_interval: Option<f64>,
    /// Seconds after which it is read whatever that is worth: 604800 unless said; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) max_interval: Option<f64>,
}

/// What is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadKind {
    /// A list of the pages of a site.
    #[default]
    Sitemap,
    /// A list of what is new.
    Feed,
}

/// What is said of a signal source. What is left out stays as it is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = SignalSourcePatch)]
pub(crate) struct WireSignalSourcePatch {
    /// Whether pages that it names and nobody knows become sources.
    discover: Option<bool>,
    /// Only those that match one of these patterns. They replace those before.
    #[schema(max_items = 1000)]
    include: Option<Vec<String>>,
    /// None of those that match one of these. They replace those before.
    #[schema(max_items = 1000)]
    exclude: Option<Vec<String>>,
    /// How many are added at most, in all.
    most: Option<u64>,
    /// Names that they get. They replace those before.
    #[schema(max_items = 100)]
    tags: Option<Vec<String>>,
    /// How much they matter.
    #[schema(minimum = 0.0, maximum = 1e12)]
    importance: Option<f64>,
    /// Whether those of other hosts are added too.
    other_hosts: Option<bool>,
    /// Whether it is left alone for the time being.
    paused: Option<bool>,
    /// Seconds that must lie between two reads.
    #[schema(minimum = 0.0, maximum = 1e10)]
    min_interval: Option<f64>,
    /// Seconds after which it is read whatever that is worth; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    max_interval: Option<f64>,
}

impl SignalSourceInput {
    /// As the daemon takes it.
    pub(crate) fn wanted(self) -> Result<NewSignalSourceRequest, Problem> {
        check_url(&self.url)?;
        let rule = DiscoveryRule {
            discover: self.discover,
            include: self.include,
            exclude: self.exclude,
            most: self.most.unwrap_or(DiscoveryRule::MOST),
            tags: self.tags,
            importance: self.importance,
            other_hosts: self.other_hosts,
            speaks_for: None,
        };
        check(&rule)?;
        let given = given(self.paused, self.min_interval, self.max_interval)?;
        Ok(NewSignalSourceRequest { url: self.url, feed: self.kind == ReadKind::Feed, rule, given })
    }
}

impl WireSignalSourcePatch {
    /// As the daemon takes it, of one with this rule.
    pub(super) fn given(self, before: DiscoveryRule) -> Result<SignalSourcePatch, Problem> {
        let rule = DiscoveryRule {
            discover: self.discover.unwrap_or(before.discover),
            include: self.include.unwrap_or_else(|| before.include.clone()),
            exclude: self.exclude.unwrap_or_else(|| before.exclude.clone()),
            most: self.most.unwrap_or(before.most),
            tags: self.tags.unwrap_or_else(|| before.tags.clone()),
            importance: self.importance.or(before.importance),
            other_hosts: self.other_hosts.unwrap_or(before.other_hosts),
            speaks_for: before.speaks_for.clone(),
        };
        check(&rule)?;
        let rule = Some(rule).filter(|rule| *rule != before);
        Ok(SignalSourcePatch { rule, ..given(self.paused, self.min_interval, self.max_interval)? })
    }
}

/// Refuses what is too much to be kept. What cannot be meant is refused by the daemon.
fn check(rule: &DiscoveryRule) -> Result<(), Problem> {
    check_tags(&rule.tags)?;
    for (field, patterns) in [("include", &rule.include), ("exclude", &rule.exclude)] {
        if patterns.len() > PATTERNS {
            let detail = format!("{} patterns, not {PATTERNS} or less", patterns.len());
            return Err(Problem::field(field, detail));
        }
        if let Some(at) = patterns.iter().position(|it| it.len() > LONGEST) {
            let detail = format!("not a pattern of {LONGEST} bytes or less");
            return Err(Problem::field(format!("{field}[{at}]"), detail));
        }
    }
    Ok(())
}

fn given(
    paused: Option<bool>,
    least: Option<f64>,
    most: Option<f64>,
) -> Result<SignalSourcePatch, Problem> {
    for (field, said) in [("min_interval", least), ("max_interval", most)] {
        if let Some(said) = said.filter(|it| !(0.0..=1e10).contains(it)) {
            return Err(Problem::field(field, format!("{said} is not from 0 to 10000000000")));
        }
    }
    let days = |seconds: f64| seconds / DAY;
    let (min_interval, max_interval) = (least.map(days), most.map(days));
    Ok(SignalSourcePatch { rule: None, paused, min_interval, max_interval })
}
