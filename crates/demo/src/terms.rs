//! What all clients have to keep to.

/// What all clients have to keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Requests a day of the demo.
    pub budget: f64,
    /// Requests that may be made at once, after a rest.
    pub burst: f64,
    /// Days of the demo between two requests to one host.
    pub host_gap: f64,
    /// Requests to one host at a time.
    pub host_connections: u32,
    /// Requests at a time.
    pub connections: u32,
}
