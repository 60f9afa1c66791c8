//! What an owner can set, checked once.

mod hidden;
mod quantity;
mod raw;
mod rule;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use thiserror::Error;
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::{Host, Url};

use crate::guard::{Guard, Refusal};
pub use quantity::{RawSize, SIZES, size, time};
pub use raw::{RawBasic, RawLimits, RawProxy, RawRule, RawSecret, RawSettings, RawValue};
pub(crate) use rule::{Proxy, Rule, is_ours};

/// How requests are made. Made from [`RawSettings`], or the default.
#[derive(Clone, PartialEq)]
pub struct Settings {
    pub(crate) user_agent: HeaderValue,
    pub(crate) robots: bool,
    pub(crate) guard: Guard,
    pub(crate) downgrade: bool,
    pub(crate) dns: Vec<SocketAddr>,
    pub(crate) resolve: HashMap<String, Vec<IpAddr>>,
    pub(crate) roots: Vec<CertificateDer<'static>>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) commands: HashMap<String, Vec<String>>,
    pub(crate) limits: Limits,
    pub(crate) rules: Vec<Rule>,
}

impl Settings {
    /// Certificates that are trusted beside the public ones, as DER.
    pub fn roots(&self) -> impl Iterator<Item = &[u8]> {
        self.roots.iter().map(AsRef::as_ref)
    }

    /// Why a URL would be refused, as far as it tells by itself: no name is looked up.
    #[must_use]
    pub fn refusal(&self, url: &Url) -> Option<Refusal> {
        let closed = || Some(Refusal::Scheme { scheme: url.scheme().to_owned() });
        match url.scheme() {
            "http" | "https" => {
                let address: IpAddr = match url.host()? {
                    Host::Ipv4(address) => address.into(),
                    Host::Ipv6(address) => address.into(),
                    Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => {
                        Ipv4Addr::LOCALHOST.into()
                    }
                    Host::Domain(_) => return None,
                };
                let port = url.port_or_known_default().unwrap_or_default();
                self.guard.judge(url.host_str()?, address, port).err()
            }
            "file" if self.files.is_empty() => closed(),
            "file" => match url.to_file_path() {
                Ok(path) if self.files.iter().any(|open| path.starts_with(open)) => None,
                _ => Some(Refusal::File { path: url.path().to_owned() }),
            },
            "exec" if self.commands.is_empty() => closed(),
            "exec" if self.commands.contains_key(url.path()) => None,
            "exec" => Some(Refusal::Command { name: url.path().to_owned() }),
            _ => closed(),
        }
    }
}

/// The limits of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From the name to addresses, and again to a connection.
    pub connect: Duration,
    /// To a secure connection.
    pub tls: Duration,
    /// From the request to the end of the answer's head.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// The whole body.
    pub body: Duration,
    /// The fetch with its redirects.
    pub total: Duration,
    /// Bytes of the answer's head.
    pub head_bytes: u64,
    /// Bytes of the body on the wire.
    pub wire_bytes: u64,
    /// Bytes of the body after decompression.
    pub body_bytes: u64,
    /// Redirects that are followed.
    pub redirects: u32,
    /// Connections that are kept for the next request, to all hosts together.
    pub kept: u32,
    /// How long they are kept.
    pub keep: Duration,
    /// How long robots.txt holds (RFC 9309 §2.4: a day at most).
    pub robots: Duration,
    /// When robots.txt is asked for again after it could not be reached.
    pub robots_retry: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            tls: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            body: Duration::from_secs(60),
            total: Duration::from_secs(120),
            head_bytes: 64 * 1024,
            wire_bytes: 16 * 1024 * 1024,
            body_bytes: 32 * 1024 * 1024,
            redirects: 10,
            kept: 1024,
            keep: Duration::from_secs(60),
            robots: DAY,
            robots_retry: Duration::from_secs(300),
        }
    }
}

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: HeaderValue::from_static(USER_AGENT),
            robots: true,
            guard: Guard::default(),
            downgrade: false,
            dns: Vec::new(),
            resolve: HashMap::new(),
            roots: Vec::new(),
            files: Vec::new(),
            commands: HashMap::new(),
            limits: Limits::default(),
            rules: Vec::new(),
        }
    }
}

