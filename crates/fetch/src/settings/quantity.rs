//! Parses durations and sizes with units.

use std::time::Duration;

use serde::Deserialize;

/// Number of bytes, plain or with a unit.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "is neither a number of bytes nor a size such as \"16MiB\"")]
pub enum RawByteSize {
    /// Plain number.
    Bytes(u64),
    /// Text such as `16MiB`.
    Text(String),
}

/// Parses a duration such as `10s`, `250ms`, `2min`, `24h` or `1d`. Returns `None` if it is invalid
/// or 0.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let time = Duration::try_from_secs_f64(number * seconds).ok()?;
    (!time.is_zero()).then_some(time)
}

/// Formats that [`parse_byte_size`] accepts, for messages.
pub const BYTE_SIZE_FORMATS: &str =
    "a number of bytes, or one with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB";

/// Parses a number of bytes, optionally with a unit in upper or lower case: powers of 1000 (`kB`,
/// `MB`, `GB`, `TB`) or of 1024 (`KiB`, `MiB`, `GiB`, `TiB`). Returns `None` if it is invalid or 0.
#[must_use]
pub fn parse_byte_size(raw: &RawByteSize) -> Option<u64> {
    let bytes = match raw {
        RawByteSize::Bytes(bytes) => *bytes,
        RawByteSize::Text(text) => {
            let (number, unit) = split_unit(text)?;
            let factor = match unit.to_ascii_lowercase().as_str() {
                "" | "b" => 1.0,
                "kb" => 1e3,
                "mb" => 1e6,
                "gb" => 1e9,
                "tb" => 1e12,
                "kib" => 1024.0,
                "mib" => 1_048_576.0,
                "gib" => 1_073_741_824.0,
                "tib" => 1_099_511_627_776.0,
                _ => return None,
            };
            (number * factor) as u64
        }
    };
    (bytes > 0).then_some(bytes)
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        let seconds = |text: &str| parse_duration(text).map(|it| it.as_secs_f64());
        assert_eq!(seconds("10s"), Some(10.0));
        assert_eq!(seconds("250 ms"), Some(0.25));
        assert_eq!(seconds("1.5min"), Some(90.0));
        assert_eq!(seconds("1d"), Some(86_400.0));
        for text in ["", "10", "s", "0s", "-1s", "1e9999s", "10 seconds", "1..2s"] {
            assert_eq!(seconds(text), None, "{text}");
        }
        let bytes = |text: &str| parse_byte_size(&RawByteSize::Text(text.to_owned()));
        assert_eq!(bytes("64KiB"), Some(65_536));
        assert_eq!(bytes("1.5 MB"), Some(1_500_000));
        assert_eq!(bytes("7"), Some(7));
        for (text, expect) in [("2KB", 2000), ("2 kb", 2000), ("2kB", 2000), ("2kib", 2048)] {
            assert_eq!(bytes(text), Some(expect), "{text}");
        }
        assert_eq!((bytes("1TB"), bytes("1TiB")), (Some(1_000_000_000_000), Some(1 << 40)));
        assert_eq!((bytes("0"), bytes("1 mile"), bytes("")), (None, None, None));
    }
}
