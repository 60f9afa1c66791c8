//! What counts of a page that has no text at all: what it tells machines, or else the addresses of
//! what it shows.

use super::Basis;
use super::tag::Tag;
use super::text::push_collapsed;
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::plain_url;
use crate::json;

pub(crate) fn text(page: &str) -> (String, Basis) {
    let (mut said, mut addresses) = (String::new(), String::new());
    let mut tokenizer = Tokenizer::new(page);
    let mut attributes: Vec<Attribute<'_>> = Vec::new();
    let mut data = false;
    let mut title = false;
    while let Some(token) = tokenizer.next(&mut attributes) {
        match token {
            Token::Open { tag, .. } => {
                let get = |name| attribute(&attributes, name).unwrap_or_default();
                let kind = get("type").trim();
                data = tag == Tag::Script && kind.eq_ignore_ascii_case("application/ld+json");
                title = tag == Tag::Title;
                match tag {
                    Tag::Meta if is_said(get("name")) || is_said(get("property")) => {
                        push_line(get("content"), &mut said);
                    }
                    Tag::Img | Tag::Iframe | Tag::Frame | Tag::Embed | Tag::Source | Tag::Video => {
                        push_line(&plain_url(get("src")), &mut addresses);
                    }
                    Tag::A | Tag::Area => push_line(&plain_url(get("href")), &mut addresses),
                    _ => {}
                }
            }
            Token::Raw(raw) if data => push_line(&json::plain(raw), &mut said),
            Token::Raw(raw) if title => push_line(raw, &mut said),
            _ => {}
        }
    }
    if said.is_empty() { (addresses, Basis::Addresses) } else { (said, Basis::Structured) }
}

fn is_said(name: &str) -> bool {
    ["description", "og:title", "og:description", "product:price:amount", "article:modified_time"]
        .iter()
        .any(|it| name.eq_ignore_ascii_case(it))
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
