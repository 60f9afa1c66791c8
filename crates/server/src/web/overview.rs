//! Whether the copies are fresh, what limits them, and what to do: on one page.

mod history;
mod needs;
mod verdict;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use freshet_daemon::{Millis, Status};
use freshet_model::moment;
use serde::Deserialize;

use self::history::{Span, charts};
use self::needs::{Need, needs};
use self::verdict::{Facts, Verdict};
use super::chart::Drawn;
use super::forecast::{self, Forecast};
use super::frame::{Frame, page};
use super::hosts;
use super::words;
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;
use crate::truth::Line;

const DAY: Millis = 86_400_000;
/// As far back as there are pulses.
const EVER: Millis = 400 * DAY;
/// Hosts that are shown.
const HOSTS: usize = 8;

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
struct Overview {
    frame: Frame,
    has_sources: bool,
    verdict: Verdict,
    facts: Vec<Fact>,
    spans: Vec<(&'static str, &'static str, bool)>,
    freshness: Drawn,
    changes: Drawn,
    hosts: Vec<hosts::Row>,
    full: u64,
    needs: Vec<Need>,
    truth: Vec<TruthRow>,
}

/// A number that matters, and what it says.
struct Fact {
    name: &'static str,
    value: String,
    unit: String,
    says: String,
}

struct TruthRow {
    name: String,
    fresh: String,
    requests: String,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<OverviewQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("overview");
    let now = frame.now;
    let span = asked.span.as_deref().and_then(Span::named).unwrap_or_default();
    let status = app.handle.status().await?;
    // Without sources there is nothing to foresee.
    let forecast = forecast::forecast(&app).await.ok();
    let plan = app.handle.plan().await?;
    let read = app.read(move |reader| {
        let lost = needs::lost(reader)?;
        let day = reader.stats_buckets(now - DAY, now + 1, DAY)?;
        let ledger = reader.ledger(now - DAY)?;
        let spent: f64 = ledger.iter().map(|it| it.fetches).sum();
        let bytes: u64 = ledger.iter().map(|it| it.bytes).sum();
        let ever = reader.stats_buckets(now - EVER, now + 1, EVER)?;
        let ever: u64 = ever.iter().map(|it| it.fetches).sum();
        let pulses = reader.stats_buckets(span.since(now), now + 1, span.step())?;
        Ok((lost, day, spent, bytes, ever, pulses))
    });
    let (lost, day, spent, bytes, ever, pulses) = read.await?;
    let spent = (spent - status.ahead).max(0.0);
    let fetched: u64 = day.iter().map(|it| it.fetches).sum();
    let (held, fresh) = day.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.held, sum.1 + it.fresh));
    let needs = needs(&app, &status, now).await?;
    let facts = Facts {
        budget: status.budget,
        // Nothing is fresh before anything is there.
        freshness: plan.freshness.filter(|it| it.is_finite() && (*it > 0.0 || fetched > 0)),
        spent,
        running: now - status.since,
        looks: ever as f64 / status.sources.max(1) as f64,
        full: status.saturated_hosts,
        trouble: status.trouble.clone(),
        sources: status.sources,
        lost,
        twice: forecast
            .as_deref()
            .and_then(|it| it.at(2.0 * it.now.budget).ok())
            .map(|it| it.freshness),
        outlook: forecast.as_deref().map(|it| it.now.freshness),
        is_enough: forecast.as_deref().is_some_and(|it| it.now.is_enough),
        needs: needs.len(),
    };
    let truth: Vec<Line> =
        app.truth.as_ref().map(|truth| truth.borrow().lines.clone()).unwrap_or_default();
    let measured = (held > 0.0).then(|| fresh / held);
    let (freshness, changes) = charts(&pulses, span, now, &truth);
    let worst = app.handle.worst_hosts(HOSTS).await?;
    let worst = hosts::named(&app, worst.into_iter().map(|it| it.number).collect()).await?;
    let hosts = hosts::rows(&app, worst, plan.price, now).await?;
    page(&Overview {
        has_sources: status.sources > 0,
        verdict: Verdict::of(&facts),
        facts: numbers(&facts, &status, forecast.as_deref(), measured, &day, bytes),
        spans: Span::all(span),
        freshness,
        changes,
        hosts,
        full: status.saturated_hosts,
        needs,
        truth: truth.iter().map(TruthRow::of).collect(),
        frame,
    })
}

