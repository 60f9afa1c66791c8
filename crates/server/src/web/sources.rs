//! All sources: found, put in order, changed many at a time, added by paste.

mod add;
mod edit;
mod find;
mod paste;

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{Millis, SourceStatus, millis};
use freshet_store as store;
use serde::Deserialize;

use self::find::{Filter, Found, Place, Wish, find};
pub(super) use self::paste::Pastes;
use super::chart::{Drawn, share_bar};
use super::frame::{Frame, page};
use super::words::{self, When};
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;
use crate::ranking::Order;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/sources", get(show))
        .route("/sources/edit", post(edit::edit))
        .route("/sources/remove", post(edit::remove))
        .route("/sources/add", get(add::show).post(add::add))
        .route("/sources/preview", post(add::preview))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SourcesQuery {
    text: Option<String>,
    host: Option<String>,
    tag: Option<String>,
    state: Option<String>,
    sort: Option<String>,
    at: Option<String>,
}

/// Tags of a source that are shown.
const TAGS: usize = 8;

/// What a column is ordered by, the name in an address, and whether the largest come first at a click.
const SORTS: [(Order, &str, bool); 4] = [
    (Order::Importance, "importance", true),
    (Order::Belief, "belief", true),
    (Order::Next, "next", false),
    (Order::Value, "value", true),
];

/// What is shown, as far as the address says it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    filter: Filter,
    order: Order,
    is_down: bool,
    place: Place,
}

impl SourcesQuery {
    fn asked(&self) -> Result<Asked, Problem> {
        let text = |it: &Option<String>| {
            it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned)
        };
        let state = match text(&self.state) {
            None => None,
            Some(name) => {
                Some(Wish::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
                    Problem::field("state", format!("there is no state `{name}`"))
                })?)
            }
        };
        let sort = text(&self.sort).unwrap_or_else(|| "-importance".to_owned());
        let (name, is_down) = sort.strip_prefix('-').map_or((&*sort, false), |it| (it, true));
        let order = SORTS.iter().find(|(_, known, _)| *known == name).map(|(order, ..)| *order);
        let order = order.ok_or_else(|| {
            Problem::field("sort", format!("sources are not sorted by `{name}`"))
                .hint("by importance, belief, next or value")
        })?;
        let place = match text(&self.at) {
            None => Place::default(),
            Some(text) => Place::from_text(&text)
                .ok_or_else(|| Problem::field("at", "this is not where a page begins"))?,
        };
        let host = text(&self.host).map(|host| host.to_ascii_lowercase());
        let filter = Filter { host, tag: text(&self.tag), state, text: text(&self.text) };
        Ok(Asked { filter, order, is_down, place })
    }
}

impl Asked {
    fn sort(&self) -> String {
        let name = SORTS.iter().find(|(order, ..)| *order == self.order).map_or("", |it| it.1);
        format!("{}{name}", if self.is_down { "-" } else { "" })
    }

