//! Those who are told, on real sockets of loopback: what arrives, what is signed, what is tried again,
//! and what must not happen.

#![allow(clippy::unwrap_used)]

mod commands;
mod feeds;
mod home;
mod hostile;
mod mail;
mod receiver;
mod smtp;
mod webhooks;
