//! From what is written to what can be meant.

use std::path::Path;

use freshet_engine::Profile;
use freshet_fetch::{RawSize, SIZES, Settings, size, time};
use freshet_model::Budget;
use freshet_store::Retention;
use url::Url;

use super::{ConcurrencySetting, Config, Raw, RawCrew, RawKeep, RawServer, Secrets, Server};
use super::{notify, signals};
use crate::detectors::Rules;
use crate::goal::goal;

/// What is spent if nothing is said.
const BUDGET: &str = "500/day";
/// Connections to the service at a time.
const CONNECTIONS: u32 = 4096;
const GAP: f64 = 1.0 / 86_400.0;

pub(super) fn check(raw: Raw, path: &Path) -> Result<Config, String> {
    let budget: Budget = raw
        .budget
        .as_deref()
        .unwrap_or(BUDGET)
        .parse()
        .map_err(|why: freshet_model::InvalidBudget| format!("budget: {why}"))?;
    let bytes = raw.bytes.as_deref().map(bytes_a_day).transpose()?;
    let objective = goal(raw.objective.as_deref().unwrap_or("harmonic"))
        .map_err(|why| format!("objective: {why}"))?;
    if let Some(burst) = raw.burst.filter(|&it| !(it >= 1.0 && it.is_finite())) {
        return Err(format!("burst: {burst} is not a number of fetches, 1 or more"));
    }
    let gap = match raw.hosts.gap.as_deref() {
        None => GAP,
        Some("0" | "0s") => 0.0,
        Some(text) => days(text).ok_or_else(|| {
            format!("hosts.gap: `{text}` is not a time such as \"1s\", \"250ms\" or \"2min\"")
        })?,
    };
    let connections = raw.hosts.connections.unwrap_or(1);
    if connections == 0 {
        return Err("hosts.connections: 0 connections fetch nothing".to_owned());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let store = folder.join(raw.store.unwrap_or_else(|| "freshet.db".into()));
    let rules = raw.rules.into_iter().map(|rule| (rule.pattern, rule.detect)).collect();
    let (fetch, missing) =
        Settings::but_secrets(raw.fetch).map_err(|why| format!("fetch: {why}"))?;
    let missing = missing.map(|why| format!("fetch: {why}"));
    let (notify, mail) = notify::check(raw.notify, raw.mail, raw.commands)?;
    let signals = signals::check(raw.signals)?;
    let mut server = server(raw.server)?;
    // Whoever is told to call back there calls it so.
    server.hosts.extend(signals.host().filter(|name| !server.hosts.contains(name)));
    let secrets = Secrets { path: path.to_owned(), fetch: missing, mail };
    Ok(Config {
        budget,
        bytes,
        burst: raw.burst,
        objective,
        profile: profile(raw.hours.weights)?,
        gap,
        connections,
        crew: crew(raw.crew)?,
        store,
        retention: retention(&raw.keep)?,
        size: raw.keep.size.as_ref().map(store_size).transpose()?,
        fetch,
        detect: Rules::new(raw.detect, rules)?,
        server,
        watch: notify::watch(&raw.watch)?,
        notify,
        signals,
        secrets,
    })
}

fn server(raw: RawServer) -> Result<Server, String> {
    let listen = match raw.listen.as_deref() {
        None => Some(Server::LISTEN),
        Some("off") => None,
        Some(text) => Some(text.parse().map_err(|_| {
            format!(
                "server.listen: `{text}` is neither an address with a port, such as \"{}\", nor \
                 \"off\"",
                Server::LISTEN
            )
        })?),
    };
    let odd = |name: &&String| name.is_empty() || name.contains(['/', ' ', '@', ':']);
    if let Some(name) = raw.hosts.iter().find(odd) {
        return Err(format!(
            "server.hosts: `{name}` is not the name of a host, such as \"freshet.example.com\""
        ));
    }
    let mut hosts: Vec<_> = raw.hosts.iter().map(|name| name.to_ascii_lowercase()).collect();
    let url = raw.url.as_deref().map(|url| public("server.url", url)).transpose()?;
    let named = url.as_ref().and_then(|url| url.host_str()).map(str::to_owned);
    hosts.extend(named.filter(|name| !hosts.contains(name)));
    let url = url.map(|url| url.as_str().trim_end_matches('/').to_owned());
    let connections = raw.connections.unwrap_or(CONNECTIONS);
    if connections == 0 {
        return Err("server.connections: 0 connections serve nobody".to_owned());
    }
    Ok(Server { listen, said: raw.listen.is_some(), url, hosts, connections })
}

/// Where others reach the service.
pub(super) fn public(field: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        let is_bare = url.query().is_none() && url.fragment().is_none();
        is_web && is_bare && url.username().is_empty() && url.password().is_none()
    });
    url.ok_or_else(|| {
        format!("{field}: `{text}` is not an address such as \"https://freshet.example.com\"")
    })
}

