//! Texts with places for the fields of an entry: `{{url}} has changed`. Nothing else can be said in one:
//! no conditions, no functions, no files. What is filled in is not looked into again.

use crate::entry::Entry;
use crate::filter::InvalidSetting;

/// The longest template.
const LONGEST: usize = 16 * 1024;

/// Fields of an entry by name, in the order in which they are written.
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

/// A text with places for fields, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    written: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(&'static str),
}

impl Template {
    /// Reads one.
    ///
    /// # Errors
    /// If it names what no entry has, or a place is not closed. `field` is for the message.
    pub fn parse(text: &str, field: &str) -> Result<Self, InvalidSetting> {
        if text.len() > LONGEST {
            return Err(InvalidSetting::new(field, format!("more than {LONGEST} bytes")));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            let (before, after) = (&rest[..at], &rest[at + 2..]);
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let open = || InvalidSetting::new(field, "a `{{` is not closed by `}}`");
            let end = after.find("}}").ok_or_else(open)?;
            let name = after[..end].trim();
            let known = FIELDS.into_iter().find(|it| *it == name);
            let unknown = || {
                let shown: String = name.chars().filter(|it| !it.is_control()).take(40).collect();
                let known = FIELDS.join(", ");
                InvalidSetting::new(field, format!("an entry has no `{shown}`; it has {known}"))
            };
            pieces.push(Piece::Field(known.ok_or_else(unknown)?));
            rest = &after[end + 2..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Self { written: text.to_owned(), pieces })
    }

    /// As it was written.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// As one line, such as a subject.
    pub(crate) fn line(&self, entry: &Entry) -> String {
        line(&self.fill(entry))
    }

    /// As a text of several lines.
    pub(crate) fn text(&self, entry: &Entry) -> String {
        lines(&self.fill(entry))
    }

    fn fill(&self, entry: &Entry) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(it) => text.push_str(it),
                Piece::Field(name) => text.push_str(&value(entry, name)),
            }
        }
        text
    }
}

/// A field of an entry in words; empty if there is none.
pub(crate) fn value(it: &Entry, name: &str) -> String {
    let number = |it: Option<u64>| it.map(|it| it.to_string());
    let some = match name {
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
    some.unwrap_or_default()
}

/// What moves, colours or turns round a text.
fn is_steering(it: char) -> bool {
    let turns =
        matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Some programs end a line at these.
    it.is_control() || turns || matches!(it, '\u{2028}' | '\u{2029}')
}

/// One line of text: what would end it, or steer it, is a blank.
pub(crate) fn line(text: &str) -> String {
    let plain: String = text.chars().map(|it| if is_steering(it) { ' ' } else { it }).collect();
    plain.split(' ').filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Some lines of text: what would steer them is left out.
pub(crate) fn lines(text: &str) -> String {
    text.chars().filter(|&it| matches!(it, '\n' | '\t') || !is_steering(it)).collect()
}

/// So many characters of a text, and whether there were more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
