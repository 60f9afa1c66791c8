//! Notifications over loopback sockets: delivery, order, signatures, retries, and hostile input.

#![allow(clippy::unwrap_used)]

mod commands;
mod feeds;
mod hostile;
mod mail;
mod receiver;
mod smtp;
mod test_daemon;
mod webhooks;
