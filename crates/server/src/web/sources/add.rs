//! Imports of pasted sources, with a preview.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_daemon::{NewSourceRequest, SourceEdit, SourceSettings};

use super::super::flash::{FlashMessage, redirect_with_flash};
use super::super::form_fields::FormFields;
use super::super::frame::{Frame, render_page};
use super::super::{format, internal_error};
use super::bulk_edit::parse_importance;
use super::paste_store::{self, MAX_PASTE_BYTES, PasteContents, RejectedLine};
use crate::add_impact::{AddImpact, estimate_add_impact};
use crate::app::App;
use crate::problem::Problem;
use crate::routes::check_tags;

/// Sources added per write.
const BATCH_SIZE: usize = 10_000;
/// New sources listed in the preview.
const MAX_LISTED: usize = 50;
/// A loss of freshness below this, in percentage points, is not mentioned.
const MIN_LOSS_POINTS: f64 = 0.05;

#[derive(Template)]
#[template(path = "sources_add.html")]
struct AddPage {
    frame: Frame,
    text: String,
    options: ImportOptions,
    error: Option<String>,
}

/// Settings for all imported sources, as submitted.
#[derive(Clone, Debug)]
struct ImportOptions {
    importance: String,
    tags: String,
    folders: bool,
}

impl ImportOptions {
    fn from_fields<const MIB: usize>(fields: &FormFields<MIB>) -> Self {
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        Self { importance: text("importance"), tags: text("tags"), folders: fields.has("folders") }
    }

    /// Returns importance and tags.
    fn validate(&self) -> Result<(f64, Vec<String>), String> {
        let importance = match self.importance.as_str() {
            "" => 1.0,
            text => parse_importance(Some(text))?,
        };
        let tags = self.tags.split(',').map(str::trim).filter(|it| !it.is_empty());
        let tags: Vec<String> = tags.map(ToOwned::to_owned).collect();
        check_tags(&tags).map_err(|problem| problem.detail)?;
        Ok((importance, tags))
    }
}

/// Shows the form.
pub(super) async fn show(frame: Frame) -> Result<Response, Problem> {
    let options = ImportOptions { importance: String::new(), tags: String::new(), folders: true };
    render_page(&AddPage {
        frame: frame.with_section("sources"),
        text: String::new(),
        options,
        error: None,
    })
}

#[derive(Template)]
#[template(path = "sources_preview.html")]
struct PreviewPage {
    frame: Frame,
    paste: String,
    options: ImportOptions,
    format: String,
    is_opml: bool,
    new: u64,
    listed_new: Vec<String>,
    known: u64,
    listed_known: Vec<String>,
    duplicates: u64,
    rejected: u64,
    listed_rejected: Vec<RejectedLine>,
    stopped: Option<String>,
    effect: Option<EffectView>,
}

