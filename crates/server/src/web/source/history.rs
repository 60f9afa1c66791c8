//! The history of a source: fetches with their reasons, and versions.

use freshet_daemon::Millis;
use freshet_store::{Change, Decision, Observation, StoredOutcome, StoredReason, VersionMeta};

use crate::web::chart::Scale;
use crate::web::flash::FlashMessage;
use crate::web::format::{self, RelativeTime};

/// The fetches of a source, as a timeline and as table rows.
pub(super) struct FetchHistoryView {
    pub(super) ticks: Vec<TimelineTick>,
    pub(super) axis: Vec<(String, String, &'static str)>,
    /// Text alternative of the timeline.
    pub(super) summary: String,
    pub(super) rows: Vec<FetchRow>,
    /// Number of rows not shown.
    pub(super) more: usize,
    pub(super) all: usize,
}

/// A fetch on the timeline: x position in percent, vertical extent, and tooltip.
pub(super) struct TimelineTick {
    pub(super) x: String,
    pub(super) kind: &'static str,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) title: String,
}

/// A fetch in the table.
pub(super) struct FetchRow {
    pub(super) when: RelativeTime,
    pub(super) outcome: &'static str,
    pub(super) tone: &'static str,
    pub(super) note: String,
    pub(super) reason: &'static str,
    /// Value of the fetch relative to the price, when it was decided.
    pub(super) value: String,
    /// The same as raw figures.
    pub(super) value_details: String,
    pub(super) before: String,
    pub(super) after: String,
    pub(super) answer: String,
}

impl FetchHistoryView {
    pub(super) fn from_history(history: &[Observation], now: Millis, rows: usize) -> Self {
        let first = history.last().map_or(now - 1, |it| it.at.min(now - 1));
        let x = Scale::time(first, now);
        let ticks = history.iter().rev().map(|it| TimelineTick::new(it, &x)).collect();
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
        let count_of = |outcomes: &[StoredOutcome]| {
            history.iter().filter(|it| outcomes.contains(&it.outcome)).count() as u64
        };
        let summary = format!(
            "{}: {} changed, {} unchanged, {} failed",
            format::plural(history.len() as u64, "fetch", "fetches"),
            format::count(count_of(&[StoredOutcome::Changed])),
            format::count(count_of(&[StoredOutcome::Unchanged])),
            format::count(count_of(&[
                StoredOutcome::Failed,
                StoredOutcome::Gone,
                StoredOutcome::Disallowed
            ])),
        );
        Self {
            ticks,
            axis: axis.collect(),
            summary,
            rows: history.iter().take(rows).map(|it| FetchRow::new(it, now)).collect(),
            more: history.len().saturating_sub(rows),
            all: history.len(),
        }
    }
}

/// Returns the label and the tone of an outcome.
fn outcome_label(outcome: StoredOutcome) -> (&'static str, &'static str) {
    match outcome {
        StoredOutcome::First => ("first copy", "good"),
        StoredOutcome::Changed => ("changed", "good"),
        StoredOutcome::Unchanged => ("unchanged", ""),
        StoredOutcome::Failed => ("failed", "bad"),
        StoredOutcome::Gone => ("gone", "bad"),
        StoredOutcome::Disallowed => ("disallowed", "warn"),
    }
}

/// A fetch below this share of the price was made only because other sources had even less value.
const MIN_PRICE_RATIO: f64 = 0.95;

fn reason_label(decision: Decision) -> &'static str {
    match decision.reason {
        StoredReason::New => "first fetch",
        StoredReason::Value
            if decision
                .value
                .zip(decision.price)
                .is_some_and(|(worth, price)| worth < MIN_PRICE_RATIO * price) =>
        {
            "best available"
        }
        StoredReason::Value => "value reached price",
        StoredReason::Pending => "signal",
        StoredReason::Overdue => "maximum interval",
        StoredReason::Retry => "retry",
        StoredReason::Spare => "spare budget",
        StoredReason::Requested => "requested",
    }
}

