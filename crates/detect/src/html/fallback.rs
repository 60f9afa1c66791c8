//! Extracts content from a page without text: its structured data, or the URLs of its images and
//! links.

mod script_state;

use script_state::{for_each_literal, for_each_state, push_streamed_rows};

use super::tag::Tag;
use super::text::push_collapsed;
use super::tokenizer::{Attribute, Token, Tokenizer, attribute};
use super::url::stable_url;
use crate::json;
use crate::word_list::{WordSet, word_list};

const DESCRIPTION_META: &[&str] = word_list!("page/description_meta.txt");
const VOLATILE_KEY_PARTS: &[&str] = word_list!("page/volatile_key_parts.txt");
static VOLATILE_KEYS: WordSet = WordSet::new(word_list!("page/volatile_keys.txt"));

/// Content of a page besides its text, in lines.
#[derive(Debug, Default)]
pub(crate) struct FallbackContent {
    pub(crate) title: String,
    /// Data for search engines and for the scripts of the page.
    pub(crate) structured_data: String,
    /// URLs of the frames of the page.
    pub(crate) frame_urls: String,
    /// URLs of images, videos and links.
    pub(crate) resource_urls: String,
}

/// The content of a `script` element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScriptKind {
    None,
    /// Linked data about the page, for search engines.
    JsonLd,
    /// State as JSON, from which a script builds the page.
    State,
    /// A script, which may assign such a state.
    Script,
}

impl FallbackContent {
    pub(crate) fn extract(page: &str) -> Self {
        let mut content = Self::default();
        let mut tokenizer = Tokenizer::new(page);
        let mut attributes: Vec<Attribute<'_>> = Vec::new();
        let (mut script_kind, mut title) = (ScriptKind::None, false);
        let mut stream = String::new();
        while let Some(token) = tokenizer.next(&mut attributes) {
            match token {
                Token::Open { tag, .. } => {
                    let get = |name| attribute(&attributes, name).unwrap_or_default();
                    script_kind = if tag == Tag::Script {
                        script_kind_of(get("type"))
                    } else {
                        ScriptKind::None
                    };
                    title = tag == Tag::Title;
                    match tag {
                        Tag::Meta
                            if is_description_meta(get("name"))
                                || is_description_meta(get("property")) =>
                        {
                            push_line(get("content"), &mut content.structured_data);
                        }
                        Tag::Frame => push_line(&stable_url(get("src")), &mut content.frame_urls),
                        Tag::Img | Tag::Iframe | Tag::Embed | Tag::Source | Tag::Video => {
                            push_line(&stable_url(get("src")), &mut content.resource_urls);
                        }
                        Tag::A | Tag::Area => {
                            push_line(&stable_url(get("href")), &mut content.resource_urls);
                        }
                        _ => {}
                    }
                }
                Token::Raw(raw) if script_kind == ScriptKind::JsonLd => {
                    push_line(&json::canonical_or_original(raw), &mut content.structured_data);
                }
                Token::Raw(raw) if script_kind == ScriptKind::State => {
                    push_state(raw, &mut content.structured_data)
                }
                Token::Raw(raw) if script_kind == ScriptKind::Script => {
                    for_each_state(raw, |it| push_script_value(it, &mut content.structured_data));
                    push_streamed_rows(raw, &mut stream);
                }
                Token::Raw(raw) if title => push_line(raw, &mut content.title),
                _ => {}
            }
        }
        push_stream_rows(&stream, &mut content.structured_data);
        content
    }
}

fn script_kind_of(script: &str) -> ScriptKind {
    let kind = script.trim();
    if kind.eq_ignore_ascii_case("application/ld+json") {
        ScriptKind::JsonLd
    } else if kind.eq_ignore_ascii_case("application/json") {
        ScriptKind::State
    } else if kind.is_empty() || kind.ends_with("javascript") || kind == "module" {
        ScriptKind::Script
    } else {
        ScriptKind::None
    }
}

fn is_description_meta(name: &str) -> bool {
    DESCRIPTION_META.iter().any(|it| name.eq_ignore_ascii_case(it))
}

/// Appends one line for each value that does not change with every request.
fn push_state(raw: &str, out: &mut String) {
    let Some(lines) = json::lines(&json::canonical_or_original(raw)) else { return };
    for line in lines.lines() {
        let (path, value) = line.rsplit_once(": ").unwrap_or(("", line));
        let name = path.rsplit('/').find(|it| !matches!(*it, "+" | "*")).unwrap_or_default();
        if !is_volatile_key(&name.to_ascii_lowercase())
            && !is_random_identifier(value.trim_matches('"'))
        {
            push_line(line, out);
        }
    }
}

/// Appends the values of a state in a script, as JSON or as JavaScript.
fn push_script_value(value: &str, out: &mut String) {
    if json::is_json(value) {
        push_state(value, out);
        return;
    }
    for_each_literal(value, |name, literal| {
        let is_random = is_random_identifier(literal.trim_matches(['"', '\'', '`']));
        if !is_random && !is_volatile_key(&name.to_ascii_lowercase()) {
            push_line(literal, out);
        }
    });
}

/// Appends the rows of a streamed page: a number, and its value.
fn push_stream_rows(rows: &str, out: &mut String) {
    for row in rows.lines() {
        let value = row.split_once(':').map_or(row, |it| it.1);
        // References to scripts and styles.
        if value.starts_with(['I', 'H']) {
            continue;
        }
        if !json::is_json(value) {
            push_line(value, out);
            continue;
        }
        let mut values = String::new();
        push_state(value, &mut values);
        // The build identifier of the site.
        values.lines().filter(|it| !it.starts_with("/b: ")).for_each(|it| push_line(it, out));
    }
}

fn is_volatile_key(name: &str) -> bool {
    VOLATILE_KEYS.contains(name) || VOLATILE_KEY_PARTS.iter().any(|it| name.contains(it))
}

/// True for a long hexadecimal identifier.
fn is_random_identifier(value: &str) -> bool {
    let is_hex = |it: u8| it.is_ascii_hexdigit() || it == b'-';
    value.len() >= 16
        && value.bytes().all(is_hex)
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
