//! A destination as it may be shown: without what is secret of it.

use freshet_store::{DeadLetter, Destination};
use serde::Serialize;
use utoipa::ToSchema;

use crate::filter::RawFilter;
use crate::moment::rfc3339;
use crate::target::{RawChannel, Target};

/// Somebody who is told of changes, without what is secret of them.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Destination)]
pub struct DestinationView {
    /// Its number: none is used twice.
    pub id: u32,
    /// What its owner calls it.
    pub name: String,
    /// `webhook`, `email` or `command`; `unknown` if its settings are of another freshet.
    pub kind: &'static str,
    /// Where. Of a URL no more than the host: the rest may be a secret.
    pub to: String,
    /// Whom mail comes from, if that was said.
    pub from: Option<String>,
    /// The names of headers that are sent along.
    pub headers: Vec<String>,
    /// The keys that sign, the newest first.
    pub keys: Vec<SigningKeyView>,
    /// Which entries are told.
    pub filter: RawFilter,
    /// One message in such a time, if so.
    pub digest: Option<String>,
    /// The subject of mail, if that was said.
    pub subject: Option<String>,
    /// The text of each entry, if that was said.
    pub text: Option<String>,
    /// Whether nothing is delivered for the time being.
    pub paused: bool,
    /// All up to this cursor is delivered, given up, or not wanted.
    pub cursor: i64,
    /// When it was made (RFC 3339, UTC).
    pub made: String,
    /// Deliveries that failed since the last one that did not.
    pub attempts: u32,
    /// When it is tried again, if the last delivery failed.
    pub next: Option<String>,
    /// When something was last delivered.
    pub delivered: Option<String>,
    /// Why the last delivery failed, if it did.
    pub error: Option<String>,
    /// Deliveries that were given up.
    pub dead: u64,
}

/// A key, without what is secret of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DestinationKey)]
pub struct SigningKeyView {
    /// When it was made (RFC 3339, UTC).
    pub made: String,
    /// When it ends, if a newer one has come.
    pub until: Option<String>,
}

/// A delivery that was given up.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = DeadLetter)]
pub struct DeadLetterView {
    /// Its number: later ones are larger.
    pub id: i64,
    /// The cursor of the first entry in it.
    pub first: i64,
    /// The cursor of the last one.
    pub last: i64,
    /// When it was given up (RFC 3339, UTC).
    pub at: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it failed the last time.
    pub error: String,
    /// What would have been sent.
    pub letter: Option<crate::payload::Payload>,
}

impl DestinationView {
    /// A destination, and how many deliveries to it were given up.
    #[must_use]
    pub fn new(it: &Destination, dead: u64) -> Self {
        let mut view = Self {
            id: it.id,
            name: it.name.clone(),
            kind: "unknown",
            to: String::new(),
            from: None,
            headers: Vec::new(),
            keys: Vec::new(),
            filter: RawFilter::default(),
            digest: None,
            subject: None,
            text: None,
            paused: it.paused,
            cursor: it.cursor,
            made: rfc3339(it.created_at),
            attempts: it.attempts,
            next: it.retry_at.map(rfc3339),
            delivered: it.delivered_at.map(rfc3339),
            error: it.error.clone(),
            dead,
        };
        let target = match Target::parse(&it.settings) {
            Ok(target) => target,
            Err(why) => {
                view.error = Some(format!("its settings make no sense: {why}"));
                return view;
            }
        };
        (view.kind, view.to) = (target.kind(), target.redacted_address());
        let raw = target.raw().clone();
        (view.filter, view.digest) = (raw.filter, raw.digest);
        (view.subject, view.text) = (raw.subject, raw.text);
        match raw.to {
            RawChannel::Webhook(hook) => {
                view.headers = hook.headers.into_keys().collect();
                let key = |key: &crate::sign::SigningKey| SigningKeyView {
                    made: rfc3339(key.made()),
                    until: key.until().map(rfc3339),
                };
                view.keys = hook.keys.iter().map(key).collect();
            }
            RawChannel::Email(email) => view.from = email.from,
            RawChannel::Command(_) => {}
        }
        view
    }
}

impl DeadLetterView {
    /// A delivery that was given up.
    #[must_use]
    pub fn new(it: &DeadLetter) -> Self {
        Self {
            id: it.id,
            first: it.delivery.first_cursor,
            last: it.delivery.last_cursor,
            at: rfc3339(it.delivery.at),
            attempts: it.delivery.attempts,
            error: it.delivery.error.clone(),
            letter: crate::payload::Payload::read(&it.delivery.body).ok(),
        }
    }
}
