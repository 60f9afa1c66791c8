//! Who is told of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{DestinationEdit, Millis};
use freshet_model::moment;
use freshet_notify::{
    DeadLetterView, DestinationView, EntryKind, RawChannel, RawCommand, RawEmail, RawFilter,
    RawTarget, RawWebhook,
};
use freshet_store::{Destination, Reader, StoreError};
use serde::Deserialize;

use crate::app::App;
use crate::input::{Place, Query};
use crate::problem::Problem;
use crate::routes::destinations::{change_key, make, try_out, view};
use crate::web::form::Fields;
use crate::web::frame::{Frame, page, page_with};
use crate::web::said::{Flash, go_to};
use crate::web::words;

/// Deliveries that were given up that are shown.
const DEAD: usize = 20;
/// Seconds that an old secret is good for: a day.
const GRACE: u64 = 86_400;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings/destinations/new", get(describe).post(add))
        .route("/settings/destinations/{id}", get(show))
        .route("/settings/destinations/{id}/test", post(test))
        .route("/settings/destinations/{id}/pause", post(pause))
        .route("/settings/destinations/{id}/rotate", post(rotate))
        .route("/settings/destinations/{id}/retry", post(retry))
        .route("/settings/destinations/{id}/forget", post(forget))
        .route("/settings/destinations/{id}/remove", post(remove))
}

/// A destination in the list.
pub(super) struct DestinationRow {
    pub(super) id: u32,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) to: String,
    pub(super) told: String,
    pub(super) error: Option<String>,
    pub(super) is_paused: bool,
    pub(super) dead: u64,
}

impl DestinationRow {
    pub(super) fn all(reader: &Reader, now: Millis) -> Result<Vec<Self>, StoreError> {
        let row = |it: &Destination| {
            let dead = reader.count_dead_letters(it.id)?;
            let view = DestinationView::new(it, dead);
            Ok(Self {
                id: it.id,
                told: moment::last(it.delivered_at, now),
                name: view.name,
                kind: view.kind,
                to: view.to,
                error: view.error,
                is_paused: it.paused,
                dead,
            })
        };
        reader.destinations()?.iter().map(row).collect()
    }
}

#[derive(Template)]
#[template(path = "destination_new.html")]
struct New {
    frame: Frame,
    error: Option<Problem>,
    said: FormState,
    kinds: Vec<(&'static str, bool)>,
}

/// What stands in the form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct FormState {
    name: String,
    way: String,
    webhook: String,
    header: String,
    mail: String,
    command: String,
    digest: String,
    tag: String,
    host: String,
    url: String,
    importance: String,
    same: String,
    kind: String,
    #[serde(skip)]
    kinds: Vec<String>,
}

impl FormState {
    fn of(fields: &Fields) -> Self {
        let text = |name| fields.text(name).trim().to_owned();
        Self {
            name: text("name"),
            way: text("way"),
            webhook: text("webhook"),
            header: text("header"),
            mail: text("mail"),
            command: text("command"),
            digest: text("digest"),
            tag: text("tag"),
            host: text("host"),
            url: text("url"),
            importance: text("importance"),
            same: text("same"),
            kind: String::new(),
            kinds: fields.all("kind").map(ToOwned::to_owned).collect(),
        }
    }

    fn target(&self) -> Result<RawTarget, Problem> {
        let some = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
        let number = |text: &str, field: &str| match text {
            "" => Ok(None),
            text => text
                .parse::<f64>()
                .map(Some)
                .map_err(|_| Problem::field(field, format!("`{text}` is not a number"))),
        };
        let kinds = self.kinds.iter().filter(|it| !it.is_empty()).map(|it| it.parse::<EntryKind>());
        let kinds = kinds.collect::<Result<_, _>>().map_err(|why| Problem::field("kind", why))?;
        let to = match self.way.as_str() {
            "webhook" => RawChannel::Webhook(RawWebhook {
                url: self.webhook.clone(),
                headers: self.headers()?,
                keys: Vec::new(),
            }),
            "mail" => {
                let to = self.mail.split([',', ';', ' ', '\n']).map(str::trim);
                let to = to.filter(|it| !it.is_empty()).map(ToOwned::to_owned).collect();
                RawChannel::Email(RawEmail { to, from: None })
            }
            "command" => RawChannel::Command(RawCommand { name: self.command.clone() }),
            other => return Err(Problem::field("way", format!("`{other}` is no way to be told"))),
        };
        Ok(RawTarget {
            filter: RawFilter {
                tag: some(&self.tag),
                host: some(&self.host),
                url: some(&self.url),
                min_importance: number(&self.importance, "importance")?,
                max_similarity: number(&self.same, "same")?.map(|it| it / 100.0),
                kinds,
            },
            digest: some(&self.digest),
            ..RawTarget::new(to)
        })
    }

    fn headers(&self) -> Result<BTreeMap<String, String>, Problem> {
        let lines = self.header.lines().map(str::trim).filter(|it| !it.is_empty());
        let each = lines.map(|line| {
            let pair = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
            let (name, value) = pair.ok_or_else(|| {
                Problem::field("header", "a header is a name, a colon and a value")
            })?;
            Ok((name.to_owned(), value.to_owned()))
        });
        each.collect()
    }
}

fn new(frame: Frame, said: FormState, error: Option<Problem>) -> New {
    let kinds = EntryKind::ALL.iter().map(|it| {
        let name = it.name();
        (name, said.kinds.iter().any(|it| it == name) || said.kind == name)
    });
    New { kinds: kinds.collect(), frame: frame.at("settings"), error, said }
}

