//! What can be wrong with a demo.

use thiserror::Error;

/// Why a demo cannot be run, or ended before its time.
#[derive(Debug, Error)]
pub enum DemoError {
    /// No pages, or too many.
    #[error("a web of {pages} pages cannot be shown: from 1 to {most}")]
    Pages {
        /// How many.
        pages: usize,
        /// How many there may be.
        most: usize,
    },
    /// No window of a record.
    #[error("a window of {days} days is none")]
    Window {
        /// How long it was to be.
        days: f64,
    },
    /// A number that must be positive and finite.
    #[error("{what} cannot be {value}")]
    Number {
        /// What it is of.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// The simulator cannot make such a web.
    #[error(transparent)]
    Sim(#[from] freshet_sim::SimError),
    /// No port to listen at.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] std::io::Error),
    /// The settings of the demo's own requests are refused.
    #[error(transparent)]
    Fetch(#[from] freshet_fetch::InvalidSetting),
    /// A page has no URL that can be asked for.
    #[error(transparent)]
    Request(#[from] freshet_fetch::InvalidRequest),
    /// What keeps the copies could not go on.
    #[error("freshet stopped before the demo was over")]
    Daemon(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// What is shown could not be written.
    #[error("cannot write what is shown")]
    Show(#[source] std::io::Error),
}
