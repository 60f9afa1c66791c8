//! The daemon against a small web on loopback.

#![allow(clippy::unwrap_used)]

mod claims;
mod clock_changes;
mod freshness;
mod head_requests;
mod host_permits;
mod politeness;
mod restarts;
mod signal_sources;
mod slow_hosts;
mod store_faults;
mod test_site;
