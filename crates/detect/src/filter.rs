//! Applies the text filters of the settings.

mod dates;

use std::borrow::Cow;
use std::ops::Range;

use crate::html::{ExcludedText, ExclusionReason};
use crate::settings::DetectSettings;

/// Returns the lines that count, in the form in which they are compared. Updates `verbatim`, the
/// ranges in which white space is significant.
pub(crate) fn filter(
    text: String,
    verbatim: &mut Vec<Range<usize>>,
    settings: &DetectSettings,
    excluded: &mut Option<Vec<ExcludedText>>,
) -> String {
    if settings.has_no_text_filters() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let ranges = std::mem::take(verbatim);
    let mut ranges = ranges.iter().peekable();
    for line in text.lines() {
        let offset = line.as_ptr() as usize - text.as_ptr() as usize;
        while ranges.next_if(|it| it.end <= offset).is_some() {}
        let is_verbatim = ranges.peek().is_some_and(|it| it.contains(&offset));
        let start = out.len();
        if !settings.keep_text.is_empty() && !settings.keep_text.iter().any(|it| it.is_match(line))
        {
            record_excluded(line, excluded);
            continue;
        }
        let mut line = Cow::Borrowed(line);
        for pattern in &settings.ignore_text {
            if let Cow::Owned(filtered) = pattern.replace_all(&line, "") {
                if excluded.is_some() {
                    pattern.find_iter(&line).for_each(|it| record_excluded(it.as_str(), excluded));
                }
                line = Cow::Owned(filtered);
            }
        }
        let ignore = &settings.ignore;
        if ignore.dates {
            line = Cow::Owned(dates::replace_dates(&line));
        }
        if ignore.numbers {
            line = Cow::Owned(replace_numbers(&line));
        }
        if ignore.case {
            line = Cow::Owned(line.to_lowercase());
        }
        if ignore.space {
            out.extend(line.split_whitespace());
        } else {
            out.push_str(if is_verbatim { &line } else { line.trim_end() });
        }
        if out[start..].trim().is_empty() {
            out.truncate(start);
            continue;
        }
        out.push('\n');
        if is_verbatim && !settings.ignore.space {
            verbatim.push(start..out.len());
        }
    }
    if settings.ignore.order {
        verbatim.clear();
        let mut lines: Vec<&str> = out.lines().collect();
        lines.sort_unstable();
        return lines.iter().flat_map(|it| [*it, "\n"]).collect();
    }
    out
}

fn record_excluded(text: &str, excluded: &mut Option<Vec<ExcludedText>>) {
    if let Some(list) = excluded {
        list.push(ExcludedText { reason: ExclusionReason::Filtered, text: text.trim().to_owned() });
    }
}

/// Replaces each number by `#`.
fn replace_numbers(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_numeric() {
            out.push(character);
            continue;
        }
        out.push('#');
        // A separator belongs to a number only if a digit follows.
        loop {
            match characters.peek() {
                Some(it) if it.is_numeric() => {
                    characters.next();
                }
                Some('.' | ',' | '\'') => {
                    let mut ahead = characters.clone();
                    ahead.next();
                    if !ahead.peek().is_some_and(|it| it.is_numeric()) {
                        break;
                    }
                    characters.next();
                }
                _ => break,
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{RawDetectSettings, SettingsLayer};

    #[track_caller]
    fn check(toml: &str, text: &str, expect: &str) {
        let raw: RawDetectSettings = toml::from_str(toml).unwrap();
        let settings =
            DetectSettings::resolve(&[SettingsLayer { name: "test", settings: &raw }]).unwrap();
        assert_eq!(
            filter(text.to_owned(), &mut Vec::new(), &settings, &mut None),
            expect,
            "{toml}"
        );
    }

    #[test]
    fn each_filter_changes_the_text() {
        check("", "A 1\n", "A 1\n");
        check("ignore = ['case']", "Ab Ä\n", "ab ä\n");
        check("ignore = ['numbers']", "1,234.5 of 10. v2\n", "# of #. v#\n");
        check("ignore = ['space']", "a b\tc\n", "abc\n");
        check("ignore = ['order']", "b\na\n", "a\nb\n");
        check("ignore = ['dates']", "on 12 March 2026 at 10:32 we met\n", "on @ we met\n");
        check("keep_text = ['^a', 'z']", "ab\nba\nxz\n", "ab\nxz\n");
        check("ignore_text = ['\\d+ left', 'x']", "only 3 left\nx\ny\n", "only\ny\n");
    }
}
