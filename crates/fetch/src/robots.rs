//! robots.txt by RFC 9309: bytes in, verdicts with their rule and line out.

mod line;
mod octets;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::glob;
use line::{Key, Lines};
use octets::{normal_path, normal_pattern};

/// What is read of a file (RFC 9309 §2.5 asks for at least this much). A line that is cut there is
/// left out.
pub(crate) const MOST_BYTES: usize = 500 * 1024;
/// A longer time between two fetches is taken as this: the file itself holds no longer.
const LONGEST_DELAY: Duration = Duration::from_secs(86_400);

/// A robots.txt file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    groups: Vec<Group>,
    sitemaps: Vec<String>,
    cut: bool,
}

/// Lines of agents, and the rules below them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Group {
    agents: Vec<Agent>,
    rules: Vec<Rule>,
    /// Delays, each for as many of the agents as stand above it.
    delays: Vec<(usize, Duration)>,
}

/// A line that says whom the rules below it are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// A product token in lower case, or `*` for all that have no group of their own.
    pub token: String,
    /// Counted from 1.
    pub line: usize,
}

/// A line that allows or disallows paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Whether it allows.
    pub allow: bool,
    /// The path as it is written.
    pub text: String,
    /// Counted from 1.
    pub line: usize,
    /// In the form in which paths are compared.
    pattern: Vec<u8>,
    /// Whether the path must end with it.
    anchored: bool,
}

/// The rules of a file for one agent: those of all its groups, the most specific first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    agent: Option<Agent>,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

/// Whether a path may be fetched, and by which rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it may.
    pub allowed: bool,
    /// The rule that decided; `None` if no rule matches.
    pub rule: Option<Rule>,
    /// The first line that names the agent the rules are for; `None` if the file has no such group.
    pub agent: Option<Agent>,
}

impl Robots {
    /// Reads a file. All bytes are a file: what makes no sense is passed over.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        match bytes.get(..MOST_BYTES).filter(|head| head.len() < bytes.len()) {
            Some(head) => Self::parse_part(head),
            None => Self::parse_whole(bytes, false),
        }
    }

    /// Reads the beginning of a file. The line that it ends with may be cut, and is left out.
    pub(crate) fn parse_part(bytes: &[u8]) -> Self {
        let end = memchr::memrchr2(b'\n', b'\r', bytes).map_or(0, |at| at + 1);
        Self::parse_whole(&bytes[..end], true)
    }

    fn parse_whole(bytes: &[u8], cut: bool) -> Self {
        let mut robots = Self { cut, ..Self::default() };
        // Lines of agents that follow each other share the rules below them.
        let mut collecting = false;
        for (line, key, value) in Lines::new(bytes) {
            match key {
                Key::UserAgent => {
                    if !collecting {
                        robots.groups.push(Group::default());
                        collecting = true;
                    }
                    let group = robots.groups.last_mut();
                    if let (Some(group), Some(token)) = (group, agent_token(value)) {
                        group.agents.push(Agent { token, line });
                    }
                }
                Key::Allow | Key::Disallow => {
                    collecting = false;
                    // An empty path is a rule that matches nothing, and rules before any agent
                    // belong to nobody (§2.2.1).
                    if let (Some(group), false) = (robots.groups.last_mut(), value.is_empty()) {
                        group.rules.push(Rule::new(key == Key::Allow, value, line));
                    }
                }
                // Other records must not interfere (§2.2.4): they end no list of agents.
                Key::CrawlDelay => {
                    if let (Some(group), Some(delay)) = (robots.groups.last_mut(), delay(value)) {
                        group.delays.push((group.agents.len(), delay));
                    }
                }
                Key::Sitemap => robots.sitemaps.push(String::from_utf8_lossy(value).into_owned()),
            }
        }
        robots
    }

    /// The rules for an agent, by the product token that its name begins with: those of all groups
    /// that name it, otherwise those of all groups for `*`, otherwise none (§2.2.1).
    #[must_use]
    pub fn rules_for(&self, agent: &str) -> Rules {
        let own = agent_token(agent.as_bytes()).unwrap_or_default();
        [own.as_str(), "*"].iter().find_map(|token| self.named(token)).unwrap_or_default()
    }

    /// Whether an agent may fetch a path with its query.
    #[must_use]
    pub fn allows(&self, agent: &str, path: &str) -> Verdict {
        self.rules_for(agent).judge(path)
    }

    /// The sitemaps that the file names, for everybody.
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Whether the file was longer than what is read.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    fn named(&self, token: &str) -> Option<Rules> {
        let mut found: Option<Rules> = None;
        for group in &self.groups {
            let Some(at) = group.agents.iter().position(|it| it.token == token) else { continue };
            let agent = Some(group.agents[at].clone());
            let rules = found.get_or_insert_with(|| Rules { agent, ..Rules::default() });
            rules.rules.extend_from_slice(&group.rules);
            let above = group.delays.iter().filter(|(agents, _)| at < *agents);
            rules.crawl_delay = rules.crawl_delay.max(above.map(|(_, delay)| *delay).max());
        }
        if let Some(rules) = &mut found {
            // The longest match wins, and of equally long ones one that allows (§2.2.2).
            rules.rules.sort_by_key(|rule| std::cmp::Reverse((rule.octets(), rule.allow)));
        }
        found
    }
}

