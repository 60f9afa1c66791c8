//! Checks which addresses may be connected to.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use thiserror::Error;

use crate::address_kind::AddressKind;
use crate::secret::redact_userinfo;
use crate::url_pattern::UrlPattern;

/// Allows connections to public addresses and to the entries of the allow list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddressGuard {
    allow: Vec<AllowEntry>,
    /// True if public addresses are refused too, unless they are on the list.
    denies_public: bool,
}

/// Entry of the allow list: a network (`10.0.0.0/8`), an address or a name, optionally with a port
/// (`127.0.0.1:8080`, `localhost`, `*.lan:80`). A name allows every address that it resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowEntry {
    /// All addresses of a network.
    Network(IpNet),
    /// Host name or address as it is written in a URL.
    Host(UrlPattern),
}

/// Error for text that is not an allow entry.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidAllowEntry {
    /// The text is neither a network, an address nor a name.
    #[error("`{0}` is not a network such as 10.0.0.0/8, an address or a host name")]
    Unknown(String),
    /// The text is an IPv6 address, or a shorter one with a port.
    #[error(
        "`{text}` is ambiguous: write `[{address}]:{port}` for an address with a port, or \
         `{text}/128` for an address"
    )]
    Ambiguous {
        /// Text that was parsed.
        text: String,
        /// Address before the last colon.
        address: Ipv6Addr,
        /// Port after the last colon.
        port: u16,
    },
}

/// Reason for which the guard refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GuardRefusal {
    /// The scheme is not http or https, and is not enabled in the settings.
    #[error("`{scheme}:` URLs are not allowed{}", SchemeSetting(.scheme))]
    Scheme {
        /// Scheme of the URL.
        scheme: String,
    },
    /// A redirect leads to a scheme other than http and https. No redirect leads to files or
    /// commands, whatever the settings allow.
    #[error("redirect to a `{scheme}:` URL not followed: only http and https are")]
    Redirect {
        /// Scheme of the redirect target.
        scheme: String,
    },
    /// The address is not public and not allowed.
    #[error("{host} is at the {kind} address {address}, which `allow` does not include")]
    Address {
        /// Host as in the URL.
        host: String,
        /// Address that the connection would have used.
        address: IpAddr,
        /// Kind of the address.
        kind: AddressKind,
    },
    /// The address is public, but only entries of the allow list are.
    #[error(
        "{host} is at the public address {address}, which `allow` does not include (`public = false`)"
    )]
    Public {
        /// Host as in the URL.
        host: String,
        /// Address that the connection would have used.
        address: IpAddr,
    },
    /// The file is outside of the allowed directories.
    #[error("`{path}` is not in a directory of `files`")]
    File {
        /// Path with symbolic links resolved.
        path: String,
    },
    /// The settings have no command of this name.
    #[error("there is no command `{name}` in `commands`")]
    Command {
        /// Name as in the URL.
        name: String,
    },
}

/// Names the setting that allows a scheme.
struct SchemeSetting<'a>(&'a str);

impl fmt::Display for SchemeSetting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            "file" => " (`files` allows directories)",
            "exec" => " (`commands` allows commands)",
            _ => ": only http and https are",
        })
    }
}

impl GuardRefusal {
    /// Returns the stable name for programs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Scheme { .. } => "scheme",
            Self::Redirect { .. } => "redirect",
            Self::Address { .. } => "address",
            Self::Public { .. } => "public",
            Self::File { .. } => "file",
            Self::Command { .. } => "command",
        }
    }
}

/// Address that the guard allows. Connections are made to nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AllowedAddress(SocketAddr);

impl AllowedAddress {
    pub(crate) fn socket_address(self) -> SocketAddr {
        self.0
    }

    /// Address of a proxy, which the owner of the settings chose.
    pub(crate) fn from_settings(address: SocketAddr) -> Self {
        Self(address)
    }
}

impl AddressGuard {
    /// Creates a guard that allows public addresses and these entries.
    #[must_use]
    pub fn new(allow: Vec<AllowEntry>) -> Self {
        Self { allow, denies_public: false }
    }

    /// Creates a guard that allows only these entries.
    #[must_use]
    pub fn allow_list_only(allow: Vec<AllowEntry>) -> Self {
        Self { allow, denies_public: true }
    }

    /// Checks one address that a host resolves to or is.
    pub(crate) fn check(
        &self,
        host: &str,
        address: IpAddr,
        port: u16,
    ) -> Result<AllowedAddress, GuardRefusal> {
        // An IPv4-mapped address is checked and connected to as the IPv4 address.
        let address = address.to_canonical();
        let is_allowed = self.allow.iter().any(|it| it.matches(host, address, port));
        match AddressKind::from_address(address) {
            Some(kind) if !is_allowed => {
                Err(GuardRefusal::Address { host: host.to_owned(), address, kind })
            }
            None if self.denies_public && !is_allowed => {
                Err(GuardRefusal::Public { host: host.to_owned(), address })
            }
            _ => Ok(AllowedAddress(SocketAddr::new(address, port))),
        }
    }
}

impl AllowEntry {
    fn matches(&self, host: &str, address: IpAddr, port: u16) -> bool {
        match self {
            Self::Network(network) => network.contains(&address),
            Self::Host(pattern) => pattern.matches_host(host, port),
        }
    }
}

impl FromStr for AllowEntry {
    type Err = InvalidAllowEntry;

