//! The log of changes, the newest first.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::Millis;
use freshet_notify::{EntryKind, Filter, RawFilter};
use freshet_store::{Change, ChangeKind, Reader, StoreError};
use serde::Deserialize;

use super::form::Fields;
use super::frame::{Frame, page};
use super::said::{Flash, go_to};
use super::words::{self, When};
use crate::app::App;
use crate::input::Query;
use crate::problem::Problem;

/// Entries of a page, those that are read at once, and those that are looked at for a page.
const PAGE: usize = 50;
const SOME: usize = 500;
const LOOKED: usize = 10_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/changes", get(show)).route("/changes/read", post(read))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ChangesQuery {
    tag: Option<String>,
    host: Option<String>,
    url: Option<String>,
    kind: Option<String>,
    importance: Option<String>,
    /// Of which at most so many per cent are the same.
    same: Option<String>,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "changes.html")]
struct Changes {
    frame: Frame,
    asked: Asked,
    error: Option<String>,
    kinds: Vec<(&'static str, bool)>,
    rows: Vec<Row>,
    is_first: bool,
    /// Where the page after this one is.
    next: Option<String>,
    unread: String,
    newest: i64,
    is_filtered: bool,
    is_empty: bool,
    feed: String,
    subscribe: String,
}

/// What was asked for, as it stands in the form.
#[derive(Default)]
struct Asked {
    tag: String,
    host: String,
    url: String,
    importance: String,
    same: String,
}

struct Row {
    kind: &'static str,
    tone: &'static str,
    /// Its number, unless it was removed since.
    source: Option<u32>,
    url: String,
    tags: Vec<(String, String)>,
    summary: String,
    when: When,
    within: Option<String>,
    size: String,
    same: String,
    diff: Option<String>,
    is_unread: bool,
}

impl ChangesQuery {
    fn filter(&self) -> Result<Filter, String> {
        let text = |it: &Option<String>| {
            it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned)
        };
        let number = |it: &Option<String>, what: &str| match text(it) {
            None => Ok(None),
            Some(text) => text
                .parse::<f64>()
                .map(Some)
                .map_err(|_| format!("{what}: “{text}” is not a number")),
        };
        let kinds = text(&self.kind).map(|it| it.parse::<EntryKind>()).transpose()?;
        let raw = RawFilter {
            tag: text(&self.tag),
            host: text(&self.host),
            url: text(&self.url),
            min_importance: number(&self.importance, "importance")?,
            max_similarity: number(&self.same, "the same")?.map(|it| it / 100.0),
            kinds: kinds.into_iter().collect(),
        };
        Filter::try_from(raw).map_err(|why| why.to_string())
    }

    fn asked(&self) -> Asked {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        Asked {
            tag: text(&self.tag),
            host: text(&self.host),
            url: text(&self.url),
            importance: text(&self.importance),
            same: text(&self.same),
        }
    }

    /// The address of a page with these filters.
    fn address(&self, path: &str, before: Option<i64>) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        let fields = [
            ("tag", &self.tag),
            ("host", &self.host),
            ("url", &self.url),
            ("kind", &self.kind),
            ("importance", &self.importance),
            ("same", &self.same),
        ];
        for (name, value) in fields {
            if let Some(value) = value.as_deref().filter(|it| !it.is_empty()) {
                pairs.append_pair(name, value);
            }
        }
        if let Some(before) = before {
            pairs.append_pair("before", &before.to_string());
        }
        format!("{path}?{}", pairs.finish())
    }
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Query(asked): Query<ChangesQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("changes");
    let (filter, error) = match asked.filter() {
        Ok(filter) => (filter, None),
        Err(why) => (Filter::default(), Some(why)),
    };
    let (before, key, is_wrong) = (asked.before, seen_key(frame.who.as_deref()), error.is_some());
    let is_filtered = filter != Filter::default() || is_wrong;
    let now = frame.now;
    let found = app.read(move |reader| {
        let seen = seen(reader, &key)?;
        let newest = reader.last_cursor()?;
        let found = if is_wrong { Found::default() } else { find(reader, before, &filter)? };
        let mut rows = Vec::with_capacity(found.changes.len());
        for change in &found.changes {
            let is_there = reader.source(change.source)?.is_some_and(|it| it.url == change.url);
            rows.push(Row::of(change, is_there, seen, now));
        }
        Ok((rows, found.next, seen, newest))
    });
    let (rows, next, seen, newest) = found.await?;
    let tag = asked.tag.as_deref().filter(|it| !it.is_empty());
    let feed = tag.map_or_else(
        || "/v1/feeds/all.atom".to_owned(),
        |tag| format!("/v1/feeds/tag/{}.atom", super::encoded(tag).replace('+', "%20")),
    );
    let kind = asked.kind.as_deref().unwrap_or_default();
    page(&Changes {
        asked: asked.asked(),
        error,
        kinds: EntryKind::ALL.iter().map(|it| (it.name(), it.name() == kind)).collect(),
        is_first: asked.before.is_none(),
        next: next.map(|cursor| asked.address("/changes", Some(cursor))),
        unread: words::count(u64::try_from(newest - seen).unwrap_or(0)),
        newest,
        is_filtered,
        is_empty: rows.is_empty(),
        rows,
        feed,
        subscribe: asked.address("/settings/destinations/new", None),
        frame,
    })
}

