//! Hosts: status, rate limits and robots.txt.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use freshet_daemon::{HostStatus, Millis, RobotsSummary, read_robots};
use freshet_model::time_format;
use freshet_store::Host;
use serde::Deserialize;

use super::format;
use super::frame::{Frame, render_page};
use crate::app::App;
use crate::extractors::QueryParams;
use crate::problem::Problem;

/// Hosts per page.
const PAGE_SIZE: usize = 50;
/// Sources of a host are counted up to this number.
const MAX_COUNTED: u32 = 10_000;
/// Lines of robots.txt shown.
const MAX_ROBOTS_LINES: usize = 200;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/hosts", get(show))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HostsQuery {
    name: Option<String>,
    after: Option<u32>,
    all: Option<String>,
}

#[derive(Template)]
#[template(path = "hosts.html")]
struct HostsPage {
    frame: Frame,
    rows: Vec<HostRow>,
    is_all: bool,
    query: String,
    next: Option<u32>,
    has_hosts: bool,
}

#[derive(Template)]
#[template(path = "host.html")]
struct HostPage {
    frame: Frame,
    name: String,
    row: HostRow,
    price: String,
    sources: String,
    listed: String,
    changes: String,
    robots: Vec<RobotsRow>,
}

/// A host, formatted for a table.
pub(super) struct HostRow {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) state: String,
    pub(super) tone: &'static str,
    pub(super) min_interval: String,
    pub(super) price: String,
    pub(super) price_ratio: String,
    pub(super) is_saturated: bool,
    waiting: u64,
}

struct RobotsRow {
    url: String,
    read: String,
    outcome: String,
    delay: Option<String>,
    lines: Vec<(String, String)>,
    more: usize,
    sitemaps: Vec<String>,
}

impl HostRow {
    pub(super) fn new(
        name: String,
        status: Option<&HostStatus>,
        until: Option<Millis>,
        price: f64,
        now: Millis,
    ) -> Self {
        let link = format!("/hosts?name={}", super::url_encode(&name));
        let blocked_until =
            status.and_then(|it| it.available_at).or(until).filter(|free| *free > now + 5000);
        let (state, tone) = match (status, blocked_until) {
            (Some(status), blocked_until) if status.is_down => {
                let again = blocked_until.map_or_else(String::new, |at| {
                    format!(", next attempt {}", time_format::format_relative(at, now))
                });
                (format!("not responding: {} consecutive failures{again}", status.failures), "bad")
            }
            (Some(status), Some(blocked_until)) if status.failures > 0 => {
                let failures =
                    format::plural(u64::from(status.failures), "failure", "consecutive failures");
                (
                    format!(
                        "backing off after {failures}: next request {}",
                        time_format::format_relative(blocked_until, now)
                    ),
                    "warn",
                )
            }
            (_, Some(blocked_until)) => (
                format!(
                    "waiting: next request {}",
                    time_format::format_relative(blocked_until, now)
                ),
                "warn",
            ),
            (Some(status), None) if status.in_flight > 0 => (
                format!(
                    "{} in flight",
                    format::plural(u64::from(status.in_flight), "fetch", "fetches")
                ),
                "good",
            ),
            (Some(status), None) if status.failures > 0 => {
                let failures =
                    format::plural(u64::from(status.failures), "failure", "consecutive failures");
                (format!("retrying after {failures}"), "warn")
            }
            _ => ("ready".to_owned(), "good"),
        };
        let host_price = status.and_then(|it| it.price);
        Self {
            link,
            name,
            state,
            tone,
            min_interval: status.map_or_else(String::new, |it| {
                if it.gap_ms > 0 {
                    time_format::format_duration(it.gap_ms)
                } else {
                    "none".to_owned()
                }
            }),
            price: host_price.map_or_else(|| "–".to_owned(), format::number),
            price_ratio: match host_price {
                Some(host_price) if price > 0.0 => format::ratio(host_price / price),
                _ => String::new(),
            },
            is_saturated: host_price.is_some(),
            waiting: status.map_or(0, |it| it.candidates),
        }
    }
}

