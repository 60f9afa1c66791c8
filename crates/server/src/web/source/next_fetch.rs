//! The next fetch of a source: time, reason, and the value of a fetch over time.

use freshet_daemon::{Millis, SourceExplanation};
use freshet_model::time_format;

use crate::web::chart::{Annotation, Chart, ChartMarkup, Scale, Series, SeriesStyle};
use crate::web::format;

/// Marks closer than this share of the chart width share a label.
const MIN_LABEL_DISTANCE: f64 = 0.1;

/// Advice on importance and budget is given up to this multiple of the current importance.
const MAX_IMPORTANCE_RATIO: f64 = 100.0;

/// Time and reason of the next fetch.
pub(super) struct NextFetchView {
    /// The main fact in a sentence.
    pub(super) headline: String,
    /// Further sentences.
    pub(super) notes: Vec<String>,
    /// Facts as names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    /// Raw figures, shown on demand.
    pub(super) details: Option<String>,
    /// Effect of signals: ID of the signal source, and a sentence.
    pub(super) signals: Option<(u32, String)>,
}

impl NextFetchView {
    pub(super) fn from_explanation(explanation: Option<&SourceExplanation>, now: Millis) -> Self {
        let Some(explanation) = explanation else {
            let headline = "No information yet".to_owned();
            return Self {
                headline,
                notes: Vec::new(),
                facts: Vec::new(),
                details: None,
                signals: None,
            };
        };
        let mut notes = Vec::new();
        let is_waiting = matches!(explanation.standing.as_str(), "waiting" | "candidate");
        if is_waiting && let Some(until) = explanation.host_cooldown_until {
            notes.push(format!(
                "Its host is rate limited: next request {}.",
                time_format::format_relative(until, now)
            ));
        }
        if is_waiting && let Some(value_note) = value_note(explanation) {
            notes.push(value_note);
        }
        if is_waiting {
            notes.extend(earlier_note(explanation));
        }
        let signals = explanation.signals.as_ref().map(|signals| {
            let words = signals.describe(
                explanation.due_without_host.filter(|_| is_waiting && !explanation.is_unpaid),
                now,
            );
            (signals.id, format::sentence(&words))
        });
        let (headline, facts) = (headline(explanation, now), source_facts(explanation, now));
        Self { headline, notes, facts, details: raw_figures(explanation), signals }
    }
}

fn headline(explanation: &SourceExplanation, now: Millis) -> String {
    match explanation.standing.as_str() {
        "fetching" => return "Fetch in progress".to_owned(),
        "paused" => return "Paused: fetched on request only".to_owned(),
        "gone" => return "Gone: no further fetches".to_owned(),
        _ => {}
    }
    let due = explanation.due_at.unwrap_or(now);
    let is_now = due <= now + 1000;
    let when = if is_now { "now".to_owned() } else { time_format::format_relative(due, now) };
    match (explanation.due_reason.as_str(), is_now) {
        ("new", _) => format!("First fetch {when}: there is no copy yet"),
        ("worth", true) => {
            "Next fetch as soon as the budget and the host allow: its value has reached the price"
                .to_owned()
        }
        ("worth", false) => {
            format!("Next fetch {when}, when its value reaches the price")
        }
        ("pending", _) => {
            format!("Next fetch {when}: signaled changes are pending")
        }
        ("shortest", _) => {
            format!("Next fetch {when}, after the minimum interval")
        }
        ("longest", _) => {
            format!("Next fetch {when}, at the maximum interval")
        }
        ("retry", _) => format!("Next attempt {when}: the last fetch failed"),
        ("never", _) => "No fetch planned: its value never reaches the price".to_owned(),
        _ => format!("Next fetch {when}"),
    }
}

/// The value of a fetch, relative to the price.
fn value_note(explanation: &SourceExplanation) -> Option<String> {
    let value = explanation.value?;
    if !(explanation.price > 0.0 && explanation.price.is_finite()) {
        return None;
    }
    Some(format!(
        "The value of a fetch is now at {} of the price. A source is fetched at 100%.",
        format::rounded_percent(value / explanation.price)
    ))
}

/// The value and the price as raw figures.
fn raw_figures(explanation: &SourceExplanation) -> Option<String> {
    let value = explanation.value.filter(|it| it.is_finite())?;
    let price = Some(explanation.price).filter(|it| it.is_finite())?;
    Some(format!(
        "Value of a fetch: {}. Price of a fetch: {}. Both in units of the objective per unit of cost.",
        format::number(value),
        format::number(price)
    ))
}

/// What would make a fetch due now.
fn earlier_note(explanation: &SourceExplanation) -> Option<String> {
    let is_due = explanation.value.is_none_or(|value| value >= explanation.price);
    let importance =
        explanation.importance_to_be_due.filter(|needed| *needed > explanation.importance);
    // A source that is far from due needs no such advice.
    let is_near = |needed: &f64| *needed <= MAX_IMPORTANCE_RATIO * explanation.importance;
    let importance = importance.filter(|needed| !is_due && is_near(needed))?;
    let importance = format::approximate(importance);
    Some(match explanation.budget_to_be_due {
        Some(budget) => format!(
            "It would be due now with an importance of {importance} or, in the long run, with a budget \
             of {} fetches per day.",
            format::approximate(budget)
        ),
        None => format!("It would be due now with an importance of {importance}."),
    })
}

