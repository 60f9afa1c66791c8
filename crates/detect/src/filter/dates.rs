//! Replaces dates and times in the forms that pages use.

use std::sync::LazyLock;

use regex::Regex;

use crate::word_list::word_list;

/// Replaces each date and time in a line by `@`.
pub(crate) fn replace_dates(line: &str) -> String {
    match DATES.as_ref() {
        Some(dates) => dates.replace_all(line, "@").into_owned(),
        None => line.to_owned(),
    }
}

const MONTHS: &[&str] = word_list!("dates/months.txt");
const WEEKDAYS: &[&str] = word_list!("dates/weekdays.txt");

static DATES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let time = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:uhr|utc|gmt|cet|cest|est|edt|pst|pdt|z)\b|\s?[+-]\d{2}:?\d{2})?";
    let (months, weekdays) = (MONTHS.join("|"), WEEKDAYS.join("|"));
    let day = r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?";
    let dates = [
        r"\d{4}-\d{1,2}-\d{1,2}".to_owned(),
        r"\d{4}/\d{1,2}/\d{1,2}".to_owned(),
        r"\d{1,2}\.\s?\d{1,2}\.\s?\d{2,4}".to_owned(),
        r"\d{1,2}/\d{1,2}/\d{2,4}".to_owned(),
        r"\d{4}年\s?\d{1,2}月\s?\d{1,2}日".to_owned(),
        format!(r"{day}\s(?:de\s)?(?:{months})\b\.?,?(?:\s(?:de\s)?\d{{4}}\b)?"),
        format!(r"\b(?:{months})\b\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}}\b)?"),
    ];
    let dates = dates.join("|");
    Regex::new(&format!(
        r"(?i)(?:\b(?:{weekdays})\b\.?,?\s)?(?:{dates})(?:(?:T|,?\s(?:at\s|um\s|à\s)?){time})?|{time}"
    ))
    .ok()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        assert_eq!(replace_dates(line), expect);
    }

    #[test]
    fn the_pattern_compiles() {
        assert!(DATES.is_some());
    }

    #[test]
    fn dates_and_times_are_replaced() {
        check("at 2026-11-16T10:03:22Z.", "at @.");
        check("Mon, 16 Nov 2026 10:03:22 +0100", "@");
        check("12 March 2026", "@");
        check("Mar 12, 2026 and 12.03.2026 and 03/12/2026", "@ and @ and @");
        check("am 3. Oktober 2026 um 10:30 Uhr", "am @");
        check("le 3 février 2026", "le @");
        check("3 de marzo de 2026", "@");
        check("2026年11月16日", "@");
        check("open 10:00 to 6:30 pm", "open @ to @");
        check("Sunday, March 1st", "@");
    }

    #[test]
    fn other_numbers_are_not_dates() {
        for line in ["version 1.2.3", "12.99 €", "may 5000", "1:1", "300 marbles", "page 12/13"] {
            check(line, line);
        }
    }
}
