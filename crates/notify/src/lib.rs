//! Entries of the change log in; messages to those who want to know of them out: webhooks, mail,
//! commands, feeds. Each is told at least once and in order. Knows no command line and no server.

pub mod atom;
mod entry;
mod filter;
mod moment;

pub use entry::{Entry, EntryKind, Links};
pub use filter::{Filter, Invalid, RawFilter};
pub use moment::rfc3339;
