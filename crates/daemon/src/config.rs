//! `freshet.toml`: what an owner says once.

mod check;
mod notify;
mod place;
mod signals;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use freshet_engine::{Goal, Profile};
use freshet_fetch::RawSize;
use freshet_model::{Budget, PerDay};
use freshet_store::{AlertThresholds, Retention};
use serde::Deserialize;
use thiserror::Error;

use crate::detectors::Rules;

pub use notify::{Mail, MailTls, Notify};
use notify::{RawMail, RawNotify, RawWatch};
use signals::RawSignals;
pub use signals::{ReadLimits, Signals};

/// What an owner says, checked.
#[derive(Clone)]
pub struct Config {
    /// How many fetches there may be.
    pub budget: Budget,
    /// How many bytes there may be in a day, if that is limited.
    pub bytes: Option<f64>,
    /// Fetches that may be made at once, after a time of rest; `None`: an hour's worth, or ten.
    pub burst: Option<f64>,
    /// What copies are to be good for, where a source does not say.
    pub objective: Goal,
    /// How the budget is spread over the day.
    pub profile: Profile,
    /// Days between two fetches from one host, and fetches at a time.
    pub gap: f64,
    /// Fetches from one host at a time.
    pub connections: u32,
    /// How many fetchers there are.
    pub crew: ConcurrencySetting,
    /// Where everything is kept.
    pub store: PathBuf,
    /// What is kept, and for how long.
    pub retention: Retention,
    /// Bytes that the store may take; `None`: as many as there are.
    pub size: Option<u64>,
    /// How requests are made.
    pub fetch: freshet_fetch::Settings,
    /// What counts of documents.
    pub detect: Rules,
    /// Where the service is, and for whom.
    pub server: Server,
    /// What is told of sources beside their changes.
    pub watch: AlertThresholds,
    /// Who is listened to when they say that sources have changed.
    pub signals: Signals,
    /// How those who want to know are told.
    pub notify: Notify,
    /// Where it is written, and which secrets are not where they should be.
    pub secrets: Secrets,
}

/// Secrets that are not where a configuration says. Whoever needs none of them need not mind.
#[derive(Clone, Default)]
pub struct Secrets {
    pub(crate) path: PathBuf,
    /// Where in it, and what is wrong.
    pub(crate) fetch: Option<String>,
    pub(crate) mail: Option<String>,
}

/// Where the service is, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it listens; `None`: nowhere.
    pub listen: Option<SocketAddr>,
    /// Whether that was said, or is only so by default.
    pub said: bool,
    /// Where clients reach it, if that is somewhere else: without a slash at the end.
    pub url: Option<String>,
    /// Names that clients may call it by, beside its addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Connections at a time.
    pub connections: u32,
}

impl Server {
    /// Where it listens if nothing is said.
    pub const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7343);
}

/// How many fetchers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencySetting {
    /// As many as keep the rest busy, by what is measured; at most so many.
    Auto(u32),
    /// So many.
    Fixed(u32),
}

/// As it is written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Raw {
    budget: Option<String>,
    bytes: Option<String>,
    burst: Option<f64>,
    objective: Option<String>,
    store: Option<PathBuf>,
    crew: Option<RawCrew>,
    hosts: RawHosts,
    hours: RawHours,
    keep: RawKeep,
    fetch: freshet_fetch::RawSettings,
    detect: freshet_detect::RawSettings,
    rules: Vec<RawRule>,
    server: RawServer,
    watch: RawWatch,
    signals: RawSignals,
    notify: RawNotify,
    mail: Option<RawMail>,
    commands: BTreeMap<String, Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawServer {
    listen: Option<String>,
    url: Option<String>,
    hosts: Vec<String>,
    connections: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`crew` is neither \"auto\" nor a number")]
