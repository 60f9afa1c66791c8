//! Bulk edits: of the selected sources, or of all sources of a host or with a tag.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_daemon::{EditResult, SourceEdit, SourceSelector, SourceSettings, parse_days};
use freshet_store::SourceQuery;

use super::super::flash::{FlashMessage, redirect_with_flash};
use super::super::form_fields::FormFields;
use super::super::format;
use super::super::frame::{Frame, render_page};
use super::search::find_hosts;
use crate::app::App;
use crate::problem::Problem;
use crate::routes::check_tags;

/// Sources whose tags are read at once.
const BATCH_SIZE: usize = 10_000;

#[derive(Template)]
#[template(path = "sources_remove.html")]
struct RemoveConfirmPage {
    frame: Frame,
    selection: SourceSelection,
    count: String,
    /// The first of the selected URLs.
    some: Vec<String>,
    more: bool,
}

/// The sources that an edit applies to.
pub(super) struct SourceSelection {
    ids: Vec<u32>,
    host: Option<String>,
    tag: Option<String>,
    /// Address to return to.
    back: String,
}

impl SourceSelection {
    fn from_fields(fields: &FormFields) -> Self {
        let text = |name: &str| fields.get(name).map(ToOwned::to_owned);
        let is_whole = fields.has("whole");
        let back = text("back").filter(|to| *to == "/sources" || to.starts_with("/sources?"));
        Self {
            // The option to edit all matching sources overrides the selection.
            ids: if is_whole {
                Vec::new()
            } else {
                fields.all("id").filter_map(|id| id.parse().ok()).collect()
            },
            host: text("host").filter(|_| is_whole),
            tag: text("tag").filter(|_| is_whole),
            back: back.unwrap_or_else(|| "/sources".to_owned()),
        }
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.host.is_none() && self.tag.is_none()
    }

    fn selector(&self) -> SourceSelector {
        let (host, tag, ids) = (self.host.clone(), self.tag.clone(), self.ids.clone());
        SourceSelector { urls: Vec::new(), tag, host, ids }
    }

    /// Returns the IDs of all selected sources.
    async fn ids(&self, app: &App) -> Result<Vec<u32>, Problem> {
        if self.host.is_none() && self.tag.is_none() {
            return Ok(self.ids.clone());
        }
        let (name, tag) = (self.host.clone(), self.tag.clone());
        app.read(move |reader| {
            let Some((hosts, scheme)) = find_hosts(reader, name.as_deref())? else {
                return Ok(Vec::new());
            };
            reader.source_ids(&SourceQuery {
                hosts,
                url_prefix: scheme,
                tag,
                limit: usize::MAX,
                ..SourceQuery::default()
            })
        })
        .await
    }
}

/// Applies the action of the pressed button.
pub(super) async fn apply(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let selection = SourceSelection::from_fields(&fields);
    if selection.is_empty() {
        let flash = FlashMessage::error("Nothing was changed: no source is selected.");
        return Ok(redirect_with_flash(&app, &selection.back, flash));
    }
    let action = fields.get("action").unwrap_or_default();
    if action == "remove" {
        return confirm_removal(&app, frame.with_section("sources"), selection).await;
    }
    let result = match parse_bulk_edit(action, &fields) {
        Err(error) => Err(error),
        Ok(BulkEdit::Settings(settings)) => {
            let applied =
                app.handle.edit(SourceEdit::Update(selection.selector(), Box::new(settings))).await;
            applied.map(|it| it.updated).map_err(|error| error.to_string())
        }
        Ok(BulkEdit::Tag(tag, is_added)) => retag(&app, &selection, &tag, is_added).await?,
    };
    app.web.ranking.invalidate().await;
    let flash = match result {
        Ok(count) => {
            let sources = format::plural(count, "source", "sources");
            FlashMessage::success(match action {
                "pause" => format!("Paused {sources}."),
                "resume" => format!("Resumed {sources}."),
                _ => format!("Updated {sources}."),
            })
        }
        Err(error) => FlashMessage::error(format!("Nothing was changed: {error}.")),
    };
    Ok(redirect_with_flash(&app, &selection.back, flash))
}

/// A bulk edit.
enum BulkEdit {
    Settings(SourceSettings),
    /// Adds a tag if true, removes it otherwise.
    Tag(String, bool),
}

