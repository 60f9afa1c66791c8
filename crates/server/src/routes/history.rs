//! History of a source, its schedule, and fetching it now.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{SignalExplanation, SourceExplanation};
use freshet_notify::{Entry, rfc3339};
use freshet_store::{ChangeFilter, Decision, Observation, StoredOutcome};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::source_view::SourceView;
use crate::app::App;
use crate::change_broadcast::all_kinds;
use crate::extractors::{PathParams, QueryParams};
use crate::pagination::{Page, check_after, check_limit};
use crate::problem::Problem;

/// Maximum number of observations searched for a page.
const MAX_OBSERVATIONS: usize = 100_000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(observations))
        .routes(routes!(changes))
        .routes(routes!(explain))
        .routes(routes!(check))
}

/// Page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct PageQuery {
    /// Cursor: `next` of the previous page.
    #[param(minimum = 0)]
    pub(super) after: Option<i64>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub(super) limit: Option<usize>,
}

/// An observation: the outcome of a fetch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Observation)]
struct ObservationView {
    /// Number of the fetch, from 1 for each source.
    n: u64,
    /// Time of the fetch (RFC 3339, UTC).
    at: String,
    /// Outcome.
    outcome: ObservationOutcome,
    /// HTTP status code; 0 if there was none.
    status: u16,
    /// Bytes received.
    bytes: u64,
    /// Duration in milliseconds.
    duration: u32,
    /// Note.
    note: String,
    /// Why the fetch was made; null if that is not known.
    decision: Option<DecisionView>,
}

/// Why a fetch was made, and how it changed the estimate.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Decision)]
struct DecisionView {
    /// Reason: `new` (there was no copy), `worth` (its value reached the price), `pending` (the
    /// value of its announced changes did), `overdue` (its maximum interval had passed), `retry`
    /// (the previous fetch failed), `spare` (budget was left over) or `asked` (on request).
    reason: &'static str,
    /// Value per unit of cost when the source was handed out.
    worth: Option<f64>,
    /// Price at that time.
    price: Option<f64>,
    /// Estimated changes per day before the fetch.
    changes_a_day_before: Option<f64>,
    /// Estimated changes per day after the fetch.
    changes_a_day_after: Option<f64>,
}

impl DecisionView {
    fn new(decision: Decision) -> Self {
        Self {
            reason: decision.reason.name(),
            worth: decision.value,
            price: decision.price,
            changes_a_day_before: decision.rate_before,
            changes_a_day_after: decision.rate_after,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = FetchOutcome)]
enum ObservationOutcome {
    /// The first copy.
    First,
    /// The relevant content has changed.
    Changed,
    /// The relevant content has not changed.
    Unchanged,
    /// The fetch failed.
    Failed,
    /// The source no longer exists.
    Gone,
    /// The host forbids fetching it.
    Disallowed,
}

impl ObservationView {
    fn new(observation: Observation) -> Self {
        let outcome = match observation.outcome {
            StoredOutcome::First => ObservationOutcome::First,
            StoredOutcome::Changed => ObservationOutcome::Changed,
            StoredOutcome::Unchanged => ObservationOutcome::Unchanged,
            StoredOutcome::Failed => ObservationOutcome::Failed,
            StoredOutcome::Gone => ObservationOutcome::Gone,
            StoredOutcome::Disallowed => ObservationOutcome::Disallowed,
        };
        Self {
            n: observation.fetch_number,
            at: rfc3339(observation.at),
            outcome,
            status: observation.status,
            bytes: observation.bytes,
            duration: observation.duration_ms,
            note: observation.note,
            decision: observation.decision.map(DecisionView::new),
        }
    }
}

/// List observations
///
/// The fetches of a source, newest first.
#[utoipa::path(get, path = "/v1/sources/{id}/observations", tag = "history",
    params(("id" = u32, Path, description = "Id of the source"), PageQuery),
    responses((status = 200, description = "A page of observations", body = Page<ObservationView>)))]
