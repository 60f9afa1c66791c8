//! Where somebody is told, of what and how: settings as they are kept, and checked.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use freshet_fetch::{Request, time};
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::filter::{Filter, InvalidSetting, RawFilter};
use crate::mime::Mailbox;
use crate::sign::{RandomSourceError, SigningKey};
use crate::template::Template;

/// Of the text that is kept.
const VERSION: u32 = 1;
const MOST_HEADERS: usize = 20;
const MOST_ADDRESSES: usize = 50;
const LONGEST_URL: usize = 2048;
/// Periods of digests.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(31 * 86_400);

/// Where somebody is told, of what and how, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawTarget {
    /// The version of this text: 1.
    #[serde(default = "version")]
    pub version: u32,
    /// Where.
    pub to: RawChannel,
    /// Of which entries.
    #[serde(default)]
    pub filter: RawFilter,
    /// One message in such a time: `1h`. Without it, one for each entry; of webhooks, some at once if
    /// many wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The subject of mail, with places such as `{{url}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The text of mail, or what a command reads, of each entry, with places such as `{{url}}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RawChannel {
    /// JSON is posted to a URL.
    Webhook(RawWebhook),
    /// Mail is sent, through the server that the configuration names.
    Email(RawEmail),
    /// A program is run that the configuration names.
    Command(RawCommand),
}

/// A URL that JSON is posted to.
#[derive(Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawWebhook {
    /// Where.
    pub url: String,
    /// Headers to send along.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Keys to sign with, the newest first.
    #[serde(default)]
    pub keys: Vec<SigningKey>,
}

/// Mail addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawEmail {
    /// Whom mail is for.
    pub to: Vec<String>,
    /// Whom it comes from, in place of what the configuration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A program of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RawCommand {
    /// Its name under `[commands]`.
    pub name: String,
}

fn version() -> u32 {
    VERSION
}

/// Where somebody is told, of what and how, checked.
#[derive(Clone, Debug)]
pub struct Target {
    raw: RawTarget,
    /// Which entries are told.
    pub filter: Filter,
    pub(crate) digest: Option<Duration>,
    pub(crate) subject: Option<Template>,
    pub(crate) text: Option<Template>,
}

impl RawTarget {
    /// All as it is by default.
    #[must_use]
    pub fn new(to: RawChannel) -> Self {
        let filter = RawFilter::default();
        Self { version: VERSION, to, filter, digest: None, subject: None, text: None }
    }
}

impl Target {
    /// What is kept of a destination.
    ///
    /// # Errors
    /// If it is of another version, or cannot be meant.
    pub fn parse(settings: &str) -> Result<Self, InvalidSetting> {
        // What the parser says may repeat what stands there, and that may be a secret.
        let unread = |error: serde_json::Error| {
            InvalidSetting::new("settings", format!("unknown at column {}", error.column()))
        };
        let raw: RawTarget = serde_json::from_str(settings).map_err(unread)?;
        raw.try_into()
    }

