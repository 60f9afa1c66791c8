//! The list of sources: search, sorting, bulk edits and imports.

mod add;
mod bulk_edit;
mod paste_store;
mod search;

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{Millis, SourceStatus, millis_from_days};
use freshet_store as store;
use serde::Deserialize;

pub(super) use self::paste_store::PasteStore;
use self::search::{PageCursor, SearchResult, SourceFilter, StateFilter, search};
use super::chart::{ChartMarkup, share_bar};
use super::format::{self, RelativeTime};
use super::frame::{Frame, render_page};
use crate::app::App;
use crate::extractors::QueryParams;
use crate::problem::Problem;
use crate::ranking::SortKey;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/sources", get(show))
        .route("/sources/edit", post(bulk_edit::apply))
        .route("/sources/remove", post(bulk_edit::remove))
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

/// Tags shown per source.
const MAX_TAGS: usize = 8;

/// Sortable columns: order, name in the address, and whether the first click sorts in descending order.
const SORTS: [(SortKey, &str, bool); 4] = [
    (SortKey::Importance, "importance", true),
    (SortKey::ChangeRate, "belief", true),
    (SortKey::NextFetch, "next", false),
    (SortKey::Value, "value", true),
];

/// A parsed request for the list.
#[derive(Clone, Debug)]
pub(super) struct ListRequest {
    filter: SourceFilter,
    order: SortKey,
    is_descending: bool,
    cursor: PageCursor,
}

impl SourcesQuery {
    fn parse(&self) -> Result<ListRequest, Problem> {
        let text = |it: &Option<String>| {
            it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned)
        };
        let state = match text(&self.state) {
            None => None,
            Some(name) => Some(
                StateFilter::ALL
                    .into_iter()
                    .find(|it| it.name() == name)
                    .ok_or_else(|| Problem::invalid("state", format!("unknown state `{name}`")))?,
            ),
        };
        let sort = text(&self.sort).unwrap_or_else(|| "-importance".to_owned());
        let (name, is_descending) = sort.strip_prefix('-').map_or((&*sort, false), |it| (it, true));
        let order = SORTS.iter().find(|(_, known, _)| *known == name).map(|(order, ..)| *order);
        let order = order.ok_or_else(|| {
            Problem::invalid("sort", format!("cannot sort by `{name}`"))
                .with_hint("sort by importance, belief, next or value")
        })?;
        let cursor = match text(&self.at) {
            None => PageCursor::default(),
            Some(text) => PageCursor::from_text(&text)
                .ok_or_else(|| Problem::invalid("at", "invalid page"))?,
        };
        let host = text(&self.host).map(|host| host.to_ascii_lowercase());
        let filter = SourceFilter { host, tag: text(&self.tag), state, text: text(&self.text) };
        Ok(ListRequest { filter, order, is_descending, cursor })
    }
}

impl ListRequest {
    fn sort(&self) -> String {
        let name = SORTS.iter().find(|(order, ..)| *order == self.order).map_or("", |it| it.1);
        format!("{}{name}", if self.is_descending { "-" } else { "" })
    }

    /// Returns the address of this request.
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
        if (self.order, self.is_descending) != (SortKey::Importance, true) {
            query.append_pair("sort", &self.sort());
        }
        if !self.cursor.is_first() {
            query.append_pair("at", &self.cursor.to_text());
        }
        match query.finish() {
            query if query.is_empty() => "/sources".to_owned(),
            query => format!("/sources?{query}"),
        }
    }

    fn page_link(&self, cursor: PageCursor) -> String {
        Self { cursor, ..self.clone() }.link()
    }

    /// Returns the header of a sortable column.
    fn column_header(&self, order: SortKey, words: &'static str) -> ColumnHeader {
        let is_sorted = self.order == order;
        let first = SORTS.iter().find(|(it, ..)| *it == order).is_some_and(|it| it.2);
        let is_descending = if is_sorted { !self.is_descending } else { first };
        let to = Self { order, is_descending, cursor: PageCursor::default(), ..self.clone() };
        let sorted = match (is_sorted, self.is_descending) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        };
        ColumnHeader { words, sorted, link: to.link() }
    }
}

