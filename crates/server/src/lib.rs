//! A daemon in; an HTTP service over it out: sources, what is known of them, work for other crawlers and
//! the log of changes, under `/v1`. Decides nothing: what it is asked, it asks the daemon. Knows no
//! command line.
//!
//! One file for each noun under `routes`; all of them are listed in `routes.rs`. Each request goes
//! through `guard.rs` first: who asks, from where, and whether they may.

mod adding;
mod app;
mod auth_throttle;
mod connection_limiter;
mod document;
mod etag;
mod files;
mod guard;
mod hub;
mod input;
mod metrics;
mod moment;
mod page;
mod plan_table;
mod problem;
mod ranking;
mod routes;
mod server;
mod signal_source;
mod token;
mod truth;
mod web;
mod wire;

pub use problem::Problem;
pub use routes::document;
pub use server::{Limits, ServeError, Server, Settings};
pub use signal_source::{LastRead, SignalRule, SignalSourceView, SignalsLearnt};
pub use token::{InvalidScope, Scope, Scopes, Secret};
pub use truth::{Line, Truth};
