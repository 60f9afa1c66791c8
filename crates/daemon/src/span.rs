//! Times as people write them.

/// Units, the longest first: what they are called, and how many days they are.
const UNITS: [(&str, f64); 6] = [
    ("w", 7.0),
    ("d", 1.0),
    ("h", 1.0 / 24.0),
    ("min", 1.0 / 1440.0),
    ("s", 1.0 / 86_400.0),
    ("ms", 1.0 / 86_400_000.0),
];

/// Days as a time that settings and commands take: `1h`, `10min`, `2d`.
#[must_use]
pub fn span(days: f64) -> String {
    if !(days > 0.0 && days.is_finite()) {
        return if days > 0.0 { "none".to_owned() } else { "0s".to_owned() };
    }
    // Of more, nobody wants to read the digits.
    let is_whole = |number: f64| {
        (0.5..1e5).contains(&number) && (number - number.round()).abs() < 1e-6 * number
    };
    if let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| is_whole(days / unit)) {
        return format!("{:.0}{name}", days / unit);
    }
    let (name, unit) = UNITS.into_iter().find(|(_, unit)| days >= *unit).unwrap_or(UNITS[5]);
    format!("{:.2}{name}", days / unit)
}

/// Days of a time as people write it, also in weeks: `1w`. `none` and `0` are no days.
#[must_use]
pub fn days_in(text: &str) -> Option<f64> {
    let text = text.trim();
    if matches!(text, "none" | "0") {
        return Some(0.0);
    }
    let weeks = text.strip_suffix('w').and_then(|number| number.trim().parse::<f64>().ok());
    match weeks {
        Some(weeks) => Some(7.0 * weeks).filter(|days| days.is_finite() && *days > 0.0),
        None => freshet_fetch::time(text).map(|time| time.as_secs_f64() / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_they_are_written() {
        let cases = [
            (7.0, "1w"),
            (1.5, "36h"),
            (1.0 / 24.0, "1h"),
            (0.041_666_666, "1h"),
            (10.0 / 1440.0, "10min"),
            (90.0 / 86_400.0, "90s"),
            (0.25 / 86_400.0, "250ms"),
            (std::f64::consts::PI, "3.14d"),
            (0.0, "0s"),
            (f64::INFINITY, "none"),
        ];
        for (days, expect) in cases {
            assert_eq!(span(days), expect);
        }
    }

    #[test]
    fn what_is_written_is_understood() {
        let cases = [("1w", Some(7.0)), (" 36h ", Some(1.5)), ("0", Some(0.0)), ("-1w", None)];
        for (text, expect) in cases.into_iter().chain([("none", Some(0.0)), ("soon", None)]) {
            assert_eq!(days_in(text), expect, "{text}");
        }
    }
}
