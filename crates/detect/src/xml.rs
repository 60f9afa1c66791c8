//! XML as lines: one for each text and each element with attributes. Feeds are read as entries.
//!
//! Entities that a document defines are not replaced, so none can grow. What is no XML is read as
//! text.

mod feed;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::html::push_collapsed;

/// A document as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Xml {
    /// Entries of a feed: their order does not matter.
    Feed(Vec<String>),
    Lines(String),
}

/// Elements in each other, at most: more is no document of anyone's.
const DEEPEST: usize = 512;

/// The document as text, or nothing if it is no XML.
pub(crate) fn read(text: &str) -> Option<Xml> {
    if let Some(entries) = feed::read(text) {
        return Some(Xml::Feed(entries));
    }
    lines(text).map(Xml::Lines)
}

fn lines(text: &str) -> Option<String> {
    let mut reader = reader(text);
    let (mut out, mut run) = (String::new(), String::new());
    // Lengths of the names around, in a place such as `/a/b`.
    let mut place = String::new();
    let mut depth = 0_usize;
    let mut elements = 0_usize;
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(start) => {
                push_text(&place, &mut run, &mut out);
                depth += 1;
                elements += 1;
                if depth > DEEPEST {
                    return None;
                }
                enter(&start, &mut place, &mut out);
            }
            Event::Empty(start) => {
                push_text(&place, &mut run, &mut out);
                elements += 1;
                enter(&start, &mut place, &mut out);
                leave(&mut place);
            }
            Event::End(_) => {
                push_text(&place, &mut run, &mut out);
                depth = depth.saturating_sub(1);
                leave(&mut place);
            }
            event => push_event(&event, &mut run),
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

/// Appends what an event says, if it is text.
fn push_event(event: &Event<'_>, run: &mut String) {
    match event {
        Event::Text(text) => run.push_str(text),
        Event::CData(data) => run.push_str(data),
        Event::GeneralRef(name) => {
            run.push('&');
            run.push_str(name);
            run.push(';');
        }
        _ => {}
    }
}

/// A name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

/// Places are cut, so that deep documents do not become long.
const LONGEST_PLACE: usize = 120;

fn shown(place: &str) -> &str {
    let from = place.len().saturating_sub(LONGEST_PLACE);
    &place[place.ceil_char_boundary(from)..]
}

fn enter(start: &BytesStart<'_>, place: &mut String, out: &mut String) {
    place.push('/');
    place.push_str(&start.name().as_ref().replace('/', "_"));
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
    // The element itself has a line, so that one without text counts too.
    out.push_str(shown(place));
    for (name, value) in list {
        out.push_str(&format!(" {name}=\"{}\"", value.trim()));
    }
    out.push('\n');
}

fn leave(place: &mut String) {
    let at = place.rfind('/').unwrap_or(0);
    place.truncate(at);
}

fn push_text(place: &str, run: &mut String, out: &mut String) {
    let mut text = String::new();
    push_collapsed(run, true, &mut text);
    run.clear();
    if !text.trim().is_empty() {
        out.push_str(shown(place));
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
    fn one_form() {
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
    fn what_is_no_xml() {
        for text in ["", "text", "<a>", "<a></b>", "<a b></a", &"<a>".repeat(600)] {
            assert_eq!(lines(text), None, "{text}");
        }
    }

    #[test]
    fn entities_do_not_grow() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'yyyyyyyyyy'><!ENTITY z '&x;&x;&x;&x;'>]><a>&z;&z;</a>";
        check(bomb, &["/a", "/a: &z;&z;"]);
    }
}
