//! One-line summaries of changes.

use std::collections::HashSet;

use freshet_detect::{Diff, DiffPart, DiffRow, diff_outline};

/// Longest summary, in characters.
const MAX_SUMMARY_CHARS: usize = 160;
/// Most fragments in a summary, and the longest fragment in characters.
const MAX_PIECES: usize = 4;
const MAX_PIECE_CHARS: usize = 48;

/// Bytes of each text that are compared, counted from the first line that differs.
const MAX_COMPARED_BYTES: usize = 2048;

/// Summarizes a change as line counts and the first changed words: `1 changed: 49.90 → 59.90`. Only
/// the beginning of a long change is compared.
pub(crate) fn summarize_change(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, old_left) = take_window(&old[..old.len() - same]);
    let (new, new_left) = take_window(&new[..new.len() - same]);
    let text = describe_diff(&diff_outline(&old, &new, MAX_SUMMARY_CHARS));
    if old_left || new_left { format!("at least {text}") } else { text }
}

/// Returns as many lines as fit, at least the beginning of the first, and true if any were left
/// over.
fn take_window(lines: &[&str]) -> (String, bool) {
    let mut some = String::new();
    for line in lines {
        if !some.is_empty() && some.len() + line.len() > MAX_COMPARED_BYTES {
            return (some, true);
        }
        if line.len() > MAX_COMPARED_BYTES {
            let end =
                (0..=MAX_COMPARED_BYTES).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
            some.push_str(&line[..end]);
            return (some, true);
        }
        some.push_str(line);
        some.push('\n');
    }
    (some, false)
}

