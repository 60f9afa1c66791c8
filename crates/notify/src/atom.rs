//! Changes as an Atom feed (RFC 4287), for feed readers.

use std::fmt::Write;

use freshet_store::Change;
use quick_xml::escape::escape;
use sha2::{Digest, Sha256};

use crate::entry::Entry;
use crate::moment::rfc3339;

/// The type of a feed.
pub const MEDIA_TYPE: &str = "application/atom+xml; charset=utf-8";

/// What a feed is of, and where.
#[derive(Clone, Debug)]
pub struct Feed<'a> {
    /// The identity of the store: [`freshet_store::Reader::identity`].
    pub identity: &'a str,
    /// What readers call it.
    pub title: &'a str,
    /// Where the feed itself is: a whole URL.
    pub url: &'a str,
    /// Where the API is, without a slash at the end: `http://127.0.0.1:7333`.
    pub base: &'a str,
    /// When it was last another, if there are no changes in it: the store's making will do.
    pub made: i64,
}

/// The feed of some changes, the newest first. A change has the same identity in every feed that it is
/// in.
#[must_use]
pub fn feed(about: &Feed<'_>, changes: &[Change]) -> String {
    let updated = changes.iter().map(|it| it.change.first_changed_at).max().unwrap_or(about.made);
    let mut xml = String::with_capacity(1024 + 1024 * changes.len());
    xml.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    xml.push_str("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    tag(&mut xml, "id", &guid(about.identity, &format!("feed {}", about.url)));
    tag(&mut xml, "title", about.title);
    tag(&mut xml, "updated", &rfc3339(updated));
    link(&mut xml, "self", about.url);
    xml.push_str("<author><name>freshet</name></author>\n<generator>freshet</generator>\n");
    for change in changes {
        entry(&mut xml, about, change);
    }
    xml.push_str("</feed>\n");
    xml
}

fn entry(xml: &mut String, about: &Feed<'_>, change: &Change) {
    let it = Entry::from_change(change);
    xml.push_str("<entry>\n");
    tag(xml, "id", &guid(about.identity, &format!("change {}", it.cursor)));
    tag(xml, "title", &format!("{}: {}", it.url, what(&it)));
    tag(xml, "updated", &it.first_changed);
    // Whoever clicks on it must not run it.
    if it.url.starts_with("http://") || it.url.starts_with("https://") {
        link(xml, "alternate", &it.url);
    }
    if let Some(diff) = &it.links.diff {
        link(xml, "related", &format!("{}{diff}", about.base));
    }
    for name in &it.tags {
        let _ = writeln!(xml, "<category term=\"{}\"/>", clean(name));
    }
    let mut text = what(&it);
    if let Some(since) = &it.last_unchanged {
        let _ = write!(text, "\nlast seen as it was: {since}");
    }
    if let Some(old) = it.old_size {
        let _ = write!(text, "\nsize: {old} → {} bytes", it.new_size);
    }
    let _ = writeln!(xml, "<content type=\"text\">{}</content>", clean(&text));
    xml.push_str("</entry>\n");
}

/// What happened, in words.
fn what(it: &Entry) -> String {
    if it.summary.is_empty() { it.kind.name().to_owned() } else { it.summary.clone() }
}

fn tag(xml: &mut String, name: &str, text: &str) {
    let _ = writeln!(xml, "<{name}>{}</{name}>", clean(text));
}

fn link(xml: &mut String, relation: &str, url: &str) {
    let _ = writeln!(xml, "<link rel=\"{relation}\" href=\"{}\"/>", clean(url));
}

/// Text as it may stand in XML: escaped, and without what XML 1.0 has no way to say (§2.2).
fn clean(text: &str) -> String {
    let sayable = |it: &char| !it.is_control() && !matches!(it, '\u{fffe}' | '\u{ffff}');
    let kept: String = text.chars().filter(|it| sayable(it) || matches!(it, '\n' | '\t')).collect();
    escape(kept).into_owned()
}

/// A name for something of a store that nothing else in the world has: a UUID of the kind that is made
/// from a digest (RFC 9562 §5.8).
fn guid(identity: &str, what: &str) -> String {
    let digest = Sha256::digest(format!("freshet {identity} {what}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("urn:uuid:{}", parts.join("-"))
}
