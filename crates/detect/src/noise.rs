//! What a template writes into a line and a writer never would: how long ago, how often seen, when
//! and for whom the page was made.
//!
//! Numbers in the content count: a price, a version, a score, a date in an article. So a phrase is
//! noise only if it stands alone (in an element of its own, or in a short line) and has the words of
//! a template.

mod prefix;
mod scan;
mod words;

use std::ops::Range;

use crate::html::Reason;

/// Lines of more words than this are written by someone.
const SHORT: usize = 12;

/// Longer lines are no template's.
const LONGEST: usize = 240;

/// Phrases of a template are shorter.
const LONGEST_ALONE: usize = 80;

/// A part of a line that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    pub(crate) range: Range<usize>,
    pub(crate) reason: Reason,
}

/// The parts of a line that do not count, in order. `bounds` are the places in it where an element
/// begins or ends.
pub(crate) fn noise(line: &str, bounds: &[usize]) -> Vec<Noise> {
    let mut found = Vec::new();
    if line.len() > LONGEST {
        // Written by someone: only what has an element of its own can be a template's.
        let ends = bounds.iter().skip(1).copied().chain([line.len()]);
        for (from, to) in bounds.iter().copied().zip(ends) {
            if (1..=LONGEST_ALONE).contains(&to.saturating_sub(from)) {
                in_segment(line, from..to, &mut found);
            }
        }
        return found;
    }
    if !may_have_noise(line) {
        return found;
    }
    if let Some(reason) = prefix::whole_line(line) {
        found.push(Noise { range: 0..line.len(), reason });
        return found;
    }
    let words = scan::words(line);
    let short = words.len() <= SHORT;
    let mut at = 0;
    while at < words.len() {
        let Some((count, reason)) = words::templated(line, &words[at..]) else {
            at += 1;
            continue;
        };
        let range = words[at].start..words[at + count - 1].end;
        if short || is_alone(&range, line, bounds) {
            found.push(Noise { range: with_signs(line, range), reason });
        }
        at += count;
    }
    found
}

/// Whether a text that is a time says it relative to now: `3 minutes ago`, `2h`, `yesterday`.
pub(crate) fn is_relative(text: &str) -> bool {
    if text.len() > LONGEST_ALONE {
        return false;
    }
    let words = scan::words(text);
    words::templated(text, &words).is_some_and(|(count, _)| count == words.len())
        || words::is_span(text, &words)
}

/// A part of a line that is an element of its own.
fn in_segment(line: &str, segment: Range<usize>, found: &mut Vec<Noise>) {
    let text = &line[segment.clone()];
    if !may_have_noise(text) {
        return;
    }
    let words = scan::words(text);
    if let Some((count, reason)) = words::templated(text, &words)
        && count == words.len()
    {
        found.push(Noise { range: segment, reason });
    }
}

/// A cheap look: nearly all noise has a digit.
fn may_have_noise(line: &str) -> bool {
    line.bytes().any(|it| it.is_ascii_digit()) || line.len() <= LONGEST_ALONE && words::may_be(line)
}

/// Whether an element holds the phrase and nothing else.
fn is_alone(range: &Range<usize>, line: &str, bounds: &[usize]) -> bool {
    let blank = |from: usize, to: usize| {
        line.get(from..to).is_some_and(|it| !it.chars().any(char::is_alphanumeric))
    };
    let before = bounds.iter().rev().find(|&&it| it <= range.start);
    let after = bounds.iter().find(|&&it| it >= range.end);
    // The ends of the line bound it too, but not alone: then the phrase would be the line.
    if before.is_none() && after.is_none() {
        return false;
    }
    blank(before.copied().unwrap_or(0), range.start)
        && blank(range.end, after.copied().unwrap_or(line.len()))
}

