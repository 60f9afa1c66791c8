//! Tests of the daemon and its commands, against a small website on loopback.

#![allow(clippy::unwrap_used)]

mod commands;
mod end_to_end;
mod examples;
mod import;
mod instance;
mod lifecycle;
mod messages;
mod notify;
mod politeness;
mod round_trip;
mod service;
mod signal_sources;
mod site;
