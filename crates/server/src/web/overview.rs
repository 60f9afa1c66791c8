//! The overview: freshness, what limits it, and what needs attention.

mod attention;
mod summary;
mod trends;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use freshet_daemon::{DaemonStatus, Millis};
use freshet_model::time_format;
use serde::Deserialize;

use self::attention::{AttentionItem, attention_items};
use self::summary::{Summary, SummaryInputs};
use self::trends::{TimeRange, trend_charts};
use super::chart::ChartMarkup;
use super::forecast::{self, Forecast};
use super::format;
use super::frame::{Frame, render_page};
use super::hosts;
use crate::app::App;
use crate::extractors::QueryParams;
use crate::problem::Problem;
use crate::true_freshness::FreshnessSeries;

const DAY: Millis = 86_400_000;
/// Retention of the statistics.
const MAX_HISTORY: Millis = 400 * DAY;
/// Hosts listed on the page.
const MAX_HOSTS: usize = 8;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OverviewQuery {
    span: Option<String>,
}

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    frame: Frame,
    has_sources: bool,
    summary: Summary,
    cards: Vec<StatCard>,
    ranges: Vec<(&'static str, &'static str, bool)>,
    freshness: ChartMarkup,
    changes: ChartMarkup,
    hosts: Vec<hosts::HostRow>,
    saturated_hosts: u64,
    attention: Vec<AttentionItem>,
    ground_truth: Vec<GroundTruthRow>,
}

/// A key figure with an explanation.
struct StatCard {
    name: &'static str,
    value: String,
    unit: String,
    text: String,
    /// Raw figures, shown on demand.
    details: String,
}

struct GroundTruthRow {
    name: String,
    fresh: String,
    requests: String,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    QueryParams(query): QueryParams<OverviewQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("overview");
    let now = frame.now;
    let range = query.span.as_deref().and_then(TimeRange::from_name).unwrap_or_default();
    let status = app.handle.status().await?;
    // Without sources there is no forecast.
    let forecast = forecast::current_forecast(&app).await.ok();
    let plan = app.handle.plan().await?;
    let read = app.read(move |reader| {
        let unfetchable = attention::count_unfetchable(reader)?;
        let day = reader.stats_buckets(now - DAY, now + 1, DAY)?;
        let ledger = reader.ledger(now - DAY)?;
        let spent: f64 = ledger.iter().map(|it| it.fetches).sum();
        let bytes: u64 = ledger.iter().map(|it| it.bytes).sum();
        let fetches_ever = reader.stats_buckets(now - MAX_HISTORY, now + 1, MAX_HISTORY)?;
        let fetches_ever: u64 = fetches_ever.iter().map(|it| it.fetches).sum();
        let buckets = reader.stats_buckets(range.since(now), now + 1, range.step())?;
        Ok((unfetchable, day, spent, bytes, fetches_ever, buckets))
    });
    let (unfetchable, day, spent, bytes, fetches_ever, buckets) = read.await?;
    let spent = (spent - status.prepaid).max(0.0);
    let fetched: u64 = day.iter().map(|it| it.fetches).sum();
    let (tracked, fresh) =
        day.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.held_days, sum.1 + it.fresh_days));
    let attention = attention_items(&app, &status, now).await?;
    let inputs = SummaryInputs {
        budget: status.budget,
        // Without a copy, freshness is undefined.
        freshness: plan.freshness.filter(|it| it.is_finite() && (*it > 0.0 || fetched > 0)),
        spent,
        uptime: now - status.started_at,
        fetches_per_source: fetches_ever as f64 / status.sources.max(1) as f64,
        saturated_hosts: status.saturated_hosts,
        store_error: status.write_error.clone(),
        sources: status.sources,
        unfetchable,
        doubled_budget_freshness: forecast
            .as_deref()
            .and_then(|it| it.at_budget(2.0 * it.now.budget).ok())
            .map(|it| it.freshness),
        long_run_freshness: forecast.as_deref().map(|it| it.now.freshness),
        is_enough: forecast.as_deref().is_some_and(|it| it.now.is_enough),
        attention_items: attention.len(),
    };
    let truth: Vec<FreshnessSeries> =
        app.true_freshness.as_ref().map(|truth| truth.borrow().series.clone()).unwrap_or_default();
    let measured = (tracked > 0.0).then(|| fresh / tracked);
    let (freshness, changes) = trend_charts(&buckets, range, now, &truth);
    let worst = app.handle.worst_hosts(MAX_HOSTS).await?;
    let worst = hosts::hosts_by_id(&app, worst.into_iter().map(|it| it.id).collect()).await?;
    let hosts = hosts::host_rows(&app, worst, plan.price, now).await?;
    render_page(&OverviewPage {
        has_sources: status.sources > 0,
        summary: Summary::from_inputs(&inputs),
        cards: stat_cards(&inputs, &status, forecast.as_deref(), measured, &day, bytes),
        ranges: TimeRange::options(range),
        freshness,
        changes,
        hosts,
        saturated_hosts: status.saturated_hosts,
        attention,
        ground_truth: truth.iter().map(GroundTruthRow::from_line).collect(),
        frame,
    })
}

impl GroundTruthRow {
    fn from_line(line: &FreshnessSeries) -> Self {
        Self {
            name: line.name.clone(),
            fresh: format::percent(line.mean),
            requests: format::count(line.requests),
        }
    }
}

