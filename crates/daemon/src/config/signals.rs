//! `[signals]`: sitemaps, feeds, WebSub and IndexNow.

use std::time::Duration;

use freshet_fetch::{BYTE_SIZE_FORMATS, RawByteSize, parse_byte_size};
use serde::Deserialize;
use url::Url;

use crate::signal_sources::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};

/// Signal settings.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalsConfig {
    /// True if sitemaps named in robots.txt are read.
    pub robots_sitemaps: bool,
    /// Minimum number of sources of a host before the sitemaps in its robots.txt are read.
    pub min_robots_pages: u32,
    /// Limits on the documents read.
    pub read_limits: ReadLimits,
    /// Configured sitemaps and feeds.
    pub signal_sources: Vec<NewSignalSourceRequest>,
    /// Public base URL for WebSub callbacks, without a trailing slash; `None` disables
    /// subscriptions.
    pub callback_url: Option<String>,
    /// True if IndexNow requests are accepted.
    pub accept_indexnow: bool,
    /// Minimum size of a copy in bytes for a HEAD request before the GET; `None` disables HEAD
    /// requests.
    pub head_min_bytes: Option<u64>,
}

impl SignalsConfig {
    /// Returns the host name of the callback URL.
    #[must_use]
    pub fn callback_host(&self) -> Option<String> {
        let url = Url::parse(self.callback_url.as_deref()?).ok()?;
        url.host_str().map(str::to_owned)
    }
}

/// Limits on a sitemap or feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum size in bytes, decompressed.
    pub max_bytes: u64,
    /// Maximum number of entries.
    pub max_entries: u64,
    /// Maximum download time.
    pub timeout: Duration,
}

impl Default for ReadLimits {
    /// Four times the size and twenty times the number of entries that the sitemap protocol allows.
    fn default() -> Self {
        Self { max_bytes: 200_000_000, max_entries: 1_000_000, timeout: Duration::from_secs(300) }
    }
}

/// `[signals]` as written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSignals {
    robots: Option<bool>,
    robots_pages: Option<u32>,
    bytes: Option<RawByteSize>,
    sitemap: Vec<RawSignalSource>,
    feed: Vec<RawSignalSource>,
    callback: Option<String>,
    indexnow: Option<bool>,
    head: Option<bool>,
    head_over: Option<RawByteSize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSignalSource {
    url: String,
    #[serde(default)]
    discover: bool,
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
    most: Option<u64>,
    #[serde(default)]
    tags: Vec<String>,
    importance: Option<f64>,
    #[serde(default)]
    other_hosts: bool,
    min_interval: Option<String>,
    max_interval: Option<String>,
}

/// Sources of a host that justify reading its sitemaps.
const DEFAULT_MIN_ROBOTS_PAGES: u32 = 20;
/// Size of a copy at which a HEAD request may save more than it costs.
const DEFAULT_HEAD_MIN_BYTES: u64 = 64 * 1024;

pub(super) fn validate_signals(raw: RawSignals) -> Result<SignalsConfig, String> {
    let mut limits = ReadLimits::default();
    if let Some(raw) = &raw.bytes {
        limits.max_bytes = parse_byte_size(raw).ok_or_else(|| {
            format!("signals.bytes: not a size above 0, such as \"200MB\": {BYTE_SIZE_FORMATS}")
        })?;
    }
    let mut signal_sources = Vec::new();
    for (name, feed, raw_sources) in
        [("signals.sitemap", false, raw.sitemap), ("signals.feed", true, raw.feed)]
    {
        for it in raw_sources {
            let it =
                validate_signal_source(it, feed).map_err(|error| format!("{name}: {error}"))?;
            let is_twice = |other: &NewSignalSourceRequest| {
                (other.is_feed, &other.url) == (it.is_feed, &it.url)
            };
            if signal_sources.iter().any(is_twice) {
                return Err(format!("{name}: {} is listed twice", it.url));
            }
            signal_sources.push(it);
        }
    }
    let robots_pages = raw.robots_pages.unwrap_or(DEFAULT_MIN_ROBOTS_PAGES).max(1);
    let callback = match raw.callback.as_deref() {
        None | Some("") => None,
        Some(text) => {
            let url = super::validate::public_url("signals.callback", text)?;
            Some(url.as_str().trim_end_matches('/').to_owned())
        }
    };
    let head_over = raw
        .head_over
        .as_ref()
        .map_or(Some(DEFAULT_HEAD_MIN_BYTES), parse_byte_size)
        .ok_or_else(|| {
            format!("signals.head_over: not a size above 0, such as \"64KiB\": {BYTE_SIZE_FORMATS}")
        })?;
    let head_over = Some(head_over).filter(|_| raw.head.unwrap_or(true));
    let (robots, indexnow) = (raw.robots.unwrap_or(true), raw.indexnow.unwrap_or(false));
    Ok(SignalsConfig {
        robots_sitemaps: robots,
        min_robots_pages: robots_pages,
        read_limits: limits,
        signal_sources,
        callback_url: callback,
        accept_indexnow: indexnow,
        head_min_bytes: head_over,
    })
}

