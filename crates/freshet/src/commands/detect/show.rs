//! Text output of readings and differences.

use std::fmt::Write;

use freshet_detect::{ChangeVerdict, Diff, DiffRow, DiffSide, DocumentKind, Extraction, TextScope};

use crate::commands::detect::Comparison;
use crate::commands::detect::arguments::DiffStyle;

/// Describes how a document was read.
pub(crate) fn header(source: &str, reading: &Extraction) -> String {
    let Extraction { digests, text, scope, document_len, .. } = reading;
    let mut header = format!("{source}: {}, {document_len} bytes", digests.kind);
    match digests.kind {
        DocumentKind::Bytes => header.push_str(", all of which are compared"),
        DocumentKind::Pdf => {
            header.push_str(", compared without the dates and numbers of the file itself")
        }
        _ => {
            let share = 100.0 * text.len() as f64 / (*document_len).max(1) as f64;
            let _ = write!(
                header,
                "\ncompared: {}, {} bytes ({share:.1} %), {} words",
                scope.name(),
                text.len(),
                reading.sketch().words
            );
        }
    }
    let _ = write!(
        header,
        "\nfingerprint: {:032x} (rules {})",
        digests.fingerprint, digests.rules_version
    );
    if *scope == TextScope::Selected && text.is_empty() {
        header.push_str("\nnothing is selected: no part of the document matches");
    }
    if let Some(remarks) = remarks(source, reading) {
        let _ = write!(header, "\n{remarks}");
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for part in &reading.excluded {
        let name = part.reason.name();
        match reasons.iter_mut().find(|it| it.0 == name) {
            Some((_, count)) => *count += 1,
            None => reasons.push((name, 1)),
        }
    }
    if !reasons.is_empty() {
        let list: Vec<_> = reasons.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = write!(header, "\nignored: {}", list.join(", "));
    }
    header + "\n"
}

/// Warnings about how a document was read.
pub(crate) fn remarks(source: &str, reading: &Extraction) -> Option<String> {
    let mut remarks = Vec::new();
    if reading.is_parsed_as_text {
        let kind = reading.digests.kind;
        remarks.push(format!(
            "{source}: not valid {kind}, or nested too deeply: compared as text; hint: give another --kind"
        ));
    }
    for selector in &reading.unmatched {
        remarks.push(format!("{source}: nothing matches `{selector}`"));
    }
    (!remarks.is_empty()).then(|| remarks.join("\n"))
}

/// Maximum length of a listed part, in characters.
const MAX_PART_LEN: usize = 100;

/// Lists the ignored parts and the reasons.
pub(crate) fn ignored_parts(reading: &Extraction) -> String {
    let mut list = String::new();
    for part in &reading.excluded {
        let text: String = part.text.chars().take(MAX_PART_LEN).collect();
        let cut = if text.len() < part.text.len() { "…" } else { "" };
        let _ = writeln!(list, "{:>12}  {}{cut}", part.reason.name(), text.replace('\n', " "));
    }
    list
}

/// Describes whether the content changed, and by how much.
pub(crate) fn verdict(comparison: &Comparison) -> String {
    let (added, removed) = comparison.diff.counts();
    let describe = |share: f64| {
        // Rounded down, so that changed content is never 100 % the same.
        let percent = (1000.0 * share).floor() / 10.0;
        let words = if share >= 1.0 {
            "the same words in a different order".to_owned()
        } else {
            format!("{percent:.1} % of the words are the same")
        };
        format!("{words}; lines: {added} added, {removed} removed")
    };
    match comparison.verdict {
        ChangeVerdict::SameBytes => "same: the bytes are identical".to_owned(),
        ChangeVerdict::SameContent => {
            "same: the bytes differ, but not the compared content".to_owned()
        }
        ChangeVerdict::Slight { similarity } => format!("slight: {}", describe(similarity)),
        ChangeVerdict::Changed { similarity }
            if comparison.new.text.is_empty() && comparison.old.text.is_empty() =>
        {
            let _ = similarity;
            "changed: the bytes differ".to_owned()
        }
        ChangeVerdict::Changed { similarity } => format!("changed: {}", describe(similarity)),
        _ => "cannot be compared".to_owned(),
    }
}

/// Formats the differences.
pub(crate) fn diff(diff: &Diff, style: DiffStyle) -> String {
    match style {
        DiffStyle::Unified => diff.unified(3),
        DiffStyle::Words => diff.words(),
        DiffStyle::Side => side_by_side(diff),
        DiffStyle::None => String::new(),
    }
}

/// Width of each of the two columns, in characters.
const WIDTH: usize = 60;

fn side_by_side(diff: &Diff) -> String {
    let mut out = String::new();
    let sides = diff.column(DiffSide::Old).zip(diff.column(DiffSide::New));
    for ((old, new), row) in sides.zip(&diff.rows) {
        let sign = match row {
            DiffRow::Same(_) => ' ',
            DiffRow::Removed(_) => '<',
            DiffRow::Added(_) => '>',
            DiffRow::Changed { .. } => '|',
        };
        let cell = |text: Option<String>| {
            let text = text.unwrap_or_default().replace('\t', " ");
            let cut: String = text.chars().take(WIDTH - 1).collect();
            if cut.len() < text.len() { cut + "…" } else { cut }
        };
        let line = format!("{:<WIDTH$} {sign} {}", cell(old), cell(new));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
