//! What is told once, on the page that comes after a form.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use axum::response::{IntoResponse, Redirect, Response};

use crate::app::App;

/// Texts that are kept for pages that have not come yet.
const MOST: usize = 1000;

/// Texts that wait for their page. An address names one by a number that cannot be guessed: nobody can
/// make a link that has us say something.
#[derive(Default)]
pub(crate) struct FlashMessage {
    texts: Mutex<VecDeque<(String, Flash)>>,
}

/// What is told.
#[derive(Clone, Debug)]
pub(crate) struct Flash {
    pub(crate) text: String,
    /// Something to be copied now, since it is not shown again: a secret.
    pub(crate) secret: Option<String>,
    pub(crate) is_bad: bool,
}

impl Flash {
    /// Something went well.
    pub(crate) fn good(text: impl Into<String>) -> Self {
        Self { text: text.into(), secret: None, is_bad: false }
    }

    /// Something did not.
    pub(crate) fn bad(text: impl Into<String>) -> Self {
        Self { text: text.into(), secret: None, is_bad: true }
    }
}

impl FlashMessage {
    /// Takes what is told under a name, once.
    pub(super) fn take(&self, name: &str) -> Option<Flash> {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let at = texts.iter().position(|(known, _)| known == name)?;
        texts.remove(at).map(|(_, told)| told)
    }

    fn keep(&self, told: Flash) -> String {
        let mut bytes = [0; 16];
        // Without randomness nothing is told; what was done is done.
        if getrandom::fill(&mut bytes).is_err() {
            return String::new();
        }
        let name = super::session::hex(&bytes);
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if texts.len() >= MOST {
            texts.pop_front();
        }
        texts.push_back((name.clone(), told));
        name
    }
}

/// Goes on to a page of ours, and tells something there.
pub(crate) fn go_to(app: &App, path: &str, told: Flash) -> Response {
    let name = app.web.said.keep(told);
    // What cannot stand in a header leads nowhere.
    let path = if path.bytes().all(|byte| byte.is_ascii_graphic()) { path } else { "/" };
    let (path, rest) = path.split_once('#').map_or((path, None), |(path, rest)| (path, Some(rest)));
    let joint = if path.contains('?') { '&' } else { '?' };
    let mut to = format!("{path}{joint}said={name}");
    if let Some(rest) = rest {
        to.push('#');
        to.push_str(rest);
    }
    Redirect::to(&to).into_response()
}
