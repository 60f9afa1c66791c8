//! What elements mean, by their names and namespaces.

use crate::draft::Rank;
use crate::entry::Kind;
use crate::published_date::Form;
use crate::report::Format;

/// Namespaces that are remembered, at most.
const MOST: usize = 32;
/// Bytes of a prefix at most.
const LONGEST: usize = 64;

const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const ATOM: &str = "http://www.w3.org/2005/Atom";
const OLD_ATOM: &str = "http://purl.org/atom/ns#";
const RSS_1: &str = "http://purl.org/rss/1.0/";

/// Whose a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The format's own.
    Own,
    /// Atom's, in a feed of another format.
    Atom,
    /// Dublin Core's, whose names are in many feeds.
    Dublin,
    /// That of the full text in RSS.
    Content,
    /// That of news in sitemaps.
    News,
    /// Another one.
    Foreign,
}

/// The prefixes that stand for namespaces.
#[derive(Default)]
pub(crate) struct Spaces {
    root: String,
    declared: Vec<(String, Space)>,
}

impl Spaces {
    /// Takes the prefix of the first element, whose names are the format's own.
    pub(crate) fn begin(&mut self, prefix: &str) {
        self.root = prefix.chars().take(LONGEST).collect();
    }

    /// The first element's prefix.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    pub(crate) fn declare(&mut self, prefix: &str, namespace: &str) {
        if prefix.len() > LONGEST || self.declared.len() >= MOST {
            return;
        }
        let space = match namespace.trim() {
            ATOM => Space::Atom,
            SITEMAP | RSS_1 => Space::Own,
            "http://purl.org/dc/elements/1.1/" | "http://purl.org/dc/terms/" => Space::Dublin,
            "http://purl.org/rss/1.0/modules/content/" => Space::Content,
            it if it.contains("schemas/sitemap-news/") => Space::News,
            _ => return,
        };
        self.declared.push((prefix.to_owned(), space));
    }

    /// Whose names have a prefix.
    pub(crate) fn of(&self, prefix: &str) -> Space {
        if prefix.is_empty() || prefix == self.root {
            return Space::Own;
        }
        if let Some((_, space)) = self.declared.iter().find(|(it, _)| it == prefix) {
            return *space;
        }
        // Many forget to declare what they use.
        match prefix {
            "atom" | "atom10" | "a10" => Space::Atom,
            "dc" | "dcterms" => Space::Dublin,
            "content" => Space::Content,
            "news" => Space::News,
            _ => Space::Foreign,
        }
    }
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// The first one.
    Root,
    /// One around others that mean something.
    Around,
    /// An entry.
    Entry(Kind),
    /// The address of an entry.
    Address(Rank),
    /// A link, whose address is its text or an attribute.
    Link,
    /// The id of an entry.
    Id,
    /// A date: of the last change, or of the first.
    Date { updated: bool, form: Form },
    /// Something that an entry says.
    Said,
    /// Nothing that matters, with all that is in it.
    Skip,
}

/// What a document is, by its first element.
pub(crate) fn format(local: &str) -> Option<Format> {
    Some(match local {
        "urlset" => Format::Sitemap,
        "sitemapindex" => Format::Index,
        "rss" => Format::Rss,
        "RDF" => Format::Rdf,
        "feed" => Format::Atom,
        _ => return None,
    })
}

/// Whether the namespace of the first element is what it should be.
pub(crate) fn is_expected(format: Format, namespace: Option<&str>) -> bool {
    match format {
        Format::Sitemap | Format::Index => namespace == Some(SITEMAP),
        Format::Atom => matches!(namespace, Some(ATOM | OLD_ATOM)),
        _ => true,
    }
}

/// Whether an element is one of pages for people.
pub(crate) fn is_html(local: &str) -> bool {
    const NAMES: &[&str] = &[
        "head", "body", "title", "meta", "script", "style", "div", "p", "br", "b", "span", "table",
        "h1", "h2", "center", "img", "a", "noscript", "main", "section", "hr", "font", "pre",
    ];
    NAMES.iter().any(|it| it.eq_ignore_ascii_case(local))
}

/// Whether an element is an entry.
pub(crate) fn entry(format: Format, local: &str) -> Option<Kind> {
    match (format, local) {
        (Format::Sitemap | Format::Index, "url") => Some(Kind::Page),
        (Format::Sitemap | Format::Index, "sitemap") => Some(Kind::Part),
        (Format::Rss | Format::Rdf, "item") | (Format::Atom, "entry") => Some(Kind::Page),
        _ => None,
    }
}

/// What an element in an entry is; `direct` if there is none between.
pub(crate) fn part(format: Format, space: Space, local: &str, direct: bool) -> Tag {
    let date = |updated, form| Tag::Date { updated, form };
    match format {
        Format::Sitemap | Format::Index => match (space, local) {
            (Space::Own, "loc") if direct => Tag::Address(Rank::Link),
            (Space::Own, "lastmod") if direct => date(true, Form::W3c),
            (Space::News, "publication_date") => date(false, Form::W3c),
            // They say what no one keeps to, or what changes with each reader.
            (Space::Own, "priority" | "changefreq") => Tag::Skip,
            (Space::Foreign, "view_count" | "rating") => Tag::Skip,
            _ => Tag::Around,
        },
        Format::Atom => match (space, local) {
            (Space::Own, "link") => Tag::Link,
            (Space::Own, "id") => Tag::Id,
            (Space::Own, "updated" | "modified") => date(true, Form::W3c),
            (Space::Own, "published" | "issued" | "created") => date(false, Form::W3c),
            (Space::Own, "title" | "summary" | "content" | "author") => Tag::Said,
            (_, "origLink") => Tag::Address(Rank::Original),
            _ => Tag::Skip,
        },
        _ => match (space, local) {
            (Space::Own | Space::Atom, "link") => Tag::Link,
            (Space::Own, "guid") => Tag::Id,
            (Space::Own, "pubDate" | "pubdate") => date(false, Form::Mail),
            (Space::Atom, "updated") => date(true, Form::W3c),
            (Space::Atom, "published") => date(false, Form::W3c),
            (Space::Dublin, "modified") => date(true, Form::W3c),
            (Space::Dublin, "date" | "created" | "issued") => date(false, Form::W3c),
            (Space::Own, "title" | "description" | "author") => Tag::Said,
            (Space::Dublin, "creator" | "title" | "description") => Tag::Said,
            (Space::Content, "encoded") => Tag::Said,
            (_, "origLink") => Tag::Address(Rank::Original),
            _ => Tag::Skip,
        },
    }
}
