//! Those who are told of changes, in words.

use freshet_notify::{DestinationHealth, UnhealthyDestination};

use crate::number::plural;
use crate::terminal;
use crate::time_format::{length, next};

/// Destinations that are named.
const NAMED: usize = 10;

/// How many there are, and how many of them are not told.
pub(super) fn summary(it: &DestinationHealth) -> String {
    let mut words = plural(it.all as usize, "destination", "destinations");
    for (some, what) in [(it.failing, "failing"), (it.paused, "paused")] {
        if some > 0 {
            words.push_str(&format!(", {some} {what}"));
        }
    }
    if it.dead > 0 {
        let dead = plural(it.dead as usize, "delivery", "deliveries");
        words.push_str(&format!(", {dead} given up"));
    }
    words
}

/// Which of them are not told, why and since when; the first few.
pub(super) fn troubles(it: &DestinationHealth, now: i64) -> Vec<String> {
    let mut lines: Vec<String> = it.troubled.iter().take(NAMED).map(|it| one(it, now)).collect();
    if it.troubled.len() > NAMED {
        lines.push("and more: see `freshet notify ls`".to_owned());
    }
    lines
}

fn one(it: &UnhealthyDestination, now: i64) -> String {
    let (since, tried) = it.moments;
    let long = since.map_or(String::new(), |since| format!(" for {}", length(now - since)));
    let why = it.why.as_deref().map_or(String::new(), |why| format!(": {}", terminal::line(why)));
    let mut parts = Vec::new();
    if it.paused {
        parts.push(format!("paused{long}{why}"));
    } else if it.attempts > 0 {
        parts.push(format!("failing{long}{why}; tried again {}", next(tried, now)));
    }
    if it.dead > 0 {
        let dead = plural(it.dead as usize, "delivery", "deliveries");
        parts.push(format!("{dead} given up, see `freshet notify dead {}`", it.name));
    }
    format!("{}: {}", it.name, parts.join("; "))
}
