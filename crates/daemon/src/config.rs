//! Configuration file `freshet.toml`.

mod location;
mod notify;
mod signals;
mod validate;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use freshet_engine::{BudgetProfile, Goal};
use freshet_fetch::RawByteSize;
use freshet_model::{Budget, PerDay};
use freshet_store::{AlertThresholds, Retention};
use serde::Deserialize;
use thiserror::Error;

use crate::detectors::DetectionRules;

pub use notify::{MailConfig, MailTls, NotifyConfig};
use notify::{RawMail, RawNotify, RawWatch};
use signals::RawSignals;
pub use signals::{ReadLimits, SignalsConfig};

/// Validated configuration.
#[derive(Clone)]
pub struct Config {
    /// Fetch budget.
    pub budget: Budget,
    /// Limit on bytes received per day, if any.
    pub bytes_per_day: Option<f64>,
    /// Fetches that an idle daemon may make at once. The default, `None`, is an hour's worth, at
    /// least ten.
    pub burst: Option<f64>,
    /// Objective of sources that do not set their own.
    pub objective: Goal,
    /// Distribution of the budget over the hours of the day.
    pub profile: BudgetProfile,
    /// Minimum days between two fetches from one host.
    pub host_gap_days: f64,
    /// Concurrent fetches from one host.
    pub host_connections: u32,
    /// Number of concurrent fetches.
    pub fetch_concurrency: ConcurrencySetting,
    /// Path of the store.
    pub store: PathBuf,
    /// How much history is kept.
    pub retention: Retention,
    /// Limit on the size of the store in bytes; `None` for no limit.
    pub max_store_bytes: Option<u64>,
    /// Fetcher settings.
    pub fetch: freshet_fetch::FetchSettings,
    /// Change detection settings.
    pub detection_rules: DetectionRules,
    /// HTTP server settings.
    pub server: ServerConfig,
    /// Thresholds of alerts about failing or quiet sources.
    pub alert_thresholds: AlertThresholds,
    /// Signal settings.
    pub signals: SignalsConfig,
    /// Notification settings.
    pub notify: NotifyConfig,
    /// Path of the file, and the secrets that could not be read.
    pub missing_secrets: MissingSecrets,
    /// Hints about deprecated names in the file.
    pub deprecation_hints: Vec<String>,
}

/// Secrets that could not be read. This is an error only when one is needed.
#[derive(Clone, Default)]
pub struct MissingSecrets {
    pub(crate) config_path: PathBuf,
    /// Line, field and reason.
    pub(crate) fetch: Option<String>,
    pub(crate) mail: Option<String>,
}

/// HTTP server settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Address to listen on; `None` disables the server.
    pub listen: Option<SocketAddr>,
    /// True if `server.listen` is set rather than defaulted.
    pub is_listen_explicit: bool,
    /// Public base URL, without a trailing slash, if it differs from the listen address.
    pub url: Option<String>,
    /// Host names accepted from clients, besides the server's addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Maximum concurrent connections.
    pub connections: u32,
}

impl ServerConfig {
    /// Default listen address.
    pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7343);
}

/// Number of concurrent fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencySetting {
    /// Enough to keep the recording of results busy, by measured rates, up to this maximum.
    Auto(u32),
    /// A fixed number.
    Fixed(u32),
}

/// Configuration as written.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawConfig {
    budget: Option<String>,
    bytes: Option<String>,
    burst: Option<f64>,
    objective: Option<String>,
    store: Option<PathBuf>,
    #[serde(alias = "crew")]
    concurrency: Option<RawConcurrency>,
    hosts: RawHosts,
    hours: RawHours,
    keep: RawKeep,
    fetch: freshet_fetch::RawFetchSettings,
    detect: freshet_detect::RawDetectSettings,
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
#[serde(untagged, expecting = "`concurrency` is neither \"auto\" nor a number")]
enum RawConcurrency {
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
    size: Option<RawByteSize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    #[serde(rename = "match")]
    pattern: String,
    #[serde(default)]
    detect: freshet_detect::RawDetectSettings,
}

