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
mod mail;
mod mime;
mod moment;
mod notifier;
mod payload;
mod sender;
mod sign;
mod target;
mod template;
mod tree;
mod view;
mod wait;
mod webhook;

pub use entry::{Entry, EntryKind, Links};
pub use filter::{Filter, InvalidSetting, RawFilter};
pub use health::{DestinationHealth, UnhealthyDestination};
pub use moment::rfc3339;
pub use notifier::{Notifier, RetryResult};
pub use payload::{Gap, Payload};
pub use sender::{DeliveryError, FailureKind, NotifySettings, Receipt, Sender};
pub use sign::{RandomSourceError, SigningKey};
pub use target::{RawChannel, RawCommand, RawEmail, RawTarget, RawWebhook, Target, check_name};
pub use template::Template;
pub use view::{DeadLetterView, DestinationView, SigningKeyView};
