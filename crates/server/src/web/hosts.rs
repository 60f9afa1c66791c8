//! Hosts: how they are treated, and what they ask for.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use freshet_daemon::{HostNow, Millis, RobotsRead, robots};
use freshet_model::moment;
use freshet_store::Host;
use serde::Deserialize;

use super::frame::{Frame, page};
use super::words;
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;

/// Hosts of a page.
const PAGE: usize = 50;
/// Sources of a host that are counted.
const COUNTED: u32 = 10_000;
/// Lines of robots.txt that are shown.
const LINES: usize = 200;

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
struct Hosts {
    frame: Frame,
    rows: Vec<Row>,
    is_all: bool,
    asked: String,
    next: Option<u32>,
    price: String,
    has_hosts: bool,
}

#[derive(Template)]
#[template(path = "host.html")]
struct Shown {
    frame: Frame,
    name: String,
    row: Row,
    price: String,
    sources: String,
    listed: String,
    changes: String,
    robots: Vec<RobotsRow>,
}

/// A host in words.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) link: String,
    pub(super) state: String,
    pub(super) tone: &'static str,
    pub(super) gap: String,
    pub(super) price: String,
    pub(super) times: String,
    pub(super) is_full: bool,
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

impl Row {
    pub(super) fn of(
        name: String,
        it: Option<&HostNow>,
        until: Option<Millis>,
        price: f64,
        now: Millis,
    ) -> Self {
        let link = format!("/hosts?name={}", super::encoded(&name));
        let rests = it.and_then(|it| it.free).or(until).filter(|free| *free > now + 5000);
        let (state, tone) = match (it, rests) {
            (Some(it), rests) if it.down => {
                let again = rests.map_or_else(String::new, |at| {
                    format!(", tried again {}", moment::from_now(at, now))
                });
                (format!("does not answer: {} failures in a row{again}", it.failures), "bad")
            }
            (Some(it), Some(rests)) if it.failures > 0 => {
                let failures =
                    words::plural(u64::from(it.failures), "failure", "failures in a row");
                (
                    format!(
                        "left alone after {failures}: asked again {}",
                        moment::from_now(rests, now)
                    ),
                    "warn",
                )
            }
            (_, Some(rests)) => {
                (format!("left alone: asked again {}", moment::from_now(rests, now)), "warn")
            }
            (Some(it), None) if it.asked > 0 => (
                format!("{} under way", words::plural(u64::from(it.asked), "fetch", "fetches")),
                "good",
            ),
            (Some(it), None) if it.failures > 0 => {
                let failures =
                    words::plural(u64::from(it.failures), "failure", "failures in a row");
                (format!("tried again after {failures}"), "warn")
            }
            _ => ("free".to_owned(), "good"),
        };
        let own = it.and_then(|it| it.price);
        Self {
            link,
            name,
            state,
            tone,
            gap: it.map_or_else(String::new, |it| {
                if it.gap > 0 {
                    format!("{} between fetches", moment::length(it.gap))
                } else {
                    "none".to_owned()
                }
            }),
            price: own.map_or_else(|| "as elsewhere".to_owned(), words::figure),
            times: match own {
                Some(own) if price > 0.0 => format!("{} times", words::figure(own / price)),
                _ => String::new(),
            },
            is_full: own.is_some(),
            waiting: it.map_or(0, |it| it.candidates),
        }
    }
}

/// Hosts by name, with what is known of them now, in the order of the numbers.
pub(super) async fn rows(
    app: &App,
    hosts: Vec<Host>,
    price: f64,
    now: Millis,
) -> Result<Vec<Row>, Problem> {
    let known = app.handle.hosts(hosts.iter().map(|it| it.id).collect()).await?;
    let known: HashMap<u32, HostNow> = known.into_iter().map(|it| (it.number, it)).collect();
    let row = |it: Host| Row::of(it.name, known.get(&it.id), it.cooldown_until, price, now);
    Ok(hosts.into_iter().map(row).collect())
}

/// Hosts by their numbers, in that order.
pub(super) async fn named(app: &App, ids: Vec<u32>) -> Result<Vec<Host>, Problem> {
    app.read(move |reader| {
        let found = ids.into_iter().map(|id| reader.host(id));
        Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    })
    .await
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<HostsQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("hosts");
    let now = frame.now;
    let price = app.handle.plan().await?.price;
    if let Some(name) = asked.name.as_deref().map(str::trim).filter(|it| !it.is_empty()) {
        return one(&app, frame, name.to_owned(), price).await;
    }
    let is_all = asked.all.is_some() || asked.after.is_some();
    let hosts = if is_all {
        app.read(move |reader| reader.list_hosts(asked.after, PAGE)).await?
    } else {
        let worst = app.handle.worst_hosts(PAGE).await?;
        named(&app, worst.into_iter().map(|it| it.number).collect()).await?
    };
    let next = hosts.last().filter(|_| is_all && hosts.len() == PAGE).map(|it| it.id);
    let has_hosts = app.handle.status().await?.sources > 0;
    page(&Hosts {
        rows: rows(&app, hosts, price, now).await?,
        is_all,
        asked: asked.name.unwrap_or_default(),
        next,
        price: words::figure(price),
        has_hosts,
        frame,
    })
}

async fn one(app: &App, frame: Frame, name: String, price: f64) -> Result<Response, Problem> {
    let now = frame.now;
    let asked = name.clone();
    let found = app.read(move |reader| {
        let Some(host) = reader.find_host(&asked)? else { return Ok(None) };
        let sources = reader.count_host_sources(host.id, COUNTED)?;
        let robots = robots(reader, &host.name)?;
        Ok(Some((host, sources, robots)))
    });
    let Some((host, sources, robots)) = found.await? else {
        return Err(Problem::absent(format!("there is no host {name}"))
            .hint("hosts are named as in URLs, with the port if one is said"));
    };
    let mut rows = rows(app, vec![host], price, now).await?;
    let Some(row) = rows.pop() else { return Err(Problem::absent("there is no such host")) };
    let more = if sources >= u64::from(COUNTED) { "more than " } else { "" };
    page(&Shown {
        listed: format!("/sources?host={}", super::encoded(&row.name)),
        changes: format!("/changes?host={}", super::encoded(&row.name)),
        name: row.name.clone(),
        row,
        price: words::figure(price),
        sources: format!("{more}{}", words::plural(sources, "source", "sources")),
        robots: robots.into_iter().map(|it| RobotsRow::of(it, now)).collect(),
        frame,
    })
}

impl RobotsRow {
    fn of(it: RobotsRead, now: Millis) -> Self {
        let outcome = match (it.found, it.status, it.bytes) {
            (true, _, Some(bytes)) => {
                let cut = if it.cut { ", of which the beginning counts" } else { "" };
                format!("found, {}{cut}", words::bytes(bytes))
            }
            (true, ..) => "found".to_owned(),
            (false, Some(status @ 400..=499), _) => {
                format!("none ({status}): all may be fetched")
            }
            (false, Some(status), _) => format!("not to be had ({status}): nothing may be fetched"),
            (false, None, _) => "not to be had: nothing may be fetched".to_owned(),
        };
        let more = it.lines.len().saturating_sub(LINES);
        let lines = it.lines.into_iter().take(LINES);
        let lines =
            lines.map(|(number, line)| (number.map(|it| it.to_string()).unwrap_or_default(), line));
        Self {
            url: it.url,
            read: moment::from_now(it.at, now),
            outcome,
            delay: it.crawl_delay.map(moment::length),
            lines: lines.collect(),
            more,
            sitemaps: it.sitemaps,
        }
    }
}