struct ColumnHeader {
    words: &'static str,
    sorted: &'static str,
    link: String,
}

#[derive(Template)]
#[template(path = "sources.html")]
struct SourcesPage {
    frame: Frame,
    /// Values of the search form.
    text: String,
    host: String,
    tag: String,
    sort: String,
    states: Vec<(&'static str, &'static str, bool)>,
    /// Number of all sources.
    all: u64,
    match_count: String,
    /// Note on sources that were not searched.
    partial_note: Option<String>,
    is_filtered: bool,
    is_first: bool,
    rows: Vec<SourceRow>,
    importance: ColumnHeader,
    belief: ColumnHeader,
    next_fetch: ColumnHeader,
    value: ColumnHeader,
    first_page: String,
    next: Option<String>,
    search_further: Option<String>,
    /// Label of the option to edit all matching sources.
    bulk_scope: Option<String>,
    current_path: String,
}

struct SourceRow {
    id: u32,
    url: String,
    /// The URL without `https://`.
    short: String,
    host: String,
    host_link: String,
    tags: Vec<(String, String)>,
    more_tags: usize,
    importance: String,
    belief: String,
    fetched: Option<RelativeTime>,
    next: NextFetch,
    /// Value of a fetch relative to the price, as text and as a bar.
    value: String,
    bar: ChartMarkup,
    state: &'static str,
    tone: &'static str,
}

