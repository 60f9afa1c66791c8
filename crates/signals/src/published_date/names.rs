//! Names of months and time zones.

/// Prefixes of month names in common languages of feeds: English, German, French, Spanish, Italian,
/// Portuguese and Dutch. The first match counts.
const MONTH_PREFIXES: &[(&str, i64)] = &[
    ("jan", 1),
    ("ene", 1),
    ("gen", 1),
    ("jän", 1),
    ("fe", 2),
    ("fé", 2),
    ("mär", 3),
    ("maa", 3),
    ("mrz", 3),
    ("mrt", 3),
    ("mar", 3),
    ("apr", 4),
    ("abr", 4),
    ("avr", 4),
    ("mai", 5),
    ("may", 5),
    ("mei", 5),
    ("mag", 5),
    ("juin", 6),
    ("jun", 6),
    ("giu", 6),
    ("juil", 7),
    ("jul", 7),
    ("lug", 7),
    ("aug", 8),
    ("ago", 8),
    ("aoû", 8),
    ("aou", 8),
    ("sep", 9),
    ("set", 9),
    ("oct", 10),
    ("okt", 10),
    ("ott", 10),
    ("out", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
    ("dic", 12),
    ("déc", 12),
];

/// Month names of RFC 822.
const ENGLISH_MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Offsets east of UTC as hours and minutes. Omits names that stand for several zones.
const ZONE_OFFSETS: &[(&str, i64)] = &[
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("wet", 0),
    ("est", -500),
    ("edt", -400),
    ("cst", -600),
    ("cdt", -500),
    ("mst", -700),
    ("mdt", -600),
    ("pst", -800),
    ("pdt", -700),
    ("akst", -900),
    ("akdt", -800),
    ("hst", -1000),
    ("bst", 100),
    ("west", 100),
    ("cet", 100),
    ("mez", 100),
    ("cest", 200),
    ("mesz", 200),
    ("eet", 200),
    ("eest", 300),
    ("msk", 300),
    ("jst", 900),
    ("kst", 900),
    ("acst", 930),
    ("aest", 1000),
    ("aedt", 1100),
    ("nzst", 1200),
    ("nzdt", 1300),
];

/// Returns the number of a month, by its name in lower case, and true if the name is one of RFC 822.
pub(super) fn month_number(name: &str) -> Option<(i64, bool)> {
    let (_, number) = MONTH_PREFIXES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let is_long_enough = name.chars().count() >= 3;
    is_long_enough.then(|| (*number, ENGLISH_MONTHS.contains(&name)))
}

/// Returns the offset of a time zone in seconds east of UTC, by its name in lower case.
pub(super) fn zone_offset(name: &str) -> Option<i64> {
    let (_, offset) = ZONE_OFFSETS.iter().find(|(zone, _)| *zone == name)?;
    Some((offset / 100 * 60 + offset % 100) * 60)
}
