//! The change log as server-sent events.

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

use super::changes::{missing_entries, parse_filter};
use crate::access_control::TokenHash;
use crate::app::App;
use crate::change_broadcast::StreamEvent;
use crate::extractors::QueryParams;
use crate::problem::Problem;

/// Entries read at a time by a client that lags behind.
const CATCH_UP_BATCH: usize = 200;

/// Media type of the stream.
const MEDIA_TYPE: &str = "text/event-stream";

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(stream))
}

/// Filter and position of the stream.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// Send entries after this cursor; from now on by default.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// End the stream after this many entries; never by default.
    #[param(minimum = 1)]
    limit: Option<u64>,
    /// Only sources with this tag.
    tag: Option<String>,
    /// Only this host.
    host: Option<String>,
    /// Only URLs that start with this; `*` matches any characters.
    url: Option<String>,
    /// Only sources of at least this importance at the time.
    #[param(minimum = 0.0)]
    min_importance: Option<f64>,
    /// Only changes of at most this similarity; smaller means a larger change.
    #[param(minimum = 0.0, maximum = 1.0)]
    max_similarity: Option<f64>,
    /// Only these kinds, separated by commas: `changed`, `failing`, `recovered`, `quiet`. All by
    /// default.
    #[param(example = "changed,failing")]
    kinds: Option<String>,
}

/// Stream changes
///
/// Entries are sent as server-sent events as they happen, for as long as the client is connected.
/// The data of an event is an entry as in `GET /v1/changes`, its name is the kind of the entry,
/// and its id is the cursor. `Last-Event-ID`, or `after`, says where to start. An event
/// `forgotten` says that entries after the given cursor have expired; the stream continues with
/// the oldest one. A heartbeat is sent every 15 seconds.
#[utoipa::path(get, path = "/v1/changes/stream", tag = "changes",
    params(StreamQuery, ("Last-Event-ID" = Option<String>, Header,
        description = "Id of the last event received; takes precedence over `after`")),
    responses((status = 200, description = "A stream of events", body = String, content_type = "text/event-stream")))]
async fn stream(
    State(app): State<Arc<App>>,
    Extension(TokenHash(token_hash)): Extension<TokenHash>,
    headers: HeaderMap,
    QueryParams(query): QueryParams<StreamQuery>,
) -> Result<Response, Problem> {
    let StreamQuery { after, limit, tag, host, url, min_importance, max_similarity, kinds } = query;
    let raw = RawFilter { tag, host, url, min_importance, max_similarity, kinds: Vec::new() };
    let filter = parse_filter(raw, kinds.as_deref())?;
    if limit == Some(0) {
        return Err(Problem::invalid("limit", "limit out of range: 0 is less than 1"));
    }
    // On reconnection, `Last-Event-ID` is newer than `after` in the URL.
    let last_event_id =
        headers.get("last-event-id").map(|it| String::from_utf8_lossy(it.as_bytes()));
    let after = match last_event_id.filter(|id| !id.is_empty()) {
        None => after,
        Some(text) => {
            let cursor = text
                .parse()
                .map_err(|_| Problem::invalid("Last-Event-ID", format!("invalid cursor `{text}`")));
            Some(cursor?)
        }
    };
    if let Some(after) = after.filter(|after| *after < 0) {
        return Err(Problem::invalid(
            "after",
            format!("invalid cursor: {after}; cursors are 0 or more"),
        ));
    }
    let events = app.broadcast.subscribe();
    let (pruned, last) =
        app.read(|reader| Ok((reader.pruned_cursor()?, reader.last_cursor()?))).await?;
    let at = after.unwrap_or(last);
    let mut heartbeat = interval(app.timeouts.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let tokens = app.handle.token_generation();
    let (is_behind, ready, notice) = (true, Vec::new(), None);
    let left = limit.unwrap_or(u64::MAX);
    let mut client = StreamClient {
        app,
        token_hash,
        tokens,
        filter,
        events,
        at,
        is_behind,
        heartbeat,
        notice,
        ready,
        left,
    };
    if let Some(detail) = missing_entries(at, pruned, last) {
        client.at = if at > last { 0 } else { pruned };
        let data = serde_json::json!({ "after": at, "from": client.at, "detail": detail });
        client.notice = Some(format!("event: forgotten\ndata: {data}\n\n").into());
    }
    let frames = stream::unfold(client, |mut client| async move {
        let frame = client.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), client))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Keeps proxies from buffering.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// A client of the stream.
struct StreamClient {
    app: Arc<App>,
    /// Token that admitted the client, and the token-change count when that was checked.
    token_hash: Option<[u8; 32]>,
    tokens: u64,
    filter: Filter,
    events: broadcast::Receiver<Arc<StreamEvent>>,
    /// Entries up to here were sent or filtered out.
    at: i64,
    /// True if it must read the log itself.
    is_behind: bool,
    heartbeat: Interval,
    /// Event to send before any entry.
    notice: Option<Bytes>,
    /// Events to send next, in reverse order.
    ready: Vec<Bytes>,
    /// Number of entries left before the stream ends.
    left: u64,
}

impl StreamClient {
    /// Returns the next bytes to send; `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if !self.is_authorized().await {
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
                received = self.events.recv() => match received {
                    Ok(event) => {
                        let is_new = event.change.cursor > self.at;
                        self.at = self.at.max(event.change.cursor);
                        if is_new && self.filter.matches(&event.change) {
                            // The token may have been revoked meanwhile: checked before the event
                            // is sent.
                            self.ready.push(event.frame.clone());
                        }
                    }
                    Err(RecvError::Lagged(_)) => self.is_behind = true,
                    Err(RecvError::Closed) => return None,
                },
                _ = closing.wait_for(|closing| *closing) => return None,
                // A heartbeat with the current position: a client that reconnects resumes there.
                _ = self.heartbeat.tick() => return Some(format!(": beat\nid: {}\n\n", self.at).into()),
            }
        }
    }

    /// True if the token that admitted the client is still valid.
    async fn is_authorized(&mut self) -> bool {
        let changes = self.app.handle.token_generation();
        if changes == self.tokens {
            return true;
        }
        self.tokens = changes;
        self.app.can_still_read(self.token_hash).await
    }

    /// Reads a batch of entries from the log.
    async fn catch_up(&mut self) -> Option<()> {
        let (at, filter) = (self.at, self.filter.change_filter());
        let read = self.app.read(move |reader| reader.changes(at, CATCH_UP_BATCH, &filter)).await;
        let batch = match read {
            Ok(batch) => batch,
            Err(problem) => {
                tracing::warn!("change stream closed: {}", problem.detail);
                return None;
            }
        };
        self.is_behind = batch.len() == CATCH_UP_BATCH;
        if let Some(last) = batch.last() {
            self.at = last.cursor;
        }
        let matching = batch.into_iter().rev().filter(|it| self.filter.matches(it));
        self.ready = matching.map(|change| StreamEvent::new(change).frame).collect();
        Some(())
    }
}