    fn from_str(text: &str) -> Result<Self, InvalidAllowEntry> {
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self::Network(network));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return match split_port(text) {
                Some((address, port)) => {
                    Err(InvalidAllowEntry::Ambiguous { text: text.to_owned(), address, port })
                }
                None => Ok(Self::Network(address.to_canonical().into())),
            };
        }
        let invalid = || InvalidAllowEntry::Unknown(redact_userinfo(text));
        // `10.*` looks like a network, but `10.example.com` is a name.
        let host = text.split(':').next().unwrap_or_default();
        let is_partial_address = host.contains(|it: char| it.is_ascii_digit())
            && host.contains('*')
            && host.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | '*'));
        if is_partial_address {
            return Err(invalid());
        }
        match text.parse::<UrlPattern>() {
            Ok(pattern) if pattern.is_host_only() => Ok(Self::Host(pattern)),
            _ => Err(invalid()),
        }
    }
}

/// Splits an IPv6 address into a shorter one and a port. A single digit is hardly meant as a port.
fn split_port(text: &str) -> Option<(Ipv6Addr, u16)> {
    let (address, port) = text.rsplit_once(':')?;
    let is_port = port.len() > 1 && port.bytes().all(|it| it.is_ascii_digit());
    Some((address.parse().ok()?, port.parse().ok().filter(|_| is_port)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allow: &[&str], host: &str, address: &str, port: u16, expect: bool) {
        let guard = AddressGuard::new(allow.iter().map(|it| it.parse().unwrap()).collect());
        let checked = guard.check(host, address.parse().unwrap(), port);
        assert_eq!(checked.is_ok(), expect, "{allow:?}: {host} at {address}: {checked:?}");
    }

    #[test]
    fn wildcards_match_names_only() {
        for text in ["10.*", "192.168.1.*", "127.0.0.*:80", "*.0.0.1"] {
            assert_eq!(
                text.parse::<AllowEntry>(),
                Err(InvalidAllowEntry::Unknown(text.to_owned()))
            );
        }
        for text in ["*", "*.lan:80", "web*.lan", "10.example.*"] {
            assert!(text.parse::<AllowEntry>().is_ok(), "{text}");
        }
    }

    #[test]
    fn only_public_and_listed_addresses_pass() {
        check(&[], "example.com", "93.184.216.34", 80, true);
        check(&[], "example.com", "10.0.0.1", 80, false);
        check(&["10.0.0.0/8"], "example.com", "10.0.0.1", 80, true);
        check(&["10.0.0.0/8"], "example.com", "::ffff:10.0.0.1", 80, true);
        check(&["10.0.0.0/8"], "example.com", "64:ff9b::a00:1", 80, false);
        check(&["10.0.0.0/8"], "example.com", "11.0.0.1", 80, true);
        check(&["10.0.0.0/8"], "example.com", "127.0.0.1", 80, false);
        check(&["::ffff:127.0.0.1"], "127.0.0.1", "127.0.0.1", 80, true);
    }

    #[test]
    fn an_allow_list_only_guard_refuses_public_addresses() {
        let guard = AddressGuard::allow_list_only(vec![
            "*.localhost".parse().unwrap(),
            "8.8.8.8".parse().unwrap(),
        ]);
        let check_address = |host, address: &str| guard.check(host, address.parse().unwrap(), 80);
        assert!(check_address("a.localhost", "127.0.0.1").is_ok());
        assert!(check_address("8.8.8.8", "8.8.8.8").is_ok());
        let refused = check_address("example.com", "93.184.216.34").unwrap_err();
        assert_eq!(refused.name(), "public");
        assert_eq!(check_address("example.com", "127.0.0.1").unwrap_err().name(), "address");
    }

    #[test]
    fn a_listed_name_allows_only_what_it_resolves_to() {
        check(&["localhost"], "localhost", "127.0.0.1", 80, true);
        check(&["localhost"], "LOCALHOST.", "::1", 80, true);
        check(&["localhost"], "example.com", "127.0.0.1", 80, false);
        check(&["localhost"], "127.0.0.1", "127.0.0.1", 80, false);
        check(&["localhost:8080"], "localhost", "127.0.0.1", 80, false);
        check(&["localhost:8080"], "localhost", "127.0.0.1", 8080, true);
        check(&["127.0.0.1:8080"], "127.0.0.1", "127.0.0.1", 8080, true);
        check(&["[::1]:8080"], "[::1]", "::1", 8080, true);
        check(&["*.lan"], "nas.lan", "192.168.1.2", 443, true);
        check(&["*.lan"], "lan", "192.168.1.2", 443, false);
    }

    #[test]
    fn an_invalid_entry_is_an_error() {
        for text in ["", "10.0.0.0/40", "https://localhost", "localhost/x", "a b"] {
            assert_eq!(
                text.parse::<AllowEntry>(),
                Err(InvalidAllowEntry::Unknown(text.to_owned()))
            );
        }
        let error = "me:hunter2@localhost".parse::<AllowEntry>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }

    #[test]
    fn an_ambiguous_ipv6_address_is_an_error() {
        let (text, address) = ("::1:8080".to_owned(), Ipv6Addr::LOCALHOST);
        let ambiguous = InvalidAllowEntry::Ambiguous { text, address, port: 8080 };
        assert_eq!("::1:8080".parse::<AllowEntry>(), Err(ambiguous.clone()));
        let message = ambiguous.to_string();
        for suggestion in ["[::1]:8080", "::1:8080/128"] {
            assert!(message.contains(&format!("`{suggestion}`")), "{message}");
            assert!(suggestion.parse::<AllowEntry>().is_ok());
        }
        for text in ["::1", "2001:db8::1", "2001:db8::1:5", "1:2:3:4:5:6:7:80", "fe80::a:b"] {
            assert!(text.parse::<AllowEntry>().is_ok(), "{text}");
        }
    }
}
