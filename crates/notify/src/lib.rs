//! Notifications: entries of the change log in; webhooks, mail, commands and Atom feeds out. Each destination gets
//! each entry at least once and in order. Not here: the command line and the HTTP server.

pub mod atom;
mod command;
mod delivery_worker;
mod entry;
mod filter;
mod health;
mod mail;
mod mail_message;
mod next_delivery;
mod notifier;
mod payload;
mod process_tree;
mod progress_writer;
mod retry;
mod sender;
mod signature;
mod target;
mod template;
mod timestamp;
mod view;
mod webhook;

pub use entry::{Entry, EntryKind, Links};
pub use filter::{Filter, InvalidSetting, RawFilter};
pub use health::{DestinationHealth, UnhealthyDestination};
pub use notifier::{Notifier, RetryResult};
pub use payload::{Gap, Payload};
pub use sender::{DeliveryError, FailureKind, NotifySettings, Receipt, Sender};
pub use signature::{RandomSourceError, SigningKey};
pub use target::{RawChannel, RawCommand, RawEmail, RawTarget, RawWebhook, Target, check_name};
pub use template::Template;
pub use timestamp::rfc3339;
pub use view::{DeadLetterView, DestinationView, SigningKeyView};