/// A time as days; also weeks.
pub(crate) fn days(text: &str) -> Option<f64> {
    if let Some(weeks) = text.trim().strip_suffix('w') {
        let weeks: f64 = weeks.trim().parse().ok()?;
        return (weeks > 0.0 && weeks.is_finite()).then_some(7.0 * weeks);
    }
    time(text).map(|time| time.as_secs_f64() / 86_400.0)
}

fn bytes_a_day(text: &str) -> Result<f64, String> {
    let amount = text.trim().strip_suffix("/day").map(|it| RawSize::Text(it.trim().to_owned()));
    amount
        .as_ref()
        .and_then(size)
        .map(|bytes| bytes as f64)
        .ok_or_else(|| format!("bytes: `{text}` is not a size a day such as \"2GB/day\": {SIZES}"))
}

fn store_size(raw: &RawSize) -> Result<u64, String> {
    let written = match raw {
        RawSize::Text(text) => format!("`{text}`"),
        RawSize::Bytes(bytes) => bytes.to_string(),
    };
    size(raw).ok_or_else(|| {
        format!("keep.size: {written} is not a size above 0 such as \"10GB\": {SIZES}")
    })
}

fn profile(weights: Option<Vec<f64>>) -> Result<Profile, String> {
    let Some(weights) = weights else { return Ok(Profile::EVEN) };
    let found = weights.len();
    let weights = <[f64; 24]>::try_from(weights)
        .map_err(|_| format!("hours.weights: {found} numbers, not one for each of the 24 hours"))?;
    Profile::new(weights).map_err(|why| {
        format!("hours.weights: {} cannot be a weight, and not all can be 0", why.value)
    })
}

fn crew(raw: Option<RawCrew>) -> Result<ConcurrencySetting, String> {
    match raw {
        None => Ok(ConcurrencySetting::Auto(Config::FETCHERS)),
        Some(RawCrew::Text(text)) if text == "auto" => {
            Ok(ConcurrencySetting::Auto(Config::FETCHERS))
        }
        Some(RawCrew::Number(fetchers @ 0..=4096)) => Ok(ConcurrencySetting::Fixed(fetchers)),
        Some(RawCrew::Number(fetchers)) => {
            Err(format!("crew: {fetchers} is not from 0 to 4096 fetchers"))
        }
        Some(RawCrew::Text(text)) => {
            Err(format!("crew: `{text}` is neither \"auto\" nor a number"))
        }
    }
}

fn retention(keep: &RawKeep) -> Result<Retention, String> {
    let usual = Retention::default();
    let days = keep.days.unwrap_or(usual.days);
    if days.is_nan() || days <= 0.0 {
        return Err(format!("keep.days: {days} is not a number of days"));
    }
    let change_days = keep.changes.unwrap_or(usual.change_days);
    if change_days.is_nan() || change_days <= 0.0 {
        return Err(format!("keep.changes: {change_days} is not a number of days"));
    }
    Ok(Retention {
        versions: keep.versions.unwrap_or(usual.versions).max(1),
        days,
        change_days,
        observations: keep.observations.unwrap_or(usual.observations).max(1),
        ..usual
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_at(url: &str) -> Result<Server, String> {
        let hosts = vec!["Other.example".to_owned()];
        server(RawServer { url: Some(url.to_owned()), hosts, ..RawServer::default() })
    }

    #[test]
    fn the_host_of_the_public_address_is_one_of_the_hosts() {
        let it = server_at("https://Freshet.example/api/").unwrap();
        assert_eq!(it.url.as_deref(), Some("https://freshet.example/api"));
        assert_eq!(it.hosts, ["other.example", "freshet.example"]);
        let it = server_at("https://other.example:8443").unwrap();
        assert_eq!(it.url.as_deref(), Some("https://other.example:8443"));
        assert_eq!(it.hosts, ["other.example"]);
    }

    #[test]
    fn what_is_no_public_address_is_refused() {
        for odd in [
            "",
            "freshet.example",
            "ftp://a.example/",
            "https://u:p@a.example/",
            "https://a.example/?x",
        ] {
            let why = server_at(odd).unwrap_err();
            assert!(why.starts_with("server.url: "), "{why}");
        }
    }
}
