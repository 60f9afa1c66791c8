//! What happened to a source, why it is due when it is, and looking now.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{Explained, SignalsNow};
use freshet_notify::{Entry, rfc3339};
use freshet_store::{ChangeFilter, Decision, Observation, StoredOutcome};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::source::SourceView;
use crate::app::App;
use crate::hub::everything;
use crate::input::{Place, Query};
use crate::page::{Page, after, limit};
use crate::problem::Problem;

/// Observations of a source that are looked through.
const OBSERVED: usize = 100_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(observations))
        .routes(routes!(changes))
        .routes(routes!(explain))
        .routes(routes!(check))
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Where the page before ended: its `next`.
    #[param(minimum = 0)]
    pub(super) after: Option<i64>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub(super) limit: Option<usize>,
}

/// How a fetch ended.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Observation)]
struct ObservationView {
    /// Which fetch of the source it was, from 1.
    n: u64,
    /// When (RFC 3339, UTC).
    at: String,
    /// How it ended.
    outcome: FetchOutcome,
    /// The status of HTTP; 0 if there was none.
    status: u16,
    /// Bytes that came.
    bytes: u64,
    /// How long it took, in milliseconds.
    duration: u32,
    /// What there is to say.
    note: String,
    /// Why it was made; none of fetches of which that is not known.
    decision: Option<DecisionView>,
}

/// Why a fetch was made, and what it taught.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Decision)]
struct DecisionView {
    /// Why: `new` (there was no copy), `worth` (it was worth the price), `pending` (its announced changes
    /// were), `overdue` (its longest interval was over), `retry` (the fetch before had failed), `spare`
    /// (nothing worth more was left to spend the budget on) or `asked` (by somebody).
    reason: &'static str,
    /// What it was worth for each unit of cost when it was handed out.
    worth: Option<f64>,
    /// What it had to be worth.
    price: Option<f64>,
    /// Changes a day, as far as was believed before.
    changes_a_day_before: Option<f64>,
    /// The same after.
    changes_a_day_after: Option<f64>,
}

impl DecisionView {
    fn of(it: Decision) -> Self {
        Self {
            reason: it.reason.name(),
            worth: it.value,
            price: it.price,
            changes_a_day_before: it.rate_before,
            changes_a_day_after: it.rate_after,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum FetchOutcome {
    /// The first copy.
    First,
    /// What counts has changed.
    Changed,
    /// What counts is the same.
    Unchanged,
    /// No copy could be made.
    Failed,
    /// The source does not exist any more.
    Gone,
    /// The host does not want it fetched.
    Disallowed,
}

impl ObservationView {
    fn of(it: Observation) -> Self {
        let outcome = match it.outcome {
            StoredOutcome::First => FetchOutcome::First,
            StoredOutcome::Changed => FetchOutcome::Changed,
            StoredOutcome::Unchanged => FetchOutcome::Unchanged,
            StoredOutcome::Failed => FetchOutcome::Failed,
            StoredOutcome::Gone => FetchOutcome::Gone,
            StoredOutcome::Disallowed => FetchOutcome::Disallowed,
        };
        Self {
            n: it.number,
            at: rfc3339(it.at),
            outcome,
            status: it.status,
            bytes: it.bytes,
            duration: it.duration_ms,
            note: it.note,
            decision: it.decision.map(DecisionView::of),
        }
    }
}

/// How the fetches of a source ended
///
/// The newest first.
#[utoipa::path(get, path = "/v1/sources/{id}/observations", tag = "history",
    params(("id" = u32, Path, description = "The number of the source"), PageQuery),
    responses((status = 200, description = "A page of fetches", body = Page<ObservationView>)))]
async fn observations(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<PageQuery>,
) -> Result<Json<Page<ObservationView>>, Problem> {
    let limit = limit(asked.limit)?;
    let before = after(asked.after)?.map_or(u64::MAX, |after| u64::try_from(after).unwrap_or(0));
    let found = app.read(move |reader| {
        if reader.source(id)?.is_none() {
            return Ok(None);
        }
        let most = if asked.after.is_some() { OBSERVED } else { limit + 1 };
        Ok(Some(reader.history(id, most)?))
    });
    let found = found.await?.ok_or_else(|| Problem::no_source(id))?;
    let mut items: Vec<_> =
        found.into_iter().filter(|it| it.number < before).take(limit + 1).collect();
    let is_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| is_more).map(|it| it.number as i64);
    Ok(Json(Page { items: items.into_iter().map(ObservationView::of).collect(), next }))
}

