//! Readings and differences for people.

use std::fmt::Write;

use freshet_detect::{Basis, Diff, Kind, Reading, Row, Side, Verdict};

use crate::commands::detect::Comparison;
use crate::commands::detect::arguments::DiffStyle;

/// How a document was read.
pub(crate) fn header(source: &str, reading: &Reading) -> String {
    let Reading { mark, text, basis, bytes, .. } = reading;
    let mut header = format!("{source}: {}, {bytes} bytes", mark.kind);
    match mark.kind {
        Kind::Bytes => header.push_str(", each of which counts"),
        Kind::Pdf => header.push_str(", all but dates and numbers of the copy count"),
        _ => {
            let share = 100.0 * text.len() as f64 / (*bytes).max(1) as f64;
            let _ = write!(
                header,
                "\ncounts: {}, {} bytes ({share:.1} %), {} words",
                basis.name(),
                text.len(),
                reading.sketch().words
            );
        }
    }
    let _ = write!(header, "\nfingerprint: {:032x} (rules {})", mark.fingerprint, mark.rules);
    if *basis == Basis::Selected && text.is_empty() {
        header.push_str("\nnothing is selected: the document has no such part");
    }
    if let Some(remarks) = remarks(source, reading) {
        let _ = write!(header, "\n{remarks}");
    }
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for part in &reading.left_out {
        let name = part.reason.name();
        match reasons.iter_mut().find(|it| it.0 == name) {
            Some((_, count)) => *count += 1,
            None => reasons.push((name, 1)),
        }
    }
    if !reasons.is_empty() {
        let list: Vec<_> = reasons.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = write!(header, "\nleft out: {}", list.join(", "));
    }
    header + "\n"
}

/// What the owner may not expect of how a document was read.
pub(crate) fn remarks(source: &str, reading: &Reading) -> Option<String> {
    let mut remarks = Vec::new();
    if reading.as_text {
        let kind = reading.mark.kind;
        remarks.push(format!(
            "{source}: not valid {kind}, or nested too deep: compared as text; hint: give another --kind"
        ));
    }
    for place in &reading.unmatched {
        remarks.push(format!("{source}: nothing matches `{place}`"));
    }
    (!remarks.is_empty()).then(|| remarks.join("\n"))
}

/// Longer parts are cut.
const LONGEST: usize = 100;

/// What does not count, and why.
pub(crate) fn left_out(reading: &Reading) -> String {
    let mut list = String::new();
    for part in &reading.left_out {
        let text: String = part.text.chars().take(LONGEST).collect();
        let cut = if text.len() < part.text.len() { "…" } else { "" };
        let _ = writeln!(list, "{:>12}  {}{cut}", part.reason.name(), text.replace('\n', " "));
    }
    list
}

/// Whether something changed, and how that is known.
pub(crate) fn verdict(compared: &Comparison) -> String {
    let (added, removed) = compared.diff.counts();
    let lines = |share: f64| {
        // Rounded down: what changed is never the same to 100 %.
        let percent = (1000.0 * share).floor() / 10.0;
        let words = if share >= 1.0 {
            "the same words in another order".to_owned()
        } else {
            format!("{percent:.1} % of the words are the same")
        };
        format!("{words}; lines: {added} new, {removed} gone")
    };
    match compared.verdict {
        Verdict::SameBytes => "same: every byte is the same".to_owned(),
        Verdict::SameContent => "same: bytes differ, but nothing that counts".to_owned(),
        Verdict::Slight { similarity } => format!("slight: {}", lines(similarity)),
        Verdict::Changed { similarity }
            if compared.new.text.is_empty() && compared.old.text.is_empty() =>
        {
            let _ = similarity;
            "changed: the bytes differ".to_owned()
        }
        Verdict::Changed { similarity } => format!("changed: {}", lines(similarity)),
        _ => "cannot be compared".to_owned(),
    }
}

/// What changed.
pub(crate) fn diff(diff: &Diff, style: DiffStyle) -> String {
    match style {
        DiffStyle::Unified => diff.unified(3),
        DiffStyle::Words => diff.words(),
        DiffStyle::Side => side_by_side(diff),
        DiffStyle::None => String::new(),
    }
}

/// Characters in each of two columns.
const WIDTH: usize = 60;

fn side_by_side(diff: &Diff) -> String {
    let mut out = String::new();
    let sides = diff.side(Side::Old).zip(diff.side(Side::New));
    for ((old, new), row) in sides.zip(&diff.rows) {
        let sign = match row {
            Row::Same(_) => ' ',
            Row::Removed(_) => '<',
            Row::Added(_) => '>',
            Row::Changed { .. } => '|',
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