/// Returns table rows for hosts, in the same order.
pub(super) async fn host_rows(
    app: &App,
    hosts: Vec<Host>,
    price: f64,
    now: Millis,
) -> Result<Vec<HostRow>, Problem> {
    let known = app.handle.host_statuses(hosts.iter().map(|it| it.id).collect()).await?;
    let known: HashMap<u32, HostStatus> = known.into_iter().map(|it| (it.id, it)).collect();
    let row = |it: Host| HostRow::new(it.name, known.get(&it.id), it.cooldown_until, price, now);
    Ok(hosts.into_iter().map(row).collect())
}

/// Loads hosts by ID, in the same order.
pub(super) async fn hosts_by_id(app: &App, ids: Vec<u32>) -> Result<Vec<Host>, Problem> {
    app.read(move |reader| {
        let found = ids.into_iter().map(|id| reader.host(id));
        Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
    .await
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    QueryParams(query): QueryParams<HostsQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("hosts");
    let now = frame.now;
    let price = app.handle.plan().await?.price;
    if let Some(name) = query.name.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        return show_host(&app, frame, name.to_owned(), price).await;
    }
    let is_all = query.all.is_some() || query.after.is_some();
    let hosts = if is_all {
        app.read(move |reader| reader.list_hosts(query.after, PAGE_SIZE)).await?
    } else {
        let worst = app.handle.worst_hosts(PAGE_SIZE).await?;
        hosts_by_id(&app, worst.into_iter().map(|it| it.id).collect()).await?
    };
    let next = hosts.last().filter(|_| is_all && hosts.len() == PAGE_SIZE).map(|it| it.id);
    let has_hosts = app.handle.status().await?.sources > 0;
    render_page(&HostsPage {
        rows: host_rows(&app, hosts, price, now).await?,
        is_all,
        query: query.name.unwrap_or_default(),
        next,
        has_hosts,
        frame,
    })
}

async fn show_host(app: &App, frame: Frame, name: String, price: f64) -> Result<Response, Problem> {
    let now = frame.now;
    let query = name.clone();
    let found = app.read(move |reader| {
        let Some(host) = reader.find_host(&query)? else { return Ok(None) };
        let sources = reader.count_host_sources(host.id, MAX_COUNTED)?;
        let robots = read_robots(reader, &host.name)?;
        Ok(Some((host, sources, robots)))
    });
    let Some((host, sources, robots)) = found.await? else {
        return Err(Problem::not_found(format!("host `{name}` not found"))
            .with_hint("use the host name as in the URL, with the port if there is one"));
    };
    let mut rows = host_rows(app, vec![host], price, now).await?;
    let Some(row) = rows.pop() else { return Err(Problem::not_found("host not found")) };
    let more = if sources >= u64::from(MAX_COUNTED) { "more than " } else { "" };
    render_page(&HostPage {
        listed: format!("/sources?host={}", super::url_encode(&row.name)),
        changes: format!("/changes?host={}", super::url_encode(&row.name)),
        name: row.name.clone(),
        row,
        price: format::number(price),
        sources: format!("{more}{}", format::plural(sources, "source", "sources")),
        robots: robots.into_iter().map(|it| RobotsRow::new(it, now)).collect(),
        frame,
    })
}

impl RobotsRow {
    fn new(file: RobotsSummary, now: Millis) -> Self {
        let outcome = match (file.is_present, file.status, file.bytes) {
            (true, _, Some(bytes)) => {
                let truncated = if file.is_truncated { ", truncated" } else { "" };
                format!("found, {}{truncated}", format::bytes(bytes))
            }
            (true, ..) => "found".to_owned(),
            (false, Some(status @ 400..=499), _) => {
                format!("none ({status}): everything is allowed")
            }
            (false, Some(status), _) => format!("unavailable ({status}): nothing may be fetched"),
            (false, None, _) => "unavailable: nothing may be fetched".to_owned(),
        };
        let more = file.lines.len().saturating_sub(MAX_ROBOTS_LINES);
        let lines = file.lines.into_iter().take(MAX_ROBOTS_LINES);
        let lines =
            lines.map(|(number, line)| (number.map(|it| it.to_string()).unwrap_or_default(), line));
        Self {
            url: file.url,
            read: time_format::format_relative(file.read_at, now),
            outcome,
            delay: file.crawl_delay.map(time_format::format_duration),
            lines: lines.collect(),
            more,
            sitemaps: file.sitemaps,
        }
    }
}
