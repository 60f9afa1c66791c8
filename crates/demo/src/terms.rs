//! Limits for all clients.

/// Limits for all clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Requests per day of the demo.
    pub budget: f64,
    /// Requests that may be made at once after an idle time.
    pub burst: f64,
    /// Days of the demo between two requests to a host.
    pub host_gap: f64,
    /// Concurrent requests to a host.
    pub host_connections: u32,
    /// Concurrent requests.
    pub connections: u32,
}
