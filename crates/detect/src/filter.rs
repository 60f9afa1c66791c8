//! What of a text does not count, by the settings.

mod dates;

use std::borrow::Cow;
use std::ops::Range;

use crate::html::{LeftOut, Reason};
use crate::settings::Settings;

/// Lines that count, as they are compared. `verbatim` are the parts where each space counts, and
/// stay so.
pub(crate) fn filter(
    text: String,
    verbatim: &mut Vec<Range<usize>>,
    settings: &Settings,
    left_out: &mut Option<Vec<LeftOut>>,
) -> String {
    if settings.leaves_text_alone() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let before = std::mem::take(verbatim);
    let mut before = before.iter().peekable();
    for line in text.lines() {
        let place = line.as_ptr() as usize - text.as_ptr() as usize;
        while before.next_if(|it| it.end <= place).is_some() {}
        let as_is = before.peek().is_some_and(|it| it.contains(&place));
        let start = out.len();
        if !settings.keep_text.is_empty() && !settings.keep_text.iter().any(|it| it.is_match(line))
        {
            leave_out(line, left_out);
            continue;
        }
        let mut line = Cow::Borrowed(line);
        for pattern in &settings.ignore_text {
            if let Cow::Owned(without) = pattern.replace_all(&line, "") {
                if left_out.is_some() {
                    pattern.find_iter(&line).for_each(|it| leave_out(it.as_str(), left_out));
                }
                line = Cow::Owned(without);
            }
        }
        let ignore = &settings.ignore;
        if ignore.dates {
            line = Cow::Owned(dates::without(&line));
        }
        if ignore.numbers {
            line = Cow::Owned(without_numbers(&line));
        }
        if ignore.case {
            line = Cow::Owned(line.to_lowercase());
        }
        if ignore.space {
            out.extend(line.split_whitespace());
        } else {
            out.push_str(if as_is { &line } else { line.trim_end() });
        }
        if out[start..].trim().is_empty() {
            out.truncate(start);
            continue;
        }
        out.push('\n');
        if as_is && !settings.ignore.space {
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

fn leave_out(text: &str, left_out: &mut Option<Vec<LeftOut>>) {
    if let Some(list) = left_out {
        list.push(LeftOut { reason: Reason::Filtered, text: text.trim().to_owned() });
    }
}

/// Each number becomes one sign.
fn without_numbers(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if !character.is_numeric() {
            out.push(character);
            continue;
        }
        out.push('#');
        // Signs within a number belong to it only if a digit follows.
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
    use crate::settings::{Layer, RawSettings};

    #[track_caller]
    fn check(toml: &str, text: &str, expect: &str) {
        let raw: RawSettings = toml::from_str(toml).unwrap();
        let settings = Settings::resolve(&[Layer { name: "test", settings: &raw }]).unwrap();
        assert_eq!(
            filter(text.to_owned(), &mut Vec::new(), &settings, &mut None),
            expect,
            "{toml}"
        );
    }

    #[test]
    fn each_option() {
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
