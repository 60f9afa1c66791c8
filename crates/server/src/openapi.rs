//! The OpenAPI document and the page of documentation, both generated from the routes.

mod html;

use axum::http::{Method, StatusCode};
use bytes::Bytes;
use utoipa::ToSchema;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response,
    ResponseBuilder,
};

use crate::access_control::required_scope;
use crate::problem::{MEDIA_TYPE, Problem};

const API_DESCRIPTION: &str = "\
Keeps local copies of remote sources fresh under a request budget.

If no tokens exist, a service that listens on 127.0.0.1 allows every local user everything except managing \
tokens. As soon as a token exists, requests must carry one: as `Authorization: Bearer …`, or as the \
password of basic authentication for feed readers. `freshet token add NAME --scope read` creates one.

Lists are paginated: pass `next` of a page as `after` to get the following page. Errors are \
`application/problem+json`, with the `field` that is wrong. Requests that are not valid HTTP/1.1, or whose \
head is too large, are answered in this format too (400, 414, 431). All times are RFC 3339 timestamps in UTC.";

const TAGS: &[(&str, &str)] = &[
    ("sources", "Remote sources that are kept fresh"),
    ("signals", "Signal sources that announce changes: sitemaps, feeds, WebSub, IndexNow"),
    ("history", "Fetches and changes of a source, and its schedule"),
    ("versions", "Stored versions of a source"),
    ("changes", "The change log"),
    ("destinations", "Destinations of change notifications"),
    ("crawlers", "Claims and reports of other crawlers"),
    ("plan", "Price, budget, settings and status"),
    ("tokens", "API tokens"),
    ("about", "Documentation, metrics and health checks"),
];

/// Routes that answer 304 to a matching `If-None-Match`.
const ROUTES_WITH_ETAG: &[&str] = &[
    "/v1/sources/find",
    "/v1/sources/{id}",
    "/v1/sources/{id}/versions/{n}",
    "/v1/settings",
    "/v1/feeds/all.atom",
    "/v1/feeds/tag/{tag}",
    "/v1/feeds/source/{id}",
    "/v1/openapi.json",
    "/v1/docs",
];

/// The document as JSON and as a page.
pub(crate) struct RenderedDocument {
    pub(crate) json: Bytes,
    pub(crate) html: Bytes,
}

impl RenderedDocument {
    pub(crate) fn new(api: &OpenApi) -> Self {
        let value = serde_json::to_value(api).unwrap_or_default();
        Self { json: value.to_string().into(), html: html::render_page(&value).into() }
    }
}

/// Returns the document without its routes.
pub(crate) fn base_document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("freshet")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(API_DESCRIPTION))
        .build();
    let tags = TAGS
        .iter()
        .map(|(name, about)| TagBuilder::new().name(*name).description(Some(*about)).build());
    let mut components = Components::new();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components.add_security_scheme("token", bearer);
    let mut schemas = Vec::new();
    Problem::schemas(&mut schemas);
    schemas.push((Problem::name().into_owned(), <Problem as utoipa::PartialSchema>::schema()));
    components.schemas.extend(schemas);
    OpenApiBuilder::new().info(info).tags(Some(tags)).components(Some(components)).build()
}

/// Adds what all routes have in common: operation ids, security and error responses.
pub(crate) fn add_common_parts(api: &mut OpenApi) {
    for (path, item) in &mut api.paths.paths {
        for (method, operation) in operations(item) {
            operation.operation_id = Some(operation_id(&method, path));
            add_security(operation, &method, path);
            let has_body = operation.request_body.is_some();
            let mut codes = vec![400, 403, 405, 500, 503];
            if path.contains('{') {
                codes.push(404);
            }
            if has_body {
                codes.extend([408, 413, 415]);
            }
            if required_scope(&method, path).is_some() {
                codes.extend([401, 429]);
            }
            for code in codes {
                let Ok(status) = StatusCode::from_u16(code) else { continue };
                let response = operation.responses.responses.entry(code.to_string());
                response.or_insert_with(|| RefOr::T(error_response(status)));
            }
            for (code, response) in &mut operation.responses.responses {
                if let RefOr::T(response) = response
                    && code.starts_with(['4', '5'])
                {
                    add_problem_content(response);
                }
            }
            if method == Method::GET && ROUTES_WITH_ETAG.contains(&path.as_str()) {
                let not_modified = ResponseBuilder::new()
                    .description("Not modified: the client has this version, by `If-None-Match`");
                operation
                    .responses
                    .responses
                    .insert("304".to_owned(), RefOr::T(not_modified.build()));
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    let all = [
        (Method::GET, &mut item.get),
        (Method::PUT, &mut item.put),
        (Method::POST, &mut item.post),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ];
    all.into_iter().filter_map(|(method, it)| Some((method, it.as_mut()?)))
}

/// `get_sources_id_versions`.
fn operation_id(method: &Method, path: &str) -> String {
    let words = path.trim_start_matches("/v1").split(|it: char| !it.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    format!("{}_{words}", method.as_str().to_ascii_lowercase())
}

fn add_security(operation: &mut Operation, method: &Method, path: &str) {
    let Some(scope) = required_scope(method, path) else {
        operation.security = Some(Vec::new());
        return;
    };
    let token = SecurityRequirement::new("token", Vec::<String>::new());
    // Without tokens, access from the same machine needs none.
    operation.security = Some(vec![token, SecurityRequirement::default()]);
    let note = format!("Requires a token with scope `{}`, if there are tokens.", scope.name());
    operation.description = Some(match operation.description.take() {
        Some(text) if !text.is_empty() => format!("{text}\n\n{note}"),
        _ => note,
    });
}

fn error_response(status: StatusCode) -> Response {
    let text = match status.as_u16() {
        400 => "Invalid request; `field` names the part",
        401 => "Missing or invalid token",
        403 => {
            "The token lacks the scope, the host name is unknown, or the request comes from another origin"
        }
        404 => "Not found",
        405 => "Method not allowed",
        408 => "The body was not received in time",
        413 => "The body is too large",
        415 => "The content type of the body is not supported",
        429 => "Too many invalid tokens",
        500 => "Internal error, or the store cannot be read",
        _ => {
            "Unavailable: the daemon is stopping, the store is full or busy, or all connections are in use"
        }
    };
    ResponseBuilder::new().description(text).build()
}

fn add_problem_content(response: &mut Response) {
    let schema = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(schema)).build();
    response.content.entry(MEDIA_TYPE.to_owned()).or_insert(RefOr::T(content));
}
