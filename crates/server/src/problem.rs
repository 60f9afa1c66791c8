//! What went wrong, as RFC 9457 says it.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use freshet_daemon::{DaemonError, EditError, SignalSourceError, Unfit};
use freshet_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

/// The type of such an answer.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// Why there is no other answer (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says of which kind it is.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The status in words.
    pub title: &'static str,
    /// The status of HTTP.
    pub status: u16,
    /// What is wrong, for people.
    pub detail: String,
    /// Where in the request, if it is in one place: `sources[3].url`, `limit`, `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The way out, if there is one to name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Seconds after which it may go better.
    #[serde(skip)]
    pub(crate) retry_after: Option<u32>,
}

impl Problem {
    /// A problem with a status.
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: detail.into(),
            field: None,
            hint: None,
            retry_after: None,
        }
    }

    /// Something in the request that cannot be meant, and where.
    pub fn field(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::BAD_REQUEST, detail);
        problem.field = Some(field.into());
        problem
    }

    /// Something that is not there.
    pub fn absent(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// There is no such source.
    pub(crate) fn no_source(id: u32) -> Self {
        Self::absent(format!("there is no source {id}"))
    }

    /// The same with a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, and when it may go better.
    #[must_use]
    pub(crate) fn after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same with the field in another whole: `url` in `sources[3]`.
    #[must_use]
    pub(crate) fn within(mut self, whole: &str) -> Self {
        self.field = Some(match self.field {
            Some(field) => format!("{whole}.{field}"),
            None => whole.to_owned(),
        });
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            // Feed readers know only the second.
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            let basic = HeaderValue::from_static("Basic realm=\"freshet\"");
            headers.append(WWW_AUTHENTICATE, basic);
        }
        // For those who tell it otherwise: as a page.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::InvalidValue { field, .. } => {
                return Self::field(*field, error.to_string());
            }
            StoreError::DiskFull { .. } | StoreError::Busy { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            StoreError::IdsExhausted { .. } => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!("the store: {error}");
        }
        let problem = Self::new(status, error.to_string());
        match error.hint() {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<EditError> for Problem {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Store(error) => error.into(),
            EditError::Url(why) => Self::field("url", why.to_string())
                .hint("give the whole URL, such as `https://example.com/`"),
            EditError::Given { field, what, .. } => Self::field(field, what),
            EditError::Host(why) => Self::field("host", why.to_string()),
            EditError::Stopped => stopped(),
        }
    }
}

impl From<Unfit> for Problem {
    fn from(unfit: Unfit) -> Self {
        Self::field(unfit.field, unfit.what)
    }
}

impl From<SignalSourceError> for Problem {
    fn from(error: SignalSourceError) -> Self {
        let hint = error.hint();
        let problem = match error {
            SignalSourceError::Store(error) => return error.into(),
            SignalSourceError::Stopped => return stopped(),
            SignalSourceError::Url(why) => Self::field("url", why.to_string())
                .hint("give the whole URL, such as `https://example.com/sitemap.xml`"),
            SignalSourceError::Given { field, what } => Self::field(field, what),
            SignalSourceError::Unknown(_) => Self::absent(error.to_string()),
            SignalSourceError::Part { .. } | SignalSourceError::Named { .. } => {
                Self::new(StatusCode::CONFLICT, error.to_string())
            }
        };
        match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<DaemonError> for Problem {
    fn from(error: DaemonError) -> Self {
        match error {
            DaemonError::Store(error) => error.into(),
            DaemonError::Edit(error) => error.into(),
            DaemonError::Unfit(unfit) => unfit.into(),
            DaemonError::Herald(error) => error.into(),
            DaemonError::Stopped => stopped(),
            DaemonError::NoSource(_) => Self::absent(error.to_string()),
            DaemonError::Rests { seconds, .. } => {
                let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string());
                problem.after(seconds.ceil().clamp(1.0, 86_400.0) as u32)
            }
            DaemonError::Thread(_) | DaemonError::Config(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

fn stopped() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping").after(5)
}
