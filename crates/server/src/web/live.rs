//! When a page should look again: a stream of hints, without what has happened.

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

use crate::app::App;
use crate::guard::By;

/// The least time between two hints, and the most.
const LEAST: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_secs(10);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/live", get(follow))
}

async fn follow(State(app): State<Arc<App>>, Extension(By(by)): Extension<By>) -> Response {
    let cursor = app.hub.cursor();
    let looker = Looker { app, by, cursor, last: Instant::now(), is_first: true };
    let frames = stream::unfold(looker, |mut looker| async move {
        let frame = looker.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), looker))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Somebody who looks at a page.
struct Looker {
    app: Arc<App>,
    by: Option<[u8; 32]>,
    cursor: watch::Receiver<i64>,
    last: Instant,
    is_first: bool,
}

impl Looker {
    async fn next(&mut self) -> Option<Bytes> {
        if std::mem::take(&mut self.is_first) {
            // The script knows from this that it is connected.
            return Some(Bytes::from_static(b": here\nretry: 3000\n\n"));
        }
        let mut closing = self.app.closing.clone();
        let (least, most) = (self.last + LEAST, self.last + MOST);
        let news = async {
            // Whoever is gone tells nothing: then it is the beat that ends the wait.
            if self.cursor.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            sleep_until(least).await;
        };
        let name = tokio::select! {
            () = news => "change",
            () = sleep_until(most) => "beat",
            _ = closing.wait_for(|closing| *closing) => return None,
        };
        // What it was let in by may have gone meanwhile.
        if !self.app.still_counts(self.by).await {
            return None;
        }
        self.last = Instant::now();
        let cursor = *self.cursor.borrow_and_update();
        Some(format!("event: {name}\ndata: {cursor}\n\n").into())
    }
}