fn validate_signal_source(
    raw: RawSignalSource,
    feed: bool,
) -> Result<NewSignalSourceRequest, String> {
    let RawSignalSource {
        url,
        discover,
        include,
        exclude,
        most,
        tags,
        importance,
        other_hosts,
        ..
    } = raw;
    let time = |field: &str, text: Option<&str>| {
        let days = text.map(|text| {
            super::validate::parse_duration_days(text).ok_or_else(|| {
                format!("{field}: `{text}` is not a duration, such as \"15min\" or \"2d\"")
            })
        });
        days.transpose()
    };
    let min_interval = time("min_interval", raw.min_interval.as_deref())?;
    let max_interval = time("max_interval", raw.max_interval.as_deref())?;
    let max_pages = most.unwrap_or(DiscoveryRule::DEFAULT_MAX_PAGES);
    let only_host = None;
    let rule = DiscoveryRule {
        discover,
        include,
        exclude,
        max_pages,
        tags,
        importance,
        other_hosts,
        only_host,
    };
    let patch = SignalSourcePatch { min_interval, max_interval, ..SignalSourcePatch::default() };
    let signal_sources = NewSignalSourceRequest { url, is_feed: feed, rule, patch };
    let checked = signal_sources.to_new_signal_source(0).map_err(|error| match error {
        crate::signal_sources::SignalSourceError::InvalidSetting { field, reason } => {
            format!("{field}: {reason}")
        }
        other => format!("url: {other}"),
    })?;
    Ok(NewSignalSourceRequest { url: checked.name, ..signal_sources })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<SignalsConfig, String> {
        validate_signals(toml::from_str(text).unwrap())
    }

    #[test]
    fn sitemaps_and_feeds_are_parsed_with_their_rules() {
        let it = parse(
            "robots = false\nbytes = \"1MB\"\n[[sitemap]]\nurl = \"https://A.example/s.xml\"\n\
             discover = true\ninclude = [\"a.example/blog/\"]\nmost = 7\nmax_interval = \"1d\"\n\
             [[feed]]\nurl = \"https://a.example/feed\"\n",
        )
        .unwrap();
        assert_eq!(
            (it.robots_sitemaps, it.min_robots_pages, it.read_limits.max_bytes),
            (false, 20, 1_000_000)
        );
        let [sitemap, feed] = it.signal_sources.as_slice() else { panic!("{it:?}") };
        assert_eq!((sitemap.url.as_str(), sitemap.is_feed), ("https://a.example/s.xml", false));
        assert!(
            sitemap.rule.discover
                && sitemap.rule.max_pages == 7
                && feed.is_feed
                && !feed.rule.discover
        );
        assert_eq!(sitemap.patch.max_interval, Some(1.0));
    }

    #[test]
    fn head_requests_have_a_minimum_size_and_a_switch() {
        let over = |text: &str| parse(text).unwrap().head_min_bytes;
        assert_eq!(over(""), Some(65_536));
        assert_eq!(over("head_over = \"1MiB\""), Some(1_048_576));
        assert_eq!(over("head = false\nhead_over = 7"), None);
    }

    #[test]
    fn invalid_values_are_reported_with_their_field() {
        let error = |text: &str| parse(text).unwrap_err();
        assert!(error("bytes = 0").starts_with("signals.bytes: "));
        assert!(error("head_over = \"much\"").starts_with("signals.head_over: "));
        assert!(error("[[sitemap]]\nurl = \"no url\"").starts_with("signals.sitemap: url: "));
        let invalid = "[[feed]]\nurl = \"https://a.example/\"\n";
        let field = |line: &str| error(&format!("{invalid}{line}"));
        assert!(field("include = [\"/x\"]").starts_with("signals.feed: include: "));
        assert!(field("importance = -1.0").starts_with("signals.feed: importance: "));
        assert!(field("max_interval = \"soon\"").starts_with("signals.feed: max_interval: "));
        let twice = error(&format!("{invalid}{invalid}"));
        assert!(twice.ends_with("is listed twice"), "{twice}");
    }
}