enum NextFetch {
    At(RelativeTime),
    Word(&'static str),
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    QueryParams(query): QueryParams<SourcesQuery>,
) -> Result<Response, Problem> {
    let request = query.parse()?;
    let frame = frame.with_section("sources");
    let found =
        search(&app, &request.filter, (request.order, request.is_descending), request.cursor)
            .await?;
    app.web.ranking.prepare(&app.handle, SortKey::NextFetch);
    let rows = source_rows(&app, &found, request.filter.state, frame.now).await?;
    let all = app.read(|reader| reader.count_sources(&store::SourceQuery::default())).await?;
    let count = format::count(found.count);
    let is_filtered = !request.filter.is_empty();
    let so_far = if found.scanned.is_some() { " so far" } else { "" };
    let match_count = match is_filtered {
        false => format::plural(all, "source", "sources"),
        true if found.is_partial && found.scanned.is_none() => {
            format!("more than {count} matching sources")
        }
        true => format::plural(found.count, "matching source", "matching sources") + so_far,
    };
    let partial_note = match found.scanned {
        Some((until, end)) => Some(format!(
            "Searched {} of {} sources so far. There may be more matches, and the order covers only those \
             found so far.",
            format::count(u64::from(until)),
            format::count(u64::from(end))
        )),
        None if found.is_partial => Some(format!("Only the first {count} matches are sorted.")),
        None => None,
    };
    let bulk_scope =
        (request.filter.is_bulk_scope() && found.count > 0).then(|| match found.is_partial {
            true => format!("All matching sources (more than {count})"),
            false => format!("All {count} matching sources"),
        });
    let first_page = request.page_link(PageCursor::default());
    let states = StateFilter::ALL
        .iter()
        .map(|it| (it.name(), it.label(), request.filter.state == Some(*it)));
    render_page(&SourcesPage {
        text: request.filter.text.clone().unwrap_or_default(),
        host: request.filter.host.clone().unwrap_or_default(),
        tag: request.filter.tag.clone().unwrap_or_default(),
        sort: request.sort(),
        states: states.collect(),
        all,
        match_count,
        partial_note,
        is_filtered,
        is_first: request.cursor.is_first(),
        rows,
        importance: request.column_header(SortKey::Importance, "Importance"),
        belief: request.column_header(SortKey::ChangeRate, "Changes"),
        next_fetch: request.column_header(SortKey::NextFetch, "Next fetch"),
        value: request.column_header(SortKey::Value, "Value"),
        first_page,
        next: found.next.map(|cursor| request.page_link(cursor)),
        search_further: found.search_further.map(|cursor| request.page_link(cursor)),
        bulk_scope,
        current_path: request.link(),
        frame,
    })
}

/// Loads the rows of a page. Sources that have changed since the ranking are left out.
async fn source_rows(
    app: &Arc<App>,
    found: &SearchResult,
    state: Option<StateFilter>,
    now: Millis,
) -> Result<Vec<SourceRow>, Problem> {
    if found.ids.is_empty() {
        return Ok(Vec::new());
    }
    let statuses = app.handle.source_statuses(found.ids.clone()).await?;
    let statuses: HashMap<u32, SourceStatus> = statuses.into_iter().map(|it| (it.id, it)).collect();
    let ids = found.ids.clone();
    let sources = app.read(move |reader| {
        let mut sources = Vec::with_capacity(ids.len());
        for id in ids {
            let source = reader.source(id)?;
            let matches_state = |it: &store::Source| match state {
                Some(StateFilter::Good) => it.state == store::SourceState::Good,
                Some(StateFilter::New) => it.state == store::SourceState::New,
                _ => true,
            };
            if let Some(source) = source.filter(matches_state) {
                let name = reader.host(source.host)?.map(|host| host.name).unwrap_or_default();
                sources.push((source, name));
            }
        }
        Ok(sources)
    });
    let row = |(source, host): (store::Source, String)| {
        let status = statuses.get(&source.id).copied();
        SourceRow::new(source, host, status, now)
    };
    Ok(sources.await?.into_iter().map(row).collect())
}

impl SourceRow {
    fn new(source: store::Source, host: String, status: Option<SourceStatus>, now: Millis) -> Self {
        let (state, tone) = match source.state {
            _ if source.paused => ("paused", ""),
            store::SourceState::New => ("never fetched", ""),
            store::SourceState::Good => ("good", "good"),
            store::SourceState::Failing => ("failing", "bad"),
            store::SourceState::Gone => ("gone", "warn"),
            store::SourceState::Disallowed => ("disallowed", "warn"),
        };
        let next = match status {
            _ if source.paused => NextFetch::Word("paused"),
            None => NextFetch::Word("–"),
            Some(it) if !it.due_day.is_finite() => NextFetch::Word("never"),
            Some(it) if millis_from_days(it.due_day) <= now => NextFetch::Word("now"),
            Some(it) => NextFetch::At(format::relative_time(millis_from_days(it.due_day), now)),
        };
        let (value, bar) = match status {
            // A first copy has infinite value, but here none can be fetched.
            _ if matches!(
                source.state,
                store::SourceState::Gone | store::SourceState::Disallowed
            ) =>
            {
                ("–".to_owned(), 0.0)
            }
            Some(it) if it.due_day.is_finite() && it.value.is_infinite() => {
                ("first copy".to_owned(), 1.0)
            }
            Some(it) if it.due_day.is_finite() && it.price > 0.0 => {
                let value = it.value / it.price;
                let words = match value {
                    _ if value >= 10.0 => "over 999%".to_owned(),
                    _ => format!("{:.0}%", 100.0 * value),
                };
                (words, value)
            }
            _ => ("–".to_owned(), 0.0),
        };
        let tag_link = |tag: String| {
            let link = filter_link("tag", &tag);
            (tag, link)
        };
        Self {
            id: source.id,
            short: source.url.strip_prefix("https://").unwrap_or(&source.url).to_owned(),
            url: source.url,
            host_link: filter_link("host", &host),
            host,
            more_tags: source.tags.len().saturating_sub(MAX_TAGS),
            tags: source.tags.into_iter().take(MAX_TAGS).map(tag_link).collect(),
            importance: format::number(source.importance),
            belief: status.map_or_else(|| "–".to_owned(), |it| format::interval(it.change_rate)),
            // On a fast clock, a fetch may be newer than the time of the request.
            fetched: source.fetched_at.map(|at| format::relative_time(at.min(now), now)),
            next,
            value,
            bar: share_bar(bar),
            state,
            tone,
        }
    }
}

/// Returns the address of the list filtered by host or tag.
fn filter_link(name: &str, value: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair(name, value);
    format!("/sources?{}", query.finish())
}
