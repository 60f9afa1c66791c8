//! Settings as they are written.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use hyper::header::HeaderValue;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;

use super::hidden::{some_table, table};
use super::quantity::{RawSize, size, time};
use super::{DAY, InvalidSetting, Limits, SettingFault, Settings, invalid, own_user_agent};
use crate::guard::Guard;

/// A limit of time that is longer is as good as none.
const LONGEST: Duration = Duration::from_secs(30 * DAY.as_secs());

/// A limit of size that is larger is a slip.
const LARGEST: u64 = 1 << 40;

/// Settings as they are written, in a file or by a program.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawSettings {
    /// Whom hosts can turn to: a URL or a mail address. It is part of the user agent.
    pub contact: Option<String>,
    /// The whole user agent, in place of freshet's own.
    pub user_agent: Option<String>,
    /// Whether robots.txt is obeyed; it is, unless this says no.
    pub robots: Option<bool>,
    /// What the guard lets through beside what is public: networks, addresses, names.
    pub allow: Vec<String>,
    /// Whether what is public is let through; it is, unless this says no.
    pub public: Option<bool>,
    /// Whether redirects from https to http are followed.
    pub downgrade: bool,
    /// Name servers, in place of the system's.
    pub dns: Vec<String>,
    /// Addresses of names that no name server is asked for. The guard judges them all the same.
    pub resolve: BTreeMap<String, Vec<String>>,
    /// Files (PEM) of certificates that are trusted beside the public ones.
    pub roots: Vec<PathBuf>,
    /// Directories whose files may be sources.
    pub files: Vec<PathBuf>,
    /// Commands that may be sources, by name: program and arguments.
    pub commands: BTreeMap<String, Vec<String>>,
    /// Limits.
    pub limits: RawLimits,
    /// What holds for some URLs only; where two say different things, the later one counts.
    pub rules: Vec<RawRule>,
}

/// Limits as they are written. See [`Limits`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
#[allow(missing_docs)]
pub struct RawLimits {
    pub connect: Option<String>,
    pub tls: Option<String>,
    pub first_byte: Option<String>,
    pub idle: Option<String>,
    pub body: Option<String>,
    pub total: Option<String>,
    pub head_bytes: Option<RawSize>,
    pub wire_bytes: Option<RawSize>,
    pub body_bytes: Option<RawSize>,
    pub redirects: Option<u32>,
    pub kept: Option<u32>,
    pub keep: Option<String>,
    pub robots: Option<String>,
    pub robots_retry: Option<String>,
}

/// What holds for the URLs that match a pattern.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct RawRule {
    /// The pattern.
    #[serde(rename = "match")]
    pub pattern: String,
    /// Headers to send.
    #[serde(deserialize_with = "table")]
    pub headers: BTreeMap<String, RawValue>,
    /// A name and a password to sign in with.
    #[serde(deserialize_with = "some_table")]
    pub basic: Option<RawBasic>,
    /// A token to sign in with.
    pub bearer: Option<RawSecret>,
    /// A proxy to go through.
    #[serde(deserialize_with = "some_table")]
    pub proxy: Option<RawProxy>,
}

/// A value: as it is, or a secret that lives elsewhere.
#[derive(Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "is neither a text nor the place of a secret, such as `{ env = \"NAME\" }`"
)]
pub enum RawValue {
    /// As it is.
    Plain(String),
    /// From elsewhere.
    Secret(RawSecret),
}

/// Where a secret lives.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Written")]
pub enum RawSecret {
    /// In a variable of the environment.
    Env(String),
    /// In a file; white space around it does not count.
    File(PathBuf),
}

/// What may stand where a secret's place is expected. An error must not show it: it may be the secret.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Place(Place),
    Other(IgnoredAny),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Place {
    Env(String),
    File(PathBuf),
}

impl TryFrom<Written> for RawSecret {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Place(Place::Env(name)) => Ok(Self::Env(name)),
            Written::Place(Place::File(path)) => Ok(Self::File(path)),
            Written::Other(IgnoredAny) => {
                Err("secrets do not belong here: say `{ env = \"NAME\" }` or `{ file = \"path\" }`")
            }
        }
    }
}

/// A name and a password.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RawBasic {
    /// The name.
    pub user: String,
    /// The password.
    pub password: RawSecret,
}

/// A proxy.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct RawProxy {
    /// Where it is: `http://HOST:PORT`; empty for none.
    pub url: String,
    /// Whether it resolves names and guards them itself.
    #[serde(default)]
    pub trusted: bool,
    /// How to sign in there.
    #[serde(default, deserialize_with = "some_table")]
    pub basic: Option<RawBasic>,
}

impl TryFrom<RawSettings> for Settings {
    type Error = InvalidSetting;

    fn try_from(raw: RawSettings) -> Result<Self, InvalidSetting> {
        let (settings, missing) = Self::but_secrets(raw)?;
        missing.map_or(Ok(settings), Err)
    }
}

