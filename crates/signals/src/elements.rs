//! Roles of XML elements by their names and namespaces.

use crate::entry::EntryTarget;
use crate::entry_draft::AddressRank;
use crate::published_date::DateFormat;
use crate::report::DocumentFormat;

/// Maximum number of namespaces kept.
const MAX_NAMESPACES: usize = 32;
/// Maximum length of a namespace prefix in bytes.
const MAX_PREFIX_LEN: usize = 64;

const SITEMAP: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const ATOM: &str = "http://www.w3.org/2005/Atom";
const OLD_ATOM: &str = "http://purl.org/atom/ns#";
const RSS_1: &str = "http://purl.org/rss/1.0/";

/// Namespace of an element name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Namespace {
    /// The format's own.
    Own,
    /// Atom, in a feed of another format.
    Atom,
    /// Dublin Core, used in many feeds.
    DublinCore,
    /// Full text in RSS.
    Content,
    /// News in sitemaps.
    News,
    /// Any other namespace.
    Foreign,
}

/// Declared namespace prefixes.
#[derive(Default)]
pub(crate) struct Namespaces {
    root_prefix: String,
    declared: Vec<(String, Namespace)>,
}

impl Namespaces {
    /// Sets the prefix of the root element, which is that of the format's own names.
    pub(crate) fn set_root_prefix(&mut self, prefix: &str) {
        self.root_prefix = prefix.chars().take(MAX_PREFIX_LEN).collect();
    }

    /// Returns the prefix of the root element.
    pub(crate) fn root_prefix(&self) -> &str {
        &self.root_prefix
    }

    pub(crate) fn declare(&mut self, prefix: &str, namespace: &str) {
        if prefix.len() > MAX_PREFIX_LEN || self.declared.len() >= MAX_NAMESPACES {
            return;
        }
        let space = match namespace.trim() {
            ATOM => Namespace::Atom,
            SITEMAP | RSS_1 => Namespace::Own,
            "http://purl.org/dc/elements/1.1/" | "http://purl.org/dc/terms/" => {
                Namespace::DublinCore
            }
            "http://purl.org/rss/1.0/modules/content/" => Namespace::Content,
            it if it.contains("schemas/sitemap-news/") => Namespace::News,
            _ => return,
        };
        self.declared.push((prefix.to_owned(), space));
    }

    /// Returns the namespace of a prefix.
    pub(crate) fn namespace(&self, prefix: &str) -> Namespace {
        if prefix.is_empty() || prefix == self.root_prefix {
            return Namespace::Own;
        }
        if let Some((_, space)) = self.declared.iter().find(|(it, _)| it == prefix) {
            return *space;
        }
        // Many documents do not declare the prefixes they use.
        match prefix {
            "atom" | "atom10" | "a10" => Namespace::Atom,
            "dc" | "dcterms" => Namespace::DublinCore,
            "content" => Namespace::Content,
            "news" => Namespace::News,
            _ => Namespace::Foreign,
        }
    }
}

/// Role of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElementRole {
    /// Root element.
    Root,
    /// Container of other elements with a role.
    Container,
    /// Entry.
    Entry(EntryTarget),
    /// Address of an entry.
    Address(AddressRank),
    /// Link, with the address in its text or an attribute.
    Link,
    /// ID of an entry.
    Id,
    /// Date of the last change or of the publication.
    Date { is_update: bool, format: DateFormat },
    /// Text that is part of an entry.
    Text,
    /// Irrelevant element, with all of its content.
    Skip,
}

/// Returns the format of a document by its root element.
pub(crate) fn root_format(local: &str) -> Option<DocumentFormat> {
    Some(match local {
        "urlset" => DocumentFormat::Sitemap,
        "sitemapindex" => DocumentFormat::SitemapIndex,
        "rss" => DocumentFormat::Rss,
        "RDF" => DocumentFormat::Rdf,
        "feed" => DocumentFormat::Atom,
        _ => return None,
    })
}

