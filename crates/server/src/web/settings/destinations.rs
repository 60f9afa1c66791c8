//! Notifications: the destinations that changes are sent to.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use freshet_daemon::{DestinationEdit, Millis};
use freshet_model::time_format;
use freshet_notify::{
    DeadLetterView, DestinationView, EntryKind, RawChannel, RawCommand, RawEmail, RawFilter,
    RawTarget, RawWebhook,
};
use freshet_store::{Destination, Reader, StoreError};
use serde::Deserialize;

use crate::app::App;
use crate::extractors::{PathParams, QueryParams};
use crate::problem::Problem;
use crate::routes::destinations::{create, load_view, rotate_key, send_test};
use crate::web::flash::{FlashMessage, redirect_with_flash};
use crate::web::form_fields::FormFields;
use crate::web::format;
use crate::web::frame::{Frame, render_page, render_page_with_status};

/// Failed deliveries shown.
const MAX_DEAD_LETTERS: usize = 20;
/// Seconds for which an old secret stays valid: a day.
const OLD_SECRET_SECONDS: u64 = 86_400;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/settings/destinations/new", get(show_form).post(add))
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
    pub(super) delivered: String,
    pub(super) error: Option<String>,
    pub(super) is_paused: bool,
    pub(super) dead: u64,
}

