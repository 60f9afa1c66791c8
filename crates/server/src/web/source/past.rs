//! What happened to a source: fetches, why they were made, changes, versions.

use freshet_daemon::Millis;
use freshet_store::{Change, Decision, Observation, StoredOutcome, StoredReason, VersionMeta};

use crate::web::chart::Scale;
use crate::web::said::Flash;
use crate::web::words::{self, When};

/// The fetches of a source, as a picture and as rows.
pub(super) struct Past {
    pub(super) ticks: Vec<Tick>,
    pub(super) axis: Vec<(String, String, &'static str)>,
    /// What the picture shows, for those who do not see it.
    pub(super) summary: String,
    pub(super) rows: Vec<Fetch>,
    /// How many more rows there are.
    pub(super) more: usize,
    pub(super) all: usize,
}

/// A fetch in the picture: how far along it is in per cent, from where to where it goes down, and what
/// stands there.
pub(super) struct Tick {
    pub(super) x: String,
    pub(super) kind: &'static str,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) title: String,
}

/// A fetch in the table.
pub(super) struct Fetch {
    pub(super) when: When,
    pub(super) outcome: &'static str,
    pub(super) tone: &'static str,
    pub(super) note: String,
    pub(super) reason: &'static str,
    pub(super) worth: String,
    pub(super) price: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) answer: String,
}

impl Past {
    pub(super) fn of(history: &[Observation], now: Millis, rows: usize) -> Self {
        let first = history.last().map_or(now - 1, |it| it.at.min(now - 1));
        let x = Scale::time(first, now);
        let ticks = history.iter().rev().map(|it| Tick::of(it, &x)).collect();
        let axis = x.ticks(6).into_iter().map(|(at, label)| {
            let x = 100.0 * x.share(at);
            let anchor = if x < 4.0 {
                "start"
            } else if x > 96.0 {
                "end"
            } else {
                "middle"
            };
            (format!("{x:.2}"), label, anchor)
        });
        let count = |wanted: &[StoredOutcome]| {
            history.iter().filter(|it| wanted.contains(&it.outcome)).count() as u64
        };
        let summary = format!(
            "{}: {} found a change, {} no change, {} brought no copy",
            words::plural(history.len() as u64, "fetch", "fetches"),
            words::count(count(&[StoredOutcome::Changed])),
            words::count(count(&[StoredOutcome::Unchanged])),
            words::count(count(&[
                StoredOutcome::Failed,
                StoredOutcome::Gone,
                StoredOutcome::Disallowed
            ])),
        );
        Self {
            ticks,
            axis: axis.collect(),
            summary,
            rows: history.iter().take(rows).map(|it| Fetch::of(it, now)).collect(),
            more: history.len().saturating_sub(rows),
            all: history.len(),
        }
    }
}

/// In words, and how it looks.
fn outcome(outcome: StoredOutcome) -> (&'static str, &'static str) {
    match outcome {
        StoredOutcome::First => ("first copy", "good"),
        StoredOutcome::Changed => ("changed", "good"),
        StoredOutcome::Unchanged => ("unchanged", ""),
        StoredOutcome::Failed => ("failed", "bad"),
        StoredOutcome::Gone => ("gone", "bad"),
        StoredOutcome::Disallowed => ("not allowed", "warn"),
    }
}

/// Below this share of the price a fetch is not worth it, and was made because others were worth less.
const WORTH_IT: f64 = 0.95;

fn reason(it: Decision) -> &'static str {
    match it.reason {
        StoredReason::New => "no copy yet",
        StoredReason::Value
            if it.value.zip(it.price).is_some_and(|(worth, price)| worth < WORTH_IT * price) =>
        {
            "best of those left"
        }
        StoredReason::Value => "worth the price",
        StoredReason::Pending => "announced changes",
        StoredReason::Overdue => "longest interval over",
        StoredReason::Retry => "tried again",
        StoredReason::Spare => "budget to spare",
        StoredReason::Requested => "somebody asked",
    }
}

