//! Feeds: RSS 2.0, RSS 1.0 and Atom.
//!
//! An entry consists of its title, link, author, date and content. The metadata of the feed (build
//! date, generator, time to live) is not included.

use quick_xml::events::Event;

use super::{local_name, push_event_text, reader};
use crate::html::{stable_url, visible_text};

#[derive(Default)]
struct FeedEntry {
    title: String,
    link: String,
    date: String,
    id: String,
    author: String,
    text: String,
    media: Vec<String>,
}

/// A field of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Title,
    Link,
    Date,
    Id,
    Author,
    Text,
}

/// Returns the texts of the entries of a feed, or `None` if the document is not a feed.
pub(crate) fn parse(text: &str) -> Option<Vec<String>> {
    let mut reader = reader(text);
    let mut entries: Vec<FeedEntry> = Vec::new();
    let mut feed_title = String::new();
    let (mut depth, mut in_entry, mut field) = (0_usize, None, None::<(EntryField, usize)>);
    let mut buffer = String::new();
    let mut has_root = false;
    loop {
        let event = reader.read_event().ok()?;
        let is_empty_element = matches!(event, Event::Empty(_));
        match &event {
            Event::Eof => break,
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name();
                let name = local_name(name.as_ref());
                depth += usize::from(!is_empty_element);
                if !has_root {
                    has_root = matches!(name, "rss" | "feed" | "RDF");
                    if !has_root {
                        return None;
                    }
                    continue;
                }
                if matches!(name, "item" | "entry") && in_entry.is_none() && !is_empty_element {
                    in_entry = Some(depth);
                    entries.push(FeedEntry::default());
                    continue;
                }
                let attribute = |name: &str| {
                    let mut all = start.attributes();
                    let found_field =
                        all.with_checks(false).flatten().find(|it| it.key.as_ref() == name);
                    found_field.map(|it| it.value.into_owned())
                };
                if let (Some(_), Some(entry), None) = (in_entry, entries.last_mut(), field) {
                    match name {
                        "link" => {
                            let is_alternate = attribute("rel").is_none_or(|it| it == "alternate");
                            if let Some(target) = attribute("href").filter(|_| is_alternate) {
                                entry.link = stable_url(&target);
                            }
                        }
                        "enclosure" | "content" => {
                            entry.media.extend(attribute("url").map(|it| stable_url(&it)));
                        }
                        _ => {}
                    }
                }
                if let (None, false, Some(found_field)) =
                    (field, is_empty_element, field_of_element(name))
                {
                    let has_owner =
                        in_entry.is_some() || found_field == EntryField::Title && depth <= 3;
                    if has_owner {
                        field = Some((found_field, depth));
                        buffer.clear();
                    }
                } else if field.is_some() {
                    // Markup inside a text, as in the XHTML of Atom.
                    buffer.push(' ');
                }
            }
            Event::End(_) => {
                if let Some((found_field, _)) = field.filter(|it| it.1 == depth) {
                    field = None;
                    match in_entry {
                        Some(_) => entries.last_mut()?.set(found_field, &buffer),
                        None if feed_title.is_empty() => feed_title = visible_text(&buffer),
                        None => {}
                    }
                }
                in_entry = in_entry.filter(|it| *it != depth);
                depth = depth.checked_sub(1)?;
            }
            event if field.is_some() => push_event_text(event, &mut buffer),
            _ => {}
        }
    }
    if !has_root || depth != 0 {
        return None;
    }
    clear_build_dates(&mut entries);
    let title = (!feed_title.trim().is_empty()).then(|| feed_title.trim().to_owned() + "\n");
    Some(title.into_iter().chain(entries.iter().map(FeedEntry::text)).collect())
}

fn field_of_element(name: &str) -> Option<EntryField> {
    Some(match name {
        "title" => EntryField::Title,
        "link" => EntryField::Link,
        "pubDate" | "updated" | "date" | "published" | "modified" => EntryField::Date,
        "guid" | "id" => EntryField::Id,
        "author" | "creator" => EntryField::Author,
        "description" | "summary" | "content" | "encoded" => EntryField::Text,
        _ => return None,
    })
}

