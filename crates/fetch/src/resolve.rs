//! From names to addresses. What is found here is judged and connected to as it is: nobody looks it up
//! a second time.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
use tokio::time::timeout;
use url::Host;

use crate::error::FetchError;
use crate::settings::Settings;

/// Names whose addresses are kept for as long as their name servers allow.
const KEPT_NAMES: u64 = 8192;
/// A name server is asked so often.
const ATTEMPTS: u32 = 2;
/// With addresses of one kind in hand, the other kind is waited for so long: some name servers never
/// answer for IPv6.
const GRACE: Duration = Duration::from_millis(300);

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
        let name = name_of(&name).ok_or_else(nobody)?;
        let unknown = |theirs| FetchError::NoNameServer { host: host.to_owned(), theirs };
        let dns = self.dns.get_or_init(|| self.system()).as_ref().ok_or_else(|| unknown(false))?;
        // Only a name without a dot is looked for in the domains of this machine. The address of another
        // name would be none of this one.
        let found = if name.is_fqdn() {
            either(dns.ipv4_lookup(name.clone()), dns.ipv6_lookup(name)).await
        } else {
            dns.lookup_ip(name).await.map(|found| found.iter().collect())
        };
        match found {
            Ok(addresses) => Ok(in_turns(addresses)),
            Err(error) if error.is_no_records_found() || error.is_nx_domain() => Err(nobody()),
            // Of this name only: other names are answered by the same server.
            Err(NetError::Dns(DnsError::ResponseCode(ResponseCode::ServFail))) => {
                Err(unknown(true))
            }
            Err(_) => Err(unknown(false)),
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

/// A host as name servers know it: any bytes but too many of them (RFC 2181 §11). The library's own parser
/// wants names of hosts, and `_` is in use.
fn name_of(host: &str) -> Option<Name> {
    let labels = host.strip_suffix('.').unwrap_or(host);
    let mut name = Name::from_labels(labels.split('.').map(str::as_bytes)).ok()?;
    name.set_fqdn(host.contains('.'));
    Some(name)
}

/// The addresses of both kinds, or of the first that comes if the other does not come soon.
async fn either(
    v4: impl Future<Output = Result<Lookup, NetError>>,
    v6: impl Future<Output = Result<Lookup, NetError>>,
) -> Result<Vec<IpAddr>, NetError> {
    let (mut v4, mut v6) = (pin!(v4), pin!(v6));
    tokio::select! {
        first = &mut v4 => with_rest(first, v6).await,
        first = &mut v6 => with_rest(first, v4).await,
    }
}

async fn with_rest(
    first: Result<Lookup, NetError>,
    rest: impl Future<Output = Result<Lookup, NetError>>,
) -> Result<Vec<IpAddr>, NetError> {
    let addresses = |it: &Lookup| -> Vec<IpAddr> {
        it.answers().iter().filter_map(|record| record.data.ip_addr()).collect()
    };
    let found = first.as_ref().map(addresses).unwrap_or_default();
    if !found.is_empty() {
        let rest = timeout(GRACE, rest).await;
        let more = rest.ok().and_then(Result::ok).as_ref().map(addresses);
        return Ok([found, more.unwrap_or_default()].concat());
    }
    match (first, rest.await) {
        (_, Ok(lookup)) => Ok(addresses(&lookup)),
        // That there is none of one kind says nothing of the other.
        (Err(first), Err(other)) if other.is_no_records_found() => Err(first),
        (_, Err(other)) => Err(other),
    }
}

/// IPv6 and IPv4 by turns, so that a machine without one of them gets to the other soon.
fn in_turns(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|it| it.is_ipv6());
    let longer = v6.len().max(v4.len());
    (0..longer).flat_map(|at| [v6.get(at), v4.get(at)]).flatten().copied().collect()
}