impl Settings {
    /// The same for those who fetch nothing: what is written is checked, and the first secret that is not
    /// where it should be is named. Nothing may be fetched then.
    ///
    /// # Errors
    /// If something else cannot be meant.
    pub fn but_secrets(raw: RawSettings) -> Result<(Self, Option<InvalidSetting>), InvalidSetting> {
        let user_agent = user_agent(raw.user_agent, raw.contact)?;
        let mut allow = Vec::new();
        for text in raw.allow {
            allow.push(text.parse().map_err(|it| invalid("allow", SettingFault::Opening(it)))?);
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
        let mut files = Vec::new();
        for path in raw.files {
            let refused = || invalid("files", SettingFault::Directory(path.display().to_string()));
            // Compared with paths whose links were followed, so its own are too.
            let real = path.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(refused)?;
            files.push(real);
        }
        for (name, command) in &raw.commands {
            if command.first().is_none_or(String::is_empty) {
                return Err(invalid(format!("commands.{name}"), SettingFault::Command));
            }
        }
        let mut missing = None;
        let rules = raw.rules.into_iter().enumerate();
        let rules = rules.map(|(at, rule)| rule.check(at, &mut missing));
        let rules = rules.collect::<Result<_, _>>()?;
        let settings = Self {
            user_agent,
            robots: raw.robots.unwrap_or(true),
            guard: if raw.public.unwrap_or(true) {
                Guard::new(allow)
            } else {
                Guard::closed(allow)
            },
            downgrade: raw.downgrade,
            dns,
            resolve,
            roots: roots(raw.roots)?,
            files,
            commands: raw.commands.into_iter().collect(),
            limits: raw.limits.check()?,
            rules,
        };
        Ok((settings, missing))
    }
}

impl RawLimits {
    fn check(self) -> Result<Limits, InvalidSetting> {
        let out = |name: &str, value: String, least: &str, most: &str| {
            let (least, most) = (least.to_owned(), most.to_owned());
            Err(invalid(format!("limits.{name}"), SettingFault::Range { value, least, most }))
        };
        let mut limits = Limits::default();
        let Limits {
            connect, tls, first_byte, idle, body, total, keep, robots, robots_retry, ..
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
                let fault = || invalid(format!("limits.{name}"), SettingFault::Time(text.clone()));
                *limit = time(text).ok_or_else(fault)?;
                if *limit > LONGEST {
                    return out(name, text.clone(), "1ms", "30d");
                }
            }
        }
        let Limits { head_bytes, wire_bytes, body_bytes, .. } = &mut limits;
        for (name, raw, limit) in [
            ("head_bytes", &self.head_bytes, head_bytes),
            ("wire_bytes", &self.wire_bytes, wire_bytes),
            ("body_bytes", &self.body_bytes, body_bytes),
        ] {
            if let Some(raw) = raw {
                let text = match raw {
                    RawSize::Bytes(bytes) => bytes.to_string(),
                    RawSize::Text(text) => text.clone(),
                };
                let fault = || invalid(format!("limits.{name}"), SettingFault::Size(text.clone()));
                *limit = size(raw).ok_or_else(fault)?;
                if *limit > LARGEST {
                    return out(name, text, "1", "1024GiB");
                }
            }
        }
        limits.redirects = self.redirects.unwrap_or(limits.redirects);
        limits.kept = self.kept.unwrap_or(limits.kept);
        if !(8192..=16 * 1024 * 1024).contains(&limits.head_bytes) {
            return out("head_bytes", limits.head_bytes.to_string(), "8KiB", "16MiB");
        }
        if limits.redirects > 100 {
            return out("redirects", limits.redirects.to_string(), "0", "100");
        }
        if limits.robots > DAY {
            return out("robots", format!("{:?}", limits.robots), "1ms", "1d");
        }
        Ok(limits)
    }
}

fn user_agent(
    whole: Option<String>,
    contact: Option<String>,
) -> Result<HeaderValue, InvalidSetting> {
    if let Some(text) = whole {
        let fault = || invalid("user_agent", SettingFault::UserAgent(text.clone()));
        let begins = text.starts_with(|it: char| it.is_ascii_alphabetic());
        return text.parse().ok().filter(|_| begins).ok_or_else(fault);
    }
    match contact {
        Some(contact) => {
            if contact.contains(['(', ')', '\\']) {
                return Err(invalid("contact", SettingFault::Contact));
            }
            let fault = |_| invalid("contact", SettingFault::Header);
            own_user_agent(contact.trim()).parse().map_err(fault)
        }
        None => Ok(Settings::default().user_agent),
    }
}

fn roots(paths: Vec<PathBuf>) -> Result<Vec<CertificateDer<'static>>, InvalidSetting> {
    let mut roots = Vec::new();
    for path in paths {
        let fault = || invalid("roots", SettingFault::Roots(path.display().to_string()));
        let found: Result<Vec<_>, _> =
            CertificateDer::pem_file_iter(&path).map_err(|_| fault())?.collect();
        let found = found.ok().filter(|it| !it.is_empty()).ok_or_else(fault)?;
        roots.extend(found);
    }
    Ok(roots)
}