impl Rules {
    /// Whether a path with its query may be fetched.
    #[must_use]
    pub fn judge(&self, path: &str) -> Verdict {
        let verdict = |rule: Option<&Rule>| Verdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            rule: rule.cloned(),
            agent: self.agent.clone(),
        };
        // §2.2.2: the file itself is always allowed.
        if self.rules.is_empty() || path == "/robots.txt" {
            return verdict(None);
        }
        let path = normal_path(path.as_bytes());
        // Thousands of rules against a long path: most name an octet that it does not have.
        let mut present = [false; 256];
        for &octet in path.iter().chain(b"*") {
            present[usize::from(octet)] = true;
        }
        let may_match = |rule: &Rule| rule.pattern.iter().all(|&it| present[usize::from(it)]);
        verdict(self.rules.iter().find(|rule| may_match(rule) && rule.matches(&path)))
    }

    /// The first line that names the agent they are for; `None` if the file has no such group.
    #[must_use]
    pub fn agent(&self) -> Option<&Agent> {
        self.agent.as_ref()
    }

    /// Each of them, the most specific first.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// The time that the host wants between two fetches.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// About how much memory they take.
    pub(crate) fn weight(&self) -> usize {
        self.rules.iter().map(|it| size_of::<Rule>() + it.text.len() + it.pattern.len()).sum()
    }
}

impl Rule {
    fn new(allow: bool, value: &[u8], line: usize) -> Self {
        let (path, anchored) = match value.strip_suffix(b"$") {
            Some(path) => (path, true),
            None => (value, false),
        };
        let text = String::from_utf8_lossy(value).into_owned();
        Self { allow, text, line, pattern: normal_pattern(path), anchored }
    }

    /// How specific it is.
    fn octets(&self) -> usize {
        self.pattern.len() + usize::from(self.anchored)
    }

    fn matches(&self, path: &[u8]) -> bool {
        glob::matches(&self.pattern, path, !self.anchored)
    }
}

/// The product token that a name begins with, in lower case: `FooBot/1.2 (x)` is `foobot`. `*` stands
/// for all.
fn agent_token(name: &[u8]) -> Option<String> {
    if matches!(name, [b'*'] | [b'*', b' ' | b'\t', ..]) {
        return Some("*".to_owned());
    }
    let is_part = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let length = name.iter().take_while(|byte| is_part(byte)).count();
    (length > 0).then(|| String::from_utf8_lossy(&name[..length]).to_ascii_lowercase())
}

/// A number of seconds, also with a fraction. More than the longest is the longest.
fn delay(value: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(value).ok()?;
    if !text.starts_with(|it: char| it.is_ascii_digit() || it == '.') {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    Some(Duration::from_secs_f64(seconds.min(LONGEST_DELAY.as_secs_f64())))
}
