//! Targets: channel, filter and format of a destination, as stored and validated.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use freshet_fetch::{FetchRequest, parse_duration};
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::filter::{Filter, InvalidSetting, RawFilter};
use crate::mail_message::parse_mailbox;
use crate::signature::{RandomSourceError, SigningKey};
use crate::template::Template;

/// Version of the stored settings.
const SETTINGS_VERSION: u32 = 1;
const MAX_HEADERS: usize = 20;
const MAX_ADDRESSES: usize = 50;
const MAX_URL_LEN: usize = 2048;
/// Minimum and maximum period of digests.
const MIN_DIGEST_PERIOD: Duration = Duration::from_secs(1);
const MAX_DIGEST_PERIOD: Duration = Duration::from_secs(31 * 86_400);

/// Settings of a destination, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawTarget {
    /// Version of the settings: 1.
    #[serde(default = "settings_version")]
    pub version: u32,
    /// Channel and address.
    pub to: RawChannel,
    /// Filter of entries.
    #[serde(default)]
    pub filter: RawFilter,
    /// Period of digests, such as `1h`: one message per period. Without it, one message per entry; webhooks get several
    /// waiting entries in one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Subject of mail, with placeholders such as `{{url}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Text per entry of mail, or of the standard input of a command, with placeholders such as `{{url}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Channel and address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RawChannel {
    /// JSON sent to a URL by POST.
    Webhook(RawWebhook),
    /// Mail sent through the configured server.
    Email(RawEmail),
    /// Configured command.
    Command(RawCommand),
}

/// Webhook.
#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawWebhook {
    /// Channel and address.
    pub url: String,
    /// Additional headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Signing keys, newest first.
    #[serde(default)]
    pub keys: Vec<SigningKey>,
}

/// Mail recipients and sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawEmail {
    /// Recipients.
    pub to: Vec<String>,
    /// Sender, instead of the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// Command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCommand {
    /// Name in `[commands]` of the configuration.
    pub name: String,
}

fn settings_version() -> u32 {
    SETTINGS_VERSION
}

/// Validated settings of a destination.
#[derive(Clone, Debug)]
pub struct Target {
    raw: RawTarget,
    /// Filter of entries.
    pub filter: Filter,
    pub(crate) digest: Option<Duration>,
    pub(crate) subject: Option<Template>,
    pub(crate) text: Option<Template>,
}

impl RawTarget {
    /// Creates settings with defaults.
    #[must_use]
    pub fn new(to: RawChannel) -> Self {
        let filter = RawFilter::default();
        Self { version: SETTINGS_VERSION, to, filter, digest: None, subject: None, text: None }
    }
}

impl Target {
    /// Parses stored settings.
    ///
    /// # Errors
    /// Returns [`InvalidSetting`] if they have another version or an invalid value.
    pub fn parse(settings: &str) -> Result<Self, InvalidSetting> {
        // The message of the parser may quote the settings, which may contain a secret.
        let unreadable = |error: serde_json::Error| {
            InvalidSetting::new("settings", format!("cannot be read at column {}", error.column()))
        };
        let raw: RawTarget = serde_json::from_str(settings).map_err(unreadable)?;
        raw.try_into()
    }

    /// Formats the settings for the store, with secrets.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.raw).unwrap_or_default()
    }

    /// Returns the settings as stored, with secrets.
    #[must_use]
    pub fn raw(&self) -> &RawTarget {
        &self.raw
    }

    /// Returns a copy with changed settings.
    ///
    /// # Errors
    /// Returns [`InvalidSetting`] if a changed value is invalid.
    pub fn modify(&self, change: impl FnOnce(&mut RawTarget)) -> Result<Self, InvalidSetting> {
        let mut raw = self.raw.clone();
        change(&mut raw);
        raw.try_into()
    }

    /// Returns the address without secrets: of a URL only the host.
    #[must_use]
    pub fn redacted_address(&self) -> String {
        match &self.raw.to {
            RawChannel::Webhook(it) => match Url::parse(&it.url) {
                Ok(url) => redact_url(&url),
                Err(_) => "invalid URL".to_owned(),
            },
            RawChannel::Email(it) => it.to.join(", "),
            RawChannel::Command(it) => it.name.clone(),
        }
    }

    /// `webhook`, `email` or `command`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.raw.to {
            RawChannel::Webhook(_) => "webhook",
            RawChannel::Email(_) => "email",
            RawChannel::Command(_) => "command",
        }
    }

    /// Generates a new signing key for a webhook, and returns it; the previous key stays valid for `grace`. Returns `None`
    /// for other channels.
    ///
    /// # Errors
    /// Returns [`RandomSourceError`] if the system provides no random numbers.
    pub fn rotate_key(
        &mut self,
        now: i64,
        grace: Duration,
    ) -> Result<Option<SigningKey>, RandomSourceError> {
        let RawChannel::Webhook(hook) = &mut self.raw.to else { return Ok(None) };
        let key = SigningKey::generate(now)?;
        hook.keys.truncate(1);
        for old in &mut hook.keys {
            let end = now.saturating_add(i64::try_from(grace.as_millis()).unwrap_or(i64::MAX));
            old.until = Some(old.until.map_or(end, |until| until.min(end)));
        }
        hook.keys.insert(0, key.clone());
        Ok(Some(key))
    }
}

