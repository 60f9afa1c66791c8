//! Durations as users write them.

/// Units in descending order, with their length in days.
const UNITS: [(&str, f64); 6] = [
    ("w", 7.0),
    ("d", 1.0),
    ("h", 1.0 / 24.0),
    ("min", 1.0 / 1440.0),
    ("s", 1.0 / 86_400.0),
    ("ms", 1.0 / 86_400_000.0),
];

/// Formats days as a duration that settings and commands accept: `1h`, `10min`, `2d`.
#[must_use]
pub fn format_days(days: f64) -> String {
    if !(days > 0.0 && days.is_finite()) {
        return if days > 0.0 { "none".to_owned() } else { "0s".to_owned() };
    }
    // Larger numbers get a larger unit.
    let is_whole = |number: f64| {
        (0.5..1e5).contains(&number) && (number - number.round()).abs() < 1e-6 * number
    };
    if let Some((name, unit)) = UNITS.into_iter().find(|(_, unit)| is_whole(days / unit)) {
        return format!("{:.0}{name}", days / unit);
    }
    let (name, unit) = UNITS.into_iter().find(|(_, unit)| days >= *unit).unwrap_or(UNITS[5]);
    format!("{:.2}{name}", days / unit)
}

/// Parses a duration into days; accepts weeks too: `1w`. `none` and `0` give 0.
#[must_use]
pub fn parse_days(text: &str) -> Option<f64> {
    let text = text.trim();
    if matches!(text, "none" | "0") {
        return Some(0.0);
    }
    let weeks = text.strip_suffix('w').and_then(|number| number.trim().parse::<f64>().ok());
    match weeks {
        Some(weeks) => Some(7.0 * weeks).filter(|days| days.is_finite() && *days > 0.0),
        None => freshet_fetch::parse_duration(text).map(|time| time.as_secs_f64() / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_formatted_as_durations() {
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
            assert_eq!(format_days(days), expect);
        }
    }

    #[test]
    fn durations_are_parsed_into_days() {
        let cases = [("1w", Some(7.0)), (" 36h ", Some(1.5)), ("0", Some(0.0)), ("-1w", None)];
        for (text, expect) in cases.into_iter().chain([("none", Some(0.0)), ("soon", None)]) {
            assert_eq!(parse_days(text), expect, "{text}");
        }
    }
}