#[derive(Default)]
struct Found {
    changes: Vec<Change>,
    /// Where to go on: before this cursor.
    next: Option<i64>,
}

fn find(reader: &Reader, before: Option<i64>, filter: &Filter) -> Result<Found, StoreError> {
    let (mut at, mut looked, mut changes) = (before, 0, Vec::new());
    let in_log = filter.change_filter();
    loop {
        let some = reader.latest_changes(at, SOME, &in_log)?;
        let is_last = some.len() < SOME;
        looked += some.len();
        for change in some {
            at = Some(change.cursor);
            if filter.matches(&change) {
                changes.push(change);
                if changes.len() == PAGE {
                    return Ok(Found { changes, next: at });
                }
            }
        }
        if is_last || looked >= LOOKED {
            return Ok(Found { changes, next: at.filter(|_| !is_last) });
        }
    }
}

impl Row {
    fn of(it: &Change, is_there: bool, seen: i64, now: Millis) -> Self {
        let change = &it.change;
        let is_change = it.kind == ChangeKind::Changed;
        let (kind, tone) = match it.kind {
            ChangeKind::Changed => ("changed", ""),
            ChangeKind::Failing => ("failing", "bad"),
            ChangeKind::Recovered => ("recovered", "good"),
            ChangeKind::Quiet => ("quiet", "warn"),
            ChangeKind::Gone => ("gone", "bad"),
        };
        let within = change.last_unchanged_at.filter(|_| is_change).map(|unchanged| {
            freshet_model::moment::length(change.first_changed_at.saturating_sub(unchanged))
        });
        let size = match change.old_size {
            Some(old) if is_change => {
                let more = i128::from(change.new_size) - i128::from(old);
                let sign = if more < 0 { "−" } else { "+" };
                format!(
                    "{sign}{}",
                    words::bytes(more.unsigned_abs().min(u128::from(u64::MAX)) as u64)
                )
            }
            _ => String::new(),
        };
        let versions = it.old_version.zip(it.new_version).filter(|_| is_there);
        let tags = it
            .tags
            .iter()
            .map(|tag| (tag.clone(), format!("/changes?tag={}", super::encoded(tag))));
        Self {
            kind,
            tone,
            source: is_there.then_some(it.source),
            url: it.url.clone(),
            tags: tags.collect(),
            summary: change.summary.clone(),
            when: words::when(change.first_changed_at, now),
            within,
            size,
            same: if is_change { words::percent(change.similarity) } else { String::new() },
            diff: versions
                .map(|(old, new)| format!("/sources/{}/diff?from={old}&to={new}", it.source)),
            is_unread: it.cursor > seen,
        }
    }
}

/// Under what is kept up to where somebody has read. Tokens that share a name share that too.
fn seen_key(who: Option<&str>) -> String {
    format!("seen:{}", who.unwrap_or_default())
}

fn seen(reader: &Reader, key: &str) -> Result<i64, StoreError> {
    Ok(reader.meta(key)?.and_then(|it| it.parse().ok()).unwrap_or(0))
}

async fn read(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let until = fields.get("until").and_then(|it| it.parse::<i64>().ok());
    let until = until.filter(|it| *it >= 0);
    let until = until.ok_or_else(|| Problem::field("until", "not a place in the log"))?;
    let key = seen_key(frame.who.as_deref());
    let kept = app.handle.write(move |store| {
        // What was read stays read, and what is to come was not.
        let until = until.min(store.last_cursor()?).max(seen(store, &key)?);
        store.set_meta(&key, &until.to_string())
    });
    kept.await?;
    Ok(go_to(&app, "/changes", Flash::good("All of it is marked as read.")))
}
