//! What changed, in one line.

use std::collections::HashSet;

use freshet_detect::{Diff, Part, Row, outline};

/// Letters of a summary at most.
const LONGEST: usize = 160;
/// Pieces of a summary at most, and letters of one of them.
const PIECES: usize = 4;
const PIECE: usize = 48;

/// Bytes of each text that are compared, from the first line on that differs.
const WINDOW: usize = 2048;

/// How many lines changed, and the first words that did: `1 changed: 49.90 → 59.90`. Of a long change only
/// the beginning is looked at.
pub(crate) fn summary(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, old_left) = window(&old[..old.len() - same]);
    let (new, new_left) = window(&new[..new.len() - same]);
    let text = told(&outline(&old, &new, LONGEST));
    if old_left || new_left { format!("at least {text}") } else { text }
}

/// Lines as far as they fit, at least the beginning of one, and whether there are more.
fn window(lines: &[&str]) -> (String, bool) {
    let mut some = String::new();
    for line in lines {
        if !some.is_empty() && some.len() + line.len() > WINDOW {
            return (some, true);
        }
        if line.len() > WINDOW {
            let end = (0..=WINDOW).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
            some.push_str(&line[..end]);
            return (some, true);
        }
        some.push_str(line);
        some.push('\n');
    }
    (some, false)
}

fn told(diff: &Diff) -> String {
    let (mut removed, mut added, mut changed) = (0, 0, 0);
    let mut pieces: Vec<String> = Vec::new();
    for row in &diff.rows {
        match row {
            Row::Same(_) => continue,
            Row::Removed(line) | Row::Added(line) if line.trim().is_empty() => continue,
            Row::Removed(_) => removed += 1,
            Row::Added(_) => added += 1,
            Row::Changed { .. } => changed += 1,
        }
        if pieces.len() < PIECES {
            pieces.extend(piece(row));
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
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// What a row says, if its words are told.
fn piece(row: &Row) -> Option<String> {
    match row {
        Row::Same(_) => None,
        Row::Changed { old, new } if old.is_empty() && new.is_empty() => None,
        Row::Removed(line) => Some(format!("−{}", cut(line))),
        Row::Added(line) => Some(format!("+{}", cut(line))),
        Row::Changed { old, new } => Some(format!("{}{} → {}", place(old), other(old), other(new))),
    }
}

/// Of a text that has little in common with the one before: how it begins.
pub(crate) fn rewritten(text: &str) -> String {
    let lines = text.lines().count();
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("rewritten, {lines} lines: {}", cut(first))
}

/// Where a value of JSON is, if the line has one: `/items/+/price: `.
fn place(parts: &[Part]) -> &str {
    let first = parts.first().filter(|part| part.same && part.text.starts_with('/'));
    let end = first.and_then(|part| part.text.find(": ").filter(|end| *end <= PIECE));
    first.zip(end).map_or("", |(part, end)| &part.text[..end + 2])
}

/// Of a feed: entries that came, or else those that went. `None` if it has the same entries as before.
pub(crate) fn entries(old: &str, new: &str) -> Option<String> {
    // A title, a link, and more; an empty line is between them.
    let key = |entry: &'_ str| -> String {
        let mut lines = entry.trim().lines();
        let title = lines.next().unwrap_or_default();
        lines.next().unwrap_or(title).to_owned()
    };
    let without = |some: &str, others: &str| -> Vec<String> {
        let others: HashSet<String> = others.split("\n\n").map(key).collect();
        let others = some.split("\n\n").filter(|entry| !others.contains(&key(entry)));
        others.map(|entry| cut(entry.trim().lines().next().unwrap_or_default())).collect()
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
    use super::*;

    #[test]
    fn says_which_entries_of_a_feed_are_new() {
        let feed = |entries: &[&str]| {
            let entry = |it: &&str| format!("{it}\nhttps://a.example/{it}\nMonday\nA text.\n");
            let all: Vec<String> = entries.iter().map(entry).collect();
            format!("News\n\n{}", all.join("\n"))
        };
        let said = |old: &[&str], new: &[&str]| entries(&feed(old), &feed(new));
        assert_eq!(said(&["a", "b"], &["c", "a"]).as_deref(), Some("new entry: c"));
        assert_eq!(said(&["a"], &["c", "b", "a"]).as_deref(), Some("2 new entries: c; b"));
        let many = said(&[], &["a", "b", "c", "d"]);
        assert_eq!(many.as_deref(), Some("4 new entries: a; b; c; …"));
        assert_eq!(said(&["a", "b"], &["a"]).as_deref(), Some("entry gone: b"));
        assert_eq!(said(&["a", "b"], &["b", "a"]), None);
    }

    #[test]
    fn says_what_changed() {
        let said = summary;
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
        assert!(long.chars().count() <= LONGEST + 1, "{long}");
    }
}
