//! Hosts and their prices.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::parse_host_filter;
use freshet_notify::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::history::finite;
use crate::app::App;
use crate::extractors::QueryParams;
use crate::pagination::{Page, check_limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Filter and page of the list of hosts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct HostsQuery {
    /// Only this host: the given port, or any port if none is given.
    name: Option<String>,
    /// Cursor: `next` of the previous page.
    after: Option<u32>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A host.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Host)]
struct HostView {
    /// Id of the host.
    id: u32,
    /// Name of the host.
    name: String,
    /// End of its cooldown, if it is in one (RFC 3339, UTC).
    rests_until: Option<String>,
    /// Price of a fetch at this host, if its rate limit delays fetches that are worth the general
    /// price.
    price: Option<f64>,
}

/// List hosts
#[utoipa::path(get, path = "/v1/hosts", tag = "plan", params(HostsQuery),
    responses((status = 200, description = "A page of hosts", body = Page<HostView>)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<HostsQuery>,
) -> Result<Json<Page<HostView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let prices: HashMap<u32, f64> = app.handle.plan().await?.hosts.into_iter().collect();
    let now = app.handle.now();
    let filter = query.name.as_deref().map(parse_host_filter).transpose();
    let filter = filter.map_err(|error| Problem::invalid("name", error.to_string()))?;
    let hosts = app.read(move |reader| match filter {
        Some(filter) => {
            let mut hosts = reader.find_hosts(&filter)?;
            hosts.retain(|host| query.after.is_none_or(|after| host.id > after));
            hosts.sort_by_key(|host| host.id);
            hosts.truncate(limit);
            Ok(hosts)
        }
        None => reader.list_hosts(query.after, limit),
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
