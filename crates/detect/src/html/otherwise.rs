//! What counts of a page that has no text at all: what it tells machines, or else the addresses of
//! what it shows.

mod assigned;

use assigned::{each_assigned, each_literal, push_streamed};

use super::tag::Tag;
use super::text::push_collapsed;
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::plain_url;
use crate::json;

/// What a page has besides text, in lines.
#[derive(Debug, Default)]
pub(crate) struct Otherwise {
    pub(crate) title: String,
    /// For search engines, and for its own scripts.
    pub(crate) said: String,
    /// The pages that it is made of.
    pub(crate) frames: String,
    /// What it shows and links to.
    pub(crate) addresses: String,
}

/// What a script is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    None,
    /// What the page is about, for search engines.
    Linked,
    /// What a script makes the page of.
    State,
    /// A script, which may hold such a thing.
    Script,
}

impl Otherwise {
    pub(crate) fn of(page: &str) -> Self {
        let mut found = Self::default();
        let mut tokenizer = Tokenizer::new(page);
        let mut attributes: Vec<Attribute<'_>> = Vec::new();
        let (mut data, mut title) = (Data::None, false);
        let mut streamed = String::new();
        while let Some(token) = tokenizer.next(&mut attributes) {
            match token {
                Token::Open { tag, .. } => {
                    let get = |name| attribute(&attributes, name).unwrap_or_default();
                    data = if tag == Tag::Script { kind_of(get("type")) } else { Data::None };
                    title = tag == Tag::Title;
                    match tag {
                        Tag::Meta if is_said(get("name")) || is_said(get("property")) => {
                            push_line(get("content"), &mut found.said);
                        }
                        Tag::Frame => push_line(&plain_url(get("src")), &mut found.frames),
                        Tag::Img | Tag::Iframe | Tag::Embed | Tag::Source | Tag::Video => {
                            push_line(&plain_url(get("src")), &mut found.addresses);
                        }
                        Tag::A | Tag::Area => {
                            push_line(&plain_url(get("href")), &mut found.addresses);
                        }
                        _ => {}
                    }
                }
                Token::Raw(raw) if data == Data::Linked => {
                    push_line(&json::plain(raw), &mut found.said);
                }
                Token::Raw(raw) if data == Data::State => push_state(raw, &mut found.said),
                Token::Raw(raw) if data == Data::Script => {
                    each_assigned(raw, |it| push_value(it, &mut found.said));
                    push_streamed(raw, &mut streamed);
                }
                Token::Raw(raw) if title => push_line(raw, &mut found.title),
                _ => {}
            }
        }
        push_stream(&streamed, &mut found.said);
        found
    }
}

fn kind_of(script: &str) -> Data {
    let kind = script.trim();
    if kind.eq_ignore_ascii_case("application/ld+json") {
        Data::Linked
    } else if kind.eq_ignore_ascii_case("application/json") {
        Data::State
    } else if kind.is_empty() || kind.ends_with("javascript") || kind == "module" {
        Data::Script
    } else {
        Data::None
    }
}

fn is_said(name: &str) -> bool {
    ["description", "og:title", "og:description", "product:price:amount", "article:modified_time"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it))
}

/// One line for each value, but for those that are for this visit only.
fn push_state(raw: &str, out: &mut String) {
    let Some(lines) = json::lines(&json::plain(raw)) else { return };
    for line in lines.lines() {
        let (place, value) = line.rsplit_once(": ").unwrap_or(("", line));
        let name = place.rsplit('/').find(|it| !matches!(*it, "+" | "*")).unwrap_or_default();
        if !is_of_visit(&name.to_ascii_lowercase()) && !is_made_up(value.trim_matches('"')) {
            push_line(line, out);
        }
    }
}

/// What is assigned in a script, be it JSON or not.
fn push_value(value: &str, out: &mut String) {
    if json::is_json(value) {
        push_state(value, out);
        return;
    }
    each_literal(value, |name, literal| {
        let made_up = is_made_up(literal.trim_matches(['"', '\'', '`']));
        if !made_up && !is_of_visit(&name.to_ascii_lowercase()) {
            push_line(literal, out);
        }
    });
}

/// Rows of a page that was sent bit by bit: a number, and what it stands for.
fn push_stream(rows: &str, out: &mut String) {
    for row in rows.lines() {
        let value = row.split_once(':').map_or(row, |it| it.1);
        // Where scripts and styles are.
        if value.starts_with(['I', 'H']) {
            continue;
        }
        if !json::is_json(value) {
            push_line(value, out);
            continue;
        }
        let mut said = String::new();
        push_state(value, &mut said);
        // The release of the site.
        said.lines().filter(|it| !it.starts_with("/b: ")).for_each(|it| push_line(it, out));
    }
}

fn is_of_visit(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "token",
        "csrf",
        "nonce",
        "buildid",
        "requestid",
        "traceid",
        "sessionid",
        "session_id",
        "timestamp",
        "etag",
        "generatedat",
        "renderedat",
        "servertime",
        "experiment",
        "correlation",
    ];
    const WHOLE: &[&str] =
        &["session", "now", "ts", "uuid", "visitor", "visitorid", "cachebuster", "random"];
    WHOLE.contains(&name) || NAMES.iter().any(|it| name.contains(it))
}

/// A long run of letters and digits that is no word.
fn is_made_up(value: &str) -> bool {
    let hex = |it: u8| it.is_ascii_hexdigit() || it == b'-';
    value.len() >= 16
        && value.bytes().all(hex)
        && value.bytes().any(|it| it.is_ascii_alphabetic())
        && value.bytes().any(|it| it.is_ascii_digit())
}

fn push_line(text: &str, out: &mut String) {
    let start = out.len();
    push_collapsed(text.trim(), true, out);
    if out[start..].trim().is_empty() {
        out.truncate(start);
    } else {
        out.push('\n');
    }
}
