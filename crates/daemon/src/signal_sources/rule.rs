//! What is done with what a herald says: which pages are added, and which count at all.

use freshet_fetch::Pattern;
use freshet_store::SignalSource;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::edit::{NewSourceRequest, SourceSettings};
use crate::work::host_name;

/// What is done with pages that a sitemap or feed names and nobody knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiscoveryRule {
    /// Whether they become sources.
    #[serde(skip_serializing_if = "is_false")]
    pub discover: bool,
    /// Only those that match one of these patterns, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// None of those that match one of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// How many are added at most, in all.
    #[serde(skip_serializing_if = "is_usual")]
    pub most: u64,
    /// Names to find them by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How much they matter; 1 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// Whether those of other hosts than the sitemap's or feed's are added too.
    #[serde(skip_serializing_if = "is_false")]
    pub other_hosts: bool,
    /// The host whose pages it may speak of; `None`: of any. A robots.txt names sitemaps for its own host
    /// only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaks_for: Option<String>,
}

fn is_false(it: &bool) -> bool {
    !it
}

fn is_usual(most: &u64) -> bool {
    *most == DiscoveryRule::MOST
}

impl Default for DiscoveryRule {
    fn default() -> Self {
        Self {
            discover: false,
            include: Vec::new(),
            exclude: Vec::new(),
            most: Self::MOST,
            tags: Vec::new(),
            importance: None,
            other_hosts: false,
            speaks_for: None,
        }
    }
}

/// A rule, ready to be applied.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    rule: DiscoveryRule,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    /// The host of the herald itself.
    own: String,
}

impl DiscoveryRule {
    /// How many pages are added at most unless it is said.
    pub const MOST: u64 = 1_000;

    /// As it stands in the store. Who wrote something else there gets nothing added.
    pub(crate) fn of(herald: &SignalSource) -> Self {
        serde_json::from_str(&herald.settings).unwrap_or_default()
    }

    pub(crate) fn to_text(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        // There is nothing in it that JSON could not hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What cannot be meant in it, as the field and why.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        for (field, texts) in [("include", &self.include), ("exclude", &self.exclude)] {
            for text in texts {
                text.parse::<Pattern>().map_err(|why| (field, why.to_string()))?;
            }
        }
        let odd = |tag: &&String| tag.trim().is_empty() || tag.contains('\n');
        if let Some(tag) = self.tags.iter().find(odd) {
            return Err(("tags", format!("{tag:?} is not a tag")));
        }
        if let Some(it) = self.importance.filter(|it| !(it.is_finite() && *it >= 0.0)) {
            return Err(("importance", format!("{it} is not a number, 0 or more")));
        }
        Ok(())
    }

    /// Ready to be applied to what a herald at a URL says.
    pub(crate) fn sieve(self, url: &Url) -> Sieve {
        let all = |texts: &[String]| -> Vec<Pattern> {
            // What is no pattern was refused when it was said.
            texts.iter().filter_map(|text| text.parse().ok()).collect()
        };
        let (include, exclude) = (all(&self.include), all(&self.exclude));
        Sieve { include, exclude, own: host_name(url), rule: self }
    }
}

impl Sieve {
    /// Whether a herald may speak of a page.
    pub(crate) fn hears(&self, url: &str) -> bool {
        let Some(host) = &self.rule.speaks_for else { return true };
        Url::parse(url).is_ok_and(|url| host_name(&url) == *host)
    }

    /// Whether pages are added at all.
    pub(crate) fn discovers(&self) -> bool {
        self.rule.discover
    }

    pub(crate) fn most(&self) -> u64 {
        self.rule.most
    }

    /// The page as a source, if it is to be one.
    pub(crate) fn wants(&self, url: &str) -> Option<NewSourceRequest> {
        let parsed = Url::parse(url).ok()?;
        let is_near = self.rule.other_hosts || host_name(&parsed) == self.own;
        let is_in = self.include.is_empty() || self.include.iter().any(|it| it.matches(&parsed));
        if !self.rule.discover || !is_near || !is_in {
            return None;
        }
        if self.exclude.iter().any(|it| it.matches(&parsed)) {
            return None;
        }
        let tags = Some(&self.rule.tags).filter(|tags| !tags.is_empty()).cloned();
        let given =
            SourceSettings { tags, importance: self.rule.importance, ..SourceSettings::default() };
        Some(NewSourceRequest { url: url.to_owned(), settings: given })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(json: &str) -> DiscoveryRule {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(json: &str, url: &str, wanted: bool) {
        let own = Url::parse("https://a.example/sitemap.xml").unwrap();
        assert_eq!(rule(json).sieve(&own).wants(url).is_some(), wanted, "{json} {url}");
    }

    #[test]
    fn a_page_is_added_if_the_rule_wants_it() {
        check("{}", "https://a.example/x", false);
        check(r#"{"discover": true}"#, "https://a.example/x", true);
        check(r#"{"discover": true}"#, "https://b.example/x", false);
        check(r#"{"discover": true}"#, "https://a.example:8443/x", false);
        check(r#"{"discover": true, "other_hosts": true}"#, "https://b.example/x", true);
        let blog =
            r#"{"discover": true, "include": ["a.example/blog/"], "exclude": ["*/blog/old"]}"#;
        check(blog, "https://a.example/blog/new", true);
        check(blog, "https://a.example/blog/old/1", false);
        check(blog, "https://a.example/shop", false);
    }

    #[test]
    fn a_rule_is_kept_as_it_is() {
        let text = r#"{"discover":true,"include":["a.example/"],"most":5,"importance":2.0}"#;
        assert_eq!(rule(text).to_text(), text);
        assert_eq!(DiscoveryRule::default().to_text(), "");
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        let field = |json: &str| rule(json).check().unwrap_err().0;
        assert_eq!(field(r#"{"include": ["/no-host"]}"#), "include");
        assert_eq!(field(r#"{"exclude": [""]}"#), "exclude");
        assert_eq!(field(r#"{"tags": [""]}"#), "tags");
        assert_eq!(field(r#"{"importance": -1}"#), "importance");
    }
}