/// Without commands and rules: what they hold is for nobody's log.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user_agent, robots, guard, limits, .. } = self;
        f.debug_struct("Settings")
            .field("user_agent", user_agent)
            .field("robots", robots)
            .field("guard", guard)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// What robots.txt files call us: the product token that the user agent begins with.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.user_agent.to_str().unwrap_or_default()
    }

    /// Whether robots.txt is obeyed.
    #[must_use]
    pub fn obeys_robots(&self) -> bool {
        self.robots
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// The product and what it is for, for hosts that want to know who asks.
const USER_AGENT: &str = concat!(
    "freshet/",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    " (keeps a local copy fresh; no contact given)"
);

/// A setting that cannot be meant.
#[derive(Debug, Error)]
#[error("the setting `{field}` {fault}")]
pub struct InvalidSetting {
    /// Its place, such as `limits.connect` or `rules[0].match`.
    pub field: String,
    /// What is wrong with it.
    pub fault: SettingFault,
}

/// What is wrong with a setting.
#[derive(Debug, Error)]
pub enum SettingFault {
    /// Not a time.
    #[error("is `{0}`, which is not a time above 0 such as \"10s\", \"250ms\", \"2min\" or \"1h\"")]
    Time(String),
    /// Not a size.
    #[error("is `{0}`, which is not a size above 0 such as \"16MiB\": {SIZES}")]
    Size(String),
    /// Not within what is possible.
    #[error("is {value}, which is not from {least} to {most}")]
    Range {
        /// What was given.
        value: String,
        /// The least.
        least: String,
        /// The most.
        most: String,
    },
    /// Not an address.
    #[error("holds `{0}`, which is not an address")]
    Address(String),
    /// Opens nothing.
    #[error("opens nothing: {0}")]
    Opening(#[from] crate::guard::InvalidOpening),
    /// Not a pattern.
    #[error("holds a pattern that is none: {0}")]
    Pattern(#[from] crate::pattern::InvalidPattern),
    /// Not for a header.
    #[error("cannot be the value of a header")]
    Header,
    /// A header that freshet sets itself, or no name of one.
    #[error("is `{0}`, which is no header or not for rules to set")]
    HeaderName(String),
    /// No secret where it should be.
    #[error("needs {0}, which is not there or cannot be read")]
    Secret(String),
    /// Not a proxy.
    #[error("is `{0}`, which is not the URL of a proxy such as \"http://proxy.example:3128\"")]
    Proxy(String),
    /// No certificates where they should be.
    #[error("names {0}, which has no certificates (PEM) or cannot be read")]
    Roots(String),
    /// Not a directory.
    #[error("names {0}, which is not a directory that can be read")]
    Directory(String),
    /// Nothing to run.
    #[error("is a command without a program")]
    Command,
    /// Two that exclude each other.
    #[error("has both `basic` and `bearer`, of which a request can carry one")]
    TwoAuths,
    /// What would end the part of the user agent that it stands in.
    #[error("holds a bracket or a backslash, which have a meaning in the user agent")]
    Contact,
    /// A user agent that names no product.
    #[error("is `{0}`, which does not begin with a product such as \"freshet/0.1\"")]
    UserAgent(String),
}

/// A field and what is wrong with it.
fn invalid(field: impl Into<String>, fault: SettingFault) -> InvalidSetting {
    InvalidSetting { field: field.into(), fault }
}

fn own_user_agent(contact: &str) -> String {
    format!(
        "freshet/{}.{} (+{contact})",
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR")
    )
}

/// A header name that does not shadow what freshet says itself.
fn header_name(field: &str, name: &str) -> Result<HeaderName, InvalidSetting> {
    let fault = || invalid(field, SettingFault::HeaderName(name.to_owned()));
    name.parse().ok().filter(|key| !is_ours(key)).ok_or_else(fault)
}