fn describe_diff(diff: &Diff) -> String {
    let (mut removed, mut added, mut changed) = (0, 0, 0);
    let mut pieces: Vec<String> = Vec::new();
    for row in &diff.rows {
        match row {
            DiffRow::Same(_) => continue,
            DiffRow::Removed(line) | DiffRow::Added(line) if line.trim().is_empty() => continue,
            DiffRow::Removed(_) => removed += 1,
            DiffRow::Added(_) => added += 1,
            DiffRow::Changed { .. } => changed += 1,
        }
        if pieces.len() < MAX_PIECES {
            pieces.extend(describe_row(row));
        }
    }
    if pieces.is_empty() {
        return "only empty lines".to_owned();
    }
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let counts: Vec<String> =
        [counted(changed, "changed"), counted(added, "added"), counted(removed, "removed")]
            .into_iter()
            .flatten()
            .collect();
    let mut text = format!("{}: {}", counts.join(", "), pieces.join("; "));
    if let Some((end, _)) = text.char_indices().nth(MAX_SUMMARY_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the fragment for a row; `None` if the row adds no words.
fn describe_row(row: &DiffRow) -> Option<String> {
    match row {
        DiffRow::Same(_) => None,
        DiffRow::Changed { old, new } if old.is_empty() && new.is_empty() => None,
        DiffRow::Removed(line) => Some(format!("−{}", truncate(line))),
        DiffRow::Added(line) => Some(format!("+{}", truncate(line))),
        DiffRow::Changed { old, new } => {
            Some(format!("{}{} → {}", json_path(old), changed_words(old), changed_words(new)))
        }
    }
}

/// Summarizes a text that has little in common with its predecessor: its first line.
pub(crate) fn summarize_rewrite(text: &str) -> String {
    let lines = text.lines().count();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("rewritten, {lines} lines: {}", truncate(first))
}

/// Returns the JSON path that the line starts with, if any: `/items/+/price: `.
fn json_path(parts: &[DiffPart]) -> &str {
    let first = parts.first().filter(|part| part.is_same && part.text.starts_with('/'));
    let end = first.and_then(|part| part.text.find(": ").filter(|end| *end <= MAX_PIECE_CHARS));
    first.zip(end).map_or("", |(part, end)| &part.text[..end + 2])
}

/// Summarizes the entries added to a feed, or else those removed. Returns `None` if the entries are
/// the same.
pub(crate) fn summarize_feed(old: &str, new: &str) -> Option<String> {
    // An entry is a title line, a link line and more; an empty line separates entries.
    let key = |entry: &'_ str| -> String {
        let mut lines = entry.trim().lines();
        let title = lines.next().unwrap_or_default();
        lines.next().unwrap_or(title).to_owned()
    };
    let without = |some: &str, others: &str| -> Vec<String> {
        let others: HashSet<String> = others.split("\n\n").map(key).collect();
        let others = some.split("\n\n").filter(|entry| !others.contains(&key(entry)));
        others.map(|entry| truncate(entry.trim().lines().next().unwrap_or_default())).collect()
    };
    let (come, gone) = (without(new, old), without(old, new));
    let (some, one, many) = match come.is_empty() {
        false => (come, "new entry", "new entries"),
        true if gone.is_empty() => return None,
        true => (gone, "entry gone", "entries gone"),
    };
    let titles: Vec<&str> = some.iter().map(String::as_str).take(3).collect();
    let more = if some.len() > titles.len() { "; …" } else { "" };
    let titles = titles.join("; ");
    Some(match some.len() {
        1 => format!("{one}: {titles}"),
        number => format!("{number} {many}: {titles}{more}"),
    })
}

/// Joins the words that the other line does not have.
fn changed_words(parts: &[DiffPart]) -> String {
    let changed: Vec<&str> =
        parts.iter().filter(|part| !part.is_same).map(|part| part.text.trim()).collect();
    let changed = changed.join(" … ");
    if changed.is_empty() { "nothing".to_owned() } else { truncate(&changed) }
}

fn truncate(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_PIECE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_summary_lists_new_and_removed_entries() {
        let feed = |entries: &[&str]| {
            let entry = |it: &&str| format!("{it}\nhttps://a.example/{it}\nMonday\nA text.\n");
            let all: Vec<String> = entries.iter().map(entry).collect();
            format!("News\n\n{}", all.join("\n"))
        };
        let said = |old: &[&str], new: &[&str]| summarize_feed(&feed(old), &feed(new));
        assert_eq!(said(&["a", "b"], &["c", "a"]).as_deref(), Some("new entry: c"));
        assert_eq!(said(&["a"], &["c", "b", "a"]).as_deref(), Some("2 new entries: c; b"));
        let many = said(&[], &["a", "b", "c", "d"]);
        assert_eq!(many.as_deref(), Some("4 new entries: a; b; c; …"));
        assert_eq!(said(&["a", "b"], &["a"]).as_deref(), Some("entry gone: b"));
        assert_eq!(said(&["a", "b"], &["b", "a"]), None);
    }

    #[test]
    fn a_change_summary_shows_the_changed_words() {
        let said = summarize_change;
        assert_eq!(
            said("Tea\nIt costs 49.90 today.", "Tea\nIt costs 59.90 today."),
            "1 changed: 49.90 → 59.90"
        );
        assert_eq!(said("one\ntwo", "one\ntwo\nthree"), "1 added: +three");
        assert_eq!(said("one\ntwo", "two"), "1 removed: −one");
        assert_eq!(said("one\n\ntwo", "one\n\nnew\n\ntwo"), "1 added: +new");
        assert_eq!(said("one\ntwo", "one\n\ntwo"), "only empty lines");
        assert_eq!(
            said("/items/+/price: 49.90 EUR each", "/items/+/price: 59.90 EUR each"),
            "1 changed: /items/+/price: 49.90 → 59.90"
        );
        let rest = "and so on\n".repeat(1000);
        assert_eq!(said(&rest, &format!("first\n{rest}")), "1 added: +first");
        let other = (0..500).map(|it| format!("line {it} of many")).collect::<Vec<_>>().join("\n");
        assert!(said(&rest, &other).starts_with("at least "));
        let long = said("", &"word ".repeat(500));
        assert!(long.chars().count() <= MAX_SUMMARY_CHARS + 1, "{long}");
    }
}
