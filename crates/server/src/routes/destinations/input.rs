//! Destinations in requests: without signing keys, which the server generates.

use std::collections::BTreeMap;

use freshet_notify::{
    RawChannel, RawCommand, RawEmail, RawFilter, RawTarget, RawWebhook, SigningKey,
};
use serde::Deserialize;
use utoipa::ToSchema;

/// A destination to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DestinationInput {
    /// Name: letters, digits, `-`, `_` and `.`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9._-]+$", example = "shop")]
    pub(super) name: String,
    /// Cursor to start after; 0 for the beginning of the log. Default: from now on.
    #[schema(minimum = 0)]
    #[serde(default)]
    pub(super) after: Option<i64>,
    /// Channel and address.
    to: ChannelInput,
    /// Entries to deliver; all by default.
    #[serde(default)]
    filter: RawFilter,
    /// Interval of digests: `1h`. Without it, one message is sent for each entry; a webhook may
    /// receive several entries at once if many are pending.
    #[serde(default)]
    #[schema(example = "1h")]
    digest: Option<String>,
    /// Subject of mails, with placeholders such as `{{url}}`.
    #[serde(default)]
    subject: Option<String>,
    /// Text for each entry in mails, or on the standard input of a command, with placeholders such
    /// as `{{url}}`.
    #[serde(default)]
    text: Option<String>,
}

impl DestinationInput {
    /// Returns the settings without the name and the cursor.
    pub(super) fn target(self) -> TargetInput {
        let Self { to, filter, digest, subject, text, .. } = self;
        TargetInput { to, filter, digest, subject, text }
    }
}

/// Settings of a destination: the channel, the filter and the format.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetInput {
    /// Channel and address.
    to: ChannelInput,
    /// Entries to deliver; all by default.
    #[serde(default)]
    filter: RawFilter,
    /// Interval of digests: `1h`. Without it, one message is sent for each entry; a webhook may
    /// receive several entries at once if many are pending.
    #[serde(default)]
    #[schema(example = "1h")]
    digest: Option<String>,
    /// Subject of mails, with placeholders such as `{{url}}`.
    #[serde(default)]
    subject: Option<String>,
    /// Text for each entry in mails, or on the standard input of a command, with placeholders such
    /// as `{{url}}`.
    #[serde(default)]
    text: Option<String>,
}

/// Channel and address.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ToInput)]
enum ChannelInput {
    /// Posts JSON to a URL.
    Webhook(WebhookInput),
    /// Sends mail through the server configured in freshet.toml.
    Email(RawEmail),
    /// Runs a command configured in freshet.toml.
    Command(RawCommand),
}

/// A URL that JSON is posted to.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebhookInput {
    /// Channel and address.
    #[schema(max_length = 2048, example = "https://shop.example/hook")]
    url: String,
    /// Additional request headers. They are not shown again.
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl std::fmt::Debug for WebhookInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookInput(…)")
    }
}

impl TargetInput {
    /// Returns the signing keys to keep when these settings replace others; `None` if those are of
    /// another kind.
    pub(super) fn kept_keys(&self, before: &RawTarget) -> Option<Vec<SigningKey>> {
        match (&self.to, &before.to) {
            (ChannelInput::Webhook(_), RawChannel::Webhook(hook)) => Some(hook.keys.clone()),
            (ChannelInput::Email(_), RawChannel::Email(_))
            | (ChannelInput::Command(_), RawChannel::Command(_)) => Some(Vec::new()),
            _ => None,
        }
    }

    /// Converts the settings for storage.
    pub(super) fn raw(self, keys: Vec<SigningKey>) -> RawTarget {
        let to = match self.to {
            ChannelInput::Webhook(WebhookInput { url, headers }) => {
                RawChannel::Webhook(RawWebhook { url, headers, keys })
            }
            ChannelInput::Email(email) => RawChannel::Email(email),
            ChannelInput::Command(command) => RawChannel::Command(command),
        };
        let Self { filter, digest, subject, text, .. } = self;
        RawTarget { filter, digest, subject, text, ..RawTarget::new(to) }
    }
}
