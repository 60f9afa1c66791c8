//! robots.txt by RFC 9309: parses bytes, and returns verdicts with rule and line.

mod lines;
mod path_encoding;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::glob;
use lines::{RobotsKey, RobotsLines};
use path_encoding::{normalize_path, normalize_pattern};

/// Maximum number of bytes read of a file (RFC 9309 §2.5 requires at least this much). A line cut
/// there is ignored.
pub(crate) const MAX_ROBOTS_BYTES: usize = 500 * 1024;
/// Maximum crawl delay: a longer one exceeds the lifetime of the file itself.
const MAX_CRAWL_DELAY: Duration = Duration::from_secs(86_400);

/// Parsed robots.txt file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotsTxt {
    groups: Vec<Group>,
    sitemaps: Vec<String>,
    truncated: bool,
}

/// Group of user agents and the rules for them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Group {
    agents: Vec<RobotsAgent>,
    rules: Vec<RobotsRule>,
    /// Crawl delays, each with the number of agents listed above it.
    crawl_delays: Vec<(usize, Duration)>,
}

/// `User-agent` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsAgent {
    /// Product token in lower case, or `*` for agents without a group of their own.
    pub token: String,
    /// Line number, starting at 1.
    pub line: usize,
}

/// `Allow` or `Disallow` line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRule {
    /// True for `Allow`.
    pub allow: bool,
    /// Path as written.
    pub text: String,
    /// Line number, starting at 1.
    pub line: usize,
    /// Path in the normalized form used for comparison.
    pattern: Vec<u8>,
    /// True if the path must end with the pattern.
    anchored: bool,
}

/// Rules of a file for one agent, merged from all of its groups, most specific first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RobotsRules {
    agent: Option<RobotsAgent>,
    rules: Vec<RobotsRule>,
    crawl_delay: Option<Duration>,
}

/// Decision for a path, and the rule behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsVerdict {
    /// True if the path may be fetched.
    pub allowed: bool,
    /// Rule that decided; `None` if no rule matches.
    pub rule: Option<RobotsRule>,
    /// First line that names the agent of the rules; `None` if the file has no group for it.
    pub agent: Option<RobotsAgent>,
}

impl RobotsTxt {
    /// Parses a file. Any bytes are valid: malformed lines are ignored.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        match bytes.get(..MAX_ROBOTS_BYTES).filter(|head| head.len() < bytes.len()) {
            Some(head) => Self::parse_prefix(head),
            None => Self::parse_lines(bytes, false),
        }
    }

    /// Parses the beginning of a file. The last line may be cut, and is ignored.
    pub(crate) fn parse_prefix(bytes: &[u8]) -> Self {
        let end = memchr::memrchr2(b'\n', b'\r', bytes).map_or(0, |at| at + 1);
        Self::parse_lines(&bytes[..end], true)
    }

    fn parse_lines(bytes: &[u8], cut: bool) -> Self {
        let mut robots = Self { truncated: cut, ..Self::default() };
        // Consecutive agent lines share the rules below them.
        let mut collecting = false;
        for (line, key, value) in RobotsLines::new(bytes) {
            match key {
                RobotsKey::UserAgent => {
                    if !collecting {
                        robots.groups.push(Group::default());
                        collecting = true;
                    }
                    let group = robots.groups.last_mut();
                    if let (Some(group), Some(token)) = (group, product_token(value)) {
                        group.agents.push(RobotsAgent { token, line });
                    }
                }
                RobotsKey::Allow | RobotsKey::Disallow => {
                    collecting = false;
                    // An empty path is a rule that matches nothing, and rules before the first
                    // agent apply to nobody (§2.2.1).
                    if let (Some(group), false) = (robots.groups.last_mut(), value.is_empty()) {
                        group.rules.push(RobotsRule::new(key == RobotsKey::Allow, value, line));
                    }
                }
                // Other records must not interfere (§2.2.4): they do not end a list of agents.
                RobotsKey::CrawlDelay => {
                    if let (Some(group), Some(delay)) =
                        (robots.groups.last_mut(), parse_crawl_delay(value))
                    {
                        group.crawl_delays.push((group.agents.len(), delay));
                    }
                }
                RobotsKey::Sitemap => {
                    robots.sitemaps.push(String::from_utf8_lossy(value).into_owned())
                }
            }
        }
        robots
    }

    /// Returns the rules for an agent, by the product token at the start of its name: all groups
    /// that name it, otherwise all groups for `*`, otherwise none (§2.2.1).
    #[must_use]
    pub fn rules_for_agent(&self, agent: &str) -> RobotsRules {
        let own = product_token(agent.as_bytes()).unwrap_or_default();
        [own.as_str(), "*"].iter().find_map(|token| self.rules_for_token(token)).unwrap_or_default()
    }

    /// Checks whether an agent may fetch a path with its query.
    #[must_use]
    pub fn check(&self, agent: &str, path: &str) -> RobotsVerdict {
        self.rules_for_agent(agent).check(path)
    }

    /// Returns the sitemaps that the file lists.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// True if the file was longer than the limit.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    fn rules_for_token(&self, token: &str) -> Option<RobotsRules> {
        let mut found: Option<RobotsRules> = None;
        for group in &self.groups {
            let Some(at) = group.agents.iter().position(|it| it.token == token) else { continue };
            let agent = Some(group.agents[at].clone());
            let rules =
                found.get_or_insert_with(|| RobotsRules { agent, ..RobotsRules::default() });
            rules.rules.extend_from_slice(&group.rules);
            let above = group.crawl_delays.iter().filter(|(agents, _)| at < *agents);
            rules.crawl_delay = rules.crawl_delay.max(above.map(|(_, delay)| *delay).max());
        }
        if let Some(rules) = &mut found {
            // The longest match wins, and `Allow` wins ties (§2.2.2).
            rules.rules.sort_by_key(|rule| std::cmp::Reverse((rule.specificity(), rule.allow)));
        }
        found
    }
}

