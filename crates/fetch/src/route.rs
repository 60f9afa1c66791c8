//! Where a connection goes to.

use url::{Host, Url};

use crate::settings::Settings;

/// Where a connection goes to. Requests with the same route can share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) tls: bool,
    /// As the parser of URLs writes it: addresses in their usual form, names in ASCII and lower case.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The number of the rule whose proxy it goes through.
    pub(crate) proxy: Option<usize>,
}

impl Route {
    /// The route to a URL of http or https.
    pub(crate) fn of(url: &Url, settings: &Settings) -> Option<Self> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?.to_owned();
        let proxy = settings.proxy_for(url).map(|(number, _)| number);
        Some(Self { tls, host, port: url.port_or_known_default()?, proxy })
    }

    /// Whether the host is an address, not a name.
    pub(crate) fn is_literal(&self) -> bool {
        !matches!(Host::parse(&self.host), Ok(Host::Domain(_)))
    }
}