/// What the log tells of a source
///
/// The newest first. The log outlives the source.
#[utoipa::path(get, path = "/v1/sources/{id}/changes", tag = "history",
    params(("id" = u32, Path, description = "The number of the source"), PageQuery),
    responses((status = 200, description = "A page of entries", body = Page<Entry>)))]
async fn changes(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<PageQuery>,
) -> Result<Json<Page<Entry>>, Problem> {
    let (limit, before) = (limit(asked.limit)?, after(asked.after)?);
    let found = app.read(move |reader| {
        let filter = ChangeFilter { source: Some(id), ..everything() };
        let found = reader.latest_changes(before, limit + 1, &filter)?;
        let is_known = !found.is_empty() || asked.after.is_some() || reader.source(id)?.is_some();
        Ok(is_known.then_some(found))
    });
    let mut found = found.await?.ok_or_else(|| Problem::no_source(id))?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|it| it.cursor);
    Ok(Json(Page { items: found.iter().map(Entry::from_change).collect(), next }))
}

/// Why a source is due when it is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
struct ExplanationView {
    /// Where it stands: `waiting`, `candidate`, `fetching`, `paused` or `gone`.
    standing: String,
    /// What decides, in a sentence.
    headline: String,
    /// All of it, in several lines.
    text: String,
    /// When it is due and its host may be asked, if that is known (RFC 3339, UTC).
    due: Option<String>,
    /// Until when its host is left alone, if that is what it waits for.
    host_rests: Option<String>,
    /// Changes a day, as far as is believed.
    changes_a_day: Option<f64>,
    /// Between which the true number is with a chance of 95 %: the lower bound.
    changes_a_day_low: Option<f64>,
    /// The upper bound.
    changes_a_day_high: Option<f64>,
    /// What a fetch is worth now, for each unit of cost.
    worth: Option<f64>,
    /// What it must be worth; none if the budget is 0.
    price: Option<f64>,
    /// The chance that the copy is what the source is; none without a copy.
    fresh: Option<f64>,
    /// What signals have to do with it; none if nobody who is trusted has spoken of it.
    announced: Option<AnnouncedView>,
}

/// What signals have to do with the moment at which a source is due.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Announced)]
struct AnnouncedView {
    /// The number of the signal source that is listened to: of several, the one that has been right most.
    signal_source: u32,
    /// Its URL or name.
    url: String,
    /// What it is: `sitemap`, `feed`, …
    kind: String,
    /// Its signals since the last fetch.
    signals: u32,
    /// What they count together: signals that may tell of what the copy has already count less.
    weight: Option<f64>,
    /// When the first of them came (RFC 3339, UTC).
    first: Option<String>,
    /// When the last of them came.
    last: Option<String>,
    /// The share of its signals about this source that stand for a change, as far as is believed.
    precision: Option<f64>,
    /// The share of this source's changes that it tells of.
    recall: Option<f64>,
    /// The chance that the copy is what the source is.
    fresh: Option<f64>,
    /// When the source would be due if these signals had not come; none: never.
    due_without: Option<String>,
    /// By how many seconds they moved the next fetch forward.
    moved_seconds: Option<f64>,
    /// All of that in a sentence.
    text: String,
}

