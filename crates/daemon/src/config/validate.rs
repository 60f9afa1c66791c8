//! Validation of the raw configuration.

use std::path::Path;

use freshet_engine::BudgetProfile;
use freshet_fetch::{
    BYTE_SIZE_FORMATS, FetchSettings, RawByteSize, parse_byte_size, parse_duration,
};
use freshet_model::Budget;
use freshet_store::Retention;
use url::Url;

use super::{
    ConcurrencySetting, Config, MissingSecrets, RawConcurrency, RawConfig, RawKeep, RawServer,
    ServerConfig,
};
use super::{notify, signals};
use crate::detectors::DetectionRules;
use crate::goal::parse_goal;

const DEFAULT_BUDGET: &str = "500/day";
const DEFAULT_SERVER_CONNECTIONS: u32 = 4096;
const DEFAULT_HOST_GAP_DAYS: f64 = 1.0 / 86_400.0;

pub(super) fn validate(raw: RawConfig, path: &Path) -> Result<Config, String> {
    let budget: Budget = raw
        .budget
        .as_deref()
        .unwrap_or(DEFAULT_BUDGET)
        .parse()
        .map_err(|error: freshet_model::InvalidBudget| format!("budget: {error}"))?;
    let bytes = raw.bytes.as_deref().map(parse_bytes_per_day).transpose()?;
    let objective = parse_goal(raw.objective.as_deref().unwrap_or("harmonic"))
        .map_err(|error| format!("objective: {error}"))?;
    if let Some(burst) = raw.burst.filter(|&it| !(it >= 1.0 && it.is_finite())) {
        return Err(format!("burst: `{burst}` is not a number of fetches, 1 or more"));
    }
    let gap = match raw.hosts.gap.as_deref() {
        None => DEFAULT_HOST_GAP_DAYS,
        Some("0" | "0s") => 0.0,
        Some(text) => parse_duration_days(text).ok_or_else(|| {
            format!("hosts.gap: `{text}` is not a duration, such as \"1s\", \"250ms\" or \"2min\"")
        })?,
    };
    let connections = raw.hosts.connections.unwrap_or(1);
    if connections == 0 {
        return Err("hosts.connections: `0` allows no fetch; expected 1 or more".to_owned());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let store = folder.join(raw.store.unwrap_or_else(|| "freshet.db".into()));
    let rules = raw.rules.into_iter().map(|rule| (rule.pattern, rule.detect)).collect();
    let (fetch, missing) = FetchSettings::from_raw_allow_missing_secrets(raw.fetch)
        .map_err(|error| format!("fetch: {error}"))?;
    let missing = missing.map(|error| format!("fetch: {error}"));
    let (notify, mail) = notify::validate_notify(raw.notify, raw.mail, raw.commands)?;
    let signals = signals::validate_signals(raw.signals)?;
    let mut server = validate_server(raw.server)?;
    // Hubs that call back use this host name.
    server.hosts.extend(signals.callback_host().filter(|name| !server.hosts.contains(name)));
    let secrets = MissingSecrets { config_path: path.to_owned(), fetch: missing, mail };
    Ok(Config {
        budget,
        bytes_per_day: bytes,
        burst: raw.burst,
        objective,
        profile: parse_profile(raw.hours.weights)?,
        host_gap_days: gap,
        host_connections: connections,
        fetch_concurrency: parse_concurrency(raw.concurrency)?,
        store,
        retention: parse_retention(&raw.keep)?,
        max_store_bytes: raw.keep.size.as_ref().map(parse_store_size).transpose()?,
        fetch,
        detection_rules: DetectionRules::new(raw.detect, rules)?,
        server,
        alert_thresholds: notify::validate_alerts(&raw.watch)?,
        notify,
        signals,
        missing_secrets: secrets,
        deprecation_hints: Vec::new(),
    })
}

fn validate_server(raw: RawServer) -> Result<ServerConfig, String> {
    let listen = match raw.listen.as_deref() {
        None => Some(ServerConfig::DEFAULT_LISTEN),
        Some("off") => None,
        Some(text) => Some(text.parse().map_err(|_| {
            format!(
                "server.listen: `{text}` is neither an address with a port, such as \"{}\", nor \
                 \"off\"",
                ServerConfig::DEFAULT_LISTEN
            )
        })?),
    };
    let invalid = |name: &&String| name.is_empty() || name.contains(['/', ' ', '@', ':']);
    if let Some(name) = raw.hosts.iter().find(invalid) {
        return Err(format!(
            "server.hosts: `{name}` is not a host name, such as \"freshet.example.com\""
        ));
    }
    let mut hosts: Vec<_> = raw.hosts.iter().map(|name| name.to_ascii_lowercase()).collect();
    let url = raw.url.as_deref().map(|url| public_url("server.url", url)).transpose()?;
    let public_host = url.as_ref().and_then(|url| url.host_str()).map(str::to_owned);
    hosts.extend(public_host.filter(|name| !hosts.contains(name)));
    let url = url.map(|url| url.as_str().trim_end_matches('/').to_owned());
    let connections = raw.connections.unwrap_or(DEFAULT_SERVER_CONNECTIONS);
    if connections == 0 {
        return Err("server.connections: `0` allows no client; expected 1 or more".to_owned());
    }
    Ok(ServerConfig { listen, is_listen_explicit: raw.listen.is_some(), url, hosts, connections })
}

/// Parses the public base URL of the service.
pub(super) fn public_url(field: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        let is_bare = url.query().is_none() && url.fragment().is_none();
        is_web && is_bare && url.username().is_empty() && url.password().is_none()
    });
    url.ok_or_else(|| {
        format!(
            "{field}: `{text}` is not a public base URL, such as \"https://freshet.example.com\""
        )
    })
}