impl TimelineTick {
    fn new(observation: &Observation, x: &Scale) -> Self {
        let (kind, from, to) = match observation.outcome {
            StoredOutcome::First => ("first", 6, 34),
            StoredOutcome::Changed => ("changed", 6, 34),
            StoredOutcome::Unchanged => ("unchanged", 22, 34),
            StoredOutcome::Failed | StoredOutcome::Gone | StoredOutcome::Disallowed => {
                ("failed", 34, 46)
            }
        };
        let error = observation.decision.map(|it| format!(", reason: {}", reason_label(it)));
        let note = if observation.note.is_empty() {
            String::new()
        } else {
            format!("\n{}", observation.note)
        };
        let title = format!(
            "{}: {}{}{note}",
            format::short_date(observation.at),
            outcome_label(observation.outcome).0,
            error.unwrap_or_default()
        );
        Self { x: format!("{:.3}", 100.0 * x.share(observation.at as f64)), kind, from, to, title }
    }
}

impl FetchRow {
    fn new(observation: &Observation, now: Millis) -> Self {
        let (outcome, tone) = outcome_label(observation.outcome);
        let decision = observation.decision;
        let part = |pick: fn(Decision) -> Option<f64>| decision.and_then(pick);
        let every = |rate: Option<f64>| rate.map_or_else(|| "–".to_owned(), format::interval);
        let status = if observation.status > 0 {
            format!("{}, ", observation.status)
        } else {
            String::new()
        };
        let answer =
            format!("{status}{}, {} ms", format::bytes(observation.bytes), observation.duration_ms);
        Self {
            when: format::relative_time(observation.at, now),
            outcome,
            tone,
            note: observation.note.clone(),
            reason: decision.map_or("unknown", reason_label),
            value: value_of_price(decision),
            value_details: format!(
                "value {}, price {}",
                format::number_or_dash(part(|it| it.value)),
                format::number_or_dash(part(|it| it.price))
            ),
            before: every(part(|it| it.rate_before)),
            after: every(part(|it| it.rate_after)),
            answer,
        }
    }
}

/// Formats the value of a fetch relative to the price: `104%`.
fn value_of_price(decision: Option<Decision>) -> String {
    let value = decision.and_then(|it| it.value.zip(it.price));
    match value {
        Some((value, price)) if price > 0.0 && value.is_finite() && price.is_finite() => {
            match value / price {
                ratio if ratio >= 10.0 => "over 999%".to_owned(),
                ratio => format!("{:.0}%", 100.0 * ratio),
            }
        }
        _ => "–".to_owned(),
    }
}

/// Returns the message for the outcome of a requested fetch.
pub(super) fn fetch_flash(last: Option<&Observation>) -> FlashMessage {
    let Some(it) = last else { return FlashMessage::success("Fetched.") };
    let note = if it.note.is_empty() { String::new() } else { format!(": {}", it.note) };
    match it.outcome {
        StoredOutcome::First => FlashMessage::success("Fetched: first copy stored."),
        StoredOutcome::Changed => {
            FlashMessage::success(format!("Fetched: the source has changed{note}."))
        }
        StoredOutcome::Unchanged => FlashMessage::success("Fetched: no changes."),
        StoredOutcome::Failed => FlashMessage::error(format!("Fetch failed{note}.")),
        StoredOutcome::Gone => {
            FlashMessage::error(format!("Fetch failed: the source is gone{note}."))
        }
        // The note names what forbids it: robots.txt or the address guard.
        StoredOutcome::Disallowed => FlashMessage::error(format!("Not fetched{note}.")),
    }
}

/// A stored version.
pub(super) struct VersionRow {
    pub(super) n: u32,
    pub(super) when: RelativeTime,
    pub(super) kind: String,
    pub(super) size: String,
    pub(super) summary: String,
    pub(super) raw: String,
    pub(super) diff: Option<String>,
}

pub(super) fn version_rows(
    id: u32,
    versions: &[VersionMeta],
    changes: &[Change],
    rows: usize,
    now: Millis,
) -> Vec<VersionRow> {
    let mut out = Vec::with_capacity(rows.min(versions.len()));
    for (at, it) in versions.iter().enumerate().take(rows) {
        let before = versions.get(at + 1).map(|it| it.number);
        let change = changes.iter().find(|change| change.new_version == Some(it.number));
        out.push(VersionRow {
            n: it.number,
            when: format::relative_time(it.first_seen_at, now),
            kind: it.content_kind.clone(),
            size: format::bytes(it.size),
            summary: change.map_or_else(String::new, |it| it.change.summary.clone()),
            raw: format!("/raw/{id}/{}", it.number),
            diff: before.map(|from| format!("/sources/{id}/diff?from={from}&to={}", it.number)),
        });
    }
    out
}
