//! Connections to hosts, and the pool of idle ones.

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

use crate::connection_driver::ConnectionHandle;
use crate::counted_stream::ReceivedBytes;
use crate::fetch_response::HopTimings;
use crate::route::Route;

/// Connection to a host. Its address was checked when it was opened.
pub(crate) struct Connection {
    pub(crate) sender: RequestSender,
    /// Keeps the connection alive.
    pub(crate) handle: ConnectionHandle,
    pub(crate) address: SocketAddr,
    /// Time that opening the connection took.
    pub(crate) timings: HopTimings,
    pub(crate) reused: bool,
    pub(crate) received: ReceivedBytes,
    /// Set if requests go to a proxy, which needs absolute URLs; the inner value is the proxy
    /// authorization.
    pub(crate) proxy_auth: Option<Option<HeaderValue>>,
}

pub(crate) enum RequestSender {
    /// HTTP/1.1: one request at a time.
    Http1(http1::SendRequest<Full<Bytes>>),
    /// HTTP/2: concurrent requests.
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    pub(crate) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        match &mut self.sender {
            RequestSender::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
            RequestSender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    pub(crate) fn version(&self) -> &'static str {
        match self.sender {
            RequestSender::Http1(_) => "HTTP/1.1",
            RequestSender::Http2(_) => "HTTP/2",
        }
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.sender, RequestSender::Http2(_))
    }

    fn is_closed(&self) -> bool {
        match &self.sender {
            RequestSender::Http1(sender) => sender.is_closed(),
            RequestSender::Http2(sender) => sender.is_closed(),
        }
    }

    /// Returns another user of the same connection if it is HTTP/2.
    fn share_http2(&self) -> Option<Self> {
        let RequestSender::Http2(sender) = &self.sender else { return None };
        Some(Self {
            sender: RequestSender::Http2(sender.clone()),
            handle: Arc::clone(&self.handle),
            address: self.address,
            timings: HopTimings::default(),
            reused: true,
            received: self.received.clone(),
            proxy_auth: self.proxy_auth.clone(),
        })
    }
}

/// Idle connections, and HTTP/2 connections that can take more requests.
pub(crate) struct ConnectionPool {
    state: Arc<Mutex<PoolState>>,
    max_idle: usize,
    idle_timeout: Duration,
}

#[derive(Default)]
struct PoolState {
    connections: HashMap<Route, Vec<(Connection, Instant)>>,
    count: usize,
    /// True if a task closes expired connections.
    is_reaper_running: bool,
}

impl ConnectionPool {
    pub(crate) fn new(max_idle: u32, idle_timeout: Duration) -> Self {
        Self { state: Arc::default(), max_idle: max_idle as usize, idle_timeout }
    }

    /// Takes the most recently used connection of a route that is still open.
    pub(crate) fn take_idle(&self, route: &Route) -> Option<Connection> {
        let mut state = self.lock();
        let PoolState { connections, count, .. } = &mut *state;
        let list = connections.get_mut(route)?;
        let mut taken = None;
        while let Some((mut connection, since)) = list.pop() {
            if connection.is_closed() || since.elapsed() > self.idle_timeout {
                *count -= 1;
                continue;
            }
            match connection.share_http2() {
                Some(shared) => {
                    list.push((connection, Instant::now()));
                    taken = Some(shared);
                }
                None => {
                    *count -= 1;
                    (connection.reused, connection.timings) = (true, HopTimings::default());
                    taken = Some(connection);
                }
            }
            break;
        }
        if list.is_empty() {
            connections.remove(route);
        }
        taken
    }

    /// Returns an idle connection to the pool.
    pub(crate) fn put_idle(&self, route: &Route, connection: Connection) {
        // HTTP/2 connections are in the pool from the start.
        if !connection.is_http2() {
            self.add(route, connection);
        }
    }

    /// Shares a new connection with other requests if it is HTTP/2.
    pub(crate) fn add_shared(&self, route: &Route, connection: &Connection) {
        if let Some(shared) = connection.share_http2() {
            self.add(route, shared);
        }
    }

    fn add(&self, route: &Route, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let mut state = self.lock();
        if state.count >= self.max_idle {
            let before = state.count;
            state.remove_expired(self.idle_timeout);
            // The pool is full of other hosts' live connections: the next hosts matter more than
            // the last.
            if state.count == before {
                (state.connections, state.count) = (HashMap::new(), 0);
            }
        }
        if self.max_idle > 0 && !state.is_reaper_running {
            state.is_reaper_running = true;
            tokio::spawn(close_idle(Arc::downgrade(&self.state), self.idle_timeout));
        }
        if state.count < self.max_idle {
            state.count += 1;
            match state.connections.get_mut(route) {
                Some(list) => list.push((connection, Instant::now())),
                None => {
                    state.connections.insert(route.clone(), vec![(connection, Instant::now())]);
                }
            }
        }
    }

    /// Removes the HTTP/2 connections of a route after one of them failed.
    pub(crate) fn forget_shared(&self, route: &Route) {
        let mut state = self.lock();
        let PoolState { connections, count, .. } = &mut *state;
        if let Some(list) = connections.get_mut(route) {
            let before = list.len();
            list.retain(|(connection, _)| !connection.is_http2());
            *count -= before - list.len();
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolState {
    /// Removes closed and expired connections.
    fn remove_expired(&mut self, idle_timeout: Duration) {
        self.connections.retain(|_, list| {
            list.retain(|(connection, since)| {
                !connection.is_closed() && since.elapsed() <= idle_timeout
            });
            !list.is_empty()
        });
        self.count = self.connections.values().map(Vec::len).sum();
    }
}

/// Closes expired connections while there are any. Otherwise a host could hold a connection open
/// and send arbitrary data on it.
async fn close_idle(state: Weak<Mutex<PoolState>>, idle_timeout: Duration) {
    loop {
        tokio::time::sleep(idle_timeout).await;
        let Some(state) = state.upgrade() else { return };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.remove_expired(idle_timeout);
        if state.count == 0 {
            state.is_reaper_running = false;
            return;
        }
    }
}
