//! The daemon against a small web on loopback.

#![allow(clippy::unwrap_used)]

mod claims;
mod clocks;
mod faults;
mod heads;
mod heralds;
mod keeps;
mod politeness;
mod restarts;
mod slow;
mod turns;
mod web;
