//! Tests of the service over real sockets: every route, every error, and hostile clients.

#![allow(clippy::unwrap_used)]

mod changes;
mod claims;
mod client;
mod destinations;
mod document;
mod feeds;
mod history;
mod hostile;
mod hub;
mod indexnow;
mod pages_of_sources;
mod plan;
mod signal_sources;
mod signals_page;
mod source_page;
mod sources;
mod stream;
mod tokens;
mod web;
mod websub;
