//! Settings for some URLs.

use std::env;
use std::fs;
use std::path::Path;

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::raw::{RawBasicAuth, RawHeaderValue, RawProxy, RawUrlRule, SecretSource};
use super::{FetchSettings, InvalidFetchSetting, SettingFault, invalid, parse_header_name};
use crate::secret::{Secret, encode_base64, redact_userinfo};
use crate::url_pattern::UrlPattern;

/// Headers and proxy for the URLs that match a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UrlRule {
    pattern: UrlPattern,
    headers: HeaderMap,
    /// Headers that are sent over http only if the pattern says so.
    secret_headers: HeaderMap,
    proxy: Option<Option<Proxy>>,
}

/// HTTP proxy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// True if the proxy resolves names and guards them itself.
    pub(crate) trusted: bool,
    pub(crate) authorization: Option<HeaderValue>,
}

impl FetchSettings {
    /// Adds the headers for a URL.
    pub(crate) fn headers_for(&self, url: &Url, headers: &mut HeaderMap) {
        for rule in self.rules.iter().filter(|rule| rule.pattern.matches(url)) {
            let may_send_secrets = url.scheme() == "https" || rule.pattern.requires_plain_http();
            let secrets = rule.secret_headers.iter().filter(|_| may_send_secrets);
            for (name, value) in rule.headers.iter().chain(secrets) {
                headers.insert(name, value.clone());
            }
        }
    }

    /// Returns the proxy for a URL and the index of the rule that sets it.
    pub(crate) fn proxy_for(&self, url: &Url) -> Option<(usize, &Proxy)> {
        let rules = self.rules.iter().enumerate().rev();
        let mut matching =
            rules.filter(|(_, rule)| rule.proxy.is_some() && rule.pattern.matches(url));
        let (index, rule) = matching.next()?;
        Some((index, rule.proxy.as_ref()?.as_ref()?))
    }

    /// Returns the proxy of a rule.
    pub(crate) fn proxy(&self, index: usize) -> Option<&Proxy> {
        self.rules.get(index)?.proxy.as_ref()?.as_ref()
    }
}

impl RawUrlRule {
    pub(super) fn check(
        self,
        index: usize,
        missing_secret: &mut Option<InvalidFetchSetting>,
    ) -> Result<UrlRule, InvalidFetchSetting> {
        let mut read = |raw: &SecretSource, field: &str| {
            raw.read(field).unwrap_or_else(|error| {
                missing_secret.get_or_insert(error);
                Secret::new("")
            })
        };
        let field = |name: &str| format!("rules[{index}].{name}");
        let pattern = self.pattern.parse().map_err(|it| invalid(field("match"), Into::into(it)))?;
        let (mut headers, mut secrets) = (HeaderMap::new(), HeaderMap::new());
        for (name, value) in self.headers {
            let field = field(&format!("headers.{name}"));
            let key = parse_header_name(&field, &name)?;
            match value {
                RawHeaderValue::Plain(text) => {
                    // These headers are secrets even if they are written in the settings.
                    let is_secret = [header::AUTHORIZATION, header::COOKIE].contains(&key);
                    let map = if is_secret { &mut secrets } else { &mut headers };
                    map.insert(key, sensitive_value(&field, &text)?)
                }
                RawHeaderValue::Secret(raw) => {
                    secrets.insert(key, sensitive_value(&field, read(&raw, &field).expose())?)
                }
            };
        }
        let authorization = match (self.basic, self.bearer) {
            (Some(_), Some(_)) => {
                return Err(invalid(field("bearer"), SettingFault::ConflictingAuth));
            }
            (Some(basic), None) => Some(basic.check(&field("basic"), &mut read)?),
            (None, Some(raw)) => {
                let (field, token) = (field("bearer"), read(&raw, &field("bearer")));
                Some(sensitive_value(&field, &format!("Bearer {}", token.expose()))?)
            }
            (None, None) => None,
        };
        if let Some(value) = authorization {
            secrets.insert(header::AUTHORIZATION, value);
        }
        let proxy = self.proxy.map(|raw| raw.check(&field("proxy"), &mut read)).transpose()?;
        Ok(UrlRule { pattern, headers, secret_headers: secrets, proxy })
    }
}

impl SecretSource {
    /// Reads the secret. `field` names the setting in errors.
    ///
    /// # Errors
    /// Returns [`InvalidFetchSetting`] if the secret is missing or unreadable.
    pub fn read(&self, field: &str) -> Result<Secret, InvalidFetchSetting> {
        let (text, description) = match self {
            Self::Env(name) => (env::var(name).ok(), describe_variable(name)),
            Self::File(path) => (fs::read_to_string(path).ok(), describe_file(path)),
        };
        let text = text.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        text.map(Secret::new).ok_or_else(|| invalid(field, SettingFault::Secret(description)))
    }
}

/// Describes an environment variable for display. A text that does not look like a variable name
/// may be the secret itself.
fn describe_variable(name: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_';
    if name.contains('_') && name.bytes().all(is_plain) {
        format!("the environment variable {name}")
    } else {
        "an environment variable".to_owned()
    }
}

/// Describes a file for display. A text that does not start like a path may be the secret itself.
fn describe_file(path: &Path) -> String {
    if ["/", "./", "../", "~"].iter().any(|start| path.to_string_lossy().starts_with(start)) {
        format!("the file {}", path.display())
    } else {
        "a file".to_owned()
    }
}

impl RawBasicAuth {
    fn check(
        &self,
        field: &str,
        read: &mut impl FnMut(&SecretSource, &str) -> Secret,
    ) -> Result<HeaderValue, InvalidFetchSetting> {
        let password = read(&self.password, &format!("{field}.password"));
        // RFC 7617 §2: the first colon ends the user name.
        if self.user.contains(':') {
            return Err(invalid(format!("{field}.user"), SettingFault::Header));
        }
        let pair = format!("{}:{}", self.user, password.expose());
        sensitive_value(field, &format!("Basic {}", encode_base64(pair.as_bytes())))
    }
}

impl RawProxy {
    fn check(
        self,
        field: &str,
        read: &mut impl FnMut(&SecretSource, &str) -> Secret,
    ) -> Result<Option<Proxy>, InvalidFetchSetting> {
        if self.url.is_empty() {
            return Ok(None);
        }
        let fault =
            || invalid(format!("{field}.url"), SettingFault::Proxy(redact_userinfo(&self.url)));
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

/// Creates a header value that is kept out of logs and header compression tables.
fn sensitive_value(field: &str, text: &str) -> Result<HeaderValue, InvalidFetchSetting> {
    let mut value: HeaderValue = text.parse().map_err(|_| invalid(field, SettingFault::Header))?;
    value.set_sensitive(true);
    Ok(value)
}

/// True if a header is reserved: it frames the message, or freshet sets it itself.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    const RESERVED: [HeaderName; 11] = [
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
    RESERVED.contains(name) || name.as_str().starts_with("proxy-") || name.as_str() == "keep-alive"
}
