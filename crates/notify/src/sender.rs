//! Sends payloads through the channel of a destination.

use std::collections::BTreeMap;
use std::time::Duration;

use freshet_daemon::{Config, MailConfig};
use freshet_fetch::Fetcher;
use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::payload::Payload;
use crate::target::{RawChannel, Target};
use crate::{command, mail, webhook};

/// Settings of the notifier.
#[derive(Clone, Debug)]
pub struct NotifySettings {
    /// Fetch settings, used for webhooks.
    pub fetch: freshet_fetch::FetchSettings,
    /// Retries, mail server and commands.
    pub notify: freshet_daemon::NotifyConfig,
}

impl NotifySettings {
    /// Takes the settings from a configuration.
    #[must_use]
    pub fn from_config(config: &Config) -> Self {
        Self { fetch: config.fetch.clone(), notify: config.notify.clone() }
    }
}

/// Receipt of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Receipt {
    /// `webhook`, `email` or `command`.
    pub kind: &'static str,
    /// Address, without secrets.
    pub to: String,
    /// Delivery id.
    pub id: String,
    /// Short description of what was sent.
    pub sent: String,
    /// Short description of the response.
    pub answer: String,
}

/// Error of a delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DeliveryError {
    /// Short message without secrets.
    pub message: String,
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Pause that the receiver requested.
    pub retry_after: Option<Duration>,
    /// Response, if there was one.
    pub response: Option<String>,
}

/// Kind of a failure: decides about retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A later attempt may succeed.
    Transient,
    /// Later attempts will probably fail as well.
    Permanent,
    /// The receiver no longer wants notifications.
    Unsubscribed,
}

impl DeliveryError {
    pub(crate) fn new(message: impl Into<String>, kind: FailureKind) -> Self {
        Self { message: message.into(), kind, retry_after: None, response: None }
    }
}

/// Payload with its destination and delivery id.
pub(crate) struct Envelope<'a> {
    pub(crate) name: &'a str,
    pub(crate) id: &'a str,
    pub(crate) payload: &'a Payload,
    pub(crate) body: &'a [u8],
    pub(crate) now: i64,
}

/// Sends payloads. Holds settings and connections, but no delivery state.
pub struct Sender {
    pub(crate) fetcher: Fetcher,
    pub(crate) mail: Option<MailConfig>,
    pub(crate) commands: BTreeMap<String, Vec<String>>,
    pub(crate) max_attempts: u32,
    pub(crate) first_retry_delay: Duration,
    /// Time limit of a command.
    pub(crate) command_timeout: Duration,
}

impl Sender {
    /// Creates a sender.
    #[must_use]
    pub fn new(settings: NotifySettings) -> Self {
        let NotifySettings { fetch, notify } = settings;
        Self {
            fetcher: Fetcher::new(fetch),
            mail: notify.mail,
            commands: notify.commands,
            max_attempts: notify.max_attempts,
            first_retry_delay: notify.first_retry_delay,
            command_timeout: notify.command_timeout,
        }
    }

    /// True if the settings that matter to a target differ from those of another sender: a delivery that failed there may
    /// succeed here.
    pub(crate) fn differs_for(&self, other: &Self, target: &Target) -> bool {
        let (own, others) = (self.fetcher.settings(), other.fetcher.settings());
        match &target.raw().to {
            RawChannel::Webhook(_) => own != others,
            RawChannel::Email(_) => {
                self.mail != other.mail || !own.extra_roots().eq(others.extra_roots())
            }
            RawChannel::Command(it) => {
                let words = |sender: &Self| sender.commands.get(&it.name).cloned();
                words(self) != words(other) || self.command_timeout != other.command_timeout
            }
        }
    }

    /// Checks that the configuration has the mail server or the command that a target needs.
    ///
    /// # Errors
    /// Returns [`DeliveryError`] if it has not.
    pub fn check_configured(&self, target: &Target) -> Result<(), DeliveryError> {
        match &target.raw().to {
            RawChannel::Webhook(_) => Ok(()),
            RawChannel::Email(_) => match self.mail {
                Some(_) => Ok(()),
                None => Err(mail::no_server_error()),
            },
            RawChannel::Command(it) => match self.commands.contains_key(&it.name) {
                true => Ok(()),
                false => Err(command::unknown_command(&it.name)),
            },
        }
    }

    /// Sends a payload. Every channel has a time limit.
    pub(crate) async fn send(
        &self,
        target: &Target,
        envelope: &Envelope<'_>,
    ) -> Result<Receipt, DeliveryError> {
        match &target.raw().to {
            RawChannel::Webhook(it) => webhook::send(self, target, it, envelope).await,
            RawChannel::Email(it) => mail::send(self, target, it, envelope).await,
            RawChannel::Command(it) => command::send(self, target, it, envelope).await,
        }
    }

    /// Sends a test notification.
    ///
    /// # Errors
    /// Returns [`DeliveryError`] if it was not delivered.
    pub async fn send_test(
        &self,
        name: &str,
        target: &Target,
        now: i64,
    ) -> Result<Receipt, DeliveryError> {
        let payload = Payload::test(name, now);
        let body = payload.body();
        let id = Payload::id("test", 0, &body);
        let envelope = Envelope { name, id: &id, payload: &payload, body: &body, now };
        self.send(target, &envelope).await
    }

    /// Resends a dead letter.
    ///
    /// # Errors
    /// Returns [`DeliveryError`] if it was not delivered.
    pub async fn resend(
        &self,
        identity: &str,
        destination: &freshet_store::Destination,
        target: &Target,
        dead_letter: &freshet_store::NewDeadLetter,
        now: i64,
    ) -> Result<Receipt, DeliveryError> {
        let payload = Payload::read(&dead_letter.body).map_err(|_| {
            DeliveryError::new("the stored payload cannot be read", FailureKind::Permanent)
        })?;
        let id = Payload::id(identity, destination.id, &dead_letter.body);
        let (name, body) = (destination.name.as_str(), dead_letter.body.as_slice());
        let envelope = Envelope { name, id: &id, payload: &payload, body, now };
        self.send(target, &envelope).await
    }
}