    /// The address of the page with this.
    fn link(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let filter = &self.filter;
        let parts = [("text", &filter.text), ("host", &filter.host), ("tag", &filter.tag)];
        for (name, value) in parts {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        if let Some(state) = filter.state {
            query.append_pair("state", state.name());
        }
        if (self.order, self.is_down) != (Order::Importance, true) {
            query.append_pair("sort", &self.sort());
        }
        if !self.place.is_first() {
            query.append_pair("at", &self.place.to_text());
        }
        match query.finish() {
            query if query.is_empty() => "/sources".to_owned(),
            query => format!("/sources?{query}"),
        }
    }

    fn at(&self, place: Place) -> String {
        Self { place, ..self.clone() }.link()
    }

    /// The head of a column that can be ordered by.
    fn head(&self, order: Order, words: &'static str) -> Head {
        let is_it = self.order == order;
        let first = SORTS.iter().find(|(it, ..)| *it == order).is_some_and(|it| it.2);
        let is_down = if is_it { !self.is_down } else { first };
        let to = Self { order, is_down, place: Place::default(), ..self.clone() };
        let sorted = match (is_it, self.is_down) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        Head { words, sorted, link: to.link() }
    }
}

struct Head {
    words: &'static str,
    sorted: &'static str,
    link: String,
}

#[derive(Template)]
#[template(path = "sources.html")]
struct Sources {
    frame: Frame,
    /// What is asked for, as it stands in the form.
    text: String,
    host: String,
    tag: String,
    sort: String,
    states: Vec<(&'static str, &'static str, bool)>,
    /// How many there are in all, and how many fit, in words.
    all: u64,
    fit: String,
    /// What was not looked at, if something was not.
    part: Option<String>,
    is_filtered: bool,
    is_first: bool,
    rows: Vec<Row>,
    importance: Head,
    belief: Head,
    next_fetch: Head,
    value: Head,
    first: String,
    next: Option<String>,
    on: Option<String>,
    /// Whether all that fit can be changed at once, and how many that are.
    whole: Option<String>,
    here: String,
}

struct Row {
    id: u32,
    url: String,
    /// The URL without what nearly all begin with.
    short: String,
    host: String,
    host_link: String,
    tags: Vec<(String, String)>,
    more_tags: usize,
    importance: String,
    belief: String,
    fetched: Option<When>,
    next: Next,
    /// What a fetch is worth in per cent of its price, and the same as a bar.
    value: String,
    bar: Drawn,
    state: &'static str,
    tone: &'static str,
}

enum Next {
    At(When),
    Word(&'static str),
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<SourcesQuery>,
) -> Result<Response, Problem> {
    let asked = asked.asked()?;
    let frame = frame.at("sources");
    let found = find(&app, &asked.filter, (asked.order, asked.is_down), asked.place).await?;
    app.web.ranking.prepare(&app.handle, Order::Next);
    let rows = rows(&app, &found, asked.filter.state, frame.now).await?;
    let all = app.read(|reader| reader.count_sources(&store::SourceQuery::default())).await?;
    let count = words::count(found.count);
    let is_filtered = !asked.filter.is_empty();
    let so_far = if found.looked.is_some() { " so far" } else { "" };
    let fit = match is_filtered {
        false => words::plural(all, "source", "sources"),
        true if found.is_part && found.looked.is_none() => format!("more than {count} sources fit"),
        true => words::plural(found.count, "source fits", "sources fit") + so_far,
    };
    let part = match found.looked {
        Some((until, end)) => Some(format!(
            "Looked through {} of {} sources so far: more may fit, and those that were found are in \
             order only among themselves.",
            words::count(u64::from(until)),
            words::count(u64::from(end))
        )),
        None if found.is_part => Some(format!("The order is that of the first {count}.")),
        None => None,
    };
    let whole = (asked.filter.names_all() && found.count > 0).then(|| match found.is_part {
        true => format!("all that fit, more than {count}"),
        false => format!("all {count} that fit"),
    });
    let first = asked.at(Place::default());
    let states =
        Wish::ALL.iter().map(|it| (it.name(), it.words(), asked.filter.state == Some(*it)));
    page(&Sources {
        text: asked.filter.text.clone().unwrap_or_default(),
        host: asked.filter.host.clone().unwrap_or_default(),
        tag: asked.filter.tag.clone().unwrap_or_default(),
        sort: asked.sort(),
        states: states.collect(),
        all,
        fit,
        part,
        is_filtered,
        is_first: asked.place.is_first(),
        rows,
        importance: asked.head(Order::Importance, "Importance"),
        belief: asked.head(Order::Belief, "Changes"),
        next_fetch: asked.head(Order::Next, "Next fetch"),
        value: asked.head(Order::Value, "Value"),
        first,
        next: found.next.map(|place| asked.at(place)),
        on: found.on.map(|place| asked.at(place)),
        whole,
        here: asked.link(),
        frame,
    })
}

/// The rows of a page, in its order. What has gone or changed since it was put in order is left out.
async fn rows(
    app: &Arc<App>,
    found: &Found,
    wish: Option<Wish>,
    now: Millis,
) -> Result<Vec<Row>, Problem> {
    if found.ids.is_empty() {
        return Ok(Vec::new());
    }
    let glances = app.handle.glance(found.ids.clone()).await?;
    let glances: HashMap<u32, SourceStatus> = glances.into_iter().map(|it| (it.id, it)).collect();
    let ids = found.ids.clone();
    let sources = app.read(move |reader| {
        let mut sources = Vec::with_capacity(ids.len());
        for id in ids {
            let source = reader.source(id)?;
            let fits = |it: &store::Source| match wish {
                Some(Wish::Good) => it.state == store::SourceState::Good,
                Some(Wish::New) => it.state == store::SourceState::New,
                _ => true,
            };
            if let Some(source) = source.filter(fits) {
                let name = reader.host(source.host)?.map(|host| host.name).unwrap_or_default();
                sources.push((source, name));
            }
        }
        Ok(sources)
    });
    let row = |(source, host): (store::Source, String)| {
        let glance = glances.get(&source.id).copied();
        Row::of(source, host, glance, now)
    };
    Ok(sources.await?.into_iter().map(row).collect())
}

impl Row {
    fn of(source: store::Source, host: String, glance: Option<SourceStatus>, now: Millis) -> Self {
        let (state, tone) = match source.state {
            _ if source.paused => ("paused", ""),
            store::SourceState::New => ("never fetched", ""),
            store::SourceState::Good => ("good", "good"),
            store::SourceState::Failing => ("failing", "bad"),
            store::SourceState::Gone => ("gone", "warn"),
            store::SourceState::Disallowed => ("not allowed", "warn"),
        };
        let next = match glance {
            _ if source.paused => Next::Word("paused"),
            None => Next::Word("–"),
            Some(it) if !it.due.is_finite() => Next::Word("never"),
            Some(it) if millis(it.due) <= now => Next::Word("now"),
            Some(it) => Next::At(words::when(millis(it.due), now)),
        };
        let (value, bar) = match glance {
            // A first copy is worth any price, but of these there is none to be had.
            _ if matches!(
                source.state,
                store::SourceState::Gone | store::SourceState::Disallowed
            ) =>
            {
                ("–".to_owned(), 0.0)
            }
            Some(it) if it.due.is_finite() && it.worth.is_infinite() => {
                ("first copy".to_owned(), 1.0)
            }
            Some(it) if it.due.is_finite() && it.price > 0.0 => {
                let value = it.worth / it.price;
                let words = match value {
                    _ if value >= 10.0 => "> 999 %".to_owned(),
                    _ => format!("{:.0} %", 100.0 * value),
                };
                (words, value)
            }
            _ => ("–".to_owned(), 0.0),
        };
        let tag_link = |tag: String| {
            let link = link_to("tag", &tag);
            (tag, link)
        };
        Self {
            id: source.id,
            short: source.url.strip_prefix("https://").unwrap_or(&source.url).to_owned(),
            url: source.url,
            host_link: link_to("host", &host),
            host,
            more_tags: source.tags.len().saturating_sub(TAGS),
            tags: source.tags.into_iter().take(TAGS).map(tag_link).collect(),
            importance: words::figure(source.importance),
            belief: glance.map_or_else(|| "–".to_owned(), |it| words::every(it.rate)),
            fetched: source.fetched_at.map(|at| words::when(at, now)),
            next,
            value,
            bar: share_bar(bar),
            state,
            tone,
        }
    }
}

/// All sources of a host or with a tag.
fn link_to(name: &str, value: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair(name, value);
    format!("/sources?{}", query.finish())
}
