//! Settings of fetches, validated once.

mod quantity;
mod raw;
mod redacted;
mod url_rule;

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use thiserror::Error;
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::{Host, Url};

use crate::guard::{AddressGuard, GuardRefusal};
pub use quantity::{BYTE_SIZE_FORMATS, RawByteSize, parse_byte_size, parse_duration};
pub use raw::{
    RawBasicAuth, RawFetchLimits, RawFetchSettings, RawHeaderValue, RawProxy, RawUrlRule,
    SecretSource,
};
pub(crate) use url_rule::{Proxy, UrlRule, is_reserved};

/// Settings of fetches. Created from [`RawFetchSettings`] or by default.
#[derive(Clone, PartialEq)]
pub struct FetchSettings {
    pub(crate) user_agent: HeaderValue,
    pub(crate) obey_robots: bool,
    pub(crate) guard: AddressGuard,
    pub(crate) allow_downgrade: bool,
    pub(crate) dns_servers: Vec<SocketAddr>,
    pub(crate) static_hosts: HashMap<String, Vec<IpAddr>>,
    pub(crate) extra_roots: Vec<CertificateDer<'static>>,
    pub(crate) allowed_directories: Vec<PathBuf>,
    pub(crate) commands: HashMap<String, Vec<String>>,
    pub(crate) limits: FetchLimits,
    pub(crate) rules: Vec<UrlRule>,
}

impl FetchSettings {
    /// Iterates over the certificates, as DER, that are trusted in addition to the public ones.
    pub fn extra_roots(&self) -> impl Iterator<Item = &[u8]> {
        self.extra_roots.iter().map(AsRef::as_ref)
    }

    /// Returns the reason for which the guard would refuse a URL, as far as the URL alone shows it: no
    /// name is resolved.
    #[must_use]
    pub fn static_refusal(&self, url: &Url) -> Option<GuardRefusal> {
        let closed = || Some(GuardRefusal::Scheme { scheme: url.scheme().to_owned() });
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
                self.guard.check(url.host_str()?, address, port).err()
            }
            "file" if self.allowed_directories.is_empty() => closed(),
            "file" => match url.to_file_path() {
                Ok(path) if self.allowed_directories.iter().any(|open| path.starts_with(open)) => {
                    None
                }
                _ => Some(GuardRefusal::File { path: url.path().to_owned() }),
            },
            "exec" if self.commands.is_empty() => closed(),
            "exec" if self.commands.contains_key(url.path()) => None,
            "exec" => Some(GuardRefusal::Command { name: url.path().to_owned() }),
            _ => closed(),
        }
    }
}

/// Limits of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchLimits {
    /// For DNS resolution, and again for the TCP connection.
    pub connect_timeout: Duration,
    /// For the TLS handshake.
    pub tls_timeout: Duration,
    /// From the request to the end of the response head.
    pub first_byte_timeout: Duration,
    /// Between two pieces of the body.
    pub idle_timeout: Duration,
    /// For the whole body.
    pub body_timeout: Duration,
    /// For the whole fetch with its redirects.
    pub total_timeout: Duration,
    /// Size of the response head.
    pub max_head_bytes: u64,
    /// Size of the body on the wire.
    pub max_wire_bytes: u64,
    /// Size of the body after decompression.
    pub max_body_bytes: u64,
    /// Number of redirects.
    pub max_redirects: u32,
    /// Number of idle connections in the pool, to all hosts.
    pub max_idle_connections: u32,
    /// Time after which an idle connection is closed.
    pub idle_connection_timeout: Duration,
    /// Time for which a robots.txt file is used (RFC 9309 §2.4: at most a day).
    pub robots_max_age: Duration,
    /// Time after which an unreachable robots.txt is requested again.
    pub robots_retry_interval: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            tls_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(15),
            body_timeout: Duration::from_secs(60),
            total_timeout: Duration::from_secs(120),
            max_head_bytes: 64 * 1024,
            max_wire_bytes: 16 * 1024 * 1024,
            max_body_bytes: 32 * 1024 * 1024,
            max_redirects: 10,
            max_idle_connections: 1024,
            idle_connection_timeout: Duration::from_secs(60),
            robots_max_age: DAY,
            robots_retry_interval: Duration::from_secs(300),
        }
    }
}

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            user_agent: HeaderValue::from_static(USER_AGENT),
            obey_robots: true,
            guard: AddressGuard::default(),
            allow_downgrade: false,
            dns_servers: Vec::new(),
            static_hosts: HashMap::new(),
            extra_roots: Vec::new(),
            allowed_directories: Vec::new(),
            commands: HashMap::new(),
            limits: FetchLimits::default(),
            rules: Vec::new(),
        }
    }
}

