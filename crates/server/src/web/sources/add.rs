//! Sources added by paste, after a look at what that would do.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_daemon::{Edit, NewSourceRequest, SourceSettings};

use super::super::form::Fields;
use super::super::frame::{Frame, page};
use super::super::said::{Flash, go_to};
use super::super::{fault, words};
use super::edit::importance;
use super::paste::{self, Contents, LARGEST, Refused};
use crate::adding::{Effect, effect_of};
use crate::app::App;
use crate::problem::Problem;
use crate::routes::check_tags;

/// Sources that are added at once.
const SOME: usize = 10_000;
/// New ones that are shown.
const SHOWN: usize = 50;
/// Points of freshness that are not worth a word.
const SLIGHT: f64 = 0.05;

#[derive(Template)]
#[template(path = "sources_add.html")]
struct Add {
    frame: Frame,
    text: String,
    options: Options,
    error: Option<String>,
}

/// What is said of all of them, as it is typed.
#[derive(Clone, Debug)]
struct Options {
    importance: String,
    tags: String,
    folders: bool,
}

impl Options {
    fn of<const MIB: usize>(fields: &Fields<MIB>) -> Self {
        let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
        Self { importance: text("importance"), tags: text("tags"), folders: fields.has("folders") }
    }

    /// The importance, and the tags.
    fn checked(&self) -> Result<(f64, Vec<String>), String> {
        let importance = match self.importance.as_str() {
            "" => 1.0,
            text => importance(Some(text))?,
        };
        let tags = self.tags.split(',').map(str::trim).filter(|it| !it.is_empty());
        let tags: Vec<String> = tags.map(ToOwned::to_owned).collect();
        check_tags(&tags).map_err(|problem| problem.detail)?;
        Ok((importance, tags))
    }
}

/// The form.
pub(super) async fn show(frame: Frame) -> Result<Response, Problem> {
    let options = Options { importance: String::new(), tags: String::new(), folders: true };
    page(&Add { frame: frame.at("sources"), text: String::new(), options, error: None })
}

#[derive(Template)]
#[template(path = "sources_preview.html")]
struct Preview {
    frame: Frame,
    paste: String,
    options: Options,
    format: String,
    is_opml: bool,
    new: u64,
    some_new: Vec<String>,
    known: u64,
    some_known: Vec<String>,
    again: u64,
    refused: u64,
    some_refused: Vec<Refused>,
    stopped: Option<String>,
    effect: Option<EffectView>,
}

