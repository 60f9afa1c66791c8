//! Messages shown once, on the page after a form.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::response::{IntoResponse, Redirect, Response};

use crate::app::App;

/// Maximum number of stored messages.
const MAX_MESSAGES: usize = 1000;

/// Messages that wait for their page. The address of the page refers to a message by a random ID, so that
/// nobody can craft a link that shows a message.
#[derive(Default)]
pub(crate) struct FlashStore {
    messages: Mutex<VecDeque<(String, FlashMessage)>>,
}

/// A message shown once.
#[derive(Clone, Debug)]
pub(crate) struct FlashMessage {
    pub(crate) text: String,
    /// A secret that is not shown again.
    pub(crate) secret: Option<String>,
    pub(crate) is_error: bool,
}

impl FlashMessage {
    /// Returns a success message.
    pub(crate) fn success(text: impl Into<String>) -> Self {
        Self { text: text.into(), secret: None, is_error: false }
    }

    /// Returns an error message.
    pub(crate) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), secret: None, is_error: true }
    }
}

impl FlashStore {
    /// Removes and returns a message.
    pub(super) fn take(&self, id: &str) -> Option<FlashMessage> {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let at = messages.iter().position(|(known, _)| known == id)?;
        messages.remove(at).map(|(_, message)| message)
    }

    fn insert(&self, message: FlashMessage) -> String {
        let mut bytes = [0; 16];
        // Without randomness the message is dropped; the action itself has succeeded.
        if getrandom::fill(&mut bytes).is_err() {
            return String::new();
        }
        let id = super::session::hex(&bytes);
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() >= MAX_MESSAGES {
            messages.pop_front();
        }
        messages.push_back((id.clone(), message));
        id
    }
}

/// Redirects to a page and shows a message there.
pub(crate) fn redirect_with_flash(app: &App, path: &str, message: FlashMessage) -> Response {
    let id = app.web.flash_messages.insert(message);
    // A path that cannot be sent in a header is replaced by the overview.
    let path = if path.bytes().all(|byte| byte.is_ascii_graphic()) { path } else { "/" };
    let (path, fragment) =
        path.split_once('#').map_or((path, None), |(path, fragment)| (path, Some(fragment)));
    let separator = if path.contains('?') { '&' } else { '?' };
    let mut target = format!("{path}{separator}flash={id}");
    if let Some(fragment) = fragment {
        target.push('#');
        target.push_str(fragment);
    }
    Redirect::to(&target).into_response()
}
