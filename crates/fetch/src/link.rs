//! A connection on which requests are sent, and those that are kept for the next one.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use tokio::time::Instant;

use crate::count::Received;
use crate::driver::Used;
use crate::outcome::Timings;
use crate::route::Route;

/// A connection. Its address was judged when it was opened.
pub(crate) struct Link {
    pub(crate) sender: Sender,
    /// It lives on as long as somebody has this.
    pub(crate) used: Used,
    pub(crate) address: SocketAddr,
    /// What opening it took.
    pub(crate) timings: Timings,
    pub(crate) reused: bool,
    pub(crate) received: Received,
    /// Whether requests are for a proxy, which wants whole URLs; and how we sign in there.
    pub(crate) absolute: Option<Option<HeaderValue>>,
}

pub(crate) enum Sender {
    /// HTTP/1.1: one request at a time.
    First(http1::SendRequest<Full<Bytes>>),
    /// HTTP/2: many.
    Second(http2::SendRequest<Full<Bytes>>),
}

impl Link {
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        match &mut self.sender {
            Sender::First(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            Sender::Second(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    pub(crate) fn version(&self) -> &'static str {
        match self.sender {
            Sender::First(_) => "HTTP/1.1",
            Sender::Second(_) => "HTTP/2",
        }
    }

    pub(crate) fn is_second(&self) -> bool {
        matches!(self.sender, Sender::Second(_))
    }

    fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::First(sender) => sender.is_closed(),
            Sender::Second(sender) => sender.is_closed(),
        }
    }

    /// One more user of the same connection, if it can have several.
    fn share(&self) -> Option<Self> {
        let Sender::Second(sender) = &self.sender else { return None };
        Some(Self {
            sender: Sender::Second(sender.clone()),
            used: Arc::clone(&self.used),
            address: self.address,
            timings: Timings::default(),
            reused: true,
            received: self.received.clone(),
            absolute: self.absolute.clone(),
        })
    }
}

/// Connections that wait for the next request.
pub(crate) struct Pool {
    kept: Arc<Mutex<Kept>>,
    most: usize,
    keep: Duration,
}

#[derive(Default)]
struct Kept {
    links: HashMap<Route, Vec<(Link, Instant)>>,
    count: usize,
    /// Whether somebody comes by to close what has been kept for long enough.
    watched: bool,
}

impl Pool {
    pub(crate) fn new(most: u32, keep: Duration) -> Self {
        Self { kept: Arc::default(), most: most as usize, keep }
    }

    /// The connection that was used last, if it is of use.
    pub(crate) fn take(&self, route: &Route) -> Option<Link> {
        let mut kept = self.lock();
        let Kept { links, count, .. } = &mut *kept;
        let list = links.get_mut(route)?;
        let mut found = None;
        while let Some((mut link, since)) = list.pop() {
            if link.is_closed() || since.elapsed() > self.keep {
                *count -= 1;
                continue;
            }
            match link.share() {
                Some(shared) => {
                    list.push((link, Instant::now()));
                    found = Some(shared);
                }
                None => {
                    *count -= 1;
                    (link.reused, link.timings) = (true, Timings::default());
                    found = Some(link);
                }
            }
            break;
        }
        if list.is_empty() {
            links.remove(route);
        }
        found
    }

    /// Keeps a connection that nobody uses at the moment.
    pub(crate) fn keep(&self, route: &Route, link: Link) {
        // Those that are shared are there from the beginning.
        if !link.is_second() {
            self.add(route, link);
        }
    }

    /// Lets others use a new connection too, if it can have several users.
    pub(crate) fn offer(&self, route: &Route, link: &Link) {
        if let Some(shared) = link.share() {
            self.add(route, shared);
        }
    }

    fn add(&self, route: &Route, link: Link) {
        if link.is_closed() {
            return;
        }
        let mut kept = self.lock();
        if kept.count >= self.most {
            let before = kept.count;
            kept.sweep(self.keep);
            // Hosts come and go, and the next ones are worth more than the last.
            if kept.count == before {
                (kept.links, kept.count) = (HashMap::new(), 0);
            }
        }
        if self.most > 0 && !kept.watched {
            kept.watched = true;
            tokio::spawn(watch(Arc::downgrade(&self.kept), self.keep));
        }
        if kept.count < self.most {
            kept.count += 1;
            match kept.links.get_mut(route) {
                Some(list) => list.push((link, Instant::now())),
                None => {
                    kept.links.insert(route.clone(), vec![(link, Instant::now())]);
                }
            }
        }
    }

    /// Forgets the shared connections of a route, of which one has failed.
    pub(crate) fn forget_shared(&self, route: &Route) {
        let mut kept = self.lock();
        let Kept { links, count, .. } = &mut *kept;
        if let Some(list) = links.get_mut(route) {
            let before = list.len();
            list.retain(|(link, _)| !link.is_second());
            *count -= before - list.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Drops what is of no use any more.
    fn sweep(&mut self, keep: Duration) {
        self.links.retain(|_, list| {
            list.retain(|(link, since)| !link.is_closed() && since.elapsed() <= keep);
            !list.is_empty()
        });
        self.count = self.links.values().map(Vec::len).sum();
    }
}

/// Closes connections that nobody used for long enough, as long as there are any. A host could otherwise
/// hold one, and send on it what it likes.
async fn watch(kept: Weak<Mutex<Kept>>, keep: Duration) {
    loop {
        tokio::time::sleep(keep).await;
        let Some(kept) = kept.upgrade() else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.sweep(keep);
        if kept.count == 0 {
            kept.watched = false;
            return;
        }
    }
}
