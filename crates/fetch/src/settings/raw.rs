//! Settings as they are written in a file.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use super::quantity::{RawByteSize, parse_byte_size, parse_duration};
use super::redacted::{deserialize_optional_table, deserialize_table};
use super::{
    DAY, FetchLimits, FetchSettings, InvalidFetchSetting, SettingFault, invalid,
    user_agent_with_contact,
};
use crate::guard::AddressGuard;

/// Maximum time limit: a longer one is as good as none.
const MAX_TIME_LIMIT: Duration = Duration::from_secs(30 * DAY.as_secs());

/// Maximum size limit: a larger one is a typing error.
const MAX_SIZE_LIMIT: u64 = 1 << 40;

/// Settings as they are written in a file or by a program.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawFetchSettings {
    /// Contact for hosts, a URL or a mail address. It becomes part of the user agent.
    pub contact: Option<String>,
    /// Complete user agent that replaces freshet's own.
    pub user_agent: Option<String>,
    /// True if robots.txt is obeyed (default).
    pub robots: Option<bool>,
    /// Networks, addresses and names that the guard allows in addition to public addresses.
    pub allow: Vec<String>,
    /// True if public addresses are allowed (default).
    pub public: Option<bool>,
    /// True if redirects from https to http are followed.
    pub downgrade: bool,
    /// DNS servers that replace the system's.
    pub dns: Vec<String>,
    /// Static addresses of host names. The guard checks them all the same.
    pub resolve: BTreeMap<String, Vec<String>>,
    /// PEM files of certificates that are trusted in addition to the public ones.
    pub roots: Vec<PathBuf>,
    /// Directories whose files may be sources.
    pub files: Vec<PathBuf>,
    /// Commands that may be sources, by name: program and arguments.
    pub commands: BTreeMap<String, Vec<String>>,
    /// Limits.
    pub limits: RawFetchLimits,
    /// Rules for some URLs; the last matching one wins.
    pub rules: Vec<RawUrlRule>,
}

/// Limits as they are written. See [`FetchLimits`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[allow(missing_docs)]
pub struct RawFetchLimits {
    pub connect: Option<String>,
    pub tls: Option<String>,
    pub first_byte: Option<String>,
    pub idle: Option<String>,
    pub body: Option<String>,
    pub total: Option<String>,
    pub head_bytes: Option<RawByteSize>,
    pub wire_bytes: Option<RawByteSize>,
    pub body_bytes: Option<RawByteSize>,
    pub redirects: Option<u32>,
    pub kept: Option<u32>,
    pub keep: Option<String>,
    pub robots: Option<String>,
    pub robots_retry: Option<String>,
}

/// Settings for the URLs that match a pattern.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct RawUrlRule {
    /// URL pattern.
    #[serde(rename = "match")]
    pub pattern: String,
    /// Headers to send.
    #[serde(deserialize_with = "deserialize_table")]
    pub headers: BTreeMap<String, RawHeaderValue>,
    /// User name and password.
    #[serde(deserialize_with = "deserialize_optional_table")]
    pub basic: Option<RawBasicAuth>,
    /// Bearer token.
    pub bearer: Option<SecretSource>,
    /// Proxy.
    #[serde(deserialize_with = "deserialize_optional_table")]
    pub proxy: Option<RawProxy>,
}

/// Value of a header: plain, or a secret stored elsewhere.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "is neither a text nor the location of a secret, such as `{ env = \"NAME\" }`"
)]
pub enum RawHeaderValue {
    /// Plain text.
    Plain(String),
    /// Secret stored elsewhere.
    Secret(SecretSource),
}

/// Location of a secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "SecretSourceInput")]
pub enum SecretSource {
    /// Environment variable.
    Env(String),
    /// File; surrounding white space is ignored.
    File(PathBuf),
}

/// Value in place of a secret's location. Errors must not show it, since it may be the secret
/// itself.
#[derive(Deserialize)]
#[serde(untagged)]
enum SecretSourceInput {
    SecretSourceTable(SecretSourceTable),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum SecretSourceTable {
    Env(String),
    File(PathBuf),
}

impl TryFrom<SecretSourceInput> for SecretSource {
    type Error = &'static str;

