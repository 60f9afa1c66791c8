//! DNS resolution. The guard checks these addresses and the client connects to them: nothing is
//! looked up twice.

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
use crate::settings::FetchSettings;

/// Maximum number of names whose addresses are cached, for as long as their TTL allows.
const MAX_CACHED_NAMES: u64 = 8192;
/// Number of attempts per DNS server.
const ATTEMPTS: u32 = 2;
/// Once addresses of one family are known, wait this long for the other: some servers never answer
/// for IPv6.
const SECOND_FAMILY_TIMEOUT: Duration = Duration::from_millis(300);

/// Resolves host names.
pub(crate) struct Resolver {
    static_hosts: HashMap<String, Vec<IpAddr>>,
    servers: Vec<SocketAddr>,
    query_timeout: Duration,
    /// Created on first use, within a runtime.
    dns: OnceLock<Option<TokioResolver>>,
}

impl Resolver {
    pub(crate) fn new(settings: &FetchSettings) -> Self {
        Self {
            static_hosts: settings.static_hosts.clone(),
            servers: settings.dns_servers.clone(),
            query_timeout: settings.limits.connect_timeout / (2 * ATTEMPTS),
            dns: OnceLock::new(),
        }
    }

    /// Returns all addresses of a host in the order in which to try them.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, FetchError> {
        let no_such_host = || FetchError::NoSuchHost { host: host.to_owned() };
        // The URL parser decides: what it takes for an address is never a name.
        let name = match Host::parse(host).map_err(|_| no_such_host())? {
            Host::Ipv4(address) => return Ok(vec![address.into()]),
            Host::Ipv6(address) => return Ok(vec![address.into()]),
            Host::Domain(name) => name,
        };
        if let Some(addresses) = self.static_hosts.get(name.trim_end_matches('.')) {
            return Ok(addresses.clone());
        }
        let name = parse_name(&name).ok_or_else(no_such_host)?;
        let dns_failure = |servfail| FetchError::DnsFailure { host: host.to_owned(), servfail };
        let dns = self
            .dns
            .get_or_init(|| self.build_resolver())
            .as_ref()
            .ok_or_else(|| dns_failure(false))?;
        // Only a name without a dot is looked up in the search domains of this machine. For any
        // other name they could return the address of a different host.
        let lookup = if name.is_fqdn() {
            lookup_both_families(dns.ipv4_lookup(name.clone()), dns.ipv6_lookup(name)).await
        } else {
            dns.lookup_ip(name).await.map(|it| it.iter().collect())
        };
        match lookup {
            Ok(addresses) => Ok(interleave_families(addresses)),
            Err(error) if error.is_no_records_found() || error.is_nx_domain() => {
                Err(no_such_host())
            }
            // Affects this name only: the server answers for other names.
            Err(NetError::Dns(DnsError::ResponseCode(ResponseCode::ServFail))) => {
                Err(dns_failure(true))
            }
            Err(_) => Err(dns_failure(false)),
        }
    }

    fn build_resolver(&self) -> Option<TokioResolver> {
        let mut builder = if self.servers.is_empty() {
            // Without a system configuration, the hosts file still works.
            TokioResolver::builder_tokio().unwrap_or_else(|_| {
                let runtime = TokioRuntimeProvider::default();
                let no_servers = ResolverConfig::from_name_servers(Vec::new());
                TokioResolver::builder_with_config(no_servers, runtime)
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
        options.cache_size = MAX_CACHED_NAMES;
        options.timeout = self.query_timeout;
        options.attempts = ATTEMPTS as usize;
        builder.build().ok()
    }
}

/// Parses a host name as DNS does: any bytes, limited in length (RFC 2181 §11). The library's own
/// parser accepts only host names, but `_` is in use.
fn parse_name(host: &str) -> Option<Name> {
    let labels = host.strip_suffix('.').unwrap_or(host);
    let mut name = Name::from_labels(labels.split('.').map(str::as_bytes)).ok()?;
    name.set_fqdn(host.contains('.'));
    Some(name)
}

/// Returns the addresses of both families, or those of the first if the second is slow.
async fn lookup_both_families(
    v4: impl Future<Output = Result<Lookup, NetError>>,
    v6: impl Future<Output = Result<Lookup, NetError>>,
) -> Result<Vec<IpAddr>, NetError> {
    let (mut v4, mut v6) = (pin!(v4), pin!(v6));
    tokio::select! {
        first = &mut v4 => merge_lookups(first, v6).await,
        first = &mut v6 => merge_lookups(first, v4).await,
    }
}

async fn merge_lookups(
    first: Result<Lookup, NetError>,
    second: impl Future<Output = Result<Lookup, NetError>>,
) -> Result<Vec<IpAddr>, NetError> {
    let addresses = |it: &Lookup| -> Vec<IpAddr> {
        it.answers().iter().filter_map(|record| record.data.ip_addr()).collect()
    };
    let found = first.as_ref().map(addresses).unwrap_or_default();
    if !found.is_empty() {
        let second = timeout(SECOND_FAMILY_TIMEOUT, second).await;
        let more = second.ok().and_then(Result::ok).as_ref().map(addresses);
        return Ok([found, more.unwrap_or_default()].concat());
    }
    match (first, second.await) {
        (_, Ok(lookup)) => Ok(addresses(&lookup)),
        // A missing record of one family says nothing about the other.
        (Err(first), Err(other)) if other.is_no_records_found() => Err(first),
        (_, Err(other)) => Err(other),
    }
}

/// Alternates between IPv6 and IPv4, so that a machine with only one of them gets to it soon.
fn interleave_families(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let (v6, v4): (Vec<_>, Vec<_>) = addresses.into_iter().partition(|it| it.is_ipv6());
    let max_len = v6.len().max(v4.len());
    (0..max_len).flat_map(|index| [v6.get(index), v4.get(index)]).flatten().copied().collect()
}
