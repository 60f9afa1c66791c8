//! OPML, as feed readers export it.

use std::io::BufRead;

use super::xml::{Piece, Xml};
use super::{ListError, Listed, TakeListed};

pub(super) fn read(list: &mut dyn BufRead, take: TakeListed<'_>) -> Result<(), ListError> {
    let mut xml = Xml::new(list);
    // Enclosing elements: the name of a folder, or `None`.
    let mut around: Vec<Option<String>> = Vec::new();
    let mut is_opml = false;
    while let Some(piece) = xml.next()? {
        match piece {
            Piece::Begin(name, attributes) => {
                is_opml |= name == "opml";
                let value = |wanted: &str| {
                    let found = attributes.iter().find(|(name, _)| name == wanted);
                    found.map(|(_, value)| value.trim().to_owned()).filter(|it| !it.is_empty())
                };
                let url = value("xmlUrl").or_else(|| value("xmlurl"));
                let is_outline = name == "outline";
                match url.filter(|_| is_outline) {
                    Some(url) => {
                        let folders = around.iter().flatten().cloned().collect();
                        if take(Ok(Listed { url, line: xml.line(), folders })).is_break() {
                            return Ok(());
                        }
                        around.push(None);
                    }
                    None if is_outline => {
                        let title = value("text").or_else(|| value("title"));
                        around.push(title.map(|title| title.replace('\n', " ")));
                    }
                    None => around.push(None),
                }
            }
            Piece::End => {
                around.pop();
            }
            Piece::Text(_) => {}
        }
    }
    if is_opml { Ok(()) } else { Err(ListError::NotOpml) }
}
