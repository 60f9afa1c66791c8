//! Description of the destinations of notifications.

use freshet_notify::{DestinationHealth, UnhealthyDestination};

use crate::number::pluralize;
use crate::terminal;
use crate::time_format::{format_duration, format_next};

/// Maximum number of destinations that are listed.
const MAX_LISTED: usize = 10;

/// Describes the number of destinations, and how many of them fail or are paused.
pub(super) fn summary(it: &DestinationHealth) -> String {
    let mut words = pluralize(it.all as usize, "destination", "destinations");
    for (number, state) in [(it.failing, "failing"), (it.paused, "paused")] {
        if number > 0 {
            words.push_str(&format!(", {number} {state}"));
        }
    }
    if it.dead > 0 {
        let dead = pluralize(it.dead as usize, "delivery", "deliveries");
        words.push_str(&format!(", {dead} dead"));
    }
    words
}

/// Describes the first destinations that fail or are paused, with the reason and the time.
pub(super) fn unhealthy(it: &DestinationHealth, now: i64) -> Vec<String> {
    let mut lines: Vec<String> =
        it.troubled.iter().take(MAX_LISTED).map(|it| describe(it, now)).collect();
    if it.troubled.len() > MAX_LISTED {
        lines.push("more: see `freshet notify ls`".to_owned());
    }
    lines
}

fn describe(it: &UnhealthyDestination, now: i64) -> String {
    let (since, tried) = it.moments;
    let duration =
        since.map_or(String::new(), |since| format!(" for {}", format_duration(now - since)));
    let why = it
        .why
        .as_deref()
        .map_or(String::new(), |why| format!(": {}", terminal::sanitize_line(why)));
    let mut parts = Vec::new();
    if it.paused {
        parts.push(format!("paused{duration}{why}"));
    } else if it.attempts > 0 {
        parts.push(format!("failing{duration}{why}; next attempt {}", format_next(tried, now)));
    }
    if it.dead > 0 {
        let dead = pluralize(it.dead as usize, "delivery", "deliveries");
        parts.push(format!("{dead} dead: see `freshet notify dead {}`", it.name));
    }
    format!("{}: {}", it.name, parts.join("; "))
}