/// Parses a duration into days; accepts weeks too.
pub(crate) fn parse_duration_days(text: &str) -> Option<f64> {
    if let Some(weeks) = text.trim().strip_suffix('w') {
        let weeks: f64 = weeks.trim().parse().ok()?;
        return (weeks > 0.0 && weeks.is_finite()).then_some(7.0 * weeks);
    }
    parse_duration(text).map(|time| time.as_secs_f64() / 86_400.0)
}

fn parse_bytes_per_day(text: &str) -> Result<f64, String> {
    let amount = text.trim().strip_suffix("/day").map(|it| RawByteSize::Text(it.trim().to_owned()));
    amount.as_ref().and_then(parse_byte_size).map(|bytes| bytes as f64).ok_or_else(|| {
        format!("bytes: `{text}` is not a size per day, such as \"2GB/day\": {BYTE_SIZE_FORMATS}")
    })
}

fn parse_store_size(raw: &RawByteSize) -> Result<u64, String> {
    let written = match raw {
        RawByteSize::Text(text) => format!("`{text}`"),
        RawByteSize::Bytes(bytes) => bytes.to_string(),
    };
    parse_byte_size(raw).ok_or_else(|| {
        format!("keep.size: {written} is not a size above 0, such as \"10GB\": {BYTE_SIZE_FORMATS}")
    })
}

fn parse_profile(weights: Option<Vec<f64>>) -> Result<BudgetProfile, String> {
    let Some(weights) = weights else { return Ok(BudgetProfile::EVEN) };
    let found = weights.len();
    let weights = <[f64; 24]>::try_from(weights).map_err(|_| {
        format!("hours.weights: expected 24 numbers, one for each hour, got {found}")
    })?;
    BudgetProfile::new(weights).map_err(|error| {
        format!(
            "hours.weights: `{}` is not a weight: each must be 0 or more, and one above 0",
            error.value
        )
    })
}

fn parse_concurrency(raw: Option<RawConcurrency>) -> Result<ConcurrencySetting, String> {
    match raw {
        None => Ok(ConcurrencySetting::Auto(Config::DEFAULT_MAX_FETCHERS)),
        Some(RawConcurrency::Text(text)) if text == "auto" => {
            Ok(ConcurrencySetting::Auto(Config::DEFAULT_MAX_FETCHERS))
        }
        Some(RawConcurrency::Number(fetchers @ 0..=4096)) => {
            Ok(ConcurrencySetting::Fixed(fetchers))
        }
        Some(RawConcurrency::Number(fetchers)) => {
            Err(format!("concurrency: `{fetchers}` is not a number from 0 to 4096"))
        }
        Some(RawConcurrency::Text(text)) => {
            Err(format!("concurrency: `{text}` is neither \"auto\" nor a number"))
        }
    }
}

fn parse_retention(keep: &RawKeep) -> Result<Retention, String> {
    let default = Retention::default();
    let days = keep.days.unwrap_or(default.version_days);
    if days.is_nan() || days <= 0.0 {
        return Err(format!("keep.days: `{days}` is not a number of days above 0"));
    }
    let change_days = keep.changes.unwrap_or(default.change_days);
    if change_days.is_nan() || change_days <= 0.0 {
        return Err(format!("keep.changes: `{change_days}` is not a number of days above 0"));
    }
    Ok(Retention {
        versions_per_source: keep.versions.unwrap_or(default.versions_per_source).max(1),
        version_days: days,
        change_days,
        observations_per_source: keep
            .observations
            .unwrap_or(default.observations_per_source)
            .max(1),
        ..default
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_at(url: &str) -> Result<ServerConfig, String> {
        let hosts = vec!["Other.example".to_owned()];
        validate_server(RawServer { url: Some(url.to_owned()), hosts, ..RawServer::default() })
    }

    #[test]
    fn the_host_of_the_public_url_is_accepted() {
        let it = server_at("https://Freshet.example/api/").unwrap();
        assert_eq!(it.url.as_deref(), Some("https://freshet.example/api"));
        assert_eq!(it.hosts, ["other.example", "freshet.example"]);
        let it = server_at("https://other.example:8443").unwrap();
        assert_eq!(it.url.as_deref(), Some("https://other.example:8443"));
        assert_eq!(it.hosts, ["other.example"]);
    }

    #[test]
    fn an_invalid_public_url_is_rejected() {
        for invalid in [
            "",
            "freshet.example",
            "ftp://a.example/",
            "https://u:p@a.example/",
            "https://a.example/?x",
        ] {
            let error = server_at(invalid).unwrap_err();
            assert!(error.starts_with("server.url: "), "{error}");
        }
    }
}