fn stat_cards(
    inputs: &SummaryInputs,
    status: &DaemonStatus,
    forecast: Option<&Forecast>,
    measured: Option<f64>,
    day: &[freshet_store::StatsBucket],
    bytes: u64,
) -> Vec<StatCard> {
    let freshness = StatCard {
        name: "Freshness",
        value: inputs.freshness.map_or_else(|| "–".to_owned(), format::rounded_percent),
        unit: "expected now".to_owned(),
        text: match measured {
            Some(measured) => {
                format!("Measured over the last 24 hours: {}", format::percent(measured))
            }
            None => "No measurement yet: that takes a second fetch of a source".to_owned(),
        },
        details: String::new(),
    };
    let changed: u64 = day.iter().map(|it| it.changed).sum();
    let fetched: u64 = day.iter().map(|it| it.fetches).sum();
    let hours = (inputs.uptime as f64 / 3_600_000.0).clamp(1.0, 24.0);
    let changes = StatCard {
        name: "Changes per hour",
        value: format::rounded(changed as f64 / if changed > 0 { hours } else { 1.0 }),
        unit: "over the last 24 hours".to_owned(),
        text: format!(
            "{}, found by {}",
            format::plural(changed, "change", "changes"),
            format::plural(fetched, "fetch", "fetches")
        ),
        details: String::new(),
    };
    vec![
        freshness,
        budget_use_card(inputs, status, bytes),
        more_budget_card(inputs, status, forecast),
        changes,
        active_fetches_card(status),
    ]
}

fn budget_use_card(inputs: &SummaryInputs, status: &DaemonStatus, bytes: u64) -> StatCard {
    let left = (inputs.budget - inputs.spent).max(0.0);
    let share = if inputs.budget > 0.0 { inputs.spent / inputs.budget } else { 0.0 };
    let bytes = status.bytes_per_day.map(|limit| {
        let limit = format::bytes(limit.min(1e18) as u64);
        format!("; {} of {limit} transferred", format::bytes(bytes))
    });
    StatCard {
        name: "Budget used",
        value: format::count(inputs.spent.round() as u64),
        unit: format!("of {} fetches per 24 hours", format::count(inputs.budget.round() as u64)),
        text: match inputs.uptime {
            // The budget accrues over the day, so the rest of it is not available yet.
            uptime if uptime < DAY => format!(
                "{} used; {} fetches available since start {} ago{}",
                format::rounded_percent(share),
                format::count((inputs.budget * uptime as f64 / DAY as f64).round() as u64),
                time_format::format_duration(uptime),
                bytes.unwrap_or_default()
            ),
            _ => format!(
                "{} used, {} left{}",
                format::rounded_percent(share),
                format::count(left.round() as u64),
                bytes.unwrap_or_default()
            ),
        },
        details: String::new(),
    }
}

/// What more budget would buy, in points of freshness for a round number of fetches.
fn more_budget_card(
    inputs: &SummaryInputs,
    status: &DaemonStatus,
    forecast: Option<&Forecast>,
) -> StatCard {
    let more = forecast.map(|it| round_increment(it.now.budget));
    let gain = forecast.zip(more).and_then(|(it, more)| {
        Some(it.at_budget(it.now.budget + more).ok()?.freshness - it.now.freshness)
    });
    let fetches =
        format::plural(more.unwrap_or(1.0) as u64, "more fetch per day", "more fetches per day");
    let (value, unit, text) = match (gain, forecast) {
        _ if inputs.budget <= 0.0 => ("–".to_owned(), String::new(), "The budget is 0"),
        (Some(_), Some(it)) if it.now.is_enough => {
            ("none".to_owned(), String::new(), "Every fetch worth making is already made")
        }
        (Some(_), _) if inputs.is_unspent() => {
            ("none".to_owned(), String::new(), "The current budget is not used up")
        }
        (Some(gain), Some(_)) => (
            format::signed_points(gain),
            format!("of freshness for {fetches}"),
            "Long-run estimate",
        ),
        _ => ("–".to_owned(), String::new(), "No forecast yet"),
    };
    StatCard {
        name: "Value of more budget",
        value,
        unit,
        text: text.to_owned(),
        details: format!(
            "Price of a fetch: {}, in units of the objective per fetch. A source is fetched once the \
             value of a fetch reaches the price.",
            format::number(status.price)
        ),
    }
}

/// A tenth of the budget, rounded to 1, 2 or 5 times a power of ten; at least 1.
fn round_increment(budget: f64) -> f64 {
    let tenth = (0.1 * budget).max(1.0);
    let power = 10f64.powf(tenth.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().find(|it| it * power <= tenth * 1.000_001);
    factor.unwrap_or(1.0) * power
}

fn active_fetches_card(status: &DaemonStatus) -> StatCard {
    let crew = status.concurrency;
    let text = match (crew.target, crew.fetch_seconds, crew.process_seconds) {
        (0, ..) => "freshet does not fetch by itself: external crawlers claim sources".to_owned(),
        (target, fetch, process) if fetch > 0.0 && process > 0.0 => format!(
            "Limit {target}. A fetch takes {}, recording it {}; {} queued",
            format::duration(fetch / 86_400.0),
            format::duration(process / 86_400.0),
            crew.waiting
        ),
        (target, ..) => format!("Limit {target}"),
    };
    StatCard {
        name: "Active fetches",
        value: crew.active.to_string(),
        unit: if status.claimed > 0 {
            format!("and {} claimed", format::count(status.claimed))
        } else {
            "in flight now".to_owned()
        },
        text,
        details: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increment_is_a_round_number_of_fetches() {
        let cases = [
            (0.0, 1.0),
            (7.0, 1.0),
            (24.0, 2.0),
            (500.0, 50.0),
            (20_000.0, 2_000.0),
            (999.0, 50.0),
        ];
        for (budget, expect) in cases {
            assert!((round_increment(budget) - expect).abs() < 1e-9, "{budget}");
        }
    }
}
