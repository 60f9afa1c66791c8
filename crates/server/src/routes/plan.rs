//! What a fetch is worth now, and how it goes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::Status;
use freshet_notify::{DestinationHealth, rfc3339};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::problem::Problem;

/// Hosts with a price of their own that are told: those with the highest.
const HOSTS: usize = 1000;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(plan)).routes(routes!(status))
}

/// What a fetch is worth now, and what it buys.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Plan)]
struct PlanView {
    /// How many sources there are.
    sources: u64,
    /// Fetches a day.
    budget: Option<f64>,
    /// What a fetch must be worth now, for each unit of cost; none if the budget is 0, for nothing is
    /// fetched.
    price: Option<f64>,
    /// What it will have to be worth in the long run.
    outlook: Option<f64>,
    /// The share of copies that are fresh, by importance, as far as is believed.
    freshness: Option<f64>,
    /// Hosts that cannot take all that is worth the price, those with the highest price first; at most
    /// 1000.
    hosts: Vec<HostPriceView>,
    /// How many such hosts there are.
    saturated_hosts: usize,
}

/// The price at a host that cannot take all.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = HostPrice)]
struct HostPriceView {
    /// Its name.
    host: String,
    /// What a fetch there must be worth.
    price: Option<f64>,
}

/// What a fetch is worth now, and what it buys
#[utoipa::path(get, path = "/v1/plan", tag = "plan",
    responses((status = 200, description = "Price, host prices, expected freshness", body = PlanView)))]
async fn plan(State(app): State<Arc<App>>) -> Result<Json<PlanView>, Problem> {
    let mut plan = app.handle.plan().await?;
    let is_paid = plan.budget > 0.0;
    let saturated_hosts = plan.hosts.len();
    plan.hosts.sort_by(|a, b| b.1.total_cmp(&a.1));
    plan.hosts.truncate(HOSTS);
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

/// How it goes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Status)]
struct StatusView {
    /// The version of freshet.
    version: &'static str,
    /// When this was so (RFC 3339, UTC).
    at: String,
    /// Since when the daemon runs.
    since: String,
    /// Sources.
    sources: u64,
    /// Fetches that may be made in a day.
    budget: Option<f64>,
    /// Bytes that may come in a day, if that is limited.
    bytes_budget: Option<f64>,
    /// Fetches since it runs.
    fetches: u64,
    /// Requests since then, with those for robots.txt and redirects.
    requests: u64,
    /// Bytes that came since then.
    bytes: u64,
    /// Changes that were found since then.
    changes: u64,
    /// Fetches that failed since then.
    failures: u64,
    /// The share of copies that are fresh, by importance, as far as is believed.
    freshness: Option<f64>,
    /// What a fetch must be worth now; none if the budget is 0, for nothing is fetched.
    price: Option<f64>,
    /// Hosts that cannot take all that is worth the price.
    saturated_hosts: u64,
    /// Fetchers at work.
    active: u32,
    /// Sources that others are fetching, on leases.
    claimed: u64,
    /// When the next fetch or look at the sources is, if one is known.
    wake: Option<String>,
    /// The cursor of the newest entry of the log.
    cursor: i64,
    /// What keeps the daemon from writing, if something does.
    trouble: Option<String>,
    /// How it goes with those who are told of changes.
    destinations: DestinationHealth,
}

impl StatusView {
    fn of(it: Status, destinations: DestinationHealth) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            at: rfc3339(it.at),
            since: rfc3339(it.since),
            sources: it.sources,
            budget: finite(it.budget),
            bytes_budget: it.bytes_budget.and_then(finite),
            fetches: it.fetches,
            requests: it.requests,
            bytes: it.bytes,
            changes: it.changes,
            failures: it.failures,
            freshness: finite(it.freshness),
            price: finite(it.price).filter(|_| it.budget > 0.0),
            saturated_hosts: it.saturated_hosts,
            active: it.crew.active,
            claimed: it.claimed,
            wake: it.wake.map(rfc3339),
            cursor: it.cursor,
            trouble: it.trouble,
            destinations,
        }
    }
}

/// How it goes
#[utoipa::path(get, path = "/v1/status", tag = "plan",
    responses((status = 200, description = "Counts since the start, and what holds now", body = StatusView)))]
async fn status(State(app): State<Arc<App>>) -> Result<Json<StatusView>, Problem> {
    let destinations = app.read(DestinationHealth::read).await?;
    Ok(Json(StatusView::of(app.handle.status().await?, destinations)))
}