/// Omits commands and rules: their content does not belong in logs.
impl fmt::Debug for FetchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user_agent, obey_robots: robots, guard, limits, .. } = self;
        f.debug_struct("FetchSettings")
            .field("user_agent", user_agent)
            .field("robots", robots)
            .field("guard", guard)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

impl FetchSettings {
    /// Returns the user agent. robots.txt matches the product token at its start.
    #[must_use]
    pub fn user_agent_text(&self) -> &str {
        self.user_agent.to_str().unwrap_or_default()
    }

    /// True if robots.txt is obeyed.
    #[must_use]
    pub fn obeys_robots(&self) -> bool {
        self.obey_robots
    }

    /// Returns the limits.
    #[must_use]
    pub fn limits(&self) -> &FetchLimits {
        &self.limits
    }
}

/// Names the product and its purpose, for hosts that want to know who sends requests.
const USER_AGENT: &str = concat!(
    "freshet/",
    env!("CARGO_PKG_VERSION_MAJOR"),
    ".",
    env!("CARGO_PKG_VERSION_MINOR"),
    " (keeps a local copy fresh; no contact given)"
);

/// Error for an invalid setting.
#[derive(Debug, Error)]
#[error("the setting `{field}` {fault}")]
pub struct InvalidFetchSetting {
    /// Path of the setting, such as `limits.connect` or `rules[0].match`.
    pub field: String,
    /// Fault of its value.
    pub fault: SettingFault,
}

/// Fault of a setting.
#[derive(Debug, Error)]
pub enum SettingFault {
    /// Not a duration.
    #[error(
        "is `{0}`: expected a duration above 0, such as \"10s\", \"250ms\", \"2min\" or \"1h\""
    )]
    Duration(String),
    /// Not a size.
    #[error("is `{0}`: expected a size above 0, such as \"16MiB\": {BYTE_SIZE_FORMATS}")]
    ByteSize(String),
    /// Out of range.
    #[error("is {value}: expected a value from {min} to {max}")]
    Range {
        /// Value in the settings.
        value: String,
        /// Minimum.
        min: String,
        /// Maximum.
        max: String,
    },
    /// Not an IP address.
    #[error("contains `{0}`, which is not an IP address")]
    Address(String),
    /// Not an entry of the allow list.
    #[error("has an invalid entry: {0}")]
    AllowEntry(#[from] crate::guard::InvalidAllowEntry),
    /// Not a URL pattern.
    #[error("has an invalid pattern: {0}")]
    Pattern(#[from] crate::url_pattern::InvalidUrlPattern),
    /// Not a valid header value.
    #[error("is not a valid header value")]
    Header,
    /// Not a header name, or a header that freshet sets itself.
    #[error("is `{0}`, which is not a header name or is a header that freshet sets itself")]
    HeaderName(String),
    /// The secret is missing.
    #[error("needs {0}, which is missing, empty or unreadable")]
    Secret(String),
    /// Not the URL of a proxy.
    #[error("is `{0}`: expected the URL of a proxy, such as \"http://proxy.example:3128\"")]
    Proxy(String),
    /// The file has no certificates.
    #[error("names `{0}`, which has no PEM certificates or cannot be read")]
    Certificates(String),
    /// Not a directory.
    #[error("names `{0}`, which is not a readable directory")]
    Directory(String),
    /// The command is empty.
    #[error("is a command without a program")]
    Command,
    /// Two kinds of authentication that exclude each other.
    #[error("cannot be combined with `basic`: a request has one `Authorization` header")]
    ConflictingAuth,
    /// The contact would end the comment of the user agent.
    #[error("contains a parenthesis or a backslash, which have a meaning in the user agent")]
    Contact,
    /// The user agent does not begin with a product.
    #[error("is `{0}`: expected a product at the start, such as \"freshet/0.1\"")]
    UserAgent(String),
}

/// Creates an error for a setting.
fn invalid(field: impl Into<String>, fault: SettingFault) -> InvalidFetchSetting {
    InvalidFetchSetting { field: field.into(), fault }
}

fn user_agent_with_contact(contact: &str) -> String {
    format!(
        "freshet/{}.{} (+{contact})",
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR")
    )
}

/// Parses a header name that freshet does not set itself.
fn parse_header_name(field: &str, name: &str) -> Result<HeaderName, InvalidFetchSetting> {
    let fault = || invalid(field, SettingFault::HeaderName(name.to_owned()));
    name.parse().ok().filter(|key| !is_reserved(key)).ok_or_else(fault)
}