    /// As it is kept, with its secrets.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.raw).unwrap_or_default()
    }

    /// As it is written, with its secrets.
    #[must_use]
    pub fn raw(&self) -> &RawTarget {
        &self.raw
    }

    /// The same with other settings.
    ///
    /// # Errors
    /// If they cannot be meant.
    pub fn modify(&self, change: impl FnOnce(&mut RawTarget)) -> Result<Self, InvalidSetting> {
        let mut raw = self.raw.clone();
        change(&mut raw);
        raw.try_into()
    }

    /// Where, as it may be shown: of URLs no more than the host, as many hold a secret.
    #[must_use]
    pub fn redacted_address(&self) -> String {
        match &self.raw.to {
            RawChannel::Webhook(it) => match Url::parse(&it.url) {
                Ok(url) => shown(&url),
                Err(_) => "nowhere".to_owned(),
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

    /// Makes a new key for a webhook; the one before is good for a while. Gives it; `None` if this is no
    /// webhook.
    ///
    /// # Errors
    /// If the system has no random numbers.
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

/// A URL as it may be shown.
fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    let more = if url.path() == "/" && url.query().is_none() { "/" } else { "/…" };
    format!("{}://{host}{port}{more}", url.scheme())
}

impl TryFrom<RawTarget> for Target {
    type Error = InvalidSetting;

    fn try_from(raw: RawTarget) -> Result<Self, InvalidSetting> {
        if raw.version != VERSION {
            let what = format!("{} is of another freshet; this one knows {VERSION}", raw.version);
            return Err(InvalidSetting::new("version", what));
        }
        raw.to.check()?;
        let filter = Filter::try_from(raw.filter.clone()).map_err(|why| why.within("filter"))?;
        let digest = match raw.digest.as_deref() {
            None => None,
            Some(text) => {
                let period = time(text).filter(|it| (SHORTEST..=LONGEST).contains(it));
                let what = || format!("`{text}` is not a time from 1s to 31d such as \"1h\"");
                Some(period.ok_or_else(|| InvalidSetting::new("digest", what()))?)
            }
        };
        let template = |text: &Option<String>, field: &str| {
            text.as_deref().map(|text| Template::parse(text, field)).transpose()
        };
        let (subject, body) = (template(&raw.subject, "subject")?, template(&raw.text, "text")?);
        let no = |field| Err(InvalidSetting::new(field, "a webhook gets JSON, and no text"));
        if matches!(raw.to, RawChannel::Webhook(_)) && body.is_some() {
            return no("text");
        }
        if !matches!(raw.to, RawChannel::Email(_)) && subject.is_some() {
            return Err(InvalidSetting::new("subject", "only mail has a subject"));
        }
        Ok(Self { raw, filter, digest, subject, text: body })
    }
}

impl RawChannel {
    fn check(&self) -> Result<(), InvalidSetting> {
        match self {
            Self::Webhook(it) => it.check().map_err(|why| why.within("webhook")),
            Self::Email(it) => it.check().map_err(|why| why.within("email")),
            Self::Command(it) => {
                let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
                if it.name.is_empty() || !it.name.bytes().all(plain) {
                    let what = "not the name of a command: letters, digits, - and _";
                    return Err(InvalidSetting::new("command.name", what));
                }
                Ok(())
            }
        }
    }
}

impl RawWebhook {
    fn check(&self) -> Result<(), InvalidSetting> {
        if self.url.len() > LONGEST_URL {
            return Err(InvalidSetting::new("url", format!("longer than {LONGEST_URL} bytes")));
        }
        let mut request = match Request::new(&self.url) {
            Ok(request) if matches!(request.url().scheme(), "http" | "https") => request,
            Ok(_) => return Err(InvalidSetting::new("url", "a webhook is at http:// or https://")),
            Err(freshet_fetch::InvalidRequest::Userinfo { .. }) => {
                let what = "a name or password in a URL is seen by many: send a header";
                return Err(InvalidSetting::new("url", what));
            }
            // It is not repeated: much of it may be a secret.
            Err(_) => return Err(InvalidSetting::new("url", "this is not a URL")),
        };
        if self.headers.len() > MOST_HEADERS {
            return Err(InvalidSetting::new("headers", format!("more than {MOST_HEADERS}")));
        }
        for (name, value) in &self.headers {
            let lower = name.to_ascii_lowercase();
            let taken = lower.starts_with("webhook-") || lower == "content-type";
            let set = if taken { None } else { request.clone().header(name, value).ok() };
            let what = || {
                let name: String = name.chars().filter(|it| !it.is_control()).take(60).collect();
                format!("`{name}` cannot be set, or not to this")
            };
            request = set.ok_or_else(|| InvalidSetting::new("headers", what()))?;
        }
        if self.keys.is_empty() || self.keys.len() > 2 {
            return Err(InvalidSetting::new("keys", "there are one or two"));
        }
        for key in &self.keys {
            key.bytes()?;
        }
        Ok(())
    }
}

impl RawEmail {
    fn check(&self) -> Result<(), InvalidSetting> {
        if self.to.is_empty() || self.to.len() > MOST_ADDRESSES {
            return Err(InvalidSetting::new("to", format!("from 1 to {MOST_ADDRESSES} addresses")));
        }
        for address in &self.to {
            Mailbox::parse(address).map_err(|what| InvalidSetting::new("to", what))?;
        }
        match &self.from {
            Some(from) => {
                Mailbox::parse(from).map(|_| ()).map_err(|what| InvalidSetting::new("from", what))
            }
            None => Ok(()),
        }
    }
}

/// What a destination may be called.
///
/// # Errors
/// If it may not.
pub fn check_name(name: &str) -> Result<(), InvalidSetting> {
    let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
        let what = "a name has 1 to 64 letters, digits, -, _ and .";
        return Err(InvalidSetting::new("name", what));
    }
    Ok(())
}

impl fmt::Debug for RawWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        let place = Url::parse(&self.url).map_or_else(|_| "…".to_owned(), |url| shown(&url));
        write!(f, "RawWebhook({place}, {headers:?}, {:?})", self.keys)
    }
}
