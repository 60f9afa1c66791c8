//! Filters of log entries.

use freshet_daemon::parse_host_filter;
use freshet_fetch::UrlPattern;
use freshet_store::{Change, ChangeFilter, ChangeKind, HostFilter};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use url::Url;
use utoipa::ToSchema;

use crate::entry::EntryKind;

/// Invalid setting of a destination.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {reason}")]
pub struct InvalidSetting {
    /// Name of the field, such as `filter.url`.
    pub field: String,
    /// Reason.
    pub reason: String,
}

impl InvalidSetting {
    pub(crate) fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }

    /// Prefixes the name of the field with the name of an outer field.
    pub(crate) fn inside(mut self, outer: &str) -> Self {
        self.field = format!("{outer}.{}", self.field);
        self
    }
}

/// Filter as configured. An omitted field matches all entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RawFilter {
    /// Tag of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Name of the host, with a port or for all ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Prefix of the URL; `*` matches any characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Minimum importance of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_importance: Option<f64>,
    /// Maximum similarity of the contents, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_similarity: Option<f64>,
    /// Kinds of entries; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<EntryKind>,
}

/// Validated filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    raw: RawFilter,
    host: Option<HostFilter>,
    url: Option<UrlMatcher>,
}

#[derive(Clone, Debug, PartialEq)]
enum UrlMatcher {
    Exact(String),
    Pattern(UrlPattern),
}

impl Filter {
    /// True if an entry matches.
    #[must_use]
    pub fn matches(&self, it: &Change) -> bool {
        let raw = &self.raw;
        let is_change = it.kind == ChangeKind::Changed;
        raw.tag.as_ref().is_none_or(|tag| it.tags.contains(tag))
            && self.host.as_ref().is_none_or(|host| host.matches(&it.host, &it.url))
            && raw.min_importance.is_none_or(|min| it.importance >= min)
            // Only changes have a similarity.
            && raw.max_similarity.is_none_or(|max| !is_change || it.change.similarity <= max)
            && (raw.kinds.is_empty() || raw.kinds.contains(&it.kind.into()))
            && self.url.as_ref().is_none_or(|url| url.matches(&it.url))
    }

    /// Returns the part of the filter that the store can apply. Its result must still be checked with [`Filter::matches`].
    #[must_use]
    pub fn change_filter(&self) -> ChangeFilter {
        let raw = &self.raw;
        let kinds = if raw.kinds.is_empty() { &EntryKind::ALL[..] } else { &raw.kinds };
        ChangeFilter {
            host: self.host.clone(),
            tag: raw.tag.clone(),
            min_importance: raw.min_importance,
            kinds: kinds.iter().map(|&kind| kind.into()).collect(),
            ..ChangeFilter::default()
        }
    }

    /// Returns the filter as configured.
    #[must_use]
    pub fn raw(&self) -> &RawFilter {
        &self.raw
    }
}

impl TryFrom<RawFilter> for Filter {
    type Error = InvalidSetting;

    fn try_from(raw: RawFilter) -> Result<Self, InvalidSetting> {
        if raw.tag.as_ref().is_some_and(|tag| tag.is_empty() || tag.contains('\n')) {
            return Err(InvalidSetting::new("tag", "a tag is one line, and not empty"));
        }
        let host = raw.host.as_deref().map(parse_host_filter).transpose();
        let host = host.map_err(|why| InvalidSetting::new("host", why.to_string()))?;
        if let Some(min) = raw.min_importance.filter(|it| !(it.is_finite() && *it >= 0.0)) {
            return Err(InvalidSetting::new("min_importance", format!("{min} is not 0 or more")));
        }
        if let Some(max) = raw.max_similarity.filter(|it| !(0.0..=1.0).contains(it)) {
            return Err(InvalidSetting::new("max_similarity", format!("{max} is not from 0 to 1")));
        }
        let url = raw.url.as_deref().map(UrlMatcher::parse).transpose()?;
        Ok(Self { raw, host, url })
    }
}

impl UrlMatcher {
    fn parse(text: &str) -> Result<Self, InvalidSetting> {
        let local = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "file" | "exec"));
        if let Some(url) = local {
            return Ok(Self::Exact(url.into()));
        }
        let pattern = text.parse().map(Self::Pattern);
        pattern.map_err(|why: freshet_fetch::InvalidUrlPattern| {
            InvalidSetting::new("url", why.to_string())
        })
    }

    fn matches(&self, url: &str) -> bool {
        match self {
            Self::Exact(expected) => expected == url,
            Self::Pattern(pattern) => Url::parse(url).is_ok_and(|url| pattern.matches(&url)),
        }
    }
}

#[cfg(test)]
mod tests {
    use freshet_store::NewChange;

    use super::*;

    fn change(kind: ChangeKind) -> Change {
        Change {
            cursor: 1,
            kind,
            source: 0,
            url: "https://example.com/news/today".into(),
            host: "example.com".into(),
            tags: vec!["news".into(), "daily".into()],
            importance: 2.0,
            change: NewChange {
                last_unchanged_at: None,
                first_changed_at: 0,
                old_digest: None,
                new_digest: [0; 16],
                old_size: None,
                new_size: 1,
                similarity: 0.75,
                summary: String::new(),
            },
            old_version: None,
            new_version: None,
        }
    }

    #[track_caller]
    fn check(json: &str, expect: Result<bool, &str>) {
        let raw: RawFilter = serde_json::from_str(json).unwrap();
        let result = Filter::try_from(raw).map(|it| it.matches(&change(ChangeKind::Changed)));
        assert_eq!(result.map_err(|why| why.field), expect.map_err(str::to_owned), "{json}");
    }

    #[test]
    fn every_field_counts_and_is_checked() {
        check("{}", Ok(true));
        check(r#"{"tag": "daily"}"#, Ok(true));
        check(r#"{"tag": "new"}"#, Ok(false));
        check(r#"{"tag": ""}"#, Err("tag"));
        check(r#"{"host": "Example.com."}"#, Ok(true));
        check(r#"{"host": "ample.com"}"#, Ok(false));
        check(r#"{"host": "example.com:443"}"#, Ok(true));
        check(r#"{"host": "example.com:8080"}"#, Ok(false));
        check(r#"{"host": "example.com/"}"#, Err("host"));
        check(r#"{"url": "https://example.com/news/"}"#, Ok(true));
        check(r#"{"url": "*.com/*/today"}"#, Ok(true));
        check(r#"{"url": "http://example.com/"}"#, Ok(false));
        check(r#"{"url": "file:///tmp/x"}"#, Ok(false));
        check(r#"{"url": "https:///"}"#, Err("url"));
        check(r#"{"min_importance": 2}"#, Ok(true));
        check(r#"{"min_importance": 2.1}"#, Ok(false));
        check(r#"{"min_importance": -1}"#, Err("min_importance"));
        check(r#"{"max_similarity": 0.75}"#, Ok(true));
        check(r#"{"max_similarity": 0.5}"#, Ok(false));
        check(r#"{"max_similarity": 1.5}"#, Err("max_similarity"));
        check(r#"{"kinds": ["failing", "changed"]}"#, Ok(true));
        check(r#"{"kinds": ["failing"]}"#, Ok(false));
    }

    #[test]
    fn similarity_applies_to_changes_only() {
        let raw = RawFilter { max_similarity: Some(0.1), ..RawFilter::default() };
        let filter = Filter::try_from(raw).unwrap();
        assert!(
            filter.matches(&change(ChangeKind::Failing))
                && !filter.matches(&change(ChangeKind::Changed))
        );
    }
}
