//! Signal sources in requests.

use freshet_daemon::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::problem::Problem;
use crate::routes::{check_tags, check_url};

const DAY: f64 = 86_400.0;
/// Maximum number of patterns of a rule, and maximum length of one in bytes.
const MAX_PATTERNS: usize = 1000;
const MAX_PATTERN_LEN: usize = 8192;

/// A sitemap or feed to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalSourceInput {
    /// URL of the sitemap or feed.
    #[schema(example = "https://example.com/sitemap.xml")]
    pub(crate) url: String,
    /// Kind that it is listed as; default: sitemap. The format of the document itself is detected.
    #[serde(default)]
    #[schema(inline)]
    pub(crate) kind: ReadKind,
    /// True to add listed pages as sources.
    #[serde(default)]
    pub(crate) discover: bool,
    /// Patterns: `[SCHEME://]HOST[:PORT][/PATH]` with `*`. If there are any, only pages that match
    /// one are added.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(crate) include: Vec<String>,
    /// Patterns; pages that match one are not added.
    #[serde(default)]
    #[schema(max_items = 1000)]
    pub(crate) exclude: Vec<String>,
    /// Maximum number of pages added in all; default 1000.
    pub(crate) most: Option<u64>,
    /// Tags of the added sources.
    #[serde(default)]
    #[schema(max_items = 100)]
    pub(crate) tags: Vec<String>,
    /// Importance of the added sources; default 1.
    #[schema(minimum = 0.0, maximum = 1e12)]
    pub(crate) importance: Option<f64>,
    /// True to add pages of other hosts too.
    #[serde(default)]
    pub(crate) other_hosts: bool,
    /// True if it is not read for now.
    pub(crate) paused: Option<bool>,
    /// Minimum seconds between two reads; default 300.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) min_interval: Option<f64>,
    /// Maximum seconds between two reads; default 604800, 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    pub(crate) max_interval: Option<f64>,
}

/// Kind of a polled signal source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadKind {
    /// A list of the pages of a site.
    #[default]
    Sitemap,
    /// A list of recent entries.
    Feed,
}

/// Changes to a signal source. Omitted fields stay unchanged.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = SignalSourcePatch)]
pub(crate) struct SignalSourcePatchInput {
    /// True to add listed pages as sources.
    discover: Option<bool>,
    /// Patterns; if there are any, only pages that match one are added. They replace the present
    /// ones.
    #[schema(max_items = 1000)]
    include: Option<Vec<String>>,
    /// Patterns; pages that match one are not added. They replace the present ones.
    #[schema(max_items = 1000)]
    exclude: Option<Vec<String>>,
    /// Maximum number of pages added in all.
    most: Option<u64>,
    /// Tags of the added sources. They replace the present ones.
    #[schema(max_items = 100)]
    tags: Option<Vec<String>>,
    /// Importance of the added sources.
    #[schema(minimum = 0.0, maximum = 1e12)]
    importance: Option<f64>,
    /// True to add pages of other hosts too.
    other_hosts: Option<bool>,
    /// True if it is not read for now.
    paused: Option<bool>,
    /// Minimum seconds between two reads.
    #[schema(minimum = 0.0, maximum = 1e10)]
    min_interval: Option<f64>,
    /// Maximum seconds between two reads; 0 for no limit.
    #[schema(minimum = 0.0, maximum = 1e10)]
    max_interval: Option<f64>,
}

impl SignalSourceInput {
    /// Validates the request and converts its units.
    pub(crate) fn into_request(self) -> Result<NewSignalSourceRequest, Problem> {
        check_url(&self.url)?;
        let rule = DiscoveryRule {
            discover: self.discover,
            include: self.include,
            exclude: self.exclude,
            max_pages: self.most.unwrap_or(DiscoveryRule::DEFAULT_MAX_PAGES),
            tags: self.tags,
            importance: self.importance,
            other_hosts: self.other_hosts,
            only_host: None,
        };
        check(&rule)?;
        let settings = patch_settings(self.paused, self.min_interval, self.max_interval)?;
        Ok(NewSignalSourceRequest {
            url: self.url,
            is_feed: self.kind == ReadKind::Feed,
            rule,
            patch: settings,
        })
    }
}

impl SignalSourcePatchInput {
    /// Validates the changes to a signal source with the rule `before`, and converts their units.
    pub(super) fn into_patch(self, before: DiscoveryRule) -> Result<SignalSourcePatch, Problem> {
        let rule = DiscoveryRule {
            discover: self.discover.unwrap_or(before.discover),
            include: self.include.unwrap_or_else(|| before.include.clone()),
            exclude: self.exclude.unwrap_or_else(|| before.exclude.clone()),
            max_pages: self.most.unwrap_or(before.max_pages),
            tags: self.tags.unwrap_or_else(|| before.tags.clone()),
            importance: self.importance.or(before.importance),
            other_hosts: self.other_hosts.unwrap_or(before.other_hosts),
            only_host: before.only_host.clone(),
        };
        check(&rule)?;
        let rule = Some(rule).filter(|rule| *rule != before);
        Ok(SignalSourcePatch {
            rule,
            ..patch_settings(self.paused, self.min_interval, self.max_interval)?
        })
    }
}

/// Refuses a rule that is too large to be stored. The daemon validates its contents.
fn check(rule: &DiscoveryRule) -> Result<(), Problem> {
    check_tags(&rule.tags)?;
    for (field, patterns) in [("include", &rule.include), ("exclude", &rule.exclude)] {
        if patterns.len() > MAX_PATTERNS {
            let detail = format!(
                "too many patterns: {}, at most {MAX_PATTERNS} are allowed",
                patterns.len()
            );
            return Err(Problem::invalid(field, detail));
        }
        if let Some(at) = patterns.iter().position(|it| it.len() > MAX_PATTERN_LEN) {
            let detail = format!("pattern too long: at most {MAX_PATTERN_LEN} bytes are allowed");
            return Err(Problem::invalid(format!("{field}[{at}]"), detail));
        }
    }
    Ok(())
}

fn patch_settings(
    paused: Option<bool>,
    min: Option<f64>,
    max: Option<f64>,
) -> Result<SignalSourcePatch, Problem> {
    for (field, value) in [("min_interval", min), ("max_interval", max)] {
        if let Some(value) = value.filter(|it| !(0.0..=1e10).contains(it)) {
            return Err(Problem::invalid(
                field,
                format!("{field} out of range: {value} is not between 0 and 10000000000"),
            ));
        }
    }
    let days = |seconds: f64| seconds / DAY;
    let (min_interval, max_interval) = (min.map(days), max.map(days));
    Ok(SignalSourcePatch { rule: None, paused, min_interval, max_interval })
}
