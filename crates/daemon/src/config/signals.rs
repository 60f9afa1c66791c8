//! `[signals]`: who is listened to when they say that sources have changed.

use std::time::Duration;

use freshet_fetch::{RawSize, SIZES, size};
use serde::Deserialize;
use url::Url;

use crate::signal_sources::{DiscoveryRule, NewSignalSourceRequest, SignalSourcePatch};

/// Who is listened to.
#[derive(Clone, Debug, PartialEq)]
pub struct Signals {
    /// Whether sitemaps that robots.txt files name are read.
    pub robots: bool,
    /// Pages of a host that must be sources before those of its robots.txt are.
    pub robots_pages: u32,
    /// How far documents are read.
    pub limits: ReadLimits,
    /// Sitemaps and feeds that are read.
    pub wanted: Vec<NewSignalSourceRequest>,
    /// Where hubs reach the service, without a slash at the end; `None`: nowhere, and nothing is
    /// subscribed to.
    pub callback: Option<String>,
    /// Whether owners of sites may say so by IndexNow.
    pub indexnow: bool,
    /// Bytes of a copy above which a HEAD comes before the GET where that helps; `None`: never.
    pub head_over: Option<u64>,
}

impl Signals {
    /// The name by which hubs call the service.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let url = Url::parse(self.callback.as_deref()?).ok()?;
        url.host_str().map(str::to_owned)
    }
}

/// How far sitemaps and feeds are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Bytes of one document, decompressed.
    pub bytes: u64,
    /// Entries of one document.
    pub entries: u64,
    /// How long one may take to come.
    pub time: Duration,
}

impl Default for ReadLimits {
    /// Four times as long and twenty times as many as the protocol allows.
    fn default() -> Self {
        Self { bytes: 200_000_000, entries: 1_000_000, time: Duration::from_secs(300) }
    }
}

/// As it is written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSignals {
    robots: Option<bool>,
    robots_pages: Option<u32>,
    bytes: Option<RawSize>,
    sitemap: Vec<RawSignalSource>,
    feed: Vec<RawSignalSource>,
    callback: Option<String>,
    indexnow: Option<bool>,
    head: Option<bool>,
    head_over: Option<RawSize>,
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

/// Pages of a host that make its sitemap worth a look.
const PAGES: u32 = 20;
/// A copy above which a HEAD may save more than it costs.
const HEAD_OVER: u64 = 64 * 1024;

pub(super) fn check(raw: RawSignals) -> Result<Signals, String> {
    let mut limits = ReadLimits::default();
    if let Some(raw) = &raw.bytes {
        limits.bytes = size(raw).ok_or_else(|| {
            format!("signals.bytes: not a size above 0 such as \"200MB\": {SIZES}")
        })?;
    }
    let mut wanted = Vec::new();
    for (name, feed, some) in
        [("signals.sitemap", false, raw.sitemap), ("signals.feed", true, raw.feed)]
    {
        for it in some {
            let it = herald(it, feed).map_err(|why| format!("{name}: {why}"))?;
            let is_twice =
                |other: &NewSignalSourceRequest| (other.feed, &other.url) == (it.feed, &it.url);
            if wanted.iter().any(is_twice) {
                return Err(format!("{name}: {} stands there twice", it.url));
            }
            wanted.push(it);
        }
    }
    let robots_pages = raw.robots_pages.unwrap_or(PAGES).max(1);
    let callback = match raw.callback.as_deref() {
        None | Some("") => None,
        Some(text) => {
            let url = super::check::public("signals.callback", text)?;
            Some(url.as_str().trim_end_matches('/').to_owned())
        }
    };
    let head_over = raw.head_over.as_ref().map_or(Some(HEAD_OVER), size).ok_or_else(|| {
        format!("signals.head_over: not a size above 0 such as \"64KiB\": {SIZES}")
    })?;
    let head_over = Some(head_over).filter(|_| raw.head.unwrap_or(true));
    let (robots, indexnow) = (raw.robots.unwrap_or(true), raw.indexnow.unwrap_or(false));
    Ok(Signals { robots, robots_pages, limits, wanted, callback, indexnow, head_over })
}

fn herald(raw: RawSignalSource, feed: bool) -> Result<NewSignalSourceRequest, String> {
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
            super::check::days(text).ok_or_else(|| {
                format!("{field}: `{text}` is not a time such as \"15min\" or \"2d\"")
            })
        });
        days.transpose()
    };
    let min_interval = time("min_interval", raw.min_interval.as_deref())?;
    let max_interval = time("max_interval", raw.max_interval.as_deref())?;
    let most = most.unwrap_or(DiscoveryRule::MOST);
    let speaks_for = None;
    let rule = DiscoveryRule {
        discover,
        include,
        exclude,
        most,
        tags,
        importance,
        other_hosts,
        speaks_for,
    };
    let given = SignalSourcePatch { min_interval, max_interval, ..SignalSourcePatch::default() };
    let wanted = NewSignalSourceRequest { url, feed, rule, given };
    let checked = wanted.check(0).map_err(|why| match why {
        crate::signal_sources::SignalSourceError::Given { field, what } => {
            format!("{field}: {what}")
        }
        other => format!("url: {other}"),
    })?;
    Ok(NewSignalSourceRequest { url: checked.name, ..wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Signals, String> {
        check(toml::from_str(text).unwrap())
    }

    #[test]
    fn sitemaps_and_feeds_are_taken_with_their_rules() {
        let it = parse(
            "robots = false\nbytes = \"1MB\"\n[[sitemap]]\nurl = \"https://A.example/s.xml\"\n\
             discover = true\ninclude = [\"a.example/blog/\"]\nmost = 7\nmax_interval = \"1d\"\n\
             [[feed]]\nurl = \"https://a.example/feed\"\n",
        )
        .unwrap();
        assert_eq!((it.robots, it.robots_pages, it.limits.bytes), (false, 20, 1_000_000));
        let [sitemap, feed] = it.wanted.as_slice() else { panic!("{it:?}") };
        assert_eq!((sitemap.url.as_str(), sitemap.feed), ("https://a.example/s.xml", false));
        assert!(
            sitemap.rule.discover && sitemap.rule.most == 7 && feed.feed && !feed.rule.discover
        );
        assert_eq!(sitemap.given.max_interval, Some(1.0));
    }

    #[test]
    fn heads_have_a_size_and_a_switch() {
        let over = |text: &str| parse(text).unwrap().head_over;
        assert_eq!(over(""), Some(65_536));
        assert_eq!(over("head_over = \"1MiB\""), Some(1_048_576));
        assert_eq!(over("head = false\nhead_over = 7"), None);
    }

    #[test]
    fn what_cannot_be_meant_is_named() {
        let why = |text: &str| parse(text).unwrap_err();
        assert!(why("bytes = 0").starts_with("signals.bytes: "));
        assert!(why("head_over = \"much\"").starts_with("signals.head_over: "));
        assert!(why("[[sitemap]]\nurl = \"no url\"").starts_with("signals.sitemap: url: "));
        let odd = "[[feed]]\nurl = \"https://a.example/\"\n";
        let field = |line: &str| why(&format!("{odd}{line}"));
        assert!(field("include = [\"/x\"]").starts_with("signals.feed: include: "));
        assert!(field("importance = -1.0").starts_with("signals.feed: importance: "));
        assert!(field("max_interval = \"soon\"").starts_with("signals.feed: max_interval: "));
        let twice = why(&format!("{odd}{odd}"));
        assert!(twice.ends_with("stands there twice"), "{twice}");
    }
}