async fn observations(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<ObservationView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let before =
        check_after(query.after)?.map_or(u64::MAX, |after| u64::try_from(after).unwrap_or(0));
    let found = app.read(move |reader| {
        if reader.source(id)?.is_none() {
            return Ok(None);
        }
        let max = if query.after.is_some() { MAX_OBSERVATIONS } else { limit + 1 };
        Ok(Some(reader.history(id, max)?))
    });
    let found = found.await?.ok_or_else(|| Problem::source_not_found(id))?;
    let mut items: Vec<_> =
        found.into_iter().filter(|it| it.fetch_number < before).take(limit + 1).collect();
    let is_more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| is_more).map(|it| it.fetch_number as i64);
    Ok(Json(Page { items: items.into_iter().map(ObservationView::new).collect(), next }))
}

/// List the changes of a source
///
/// Newest first. The log keeps the changes of a source after the source is removed.
#[utoipa::path(get, path = "/v1/sources/{id}/changes", tag = "history",
    params(("id" = u32, Path, description = "Id of the source"), PageQuery),
    responses((status = 200, description = "A page of entries", body = Page<Entry>)))]
async fn changes(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<PageQuery>,
) -> Result<Json<Page<Entry>>, Problem> {
    let (limit, before) = (check_limit(query.limit)?, check_after(query.after)?);
    let found = app.read(move |reader| {
        let filter = ChangeFilter { source: Some(id), ..all_kinds() };
        let found = reader.latest_changes(before, limit + 1, &filter)?;
        let is_known = !found.is_empty() || query.after.is_some() || reader.source(id)?.is_some();
        Ok(is_known.then_some(found))
    });
    let mut found = found.await?.ok_or_else(|| Problem::source_not_found(id))?;
    let is_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| is_more).map(|it| it.cursor);
    Ok(Json(Page { items: found.iter().map(Entry::from_change).collect(), next }))
}

/// Explanation of when a source is due.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Explanation)]
struct ExplanationView {
    /// Scheduling state: `waiting`, `candidate`, `fetching`, `paused` or `gone`.
    standing: String,
    /// Main reason, in one sentence.
    headline: String,
    /// Full explanation, in several lines.
    text: String,
    /// Time at which it is due and its host may be asked, if known (RFC 3339, UTC).
    due: Option<String>,
    /// End of the cooldown of its host, if that delays it (RFC 3339, UTC).
    host_rests: Option<String>,
    /// Estimated changes per day.
    changes_a_day: Option<f64>,
    /// Lower bound of the 95 % interval of the estimate.
    changes_a_day_low: Option<f64>,
    /// Upper bound of the 95 % interval of the estimate.
    changes_a_day_high: Option<f64>,
    /// Value of a fetch now, per unit of cost.
    worth: Option<f64>,
    /// Price of a fetch; null if the budget is 0.
    price: Option<f64>,
    /// Probability that the copy is fresh; null without a copy.
    fresh: Option<f64>,
    /// Effect of signals on the schedule; null if no trusted signal source announced it.
    announced: Option<AnnouncedView>,
}

/// Effect of signals on the schedule of a source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Announced)]
struct AnnouncedView {
    /// Number of the signal source that counts: if there are several, the most reliable one.
    signal_source: u32,
    /// URL or name of the signal source.
    url: String,
    /// Kind of the signal source: `sitemap`, `feed`, …
    kind: String,
    /// Its signals since the last fetch.
    signals: u32,
    /// Total weight of these signals: signals that may announce what the copy already contains
    /// count less.
    weight: Option<f64>,
    /// Time of the first of them (RFC 3339, UTC).
    first: Option<String>,
    /// Time of the last of them (RFC 3339, UTC).
    last: Option<String>,
    /// Estimated share of its signals for this source that announce a real change.
    precision: Option<f64>,
    /// Estimated share of this source's changes that it announces.
    recall: Option<f64>,
    /// Probability that the copy is fresh.
    fresh: Option<f64>,
    /// Time at which the source would be due without these signals; null for never.
    due_without: Option<String>,
    /// Seconds by which the signals moved the next fetch forward.
    moved_seconds: Option<f64>,
    /// Explanation in one sentence.
    text: String,
}

