//! Result of reading a signal source.

use std::collections::BTreeMap;

use freshet_signals::{Defect, DocumentFormat, DocumentReport};
use serde::{Deserialize, Serialize};

/// Result of the last read of a sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignalSourceReadResult {
    /// Detected format: `sitemap`, `rss`, `html`, …; empty without a document.
    pub format: String,
    /// `read`, or the defect that prevented it: `html`, `cut-off`, `too-large`, …
    pub outcome: String,
    /// Number of pages named.
    pub pages: u64,
    /// Number of child sitemaps named.
    pub parts: u64,
    /// Number of pages that are sources.
    pub known: u64,
    /// Number of those signalled as changed since the previous read.
    pub signals: u64,
    /// Number of pages added as sources.
    pub found: u64,
    /// Number of pages not added because of the rule's limit.
    #[serde(skip_serializing_if = "is_zero")]
    pub over: u64,
    /// Number of pages that it may not signal.
    #[serde(skip_serializing_if = "is_zero")]
    pub elsewhere: u64,
    /// WebSub hubs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hubs: Vec<String>,
    /// URL that hubs know the document by (`rel=self`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<String>,
    /// Number of defects by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defects: BTreeMap<String, u64>,
}

fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// Defects that make a document unreadable; the first one present is the outcome. With those of the
/// second list, it is read up to the limit.
const FATAL_DEFECTS: [Defect; 9] = [
    Defect::BadGzip,
    Defect::Unreadable,
    Defect::Empty,
    Defect::Html,
    Defect::NoFeed,
    Defect::CutOff,
    Defect::BadJson,
    Defect::TooDeep,
    Defect::Unknown,
];
const LIMIT_DEFECTS: [Defect; 3] = [Defect::GzipBomb, Defect::TooLarge, Defect::TooMany];
/// Most hubs remembered.
const MAX_HUBS: usize = 8;

impl SignalSourceReadResult {
    /// Reads the stored result; `None` if there was no read.
    #[must_use]
    pub fn from_signal_source(signal_source: &freshet_store::SignalSource) -> Option<Self> {
        serde_json::from_str(&signal_source.outcome).ok()
    }

    /// Result of a fetch that brought no document.
    pub(crate) fn from_failure(outcome: &str) -> Self {
        Self { outcome: outcome.to_owned(), ..Self::default() }
    }

    pub(crate) fn to_json(&self) -> String {
        // Serialization to JSON cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds the reader's report.
    pub(crate) fn add_report(&mut self, report: &DocumentReport) {
        self.format = report.format.name().to_owned();
        (self.pages, self.parts) = (report.pages, report.sitemaps);
        self.hubs = report.hubs.iter().take(MAX_HUBS).map(ToString::to_string).collect();
        self.itself = report.self_url.as_ref().map(ToString::to_string);
        for (defect, count) in report.defects.iter() {
            *self.defects.entry(defect.name().to_owned()).or_default() += count;
        }
        self.outcome = blocking_defect(report).unwrap_or("read").to_owned();
    }

    /// Adds the `Link` headers of the response, which take precedence over the document (WebSub
    /// §4).
    pub(crate) fn add_links(&mut self, links: &[String], base: &freshet_signals::Url) {
        let links = freshet_signals::parse_link_headers(links.iter().map(String::as_str), base);
        if !links.hubs.is_empty() {
            self.hubs = links.hubs.iter().take(MAX_HUBS).map(ToString::to_string).collect();
        }
        if let Some(itself) = links.self_url {
            self.itself = Some(itself.into());
        }
    }

    /// Describes the result in a phrase.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { format, pages, parts, known, signals, found, over, .. } = self;
        let mut text = match self.outcome.as_str() {
            "read" => format.clone(),
            other => {
                format!("{other}: {}", defect_description(other).unwrap_or("nothing was read"))
            }
        };
        if *parts > 0 {
            text += &format!(", {parts} parts");
        }
        if *pages > 0 {
            text += &format!(", {pages} pages, {known} known, {signals} signalled");
        }
        if *found > 0 {
            text += &format!(", {found} added");
        }
        if *over > 0 {
            text += &format!(", {over} not added: the page limit of the rule is reached");
        }
        text
    }
}

/// Returns the description of a defect by name.
#[must_use]
pub fn defect_description(name: &str) -> Option<&'static str> {
    Defect::ALL.iter().find(|it| it.name() == name).map(|it| it.description())
}

/// Returns the defect that prevented a complete read, if any.
fn blocking_defect(report: &DocumentReport) -> Option<&'static str> {
    let met = |some: &[Defect]| some.iter().find(|it| report.defects.contains(**it)).copied();
    let nothing = matches!(report.format, DocumentFormat::Html | DocumentFormat::Unknown);
    if nothing {
        return Some(met(&FATAL_DEFECTS).unwrap_or(Defect::Unknown).name());
    }
    if report.is_complete {
        return None;
    }
    Some(met(&LIMIT_DEFECTS).or_else(|| met(&FATAL_DEFECTS)).unwrap_or(Defect::CutOff).name())
}

/// True if the fetch of this document counts as failed.
pub(crate) fn is_failure(report: &DocumentReport) -> bool {
    let is_ours = LIMIT_DEFECTS.iter().any(|it| report.defects.contains(*it));
    match report.format {
        DocumentFormat::Html | DocumentFormat::Unknown => true,
        _ => !report.is_complete && !is_ours,
    }
}
