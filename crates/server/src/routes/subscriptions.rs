//! WebSub subscriptions.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::SubscriptionStatus;
use freshet_notify::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extractors::QueryParams;
use crate::pagination::{Page, check_limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Page of the list of subscriptions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SubscriptionsQuery {
    /// Cursor: `next` of the previous page.
    after: Option<u32>,
    /// Maximum number of items in the page.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A subscription at a WebSub hub.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Subscription)]
struct SubscriptionView {
    /// Number of the feed that names the hub, among signal sources.
    feed: u32,
    /// Number of the signal source that stands for the hub.
    #[serde(rename = "herald")]
    signal_source: u32,
    /// Topic URL.
    topic: String,
    /// URL of the hub.
    hub: String,
    /// `off` (no callback URL is configured), `asked`, `active`, `failing` or `leaving`.
    state: &'static str,
    /// Expiry of the subscription, if it is active (RFC 3339, UTC).
    until: Option<String>,
    /// Time of the next request to the hub (RFC 3339, UTC).
    next: String,
    /// Why it is not active, or what to do.
    note: Option<String>,
    /// Deliveries received from the hub.
    pushes: u64,
    /// Deliveries ignored because of a missing or wrong signature.
    ignored: u64,
    /// Time of the last delivery (RFC 3339, UTC).
    pushed: Option<String>,
}

impl SubscriptionView {
    fn new(subscription: SubscriptionStatus) -> Self {
        Self {
            feed: subscription.feed,
            signal_source: subscription.signal_source,
            topic: subscription.topic,
            hub: subscription.hub,
            state: subscription.state,
            until: subscription.expires_at.map(rfc3339),
            next: rfc3339(subscription.next_request_at),
            note: Some(subscription.note).filter(|note| !note.is_empty()),
            pushes: subscription.pushes,
            ignored: subscription.rejected_pushes,
            pushed: subscription.last_push_at.map(rfc3339),
        }
    }
}

/// List WebSub subscriptions
///
/// A feed that names a hub is subscribed to there, if `signals.callback` in freshet.toml says
/// where hubs reach this service. Ordered by the number of the hub's signal source.
#[utoipa::path(get, path = "/v1/subscriptions", tag = "signals", params(SubscriptionsQuery),
    responses((status = 200, description = "A page of subscriptions", body = Page<SubscriptionView>)))]
async fn list(
    State(app): State<Arc<App>>,
    QueryParams(query): QueryParams<SubscriptionsQuery>,
) -> Result<Json<Page<SubscriptionView>>, Problem> {
    let limit = check_limit(query.limit)?;
    let mut all = app.handle.subscriber().statuses(app.handle.now());
    all.retain(|it| query.after.is_none_or(|after| it.signal_source > after));
    all.sort_by_key(|it| it.signal_source);
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(|it| i64::from(it.signal_source));
    Ok(Json(Page { items: all.into_iter().map(SubscriptionView::new).collect(), next }))
}
