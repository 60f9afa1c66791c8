//! What is written and may be a secret, or hold one, is not repeated: neither by errors nor by `Debug`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::raw::{RawProxy, RawRule, RawSettings, RawValue};
use crate::secret::shown;

/// A table. Something else in its place is refused without being shown.
pub(super) fn table<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(Table(PhantomData))
}

/// A table that may be left out.
pub(super) fn some_table<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    table(deserializer).map(Some)
}

struct Table<T>(PhantomData<T>);

fn refused<T, E: Error>() -> Result<T, E> {
    Err(E::custom("is not a table, such as `{ key = \"value\" }`"))
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<T, E> {
        refused()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        refused()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        refused()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        refused()
    }
}

impl fmt::Debug for RawSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contact, user_agent, robots, allow, limits, rules, .. } = self;
        let allow: Vec<String> = allow.iter().map(|it| shown(it)).collect();
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

impl fmt::Debug for RawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, headers, basic, bearer, proxy } = self;
        f.debug_struct("RawRule")
            .field("pattern", &shown(pattern))
            .field("headers", headers)
            .field("basic", basic)
            .field("bearer", bearer)
            .field("proxy", proxy)
            .finish()
    }
}

impl fmt::Debug for RawValue {
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
            .field("url", &shown(url))
            .field("trusted", trusted)
            .field("basic", basic)
            .finish()
    }
}
