//! The daemon and the commands around it as people run them, against a small web on loopback.

#![allow(clippy::unwrap_used)]

mod commands;
mod examples;
mod heralds;
mod home;
mod import;
mod life;
mod messages;
mod notify;
mod politeness;
mod round_trip;
mod service;
mod signals;
mod site;
