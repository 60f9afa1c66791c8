//! Behaviour of the engine on a small web with known change rates.

#![allow(clippy::unwrap_used)]

mod budget;
mod hosts;
mod large_sets;
mod restart;
mod sources;
mod web;
