//! Readings and differences for programs.

use freshet_detect::{Part, Reading, Row, Verdict};
use serde::Serialize;

use crate::commands::detect::Comparison;

#[derive(Serialize)]
pub(crate) struct Read<'a> {
    kind: &'static str,
    bytes: usize,
    basis: &'static str,
    words: u32,
    fingerprint: String,
    digest: String,
    rules: u16,
    /// Not what its kind says: read as text.
    as_text: bool,
    /// Selectors that lead to nothing.
    unmatched: &'a [String],
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<LeftOut<'a>>>,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    reason: &'static str,
    text: &'a str,
}

impl<'a> Read<'a> {
    pub(crate) fn of(reading: &'a Reading, why: bool) -> Self {
        let list = reading.left_out.iter();
        let list = list.map(|it| LeftOut { reason: it.reason.name(), text: &it.text });
        Self {
            kind: reading.mark.kind.name(),
            bytes: reading.bytes,
            basis: reading.basis.name(),
            words: reading.sketch().words,
            fingerprint: format!("{:032x}", reading.mark.fingerprint),
            digest: format!("{:032x}", reading.mark.raw),
            rules: reading.mark.rules,
            as_text: reading.as_text,
            unmatched: &reading.unmatched,
            text: &reading.text,
            left_out: why.then(|| list.collect()),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Compared<'a> {
    verdict: &'static str,
    changed: bool,
    similarity: f64,
    /// Of the words alone, whether or not that was asked; nothing where there are none.
    sketched: Option<f64>,
    added: usize,
    removed: usize,
    old: String,
    new: String,
    /// Whether either was not what its kind says.
    as_text: [bool; 2],
    /// Selectors that lead to nothing, in each.
    unmatched: [&'a [String]; 2],
    rows: Vec<Line<'a>>,
}

/// A line that is not in both.
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

impl<'a> Compared<'a> {
    pub(crate) fn of(compared: &'a Comparison) -> Self {
        let (added, removed) = compared.diff.counts();
        let (verdict, similarity) = match compared.verdict {
            Verdict::SameBytes => ("same-bytes", 1.0),
            Verdict::SameContent => ("same-content", 1.0),
            Verdict::Slight { similarity } => ("slight", similarity),
            Verdict::Changed { similarity } => ("changed", similarity),
            _ => ("incomparable", f64::NAN),
        };
        let (old, new) = (compared.old.sketch(), compared.new.sketch());
        Self {
            verdict,
            changed: compared.verdict.is_change(),
            similarity,
            sketched: (old.words.max(new.words) > 0).then(|| old.similarity(new)),
            added,
            removed,
            old: format!("{:032x}", compared.old.mark.fingerprint),
            new: format!("{:032x}", compared.new.mark.fingerprint),
            as_text: [compared.old.as_text, compared.new.as_text],
            unmatched: [&compared.old.unmatched, &compared.new.unmatched],
            rows: compared.diff.rows.iter().filter_map(line).collect(),
        }
    }
}

fn line(row: &Row) -> Option<Line<'_>> {
    let whole = |text| Some(vec![Run { text, same: false }]);
    Some(match row {
        Row::Same(_) => return None,
        Row::Removed(text) => Line { change: "removed", old: whole(text), new: None },
        Row::Added(text) => Line { change: "added", old: None, new: whole(text) },
        Row::Changed { old, new } => Line { change: "changed", old: runs(old), new: runs(new) },
    })
}

fn runs(parts: &[Part]) -> Option<Vec<Run<'_>>> {
    Some(parts.iter().map(|it| Run { text: &it.text, same: it.same }).collect())
}