fn source_facts(explanation: &SourceExplanation, now: Millis) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(last) = explanation.last_fetch_at {
        let age = time_format::format_duration(now - last);
        let fresh = explanation
            .fresh_probability
            .map(|it| format!(", fresh with probability {}", format::rounded_percent(it)));
        facts.push(("Copy", format!("{age} old{}", fresh.unwrap_or_default())));
    } else {
        facts.push(("Copy", "none yet".to_owned()));
    }
    if let Some(pending) = explanation.pending {
        let changes = format::plural(u64::from(pending), "change", "changes");
        facts.push(("Signaled", format!("{changes} not fetched yet")));
    }
    facts.push(("Objective", explanation.goal.clone()));
    facts.push(("Importance", format::number(explanation.importance)));
    facts.push(("Cost of a fetch", format::number(explanation.cost)));
    facts.push(("Host", host_status(explanation, now)));
    facts
}

fn host_status(explanation: &SourceExplanation, now: Millis) -> String {
    let host = &explanation.host;
    let mut words = match (host.in_flight, host.available_at.filter(|free| *free > now)) {
        (0, Some(free)) => {
            format!("next request {}", time_format::format_relative(free, now))
        }
        (0, None) => "ready".to_owned(),
        (some, _) => format!("{} in flight", format::plural(u64::from(some), "fetch", "fetches")),
    };
    if host.failures > 0 {
        words += &format!(
            ", {}",
            format::plural(u64::from(host.failures), "failure", "consecutive failures")
        );
    }
    if let Some(price) = host.price {
        words += &format!(
            ", saturated: a fetch must be worth {} as much as elsewhere",
            format::ratio(price / explanation.price)
        );
    }
    words
}

/// Draws how the value of a fetch grows, relative to the price if there is one.
pub(super) fn value_curve(explanation: &SourceExplanation) -> Option<ChartMarkup> {
    let (first, last) = (explanation.value_curve.first()?.0, explanation.value_curve.last()?.0);
    // A source without a copy has no curve.
    explanation.last_fetch_at?;
    let price = Some(explanation.price).filter(|it| *it > 0.0 && it.is_finite());
    let unit = price.unwrap_or(1.0);
    let write = if price.is_some() { format::whole_percent } else { format::number };
    let x = Scale::time(first, last);
    let reference = price.map(|_| 1.0);
    let y = Scale::up_to(
        explanation.value_curve.iter().map(|point| point.1 / unit).chain(reference),
        write,
    );
    let due = explanation.due_without_host.filter(|due| (first..=last).contains(due));
    let values: Vec<_> = explanation.value_curve.iter().map(|point| Some(point.1 / unit)).collect();
    let mut series = vec![Series::line("Value", values).style(SeriesStyle::Area).write(write)];
    if price.is_some() {
        let raw = explanation.value_curve.iter().map(|point| Some(point.1)).collect();
        series.push(Series::line("Raw value", raw).style(SeriesStyle::TableOnly));
        let prices = vec![Some(unit); explanation.value_curve.len()];
        series.push(Series::line("Raw price", prices).style(SeriesStyle::TableOnly));
    }
    let mut annotations = annotations(explanation, unit, due, &x);
    if price.is_some() {
        annotations.insert(0, Annotation::Horizontal(1.0, "Price".to_owned()));
    }
    let summary = match (explanation.value, price, due) {
        (Some(value), Some(price), Some(due)) => format!(
            "{} of the price now, 100% at {}",
            format::rounded_percent(value / price),
            format::short_date(due)
        ),
        (Some(value), Some(price), None) => {
            format!("{} of the price now", format::rounded_percent(value / price))
        }
        (Some(value), ..) => format!("{} now", format::number(value)),
        _ => String::new(),
    };
    let chart = Chart {
        title: "Value of a fetch".to_owned(),
        summary,
        x,
        y,
        x_name: "Time (UTC)",
        y_name: if price.is_some() {
            "Share of the price of a fetch"
        } else {
            "Value per unit of cost"
        },
        at: explanation.value_curve.iter().map(|point| point.0 as f64).collect(),
        series,
        annotations,
    };
    Some(chart.render())
}

/// Marks the current time, the due time and the first pending signal on the curve.
fn annotations(
    explanation: &SourceExplanation,
    unit: f64,
    due: Option<Millis>,
    x: &Scale,
) -> Vec<Annotation> {
    let on_curve = |at: Millis| {
        let after = explanation.value_curve.iter().find(|point| point.0 >= at);
        after.or(explanation.value_curve.last()).map_or(0.0, |point| point.1 / unit)
    };
    let mut annotations = Vec::new();
    let mut mark = |at: Millis, label: &str| {
        annotations.push(Annotation::Vertical(at as f64, label.to_owned()));
        annotations.push(Annotation::Dot(at as f64, on_curve(at), label.to_owned()));
    };
    let distance = |a: Millis, b: Millis| (x.share(a as f64) - x.share(b as f64)).abs();
    let signal = explanation.signals.as_ref().and_then(|signals| signals.first_at);
    let signal =
        signal.filter(|at| explanation.value_curve.first().is_some_and(|first| *at >= first.0));
    if let Some(at) =
        signal.filter(|at| distance(*at, explanation.explained_at) >= MIN_LABEL_DISTANCE)
    {
        mark(at, "signal");
    }
    match due {
        Some(due) if distance(due, explanation.explained_at) < MIN_LABEL_DISTANCE => {
            mark(
                explanation.explained_at,
                if due <= explanation.explained_at { "now, due" } else { "now, due soon" },
            );
            mark(due, "");
        }
        _ => {
            mark(explanation.explained_at, "now");
            if let Some(due) = due {
                mark(due, "due");
            }
        }
    }
    annotations
}