fn parse_bulk_edit(action: &str, fields: &FormFields) -> Result<BulkEdit, String> {
    let mut settings = SourceSettings::default();
    match action {
        "pause" => settings.paused = Some(true),
        "resume" => settings.paused = Some(false),
        "importance" => settings.importance = Some(parse_importance(fields.get("importance"))?),
        "intervals" => {
            settings.min_interval = parse_interval("minimum interval", fields.get("shortest"))?;
            settings.max_interval = parse_interval("maximum interval", fields.get("longest"))?;
            if settings == SourceSettings::default() {
                return Err("no interval entered".to_owned());
            }
        }
        "tag" | "untag" => {
            let tag = fields.get("name").ok_or("no tag entered")?.to_owned();
            check_tags(std::slice::from_ref(&tag)).map_err(|problem| problem.detail)?;
            return Ok(BulkEdit::Tag(tag, action == "tag"));
        }
        _ => return Err("unknown action".to_owned()),
    }
    Ok(BulkEdit::Settings(settings))
}

/// Parses an importance.
pub(super) fn parse_importance(text: Option<&str>) -> Result<f64, String> {
    let text = text.ok_or("no importance entered")?;
    let number = text.parse().ok().filter(|it| (0.0..=1e12).contains(it));
    number.ok_or_else(|| format!("importance: “{text}” is not a number, or negative"))
}

fn parse_interval(what: &str, text: Option<&str>) -> Result<Option<f64>, String> {
    let Some(text) = text else { return Ok(None) };
    let days = parse_days(text).filter(|days| *days <= 1e5);
    days.map(Some).ok_or_else(|| {
        format!("{what}: “{text}” is not a duration such as 30min, 1h, 2d, 1w or none")
    })
}

/// Adds or removes a tag. Sources with equal tags afterwards are written together.
async fn retag(
    app: &App,
    selection: &SourceSelection,
    tag: &str,
    is_added: bool,
) -> Result<Result<u64, String>, Problem> {
    let ids = selection.ids(app).await?;
    let mut changed = 0;
    for some in ids.chunks(BATCH_SIZE) {
        let (some, name) = (some.to_vec(), tag.to_owned());
        let by_tags = app.read(move |reader| {
            let mut by_tags: BTreeMap<Vec<String>, Vec<u32>> = BTreeMap::new();
            for id in some {
                let Some(source) = reader.source(id)? else { continue };
                if source.tags.contains(&name) != is_added {
                    let mut tags = source.tags;
                    tags.retain(|it| *it != name);
                    tags.extend(is_added.then(|| name.clone()));
                    by_tags.entry(tags).or_default().push(id);
                }
            }
            Ok(by_tags)
        });
        for (tags, ids) in by_tags.await? {
            if let Err(problem) = check_tags(&tags) {
                return Ok(Err(problem.detail));
            }
            let settings = SourceSettings { tags: Some(tags), ..SourceSettings::default() };
            let selector = SourceSelector { ids, ..SourceSelector::default() };
            match app.handle.edit(SourceEdit::Update(selector, Box::new(settings))).await {
                Ok(EditResult { updated: known, .. }) => changed += known,
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
    }
    Ok(Ok(changed))
}

/// Asks for confirmation before sources are removed.
async fn confirm_removal(
    app: &App,
    frame: Frame,
    selection: SourceSelection,
) -> Result<Response, Problem> {
    let ids = selection.ids(app).await?;
    let first: Vec<u32> = ids.iter().copied().take(10).collect();
    let some = app.read(move |reader| {
        let mut some = Vec::new();
        for id in first {
            some.extend(reader.source(id)?.map(|source| source.url));
        }
        Ok(some)
    });
    let some = some.await?;
    let count = format::plural(ids.len() as u64, "source", "sources");
    render_page(&RemoveConfirmPage { frame, selection, count, more: ids.len() > some.len(), some })
}

/// Removes sources after confirmation.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let selection = SourceSelection::from_fields(&fields);
    if selection.is_empty() {
        return Ok(redirect_with_flash(
            &app,
            &selection.back,
            FlashMessage::error("Nothing was removed: no source is selected."),
        ));
    }
    let applied = app.handle.edit(SourceEdit::Remove(selection.selector())).await?;
    app.web.ranking.invalidate().await;
    let sources = format::plural(applied.removed, "source", "sources");
    Ok(redirect_with_flash(&app, "/sources", FlashMessage::success(format!("Removed {sources}."))))
}