/// Formats a URL without its path and query.
fn redact_url(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let path = if url.path() == "/" && url.query().is_none() { "/" } else { "/…" };
    format!("{}://{host}{port}{path}", url.scheme())
}

impl TryFrom<RawTarget> for Target {
    type Error = InvalidSetting;

    fn try_from(raw: RawTarget) -> Result<Self, InvalidSetting> {
        if raw.version != SETTINGS_VERSION {
            let reason =
                format!("version {} is not supported: expected {SETTINGS_VERSION}", raw.version);
            return Err(InvalidSetting::new("version", reason));
        }
        raw.to.check()?;
        let filter = Filter::try_from(raw.filter.clone()).map_err(|why| why.inside("filter"))?;
        let digest = match raw.digest.as_deref() {
            None => None,
            Some(text) => {
                let period = parse_duration(text)
                    .filter(|it| (MIN_DIGEST_PERIOD..=MAX_DIGEST_PERIOD).contains(it));
                let reason = || format!("`{text}` is not a time from 1s to 31d such as \"1h\"");
                Some(period.ok_or_else(|| InvalidSetting::new("digest", reason()))?)
            }
        };
        let template = |text: &Option<String>, field: &str| {
            text.as_deref().map(|text| Template::parse(text, field)).transpose()
        };
        let (subject, body) = (template(&raw.subject, "subject")?, template(&raw.text, "text")?);
        let unsupported =
            |field| Err(InvalidSetting::new(field, "not supported by webhooks, which get JSON"));
        if matches!(raw.to, RawChannel::Webhook(_)) && body.is_some() {
            return unsupported("text");
        }
        if !matches!(raw.to, RawChannel::Email(_)) && subject.is_some() {
            return Err(InvalidSetting::new("subject", "supported by mail only"));
        }
        Ok(Self { raw, filter, digest, subject, text: body })
    }
}

impl RawChannel {
    fn check(&self) -> Result<(), InvalidSetting> {
        match self {
            Self::Webhook(it) => it.check().map_err(|why| why.inside("webhook")),
            Self::Email(it) => it.check().map_err(|why| why.inside("email")),
            Self::Command(it) => {
                let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
                if it.name.is_empty() || !it.name.bytes().all(is_allowed) {
                    let reason = "invalid name of a command: use letters, digits, - and _";
                    return Err(InvalidSetting::new("command.name", reason));
                }
                Ok(())
            }
        }
    }
}

impl RawWebhook {
    fn check(&self) -> Result<(), InvalidSetting> {
        if self.url.len() > MAX_URL_LEN {
            return Err(InvalidSetting::new("url", format!("longer than {MAX_URL_LEN} bytes")));
        }
        let mut request = match FetchRequest::new(&self.url) {
            Ok(request) if matches!(request.url().scheme(), "http" | "https") => request,
            Ok(_) => return Err(InvalidSetting::new("url", "must start with http:// or https://")),
            Err(freshet_fetch::InvalidRequest::Userinfo { .. }) => {
                let reason = "must not contain a user name or password: use a header";
                return Err(InvalidSetting::new("url", reason));
            }
            // The URL is not quoted: it may contain a secret.
            Err(_) => return Err(InvalidSetting::new("url", "not a valid URL")),
        };
        if self.headers.len() > MAX_HEADERS {
            return Err(InvalidSetting::new("headers", format!("more than {MAX_HEADERS} headers")));
        }
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            let is_reserved = lower.starts_with("webhook-") || lower == "content-type";
            let updated =
                if is_reserved { None } else { request.clone().with_header(name, value).ok() };
            let reason = || {
                let name: String = name.chars().filter(|it| !it.is_control()).take(60).collect();
                format!("`{name}` is reserved, or its name or value is invalid")
            };
            request = updated.ok_or_else(|| InvalidSetting::new("headers", reason()))?;
        }
        if self.keys.is_empty() || self.keys.len() > 2 {
            return Err(InvalidSetting::new("keys", "must be one or two"));
        }
        for key in &self.keys {
            key.bytes()?;
        }
        Ok(())
    }
}

impl RawEmail {
    fn check(&self) -> Result<(), InvalidSetting> {
        if self.to.is_empty() || self.to.len() > MAX_ADDRESSES {
            return Err(InvalidSetting::new(
                "to",
                format!("must be 1 to {MAX_ADDRESSES} addresses"),
            ));
        }
        for address in &self.to {
            parse_mailbox(address).map_err(|reason| InvalidSetting::new("to", reason))?;
        }
        match &self.from {
            Some(from) => parse_mailbox(from)
                .map(|_| ())
                .map_err(|reason| InvalidSetting::new("from", reason)),
            None => Ok(()),
        }
    }
}

/// Checks the name of a destination.
///
/// # Errors
/// Returns [`InvalidSetting`] if the name is invalid.
pub fn check_name(name: &str) -> Result<(), InvalidSetting> {
    let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_allowed) {
        let reason = "must be 1 to 64 letters, digits, -, _ and .";
        return Err(InvalidSetting::new("name", reason));
    }
    Ok(())
}

impl fmt::Debug for RawWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        let address = Url::parse(&self.url).map_or_else(|_| "…".to_owned(), |url| redact_url(&url));
        write!(f, "RawWebhook({address}, {headers:?}, {:?})", self.keys)
    }
}
