//! Owners of sites say which of their pages have changed (IndexNow).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{Accepted, Announcement, host_of};
use serde::Deserialize;
use url::Url;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::input::any;
use crate::problem::Problem;

/// Pages that are named at once.
const MOST: usize = 10_000;
/// Bytes of a request at most.
const BYTES: usize = 16 << 20;
/// Characters of a URL at most.
const LONGEST: usize = 2048;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(one, many))
}

/// Pages of a site that have changed, as IndexNow says it.
#[derive(Deserialize, ToSchema)]
struct IndexNow {
    /// The site: `www.example.com`.
    host: String,
    /// 8 to 128 letters, digits and `-`.
    key: String,
    /// Where the key is, if not at `/KEY.txt`: on the same host, and for pages below it.
    #[serde(rename = "keyLocation")]
    key_location: Option<String>,
    /// The pages, up to 10,000.
    #[serde(rename = "urlList")]
    #[schema(max_items = 10000)]
    url_list: Vec<String>,
}

/// Say that a page of yours has changed
///
/// By IndexNow: the key must stand on the site at `/KEY.txt`, or at `keyLocation`. Only while
/// `signals.indexnow` is set in freshet.toml. It is a signal for the source; pages that are no sources are
/// passed over.
#[utoipa::path(get, path = "/indexnow", tag = "signals",
    params(("url" = Option<String>, Query, description = "The page"),
        ("key" = Option<String>, Query, description = "8 to 128 letters, digits and `-`"),
        ("keyLocation" = Option<String>, Query, description = "Where the key is")),
    responses((status = 200, description = "The key is right, and it is heard"),
        (status = 202, description = "It came, and the key is not looked for yet"),
        (status = 403, description = "The key is not on the site"),
        (status = 404, description = "IndexNow is off"),
        (status = 422, description = "The page is not of this host, or not below the key"),
        (status = 429, description = "Too much is said")))]
async fn one(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    is_on(&app)?;
    let query = query.unwrap_or_default();
    let field = |name: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let needed = |name: &str| field(name).ok_or_else(|| Problem::field(name, "is not there"));
    let (url, key) = (needed("url")?, needed("key")?);
    let host = page(&url).map_err(|why| Problem::field("url", why))?.1;
    let said = IndexNow { host, key, key_location: field("keyLocation"), url_list: vec![url] };
    answer(&app, said, "url").await
}

/// Say that pages of yours have changed
///
/// The same for up to 10,000 pages of one host.
#[utoipa::path(post, path = "/indexnow", tag = "signals", request_body = IndexNow,
    responses((status = 200, description = "The key is right, and it is heard"),
        (status = 202, description = "It came, and the key is not looked for yet"),
        (status = 403, description = "The key is not on the site"),
        (status = 404, description = "IndexNow is off"),
        (status = 422, description = "Pages are not of this host, or not below the key"),
        (status = 429, description = "Too much is said")))]
async fn many(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    is_on(&app)?;
    let (parts, body): (_, Body) = request.into_parts();
    let Ok(_turn) = app.announcing.try_acquire() else {
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "others speak at the time");
        return Err(problem.after(10));
    };
    let body = any(&parts.headers, body, &app, BYTES).await?;
    let said: IndexNow = serde_json::from_slice(&body)
        .map_err(|why| Problem::field("body", format!("not what IndexNow sends: {why}")))?;
    if said.url_list.is_empty() || said.url_list.len() > MOST {
        let detail = format!("{} pages, not 1 to {MOST}", said.url_list.len());
        return Err(Problem::field("urlList", detail));
    }
    answer(&app, said, "urlList").await
}

fn is_on(app: &App) -> Result<(), Problem> {
    match app.handle.hears_indexnow() {
        true => Ok(()),
        false => Err(Problem::absent("IndexNow is off")
            .hint("set `indexnow = true` under [signals] in freshet.toml")),
    }
}

async fn answer(app: &App, said: IndexNow, field: &'static str) -> Result<Response, Problem> {
    let announced = app.handle.announce(check(said, field)?).await?;
    let refuse = |status, detail| Err(Problem::new(status, detail));
    match announced {
        Accepted::Heard(_) => Ok(StatusCode::OK.into_response()),
        Accepted::Pending => Ok(StatusCode::ACCEPTED.into_response()),
        Accepted::WrongKey => refuse(StatusCode::FORBIDDEN, "the key is not on the site"),
        Accepted::TooMany(seconds) => {
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too much is said");
            Err(problem.after(seconds))
        }
    }
}

/// What is said, if it can be meant.
fn check(said: IndexNow, field: &'static str) -> Result<Announcement, Problem> {
    let IndexNow { host, key, key_location, url_list } = said;
    let foreign = |field: &str, detail: String| {
        let mut problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
        problem.field = Some(field.to_owned());
        problem
    };
    let is_key = (8..=128).contains(&key.len())
        && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if !is_key {
        return Err(foreign("key", "a key has 8 to 128 letters, digits and `-`".to_owned()));
    }
    let mut urls = Vec::with_capacity(url_list.len());
    let (mut scheme, mut named) = ("https".to_owned(), String::new());
    for (at, url) in url_list.iter().enumerate() {
        let place = if field == "url" { field.to_owned() } else { format!("{field}[{at}]") };
        let (canonical, own) = page(url).map_err(|why| Problem::field(place.clone(), why))?;
        if !own.eq_ignore_ascii_case(host.trim()) {
            return Err(foreign(&place, format!("it is of {own}, not of {host}")));
        }
        if at == 0 {
            canonical.scheme().clone_into(&mut scheme);
            named = own;
        }
        urls.push(canonical);
    }
    let place = match key_location.filter(|it| !it.is_empty()) {
        None => {
            let text = format!("{scheme}://{named}/{key}.txt");
            Url::parse(&text).map_err(|_| Problem::field("host", "is not the name of a host"))?
        }
        Some(text) => {
            let (place, own) = page(&text).map_err(|why| Problem::field("keyLocation", why))?;
            if own != named {
                return Err(foreign("keyLocation", format!("it is of {own}, not of {named}")));
            }
            let folder = place.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_below = |url: &Url| {
                url.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            if let Some(at) = urls.iter().position(|url| !is_below(url)) {
                let name = if field == "url" { field.to_owned() } else { format!("{field}[{at}]") };
                return Err(foreign(&name, format!("it is not below {folder}/")));
            }
            place
        }
    };
    let urls = urls.into_iter().map(String::from).collect();
    Ok(Announcement { host: named, key, place, urls })
}

/// A page and its host, with its port if that is not the usual one.
fn page(text: &str) -> Result<(Url, String), String> {
    if text.len() > LONGEST {
        return Err(format!("longer than {LONGEST} characters"));
    }
    let (canonical, host) = host_of(text).map_err(|why| why.to_string())?;
    let url = Url::parse(&canonical).map_err(|why| why.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok((url, host)),
        other => Err(format!("`{other}` is not http or https")),
    }
}
