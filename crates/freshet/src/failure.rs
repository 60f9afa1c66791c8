//! Failures of commands, with hints.

use std::fmt::Display;

use crate::output::print_note;

/// Failure of a command: what happened, with the value, and a hint what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    fact: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(fact: impl Display) -> Self {
        Self { fact: fact.to_string(), hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Puts a location in front of the fact.
    pub(crate) fn with_location(mut self, location: impl Display) -> Self {
        self.fact = format!("{location}: {}", self.fact);
        self
    }

    /// Returns the fact without the hint.
    pub(crate) fn fact(&self) -> &str {
        &self.fact
    }

    pub(crate) fn print(&self) {
        print_note(&format!("error: {}", self.fact));
        if let Some(hint) = &self.hint {
            print_note(&format!("\nhint: {hint}"));
        }
    }
}

impl From<freshet_tables::TableError> for Failure {
    fn from(error: freshet_tables::TableError) -> Self {
        let failure = Self::new(&error);
        match error.hint() {
            Some(hint) => failure.with_hint(hint),
            None => failure,
        }
    }
}

impl From<rayon::ThreadPoolBuildError> for Failure {
    fn from(error: rayon::ThreadPoolBuildError) -> Self {
        Self::new(format!("cannot start threads: {error}"))
    }
}
