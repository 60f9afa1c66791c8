//! Which addresses may be connected to.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use thiserror::Error;

use crate::pattern::Pattern;
use crate::secret::shown;
use crate::zone::Zone;

/// Lets connections through to public addresses, and to what its owner opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard {
    allow: Vec<Opening>,
    /// Whether what is public stays out too, unless it is opened.
    is_closed: bool,
}

/// Something that an owner opened: a network (`10.0.0.0/8`), an address or a name, also with a port
/// (`127.0.0.1:8080`, `localhost`, `*.lan:80`). A name opens whatever it resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opening {
    /// All addresses of a network.
    Network(IpNet),
    /// A name or an address as it is written in a URL.
    Host(Pattern),
}

/// A text that opens nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidOpening {
    /// Nothing that can be opened.
    #[error("`{0}` is neither a network such as 10.0.0.0/8, an address nor a name")]
    Unknown(String),
    /// An address, or another with a port.
    #[error(
        "`{text}` is an address or one with a port: say `[{address}]:{port}` if the port is meant, \
         `{text}/128` if not"
    )]
    Ambiguous {
        /// What was given.
        text: String,
        /// What stands before the last colon.
        address: Ipv6Addr,
        /// What follows it.
        port: u16,
    },
}

/// Why the guard lets something not through.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Only http and https are fetched, and what was opened beside them.
    #[error("`{scheme}:` is not opened for sources")]
    Scheme {
        /// The URL's scheme.
        scheme: String,
    },
    /// A redirect to what is neither http nor https: no redirect leads to files, commands or anything
    /// else, whatever is opened.
    #[error("a redirect leads to `{scheme}:`, and none is followed to other than http and https")]
    Redirect {
        /// The scheme of where it leads to.
        scheme: String,
    },
    /// An address that is not public.
    #[error("{host} is at the {zone} address {address}")]
    Address {
        /// As the URL has it.
        host: String,
        /// Where a connection would have gone to.
        address: IpAddr,
        /// What kind of address that is.
        zone: Zone,
    },
    /// A public address, where only what is opened is let through.
    #[error("{host} is at {address}, and only what `allow` opens is fetched")]
    Public {
        /// As the URL has it.
        host: String,
        /// Where a connection would have gone to.
        address: IpAddr,
    },
    /// A file outside of the directories that were opened.
    #[error("{path} is outside of the directories that are opened")]
    File {
        /// The path after links were followed.
        path: String,
    },
    /// A command that has no name in the settings.
    #[error("there is no command `{name}` in the settings")]
    Command {
        /// As the URL has it.
        name: String,
    },
}

impl Refusal {
    /// Its name for programs.
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

/// An address that the guard let through. Connections are made to nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checked(SocketAddr);

impl Checked {
    pub(crate) fn address(self) -> SocketAddr {
        self.0
    }

    /// Of a proxy: its owner put it into the settings.
    pub(crate) fn by_owner(address: SocketAddr) -> Self {
        Self(address)
    }
}

impl Guard {
    /// A guard that lets through what is public, and these.
    #[must_use]
    pub fn new(allow: Vec<Opening>) -> Self {
        Self { allow, is_closed: false }
    }

    /// A guard that lets through these and nothing else.
    #[must_use]
    pub fn closed(allow: Vec<Opening>) -> Self {
        Self { allow, is_closed: true }
    }

    /// Judges one address that a host resolved to, or is.
    pub(crate) fn judge(&self, host: &str, address: IpAddr, port: u16) -> Result<Checked, Refusal> {
        // A mapped address is connected to as what it carries, and so judged and opened.
        let address = address.to_canonical();
        let is_open = self.allow.iter().any(|it| it.covers(host, address, port));
        match Zone::of(address) {
            Some(zone) if !is_open => {
                Err(Refusal::Address { host: host.to_owned(), address, zone })
            }
            None if self.is_closed && !is_open => {
                Err(Refusal::Public { host: host.to_owned(), address })
            }
            _ => Ok(Checked(SocketAddr::new(address, port))),
        }
    }
}

impl Opening {
    fn covers(&self, host: &str, address: IpAddr, port: u16) -> bool {
        match self {
            Self::Network(network) => network.contains(&address),
            Self::Host(pattern) => pattern.matches_host(host, port),
        }
    }
}

impl FromStr for Opening {
    type Err = InvalidOpening;

