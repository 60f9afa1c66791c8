//! Feeds: RSS, RSS 1.0 and Atom. An entry is its title, its link, its author, its date and its text.
//! What the feed says of itself (when it was built, by what, for how long) does not count.

use quick_xml::events::Event;

use super::{local, push_event, reader};
use crate::html::{plain_url, visible_text};

#[derive(Default)]
struct Entry {
    title: String,
    link: String,
    date: String,
    id: String,
    author: String,
    text: String,
    media: Vec<String>,
}

/// A part of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Title,
    Link,
    Date,
    Id,
    Author,
    Text,
}

/// The entries of a feed as text, or nothing if it is none.
pub(crate) fn read(text: &str) -> Option<Vec<String>> {
    let mut reader = reader(text);
    let mut entries: Vec<Entry> = Vec::new();
    let mut own_title = String::new();
    let (mut depth, mut in_entry, mut part) = (0_usize, None, None::<(Part, usize)>);
    let mut run = String::new();
    let mut root = false;
    loop {
        let event = reader.read_event().ok()?;
        let empty = matches!(event, Event::Empty(_));
        match &event {
            Event::Eof => break,
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name();
                let name = local(name.as_ref());
                depth += usize::from(!empty);
                if !root {
                    root = matches!(name, "rss" | "feed" | "RDF");
                    if !root {
                        return None;
                    }
                    continue;
                }
                if matches!(name, "item" | "entry") && in_entry.is_none() && !empty {
                    in_entry = Some(depth);
                    entries.push(Entry::default());
                    continue;
                }
                let attribute = |name: &str| {
                    let mut all = start.attributes();
                    let found = all.with_checks(false).flatten().find(|it| it.key.as_ref() == name);
                    found.map(|it| it.value.into_owned())
                };
                if let (Some(_), Some(entry), None) = (in_entry, entries.last_mut(), part) {
                    match name {
                        "link" => {
                            let main = attribute("rel").is_none_or(|it| it == "alternate");
                            if let Some(target) = attribute("href").filter(|_| main) {
                                entry.link = plain_url(&target);
                            }
                        }
                        "enclosure" | "content" => {
                            entry.media.extend(attribute("url").map(|it| plain_url(&it)));
                        }
                        _ => {}
                    }
                }
                if let (None, false, Some(found)) = (part, empty, part_of(name)) {
                    let whose = in_entry.is_some() || found == Part::Title && depth <= 3;
                    if whose {
                        part = Some((found, depth));
                        run.clear();
                    }
                } else if part.is_some() {
                    // Markup in a text, as in Atom's XHTML.
                    run.push(' ');
                }
            }
            Event::End(_) => {
                if let Some((found, _)) = part.filter(|it| it.1 == depth) {
                    part = None;
                    match in_entry {
                        Some(_) => entries.last_mut()?.set(found, &run),
                        None if own_title.is_empty() => own_title = visible_text(&run),
                        None => {}
                    }
                }
                in_entry = in_entry.filter(|it| *it != depth);
                depth = depth.checked_sub(1)?;
            }
            event if part.is_some() => push_event(event, &mut run),
            _ => {}
        }
    }
    if !root || depth != 0 {
        return None;
    }
    forget_made_up_dates(&mut entries);
    let title = (!own_title.trim().is_empty()).then(|| own_title.trim().to_owned() + "\n");
    Some(title.into_iter().chain(entries.iter().map(Entry::text)).collect())
}

fn part_of(name: &str) -> Option<Part> {
    Some(match name {
        "title" => Part::Title,
        "link" => Part::Link,
        "pubDate" | "updated" | "date" | "published" | "modified" => Part::Date,
        "guid" | "id" => Part::Id,
        "author" | "creator" => Part::Author,
        "description" | "summary" | "content" | "encoded" => Part::Text,
        _ => return None,
    })
}

/// A feed that says of all its entries that they are of the same moment says when it was built.
fn forget_made_up_dates(entries: &mut [Entry]) {
    let same = entries.windows(2).all(|pair| pair[0].date == pair[1].date);
    if entries.len() > 1 && same {
        entries.iter_mut().for_each(|it| it.date.clear());
    }
}

impl Entry {
    fn set(&mut self, part: Part, run: &str) {
        let run = run.trim();
        let longer = |old: &mut String, new: String| {
            if new.len() > old.len() {
                *old = new;
            }
        };
        match part {
            Part::Title => self.title = one_line(&visible_text(&decoded(run))),
            Part::Link if self.link.is_empty() => self.link = plain_url(run),
            Part::Link => {}
            Part::Date => longer(&mut self.date, run.to_owned()),
            Part::Id => self.id = run.to_owned(),
            Part::Author => longer(&mut self.author, one_line(&visible_text(&decoded(run)))),
            // Where there is a summary and the text, the text.
            Part::Text => longer(&mut self.text, visible_text(&decoded(run))),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let link = if self.link.is_empty() { &self.id } else { &self.link };
        for line in [&self.title, link, &self.author, &self.date].into_iter().chain(&self.media) {
            if !line.trim().is_empty() {
                text.push_str(&one_line(line));
                text.push('\n');
            }
        }
        text.push_str(&self.text);
        text
    }
}

/// Markup within a feed is escaped once.
fn decoded(run: &str) -> String {
    if !run.contains('&') {
        return run.to_owned();
    }
    run.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn one_line(text: &str) -> String {
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
    fn entries() {
        let entries = read(RSS).unwrap();
        assert_eq!(
            entries,
            [
                "News\n",
                "One & two\nhttps://a/1\nMon, 16 Nov 2026\nHello there\n",
                "Three\nx-3\nTue, 17 Nov 2026\nhttps://a/3.mp3\n",
            ]
        );
        assert_eq!(read(&RSS.replace("NOW", "THEN").replace("60", "90")), Some(entries));
    }

    #[test]
    fn atom() {
        let atom =
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>A</title><updated>2026</updated>
            <entry><title type='html'>T</title><link rel='self' href='/s'/><link href='/x'/>
            <id>1</id><author><name>Ann</name><uri>/ann</uri></author><updated>2026-01-01</updated><content type='xhtml'><div>Some <b>text</b></div>
            </content></entry></feed>";
        assert_eq!(read(atom).unwrap(), ["A\n", "T\n/x\nAnn /ann\n2026-01-01\nSome text\n"]);
    }

    #[test]
    fn other_documents_are_no_feeds() {
        assert_eq!(read("<urlset><url/></urlset>"), None);
        assert_eq!(read("<rss><channel>"), None);
        assert_eq!(read("<html></html>"), None);
    }
}
