//! The change log, newest first.

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

use super::flash::{FlashMessage, redirect_with_flash};
use super::form_fields::FormFields;
use super::format::{self, RelativeTime};
use super::frame::{Frame, render_page};
use crate::app::App;
use crate::extractors::QueryParams;
use crate::problem::Problem;

/// Changes per page, changes read per batch, and changes examined at most for a page.
const PAGE_SIZE: usize = 50;
const BATCH_SIZE: usize = 500;
const MAX_EXAMINED: usize = 10_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/changes", get(show)).route("/changes/read", post(mark_read))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ChangesQuery {
    tag: Option<String>,
    host: Option<String>,
    url: Option<String>,
    kind: Option<String>,
    importance: Option<String>,
    /// Maximum similarity in percent.
    same: Option<String>,
    before: Option<i64>,
}

#[derive(Template)]
#[template(path = "changes.html")]
struct ChangesPage {
    frame: Frame,
    form: FilterForm,
    error: Option<String>,
    kinds: Vec<(&'static str, bool)>,
    rows: Vec<ChangeRow>,
    is_first: bool,
    /// Address of the next page.
    next: Option<String>,
    unread: String,
    newest: i64,
    is_filtered: bool,
    is_empty: bool,
    feed: String,
    subscribe: String,
}

/// Values of the filter form.
#[derive(Default)]
struct FilterForm {
    tag: String,
    host: String,
    url: String,
    importance: String,
    same: String,
}

struct ChangeRow {
    kind: &'static str,
    tone: &'static str,
    /// ID of the source, unless it was removed.
    source: Option<u32>,
    url: String,
    tags: Vec<(String, String)>,
    summary: String,
    when: RelativeTime,
    uncertainty: Option<String>,
    size: String,
    similarity: String,
    diff: Option<String>,
    is_unread: bool,
}

impl ChangesQuery {
    fn filter(&self) -> Result<Filter, String> {
        let text = |it: &Option<String>| {
            it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(ToOwned::to_owned)
        };
        let number = |it: &Option<String>, name: &str| match text(it) {
            None => Ok(None),
            Some(text) => text
                .parse::<f64>()
                .map(Some)
                .map_err(|_| format!("{name}: “{text}” is not a number")),
        };
        let kinds = text(&self.kind).map(|it| it.parse::<EntryKind>()).transpose()?;
        let raw = RawFilter {
            tag: text(&self.tag),
            host: text(&self.host),
            url: text(&self.url),
            min_importance: number(&self.importance, "minimum importance")?,
            max_similarity: number(&self.same, "maximum similarity")?.map(|it| it / 100.0),
            kinds: kinds.into_iter().collect(),
        };
        Filter::try_from(raw).map_err(|error| error.to_string())
    }

    fn form(&self) -> FilterForm {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        FilterForm {
            tag: text(&self.tag),
            host: text(&self.host),
            url: text(&self.url),
            importance: text(&self.importance),
            same: text(&self.same),
        }
    }

