//! XML as lines: one for each element and one for each text. Feeds are parsed as entries.
//!
//! Entities that a document defines are not expanded, so a small document cannot become a large text.

mod feed;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::html::push_collapsed;

/// The text of a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum XmlContent {
    /// Entries of a feed, whose order is not significant.
    Feed(Vec<String>),
    Lines(String),
}

/// Maximum depth of elements; a deeper document is not parsed.
const MAX_DEPTH: usize = 512;

/// Returns the text of a document, or `None` if it is not well-formed XML.
pub(crate) fn parse(text: &str) -> Option<XmlContent> {
    if let Some(entries) = feed::parse(text) {
        return Some(XmlContent::Feed(entries));
    }
    lines(text).map(XmlContent::Lines)
}

fn lines(text: &str) -> Option<String> {
    let mut reader = reader(text);
    let (mut out, mut buffer) = (String::new(), String::new());
    // The path of the innermost element: `/a/b`.
    let mut path = String::new();
    let mut depth = 0_usize;
    let mut elements = 0_usize;
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(start) => {
                push_text(&path, &mut buffer, &mut out);
                depth += 1;
                elements += 1;
                if depth > MAX_DEPTH {
                    return None;
                }
                open_element(&start, &mut path, &mut out);
            }
            Event::Empty(start) => {
                push_text(&path, &mut buffer, &mut out);
                elements += 1;
                open_element(&start, &mut path, &mut out);
                close_element(&mut path);
            }
            Event::End(_) => {
                push_text(&path, &mut buffer, &mut out);
                depth = depth.saturating_sub(1);
                close_element(&mut path);
            }
            event => push_event_text(&event, &mut buffer),
        }
    }
    (elements > 0 && depth == 0).then_some(out)
}

fn reader(text: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.check_end_names = true;
    reader
}

/// Appends the text of an event, if it has one.
fn push_event_text(event: &Event<'_>, buffer: &mut String) {
    match event {
        Event::Text(text) => buffer.push_str(text),
        Event::CData(data) => buffer.push_str(data),
        Event::GeneralRef(name) => {
            buffer.push('&');
            buffer.push_str(name);
            buffer.push(';');
        }
        _ => {}
    }
}

/// Removes the namespace prefix of a name.
fn local_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

/// Longer paths are cut at the start, so that deep documents do not become long. In bytes.
const MAX_PATH_LEN: usize = 120;

fn path_tail(path: &str) -> &str {
    let from = path.len().saturating_sub(MAX_PATH_LEN);
    &path[path.ceil_char_boundary(from)..]
}

fn open_element(start: &BytesStart<'_>, path: &mut String, out: &mut String) {
    path.push('/');
    path.push_str(&start.name().as_ref().replace('/', "_"));
    let mut attributes = start.attributes();
    let mut list: Vec<(String, String)> = attributes
        .with_checks(false)
        .flatten()
        .filter(|it| !it.key.as_ref().starts_with("xmlns"))
        .map(|it| {
            let name = it.key.as_ref().to_owned();
            let mut value = String::new();
            push_collapsed(&it.value, true, &mut value);
            (name, value)
        })
        .collect();
    list.sort();
    // The element has a line of its own, so that one without text counts too.
    out.push_str(path_tail(path));
    for (name, value) in list {
        out.push_str(&format!(" {name}=\"{}\"", value.trim()));
    }
    out.push('\n');
}

fn close_element(path: &mut String) {
    let at = path.rfind('/').unwrap_or(0);
    path.truncate(at);
}

fn push_text(path: &str, buffer: &mut String, out: &mut String) {
    let mut text = String::new();
    push_collapsed(buffer, true, &mut text);
    buffer.clear();
    if !text.trim().is_empty() {
        out.push_str(path_tail(path));
        out.push_str(": ");
        out.push_str(text.trim());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found = lines(text).unwrap();
        assert_eq!(found.lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn elements_and_texts_become_lines() {
        check(
            "<a><b x='1' a=\"2\"> t </b><c/></a>",
            &["/a", "/a/b a=\"2\" x=\"1\"", "/a/b: t", "/a/c"],
        );
        check(
            "<?xml version='1.0'?><!-- x --><a>1 &amp; 2<![CDATA[ <3>]]></a>",
            &["/a", "/a: 1 & 2 <3>"],
        );
    }

    #[test]
    fn malformed_xml_is_not_parsed() {
        for text in ["", "text", "<a>", "<a></b>", "<a b></a", &"<a>".repeat(600)] {
            assert_eq!(lines(text), None, "{text}");
        }
    }

    #[test]
    fn entities_are_not_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'yyyyyyyyyy'><!ENTITY z '&x;&x;&x;&x;'>]><a>&z;&z;</a>";
        check(bomb, &["/a", "/a: &z;&z;"]);
    }
}