async fn describe(frame: Frame, Query(mut said): Query<FormState>) -> Result<Response, Problem> {
    if said.way.is_empty() {
        "webhook".clone_into(&mut said.way);
    }
    page(&new(frame, said, None))
}

async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: Fields,
) -> Result<Response, Problem> {
    let said = FormState::of(&fields);
    let made = match said.target() {
        Ok(raw) => make(&app, said.name.clone(), None, raw).await,
        Err(problem) => Err(problem),
    };
    match made {
        Ok((secret, view)) => {
            let told =
                Flash { secret, ..Flash::good(format!("{} is told from now on.", view.name)) };
            Ok(go_to(&app, &format!("/settings/destinations/{}", view.id), told))
        }
        // What was typed is not typed again.
        Err(problem) if problem.status < 500 => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            page_with(status, &new(frame, said, Some(problem)))
        }
        Err(problem) => Err(problem),
    }
}

#[derive(Template)]
#[template(path = "destination.html")]
struct Shown {
    frame: Frame,
    it: DestinationView,
    delivered: String,
    filter: Vec<(&'static str, String)>,
    dead: Vec<DeadLetterView>,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
) -> Result<Response, Problem> {
    let it = view(&app, id).await?;
    let now = frame.now;
    let read =
        app.read(move |reader| Ok((reader.dead_letters(id, 0, DEAD)?, reader.destination(id)?)));
    let (dead, row) = read.await?;
    let filter = &it.filter;
    let mut shown = Vec::new();
    let texts = [("Tag", &filter.tag), ("Host", &filter.host), ("URL begins with", &filter.url)];
    for (name, value) in texts {
        shown.extend(value.clone().map(|value| (name, value)));
    }
    shown.extend(filter.min_importance.map(|it| ("Importance at least", words::figure(it))));
    shown.extend(filter.max_similarity.map(|it| ("At most the same", words::percent(it))));
    if !filter.kinds.is_empty() {
        let names: Vec<_> = filter.kinds.iter().map(|it| it.name()).collect();
        shown.push(("What happened", names.join(", ")));
    }
    page(&Shown {
        frame: frame.at("settings"),
        delivered: moment::last(row.and_then(|it| it.delivered_at), now),
        filter: shown,
        dead: dead.iter().map(DeadLetterView::new).collect(),
        it,
    })
}

fn back(id: u32) -> String {
    format!("/settings/destinations/{id}")
}

async fn test(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    _: Fields,
) -> Result<Response, Problem> {
    let result = try_out(&app, id).await?;
    let told = match (result.receipt, result.error) {
        (Some(receipt), _) => Flash::good(format!("It arrived. Answer: {}", receipt.answer)),
        (None, error) => {
            let answer = result.answer.map(|it| format!(" Answer: {it}")).unwrap_or_default();
            Flash::bad(format!("It did not arrive: {}.{answer}", error.unwrap_or_default()))
        }
    };
    Ok(go_to(&app, &back(id), told))
}

async fn pause(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let paused = fields.get("paused") == Some("1");
    app.handle.edit_destination(DestinationEdit::Pause { id, paused }).await?;
    let told = if paused {
        "Nothing is told for the time being. What comes meanwhile is told afterwards."
    } else {
        "It is told again, also of what came meanwhile."
    };
    Ok(go_to(&app, &back(id), Flash::good(told)))
}

async fn rotate(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    _: Fields,
) -> Result<Response, Problem> {
    let (secret, _) = change_key(&app, id, GRACE).await?;
    let told = Flash::good("There is a new secret. The old one signs as well for a day.");
    Ok(go_to(&app, &back(id), Flash { secret: Some(secret), ..told }))
}

async fn retry(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    _: Fields,
) -> Result<Response, Problem> {
    let notifier = app.notifier.as_ref().ok_or_else(|| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "nobody tells destinations here")
    })?;
    let retried = notifier.retry_dead_letters(id).await?;
    let absent = || Problem::absent(format!("there is no destination {id}"));
    let retried = retried.ok_or_else(absent)?;
    let sent = words::plural(retried.sent as u64, "delivery", "deliveries");
    let told = match retried.error {
        None => Flash::good(format!("{sent} arrived; {} are left.", retried.remaining)),
        Some(trouble) => {
            Flash::bad(format!("{sent} arrived; the next did not: {}", trouble.message))
        }
    };
    Ok(go_to(&app, &back(id), told))
}

async fn forget(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let wanted: Vec<i64> = fields.all("letter").filter_map(|it| it.parse().ok()).collect();
    // Only its own: numbers are for all destinations together.
    let own = app.read(move |reader| reader.dead_letters(id, 0, usize::MAX)).await?;
    let dead: Vec<i64> = own.iter().map(|it| it.id).filter(|it| wanted.contains(it)).collect();
    let count = app.handle.edit_destination(DestinationEdit::Unbury { dead }).await?;
    let told = format!("{} forgotten.", words::plural(count, "delivery is", "deliveries are"));
    Ok(go_to(&app, &back(id), Flash::good(told)))
}

async fn remove(
    State(app): State<Arc<App>>,
    Place(id): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let name = view(&app, id).await?.name;
    if fields.get("name") != Some(name.as_str()) {
        return Ok(go_to(&app, &back(id), Flash::bad("Type its name to remove it.")));
    }
    app.handle.edit_destination(DestinationEdit::Remove { id }).await?;
    Ok(go_to(&app, "/settings#destinations", Flash::good(format!("{name} is told no more."))))
}
