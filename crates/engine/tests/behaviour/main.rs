//! How the engine behaves on a small web that is known: what an owner may rely on.

#![allow(clippy::unwrap_used)]

mod budget;
mod hosts;
mod many;
mod recall;
mod sources;
mod web;
