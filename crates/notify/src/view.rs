//! Destinations and dead letters as shown by the API: without secrets.

use freshet_store::{DeadLetter, Destination};
use serde::Serialize;
use utoipa::ToSchema;

use crate::filter::RawFilter;
use crate::target::{RawChannel, Target};
use crate::timestamp::rfc3339;

/// Destination without secrets.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = Destination)]
pub struct DestinationView {
    /// Id: never reused.
    pub id: u32,
    /// Name.
    pub name: String,
    /// `webhook`, `email` or `command`; `unknown` if its settings cannot be read.
    pub kind: &'static str,
    /// Address. Of a URL only the host: the rest may be secret.
    pub to: String,
    /// Sender of mail, if set.
    pub from: Option<String>,
    /// Names of additional headers.
    pub headers: Vec<String>,
    /// Signing keys, newest first.
    pub keys: Vec<SigningKeyView>,
    /// Filter of entries.
    pub filter: RawFilter,
    /// Period of digests, if set.
    pub digest: Option<String>,
    /// Subject of mail, if set.
    pub subject: Option<String>,
    /// Text of each entry, if set.
    pub text: Option<String>,
    /// True if deliveries are paused.
    pub paused: bool,
    /// All entries up to this cursor are delivered, given up or filtered out.
    pub cursor: i64,
    /// Time of its creation (RFC 3339, UTC).
    pub made: String,
    /// Number of failed attempts since the last success.
    pub attempts: u32,
    /// Time of the next retry, if the last attempt failed.
    pub next: Option<String>,
    /// Time of the last successful delivery.
    pub delivered: Option<String>,
    /// Error of the last attempt, if it failed.
    pub error: Option<String>,
    /// Number of dead letters.
    pub dead: u64,
}

/// Signing key without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = DestinationKey)]
pub struct SigningKeyView {
    /// Time of its creation (RFC 3339, UTC).
    pub made: String,
    /// End of its validity, if it was replaced.
    pub until: Option<String>,
}

/// Dead letter: a delivery that was given up.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(as = DeadLetter)]
pub struct DeadLetterView {
    /// Id, increasing.
    pub id: i64,
    /// Cursor of its first entry.
    pub first: i64,
    /// Cursor of its last entry.
    pub last: i64,
    /// Time at which it was given up (RFC 3339, UTC).
    pub at: String,
    /// Number of attempts.
    pub attempts: u32,
    /// Error of the last attempt.
    pub error: String,
    /// Payload that would have been sent.
    pub letter: Option<crate::payload::Payload>,
}

impl DestinationView {
    /// Creates the view of a destination with a number of dead letters.
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
                view.error = Some(format!("invalid settings: {why}"));
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
                let key = |key: &crate::signature::SigningKey| SigningKeyView {
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
    /// Dead letter: a delivery that was given up.
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
