//! What went wrong, and the way out.

use std::fmt::Display;

use crate::output::note;

/// A failure as a person reads it: the fact with its value, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    fact: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(fact: impl Display) -> Self {
        Self { fact: fact.to_string(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same, with the place where it is.
    pub(crate) fn at(mut self, place: impl Display) -> Self {
        self.fact = format!("{place}: {}", self.fact);
        self
    }

    /// What went wrong.
    pub(crate) fn fact(&self) -> &str {
        &self.fact
    }

    pub(crate) fn print(&self) {
        note(&format!("error: {}", self.fact));
        if let Some(hint) = &self.hint {
            note(&format!("\nhint: {hint}"));
        }
    }
}

impl From<freshet_tables::TableError> for Failure {
    fn from(error: freshet_tables::TableError) -> Self {
        let failure = Self::new(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<rayon::ThreadPoolBuildError> for Failure {
    fn from(error: rayon::ThreadPoolBuildError) -> Self {
        Self::new(format!("cannot start threads: {error}"))
    }
}