impl TruthRow {
    fn of(line: &Line) -> Self {
        Self {
            name: line.name.clone(),
            fresh: words::percent(line.mean),
            requests: words::count(line.requests),
        }
    }
}

fn numbers(
    facts: &Facts,
    status: &Status,
    forecast: Option<&Forecast>,
    measured: Option<f64>,
    day: &[freshet_store::StatsBucket],
    bytes: u64,
) -> Vec<Fact> {
    let fresh = Fact {
        name: "Fresh now",
        value: facts.freshness.map_or_else(|| "–".to_owned(), words::percent),
        unit: String::new(),
        says: match measured {
            Some(measured) => format!(
                "expected. Measured by the fetches of the last day: {}",
                words::percent(measured)
            ),
            None => "expected. Nothing is measured yet: that takes a second fetch".to_owned(),
        },
    };
    let left = (facts.budget - facts.spent).max(0.0);
    let share = if facts.budget > 0.0 { facts.spent / facts.budget } else { 0.0 };
    let bytes = status.bytes_budget.map(|cap| {
        let cap = words::bytes(cap.min(1e18) as u64);
        format!("; {} of {cap}", words::bytes(bytes))
    });
    let budget = Fact {
        name: "Budget, last 24 hours",
        value: words::count(facts.spent.round() as u64),
        unit: format!("of {} fetches", words::count(facts.budget.round() as u64)),
        says: match facts.running {
            // It is spread over the day: what is left of it is not there yet.
            running if running < DAY => format!(
                "{} used. It has run for {}, which is time for {}{}",
                words::percent(share),
                moment::length(running),
                words::count((facts.budget * running as f64 / DAY as f64).round() as u64),
                bytes.unwrap_or_default()
            ),
            _ => format!(
                "{} used, {} left{}",
                words::percent(share),
                words::count(left.round() as u64),
                bytes.unwrap_or_default()
            ),
        },
    };
    let gain =
        forecast.and_then(|it| Some(it.at(1.1 * it.now.budget).ok()?.freshness - it.now.freshness));
    let price = Fact {
        name: "Price of a fetch",
        value: words::figure(status.price),
        unit: String::new(),
        says: match (gain, forecast) {
            _ if facts.budget <= 0.0 => "what a fetch would have to be worth to be made".to_owned(),
            (Some(_), Some(it)) if it.now.is_enough => {
                "all that is worth fetching is fetched: more budget would buy nothing".to_owned()
            }
            (Some(gain), Some(_)) if gain < 5e-5 => {
                "what the least valuable fetch brings. More a day would hardly help".to_owned()
            }
            (Some(gain), Some(it)) => format!(
                "what the least valuable fetch brings. {} more a day would make copies {:.2} points fresher",
                words::count((0.1 * it.now.budget).round().max(1.0) as u64),
                (100.0 * gain).max(0.0)
            ),
            _ => "what a fetch must be worth to be made".to_owned(),
        },
    };
    let changed: u64 = day.iter().map(|it| it.changed).sum();
    let fetched: u64 = day.iter().map(|it| it.fetches).sum();
    let hours = (facts.running as f64 / 3_600_000.0).clamp(1.0, 24.0);
    let changes = Fact {
        name: "Changes an hour",
        value: words::figure(changed as f64 / if changed > 0 { hours } else { 1.0 }),
        unit: String::new(),
        says: format!(
            "{} in the last day, found by {}",
            words::count(changed),
            words::plural(fetched, "fetch", "fetches")
        ),
    };
    let crew = status.crew;
    let why = match (crew.target, crew.fetch_seconds, crew.process_seconds) {
        (0, ..) => "freshet fetches nothing by itself: other crawlers claim".to_owned(),
        (target, fetch, process) if fetch > 0.0 && process > 0.0 => format!(
            "of {target} at the most, since a fetch takes {} and recording it {}; {} to be recorded",
            words::days(fetch / 86_400.0),
            words::days(process / 86_400.0),
            words::plural(u64::from(crew.waiting), "waits", "wait")
        ),
        (target, ..) => format!("of {target} at the most; how long fetches take is not known yet"),
    };
    let crew = Fact {
        name: "Fetchers at work",
        value: crew.active.to_string(),
        unit: if status.claimed > 0 {
            format!("and {} claimed", words::count(status.claimed))
        } else {
            String::new()
        },
        says: why,
    };
    vec![fresh, budget, price, changes, crew]
}