enum RawCrew {
    Number(u32),
    Text(String),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawHosts {
    gap: Option<String>,
    connections: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawHours {
    weights: Option<Vec<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawKeep {
    versions: Option<u32>,
    days: Option<f64>,
    observations: Option<u32>,
    changes: Option<f64>,
    size: Option<RawSize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(rename = "match")]
    pattern: String,
    #[serde(default)]
    detect: freshet_detect::RawSettings,
}

/// Why there is no configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// There is no file.
    #[error("there is no {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A secret is not where it should be, and needed.
    #[error("{}{what}", path.display())]
    Secret {
        /// Which.
        path: PathBuf,
        /// Where in it, and what is wrong: `, line 3: mail.password: …`.
        what: String,
    },
    /// It is not what it should be.
    #[error("{}{what}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Where in it, and what is wrong: `, line 3: budget: …`.
        what: String,
    },
}

impl ConfigError {
    /// The way out.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { .. } => {
                Some("write one with `freshet init`, or name one with --config".to_owned())
            }
            Self::Unreadable { .. } => None,
            Self::Secret { .. } => Some(
                "set the variable where freshet runs, or say `{ file = \"path\" }` with a file that \
                 it can read"
                    .to_owned(),
            ),
            Self::Invalid { .. } => {
                Some("`freshet init -` shows a file with all settings".to_owned())
            }
        }
    }
}

impl Config {
    /// What fetchers there are at most, unless the owner says otherwise.
    pub const FETCHERS: u32 = 256;

    /// All as it is by default, with so many fetches a day.
    ///
    /// # Errors
    /// If something in how to fetch cannot be meant.
    pub fn plain(budget: f64, fetch: freshet_fetch::RawSettings) -> Result<Self, ConfigError> {
        let path = Path::new("freshet.toml");
        let invalid = |what: String| ConfigError::Invalid { path: path.to_owned(), what };
        let mut config = Self::parse("", path)?;
        let rate = PerDay::new(budget).map_err(|why| invalid(format!(": budget: {why}")))?;
        config.budget = Budget::Total(rate);
        config.fetch = fetch.try_into().map_err(|why| invalid(format!(": fetch: {why}")))?;
        Ok(config)
    }

    /// Reads a file. Paths in it are relative to it. Secrets that are not there are no error until they
    /// are needed.
    ///
    /// # Errors
    /// If there is none, it cannot be read, or something in it cannot be meant.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ConfigError::Missing { path: path.to_owned() },
            _ => ConfigError::Unreadable { path: path.to_owned(), source },
        })?;
        Self::parse(&text, path)
    }

    /// What a file's text says. `path` is for messages, and what paths in it are relative to.
    ///
    /// # Errors
    /// If something in it cannot be meant.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let invalid = |what: String| ConfigError::Invalid { path: path.to_owned(), what };
        let raw: Raw =
            toml::from_str(text).map_err(|error| invalid(place::of_error(&error, text)))?;
        let mut config =
            check::check(raw, path).map_err(|what| invalid(place::of_value(&what, text)))?;
        let Secrets { fetch, mail, .. } = &mut config.secrets;
        for what in [fetch, mail].into_iter().flatten() {
            *what = place::of_value(what, text);
        }
        Ok(config)
    }

    /// Whether all secrets are there that fetches and webhooks need.
    ///
    /// # Errors
    /// If one is not.
    pub fn fetch_secrets(&self) -> Result<(), ConfigError> {
        self.there(&self.secrets.fetch)
    }

    /// Whether the password of the mail server is there, if it needs one.
    ///
    /// # Errors
    /// If it is not.
    pub fn mail_secret(&self) -> Result<(), ConfigError> {
        self.there(&self.secrets.mail)
    }

    fn there(&self, missing: &Option<String>) -> Result<(), ConfigError> {
        match missing {
            Some(what) => {
                let path = self.secrets.path.clone();
                Err(ConfigError::Secret { path, what: what.clone() })
            }
            None => Ok(()),
        }
    }
}
