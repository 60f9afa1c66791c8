//! IndexNow: site owners announce pages that have changed.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use freshet_daemon::{IndexNowRequest, IndexNowResult, parse_source_url};
use serde::Deserialize;
use url::Url;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::extractors::read_body;
use crate::problem::Problem;

/// Maximum number of pages in a request.
const MAX_URLS: usize = 10_000;
/// Maximum size of a request body, in bytes.
const MAX_BODY_BYTES: usize = 16 << 20;
/// Maximum length of a URL.
const MAX_URL_LEN: usize = 2048;

pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(announce_one, announce_many))
}

/// Changed pages of a site, in the format of IndexNow.
#[derive(Deserialize, ToSchema)]
struct IndexNow {
    /// Host name of the site: `www.example.com`.
    host: String,
    /// Key of the site: 8 to 128 letters, digits and `-`.
    key: String,
    /// URL of the key file, if it is not `/KEY.txt`. It must be on the same host, and covers the
    /// pages below its directory.
    #[serde(rename = "keyLocation")]
    key_location: Option<String>,
    /// URLs of the pages, at most 10,000.
    #[serde(rename = "urlList")]
    #[schema(max_items = 10000)]
    url_list: Vec<String>,
}

/// Announce that a page has changed (IndexNow)
///
/// The key must be published on the site, at `/KEY.txt` or at `keyLocation`. Only available if
/// `signals.indexnow` is set in freshet.toml. The announcement is a signal for the source; pages
/// that are not sources are ignored.
#[utoipa::path(get, path = "/indexnow", tag = "signals",
    params(("url" = Option<String>, Query, description = "URL of the page"),
        ("key" = Option<String>, Query, description = "Key of the site: 8 to 128 letters, digits and `-`"),
        ("keyLocation" = Option<String>, Query, description = "URL of the key file")),
    responses((status = 200, description = "The key is valid and the signal is accepted"),
        (status = 202, description = "Received; the key is not verified yet"),
        (status = 403, description = "The key is not on the site"),
        (status = 404, description = "IndexNow is off"),
        (status = 422, description = "The page is on another host, or not below the directory of the key"),
        (status = 429, description = "Too many announcements")))]
async fn announce_one(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    check_enabled(&app)?;
    let query = query.unwrap_or_default();
    let field = |name: &str| {
        let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let required = |name: &str| field(name).ok_or_else(|| Problem::invalid(name, "required"));
    let (url, key) = (required("url")?, required("key")?);
    let host = parse_page_url(&url).map_err(|error| Problem::invalid("url", error))?.1;
    let announcement =
        IndexNow { host, key, key_location: field("keyLocation"), url_list: vec![url] };
    announce(&app, announcement, "url").await
}

/// Announce that pages have changed (IndexNow)
///
/// Like the GET request, for up to 10,000 pages of one host.
#[utoipa::path(post, path = "/indexnow", tag = "signals", request_body = IndexNow,
    responses((status = 200, description = "The key is valid and the signal is accepted"),
        (status = 202, description = "Received; the key is not verified yet"),
        (status = 403, description = "The key is not on the site"),
        (status = 404, description = "IndexNow is off"),
        (status = 422, description = "A page is on another host, or not below the directory of the key"),
        (status = 429, description = "Too many announcements")))]
async fn announce_many(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    check_enabled(&app)?;
    let (parts, body): (_, Body) = request.into_parts();
    let Ok(_slot) = app.indexnow_slots.try_acquire() else {
        let problem =
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent announcements");
        return Err(problem.with_retry_after(10));
    };
    let body = read_body(&parts.headers, body, &app, MAX_BODY_BYTES).await?;
    let announcement: IndexNow = serde_json::from_slice(&body)
        .map_err(|error| Problem::invalid("body", format!("not an IndexNow request: {error}")))?;
    if announcement.url_list.is_empty() || announcement.url_list.len() > MAX_URLS {
        let detail = format!(
            "number of pages out of range: {} is not between 1 and {MAX_URLS}",
            announcement.url_list.len()
        );
        return Err(Problem::invalid("urlList", detail));
    }
    announce(&app, announcement, "urlList").await
}

