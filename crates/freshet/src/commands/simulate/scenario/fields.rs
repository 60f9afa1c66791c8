//! Fields of a scenario file, and their validation.

use freshet_sim::{Allowance, FaultKind};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Value;

/// `[[budget]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    #[serde(deserialize_with = "day")]
    pub(super) day: f64,
    #[serde(deserialize_with = "allowance")]
    pub(super) budget: Allowance,
}

/// `[[outage]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outage {
    #[serde(deserialize_with = "day")]
    pub(super) day: f64,
    #[serde(deserialize_with = "length", default = "one_day")]
    pub(super) days: f64,
    #[serde(deserialize_with = "chosen")]
    pub(super) hosts: SelectionField,
    #[serde(deserialize_with = "kind", default = "timeout")]
    pub(super) kind: FaultKind,
}

/// `[[arrival]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrival {
    #[serde(deserialize_with = "day")]
    pub(super) day: f64,
    #[serde(deserialize_with = "number")]
    pub(super) sources: usize,
}

/// `[[rates]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rates {
    #[serde(deserialize_with = "day")]
    pub(super) day: f64,
    #[serde(deserialize_with = "chosen")]
    pub(super) sources: SelectionField,
    #[serde(deserialize_with = "factor")]
    pub(super) factor: f64,
}

/// Selection of hosts or sources.
pub(super) enum SelectionField {
    Share(f64),
    Named(Vec<String>),
}

/// Returns an example of a section.
pub(super) fn example(section: Option<&str>) -> &'static str {
    match section {
        Some("budget") => r#"such as [[budget]] with `day = 30` and `budget = "50%"`"#,
        Some("outage") => {
            r#"such as [[outage]] with `day = 60`, `hosts = "30%"`, and optionally `days = 1` and `kind = "timeout"`"#
        }
        Some("arrival") => "such as [[arrival]] with `day = 80.5` and `sources = 1000`",
        Some("rates") => {
            r#"such as [[rates]] with `day = 50`, `sources = "10%"` and `factor = 10`"#
        }
        _ => {
            "a scenario has [[budget]], [[outage]], [[arrival]] and [[rates]]; `freshet simulate \
             --help` shows one"
        }
    }
}

fn one_day() -> f64 {
    1.0
}

fn timeout() -> FaultKind {
    FaultKind::Timeout
}

fn as_number(value: &Value) -> Option<f64> {
    match *value {
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}

/// Parses a share: `"30%"` is 0.3.
fn as_share(text: &str, max_percent: f64) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (percent >= 0.0 && percent <= max_percent).then_some(percent / 100.0)
}

/// Deserializes a value with `convert`, or fails with a message that it `is not` what was expected.
fn value<'de, D: Deserializer<'de>, T>(
    from: D,
    expected: &str,
    convert: impl FnOnce(&Value) -> Option<T>,
) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    convert(&value).ok_or_else(|| D::Error::custom(format!("is not {expected}")))
}

fn day<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    value(from, "a day, 0 or more, such as `day = 30` or `day = 80.5`", |it| {
        as_number(it).filter(|day| *day >= 0.0 && day.is_finite())
    })
}

fn length<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    value(from, "a number of days above 0, such as `days = 1`", |it| {
        as_number(it).filter(|days| *days > 0.0 && days.is_finite())
    })
}

fn factor<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    value(from, "a factor from 0 to 1e6, such as `factor = 10`", |it| {
        as_number(it).filter(|factor| (0.0..=1e6).contains(factor))
    })
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    value(from, "a number of sources, such as `sources = 1000`", |it| match *it {
        Value::Integer(number) if number >= 1 => usize::try_from(number).ok(),
        _ => None,
    })
}

fn allowance<'de, D: Deserializer<'de>>(from: D) -> Result<Allowance, D::Error> {
    let expected = r#"a budget, such as `budget = "50%"` (of --budget) or `budget = "400/day"`"#;
    value(from, expected, |it| {
        let text = it.as_str()?;
        match as_share(text, 1e6) {
            Some(share) => Some(Allowance::Share(share)),
            None => text.parse().ok().map(Allowance::Budget),
        }
    })
}

fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<FaultKind, D::Error> {
    value(from, r#""timeout" (no response) or "slow" (after an hour)"#, |it| match it.as_str()? {
        "timeout" => Some(FaultKind::Timeout),
        "slow" => Some(FaultKind::Slow),
        _ => None,
    })
}

fn chosen<'de, D: Deserializer<'de>>(from: D) -> Result<SelectionField, D::Error> {
    let name = |it: &Value| match it {
        Value::String(name) => Some(name.clone()),
        Value::Integer(number) => Some(number.to_string()),
        _ => None,
    };
    value(from, r#"a share such as "30%" or a list of names or numbers such as [1, 2]"#, |it| {
        match it {
            Value::String(text) => as_share(text, 100.0).map(SelectionField::Share),
            Value::Array(list) => {
                list.iter().map(name).collect::<Option<_>>().map(SelectionField::Named)
            }
            _ => None,
        }
    })
}