/// Clears the dates if all entries have the same one: it is the time when the feed was built.
fn clear_build_dates(entries: &mut [FeedEntry]) {
    let is_same_date = entries.windows(2).all(|pair| pair[0].date == pair[1].date);
    if entries.len() > 1 && is_same_date {
        entries.iter_mut().for_each(|it| it.date.clear());
    }
}

impl FeedEntry {
    fn set(&mut self, field: EntryField, buffer: &str) {
        let buffer = buffer.trim();
        let keep_longer = |old: &mut String, new: String| {
            if new.len() > old.len() {
                *old = new;
            }
        };
        match field {
            EntryField::Title => self.title = collapse_lines(&visible_text(&decode_markup(buffer))),
            EntryField::Link if self.link.is_empty() => self.link = stable_url(buffer),
            EntryField::Link => {}
            EntryField::Date => keep_longer(&mut self.date, buffer.to_owned()),
            EntryField::Id => self.id = buffer.to_owned(),
            EntryField::Author => {
                keep_longer(&mut self.author, collapse_lines(&visible_text(&decode_markup(buffer))))
            }
            // The longer one of the summary and the content.
            EntryField::Text => keep_longer(&mut self.text, visible_text(&decode_markup(buffer))),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let link = if self.link.is_empty() { &self.id } else { &self.link };
        for line in [&self.title, link, &self.author, &self.date].into_iter().chain(&self.media) {
            if !line.trim().is_empty() {
                text.push_str(&collapse_lines(line));
                text.push('\n');
            }
        }
        text.push_str(&self.text);
        text
    }
}

/// Unescapes markup, which is escaped once in a feed.
fn decode_markup(buffer: &str) -> String {
    if !buffer.contains('&') {
        return buffer.to_owned();
    }
    buffer.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn collapse_lines(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RSS: &str = "<?xml version='1.0'?><rss version='2.0'><channel><title>News</title>
        <lastBuildDate>NOW</lastBuildDate><ttl>60</ttl><generator>G</generator>
        <item><title>One &amp; two</title><link>https://a/1?utm_source=rss</link>
        <pubDate>Mon, 16 Nov 2026</pubDate>
        <description>&lt;p&gt;Hello &lt;b&gt;there&lt;/b&gt;&lt;/p&gt;</description></item>
        <item><title>Three</title><guid>x-3</guid><enclosure url='https://a/3.mp3?t=5'/>
        <pubDate>Tue, 17 Nov 2026</pubDate></item></channel></rss>";

    #[test]
    fn an_rss_feed_has_its_entries_without_metadata() {
        let entries = parse(RSS).unwrap();
        assert_eq!(
            entries,
            [
                "News\n",
                "One & two\nhttps://a/1\nMon, 16 Nov 2026\nHello there\n",
                "Three\nx-3\nTue, 17 Nov 2026\nhttps://a/3.mp3\n",
            ]
        );
        assert_eq!(parse(&RSS.replace("NOW", "THEN").replace("60", "90")), Some(entries));
    }

    #[test]
    fn an_atom_feed_has_its_entries() {
        let atom =
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>A</title><updated>2026</updated>
            <entry><title type='html'>T</title><link rel='self' href='/s'/><link href='/x'/>
            <id>1</id><author><name>Ann</name><uri>/ann</uri></author><updated>2026-01-01</updated><content type='xhtml'><div>Some <b>text</b></div>
            </content></entry></feed>";
        assert_eq!(parse(atom).unwrap(), ["A\n", "T\n/x\nAnn /ann\n2026-01-01\nSome text\n"]);
    }

    #[test]
    fn other_documents_are_not_feeds() {
        assert_eq!(parse("<urlset><url/></urlset>"), None);
        assert_eq!(parse("<rss><channel>"), None);
        assert_eq!(parse("<html></html>"), None);
    }
}
