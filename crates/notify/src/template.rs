//! Templates with placeholders for the fields of an entry: `{{url}} has changed`. There are no conditions, functions or
//! includes, and inserted values are not expanded again.

use crate::entry::Entry;
use crate::filter::InvalidSetting;

/// Maximum length of a template in bytes.
const MAX_TEMPLATE_LEN: usize = 16 * 1024;

/// Names of the fields of an entry, in the order of the JSON.
pub(crate) const FIELDS: [&str; 17] = [
    "cursor",
    "kind",
    "source",
    "url",
    "host",
    "tags",
    "importance",
    "last_unchanged",
    "first_changed",
    "old_digest",
    "new_digest",
    "old_size",
    "new_size",
    "similarity",
    "summary",
    "old_version",
    "new_version",
];

/// Validated template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(&'static str),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// Returns [`InvalidSetting`] if it has an unknown field or an unclosed placeholder. `field` is for the message.
    pub fn parse(text: &str, field: &str) -> Result<Self, InvalidSetting> {
        if text.len() > MAX_TEMPLATE_LEN {
            return Err(InvalidSetting::new(
                field,
                format!("longer than {MAX_TEMPLATE_LEN} bytes"),
            ));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let unclosed = || InvalidSetting::new(field, "a `{{` is not closed by `}}`");
            let end = after.find("}}").ok_or_else(unclosed)?;
            let name = after[..end].trim();
            let known_field = FIELDS.into_iter().find(|it| *it == name);
            let unknown = || {
                let shown: String = name.chars().filter(|it| !it.is_control()).take(40).collect();
                let known = FIELDS.join(", ");
                InvalidSetting::new(
                    field,
                    format!("unknown field `{shown}`: known fields are {known}"),
                )
            };
            pieces.push(Piece::Field(known_field.ok_or_else(unknown)?));
            rest = &after[end + 2..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { source: text.to_owned(), pieces })
    }

    /// Returns the text of the template.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Expands the template to one line, such as a subject.
    pub(crate) fn expand_line(&self, entry: &Entry) -> String {
        to_line(&self.expand(entry))
    }

    /// Expands the template to a text of several lines.
    pub(crate) fn expand_text(&self, entry: &Entry) -> String {
        to_lines(&self.expand(entry))
    }

    fn expand(&self, entry: &Entry) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(it) => text.push_str(it),
                Piece::Field(name) => text.push_str(&field_value(entry, name)),
            }
        }
        text
    }
}

/// Returns the value of a field as text; empty if it has none.
pub(crate) fn field_value(it: &Entry, name: &str) -> String {
    let number = |it: Option<u64>| it.map(|it| it.to_string());
    let value = match name {
        "cursor" => Some(it.cursor.to_string()),
        "kind" => Some(it.kind.name().to_owned()),
        "source" => Some(it.source.to_string()),
        "url" => Some(it.url.clone()),
        "host" => Some(it.host.clone()),
        "tags" => Some(it.tags.join(", ")),
        "importance" => Some(it.importance.to_string()),
        "last_unchanged" => it.last_unchanged.clone(),
        "first_changed" => Some(it.first_changed.clone()),
        "old_digest" => it.old_digest.clone(),
        "new_digest" => it.new_digest.clone(),
        "old_size" => number(it.old_size),
        "new_size" => Some(it.new_size.to_string()),
        "similarity" => Some(it.similarity.to_string()),
        "summary" => Some(it.summary.clone()),
        "old_version" => number(it.old_version.map(u64::from)),
        "new_version" => number(it.new_version.map(u64::from)),
        _ => None,
    };
    value.unwrap_or_default()
}

/// True for control characters and for characters that change the direction of text.
fn is_unsafe_in_text(it: char) -> bool {
    let is_directional =
        matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Some programs treat the last two as line breaks.
    it.is_control() || is_directional || matches!(it, '\u{2028}' | '\u{2029}')
}

/// Converts a text to one line: unsafe characters become spaces, and runs of spaces one space.
pub(crate) fn to_line(text: &str) -> String {
    let plain: String =
        text.chars().map(|it| if is_unsafe_in_text(it) { ' ' } else { it }).collect();
    plain.split(' ').filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Removes unsafe characters from a text of several lines.
pub(crate) fn to_lines(text: &str) -> String {
    text.chars().filter(|&it| matches!(it, '\n' | '\t') || !is_unsafe_in_text(it)).collect()
}

/// Truncates a text to `max` characters, with an ellipsis if it was longer.
pub(crate) fn truncate(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
