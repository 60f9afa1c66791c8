//! Hosts, and what they ask for.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::host_filter;
use freshet_notify::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::input::Query;
use crate::page::{Page, limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which hosts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HostsQuery {
    /// Those with this name: at this port if one is given, at any otherwise.
    name: Option<String>,
    /// Where the page before ended: its `next`.
    after: Option<u32>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A host.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Host)]
struct HostView {
    /// Its number.
    id: u32,
    /// Its name.
    name: String,
    /// Until when it is left alone, if it is (RFC 3339, UTC).
    rests_until: Option<String>,
    /// What a fetch there must be worth, if it cannot take all that is worth the price.
    price: Option<f64>,
}

/// List hosts
#[utoipa::path(get, path = "/v1/hosts", tag = "plan", params(HostsQuery),
    responses((status = 200, description = "A page of hosts", body = Page<HostView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<HostsQuery>,
) -> Result<Json<Page<HostView>>, Problem> {
    let limit = limit(asked.limit)?;
    let prices: HashMap<u32, f64> = app.handle.plan().await?.hosts.into_iter().collect();
    let now = app.handle.now();
    let filter = asked.name.as_deref().map(host_filter).transpose();
    let filter = filter.map_err(|why| Problem::field("name", why.to_string()))?;
    let hosts = app.read(move |reader| match filter {
        Some(filter) => {
            let mut hosts = reader.find_hosts(&filter)?;
            hosts.retain(|host| asked.after.is_none_or(|after| host.id > after));
            hosts.sort_by_key(|host| host.id);
            hosts.truncate(limit);
            Ok(hosts)
        }
        None => reader.list_hosts(asked.after, limit),
    });
    let hosts = hosts.await?;
    let next = hosts.last().filter(|_| hosts.len() == limit).map(|it| i64::from(it.id));
    let items = hosts.into_iter().map(|it| HostView {
        id: it.id,
        name: it.name,
        rests_until: it.cooldown_until.filter(|until| *until > now).map(rfc3339),
        price: prices.get(&it.id).copied().and_then(finite),
    });
    Ok(Json(Page { items: items.collect(), next }))
}
