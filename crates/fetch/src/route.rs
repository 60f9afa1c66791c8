//! Route of a connection.

use url::{Host, Url};

use crate::settings::FetchSettings;

/// Destination of a connection. Requests with the same route can share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Route {
    pub(crate) tls: bool,
    /// Host as the URL parser writes it: canonical addresses, names in ASCII and lower case.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Index of the URL rule that sets the proxy.
    pub(crate) proxy: Option<usize>,
}

impl Route {
    /// Returns the route to an http or https URL.
    pub(crate) fn from_url(url: &Url, settings: &FetchSettings) -> Option<Self> {
        let tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let host = url.host_str().filter(|host| !host.is_empty())?.to_owned();
        let proxy = settings.proxy_for(url).map(|(number, _)| number);
        Some(Self { tls, host, port: url.port_or_known_default()?, proxy })
    }

    /// True if the host is an IP address.
    pub(crate) fn is_literal(&self) -> bool {
        !matches!(Host::parse(&self.host), Ok(Host::Domain(_)))
    }
}