    /// Returns the address of a page with these filters.
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
    QueryParams(query): QueryParams<ChangesQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("changes");
    let (filter, error) = match query.filter() {
        Ok(filter) => (filter, None),
        Err(error) => (Filter::default(), Some(error)),
    };
    let (before, key, is_invalid) =
        (query.before, read_cursor_key(frame.token_name.as_deref()), error.is_some());
    let is_filtered = filter != Filter::default() || is_invalid;
    let now = frame.now;
    let found = app.read(move |reader| {
        let last_read = read_cursor(reader, &key)?;
        let newest = reader.last_cursor()?;
        let found =
            if is_invalid { ChangePage::default() } else { find_changes(reader, before, &filter)? };
        let mut rows = Vec::with_capacity(found.changes.len());
        for change in &found.changes {
            let source_exists =
                reader.source(change.source)?.is_some_and(|it| it.url == change.url);
            rows.push(ChangeRow::new(change, source_exists, last_read, now));
        }
        Ok((rows, found.next, last_read, newest))
    });
    let (rows, next, last_read, newest) = found.await?;
    let tag = query.tag.as_deref().filter(|it| !it.is_empty());
    let feed = tag.map_or_else(
        || "/v1/feeds/all.atom".to_owned(),
        |tag| format!("/v1/feeds/tag/{}.atom", super::url_encode(tag).replace('+', "%20")),
    );
    let kind = query.kind.as_deref().unwrap_or_default();
    render_page(&ChangesPage {
        form: query.form(),
        error,
        kinds: EntryKind::ALL.iter().map(|it| (it.name(), it.name() == kind)).collect(),
        is_first: query.before.is_none(),
        next: next.map(|cursor| query.address("/changes", Some(cursor))),
        unread: format::count(u64::try_from(newest - last_read).unwrap_or(0)),
        newest,
        is_filtered,
        is_empty: rows.is_empty(),
        rows,
        feed,
        subscribe: query.address("/settings/destinations/new", None),
        frame,
    })
}

#[derive(Default)]
struct ChangePage {
    changes: Vec<Change>,
    /// Cursor before which the next page starts.
    next: Option<i64>,
}

fn find_changes(
    reader: &Reader,
    before: Option<i64>,
    filter: &Filter,
) -> Result<ChangePage, StoreError> {
    let (mut at, mut examined, mut changes) = (before, 0, Vec::new());
    let in_log = filter.change_filter();
    loop {
        let batch = reader.latest_changes(at, BATCH_SIZE, &in_log)?;
        let is_last = batch.len() < BATCH_SIZE;
        examined += batch.len();
        for change in batch {
            at = Some(change.cursor);
            if filter.matches(&change) {
                changes.push(change);
                if changes.len() == PAGE_SIZE {
                    return Ok(ChangePage { changes, next: at });
                }
            }
        }
        if is_last || examined >= MAX_EXAMINED {
            return Ok(ChangePage { changes, next: at.filter(|_| !is_last) });
        }
    }
}

impl ChangeRow {
    fn new(entry: &Change, source_exists: bool, read_cursor: i64, now: Millis) -> Self {
        let change = &entry.change;
        let is_change = entry.kind == ChangeKind::Changed;
        let (kind, tone) = match entry.kind {
            ChangeKind::Changed => ("changed", ""),
            ChangeKind::Failing => ("failing", "bad"),
            ChangeKind::Recovered => ("recovered", "good"),
            ChangeKind::Quiet => ("quiet", "warn"),
            ChangeKind::Gone => ("gone", "bad"),
        };
        let uncertainty = change.last_unchanged_at.filter(|_| is_change).map(|unchanged| {
            freshet_model::time_format::format_duration(
                change.first_changed_at.saturating_sub(unchanged),
            )
        });
        let size = match change.old_size {
            Some(old) if is_change => {
                let more = i128::from(change.new_size) - i128::from(old);
                let sign = if more < 0 { "−" } else { "+" };
                format!(
                    "{sign}{}",
                    format::bytes(more.unsigned_abs().min(u128::from(u64::MAX)) as u64)
                )
            }
            _ => String::new(),
        };
        let versions = entry.old_version.zip(entry.new_version).filter(|_| source_exists);
        let tags = entry
            .tags
            .iter()
            .map(|tag| (tag.clone(), format!("/changes?tag={}", super::url_encode(tag))));
        Self {
            kind,
            tone,
            source: source_exists.then_some(entry.source),
            url: entry.url.clone(),
            tags: tags.collect(),
            summary: change.summary.clone(),
            when: format::relative_time(change.first_changed_at, now),
            uncertainty,
            size,
            similarity: if is_change { format::percent(change.similarity) } else { String::new() },
            diff: versions
                .map(|(old, new)| format!("/sources/{}/diff?from={old}&to={new}", entry.source)),
            is_unread: entry.cursor > read_cursor,
        }
    }
}

/// Returns the key under which the last read change is stored. Tokens with the same name share it.
fn read_cursor_key(token_name: Option<&str>) -> String {
    format!("seen:{}", token_name.unwrap_or_default())
}

fn read_cursor(reader: &Reader, key: &str) -> Result<i64, StoreError> {
    Ok(reader.meta(key)?.and_then(|it| it.parse().ok()).unwrap_or(0))
}

async fn mark_read(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let until = fields.get("until").and_then(|it| it.parse::<i64>().ok());
    let until = until.filter(|it| *it >= 0);
    let until =
        until.ok_or_else(|| Problem::invalid("until", "invalid position in the change log"))?;
    let key = read_cursor_key(frame.token_name.as_deref());
    let saved = app.handle.write(move |store| {
        // Never moves backwards, nor beyond the newest change.
        let until = until.min(store.last_cursor()?).max(read_cursor(store, &key)?);
        store.set_meta(&key, &until.to_string())
    });
    saved.await?;
    Ok(redirect_with_flash(&app, "/changes", FlashMessage::success("All changes marked as read.")))
}
