//! Keeps values that may be or contain secrets out of errors and `Debug` output.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::raw::{RawFetchSettings, RawHeaderValue, RawProxy, RawUrlRule};
use crate::secret::redact_userinfo;

/// Deserializes a table. Any other value is rejected without being shown.
pub(super) fn deserialize_table<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(TableVisitor(PhantomData))
}

/// Deserializes an optional table.
pub(super) fn deserialize_optional_table<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserialize_table(deserializer).map(Some)
}

struct TableVisitor<T>(PhantomData<T>);

fn not_a_table<T, E: Error>() -> Result<T, E> {
    Err(E::custom("is not a table, such as `{ key = \"value\" }`"))
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        not_a_table()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        not_a_table()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        not_a_table()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        not_a_table()
    }
}

impl fmt::Debug for RawFetchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contact, user_agent, robots, allow, limits, rules, .. } = self;
        let allow: Vec<String> = allow.iter().map(|it| redact_userinfo(it)).collect();
        f.debug_struct("RawSettings")
            .field("contact", contact)
            .field("user_agent", user_agent)
            .field("robots", robots)
            .field("allow", &allow)
            .field("limits", limits)
            .field("rules", rules)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RawUrlRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, headers, basic, bearer, proxy } = self;
        f.debug_struct("RawRule")
            .field("pattern", &redact_userinfo(pattern))
            .field("headers", headers)
            .field("basic", basic)
            .field("bearer", bearer)
            .field("proxy", proxy)
            .finish()
    }
}

impl fmt::Debug for RawHeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("Plain(…)"),
            Self::Secret(place) => write!(f, "Secret({place:?})"),
        }
    }
}

impl fmt::Debug for RawProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, trusted, basic } = self;
        f.debug_struct("RawProxy")
            .field("url", &redact_userinfo(url))
            .field("trusted", trusted)
            .field("basic", basic)
            .finish()
    }
}
