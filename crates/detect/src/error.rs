//! What can be wrong with settings. Documents are never an error: what is not as it should be is
//! read as text.

/// A setting that cannot be meant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// A selector, a path or a pattern that cannot be understood.
    #[error("{layer}: detect.{field}[{index}]: {what}, after {at} characters of `{text}`")]
    Pattern {
        /// The settings that it is in.
        layer: String,
        /// Its list.
        field: &'static str,
        /// Its place in the list, from 0.
        index: usize,
        /// As it is written.
        text: String,
        /// Characters before the fault.
        at: usize,
        /// What is wrong.
        what: String,
    },
    /// A regular expression that cannot be understood.
    #[error("{layer}: detect.{field}[{index}]: {what} in `{text}`")]
    Expression {
        /// The settings that it is in.
        layer: String,
        /// Its list.
        field: &'static str,
        /// Its place in the list, from 0.
        index: usize,
        /// As it is written.
        text: String,
        /// What is wrong.
        what: String,
    },
    /// Selectors with more parts than are followed.
    #[error("{layer}: detect.{field}: the selectors have more than {most} parts in all")]
    TooManyParts {
        /// The settings that they are in.
        layer: String,
        /// Their list.
        field: &'static str,
        /// The most there may be.
        most: usize,
    },
    /// A share that is not between 0 and 1.
    #[error("{layer}: detect.below: {value} is not between 0 and 1")]
    Below {
        /// The settings that it is in.
        layer: String,
        /// As it is given.
        value: f64,
    },
    /// A name that nothing has.
    #[error("{layer}: detect.{field}: there is no `{value}`, only {known}")]
    Unknown {
        /// The settings that it is in.
        layer: String,
        /// Where it stands.
        field: &'static str,
        /// As it is written.
        value: String,
        /// What there is.
        known: String,
    },
    /// A kind of document that is not known.
    #[error("there is no kind `{0}`, only html, json, xml, text, pdf and bytes")]
    UnknownKind(String),
}