impl DestinationRow {
    pub(super) fn load(reader: &Reader, now: Millis) -> Result<Vec<Self>, StoreError> {
        let row = |it: &Destination| {
            let dead = reader.count_dead_letters(it.id)?;
            let view = DestinationView::new(it, dead);
            Ok(Self {
                id: it.id,
                delivered: time_format::format_last(it.delivered_at, now),
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
struct NewDestinationPage {
    frame: Frame,
    error: Option<Problem>,
    form: DestinationForm,
    kinds: Vec<(&'static str, bool)>,
}

/// Values of the form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct DestinationForm {
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

impl DestinationForm {
    fn from_fields(fields: &FormFields) -> Self {
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
                .map_err(|_| Problem::invalid(field, format!("`{text}` is not a number"))),
        };
        let kinds = self.kinds.iter().filter(|it| !it.is_empty()).map(|it| it.parse::<EntryKind>());
        let kinds =
            kinds.collect::<Result<_, _>>().map_err(|error| Problem::invalid("kind", error))?;
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
            other => {
                return Err(Problem::invalid("way", format!("`{other}` is not a channel")));
            }
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
            let (name, value) =
                pair.ok_or_else(|| Problem::invalid("header", "enter headers as `Name: value`"))?;
            Ok((name.to_owned(), value.to_owned()))
        });
        each.collect()
    }
}

fn new_page(frame: Frame, form: DestinationForm, error: Option<Problem>) -> NewDestinationPage {
    let kinds = EntryKind::ALL.iter().map(|it| {
        let name = it.name();
        (name, form.kinds.iter().any(|it| it == name) || form.kind == name)
    });
    NewDestinationPage {
        kinds: kinds.collect(),
        frame: frame.with_section("settings"),
        error,
        form,
    }
}

async fn show_form(
    frame: Frame,
    QueryParams(mut form): QueryParams<DestinationForm>,
) -> Result<Response, Problem> {
    if form.way.is_empty() {
        "webhook".clone_into(&mut form.way);
    }
    render_page(&new_page(frame, form, None))
}

async fn add(
    State(app): State<Arc<App>>,
    frame: Frame,
    fields: FormFields,
) -> Result<Response, Problem> {
    let form = DestinationForm::from_fields(&fields);
    let made = match form.target() {
        Ok(raw) => create(&app, form.name.clone(), None, raw).await,
        Err(problem) => Err(problem),
    };
    match made {
        Ok((secret, view)) => {
            let flash = FlashMessage {
                secret,
                ..FlashMessage::success(format!("Notification {} added.", view.name))
            };
            Ok(redirect_with_flash(&app, &format!("/settings/destinations/{}", view.id), flash))
        }
        // Keeps the submitted values in the form.
        Err(problem) if problem.status < 500 => {
            let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
            render_page_with_status(status, &new_page(frame, form, Some(problem)))
        }
        Err(problem) => Err(problem),
    }
}

#[derive(Template)]
#[template(path = "destination.html")]
struct DestinationPage {
    frame: Frame,
    destination: DestinationView,
    delivered: String,
    filter: Vec<(&'static str, String)>,
    dead: Vec<DeadLetterView>,
}

async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
) -> Result<Response, Problem> {
    let destination = load_view(&app, id).await?;
    let now = frame.now;
    let read = app.read(move |reader| {
        Ok((reader.dead_letters(id, 0, MAX_DEAD_LETTERS)?, reader.destination(id)?))
    });
    let (dead, row) = read.await?;
    let filter = &destination.filter;
    let mut filter_rows = Vec::new();
    let texts = [("Tag", &filter.tag), ("Host", &filter.host), ("URL prefix", &filter.url)];
    for (name, value) in texts {
        filter_rows.extend(value.clone().map(|value| (name, value)));
    }
    filter_rows.extend(filter.min_importance.map(|it| ("Minimum importance", format::number(it))));
    filter_rows.extend(filter.max_similarity.map(|it| ("Maximum similarity", format::percent(it))));
    if !filter.kinds.is_empty() {
        let names: Vec<_> = filter.kinds.iter().map(|it| it.name()).collect();
        filter_rows.push(("Types", names.join(", ")));
    }
    render_page(&DestinationPage {
        frame: frame.with_section("settings"),
        delivered: time_format::format_last(row.and_then(|it| it.delivered_at), now),
        filter: filter_rows,
        dead: dead.iter().map(DeadLetterView::new).collect(),
        destination,
    })
}

fn destination_path(id: u32) -> String {
    format!("/settings/destinations/{id}")
}

async fn test(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    _: FormFields,
) -> Result<Response, Problem> {
    let result = send_test(&app, id).await?;
    let flash = match (result.receipt, result.error) {
        (Some(receipt), _) => {
            FlashMessage::success(format!("Test delivered. Response: {}", receipt.answer))
        }
        (None, error) => {
            let answer = result.answer.map(|it| format!(" Response: {it}")).unwrap_or_default();
            FlashMessage::error(format!(
                "Test not delivered: {}.{answer}",
                error.unwrap_or_default()
            ))
        }
    };
    Ok(redirect_with_flash(&app, &destination_path(id), flash))
}

async fn pause(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let paused = fields.get("paused") == Some("1");
    app.handle.edit_destination(DestinationEdit::SetPaused { id, paused }).await?;
    let flash = if paused {
        "Paused. Changes are sent after it is resumed."
    } else {
        "Resumed. Changes found while it was paused are sent now."
    };
    Ok(redirect_with_flash(&app, &destination_path(id), FlashMessage::success(flash)))
}

async fn rotate(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    _: FormFields,
) -> Result<Response, Problem> {
    let (secret, _) = rotate_key(&app, id, OLD_SECRET_SECONDS).await?;
    let flash =
        FlashMessage::success("New signing secret created. The old one stays valid for a day.");
    Ok(redirect_with_flash(
        &app,
        &destination_path(id),
        FlashMessage { secret: Some(secret), ..flash },
    ))
}

async fn retry(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    _: FormFields,
) -> Result<Response, Problem> {
    let notifier = app.notifier.as_ref().ok_or_else(|| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "notifications are disabled")
    })?;
    let retried = notifier.retry_dead_letters(id).await?;
    let absent = || Problem::not_found(format!("destination {id} not found"));
    let retried = retried.ok_or_else(absent)?;
    let sent = format::plural(retried.sent as u64, "delivery", "deliveries");
    let flash = match retried.error {
        None => FlashMessage::success(format!("{sent} sent; {} left.", retried.remaining)),
        Some(trouble) => {
            FlashMessage::error(format!("{sent} sent; the next one failed: {}", trouble.message))
        }
    };
    Ok(redirect_with_flash(&app, &destination_path(id), flash))
}

async fn forget(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let selected: Vec<i64> = fields.all("letter").filter_map(|it| it.parse().ok()).collect();
    // IDs are unique across destinations; only those of this destination may be discarded.
    let own = app.read(move |reader| reader.dead_letters(id, 0, usize::MAX)).await?;
    let dead: Vec<i64> = own.iter().map(|it| it.id).filter(|it| selected.contains(it)).collect();
    let count = app
        .handle
        .edit_destination(DestinationEdit::RemoveDeadLetters { dead_letters: dead })
        .await?;
    let flash = format!("{} discarded.", format::plural(count, "delivery", "deliveries"));
    Ok(redirect_with_flash(&app, &destination_path(id), FlashMessage::success(flash)))
}

async fn remove(
    State(app): State<Arc<App>>,
    PathParams(id): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let name = load_view(&app, id).await?.name;
    if fields.get("name") != Some(name.as_str()) {
        return Ok(redirect_with_flash(
            &app,
            &destination_path(id),
            FlashMessage::error("Not removed: the name does not match."),
        ));
    }
    app.handle.edit_destination(DestinationEdit::Remove { id }).await?;
    Ok(redirect_with_flash(
        &app,
        "/settings#destinations",
        FlashMessage::success(format!("Notification {name} removed.")),
    ))
}
