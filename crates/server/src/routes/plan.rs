//! The plan, and the status of the daemon.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::DaemonStatus;
use freshet_notify::{DestinationHealth, rfc3339};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::problem::Problem;

/// Maximum number of hosts with their own price that are listed: those with the highest prices.
const MAX_HOSTS: usize = 1000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(plan)).routes(routes!(status))
}

/// The current price, and the freshness that the budget buys.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
struct PlanView {
    /// Number of sources.
    sources: u64,
    /// Budget in fetches per day.
    budget: Option<f64>,
    /// Price of a fetch: the minimum value per unit of cost; null if the budget is 0, because
    /// nothing is fetched.
    price: Option<f64>,
    /// Price that is expected in the long run.
    outlook: Option<f64>,
    /// Estimated share of fresh copies, weighted by importance.
    freshness: Option<f64>,
    /// Hosts whose rate limit delays fetches that are worth the price, with the highest prices
    /// first; at most 1000.
    hosts: Vec<HostPriceView>,
    /// Number of such hosts.
    saturated_hosts: usize,
}

/// Price at a host whose rate limit is exhausted.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HostPrice)]
struct HostPriceView {
    /// Name of the host.
    host: String,
    /// Price of a fetch at this host.
    price: Option<f64>,
}

/// Get the price of a fetch and the expected freshness
#[utoipa::path(get, path = "/v1/plan", tag = "plan",
    responses((status = 200, description = "Price, prices at hosts, and expected freshness", body = PlanView)))]
async fn plan(State(app): State<Arc<App>>) -> Result<Json<PlanView>, Problem> {
    let mut plan = app.handle.plan().await?;
    let is_paid = plan.budget > 0.0;
    let saturated_hosts = plan.hosts.len();
    plan.hosts.sort_by(|a, b| b.1.total_cmp(&a.1));
    plan.hosts.truncate(MAX_HOSTS);
    let highest = std::mem::take(&mut plan.hosts);
    let hosts = app.read(move |reader| {
        let mut hosts = Vec::with_capacity(highest.len());
        for (id, price) in highest {
            if let Some(host) = reader.host(id)? {
                hosts.push(HostPriceView { host: host.name, price: finite(price) });
            }
        }
        Ok(hosts)
    });
    Ok(Json(PlanView {
        sources: plan.sources,
        budget: finite(plan.budget),
        price: finite(plan.price).filter(|_| is_paid),
        outlook: finite(plan.outlook).filter(|_| is_paid),
        freshness: plan.freshness.and_then(finite),
        hosts: hosts.await?,
        saturated_hosts,
    }))
}

/// Status of the daemon.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Status)]
struct StatusView {
    /// Version of freshet.
    version: &'static str,
    /// Time of this status (RFC 3339, UTC).
    at: String,
    /// Start of the daemon.
    since: String,
    /// Number of sources.
    sources: u64,
    /// Budget in fetches per day.
    budget: Option<f64>,
    /// Budget in bytes per day, if there is one.
    bytes_budget: Option<f64>,
    /// Fetches since the start.
    fetches: u64,
    /// Requests since the start, including robots.txt and redirects.
    requests: u64,
    /// Bytes received since the start.
    bytes: u64,
    /// Changes detected since the start.
    changes: u64,
    /// Failed fetches since the start.
    failures: u64,
    /// Estimated share of fresh copies, weighted by importance.
    freshness: Option<f64>,
    /// Price of a fetch; null if the budget is 0, because nothing is fetched.
    price: Option<f64>,
    /// Hosts whose rate limit delays fetches that are worth the price.
    saturated_hosts: u64,
    /// Fetches in progress.
    active: u32,
    /// Sources claimed by other crawlers.
    claimed: u64,
    /// Time of the next fetch or schedule check, if known.
    wake: Option<String>,
    /// Cursor of the newest change-log entry.
    cursor: i64,
    /// Error that keeps the daemon from writing to the store, if there is one.
    trouble: Option<String>,
    /// Health of the destinations.
    destinations: DestinationHealth,
}

impl StatusView {
    fn new(status: DaemonStatus, destinations: DestinationHealth) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            at: rfc3339(status.at),
            since: rfc3339(status.started_at),
            sources: status.sources,
            budget: finite(status.budget),
            bytes_budget: status.bytes_per_day.and_then(finite),
            fetches: status.fetches,
            requests: status.requests,
            bytes: status.bytes,
            changes: status.changes,
            failures: status.failures,
            freshness: finite(status.freshness),
            price: finite(status.price).filter(|_| status.budget > 0.0),
            saturated_hosts: status.saturated_hosts,
            active: status.concurrency.active,
            claimed: status.claimed,
            wake: status.next_wake_at.map(rfc3339),
            cursor: status.cursor,
            trouble: status.write_error,
            destinations,
        }
    }
}

/// Get the status of the daemon
#[utoipa::path(get, path = "/v1/status", tag = "plan",
    responses((status = 200, description = "Counts since the start, and current values", body = StatusView)))]
async fn status(State(app): State<Arc<App>>) -> Result<Json<StatusView>, Problem> {
    let destinations = app.read(DestinationHealth::read).await?;
    Ok(Json(StatusView::new(app.handle.status().await?, destinations)))
}
