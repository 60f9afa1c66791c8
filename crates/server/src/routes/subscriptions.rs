//! What is subscribed to at hubs, and how that goes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use freshet_daemon::Subscribed;
use freshet_notify::rfc3339;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::Query;
use crate::page::{Page, limit};
use crate::problem::Problem;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Which subscriptions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct SubscriptionsQuery {
    /// Where the page before ended: its `next`.
    after: Option<u32>,
    /// Items of the page at most.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<usize>,
}

/// A subscription at a hub.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Subscription)]
struct SubscriptionView {
    /// The number of the feed that names the hub, among signal sources.
    feed: u32,
    /// The number of the hub's own voice among them.
    herald: u32,
    /// What is subscribed to.
    topic: String,
    /// Where.
    hub: String,
    /// `off` (there is no address to call back), `asked`, `active`, `failing` or `leaving`.
    state: &'static str,
    /// Until when it holds, if it does (RFC 3339, UTC).
    until: Option<String>,
    /// When the hub is asked next (RFC 3339, UTC).
    next: String,
    /// Why it does not hold, or what to do.
    note: Option<String>,
    /// What the hub has sent.
    pushes: u64,
    /// Of that, what was not signed as it should be.
    ignored: u64,
    /// When it last sent something (RFC 3339, UTC).
    pushed: Option<String>,
}

impl SubscriptionView {
    fn of(it: Subscribed) -> Self {
        Self {
            feed: it.feed,
            herald: it.herald,
            topic: it.topic,
            hub: it.hub,
            state: it.state,
            until: it.until.map(rfc3339),
            next: rfc3339(it.next),
            note: Some(it.note).filter(|note| !note.is_empty()),
            pushes: it.pushes,
            ignored: it.ignored,
            pushed: it.pushed.map(rfc3339),
        }
    }
}

/// List what is subscribed to at hubs
///
/// By WebSub: a feed that names a hub is subscribed to there, if `signals.callback` in freshet.toml says
/// where the hub reaches this service. In order of their voices.
#[utoipa::path(get, path = "/v1/subscriptions", tag = "signals", params(SubscriptionsQuery),
    responses((status = 200, description = "A page of subscriptions", body = Page<SubscriptionView>)))]
async fn list(
    State(app): State<Arc<App>>,
    Query(asked): Query<SubscriptionsQuery>,
) -> Result<Json<Page<SubscriptionView>>, Problem> {
    let limit = limit(asked.limit)?;
    let mut all = app.handle.websub().list(app.handle.now());
    all.retain(|it| asked.after.is_none_or(|after| it.herald > after));
    all.sort_by_key(|it| it.herald);
    let is_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| is_more).map(|it| i64::from(it.herald));
    Ok(Json(Page { items: all.into_iter().map(SubscriptionView::of).collect(), next }))
}