/// True if the namespace of the root element is that of the format.
pub(crate) fn is_expected_namespace(format: DocumentFormat, namespace: Option<&str>) -> bool {
    match format {
        DocumentFormat::Sitemap | DocumentFormat::SitemapIndex => namespace == Some(SITEMAP),
        DocumentFormat::Atom => matches!(namespace, Some(ATOM | OLD_ATOM)),
        _ => true,
    }
}

/// True if an element belongs to HTML.
pub(crate) fn is_html(local: &str) -> bool {
    const NAMES: &[&str] = &[
        "head", "body", "title", "meta", "script", "style", "div", "p", "br", "b", "span", "table",
        "h1", "h2", "center", "img", "a", "noscript", "main", "section", "hr", "font", "pre",
    ];
    NAMES.iter().any(|it| it.eq_ignore_ascii_case(local))
}

/// Returns the target of an entry element; `None` for other elements.
pub(crate) fn entry_target(format: DocumentFormat, local: &str) -> Option<EntryTarget> {
    match (format, local) {
        (DocumentFormat::Sitemap | DocumentFormat::SitemapIndex, "url") => Some(EntryTarget::Page),
        (DocumentFormat::Sitemap | DocumentFormat::SitemapIndex, "sitemap") => {
            Some(EntryTarget::Sitemap)
        }
        (DocumentFormat::Rss | DocumentFormat::Rdf, "item") | (DocumentFormat::Atom, "entry") => {
            Some(EntryTarget::Page)
        }
        _ => None,
    }
}

/// Returns the role of an element within an entry; `direct` if it is a child of the entry.
pub(crate) fn entry_child_role(
    format: DocumentFormat,
    space: Namespace,
    local: &str,
    direct: bool,
) -> ElementRole {
    let date = |is_update, format| ElementRole::Date { is_update, format };
    match format {
        DocumentFormat::Sitemap | DocumentFormat::SitemapIndex => match (space, local) {
            (Namespace::Own, "loc") if direct => ElementRole::Address(AddressRank::Link),
            (Namespace::Own, "lastmod") if direct => date(true, DateFormat::W3c),
            (Namespace::News, "publication_date") => date(false, DateFormat::W3c),
            // Publishers do not maintain these values, or they change with each reader.
            (Namespace::Own, "priority" | "changefreq") => ElementRole::Skip,
            (Namespace::Foreign, "view_count" | "rating") => ElementRole::Skip,
            _ => ElementRole::Container,
        },
        DocumentFormat::Atom => match (space, local) {
            (Namespace::Own, "link") => ElementRole::Link,
            (Namespace::Own, "id") => ElementRole::Id,
            (Namespace::Own, "updated" | "modified") => date(true, DateFormat::W3c),
            (Namespace::Own, "published" | "issued" | "created") => date(false, DateFormat::W3c),
            (Namespace::Own, "title" | "summary" | "content" | "author") => ElementRole::Text,
            (_, "origLink") => ElementRole::Address(AddressRank::Original),
            _ => ElementRole::Skip,
        },
        _ => match (space, local) {
            (Namespace::Own | Namespace::Atom, "link") => ElementRole::Link,
            (Namespace::Own, "guid") => ElementRole::Id,
            (Namespace::Own, "pubDate" | "pubdate") => date(false, DateFormat::Mail),
            (Namespace::Atom, "updated") => date(true, DateFormat::W3c),
            (Namespace::Atom, "published") => date(false, DateFormat::W3c),
            (Namespace::DublinCore, "modified") => date(true, DateFormat::W3c),
            (Namespace::DublinCore, "date" | "created" | "issued") => date(false, DateFormat::W3c),
            (Namespace::Own, "title" | "description" | "author") => ElementRole::Text,
            (Namespace::DublinCore, "creator" | "title" | "description") => ElementRole::Text,
            (Namespace::Content, "encoded") => ElementRole::Text,
            (_, "origLink") => ElementRole::Address(AddressRank::Original),
            _ => ElementRole::Skip,
        },
    }
}
