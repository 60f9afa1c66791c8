//! What came of reading a herald, in words and numbers.

use std::collections::BTreeMap;

use freshet_signals::{Defect, Format, Report};
use serde::{Deserialize, Serialize};

/// What came of the last read of a sitemap or feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SignalSourceRead {
    /// What the document is: `sitemap`, `rss`, `html`, …; empty if none came.
    pub format: String,
    /// In a word: `read`, or what was in the way: `html`, `cut-off`, `too-large`, …
    pub outcome: String,
    /// Pages that it names.
    pub pages: u64,
    /// Sitemaps that it names as parts of itself.
    pub parts: u64,
    /// Of the pages, those that are sources.
    pub known: u64,
    /// Of those, the ones that were said to have changed since the read before.
    pub signals: u64,
    /// Pages that became sources.
    pub found: u64,
    /// Pages that would have, but for the limit of the rule.
    #[serde(skip_serializing_if = "is_zero")]
    pub over: u64,
    /// Pages of which it may not speak.
    #[serde(skip_serializing_if = "is_zero")]
    pub elsewhere: u64,
    /// Hubs that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hubs: Vec<String>,
    /// The URL under which hubs know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub itself: Option<String>,
    /// What is wrong with it, by name, and how often.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defects: BTreeMap<String, u64>,
}

fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// What is in the way of a document as a whole: the first that it has is its outcome. With those of the
/// second list it is read as far as it goes each time.
const FATAL: [Defect; 9] = [
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
const LIMITS: [Defect; 3] = [Defect::GzipBomb, Defect::TooLarge, Defect::TooMany];
/// Hubs that are remembered.
const HUBS: usize = 8;

impl SignalSourceRead {
    /// As it stands in the store; `None` if it was never read.
    #[must_use]
    pub fn of(herald: &freshet_store::SignalSource) -> Option<Self> {
        serde_json::from_str(&herald.outcome).ok()
    }

    /// That no document came, and why in a word.
    pub(crate) fn failed(outcome: &str) -> Self {
        Self { outcome: outcome.to_owned(), ..Self::default() }
    }

    pub(crate) fn to_text(&self) -> String {
        // There is nothing in it that JSON could not hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Takes note of what a document was.
    pub(crate) fn report(&mut self, report: &Report) {
        self.format = report.format.name().to_owned();
        (self.pages, self.parts) = (report.entries, report.parts);
        self.hubs = report.hub.iter().take(HUBS).map(ToString::to_string).collect();
        self.itself = report.itself.as_ref().map(ToString::to_string);
        for (defect, count) in report.defects.iter() {
            *self.defects.entry(defect.name().to_owned()).or_default() += count;
        }
        self.outcome = outcome(report).unwrap_or("read").to_owned();
    }

    /// Takes note of what the answer's `Link` headers say: that comes before what the document says
    /// (WebSub §4).
    pub(crate) fn linked(&mut self, links: &[String], base: &freshet_signals::Url) {
        let links = freshet_signals::links(links.iter().map(String::as_str), base);
        if !links.hub.is_empty() {
            self.hubs = links.hub.iter().take(HUBS).map(ToString::to_string).collect();
        }
        if let Some(itself) = links.itself {
            self.itself = Some(itself.into());
        }
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { format, pages, parts, known, signals, found, over, .. } = self;
        let mut words = match self.outcome.as_str() {
            "read" => format.clone(),
            other => {
                format!("{other}: {}", defect_about(other).unwrap_or("nothing was read"))
            }
        };
        if *parts > 0 {
            words += &format!(", {parts} parts");
        }
        if *pages > 0 {
            words += &format!(", {pages} pages, {known} known, {signals} said to have changed");
        }
        if *found > 0 {
            words += &format!(", {found} added");
        }
        if *over > 0 {
            words += &format!(", {over} not added: the limit of its rule is reached");
        }
        words
    }
}

/// What a defect of a document means, by its name.
#[must_use]
pub fn defect_about(name: &str) -> Option<&'static str> {
    Defect::ALL.iter().find(|it| it.name() == name).map(|it| it.about())
}

/// What was in the way, if something was.
fn outcome(report: &Report) -> Option<&'static str> {
    let met = |some: &[Defect]| some.iter().find(|it| report.defects.has(**it)).copied();
    let nothing = matches!(report.format, Format::Html | Format::Unknown);
    if nothing {
        return Some(met(&FATAL).unwrap_or(Defect::Unknown).name());
    }
    if report.complete {
        return None;
    }
    Some(met(&LIMITS).or_else(|| met(&FATAL)).unwrap_or(Defect::CutOff).name())
}

/// Whether a fetch that brought this document has failed.
pub(crate) fn is_failure(report: &Report) -> bool {
    let is_ours = LIMITS.iter().any(|it| report.defects.has(*it));
    match report.format {
        Format::Html | Format::Unknown => true,
        _ => !report.complete && !is_ours,
    }
}