    fn try_from(written: SecretSourceInput) -> Result<Self, Self::Error> {
        match written {
            SecretSourceInput::SecretSourceTable(SecretSourceTable::Env(name)) => {
                Ok(Self::Env(name))
            }
            SecretSourceInput::SecretSourceTable(SecretSourceTable::File(path)) => {
                Ok(Self::File(path))
            }
            SecretSourceInput::Other(IgnoredAny) => Err(
                "secrets do not belong here: write `{ env = \"NAME\" }` or `{ file = \"path\" }`",
            ),
        }
    }
}

/// User name and password.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RawBasicAuth {
    /// User name.
    pub user: String,
    /// Password.
    pub password: SecretSource,
}

/// Proxy.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RawProxy {
    /// URL, `http://HOST:PORT`; empty for no proxy.
    pub url: String,
    /// True if the proxy resolves names and guards them itself.
    #[serde(default)]
    pub trusted: bool,
    /// Credentials for the proxy.
    #[serde(default, deserialize_with = "deserialize_optional_table")]
    pub basic: Option<RawBasicAuth>,
}

impl TryFrom<RawFetchSettings> for FetchSettings {
    type Error = InvalidFetchSetting;

    fn try_from(raw: RawFetchSettings) -> Result<Self, InvalidFetchSetting> {
        let (settings, missing_secret) = Self::from_raw_allow_missing_secrets(raw)?;
        missing_secret.map_or(Ok(settings), Err)
    }
}

impl FetchSettings {
    /// Validates settings for callers that do not fetch: returns the first missing secret instead
    /// of failing. Such settings must not be used for fetching.
    ///
    /// # Errors
    /// Returns [`InvalidFetchSetting`] if anything else is invalid.
    pub fn from_raw_allow_missing_secrets(
        raw: RawFetchSettings,
    ) -> Result<(Self, Option<InvalidFetchSetting>), InvalidFetchSetting> {
        let user_agent = user_agent(raw.user_agent, raw.contact)?;
        let mut allow = Vec::new();
        for entry in raw.allow {
            allow.push(entry.parse().map_err(|it| invalid("allow", SettingFault::AllowEntry(it)))?);
        }
        let mut dns = Vec::new();
        for text in raw.dns {
            let address = text.parse().or_else(|_| text.parse().map(|ip: IpAddr| (ip, 53).into()));
            dns.push(address.map_err(|_| invalid("dns", SettingFault::Address(text)))?);
        }
        let mut resolve = HashMap::new();
        for (name, texts) in raw.resolve {
            let field = format!("resolve.{name}");
            let parse = |text: String| {
                text.parse().map_err(|_| invalid(&*field, SettingFault::Address(text)))
            };
            let addresses = texts.into_iter().map(parse).collect::<Result<_, _>>()?;
            resolve.insert(name.trim_end_matches('.').to_ascii_lowercase(), addresses);
        }
        let mut directories = Vec::new();
        for path in raw.files {
            let fault = || invalid("files", SettingFault::Directory(path.display().to_string()));
            // Compared with resolved paths, so it is resolved too.
            let resolved = path.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(fault)?;
            directories.push(resolved);
        }
        for (name, command) in &raw.commands {
            if command.first().is_none_or(String::is_empty) {
                return Err(invalid(format!("commands.{name}"), SettingFault::Command));
            }
        }
        let mut missing_secret = None;
        let rules = raw.rules.into_iter().enumerate();
        let rules = rules.map(|(index, rule)| rule.check(index, &mut missing_secret));
        let rules = rules.collect::<Result<_, _>>()?;
        let settings = Self {
            user_agent,
            obey_robots: raw.robots.unwrap_or(true),
            guard: if raw.public.unwrap_or(true) {
                AddressGuard::new(allow)
            } else {
                AddressGuard::allow_list_only(allow)
            },
            allow_downgrade: raw.downgrade,
            dns_servers: dns,
            static_hosts: resolve,
            extra_roots: load_certificates(raw.roots)?,
            allowed_directories: directories,
            commands: raw.commands.into_iter().collect(),
            limits: raw.limits.check()?,
            rules,
        };
        Ok((settings, missing_secret))
    }
}