impl Tick {
    fn of(it: &Observation, x: &Scale) -> Self {
        let (kind, from, to) = match it.outcome {
            StoredOutcome::First => ("first", 6, 34),
            StoredOutcome::Changed => ("changed", 6, 34),
            StoredOutcome::Unchanged => ("unchanged", 22, 34),
            StoredOutcome::Failed | StoredOutcome::Gone | StoredOutcome::Disallowed => {
                ("failed", 34, 46)
            }
        };
        let why = it.decision.map(|it| format!(", because: {}", reason(it)));
        let note = if it.note.is_empty() { String::new() } else { format!("\n{}", it.note) };
        let title = format!(
            "{}: {}{}{note}",
            words::stamp(it.at),
            outcome(it.outcome).0,
            why.unwrap_or_default()
        );
        Self { x: format!("{:.3}", 100.0 * x.share(it.at as f64)), kind, from, to, title }
    }
}

impl Fetch {
    fn of(it: &Observation, now: Millis) -> Self {
        let (outcome, tone) = outcome(it.outcome);
        let decision = it.decision;
        let part = |pick: fn(Decision) -> Option<f64>| decision.and_then(pick);
        let every = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), words::every);
        let status = if it.status > 0 { format!("{}, ", it.status) } else { String::new() };
        let answer = format!("{status}{}, {} ms", words::bytes(it.bytes), it.duration_ms);
        Self {
            when: words::when(it.at, now),
            outcome,
            tone,
            note: it.note.clone(),
            reason: decision.map_or("not known", reason),
            worth: words::maybe(part(|it| it.value)),
            price: words::maybe(part(|it| it.price)),
            before: every(part(|it| it.rate_before)),
            after: every(part(|it| it.rate_after)),
            answer,
        }
    }
}

/// What a fetch that somebody asked for brought.
pub(super) fn told(last: Option<&Observation>) -> Flash {
    let Some(it) = last else { return Flash::good("It was fetched.") };
    let note = if it.note.is_empty() { String::new() } else { format!(": {}", it.note) };
    match it.outcome {
        StoredOutcome::First => Flash::good("Fetched: this is the first copy."),
        StoredOutcome::Changed => Flash::good(format!("Fetched: it has changed{note}.")),
        StoredOutcome::Unchanged => Flash::good("Fetched: nothing that counts has changed."),
        StoredOutcome::Failed => Flash::bad(format!("The fetch failed{note}.")),
        StoredOutcome::Gone => Flash::bad(format!("Its host says that it is gone{note}.")),
        StoredOutcome::Disallowed => {
            Flash::bad(format!("Not fetched: robots.txt does not allow it{note}."))
        }
    }
}

/// A version that is kept.
pub(super) struct Version {
    pub(super) n: u32,
    pub(super) when: When,
    pub(super) kind: String,
    pub(super) size: String,
    pub(super) summary: String,
    pub(super) raw: String,
    pub(super) diff: Option<String>,
}

pub(super) fn versions(
    id: u32,
    versions: &[VersionMeta],
    changes: &[Change],
    rows: usize,
    now: Millis,
) -> Vec<Version> {
    let mut out = Vec::with_capacity(rows.min(versions.len()));
    for (at, it) in versions.iter().enumerate().take(rows) {
        let before = versions.get(at + 1).map(|it| it.number);
        let change = changes.iter().find(|change| change.new_version == Some(it.number));
        out.push(Version {
            n: it.number,
            when: words::when(it.first_seen_at, now),
            kind: it.content_kind.clone(),
            size: words::bytes(it.size),
            summary: change.map_or_else(String::new, |it| it.change.summary.clone()),
            raw: format!("/raw/{id}/{}", it.number),
            diff: before.map(|from| format!("/sources/{id}/diff?from={from}&to={}", it.number)),
        });
    }
    out
}
