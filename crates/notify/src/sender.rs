//! The one function through which all messages go.

use std::collections::BTreeMap;
use std::time::Duration;

use freshet_daemon::{Config, Mail};
use freshet_fetch::Fetcher;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::payload::Payload;
use crate::target::{RawChannel, Target};
use crate::{command, mail, webhook};

/// What it takes to tell somebody: what an owner says of it.
#[derive(Clone, Debug)]
pub struct NotifySettings {
    /// How requests are made.
    pub fetch: freshet_fetch::Settings,
    /// How often, and through what.
    pub notify: freshet_daemon::Notify,
}

impl NotifySettings {
    /// What a configuration says.
    #[must_use]
    pub fn from_config(config: &Config) -> Self {
        Self { fetch: config.fetch.clone(), notify: config.notify.clone() }
    }
}

/// What was delivered, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Receipt {
    /// `webhook`, `email` or `command`.
    pub kind: &'static str,
    /// Where to, as it may be shown.
    pub to: String,
    /// What the delivery is called.
    pub id: String,
    /// What was sent, in a few words.
    pub sent: String,
    /// What was answered, in a few words.
    pub answer: String,
}

/// Why something was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DeliveryError {
    /// What went wrong, in a few words, without secrets.
    pub message: String,
    /// What that means for the next time.
    pub kind: FailureKind,
    /// How long the other side wants to be left alone.
    pub retry_after: Option<Duration>,
    /// What was answered, if something was.
    pub response: Option<String>,
}

/// What a failure means for the next time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It may go well later.
    Transient,
    /// It will hardly go well as it is.
    Permanent,
    /// The other side does not want to be told any more.
    Unsubscribed,
}

impl DeliveryError {
    pub(crate) fn new(what: impl Into<String>, fault: FailureKind) -> Self {
        Self { message: what.into(), kind: fault, retry_after: None, response: None }
    }
}

/// What is to be delivered, and as what.
pub(crate) struct Envelope<'a> {
    pub(crate) name: &'a str,
    pub(crate) id: &'a str,
    pub(crate) payload: &'a Payload,
    pub(crate) body: &'a [u8],
    pub(crate) now: i64,
}

/// Delivers. It keeps nothing but connections.
pub struct Sender {
    pub(crate) fetcher: Fetcher,
    pub(crate) mail: Option<Mail>,
    pub(crate) commands: BTreeMap<String, Vec<String>>,
    pub(crate) attempts: u32,
    pub(crate) wait: Duration,
    /// For a command.
    pub(crate) limit: Duration,
}

impl Sender {
    /// One with these settings.
    #[must_use]
    pub fn new(settings: NotifySettings) -> Self {
        let NotifySettings { fetch, notify } = settings;
        Self {
            fetcher: Fetcher::new(fetch),
            mail: notify.mail,
            commands: notify.commands,
            attempts: notify.attempts,
            wait: notify.wait,
            limit: notify.limit,
        }
    }

    /// Whether this one tells a target otherwise than another one would: what failed there may go well
    /// here.
    pub(crate) fn differs(&self, other: &Self, target: &Target) -> bool {
        let (own, its) = (self.fetcher.settings(), other.fetcher.settings());
        match &target.raw().to {
            RawChannel::Webhook(_) => own != its,
            RawChannel::Email(_) => self.mail != other.mail || !own.roots().eq(its.roots()),
            RawChannel::Command(it) => {
                let line = |sender: &Self| sender.commands.get(&it.name).cloned();
                line(self) != line(other) || self.limit != other.limit
            }
        }
    }

    /// Whether there is what a target needs: a mail server, a command of this name.
    ///
    /// # Errors
    /// If there is not.
    pub fn check_configured(&self, target: &Target) -> Result<(), DeliveryError> {
        match &target.raw().to {
            RawChannel::Webhook(_) => Ok(()),
            RawChannel::Email(_) => match self.mail {
                Some(_) => Ok(()),
                None => Err(mail::no_server()),
            },
            RawChannel::Command(it) => match self.commands.contains_key(&it.name) {
                true => Ok(()),
                false => Err(command::unknown(&it.name)),
            },
        }
    }

    /// Delivers something. It always ends, within limits.
    pub(crate) async fn send(
        &self,
        target: &Target,
        parcel: &Envelope<'_>,
    ) -> Result<Receipt, DeliveryError> {
        match &target.raw().to {
            RawChannel::Webhook(it) => webhook::send(self, target, it, parcel).await,
            RawChannel::Email(it) => mail::send(self, target, it, parcel).await,
            RawChannel::Command(it) => command::send(self, target, it, parcel).await,
        }
    }

    /// Delivers something that shows that it arrives.
    ///
    /// # Errors
    /// What came of it, if it did not arrive.
    pub async fn send_test(
        &self,
        name: &str,
        target: &Target,
        now: i64,
    ) -> Result<Receipt, DeliveryError> {
        let letter = Payload::test(name, now);
        let body = letter.body();
        let id = Payload::id("test", 0, &body);
        let parcel = Envelope { name, id: &id, payload: &letter, body: &body, now };
        self.send(target, &parcel).await
    }

    /// Delivers once more what was given up.
    ///
    /// # Errors
    /// What came of it, if it did not arrive.
    pub async fn resend(
        &self,
        identity: &str,
        it: &freshet_store::Destination,
        target: &Target,
        dead: &freshet_store::NewDeadLetter,
        now: i64,
    ) -> Result<Receipt, DeliveryError> {
        let letter = Payload::read(&dead.body).map_err(|_| {
            DeliveryError::new("what was kept of it cannot be read", FailureKind::Permanent)
        })?;
        let id = Payload::id(identity, it.id, &dead.body);
        let (name, body) = (it.name.as_str(), dead.body.as_slice());
        let parcel = Envelope { name, id: &id, payload: &letter, body, now };
        self.send(target, &parcel).await
    }
}
