//! A daemon comes in; an HTTP service over it goes out: sources and their state, work for other
//! crawlers and the change log, under `/v1`, and the dashboard. The server decides nothing: it
//! passes every decision to the daemon. It parses no command line.
//!
//! `routes` has one file for each resource; `routes.rs` lists them. Each request first passes
//! `access_control.rs`, which authenticates and authorizes it.

mod access_control;
mod add_impact;
mod app;
mod auth_throttle;
mod change_broadcast;
mod connection_limiter;
mod connection_stream;
mod etag;
mod extractors;
mod file_limit;
mod metrics;
mod openapi;
mod pagination;
mod plan_table;
mod problem;
mod ranking;
mod routes;
mod server;
mod signal_source;
mod timestamp;
mod token;
mod true_freshness;
mod web;

pub use problem::Problem;
pub use routes::document;
pub use server::{ServeError, Server, ServerSettings, ServerTimeouts};
pub use signal_source::{DiscoveryRuleView, LastReadView, SignalSourceView, SignalStatsView};
pub use token::{InvalidScope, Scope, Scopes, TokenSecret};
pub use true_freshness::{FreshnessSeries, TrueFreshness};
