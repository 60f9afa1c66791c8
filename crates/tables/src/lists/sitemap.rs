//! Sitemaps.

use std::io::BufRead;

use super::xml::{Piece, Xml, push};
use super::{ListError, Listed, TakeListed};

/// Largest number of parts of an index in an error.
const NAMED: usize = 3;

pub(super) fn read(list: &mut dyn BufRead, take: TakeListed<'_>) -> Result<(), ListError> {
    let mut xml = Xml::new(list);
    let mut around: Vec<String> = Vec::new();
    let mut address = String::new();
    let (mut is_index, mut parts) = (false, Vec::new());
    let (mut is_sitemap, mut begun) = (false, 0);
    while let Some(piece) = xml.next()? {
        match piece {
            Piece::Begin(name, _) => {
                is_sitemap |= name == "urlset";
                is_index |= name == "sitemapindex";
                if name == "loc" {
                    address.clear();
                    begun = xml.line();
                }
                around.push(name);
            }
            Piece::Text(text) if around.last().is_some_and(|name| name == "loc") => {
                push(&mut address, &text);
            }
            Piece::Text(_) => {}
            Piece::End => {
                let ended = around.pop();
                let of = around.last().map(String::as_str);
                // Images and videos have `loc` elements too.
                match (ended.as_deref(), of) {
                    (Some("loc"), Some("url")) => {
                        let url = address.trim().to_owned();
                        if take(Ok(Listed { url, line: begun, folders: Vec::new() })).is_break() {
                            return Ok(());
                        }
                    }
                    (Some("loc"), Some("sitemap")) if parts.len() <= NAMED => {
                        parts.push(address.trim().to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
    if is_index {
        let more = parts.len() > NAMED;
        parts.truncate(NAMED);
        return Err(ListError::Index { parts, more });
    }
    if is_sitemap { Ok(()) } else { Err(ListError::NotASitemap) }
}
