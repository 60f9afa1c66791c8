//! The log of changes as it grows, as server-sent events.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use freshet_notify::{Filter, RawFilter};
use futures_util::stream;
use serde::Deserialize;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Interval, MissedTickBehavior, interval};

use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::changes::{filter, gap};
use crate::app::App;
use crate::guard::By;
use crate::hub::StreamEvent;
use crate::input::Query;
use crate::problem::Problem;

/// Entries that are read at once by who is behind.
const SOME: usize = 200;

/// The type of the stream.
const MEDIA_TYPE: &str = "text/event-stream";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(stream))
}

/// Which entries of the log are sent.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// Those after this cursor; those that are logged from now on unless given.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// The stream ends after so many entries; it has no end unless given.
    #[param(minimum = 1)]
    limit: Option<u64>,
    /// Of sources with this tag.
    tag: Option<String>,
    /// Of the host with this name.
    host: Option<String>,
    /// Of URLs that begin so; `*` stands for any run of characters.
    url: Option<String>,
    /// Of sources that counted at least so much.
    #[param(minimum = 0.0)]
    min_importance: Option<f64>,
    /// Of which at most so much is the same: the smaller, the larger the change.
    #[param(minimum = 0.0, maximum = 1.0)]
    max_similarity: Option<f64>,
    /// That tell one of these, separated by commas: `changed`, `failing`, `recovered`, `quiet`. All unless
    /// given.
    #[param(example = "changed,failing")]
    kinds: Option<String>,
}

/// Follow the log of changes
///
/// Entries are sent as they happen, as server-sent events, for as long as the client listens. The data of
/// an event is an entry as `GET /v1/changes` gives it, its name is the entry's kind and its id the cursor.
/// `Last-Event-ID`, or `after`, says where to begin. An event `forgotten` says that entries after the
/// cursor that was given are not kept any more; it goes on with the oldest. There is a sign of life every
/// 15 seconds.
#[utoipa::path(get, path = "/v1/changes/stream", tag = "changes",
    params(StreamQuery, ("Last-Event-ID" = Option<String>, Header,
        description = "The id of the last event that was heard; it comes before `after`")),
    responses((status = 200, description = "Events", body = String, content_type = "text/event-stream")))]
async fn stream(
    State(app): State<Arc<App>>,
    Extension(By(by)): Extension<By>,
    headers: HeaderMap,
    Query(asked): Query<StreamQuery>,
) -> Result<Response, Problem> {
    let StreamQuery { after, limit, tag, host, url, min_importance, max_similarity, kinds } = asked;
    let raw = RawFilter { tag, host, url, min_importance, max_similarity, kinds: Vec::new() };
    let filter = filter(raw, kinds.as_deref())?;
    if limit == Some(0) {
        return Err(Problem::field("limit", "0 is not 1 or more"));
    }
    // A client that comes back knows better than the address that it was given.
    let said = headers.get("last-event-id").map(|it| String::from_utf8_lossy(it.as_bytes()));
    let after = match said.filter(|said| !said.is_empty()) {
        None => after,
        Some(text) => {
            let cursor = text
                .parse()
                .map_err(|_| Problem::field("Last-Event-ID", format!("`{text}` is not a cursor")));
            Some(cursor?)
        }
    };
    if let Some(after) = after.filter(|after| *after < 0) {
        return Err(Problem::field("after", format!("{after} is not a cursor")));
    }
    let told = app.hub.follow();
    let (forgotten, last) =
        app.read(|reader| Ok((reader.pruned_cursor()?, reader.last_cursor()?))).await?;
    let at = after.unwrap_or(last);
    let mut beat = interval(app.limits.beat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let tokens = app.handle.token_changes();
    let (is_behind, ready, notice) = (true, Vec::new(), None);
    let left = limit.unwrap_or(u64::MAX);
    let mut follower =
        Follower { app, by, tokens, filter, told, at, is_behind, beat, notice, ready, left };
    if let Some(detail) = gap(at, forgotten, last) {
        follower.at = if at > last { 0 } else { forgotten };
        let data = serde_json::json!({ "after": at, "from": follower.at, "detail": detail });
        follower.notice = Some(format!("event: forgotten\ndata: {data}\n\n").into());
    }
    let frames = stream::unfold(follower, |mut follower| async move {
        let frame = follower.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), follower))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not wait for more.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// Somebody who follows the log.
struct Follower {
    app: Arc<App>,
    /// What it was let in by, and how often tokens had come or gone when that was looked at.
    by: Option<[u8; 32]>,
    tokens: u64,
    filter: Filter,
    told: broadcast::Receiver<Arc<StreamEvent>>,
    /// All up to here is told, or not wanted.
    at: i64,
    /// Whether it must read the log by itself.
    is_behind: bool,
    beat: Interval,
    /// What is said before all entries.
    notice: Option<Bytes>,
    /// The entries that are to be sent next, the last first.
    ready: Vec<Bytes>,
    /// How many are sent before the end.
    left: u64,
}

impl Follower {
    /// What is sent next; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if !self.may_follow().await {
                return None;
            }
            if let Some(notice) = self.notice.take() {
                return Some(notice);
            }
            if self.left == 0 {
                return None;
            }
            if let Some(frame) = self.ready.pop() {
                self.left -= 1;
                return Some(frame);
            }
            if self.app.is_closing() {
                return None;
            }
            if self.is_behind {
                self.catch_up().await?;
                continue;
            }
            let mut closing = self.app.closing.clone();
            tokio::select! {
                biased;
                told = self.told.recv() => match told {
                    Ok(told) => {
                        let is_new = told.change.cursor > self.at;
                        self.at = self.at.max(told.change.cursor);
                        if is_new && self.filter.matches(&told.change) {
                            // It may have waited for long.
                            self.ready.push(told.frame.clone());
                        }
                    }
                    Err(RecvError::Lagged(_)) => self.is_behind = true,
                    Err(RecvError::Closed) => return None,
                },
                _ = closing.wait_for(|closing| *closing) => return None,
                // A sign of life, and how far it is: whoever comes back begins there.
                _ = self.beat.tick() => return Some(format!(": beat\nid: {}\n\n", self.at).into()),
            }
        }
    }

    /// Whether what it was let in by still counts.
    async fn may_follow(&mut self) -> bool {
        let changes = self.app.handle.token_changes();
        if changes == self.tokens {
            return true;
        }
        self.tokens = changes;
        self.app.still_counts(self.by).await
    }

    /// Reads some of what was logged before it followed, or while it was slow.
    async fn catch_up(&mut self) -> Option<()> {
        let (at, filter) = (self.at, self.filter.change_filter());
        let read = self.app.read(move |reader| reader.changes(at, SOME, &filter)).await;
        let some = match read {
            Ok(some) => some,
            Err(problem) => {
                tracing::warn!("a stream ends: {}", problem.detail);
                return None;
            }
        };
        self.is_behind = some.len() == SOME;
        if let Some(last) = some.last() {
            self.at = last.cursor;
        }
        let wanted = some.into_iter().rev().filter(|it| self.filter.matches(it));
        self.ready = wanted.map(|change| StreamEvent::new(change).frame).collect();
        Some(())
    }
}
