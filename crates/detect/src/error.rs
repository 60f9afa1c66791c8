//! Errors in settings. There are no errors for documents: a malformed document is read as plain
//! text.

/// An invalid setting.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// A syntax error in a selector, a JSON pointer or a JSON path.
    #[error("{layer}: detect.{field}[{index}]: {message}, after {position} characters of `{text}`")]
    InvalidSelector {
        /// Name of the settings layer.
        layer: String,
        /// Name of the list.
        field: &'static str,
        /// Index in the list, from 0.
        index: usize,
        /// The entry as written.
        text: String,
        /// Number of characters before the error.
        position: usize,
        /// Description of the error.
        message: String,
    },
    /// An invalid regular expression.
    #[error("{layer}: detect.{field}[{index}]: {message} in `{text}`")]
    InvalidRegex {
        /// Name of the settings layer.
        layer: String,
        /// Name of the list.
        field: &'static str,
        /// Index in the list, from 0.
        index: usize,
        /// The entry as written.
        text: String,
        /// Description of the error.
        message: String,
    },
    /// Selectors with too many parts.
    #[error("{layer}: detect.{field}: the selectors have more than {max} parts in total")]
    TooManySelectors {
        /// Name of the settings layer.
        layer: String,
        /// Name of the list.
        field: &'static str,
        /// Maximum number of parts.
        max: usize,
    },
    /// A threshold that is not between 0 and 1.
    #[error("{layer}: detect.below: {value} is not between 0 and 1")]
    InvalidThreshold {
        /// Name of the settings layer.
        layer: String,
        /// The value as given.
        value: f64,
    },
    /// An unknown name of a value.
    #[error("{layer}: detect.{field}: unknown value `{value}`; expected {known}")]
    UnknownValue {
        /// Name of the settings layer.
        layer: String,
        /// Name of the field.
        field: &'static str,
        /// The value as written.
        value: String,
        /// Names of the known values.
        known: String,
    },
    /// An unknown kind of document.
    #[error("unknown document kind `{0}`; expected html, json, xml, text, pdf or bytes")]
    UnknownKind(String),
}
