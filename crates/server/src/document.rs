//! What the service answers to, for programs and for people: made from the routes themselves.

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

use crate::guard::needs;
use crate::problem::{MEDIA_TYPE, Problem};

const ABOUT: &str = "\
Keeps local copies of remote sources fresh under a request budget.

Without a token, a service that listens at 127.0.0.1 lets everybody on the machine do everything but \
make tokens. As soon as there is a token, one must be shown: `Authorization: Bearer …`, or as the \
password of `Basic` for readers of feeds. `freshet token add NAME --scope read` makes one.

Lists come in pages: give `next` of one as `after` for the following. What goes wrong is told as \
`application/problem+json`, with the `field` that it is about; what is \
no request of HTTP/1.1, or has too large a head, is answered so too (400, 414, 431). All times are by RFC 3339, in UTC.";

const TAGS: &[(&str, &str)] = &[
    ("sources", "What is kept fresh"),
    ("signals", "Who says that sources have changed, beside their owner"),
    ("history", "What happened to a source, and why it is due when it is"),
    ("versions", "What is kept of a source"),
    ("changes", "The log of changes"),
    ("destinations", "Who is told of changes, and how"),
    ("crawlers", "Work for other crawlers"),
    ("plan", "What a fetch is worth, and what budgets buy"),
    ("tokens", "Who may ask"),
    ("about", "The service itself"),
];

/// Answers that need not come twice.
const TAGGED: &[&str] = &[
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

/// The document in both its forms.
pub(crate) struct Pages {
    pub(crate) json: Bytes,
    pub(crate) html: Bytes,
}

impl Pages {
    pub(crate) fn of(api: &OpenApi) -> Self {
        let value = serde_json::to_value(api).unwrap_or_default();
        Self { json: value.to_string().into(), html: html::page(&value).into() }
    }
}

/// What stands above all routes.
pub(crate) fn head() -> OpenApi {
    let info = InfoBuilder::new()
        .title("freshet")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
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

/// Adds to each route what all have in common: names, tokens, and what can go wrong.
pub(crate) fn complete(api: &mut OpenApi) {
    for (path, item) in &mut api.paths.paths {
        for (method, operation) in operations(item) {
            operation.operation_id = Some(name(&method, path));
            secure(operation, &method, path);
            let has_body = operation.request_body.is_some();
            let mut codes = vec![400, 403, 405, 500, 503];
            if path.contains('{') {
                codes.push(404);
            }
            if has_body {
                codes.extend([408, 413, 415]);
            }
            if needs(&method, path).is_some() {
                codes.extend([401, 429]);
            }
            for code in codes {
                let Ok(status) = StatusCode::from_u16(code) else { continue };
                let told = operation.responses.responses.entry(code.to_string());
                told.or_insert_with(|| RefOr::T(plain(status)));
            }
            for (code, told) in &mut operation.responses.responses {
                if let RefOr::T(told) = told
                    && code.starts_with(['4', '5'])
                {
                    problem(told);
                }
            }
            if method == Method::GET && TAGGED.contains(&path.as_str()) {
                let same = ResponseBuilder::new().description("It is what `If-None-Match` names");
                operation.responses.responses.insert("304".to_owned(), RefOr::T(same.build()));
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
fn name(method: &Method, path: &str) -> String {
    let words = path.trim_start_matches("/v1").split(|it: char| !it.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    format!("{}_{words}", method.as_str().to_ascii_lowercase())
}

fn secure(operation: &mut Operation, method: &Method, path: &str) {
    let Some(scope) = needs(method, path) else {
        operation.security = Some(Vec::new());
        return;
    };
    let token = SecurityRequirement::new("token", Vec::<String>::new());
    // On a machine of one's own it goes without.
    operation.security = Some(vec![token, SecurityRequirement::default()]);
    let note = format!("Needs a token with the scope `{}`, where there are tokens.", scope.name());
    operation.description = Some(match operation.description.take() {
        Some(text) if !text.is_empty() => format!("{text}\n\n{note}"),
        _ => note,
    });
}

fn plain(status: StatusCode) -> Response {
    let text = match status.as_u16() {
        400 => "Something in the request cannot be meant",
        401 => "A token is needed, or this one does not count",
        403 => {
            "The token does not allow it, the service is not called so, or a page of another origin asks"
        }
        404 => "It is not there",
        405 => "Not with this method",
        408 => "The body did not come in time",
        413 => "The body is too large",
        415 => "The body is not said to be JSON",
        429 => "Too many tokens that do not count",
        500 => "A fault of freshet, or the store cannot be read",
        _ => {
            "Not now: the daemon is stopping, its store is full or busy, or all connections are in use"
        }
    };
    ResponseBuilder::new().description(text).build()
}

fn problem(told: &mut Response) {
    let schema = Ref::from_schema_name("Problem");
    let content = ContentBuilder::new().schema(Some(schema)).build();
    told.content.entry(MEDIA_TYPE.to_owned()).or_insert(RefOr::T(content));
}