impl AnnouncedView {
    fn new(signals: SignalExplanation, due: Option<i64>, now: i64) -> Self {
        Self {
            text: signals.describe(due, now),
            signal_source: signals.id,
            url: signals.name,
            kind: signals.kind,
            signals: signals.pending,
            weight: finite(signals.weight),
            first: signals.first_at.map(rfc3339),
            last: signals.last_at.map(rfc3339),
            precision: finite(signals.precision),
            recall: finite(signals.recall),
            fresh: finite(signals.fresh_probability),
            due_without: signals.due_without.map(rfc3339),
            moved_seconds: signals.seconds_moved.and_then(finite),
        }
    }
}

/// Returns `None` for infinity and NaN, which JSON cannot represent.
pub(super) fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

impl ExplanationView {
    fn new(explanation: SourceExplanation) -> Self {
        Self {
            standing: explanation.standing,
            headline: explanation.headline,
            text: explanation.text,
            due: explanation.due_at.map(rfc3339),
            host_rests: explanation.host_cooldown_until.map(rfc3339),
            changes_a_day: finite(explanation.changes_a_day),
            changes_a_day_low: finite(explanation.rate_interval.0),
            changes_a_day_high: finite(explanation.rate_interval.1),
            worth: explanation.value.and_then(finite),
            price: finite(explanation.price).filter(|_| !explanation.is_unpaid),
            fresh: explanation.fresh_probability.and_then(finite),
            announced: explanation.signals.map(|signals| {
                AnnouncedView::new(signals, explanation.due_without_host, explanation.explained_at)
            }),
        }
    }
}

/// Explain when a source is due
#[utoipa::path(get, path = "/v1/sources/{id}/explain", tag = "history",
    params(("id" = u32, Path, description = "Id of the source")),
    responses((status = 200, description = "The explanation", body = ExplanationView)))]
async fn explain(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<ExplanationView>, Problem> {
    let explained = app.handle.explain_id(id).await?;
    let explained = explained.ok_or_else(|| Problem::source_not_found(id))?;
    Ok(Json(ExplanationView::new(explained)))
}

/// Time to wait for the result.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CheckQuery {
    /// Seconds to wait for the result; the fetch continues after that.
    #[param(minimum = 0, maximum = 60, default = 10)]
    wait: Option<u64>,
}

/// A source after a requested fetch.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Looked)]
struct CheckResult {
    /// The source after the fetch.
    source: SourceView,
    /// Outcome of the fetch.
    observation: Option<ObservationView>,
}

/// Fetch a source now
///
/// The fetch is made whatever its value, and is charged to the budget like any other. If a host is
/// in a cooldown, the response is 429 with `Retry-After`.
#[utoipa::path(post, path = "/v1/sources/{id}/check", tag = "history",
    params(("id" = u32, Path, description = "Id of the source"), CheckQuery),
    responses((status = 200, description = "The source was fetched", body = CheckResult),
        (status = 202, description = "The fetch takes longer than `wait` and continues"),
        (status = 429, description = "A host on the way is in a cooldown")))]
async fn check(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<CheckQuery>,
) -> Result<Response, Problem> {
    let wait = query.wait.unwrap_or(10);
    if wait > 60 {
        return Err(Problem::invalid(
            "wait",
            format!("wait out of range: {wait} is not between 0 and 60 seconds"),
        ));
    }
    let handle = app.handle.clone();
    // Spawned, so that the fetch continues after the timeout.
    let checking = tokio::spawn(async move { handle.check_id(id).await });
    match timeout(Duration::from_secs(wait), checking).await {
        Err(_) => return Ok(StatusCode::ACCEPTED.into_response()),
        Ok(Ok(checked)) => checked?,
        Ok(Err(_)) => return Err(crate::app::timeout_problem()),
    }
    let found = app.read(move |reader| {
        let observation = reader.history(id, 1)?.pop();
        Ok(SourceView::find(reader, id)?.map(|source| (source, observation)))
    });
    let (source, observation) = found.await?.ok_or_else(|| Problem::source_not_found(id))?;
    let observation = observation.map(ObservationView::new);
    Ok(Json(CheckResult { source, observation }).into_response())
}
