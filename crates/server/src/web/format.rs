//! Formatting of numbers and times for pages.

use freshet_daemon::Millis;
use freshet_model::{number as numbers, time_format};
use freshet_notify::rfc3339;

/// A time relative to now, with the exact time: `<time>` in a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelativeTime {
    /// `3 min ago`, `in 2 h`.
    pub(crate) words: String,
    /// The same time in RFC 3339.
    pub(crate) exact: String,
}

/// Formats a time relative to now.
pub(crate) fn relative_time(at: Millis, now: Millis) -> RelativeTime {
    RelativeTime { words: time_format::format_relative(at, now), exact: rfc3339(at) }
}

/// Formats a share with one decimal: `87.3%`. A share below 1 is never shown as 100%.
pub(crate) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    let text = format!("{:.1}%", 100.0 * share);
    match text.as_str() {
        "100.0%" if share < 1.0 => "99.9%".to_owned(),
        "100.0%" => "100%".to_owned(),
        _ => text,
    }
}

/// Formats a share for reading at a glance: `84%`, with a decimal only near 0% and 100%.
pub(crate) fn rounded_percent(share: f64) -> String {
    if (0.1..0.985).contains(&share) {
        format!("{:.0}%", 100.0 * share)
    } else {
        whole_percent(share)
    }
}

/// Formats a difference of two shares in percentage points: `0.9 points`.
pub(crate) fn points(difference: f64) -> String {
    let points = 100.0 * difference.max(0.0);
    let text = match points {
        0.005.. => format!("{points:.*}", if points < 0.1 { 2 } else { 1 }),
        _ => return "under 0.01 points".to_owned(),
    };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "1" { "1 point".to_owned() } else { format!("{text} points") }
}

/// Formats a gain in percentage points: `+0.9 points`.
pub(crate) fn signed_points(gain: f64) -> String {
    if gain < 5e-5 { "+0 points".to_owned() } else { format!("+{}", points(gain)) }
}

/// Formats a number to about three significant digits, without exponents: `415`, `3.2`.
pub(crate) fn rounded(value: f64) -> String {
    match value {
        10.0.. => numbers::format_fixed(value, 0),
        _ => {
            let text = format!("{value:.1}");
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
    }
}

/// Formats a number rounded to two significant digits: `36,000`, `0.0042`.
pub(crate) fn approximate(value: f64) -> String {
    if !(value > 0.0 && value.is_finite()) {
        return number(value);
    }
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    number((value / unit).round() * unit)
}

/// Formats a ratio: `3.2×`.
pub(crate) fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{}×", rounded(value)) } else { "–".to_owned() }
}

/// Like [`percent`], without a decimal of zero: `75%`.
pub(crate) fn whole_percent(share: f64) -> String {
    let text = percent(share);
    match text.strip_suffix(".0%") {
        Some(whole) => format!("{whole}%"),
        None => text,
    }
}

/// Formats a duration given in days, in the unit that reads best: `3.1 hours`.
pub(crate) fn duration(days: f64) -> String {
    if !days.is_finite() {
        return if days.is_nan() { "–".to_owned() } else { "unlimited".to_owned() };
    }
    let millis = days * 86_400_000.0;
    if (0.0..1000.0).contains(&millis) && millis > 0.0 {
        return if millis < 1.0 { "under 1 ms".to_owned() } else { format!("{millis:.0} ms") };
    }
    let (scale, unit) = numbers::unit_for_days(days);
    let value = days * scale;
    let text = if value >= 100.0 { numbers::format_fixed(value, 0) } else { format!("{value:.1}") };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} {unit}")
}

/// Formats a rate per day as an interval: `every 3.1 hours`.
pub(crate) fn interval(per_day: f64) -> String {
    if per_day > 0.0 { format!("every {}", duration(1.0 / per_day)) } else { "never".to_owned() }
}

/// Formats a number with four significant digits.
pub(crate) fn number(value: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = numbers::format_significant(value);
    let Some((digits, power)) = text.split_once('e') else { return text };
    let raised = power.chars().filter_map(|it| match it.to_digit(10) {
        Some(digit) => DIGITS.get(digit as usize).copied(),
        None => (it == '-').then_some('⁻'),
    });
    format!("{digits} × 10{}", raised.collect::<String>())
}

/// Formats an optional number; a dash if there is none.
pub(crate) fn number_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), number)
}

/// Formats a count with thousands separators.
pub(crate) fn count(value: u64) -> String {
    numbers::format_count(usize::try_from(value).unwrap_or(usize::MAX))
}

/// Formats a count with its noun: `1 source`, `3 sources`.
pub(crate) fn plural(value: u64, one: &str, many: &str) -> String {
    numbers::pluralize(usize::try_from(value).unwrap_or(usize::MAX), one, many)
}

/// Returns the text with a full stop at its end.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Formats a number of bytes: `1.2 MB`.
pub(crate) fn bytes(value: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let found = units.into_iter().find(|(scale, _)| value as f64 >= *scale);
    match found {
        Some((scale, unit)) => format!("{:.1} {unit}", value as f64 / scale),
        None => format!("{value} B"),
    }
}

/// Formats the UTC date and time to the minute: `18 Nov 14:30`.
pub(crate) fn short_date(at: Millis) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = rfc3339(at);
    // `2026-11-18T14:30:00.000Z`; years of five digits do not occur.
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    let month = part(5..7).parse::<usize>().ok().and_then(|it| MONTHS.get(it.wrapping_sub(1)));
    format!("{} {} {}", part(8..10).trim_start_matches('0'), month.unwrap_or(&"?"), part(11..16))
}

/// Shortens an RFC 3339 time to the minute: `2026-11-18 14:30 UTC`.
pub(crate) fn utc_minute(exact: &str) -> String {
    match (exact.get(..10), exact.get(11..16)) {
        (Some(date), Some(time)) if exact.ends_with('Z') => format!("{date} {time} UTC"),
        _ => exact.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_times_are_rounded() {
        assert_eq!(percent(0.8734), "87.3%");
        assert_eq!(percent(0.99999), "99.9%");
        assert_eq!((percent(1.0), percent(f64::NAN)), ("100%".into(), "–".into()));
        assert_eq!(duration(0.125), "3 hours");
        assert_eq!(duration(0.012 / 86_400.0), "12 ms");
        assert_eq!(duration(f64::INFINITY), "unlimited");
        assert_eq!(
            (duration(2e-7), duration(1e-10), duration(0.0)),
            ("17 ms".into(), "under 1 ms".into(), "0 seconds".into())
        );
        assert_eq!((number(2.669e-11), number(0.25)), ("2.669 × 10⁻¹¹".into(), "0.25".into()));
        assert_eq!(interval(8.0), "every 3 hours");
        assert_eq!([0.844, 0.0312, 0.997].map(rounded_percent), ["84%", "3.1%", "99.7%"]);
        assert_eq!(
            [0.009, 0.000_2, 1e-6].map(points),
            ["0.9 points", "0.02 points", "under 0.01 points"]
        );
        assert_eq!([36_261.0, 0.004_237].map(approximate), ["36,000", "0.0042"]);
        assert_eq!([414.9, 3.24, 2.0].map(rounded), ["415", "3.2", "2"]);
        assert_eq!(bytes(1_234_567), "1.2 MB");
        assert_eq!(short_date(951_782_400_000), "29 Feb 00:00");
        assert_eq!(utc_minute(&rfc3339(951_782_400_000)), "2000-02-29 00:00 UTC");
        assert_eq!(utc_minute("ä"), "ä");
    }
}
