//! Atom feeds of changes (RFC 4287).

use std::fmt::Write;

use freshet_model::escape_markup;
use freshet_store::Change;
use sha2::{Digest, Sha256};

use crate::entry::Entry;
use crate::timestamp::rfc3339;

/// Media type of a feed.
pub const MEDIA_TYPE: &str = "application/atom+xml; charset=utf-8";

/// Metadata of a feed.
#[derive(Clone, Debug)]
pub struct FeedMetadata<'a> {
    /// Identity of the store: [`freshet_store::Reader::identity`].
    pub identity: &'a str,
    /// Title.
    pub title: &'a str,
    /// Absolute URL of the feed itself.
    pub url: &'a str,
    /// Base URL of the API without a final slash: `http://127.0.0.1:7333`.
    pub base: &'a str,
    /// Time of the last update if the feed has no entries, such as the creation of the store.
    pub created_at: i64,
}

/// Formats a feed of changes, newest first. A change has the same id in each feed.
#[must_use]
pub fn format_feed(metadata: &FeedMetadata<'_>, changes: &[Change]) -> String {
    let updated =
        changes.iter().map(|it| it.change.first_changed_at).max().unwrap_or(metadata.created_at);
    let mut xml = String::with_capacity(1024 + 1024 * changes.len());
    xml.push_str("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    xml.push_str("<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    push_element(&mut xml, "id", &guid(metadata.identity, &format!("feed {}", metadata.url)));
    push_element(&mut xml, "title", metadata.title);
    push_element(&mut xml, "updated", &rfc3339(updated));
    push_link(&mut xml, "self", metadata.url);
    xml.push_str("<author><name>freshet</name></author>\n<generator>freshet</generator>\n");
    for change in changes {
        push_entry(&mut xml, metadata, change);
    }
    xml.push_str("</feed>\n");
    xml
}

fn push_entry(xml: &mut String, metadata: &FeedMetadata<'_>, change: &Change) {
    let it = Entry::from_change(change);
    xml.push_str("<entry>\n");
    push_element(xml, "id", &guid(metadata.identity, &format!("change {}", it.cursor)));
    push_element(xml, "title", &format!("{}: {}", it.url, describe(&it)));
    push_element(xml, "updated", &it.first_changed);
    // Other schemes, such as `javascript:`, must not become links.
    if it.url.starts_with("http://") || it.url.starts_with("https://") {
        push_link(xml, "alternate", &it.url);
    }
    if let Some(diff) = &it.links.diff {
        push_link(xml, "related", &format!("{}{diff}", metadata.base));
    }
    for name in &it.tags {
        let _ = writeln!(xml, "<category term=\"{}\"/>", escape_text(name));
    }
    let mut text = describe(&it);
    if let Some(since) = &it.last_unchanged {
        let _ = write!(text, "\nlast seen unchanged: {since}");
    }
    if let Some(old) = it.old_size {
        let _ = write!(text, "\nsize: {old} → {} bytes", it.new_size);
    }
    let _ = writeln!(xml, "<content type=\"text\">{}</content>", escape_text(&text));
    xml.push_str("</entry>\n");
}

/// Returns the summary, or the kind of the entry.
fn describe(it: &Entry) -> String {
    if it.summary.is_empty() { it.kind.name().to_owned() } else { it.summary.clone() }
}

fn push_element(xml: &mut String, name: &str, text: &str) {
    let _ = writeln!(xml, "<{name}>{}</{name}>", escape_text(text));
}

fn push_link(xml: &mut String, relation: &str, url: &str) {
    let _ = writeln!(xml, "<link rel=\"{relation}\" href=\"{}\"/>", escape_text(url));
}

/// Escapes text for XML, and removes characters that XML 1.0 cannot represent (§2.2).
fn escape_text(text: &str) -> String {
    let is_allowed = |it: &char| !it.is_control() && !matches!(it, '\u{fffe}' | '\u{ffff}');
    let allowed: String =
        text.chars().filter(|it| is_allowed(it) || matches!(it, '\n' | '\t')).collect();
    escape_markup(&allowed).into_owned()
}

/// Returns a globally unique id of an object of a store: a UUID derived from a digest (RFC 9562 §5.8).
fn guid(identity: &str, object: &str) -> String {
    let digest = Sha256::digest(format!("freshet {identity} {object}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("urn:uuid:{}", parts.join("-"))
}
