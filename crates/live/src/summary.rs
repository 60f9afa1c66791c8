//! What changed, in one line.

use freshet_detect::{Diff, Part, Row};

/// Letters of a summary at most.
const LONGEST: usize = 160;
/// Letters of one of its pieces.
const PIECE: usize = 48;

/// How many lines changed, and the first words that did: `1 line: 49.90 → 59.90`.
pub(crate) fn summary(diff: &Diff) -> String {
    let (mut removed, mut added, mut changed) = (0, 0, 0);
    let mut pieces: Vec<String> = Vec::new();
    for row in &diff.rows {
        let piece = match row {
            Row::Same(_) => continue,
            Row::Removed(line) => {
                removed += 1;
                format!("−{}", cut(line))
            }
            Row::Added(line) => {
                added += 1;
                format!("+{}", cut(line))
            }
            Row::Changed { old, new } => {
                changed += 1;
                format!("{} → {}", other(old), other(new))
            }
        };
        if pieces.len() < 4 {
            pieces.push(piece);
        }
    }
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let counts: Vec<String> =
        [counted(changed, "changed"), counted(added, "added"), counted(removed, "removed")]
            .into_iter()
            .flatten()
            .collect();
    let mut text = format!("{}: {}", counts.join(", "), pieces.join("; "));
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Of a text that has little in common with the one before: how it begins.
pub(crate) fn rewritten(text: &str) -> String {
    let lines = text.lines().count();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("rewritten, {lines} lines: {}", cut(first))
}

/// The words that the other line does not have.
fn other(parts: &[Part]) -> String {
    let words: Vec<&str> =
        parts.iter().filter(|part| !part.same).map(|part| part.text.trim()).collect();
    let words = words.join(" … ");
    if words.is_empty() { "nothing".to_owned() } else { cut(&words) }
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(PIECE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use freshet_detect::diff;

    use super::*;

    #[test]
    fn says_what_changed() {
        let said = |old: &str, new: &str| summary(&diff(old, new));
        assert_eq!(
            said("Tea\nIt costs 49.90 today.", "Tea\nIt costs 59.90 today."),
            "1 changed: 49.90 → 59.90"
        );
        assert_eq!(said("one\ntwo", "one\ntwo\nthree"), "1 added: +three");
        assert_eq!(said("one\ntwo", "two"), "1 removed: −one");
        let long = said("", &"word ".repeat(500));
        assert!(long.chars().count() <= LONGEST + 1, "{long}");
    }
}
