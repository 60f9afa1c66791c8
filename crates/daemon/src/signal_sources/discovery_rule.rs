//! Rules for the pages that a signal source names: which are added, and which may be signalled.

use freshet_fetch::UrlPattern;
use freshet_store::SignalSource;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fetch_context::host_name;
use crate::source_edit::{NewSourceRequest, SourceSettings};

/// Rule for pages in a sitemap or feed that are not sources yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiscoveryRule {
    /// True if they are added as sources.
    #[serde(skip_serializing_if = "is_false")]
    pub discover: bool,
    /// Patterns of which a page must match one, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Patterns of which a page must match none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Maximum number of pages added in total.
    #[serde(rename = "most", skip_serializing_if = "is_default_max")]
    pub max_pages: u64,
    /// Tags of the added sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Importance of the added sources; the default is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<f64>,
    /// True if pages of other hosts are added too.
    #[serde(skip_serializing_if = "is_false")]
    pub other_hosts: bool,
    /// Host that signals are restricted to; `None` for any. A robots.txt names sitemaps for its own
    /// host only.
    #[serde(rename = "speaks_for", skip_serializing_if = "Option::is_none")]
    pub only_host: Option<String>,
}

fn is_false(it: &bool) -> bool {
    !it
}

fn is_default_max(max_pages: &u64) -> bool {
    *max_pages == DiscoveryRule::DEFAULT_MAX_PAGES
}

impl Default for DiscoveryRule {
    fn default() -> Self {
        Self {
            discover: false,
            include: Vec::new(),
            exclude: Vec::new(),
            max_pages: Self::DEFAULT_MAX_PAGES,
            tags: Vec::new(),
            importance: None,
            other_hosts: false,
            only_host: None,
        }
    }
}

/// A compiled rule.
#[derive(Clone, Debug)]
pub(crate) struct DiscoveryFilter {
    rule: DiscoveryRule,
    include: Vec<UrlPattern>,
    exclude: Vec<UrlPattern>,
    /// Host of the signal source itself.
    own_host: String,
}

impl DiscoveryRule {
    /// Default of `max_pages`.
    pub const DEFAULT_MAX_PAGES: u64 = 1_000;

    /// Reads the stored rule. An invalid one adds nothing.
    pub(crate) fn from_signal_source(signal_source: &SignalSource) -> Self {
        serde_json::from_str(&signal_source.settings).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        // Serialization to JSON cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Checks the rule. Fails with the field and the reason.
    pub(crate) fn validate(&self) -> Result<(), (&'static str, String)> {
        for (field, texts) in [("include", &self.include), ("exclude", &self.exclude)] {
            for text in texts {
                text.parse::<UrlPattern>().map_err(|error| (field, error.to_string()))?;
            }
        }
        let invalid = |tag: &&String| tag.trim().is_empty() || tag.contains('\n');
        if let Some(tag) = self.tags.iter().find(invalid) {
            return Err(("tags", format!("{tag:?} is not a tag")));
        }
        if let Some(it) = self.importance.filter(|it| !(it.is_finite() && *it >= 0.0)) {
            return Err(("importance", format!("`{it}` is not a number, 0 or more")));
        }
        Ok(())
    }

    /// Compiles the rule for a signal source at `url`.
    pub(crate) fn into_filter(self, url: &Url) -> DiscoveryFilter {
        let all = |texts: &[String]| -> Vec<UrlPattern> {
            // Invalid patterns were rejected when they were set.
            texts.iter().filter_map(|text| text.parse().ok()).collect()
        };
        let (include, exclude) = (all(&self.include), all(&self.exclude));
        DiscoveryFilter { include, exclude, own_host: host_name(url), rule: self }
    }
}

impl DiscoveryFilter {
    /// True if the signal source may signal a page.
    pub(crate) fn may_report(&self, url: &str) -> bool {
        let Some(host) = &self.rule.only_host else { return true };
        Url::parse(url).is_ok_and(|url| host_name(&url) == *host)
    }

    /// True if pages are added.
    pub(crate) fn is_discovering(&self) -> bool {
        self.rule.discover
    }

    pub(crate) fn max_pages(&self) -> u64 {
        self.rule.max_pages
    }

    /// Returns the request to add a page, if the rule admits it.
    pub(crate) fn request_for(&self, url: &str) -> Option<NewSourceRequest> {
        let parsed = Url::parse(url).ok()?;
        let is_near = self.rule.other_hosts || host_name(&parsed) == self.own_host;
        let is_in = self.include.is_empty() || self.include.iter().any(|it| it.matches(&parsed));
        if !self.rule.discover || !is_near || !is_in {
            return None;
        }
        if self.exclude.iter().any(|it| it.matches(&parsed)) {
            return None;
        }
        let tags = Some(&self.rule.tags).filter(|tags| !tags.is_empty()).cloned();
        let settings =
            SourceSettings { tags, importance: self.rule.importance, ..SourceSettings::default() };
        Some(NewSourceRequest { url: url.to_owned(), settings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(json: &str) -> DiscoveryRule {
        serde_json::from_str(json).unwrap()
    }

    #[track_caller]
    fn check(json: &str, url: &str, is_added: bool) {
        let own = Url::parse("https://a.example/sitemap.xml").unwrap();
        assert_eq!(
            rule(json).into_filter(&own).request_for(url).is_some(),
            is_added,
            "{json} {url}"
        );
    }

    #[test]
    fn a_page_is_added_if_the_rule_admits_it() {
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
    fn a_rule_survives_serialization() {
        let text = r#"{"discover":true,"include":["a.example/"],"most":5,"importance":2.0}"#;
        assert_eq!(rule(text).to_json(), text);
        assert_eq!(DiscoveryRule::default().to_json(), "");
    }

    #[test]
    fn invalid_values_are_reported_with_their_field() {
        let field = |json: &str| rule(json).validate().unwrap_err().0;
        assert_eq!(field(r#"{"include": ["/no-host"]}"#), "include");
        assert_eq!(field(r#"{"exclude": [""]}"#), "exclude");
        assert_eq!(field(r#"{"tags": [""]}"#), "tags");
        assert_eq!(field(r#"{"importance": -1}"#), "importance");
    }
}
