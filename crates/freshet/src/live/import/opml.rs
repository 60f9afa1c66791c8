//! OPML: feeds, as readers export them.

use std::path::Path;

use super::place::{Found, Place};
use super::xml::{Piece, Xml};
use super::{Each, Notes};
use crate::failure::Failure;

pub(crate) fn read(path: &Path, folder_tags: bool, each: Each<'_>) -> Result<Notes, Failure> {
    let mut xml = Xml::open(path)?;
    // Of the elements around: the name of a folder, or nothing.
    let mut around: Vec<Option<String>> = Vec::new();
    let (mut is_opml, mut any) = (false, false);
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
                        any = true;
                        let mut found = Found::new(&url, Place::Line(xml.line()));
                        if folder_tags {
                            let folders: Vec<String> = around.iter().flatten().cloned().collect();
                            found.wanted.given.tags = (!folders.is_empty()).then_some(folders);
                        }
                        each(Ok(found))?;
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
    if !is_opml {
        return Err(Failure::new(format!("{}: not OPML: there is no <opml>", path.display()))
            .hint("name what it is with --format"));
    }
    Ok(if any { Notes::new() } else { vec!["there are no feeds in it".to_owned()] })
}