    fn from_str(text: &str) -> Result<Self, InvalidOpening> {
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self::Network(network));
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return match with_port(text) {
                Some((address, port)) => {
                    Err(InvalidOpening::Ambiguous { text: text.to_owned(), address, port })
                }
                None => Ok(Self::Network(address.to_canonical().into())),
            };
        }
        let unknown = || InvalidOpening::Unknown(shown(text));
        // `10.*` looks like a network, but `10.example.com` is a name.
        let host = text.split(':').next().unwrap_or_default();
        let is_like_an_address = host.contains(|it: char| it.is_ascii_digit())
            && host.contains('*')
            && host.chars().all(|it| it.is_ascii_digit() || matches!(it, '.' | '*'));
        if is_like_an_address {
            return Err(unknown());
        }
        match text.parse::<Pattern>() {
            Ok(pattern) if pattern.is_host_only() => Ok(Self::Host(pattern)),
            _ => Err(unknown()),
        }
    }
}

/// What an IPv6 address would be with its last part taken for a port. One digit is no port that
/// anybody means.
fn with_port(text: &str) -> Option<(Ipv6Addr, u16)> {
    let (address, port) = text.rsplit_once(':')?;
    let is_port = port.len() > 1 && port.bytes().all(|it| it.is_ascii_digit());
    Some((address.parse().ok()?, port.parse().ok().filter(|_| is_port)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(allow: &[&str], host: &str, address: &str, port: u16, expect: bool) {
        let guard = Guard::new(allow.iter().map(|it| it.parse().unwrap()).collect());
        let judged = guard.judge(host, address.parse().unwrap(), port);
        assert_eq!(judged.is_ok(), expect, "{allow:?}: {host} at {address}: {judged:?}");
    }

    #[test]
    fn stars_are_for_names() {
        for text in ["10.*", "192.168.1.*", "127.0.0.*:80", "*.0.0.1"] {
            assert_eq!(text.parse::<Opening>(), Err(InvalidOpening::Unknown(text.to_owned())));
        }
        for text in ["*", "*.lan:80", "web*.lan", "10.example.*"] {
            assert!(text.parse::<Opening>().is_ok(), "{text}");
        }
    }

    #[test]
    fn only_what_is_public_or_opened_passes() {
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
    fn where_all_is_closed_only_what_is_opened_passes() {
        let guard = Guard::closed(vec!["*.localhost".parse().unwrap(), "8.8.8.8".parse().unwrap()]);
        let judge = |host, address: &str| guard.judge(host, address.parse().unwrap(), 80);
        assert!(judge("a.localhost", "127.0.0.1").is_ok());
        assert!(judge("8.8.8.8", "8.8.8.8").is_ok());
        let refused = judge("example.com", "93.184.216.34").unwrap_err();
        assert_eq!(refused.name(), "public");
        assert_eq!(judge("example.com", "127.0.0.1").unwrap_err().name(), "address");
    }

    #[test]
    fn names_open_what_they_resolve_to_and_nothing_else() {
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
    fn what_opens_nothing_is_refused() {
        for text in ["", "10.0.0.0/40", "https://localhost", "localhost/x", "a b"] {
            assert_eq!(text.parse::<Opening>(), Err(InvalidOpening::Unknown(text.to_owned())));
        }
        let error = "me:hunter2@localhost".parse::<Opening>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }

    #[test]
    fn an_address_that_looks_like_one_with_a_port_is_asked_about() {
        let (text, address) = ("::1:8080".to_owned(), Ipv6Addr::LOCALHOST);
        let ambiguous = InvalidOpening::Ambiguous { text, address, port: 8080 };
        assert_eq!("::1:8080".parse::<Opening>(), Err(ambiguous.clone()));
        let said = ambiguous.to_string();
        for way_out in ["[::1]:8080", "::1:8080/128"] {
            assert!(said.contains(&format!("`{way_out}`")), "{said}");
            assert!(way_out.parse::<Opening>().is_ok());
        }
        for text in ["::1", "2001:db8::1", "2001:db8::1:5", "1:2:3:4:5:6:7:80", "fe80::a:b"] {
            assert!(text.parse::<Opening>().is_ok(), "{text}");
        }
    }
}
