//! From names to addresses. What is found here is judged and connected to as it is: nobody looks it up
//! a second time.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use url::Host;

use crate::error::FetchError;
use crate::settings::Settings;

/// Names whose addresses are kept for as long as their name servers allow.
const KEPT_NAMES: u64 = 8192;
/// A name server is asked so often.
const ATTEMPTS: u32 = 2;

/// Knows where names are.
pub(crate) struct Resolver {
    fixed: HashMap<String, Vec<IpAddr>>,
    servers: Vec<SocketAddr>,
    patience: Duration,
    /// Made by the first who needs it, within a runtime.
    dns: OnceLock<Option<TokioResolver>>,
}

impl Resolver {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            fixed: settings.resolve.clone(),
            servers: settings.dns.clone(),
            patience: settings.limits.connect / (2 * ATTEMPTS),
            dns: OnceLock::new(),
        }
    }

    /// All addresses of a host, in the order in which they are worth a try.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, FetchError> {
        let nobody = || FetchError::NoSuchHost { host: host.to_owned() };
        // By the parser of URLs: what it takes for an address is never a name.
        let name = match Host::parse(host).map_err(|_| nobody())? {
            Host::Ipv4(address) => return Ok(vec![address.into()]),
            Host::Ipv6(address) => return Ok(vec![address.into()]),
            Host::Domain(name) => name,
        };
        if let Some(addresses) = self.fixed.get(name.trim_end_matches('.')) {
            return Ok(addresses.clone());
        }
        let unknown = || FetchError::NoNameServer { host: host.to_owned() };
        let dns = self.dns.get_or_init(|| self.system()).as_ref().ok_or_else(unknown)?;
        match dns.lookup_ip(name).await {
            Ok(found) => Ok(in_turns(found.iter().collect())),
            Err(error) if error.is_no_records_found() || error.is_nx_domain() => Err(nobody()),
            Err(_) => Err(unknown()),
        }
    }

    fn system(&self) -> Option<TokioResolver> {
        let mut builder = if self.servers.is_empty() {
            // Without a configuration there is still the hosts file.
            TokioResolver::builder_tokio().unwrap_or_else(|_| {
                let runtime = TokioRuntimeProvider::default();
                let nobody = ResolverConfig::from_name_servers(Vec::new());
                TokioResolver::builder_with_config(nobody, runtime)
            })
        } else {
            let servers = self.servers.iter().map(|server| {
                let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
                for connection in &mut connections {
                    connection.port = server.port();
                }
                NameServerConfig::new(server.ip(), true, connections)
            });
            let config = ResolverConfig::from_name_servers(servers.collect());
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        let options = builder.options_mut();
        options.cache_size = KEPT_NAMES;
        options.timeout = self.patience;
        options.attempts = ATTEMPTS as usize;
        builder.build().ok()
    }
}

/// IPv6 and IPv4 by turns, so that a machine without one of them gets to the other soon.
fn in_turns(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|it| it.is_ipv6());
    let longer = v6.len().max(v4.len());
    (0..longer).flat_map(|at| [v6.get(at), v4.get(at)]).flatten().copied().collect()
}