impl AnnouncedView {
    fn of(it: SignalsNow, due: Option<i64>, now: i64) -> Self {
        Self {
            text: it.words(due, now),
            signal_source: it.number,
            url: it.name,
            kind: it.kind,
            signals: it.signals,
            weight: finite(it.weight),
            first: it.first.map(rfc3339),
            last: it.last.map(rfc3339),
            precision: finite(it.precision),
            recall: finite(it.recall),
            fresh: finite(it.fresh),
            due_without: it.due_without.map(rfc3339),
            moved_seconds: it.moved.and_then(finite),
        }
    }
}

/// JSON has no word for infinity.
pub(super) fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

impl ExplanationView {
    fn of(it: Explained) -> Self {
        Self {
            standing: it.standing,
            headline: it.headline,
            text: it.text,
            due: it.due.map(rfc3339),
            host_rests: it.host_rests.map(rfc3339),
            changes_a_day: finite(it.changes_a_day),
            changes_a_day_low: finite(it.between.0),
            changes_a_day_high: finite(it.between.1),
            worth: it.worth.and_then(finite),
            price: finite(it.price).filter(|_| !it.unpaid),
            fresh: it.fresh.and_then(finite),
            announced: it.signals.map(|signals| AnnouncedView::of(signals, it.worth_it, it.now)),
        }
    }
}

/// Why a source is due when it is
#[utoipa::path(get, path = "/v1/sources/{id}/explain", tag = "history",
    params(("id" = u32, Path, description = "The number of the source")),
    responses((status = 200, description = "What decides", body = ExplanationView)))]
async fn explain(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
) -> Result<Json<ExplanationView>, Problem> {
    let explained = app.handle.explain_number(id).await?;
    let explained = explained.ok_or_else(|| Problem::no_source(id))?;
    Ok(Json(ExplanationView::of(explained)))
}

/// How long the result is waited for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CheckQuery {
    /// Seconds that the result is waited for; the fetch goes on without anybody waiting.
    #[param(minimum = 0, maximum = 60, default = 10)]
    wait: Option<u64>,
}

/// A source after a look at it.
#[derive(Debug, Serialize, ToSchema)]
struct Looked {
    /// The source as it is now.
    source: SourceView,
    /// How the fetch ended.
    observation: Option<ObservationView>,
}

/// Fetch a source now
///
/// Whatever it is worth; it is paid for from the budget like any other. Hosts that asked to be left
/// alone are: the answer is 429 then, with `Retry-After`.
#[utoipa::path(post, path = "/v1/sources/{id}/check", tag = "history",
    params(("id" = u32, Path, description = "The number of the source"), CheckQuery),
    responses((status = 200, description = "It was fetched", body = Looked),
        (status = 202, description = "It is being fetched, and takes longer"),
        (status = 429, description = "A host on the way wants to be left alone")))]
async fn check(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    Query(asked): Query<CheckQuery>,
) -> Result<Response, Problem> {
    let wait = asked.wait.unwrap_or(10);
    if wait > 60 {
        return Err(Problem::field("wait", format!("{wait} is not from 0 to 60 seconds")));
    }
    let handle = app.handle.clone();
    // It goes on if nobody waits any more.
    let checking = tokio::spawn(async move { handle.check_number(id).await });
    match timeout(Duration::from_secs(wait), checking).await {
        Err(_) => return Ok(StatusCode::ACCEPTED.into_response()),
        Ok(Ok(checked)) => checked?,
        Ok(Err(_)) => return Err(crate::app::too_long()),
    }
    let found = app.read(move |reader| {
        let observation = reader.history(id, 1)?.pop();
        Ok(SourceView::find(reader, id)?.map(|source| (source, observation)))
    });
    let (source, observation) = found.await?.ok_or_else(|| Problem::no_source(id))?;
    let observation = observation.map(ObservationView::of);
    Ok(Json(Looked { source, observation }).into_response())
}
