//! Entries of the change log in; messages to those who want to know of them out: webhooks, mail,
//! commands, feeds. Each is told at least once and in order. Knows no command line and no server.

pub mod atom;
mod command;
mod deliver;
mod entry;
mod filter;
mod gather;
mod health;
mod ledger;
mod letter;
mod mail;
mod mime;
mod moment;
mod notifier;
mod sender;
mod sign;
mod target;
mod template;
mod tree;
mod view;
mod wait;
mod webhook;

pub use entry::{Entry, EntryKind, Links};
pub use filter::{Filter, Invalid, RawFilter};
pub use health::{Health, Troubled};
pub use letter::{Gap, Letter};
pub use moment::rfc3339;
pub use notifier::{Notifier, Retried};
pub use sender::{Fault, Receipt, Sender, Settings, Trouble};
pub use sign::{Key, NoRandom};
pub use target::{RawCommand, RawEmail, RawTarget, RawTo, RawWebhook, Target, check_name};
pub use template::Template;
pub use view::{DeadView, KeyView, View};
