//! Many sources changed at once: those that are ticked, or all of a host or with a tag.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_daemon::{Applied, Edit, SourceSettings, Which, days_in};
use freshet_store::SourceQuery;

use super::super::form::Fields;
use super::super::frame::{Frame, page};
use super::super::said::{Flash, go_to};
use super::super::words;
use super::find::named;
use crate::app::App;
use crate::problem::Problem;
use crate::routes::check_tags;

/// Sources whose tags are looked at together.
const SOME: usize = 10_000;

#[derive(Template)]
#[template(path = "sources_sure.html")]
struct Sure {
    frame: Frame,
    which: Chosen,
    count: String,
    /// Some of them.
    some: Vec<String>,
    more: bool,
}

/// Sources that something is done with.
pub(super) struct Chosen {
    ids: Vec<u32>,
    host: Option<String>,
    tag: Option<String>,
    /// The page to go back to.
    back: String,
}

impl Chosen {
    fn of(fields: &Fields) -> Self {
        let text = |name: &str| fields.get(name).map(ToOwned::to_owned);
        let is_whole = fields.has("whole");
        let back = text("back").filter(|to| *to == "/sources" || to.starts_with("/sources?"));
        Self {
            // All that fit are more than those that are ticked.
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

    fn is_none(&self) -> bool {
        self.ids.is_empty() && self.host.is_none() && self.tag.is_none()
    }

    fn which(&self) -> Which {
        let (host, tag, ids) = (self.host.clone(), self.tag.clone(), self.ids.clone());
        Which { urls: Vec::new(), tag, host, ids }
    }

    /// The numbers of all of them.
    async fn all(&self, app: &App) -> Result<Vec<u32>, Problem> {
        if self.host.is_none() && self.tag.is_none() {
            return Ok(self.ids.clone());
        }
        let (name, tag) = (self.host.clone(), self.tag.clone());
        app.read(move |reader| {
            let Some((hosts, scheme)) = named(reader, name.as_deref())? else {
                return Ok(Vec::new());
            };
            reader.source_ids(&SourceQuery {
                hosts,
                scheme,
                tag,
                limit: usize::MAX,
                ..SourceQuery::default()
            })
        })
        .await
    }
}

/// Does what a button says with the sources that are chosen.
pub(super) async fn edit(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let chosen = Chosen::of(&fields);
    if chosen.is_none() {
        let told = Flash::bad("Tick the sources first: nothing was changed.");
        return Ok(go_to(&app, &chosen.back, told));
    }
    let action = fields.get("action").unwrap_or_default();
    if action == "remove" {
        return sure(&app, frame.at("sources"), chosen).await;
    }
    let done = match given(action, &fields) {
        Err(why) => Err(why),
        Ok(Change::Given(given)) => {
            let applied = app.handle.edit(Edit::Change(chosen.which(), Box::new(given))).await;
            applied.map(|it| it.known).map_err(|why| why.to_string())
        }
        Ok(Change::Tag(tag, is_added)) => retag(&app, &chosen, &tag, is_added).await?,
    };
    app.web.ranking.forget().await;
    let told = match done {
        Ok(count) => {
            let sources = words::plural(count, "source", "sources");
            Flash::good(match action {
                "pause" => format!("Paused {sources}."),
                "resume" => format!("Resumed {sources}."),
                _ => format!("Changed {sources}."),
            })
        }
        Err(why) => Flash::bad(format!("Nothing was changed: {why}")),
    };
    Ok(go_to(&app, &chosen.back, told))
}

/// What a button changes.
enum Change {
    Given(SourceSettings),
    /// A tag is added, or taken off.
    Tag(String, bool),
}

fn given(action: &str, fields: &Fields) -> Result<Change, String> {
    let mut given = SourceSettings::default();
    match action {
        "pause" => given.paused = Some(true),
        "resume" => given.paused = Some(false),
        "importance" => given.importance = Some(importance(fields.get("importance"))?),
        "intervals" => {
            given.min_interval = interval("the shortest interval", fields.get("shortest"))?;
            given.max_interval = interval("the longest interval", fields.get("longest"))?;
            if given == SourceSettings::default() {
                return Err("no interval is given".to_owned());
            }
        }
        "tag" | "untag" => {
            let tag = fields.get("name").ok_or("no tag is given")?.to_owned();
            check_tags(std::slice::from_ref(&tag)).map_err(|problem| problem.detail)?;
            return Ok(Change::Tag(tag, action == "tag"));
        }
        _ => return Err("no button says what to do".to_owned()),
    }
    Ok(Change::Given(given))
}

/// An importance as it is typed.
pub(super) fn importance(text: Option<&str>) -> Result<f64, String> {
    let text = text.ok_or("no importance is given")?;
    let number = text.parse().ok().filter(|it| (0.0..=1e12).contains(it));
    number.ok_or_else(|| format!("importance: “{text}” is not a number of 0 or more"))
}

fn interval(what: &str, text: Option<&str>) -> Result<Option<f64>, String> {
    let Some(text) = text else { return Ok(None) };
    let days = days_in(text).filter(|days| *days <= 1e5);
    days.map(Some)
        .ok_or_else(|| format!("{what}: “{text}” is not a time such as 30min, 1h, 2d, 1w or none"))
}

/// Adds a tag, or takes it off. Sources that then have the same tags are changed together.
async fn retag(
    app: &App,
    chosen: &Chosen,
    tag: &str,
    is_added: bool,
) -> Result<Result<u64, String>, Problem> {
    let ids = chosen.all(app).await?;
    let mut changed = 0;
    for some in ids.chunks(SOME) {
        let (some, name) = (some.to_vec(), tag.to_owned());
        let alike = app.read(move |reader| {
            let mut alike: BTreeMap<Vec<String>, Vec<u32>> = BTreeMap::new();
            for id in some {
                let Some(source) = reader.source(id)? else { continue };
                if source.tags.contains(&name) != is_added {
                    let mut tags = source.tags;
                    tags.retain(|it| *it != name);
                    tags.extend(is_added.then(|| name.clone()));
                    alike.entry(tags).or_default().push(id);
                }
            }
            Ok(alike)
        });
        for (tags, ids) in alike.await? {
            if let Err(problem) = check_tags(&tags) {
                return Ok(Err(problem.detail));
            }
            let given = SourceSettings { tags: Some(tags), ..SourceSettings::default() };
            let which = Which { ids, ..Which::default() };
            match app.handle.edit(Edit::Change(which, Box::new(given))).await {
                Ok(Applied { known, .. }) => changed += known,
                Err(why) => return Ok(Err(why.to_string())),
            }
        }
    }
    Ok(Ok(changed))
}

/// Asks once more before sources are removed.
async fn sure(app: &App, frame: Frame, which: Chosen) -> Result<Response, Problem> {
    let ids = which.all(app).await?;
    let first: Vec<u32> = ids.iter().copied().take(10).collect();
    let some = app.read(move |reader| {
        let mut some = Vec::new();
        for id in first {
            some.extend(reader.source(id)?.map(|source| source.url));
        }
        Ok(some)
    });
    let some = some.await?;
    let count = words::plural(ids.len() as u64, "source", "sources");
    page(&Sure { frame, which, count, more: ids.len() > some.len(), some })
}

/// Removes sources, after the question.
pub(super) async fn remove(
    State(app): State<Arc<App>>,
    fields: Fields,
) -> Result<Response, Problem> {
    let chosen = Chosen::of(&fields);
    if chosen.is_none() {
        return Ok(go_to(
            &app,
            &chosen.back,
            Flash::bad("Nothing was removed: no source is named."),
        ));
    }
    let applied = app.handle.edit(Edit::Remove(chosen.which())).await?;
    app.web.ranking.forget().await;
    let sources = words::plural(applied.removed, "source", "sources");
    Ok(go_to(&app, "/sources", Flash::good(format!("Removed {sources}."))))
}
