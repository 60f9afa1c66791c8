//! Event stream that tells pages when to refresh; it carries no data.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::access_control::TokenHash;
use crate::app::App;

/// Minimum and maximum time between two events.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
const MAX_INTERVAL: Duration = Duration::from_secs(10);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/live", get(stream_events))
}

async fn stream_events(
    State(app): State<Arc<App>>,
    Extension(TokenHash(credential)): Extension<TokenHash>,
) -> Response {
    let cursor = app.broadcast.cursor();
    let events = EventStream { app, credential, cursor, last: Instant::now(), is_first: true };
    let frames = stream::unfold(events, |mut events| async move {
        let frame = events.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), events))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The event stream of an open page.
struct EventStream {
    app: Arc<App>,
    credential: Option<[u8; 32]>,
    cursor: watch::Receiver<i64>,
    last: Instant,
    is_first: bool,
}

impl EventStream {
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.is_first) {
            // Tells the script that the connection is open.
            return Some(Bytes::from_static(b": here\nretry: 3000\n\n"));
        }
        let mut closing = self.app.closing.clone();
        let (earliest, latest) = (self.last + MIN_INTERVAL, self.last + MAX_INTERVAL);
        let change = async {
            // If the sender is gone, the timer ends the wait.
            if self.cursor.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep_until(earliest).await;
        };
        let name = tokio::select! {
            () = change => "change",
            () = sleep_until(latest) => "beat",
            _ = closing.wait_for(|closing| *closing) => return None,
        };
        // The token or session may have been removed meanwhile.
        if !self.app.can_still_read(self.credential).await {
            return None;
        }
        self.last = Instant::now();
        let cursor = *self.cursor.borrow_and_update();
        Some(format!("event: {name}\ndata: {cursor}\n\n").into())
    }
}
