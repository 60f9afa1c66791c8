//! Problem details of HTTP errors (RFC 9457).

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use freshet_daemon::{DaemonError, EditError, InvalidOverride, SignalSourceError};
use freshet_store::StoreError;
use serde::Serialize;
use utoipa::ToSchema;

/// Media type of problem details.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// Problem details of an error (RFC 9457).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status identifies the kind of problem.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Reason phrase of the status.
    pub title: &'static str,
    /// HTTP status code.
    pub status: u16,
    /// What is wrong, in plain text.
    pub detail: String,
    /// Field of the request that is wrong, if it is a single one: `sources[3].url`, `limit`, `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// How to fix the problem, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Seconds to wait before a retry.
    #[serde(skip)]
    pub(crate) retry_after: Option<u32>,
}

impl Problem {
    /// Returns a problem with a status.
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

    /// Returns a problem with a field of the request (400).
    pub fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        let mut problem = Self::new(StatusCode::BAD_REQUEST, detail);
        problem.field = Some(field.into());
        problem
    }

    /// Returns a problem for something that does not exist (404).
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Returns the problem for a missing source (404).
    pub(crate) fn source_not_found(id: u32) -> Self {
        Self::not_found(format!("no source {id}"))
    }

    /// Adds a hint how to fix the problem.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the seconds to wait before a retry.
    #[must_use]
    pub(crate) fn with_retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Puts the field into its parent: `url` becomes `sources[3].url`.
    #[must_use]
    pub(crate) fn in_parent(mut self, parent: &str) -> Self {
        self.field = Some(match self.field {
            Some(field) => format!("{parent}.{field}"),
            None => parent.to_owned(),
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
            // Feed readers only support Basic.
            headers.append(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            let basic = HeaderValue::from_static("Basic realm=\"freshet\"");
            headers.append(WWW_AUTHENTICATE, basic);
        }
        // The dashboard renders it as a page.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::InvalidValue { field, .. } => {
                return Self::invalid(*field, error.to_string());
            }
            StoreError::DiskFull { .. } | StoreError::Busy { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            StoreError::IdsExhausted { .. } => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!("store error: {error}");
        }
        let problem = Self::new(status, error.to_string());
        match error.hint() {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    }
}

impl From<EditError> for Problem {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Store(error) => error.into(),
            EditError::Url(error) => Self::invalid("url", error.to_string())
                .with_hint("use a complete URL, such as `https://example.com/`"),
            EditError::InvalidSetting { field, reason: what, .. } => Self::invalid(field, what),
            EditError::Host(error) => Self::invalid("host", error.to_string()),
            EditError::Stopped => stopping_problem(),
        }
    }
}

impl From<InvalidOverride> for Problem {
    fn from(error: InvalidOverride) -> Self {
        Self::invalid(error.field, error.reason)
    }
}

impl From<SignalSourceError> for Problem {
    fn from(error: SignalSourceError) -> Self {
        let hint = error.hint();
        let problem = match error {
            SignalSourceError::Store(error) => return error.into(),
            SignalSourceError::Stopped => return stopping_problem(),
            SignalSourceError::Url(error) => Self::invalid("url", error.to_string())
                .with_hint("use a complete URL, such as `https://example.com/sitemap.xml`"),
            SignalSourceError::InvalidSetting { field, reason: what } => Self::invalid(field, what),
            SignalSourceError::NotFound(_) => Self::not_found(error.to_string()),
            SignalSourceError::IsChild { .. } | SignalSourceError::ManagedElsewhere { .. } => {
                Self::new(StatusCode::CONFLICT, error.to_string())
            }
        };
        match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    }
}

impl From<DaemonError> for Problem {
    fn from(error: DaemonError) -> Self {
        match error {
            DaemonError::Store(error) => error.into(),
            DaemonError::Edit(error) => error.into(),
            DaemonError::InvalidOverride(error) => error.into(),
            DaemonError::SignalSource(error) => error.into(),
            DaemonError::Stopped => stopping_problem(),
            DaemonError::NoSource(_) => Self::not_found(error.to_string()),
            DaemonError::HostCooldown { seconds, .. } => {
                let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, error.to_string());
                problem.with_retry_after(seconds.ceil().clamp(1.0, 86_400.0) as u32)
            }
            DaemonError::Thread(_) | DaemonError::Config(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
            }
        }
    }
}

fn stopping_problem() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping").with_retry_after(5)
}
