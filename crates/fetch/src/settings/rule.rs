//! What holds for some URLs only.

use std::env;
use std::fs;
use std::path::Path;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::raw::{RawBasic, RawProxy, RawRule, RawSecret, RawValue};
use super::{InvalidSetting, SettingFault, Settings, header_name, invalid};
use crate::pattern::Pattern;
use crate::secret::{Secret, base64, shown};

/// Headers and the way for URLs that match a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pattern: Pattern,
    headers: HeaderMap,
    /// Headers that go over http only if the pattern says so.
    secrets: HeaderMap,
    proxy: Option<Option<Proxy>>,
}

/// A proxy that speaks HTTP.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether it resolves names, and guards.
    pub(crate) trusted: bool,
    pub(crate) authorization: Option<HeaderValue>,
}

impl Settings {
    /// Adds the headers for a URL.
    pub(crate) fn headers_for(&self, url: &Url, headers: &mut HeaderMap) {
        for rule in self.rules.iter().filter(|rule| rule.pattern.matches(url)) {
            let open = url.scheme() == "https" || rule.pattern.is_for_plain();
            let secrets = rule.secrets.iter().filter(|_| open);
            for (name, value) in rule.headers.iter().chain(secrets) {
                headers.insert(name, value.clone());
            }
        }
    }

    /// The proxy for a URL, and the number of the rule that it comes from.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<(usize, &Proxy)> {
        let rules = self.rules.iter().enumerate().rev();
        let mut found = rules.filter(|(_, rule)| rule.proxy.is_some() && rule.pattern.matches(url));
        let (number, rule) = found.next()?;
        Some((number, rule.proxy.as_ref()?.as_ref()?))
    }

    /// The proxy of a rule.
    pub(crate) fn proxy(&self, number: usize) -> Option<&Proxy> {
        self.rules.get(number)?.proxy.as_ref()?.as_ref()
    }
}

impl RawRule {
    pub(super) fn check(
        self,
        at: usize,
        missing: &mut Option<InvalidSetting>,
    ) -> Result<Rule, InvalidSetting> {
        let mut read = |raw: &RawSecret, field: &str| {
            raw.read(field).unwrap_or_else(|why| {
                missing.get_or_insert(why);
                Secret::new("")
            })
        };
        let field = |name: &str| format!("rules[{at}].{name}");
        let pattern = self.pattern.parse().map_err(|it| invalid(field("match"), Into::into(it)))?;
        let (mut headers, mut secrets) = (HeaderMap::new(), HeaderMap::new());
        for (name, value) in self.headers {
            let field = field(&format!("headers.{name}"));
            let key = header_name(&field, &name)?;
            match value {
                RawValue::Plain(text) => {
                    // Whoever writes these down has written down a secret.
                    let is_secret = [header::AUTHORIZATION, header::COOKIE].contains(&key);
                    let map = if is_secret { &mut secrets } else { &mut headers };
                    map.insert(key, value_of(&field, &text)?)
                }
                RawValue::Secret(raw) => {
                    secrets.insert(key, value_of(&field, read(&raw, &field).reveal())?)
                }
            };
        }
        let authorization = match (self.basic, self.bearer) {
            (Some(_), Some(_)) => return Err(invalid(field("bearer"), SettingFault::TwoAuths)),
            (Some(basic), None) => Some(basic.check(&field("basic"), &mut read)?),
            (None, Some(raw)) => {
                let (field, token) = (field("bearer"), read(&raw, &field("bearer")));
                Some(value_of(&field, &format!("Bearer {}", token.reveal()))?)
            }
            (None, None) => None,
        };
        if let Some(value) = authorization {
            secrets.insert(header::AUTHORIZATION, value);
        }
        let proxy = self.proxy.map(|raw| raw.check(&field("proxy"), &mut read)).transpose()?;
        Ok(Rule { pattern, headers, secrets, proxy })
    }
}

impl RawSecret {
    /// Goes and gets it. `field` is for the message.
    ///
    /// # Errors
    /// If it is not there.
    pub fn read(&self, field: &str) -> Result<Secret, InvalidSetting> {
        let (text, place) = match self {
            Self::Env(name) => (env::var(name).ok(), variable(name)),
            Self::File(path) => (fs::read_to_string(path).ok(), file(path)),
        };
        let text = text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        text.map(Secret::new).ok_or_else(|| invalid(field, SettingFault::Secret(place)))
    }
}

/// A variable as it may be shown. What does not look like the name of one may be the secret itself.
fn variable(name: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_';
    if name.contains('_') && name.bytes().all(is_plain) {
        format!("the environment variable {name}")
    } else {
        "the environment variable that it names".to_owned()
    }
}

/// A file as it may be shown. The same holds for what does not begin as a path.
fn file(path: &Path) -> String {
    if ["/", "./", "../", "~"].iter().any(|start| path.to_string_lossy().starts_with(start)) {
        format!("the file {}", path.display())
    } else {
        "the file that it names".to_owned()
    }
}

impl RawBasic {
    fn check(
        &self,
        field: &str,
        read: &mut impl FnMut(&RawSecret, &str) -> Secret,
    ) -> Result<HeaderValue, InvalidSetting> {
        let password = read(&self.password, &format!("{field}.password"));
        // RFC 7617 §2: the first colon ends the name.
        if self.user.contains(':') {
            return Err(invalid(format!("{field}.user"), SettingFault::Header));
        }
        let pair = format!("{}:{}", self.user, password.reveal());
        value_of(field, &format!("Basic {}", base64(pair.as_bytes())))
    }
}

impl RawProxy {
    fn check(
        self,
        field: &str,
        read: &mut impl FnMut(&RawSecret, &str) -> Secret,
    ) -> Result<Option<Proxy>, InvalidSetting> {
        if self.url.is_empty() {
            return Ok(None);
        }
        let fault = || invalid(format!("{field}.url"), SettingFault::Proxy(shown(&self.url)));
        let url = Url::parse(&self.url).ok().filter(|url| {
            url.scheme() == "http"
                && url.path() == "/"
                && url.username().is_empty()
                && url.password().is_none()
        });
        let Some((url, host)) = url.as_ref().and_then(|url| Some((url, url.host_str()?))) else {
            return Err(fault());
        };
        let basic = self.basic.map(|basic| basic.check(&format!("{field}.basic"), read));
        let basic = basic.transpose()?;
        Ok(Some(Proxy {
            host: host.to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            trusted: self.trusted,
            authorization: basic,
        }))
    }
}

/// A value that is kept out of logs and of tables of compressed headers.
fn value_of(field: &str, text: &str) -> Result<HeaderValue, InvalidSetting> {
    let mut value: HeaderValue = text.parse().map_err(|_| invalid(field, SettingFault::Header))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether a header is not for others to set: it frames the message, or freshet answers for it.
pub(crate) fn is_ours(name: &HeaderName) -> bool {
    const OURS: [HeaderName; 11] = [
        header::HOST,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::TE,
        header::UPGRADE,
        header::ACCEPT_ENCODING,
        header::RANGE,
        header::USER_AGENT,
        header::IF_NONE_MATCH,
        header::IF_MODIFIED_SINCE,
    ];
    OURS.contains(name) || name.as_str().starts_with("proxy-") || name.as_str() == "keep-alive"
}
