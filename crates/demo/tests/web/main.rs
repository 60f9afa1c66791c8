//! The web on loopback, the truth about its clients, and the clients.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod order;
mod server;
mod stand_in;
mod traces;
mod truth;
mod whole;