impl RobotsRules {
    /// Checks whether a path with its query may be fetched.
    #[must_use]
    pub fn check(&self, path: &str) -> RobotsVerdict {
        let verdict = |rule: Option<&RobotsRule>| RobotsVerdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            rule: rule.cloned(),
            agent: self.agent.clone(),
        };
        // §2.2.2: robots.txt itself is always allowed.
        if self.rules.is_empty() || path == "/robots.txt" {
            return verdict(None);
        }
        let path = normalize_path(path.as_bytes());
        // With thousands of rules and a long path, most rules contain a byte that the path does not
        // have.
        let mut present = [false; 256];
        for &octet in path.iter().chain(b"*") {
            present[usize::from(octet)] = true;
        }
        let may_match = |rule: &RobotsRule| rule.pattern.iter().all(|&it| present[usize::from(it)]);
        verdict(self.rules.iter().find(|rule| may_match(rule) && rule.matches(&path)))
    }

    /// Returns the first line that names the agent; `None` if the file has no group for it.
    #[must_use]
    pub fn agent(&self) -> Option<&RobotsAgent> {
        self.agent.as_ref()
    }

    /// Iterates over the rules, most specific first.
    pub fn iter(&self) -> impl Iterator<Item = &RobotsRule> {
        self.rules.iter()
    }

    /// Returns the crawl delay.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Returns the approximate memory use in bytes.
    pub(crate) fn memory_size(&self) -> usize {
        self.rules.iter().map(|it| size_of::<RobotsRule>() + it.text.len() + it.pattern.len()).sum()
    }
}

impl RobotsRule {
    fn new(allow: bool, value: &[u8], line: usize) -> Self {
        let (path, anchored) = match value.strip_suffix(b"$") {
            Some(path) => (path, true),
            None => (value, false),
        };
        let text = String::from_utf8_lossy(value).into_owned();
        Self { allow, text, line, pattern: normalize_pattern(path), anchored }
    }

    /// Length of the pattern, which decides between matching rules.
    fn specificity(&self) -> usize {
        self.pattern.len() + usize::from(self.anchored)
    }

    fn matches(&self, path: &[u8]) -> bool {
        glob::matches(&self.pattern, path, !self.anchored)
    }
}

/// Returns the product token at the start of a name, in lower case: `foobot` for `FooBot/1.2 (x)`.
/// `*` stands for all agents.
fn product_token(name: &[u8]) -> Option<String> {
    if matches!(name, [b'*'] | [b'*', b' ' | b'\t', ..]) {
        return Some("*".to_owned());
    }
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let length = name.iter().take_while(|byte| is_part(byte)).count();
    (length > 0).then(|| String::from_utf8_lossy(&name[..length]).to_ascii_lowercase())
}

/// Parses a number of seconds, possibly with a fraction, capped at the maximum.
fn parse_crawl_delay(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    if !text.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    Some(Duration::from_secs_f64(seconds.min(MAX_CRAWL_DELAY.as_secs_f64())))
}
