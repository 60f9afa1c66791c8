//! JSON reports of readings and comparisons.

use freshet_detect::{ChangeVerdict, DiffPart, DiffRow, Extraction};
use serde::Serialize;

use crate::commands::detect::Comparison;

#[derive(Serialize)]
pub(crate) struct ReadingReport<'a> {
    kind: &'static str,
    bytes: usize,
    basis: &'static str,
    words: u32,
    fingerprint: String,
    digest: String,
    rules: u16,
    /// True if the document is not valid for its kind and was read as text.
    as_text: bool,
    /// Selectors that match nothing.
    unmatched: &'a [String],
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "left_out")]
    ignored: Option<Vec<IgnoredPart<'a>>>,
}

#[derive(Serialize)]
struct IgnoredPart<'a> {
    reason: &'static str,
    text: &'a str,
}

impl<'a> ReadingReport<'a> {
    pub(crate) fn new(reading: &'a Extraction, why: bool) -> Self {
        let ignored = reading.excluded.iter();
        let ignored = ignored.map(|it| IgnoredPart { reason: it.reason.name(), text: &it.text });
        Self {
            kind: reading.digests.kind.name(),
            bytes: reading.document_len,
            basis: reading.scope.name(),
            words: reading.sketch().words,
            fingerprint: format!("{:032x}", reading.digests.fingerprint),
            digest: format!("{:032x}", reading.digests.raw),
            rules: reading.digests.rules_version,
            as_text: reading.is_parsed_as_text,
            unmatched: &reading.unmatched,
            text: &reading.text,
            ignored: why.then(|| ignored.collect()),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct ComparisonReport<'a> {
    verdict: &'static str,
    changed: bool,
    similarity: f64,
    /// Similarity of the words alone; `None` if there are no words.
    sketched: Option<f64>,
    added: usize,
    removed: usize,
    old: String,
    new: String,
    /// True for each document that is not valid for its kind.
    as_text: [bool; 2],
    /// Selectors that match nothing, for each document.
    unmatched: [&'a [String]; 2],
    rows: Vec<Line<'a>>,
}

/// A line that differs between the documents.
#[derive(Serialize)]
struct Line<'a> {
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Vec<Run<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Vec<Run<'a>>>,
}

#[derive(Serialize)]
struct Run<'a> {
    text: &'a str,
    same: bool,
}

impl<'a> ComparisonReport<'a> {
    pub(crate) fn new(comparison: &'a Comparison) -> Self {
        let (added, removed) = comparison.diff.counts();
        let (verdict, similarity) = match comparison.verdict {
            ChangeVerdict::SameBytes => ("same-bytes", 1.0),
            ChangeVerdict::SameContent => ("same-content", 1.0),
            ChangeVerdict::Slight { similarity } => ("slight", similarity),
            ChangeVerdict::Changed { similarity } => ("changed", similarity),
            _ => ("incomparable", f64::NAN),
        };
        let (old, new) = (comparison.old.sketch(), comparison.new.sketch());
        Self {
            verdict,
            changed: comparison.verdict.is_change(),
            similarity,
            sketched: (old.words.max(new.words) > 0).then(|| old.similarity(new)),
            added,
            removed,
            old: format!("{:032x}", comparison.old.digests.fingerprint),
            new: format!("{:032x}", comparison.new.digests.fingerprint),
            as_text: [comparison.old.is_parsed_as_text, comparison.new.is_parsed_as_text],
            unmatched: [&comparison.old.unmatched, &comparison.new.unmatched],
            rows: comparison.diff.rows.iter().filter_map(line).collect(),
        }
    }
}

fn line(row: &DiffRow) -> Option<Line<'_>> {
    let whole = |text| Some(vec![Run { text, same: false }]);
    Some(match row {
        DiffRow::Same(_) => return None,
        DiffRow::Removed(text) => Line { change: "removed", old: whole(text), new: None },
        DiffRow::Added(text) => Line { change: "added", old: None, new: whole(text) },
        DiffRow::Changed { old, new } => Line { change: "changed", old: runs(old), new: runs(new) },
    })
}

fn runs(parts: &[DiffPart]) -> Option<Vec<Run<'_>>> {
    Some(parts.iter().map(|it| Run { text: &it.text, same: it.is_same }).collect())
}