/// With the brackets around it, or the one that ends it.
fn with_signs(line: &str, range: Range<usize>) -> Range<usize> {
    let bytes = line.as_bytes();
    if bytes.get(range.end) != Some(&b')') {
        return range;
    }
    if line[range.clone()].contains('(') {
        range.start..range.end + 1
    } else if range.start > 0 && bytes[range.start - 1] == b'(' {
        range.start - 1..range.end + 1
    } else {
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line without its noise, `|` being the bounds of elements.
    #[track_caller]
    fn check(line: &str, expect: &str) {
        let mut bounds = Vec::new();
        let mut plain = String::new();
        for part in line.split_inclusive('|') {
            plain.push_str(part.trim_end_matches('|'));
            if part.ends_with('|') {
                bounds.push(plain.len());
            }
        }
        let mut left = String::new();
        let mut at = 0;
        for noise in noise(&plain, &bounds) {
            left.push_str(&plain[at..noise.range.start]);
            at = noise.range.end;
        }
        left.push_str(&plain[at..]);
        assert_eq!(left.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{line}");
    }

    #[test]
    fn how_long_ago() {
        check("Posted 3 minutes ago", "Posted");
        check("by Ann, an hour ago", "by Ann,");
        check("just now", "");
        check("vor 5 Minuten", "");
        check("il y a 2 heures", "");
        check("hace 3 días", "");
        check("3 分前", "");
        check("3分前", "");
        check("منذ 5 دقائق", "");
        check("5 min ago", "");
        check("2h ago", "");
        check("in 5 minutes", "in 5 minutes");
        let prose = "The company was founded 3 years ago by two sisters who had met at a school in Bern \
                     and never lost sight of each other.";
        check(prose, prose);
        check(
            "A long line of text with many words and an element |3 minutes ago| that stands in it alone",
            "A long line of text with many words and an element that stands in it alone",
        );
    }

    #[test]
    fn times_relative_to_now() {
        for text in
            ["3 minutes ago", "2h", "5 min", "yesterday", "Just now", "10 mins", "3d", "gestern"]
        {
            assert!(is_relative(text), "{text}");
        }
        for text in ["12 March 2026", "10:32", "2026", "Monday", "", "12"] {
            assert!(!is_relative(text), "{text}");
        }
    }

    #[test]
    fn how_often_seen() {
        check("1,234 views", "");
        check("1.2K views · 12 comments", "·");
        check("Comments (12)", "");
        check("Views: 1234", "");
        check("Viewed 123 times", "");
        check("This page has been viewed 12,345 times", "");
        check("No comments yet", "");
        check("23 people are looking at this right now", "");
        check("4.5 stars (123 reviews)", "4.5 stars");
        check("12 Kommentare", "");
        check("1 234 vues", "");
        check("12 件のコメント", "");
        check("45 users online", "");
        let prose = "The video had 1,234 views when the minister spoke of it on Monday, and twice as many \
                     on the next day.";
        check(prose, prose);
    }

    #[test]
    fn when_and_for_whom() {
        check("Page generated in 0.031 seconds", "");
        check("Generated at 2026-11-16 10:03:22", "");
        check("Last checked: 16 November 2026 10:03", "");
        check("© 2024–2026 Example Ltd", "");
        check("Copyright 2026 Example", "");
        check("Today is Monday, 16 November 2026", "");
        check("Request ID: 8f3a-11", "");
        check("Welcome back, Ann", "");
        check("You are visitor number 123456", "");
        check("Last updated: 2026-11-16 10:03:22", "");
        check("Cart (2)", "");
        check("Sale ends in 02:13:45", "");
        check("Time: 10:02:33", "");
        check("Good morning, Ann", "");
        check("Served by web-03", "");
    }

    #[test]
    fn numbers_of_the_content_count() {
        for line in [
            "Price: €12.99",
            "Version 2.14.1",
            "Only 3 left in stock",
            "Bears 89 – Wolves 76",
            "12 March 2026",
            "Last updated: 12 March 2026",
            "Published 12 March 2026 at 10:32",
            "5 stars",
            "3 bedrooms, 2 baths",
            "24 results",
            "Chapter 12",
            "Comments are due by 12 March",
            "12 views of Mount Fuji",
            "Open 10:00–18:00",
            "Time: 10:00",
            "Generated 12 MW of power",
            "Copyright law of 1976 applies to all works",
            "Home 2 : 1 Away",
            "2 hours",
        ] {
            check(line, line);
        }
    }
}