/// Failure to load the configuration.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file does not exist.
    #[error("{} does not exist", path.display())]
    Missing {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A secret that is needed cannot be read.
    #[error("{}{detail}", path.display())]
    Secret {
        /// Path of the file.
        path: PathBuf,
        /// Line, field and reason: `, line 3: mail.password: …`.
        detail: String,
    },
    /// The file is invalid.
    #[error("{}{detail}", path.display())]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// Line, field and reason: `, line 3: budget: …`.
        detail: String,
    },
}

impl ConfigError {
    /// Returns a hint on how to fix the error.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing { .. } => {
                Some("create one with `freshet init`, or pass another with --config".to_owned())
            }
            Self::Unreadable { .. } => None,
            Self::Secret { .. } => Some(
                "set the environment variable, or use `{ file = \"path\" }` with a file that freshet \
                 can read"
                    .to_owned(),
            ),
            Self::Invalid { .. } => {
                Some("run `freshet init -` for a file with all settings".to_owned())
            }
        }
    }
}

impl Config {
    /// Default maximum of [`ConcurrencySetting::Auto`].
    pub const DEFAULT_MAX_FETCHERS: u32 = 256;

    /// Creates a default configuration with `budget` fetches per day.
    ///
    /// # Errors
    /// Returns [`ConfigError::Invalid`] if the budget or a fetch setting is invalid.
    pub fn with_budget(
        budget: f64,
        fetch: freshet_fetch::RawFetchSettings,
    ) -> Result<Self, ConfigError> {
        let path = Path::new("freshet.toml");
        let invalid = |detail: String| ConfigError::Invalid { path: path.to_owned(), detail };
        let mut config = Self::parse("", path)?;
        let rate = PerDay::new(budget).map_err(|why| invalid(format!(": budget: {why}")))?;
        config.budget = Budget::Total(rate);
        config.fetch = fetch.try_into().map_err(|why| invalid(format!(": fetch: {why}")))?;
        Ok(config)
    }

    /// Reads a file. Relative paths in it are resolved against its directory. A missing secret is
    /// no error until it is needed.
    ///
    /// # Errors
    /// Returns [`ConfigError`] if the file is missing, unreadable or invalid.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => ConfigError::Missing { path: path.to_owned() },
            _ => ConfigError::Unreadable { path: path.to_owned(), source },
        })?;
        Self::parse(&text, path)
    }

    /// Parses the text of a file. `path` appears in messages and is the base of relative paths.
    ///
    /// # Errors
    /// Returns [`ConfigError::Invalid`] if the text is invalid.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let invalid = |detail: String| ConfigError::Invalid { path: path.to_owned(), detail };
        let raw: RawConfig = toml::from_str(text)
            .map_err(|error| invalid(location::locate_parse_error(&error, text)))?;
        let mut config = validate::validate(raw, path)
            .map_err(|detail| invalid(location::locate_value_error(&detail, text)))?;
        let MissingSecrets { fetch, mail, .. } = &mut config.missing_secrets;
        for detail in [fetch, mail].into_iter().flatten() {
            *detail = location::locate_value_error(detail, text);
        }
        config.deprecation_hints = location::deprecation_hints(text, path);
        Ok(config)
    }

    /// Checks that all secrets for fetches and webhooks could be read.
    ///
    /// # Errors
    /// Returns [`ConfigError::Secret`] for the first that could not.
    pub fn check_fetch_secrets(&self) -> Result<(), ConfigError> {
        self.check_secret(&self.missing_secrets.fetch)
    }

    /// Checks that the mail password, if one is needed, could be read.
    ///
    /// # Errors
    /// Returns [`ConfigError::Secret`] if it could not.
    pub fn check_mail_secret(&self) -> Result<(), ConfigError> {
        self.check_secret(&self.missing_secrets.mail)
    }

    fn check_secret(&self, missing: &Option<String>) -> Result<(), ConfigError> {
        match missing {
            Some(detail) => {
                let path = self.missing_secrets.config_path.clone();
                Err(ConfigError::Secret { path, detail: detail.clone() })
            }
            None => Ok(()),
        }
    }
}
