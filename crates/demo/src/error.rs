//! Errors of a demo.

use thiserror::Error;

/// Error of a demo.
#[derive(Debug, Error)]
pub enum DemoError {
    /// No pages, or too many.
    #[error("{pages} pages are not supported: expected 1 to {most}")]
    Pages {
        /// The number.
        pages: usize,
        /// Largest allowed number.
        most: usize,
    },
    /// The window of the record is invalid.
    #[error("invalid length of the window: {days} days")]
    Window {
        /// Requested length.
        days: f64,
    },
    /// A number is not positive and finite.
    #[error("{what} cannot be {value}")]
    Number {
        /// Name of the number.
        what: &'static str,
        /// The value.
        value: f64,
    },
    /// The simulator cannot make such a web.
    #[error(transparent)]
    Sim(#[from] freshet_sim::SimError),
    /// No free port.
    #[error("cannot listen on 127.0.0.1")]
    Listen(#[source] std::io::Error),
    /// The fetch settings of the demo are invalid.
    #[error(transparent)]
    Fetch(#[from] freshet_fetch::InvalidFetchSetting),
    /// A page has an invalid URL.
    #[error(transparent)]
    Request(#[from] freshet_fetch::InvalidRequest),
    /// The client under test failed.
    #[error("freshet stopped before the demo was over")]
    Daemon(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The output could not be written.
    #[error("cannot write the progress")]
    Show(#[source] std::io::Error),
}
