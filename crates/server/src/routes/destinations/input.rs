//! Destinations as clients write them: without keys, which are made here.

use std::collections::BTreeMap;

use freshet_notify::{
    RawChannel, RawCommand, RawEmail, RawFilter, RawTarget, RawWebhook, SigningKey,
};
use serde::Deserialize;
use utoipa::ToSchema;

/// A destination that is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DestinationInput {
    /// What it is called: letters, digits, `-`, `_` and `.`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]+$", example = "shop")]
    pub(super) name: String,
    /// Also of what came after this cursor; 0 is before all. From now on unless given.
    #[schema(minimum = 0)]
    #[serde(default)]
    pub(super) after: Option<i64>,
    /// Where.
    to: ToInput,
    /// Of which entries; of all unless given.
    #[serde(default)]
    filter: RawFilter,
    /// One message in such a time: `1h`. Without it, one for each entry; of webhooks, some at once if
    /// many wait.
    #[serde(default)]
    #[schema(example = "1h")]
    digest: Option<String>,
    /// The subject of mail, with places such as `{{url}}`.
    #[serde(default)]
    subject: Option<String>,
    /// The text of mail, or what a command reads, of each entry, with places such as `{{url}}`.
    #[serde(default)]
    text: Option<String>,
}

impl DestinationInput {
    /// Where, what and how.
    pub(super) fn target(self) -> TargetInput {
        let Self { to, filter, digest, subject, text, .. } = self;
        TargetInput { to, filter, digest, subject, text }
    }
}

/// Where somebody is told, of what and how.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetInput {
    /// Where.
    to: ToInput,
    /// Of which entries; of all unless given.
    #[serde(default)]
    filter: RawFilter,
    /// One message in such a time: `1h`. Without it, one for each entry; of webhooks, some at once if
    /// many wait.
    #[serde(default)]
    #[schema(example = "1h")]
    digest: Option<String>,
    /// The subject of mail, with places such as `{{url}}`.
    #[serde(default)]
    subject: Option<String>,
    /// The text of mail, or what a command reads, of each entry, with places such as `{{url}}`.
    #[serde(default)]
    text: Option<String>,
}

/// Where.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ToInput {
    /// JSON is posted to a URL.
    Webhook(WebhookInput),
    /// Mail is sent, through the server that freshet.toml names.
    Email(RawEmail),
    /// A program is run that freshet.toml names.
    Command(RawCommand),
}

/// A URL that JSON is posted to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebhookInput {
    /// Where.
    #[schema(max_length = 2048, example = "https://shop.example/hook")]
    url: String,
    /// Headers to send along. They are not shown again.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl std::fmt::Debug for WebhookInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookInput(…)")
    }
}

impl TargetInput {
    /// The keys that it goes on with in place of another; `None` if that is of another kind.
    pub(super) fn keys_of(&self, before: &RawTarget) -> Option<Vec<SigningKey>> {
        match (&self.to, &before.to) {
            (ToInput::Webhook(_), RawChannel::Webhook(hook)) => Some(hook.keys.clone()),
            (ToInput::Email(_), RawChannel::Email(_))
            | (ToInput::Command(_), RawChannel::Command(_)) => Some(Vec::new()),
            _ => None,
        }
    }

    /// As it is kept.
    pub(super) fn raw(self, keys: Vec<SigningKey>) -> RawTarget {
        let to = match self.to {
            ToInput::Webhook(WebhookInput { url, headers }) => {
                RawChannel::Webhook(RawWebhook { url, headers, keys })
            }
            ToInput::Email(email) => RawChannel::Email(email),
            ToInput::Command(command) => RawChannel::Command(command),
        };
        let Self { filter, digest, subject, text, .. } = self;
        RawTarget { filter, digest, subject, text, ..RawTarget::new(to) }
    }
}
