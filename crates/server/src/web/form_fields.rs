//! Form submissions.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use subtle::ConstantTimeEq;
use tokio::time::timeout;

use super::frame;
use crate::access_control::AuthContext;
use crate::app::App;
use crate::extractors::read_capped;
use crate::problem::Problem;

/// The fields of a submitted form of at most `MIB` mebibytes. Rejects forms without the key of the session,
/// so that other sites cannot submit them.
pub(crate) struct FormFields<const MIB: usize = 1>(Vec<(String, String)>);

impl<const MIB: usize> FormFields<MIB> {
    /// Returns the first value of a field, trimmed; `None` if it is empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the first value of a field as submitted; empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns all values of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// True if a checkbox is checked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }
}

impl<const MIB: usize> FromRequest<Arc<App>> for FormFields<MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let detail = "this address accepts only forms of the dashboard";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
                .with_hint("use the API instead: /v1/docs"));
        }
        let bytes =
            timeout(app.timeouts.request_body, read_capped(&parts.headers, body, MIB << 20));
        let bytes = bytes.await.map_err(|_| {
            let detail =
                format!("the form was not received within {:?}", app.timeouts.request_body);
            Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
        })??;
        let pairs: Vec<_> = form_urlencoded::parse(&bytes).into_owned().collect();
        let fields = Self(pairs);
        let auth = parts.extensions.get::<AuthContext>().cloned().unwrap_or_default();
        let expected = frame::form_key(app, &auth);
        if !bool::from(fields.text("key").as_bytes().ct_eq(expected.as_bytes())) {
            let detail = "the form has expired";
            return Err(Problem::new(StatusCode::FORBIDDEN, detail)
                .with_hint("go back, reload the page and submit the form again"));
        }
        Ok(fields)
    }
}
