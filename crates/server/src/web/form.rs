//! What forms send.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use subtle::ConstantTimeEq;
use tokio::time::timeout;

use super::frame;
use crate::app::App;
use crate::guard::Who;
use crate::input::whole;
use crate::problem::Problem;

/// The fields of a form as they were sent, of at most so many mebibytes. Only those of our own pages come
/// through: they send the page's key along.
pub(crate) struct Fields<const MIB: usize = 1>(Vec<(String, String)>);

impl<const MIB: usize> Fields<MIB> {
    /// The first value of a field, without spaces around it; `None` if there is nothing in it.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The first value of a field as it is, empty if there is none.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Every value of a field.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a box is ticked.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }
}

impl<const MIB: usize> FromRequest<Arc<App>> for Fields<MIB> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let said = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let essence = said.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            let detail = "this is for the forms of the dashboard";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
                .hint("programs use the API: /v1/docs"));
        }
        let bytes = timeout(app.limits.body, whole(&parts.headers, body, MIB << 20));
        let bytes = bytes.await.map_err(|_| {
            let detail = format!("the form did not come within {:?}", app.limits.body);
            Problem::new(StatusCode::REQUEST_TIMEOUT, detail)
        })??;
        let pairs: Vec<_> = form_urlencoded::parse(&bytes).into_owned().collect();
        let fields = Self(pairs);
        let who = parts.extensions.get::<Who>().cloned().unwrap_or_default();
        let good = frame::key(app, &who);
        if !bool::from(fields.text("key").as_bytes().ct_eq(good.as_bytes())) {
            let detail = "this form is not of a page that you have just seen";
            return Err(Problem::new(StatusCode::FORBIDDEN, detail)
                .hint("go back, load the page again, and send it once more"));
        }
        Ok(fields)
    }
}
