//! Numbers and moments in words, for pages.

use freshet_daemon::Millis;
use freshet_model::{moment, number};
use freshet_notify::rfc3339;

/// A moment as seen from now, with its date for those who want it: `<time>` in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct When {
    /// `3 min ago`, `in 2 h`.
    pub(crate) words: String,
    /// By RFC 3339.
    pub(crate) exact: String,
}

/// A moment as seen from now.
pub(crate) fn when(at: Millis, now: Millis) -> When {
    When { words: moment::from_now(at, now), exact: rfc3339(at) }
}

/// A share in per cent: `87.3 %`. What is not all is not shown as all.
pub(crate) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.1} %", 100.0 * share);
    match text.as_str() {
        "100.0 %" if share < 1.0 => "99.9 %".to_owned(),
        "100.0 %" => "100 %".to_owned(),
        _ => text,
    }
}

/// The same without decimals that say nothing: `75 %`.
pub(crate) fn whole_percent(share: f64) -> String {
    let text = percent(share);
    match text.strip_suffix(".0 %") {
        Some(whole) => format!("{whole} %"),
        None => text,
    }
}

/// A length of time in days, in the unit that reads best: `3.1 hours`.
pub(crate) fn days(days: f64) -> String {
    if !days.is_finite() {
        return if days.is_nan() { "–".to_owned() } else { "for ever".to_owned() };
    }
    let millis = days * 86_400_000.0;
    if (0.0..1000.0).contains(&millis) && millis > 0.0 {
        return if millis < 1.0 { "under 1 ms".to_owned() } else { format!("{millis:.0} ms") };
    }
    let (scale, unit) = number::unit_of_days(days);
    let value = days * scale;
    let text = if value >= 100.0 { number::fixed(value, 0) } else { format!("{value:.1}") };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} {unit}")
}

/// How often something happens, from its rate a day: `every 3.1 hours`.
pub(crate) fn every(a_day: f64) -> String {
    if a_day > 0.0 { format!("every {}", days(1.0 / a_day)) } else { "never".to_owned() }
}

/// A number with four digits that count.
pub(crate) fn figure(value: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = number::significant(value);
    let Some((digits, power)) = text.split_once('e') else { return text };
    let raised = power.chars().filter_map(|it| match it.to_digit(10) {
        Some(digit) => DIGITS.get(digit as usize).copied(),
        None => (it == '-').then_some('⁻'),
    });
    format!("{digits} × 10{}", raised.collect::<String>())
}

/// A number that may not be one.
pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), figure)
}

/// A count with separated thousands.
pub(crate) fn count(value: u64) -> String {
    number::count(usize::try_from(value).unwrap_or(usize::MAX))
}

/// A count of things: `1 source`, `3 sources`.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    number::plural(usize::try_from(value).unwrap_or(usize::MAX), one, many)
}

/// A text as a sentence: with a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Bytes: `1.2 MB`.
pub(crate) fn bytes(value: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let found = units.into_iter().find(|(scale, _)| value as f64 >= *scale);
    match found {
        Some((scale, unit)) => format!("{:.1} {unit}", value as f64 / scale),
        None => format!("{value} B"),
    }
}

/// The UTC date and time of a moment, to the minute: `18 Nov 14:30`.
pub(crate) fn stamp(at: Millis) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = rfc3339(at);
    // `2026-11-18T14:30:00.000Z`; years of five digits are nobody's.
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    let month = part(5..7).parse::<usize>().ok().and_then(|it| MONTHS.get(it.wrapping_sub(1)));
    format!("{} {} {}", part(8..10).trim_start_matches('0'), month.unwrap_or(&"?"), part(11..16))
}

/// A moment by RFC 3339 as people write it, to the minute: `2026-11-18 14:30 UTC`.
pub(crate) fn minute(exact: &str) -> String {
    match (exact.get(..10), exact.get(11..16)) {
        (Some(date), Some(time)) if exact.ends_with('Z') => format!("{date} {time} UTC"),
        _ => exact.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times_read_well() {
        assert_eq!(percent(0.8734), "87.3 %");
        assert_eq!(percent(0.99999), "99.9 %");
        assert_eq!((percent(1.0), percent(f64::NAN)), ("100 %".into(), "–".into()));
        assert_eq!(days(0.125), "3 hours");
        assert_eq!(days(0.012 / 86_400.0), "12 ms");
        assert_eq!(days(f64::INFINITY), "for ever");
        assert_eq!(
            (days(2e-7), days(1e-10), days(0.0)),
            ("17 ms".into(), "under 1 ms".into(), "0 seconds".into())
        );
        assert_eq!((figure(2.669e-11), figure(0.25)), ("2.669 × 10⁻¹¹".into(), "0.25".into()));
        assert_eq!(every(8.0), "every 3 hours");
        assert_eq!(bytes(1_234_567), "1.2 MB");
        assert_eq!(stamp(951_782_400_000), "29 Feb 00:00");
        assert_eq!(minute(&rfc3339(951_782_400_000)), "2000-02-29 00:00 UTC");
        assert_eq!(minute("ä"), "ä");
    }
}
