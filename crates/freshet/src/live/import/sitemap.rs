//! Sitemaps.

use std::path::Path;

use super::place::{Found, Place};
use super::xml::{Piece, Xml, push};
use super::{Each, Notes};
use crate::failure::Failure;

/// Parts of an index that are named in a message.
const NAMED: usize = 3;

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let mut xml = Xml::open(path)?;
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
                // Pictures and films have addresses too.
                match (ended.as_deref(), of) {
                    (Some("loc"), Some("url")) => {
                        each(Ok(Found::new(address.trim(), Place::Line(begun))))?;
                    }
                    (Some("loc"), Some("sitemap")) if parts.len() <= NAMED => {
                        parts.push(address.trim().to_owned());
                    }
                    _ => {}
                }
            }
        }
    }
    let name = path.display();
    if is_index {
        let more = if parts.len() > NAMED { " …" } else { "" };
        parts.truncate(NAMED);
        return Err(Failure::new(format!("{name} is an index of sitemaps, not a sitemap"))
            .hint(format!("fetch its parts and import them: {}{more}", parts.join(" "))));
    }
    if !is_sitemap {
        return Err(Failure::new(format!("{name}: not a sitemap: there is no <urlset>"))
            .hint("name what it is with --format"));
    }
    Ok(Notes::new())
}