impl RawFetchLimits {
    fn check(self) -> Result<FetchLimits, InvalidFetchSetting> {
        let out_of_range = |name: &str, value: String, min: &str, max: &str| {
            let (min, max) = (min.to_owned(), max.to_owned());
            Err(invalid(format!("limits.{name}"), SettingFault::Range { value, min, max }))
        };
        let mut limits = FetchLimits::default();
        let FetchLimits {
            connect_timeout: connect,
            tls_timeout: tls,
            first_byte_timeout: first_byte,
            idle_timeout: idle,
            body_timeout: body,
            total_timeout: total,
            idle_connection_timeout: keep,
            robots_max_age: robots,
            robots_retry_interval: robots_retry,
            ..
        } = &mut limits;
        for (name, raw, limit) in [
            ("connect", &self.connect, connect),
            ("tls", &self.tls, tls),
            ("first_byte", &self.first_byte, first_byte),
            ("idle", &self.idle, idle),
            ("body", &self.body, body),
            ("total", &self.total, total),
            ("keep", &self.keep, keep),
            ("robots", &self.robots, robots),
            ("robots_retry", &self.robots_retry, robots_retry),
        ] {
            if let Some(text) = raw {
                let fault =
                    || invalid(format!("limits.{name}"), SettingFault::Duration(text.clone()));
                *limit = parse_duration(text).ok_or_else(fault)?;
                if *limit > MAX_TIME_LIMIT {
                    return out_of_range(name, text.clone(), "1ms", "30d");
                }
            }
        }
        let FetchLimits {
            max_head_bytes: head_bytes,
            max_wire_bytes: wire_bytes,
            max_body_bytes: body_bytes,
            ..
        } = &mut limits;
        for (name, raw, limit) in [
            ("head_bytes", &self.head_bytes, head_bytes),
            ("wire_bytes", &self.wire_bytes, wire_bytes),
            ("body_bytes", &self.body_bytes, body_bytes),
        ] {
            if let Some(raw) = raw {
                let text = match raw {
                    RawByteSize::Bytes(bytes) => bytes.to_string(),
                    RawByteSize::Text(text) => text.clone(),
                };
                let fault =
                    || invalid(format!("limits.{name}"), SettingFault::ByteSize(text.clone()));
                *limit = parse_byte_size(raw).ok_or_else(fault)?;
                if *limit > MAX_SIZE_LIMIT {
                    return out_of_range(name, text, "1", "1024GiB");
                }
            }
        }
        limits.max_redirects = self.redirects.unwrap_or(limits.max_redirects);
        limits.max_idle_connections = self.kept.unwrap_or(limits.max_idle_connections);
        if !(8192..=16 * 1024 * 1024).contains(&limits.max_head_bytes) {
            return out_of_range("head_bytes", limits.max_head_bytes.to_string(), "8KiB", "16MiB");
        }
        if limits.max_redirects > 100 {
            return out_of_range("redirects", limits.max_redirects.to_string(), "0", "100");
        }
        if limits.robots_max_age > DAY {
            return out_of_range("robots", format!("{:?}", limits.robots_max_age), "1ms", "1d");
        }
        Ok(limits)
    }
}

fn user_agent(
    custom: Option<String>,
    contact: Option<String>,
) -> Result<HeaderValue, InvalidFetchSetting> {
    if let Some(text) = custom {
        let fault = || invalid("user_agent", SettingFault::UserAgent(text.clone()));
        let is_product = text.starts_with(|it: char| it.is_ascii_alphabetic());
        return text.parse().ok().filter(|_| is_product).ok_or_else(fault);
    }
    match contact {
        Some(contact) => {
            if contact.contains(['(', ')', '\\']) {
                return Err(invalid("contact", SettingFault::Contact));
            }
            let fault = |_| invalid("contact", SettingFault::Header);
            user_agent_with_contact(contact.trim()).parse().map_err(fault)
        }
        None => Ok(FetchSettings::default().user_agent),
    }
}

fn load_certificates(
    paths: Vec<PathBuf>,
) -> Result<Vec<CertificateDer<'static>>, InvalidFetchSetting> {
    let mut roots = Vec::new();
    for path in paths {
        let fault = || invalid("roots", SettingFault::Certificates(path.display().to_string()));
        let certificates: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(&path).map_err(|_| fault())?.collect();
        let certificates = certificates.ok().filter(|it| !it.is_empty()).ok_or_else(fault)?;
        roots.extend(certificates);
    }
    Ok(roots)
}