/// What they would do, in words.
struct EffectView {
    sentence: String,
    rows: Vec<(&'static str, String, String)>,
    keeping: Option<String>,
}

/// What a paste would do. Nothing is changed.
pub(super) async fn preview(
    State(app): State<Arc<App>>,
    frame: Frame,
    // As a form writes it, a byte may take three.
    fields: Fields<49>,
) -> Result<Response, Problem> {
    let frame = frame.at("sources");
    let options = Options::of(&fields);
    let again = |text: &str, error: String| {
        // What is too long to be sent again is not shown again.
        let text = if text.len() > 1 << 20 { String::new() } else { text.to_owned() };
        (text, Some(error))
    };
    let kept = fields
        .get("paste")
        .and_then(|name| Some((name.to_owned(), app.web.pastes.get(&frame.key, name)?)));
    let pasted = match (&kept, fields.get("text")) {
        (Some((_, text)), _) => text.as_ref(),
        (None, Some(text)) => text,
        (None, None) => "",
    };
    let checked = match options.checked() {
        _ if pasted.is_empty() => Err("Paste at least one URL.".to_owned()),
        _ if pasted.len() > LARGEST => {
            let limit = LARGEST >> 20;
            Err(format!("More than {limit} MiB: `freshet import` takes a file of any size."))
        }
        checked => checked,
    };
    let (of_all, _) = match checked {
        Ok(checked) => checked,
        Err(error) => {
            let (text, error) = again(pasted, error);
            return page(&Add { frame, text, options, error });
        }
    };
    let (name, text) = match kept {
        Some(kept) => kept,
        None => {
            let name = app.web.pastes.keep(&frame.key, pasted).map_err(fault)?;
            (name, pasted.into())
        }
    };
    let contents = contents(&app, text).await?;
    let effect = match contents.new.is_empty() {
        true => None,
        false => effect_of(&app, &contents.hosts, of_all).await?,
    };
    let new = contents.new.len() as u64;
    page(&Preview {
        frame,
        paste: name,
        options,
        format: contents.format.to_string(),
        is_opml: contents.format == freshet_tables::ListFormat::Opml,
        new,
        some_new: contents.new.into_iter().take(SHOWN).map(|(url, _)| url).collect(),
        known: contents.known,
        some_known: contents.some_known,
        again: contents.again,
        refused: contents.refused,
        some_refused: contents.some_refused,
        stopped: contents.stopped,
        effect: effect.map(|it| EffectView::of(&it, new)),
    })
}

async fn contents(app: &App, text: Arc<str>) -> Result<Contents, Problem> {
    let handle = app.handle.clone();
    app.read(move |reader| paste::read(&text, reader, &handle)).await
}

impl EffectView {
    fn of(it: &Effect, new: u64) -> Self {
        let (before, after) = (it.before, it.after);
        let share = match it.share {
            share if share < 0.001 => "less than 0.1 %".to_owned(),
            share => words::percent(share),
        };
        let lost = 100.0 * (before.freshness - after.freshness);
        let fresh = match lost {
            _ if lost < SLIGHT => "those that are there stay as fresh as they are".to_owned(),
            _ => format!(
                "those that are there go from {} to {} fresh",
                words::percent(before.freshness),
                words::percent(after.freshness)
            ),
        };
        let them = if new == 1 { "it takes" } else { "they take" };
        // What stays as it is needs nothing to keep it so.
        let keeping = it.keeping.filter(|to| lost >= SLIGHT && *to > it.budget * 1.000_5);
        let keeping = keeping.map(|to| {
            format!(
                "To keep those that are there as they are, raise the budget from {} to {} fetches a \
                 day.",
                words::figure(it.budget),
                words::figure(to)
            )
        });
        Self {
            sentence: format!("At the same budget, {them} {share} of the fetches, and {fresh}."),
            rows: vec![
                ("Fresh", words::percent(before.freshness), words::percent(after.freshness)),
                ("Mean age", words::days(before.age), words::days(after.age)),
                ("Price of a fetch", words::figure(before.price), words::figure(after.price)),
            ],
            keeping,
        }
    }
}

/// Adds what is new in a paste. What is a source already stays as it is.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let name = fields.get("paste").unwrap_or_default();
    let Some(text) = app.web.pastes.get(&frame.key, name) else {
        let told =
            Flash::bad("Nothing was added: what was pasted is no longer kept. Paste it again.");
        return Ok(go_to(&app, "/sources/add", told));
    };
    let options = Options::of(&fields);
    let (importance, tags) = match options.checked() {
        Ok(checked) => checked,
        Err(error) => {
            let text = if text.len() > 1 << 20 { String::new() } else { text.to_string() };
            let frame = frame.at("sources");
            return page(&Add { frame, text, options, error: Some(error) });
        }
    };
    let mut new = contents(&app, text).await?.new.into_iter().peekable();
    let mut count = 0;
    while new.peek().is_some() {
        let some = new.by_ref().take(SOME).map(|(url, folders)| {
            let mut all = tags.clone();
            if options.folders {
                // What cannot be a tag is only the name of a folder.
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
        count += app.handle.edit(Edit::Add(some.collect())).await?.new;
    }
    app.web.pastes.forget(&frame.key, name);
    app.web.ranking.forget().await;
    let sources = words::plural(count, "source", "sources");
    Ok(go_to(
        &app,
        "/sources",
        Flash::good(format!("Added {sources}. They are fetched as the budget allows.")),
    ))
}