/// Effect of an import, formatted for the page.
struct EffectView {
    sentence: String,
    rows: Vec<(&'static str, String, String)>,
    keeping: Option<String>,
    /// Price of a fetch before and after, as a raw figure.
    price: String,
}

/// Shows the effect of an import. Changes nothing.
pub(super) async fn preview(
    State(app): State<Arc<App>>,
    frame: Frame,
    // Percent-encoding may triple the size.
    fields: FormFields<49>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("sources");
    let options = ImportOptions::from_fields(&fields);
    let again = |text: &str, error: String| {
        // Text too long to submit again is dropped.
        let text = if text.len() > 1 << 20 { String::new() } else { text.to_owned() };
        (text, Some(error))
    };
    let stored = fields
        .get("paste")
        .and_then(|name| Some((name.to_owned(), app.web.pastes.get(&frame.form_key, name)?)));
    let pasted = match (&stored, fields.get("text")) {
        (Some((_, text)), _) => text.as_ref(),
        (None, Some(text)) => text,
        (None, None) => "",
    };
    let checked = match options.validate() {
        _ if pasted.is_empty() => Err("Paste at least one URL.".to_owned()),
        _ if pasted.len() > MAX_PASTE_BYTES => {
            let limit = MAX_PASTE_BYTES >> 20;
            Err(format!("Larger than {limit} MiB. Use `freshet import` for files of any size."))
        }
        checked => checked,
    };
    let (of_all, _) = match checked {
        Ok(checked) => checked,
        Err(error) => {
            let (text, error) = again(pasted, error);
            return render_page(&AddPage { frame, text, options, error });
        }
    };
    let (name, text) = match stored {
        Some(stored) => stored,
        None => {
            let name = app.web.pastes.insert(&frame.form_key, pasted).map_err(internal_error)?;
            (name, pasted.into())
        }
    };
    let contents = read_paste(&app, text).await?;
    let effect = match contents.new.is_empty() {
        true => None,
        false => estimate_add_impact(&app, &contents.hosts, of_all).await?,
    };
    let new = contents.new.len() as u64;
    render_page(&PreviewPage {
        frame,
        paste: name,
        options,
        format: contents.format.to_string(),
        is_opml: contents.format == freshet_tables::ListFormat::Opml,
        new,
        listed_new: contents.new.into_iter().take(MAX_LISTED).map(|(url, _)| url).collect(),
        known: contents.known,
        listed_known: contents.listed_known,
        duplicates: contents.duplicates,
        rejected: contents.rejected,
        listed_rejected: contents.listed_rejected,
        stopped: contents.stopped,
        effect: effect.map(|it| EffectView::new(&it, new)),
    })
}

async fn read_paste(app: &App, text: Arc<str>) -> Result<PasteContents, Problem> {
    let handle = app.handle.clone();
    app.read(move |reader| paste_store::read(&text, reader, &handle)).await
}

impl EffectView {
    fn new(it: &AddImpact, new: u64) -> Self {
        let (before, after) = (it.before, it.after);
        let share = match it.share {
            share if share < 0.001 => "less than 0.1%".to_owned(),
            share => format::percent(share),
        };
        let lost = 100.0 * (before.freshness - after.freshness);
        let fresh = match lost {
            _ if lost < MIN_LOSS_POINTS => "existing sources stay as fresh as they are".to_owned(),
            _ => format!(
                "the freshness of existing sources falls from {} to {}",
                format::percent(before.freshness),
                format::percent(after.freshness)
            ),
        };
        let them = if new == 1 { "the new source takes" } else { "the new sources take" };
        // If freshness stays the same, no other budget is suggested.
        let keeping = it
            .compensating_budget
            .filter(|to| lost >= MIN_LOSS_POINTS && *to > it.budget * 1.000_5);
        let keeping = keeping.map(|to| {
            format!(
                "To keep existing sources as fresh as they are, raise the budget from {} to {} fetches per day.",
                format::rounded(it.budget),
                format::rounded(to)
            )
        });
        Self {
            sentence: format!("At the current budget, {them} {share} of the fetches, and {fresh}."),
            rows: vec![
                ("Freshness", format::percent(before.freshness), format::percent(after.freshness)),
                ("Mean age", format::duration(before.age), format::duration(after.age)),
            ],
            keeping,
            price: format!(
                "Price of a fetch: {} now, {} after",
                format::number(before.price),
                format::number(after.price)
            ),
        }
    }
}

/// Adds the new sources of a paste. Existing sources are not changed.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let name = fields.get("paste").unwrap_or_default();
    let Some(text) = app.web.pastes.get(&frame.form_key, name) else {
        let flash =
            FlashMessage::error("Nothing was added: the pasted list has expired. Paste it again.");
        return Ok(redirect_with_flash(&app, "/sources/add", flash));
    };
    let options = ImportOptions::from_fields(&fields);
    let (importance, tags) = match options.validate() {
        Ok(checked) => checked,
        Err(error) => {
            let text = if text.len() > 1 << 20 { String::new() } else { text.to_string() };
            let frame = frame.with_section("sources");
            return render_page(&AddPage { frame, text, options, error: Some(error) });
        }
    };
    let mut new = read_paste(&app, text).await?.new.into_iter().peekable();
    let mut count = 0;
    while new.peek().is_some() {
        let some = new.by_ref().take(BATCH_SIZE).map(|(url, folders)| {
            let mut all = tags.clone();
            if options.folders {
                // Folder names that are not valid tags are skipped.
                all.extend(
                    folders.into_iter().filter(|it| check_tags(std::slice::from_ref(it)).is_ok()),
                );
            }
            let tags = (!all.is_empty()).then_some(all);
            NewSourceRequest {
                url,
                settings: SourceSettings {
                    importance: Some(importance),
                    tags,
                    ..SourceSettings::default()
                },
            }
        });
        count += app.handle.edit(SourceEdit::Add(some.collect())).await?.created;
    }
    app.web.pastes.remove(&frame.form_key, name);
    app.web.ranking.invalidate().await;
    let sources = format::plural(count, "source", "sources");
    Ok(redirect_with_flash(&app, "/sources", FlashMessage::success(format!("Added {sources}."))))
}