fn check_enabled(app: &App) -> Result<(), Problem> {
    match app.handle.accepts_indexnow() {
        true => Ok(()),
        false => Err(Problem::not_found("IndexNow is off")
            .with_hint("enable it with `indexnow = true` under [signals] in freshet.toml")),
    }
}

async fn announce(
    app: &App,
    announcement: IndexNow,
    field: &'static str,
) -> Result<Response, Problem> {
    let result = app.handle.receive_indexnow(validate(announcement, field)?).await?;
    let refuse = |status, detail| Err(Problem::new(status, detail));
    match result {
        IndexNowResult::Accepted(_) => Ok(StatusCode::OK.into_response()),
        IndexNowResult::Pending => Ok(StatusCode::ACCEPTED.into_response()),
        IndexNowResult::WrongKey => {
            refuse(StatusCode::FORBIDDEN, "the key is not published on the site")
        }
        IndexNowResult::RateLimited(seconds) => {
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many announcements");
            Err(problem.with_retry_after(seconds))
        }
    }
}

/// Validates a request.
fn validate(announcement: IndexNow, field: &'static str) -> Result<IndexNowRequest, Problem> {
    let IndexNow { host, key, key_location, url_list } = announcement;
    let unprocessable = |field: &str, detail: String| {
        let mut problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
        problem.field = Some(field.to_owned());
        problem
    };
    let is_key = (8..=128).contains(&key.len())
        && key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if !is_key {
        return Err(unprocessable(
            "key",
            "invalid key: a key has 8 to 128 letters, digits and `-`".to_owned(),
        ));
    }
    let mut urls = Vec::with_capacity(url_list.len());
    let (mut scheme, mut site_host) = ("https".to_owned(), String::new());
    for (at, url) in url_list.iter().enumerate() {
        let field_path = if field == "url" { field.to_owned() } else { format!("{field}[{at}]") };
        let (canonical, page_host) =
            parse_page_url(url).map_err(|error| Problem::invalid(field_path.clone(), error))?;
        if !page_host.eq_ignore_ascii_case(host.trim()) {
            return Err(unprocessable(
                &field_path,
                format!("the page is on {page_host}, not on {host}"),
            ));
        }
        if at == 0 {
            canonical.scheme().clone_into(&mut scheme);
            site_host = page_host;
        }
        urls.push(canonical);
    }
    let key_url = match key_location.filter(|it| !it.is_empty()) {
        None => {
            let text = format!("{scheme}://{site_host}/{key}.txt");
            Url::parse(&text).map_err(|_| Problem::invalid("host", "invalid host name"))?
        }
        Some(text) => {
            let (key_url, key_host) =
                parse_page_url(&text).map_err(|error| Problem::invalid("keyLocation", error))?;
            if key_host != site_host {
                return Err(unprocessable(
                    "keyLocation",
                    format!("the key is on {key_host}, not on {site_host}"),
                ));
            }
            let folder = key_url.path().rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_below = |url: &Url| {
                url.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            if let Some(at) = urls.iter().position(|url| !is_below(url)) {
                let field_path =
                    if field == "url" { field.to_owned() } else { format!("{field}[{at}]") };
                return Err(unprocessable(
                    &field_path,
                    format!("the page is not below {folder}/, the directory of the key"),
                ));
            }
            key_url
        }
    };
    let urls = urls.into_iter().map(String::from).collect();
    Ok(IndexNowRequest { host: site_host, key, key_url, urls })
}

/// Parses the URL of a page, and returns it with its host, and the port if it is not the default
/// one.
fn parse_page_url(text: &str) -> Result<(Url, String), String> {
    if text.len() > MAX_URL_LEN {
        return Err(format!("URL too long: more than {MAX_URL_LEN} characters"));
    }
    let (canonical, host) = parse_source_url(text).map_err(|error| error.to_string())?;
    let url = Url::parse(&canonical).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok((url, host)),
        other => Err(format!("unsupported scheme `{other}`; use http or https")),
    }
}
