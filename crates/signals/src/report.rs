//! What a document was, beside its entries.

use std::fmt;

use url::Url;

use crate::defect::Defects;

/// What a document was, beside its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it is.
    pub format: Format,
    /// Pages that were told.
    pub entries: u64,
    /// Other sitemaps that were told.
    pub parts: u64,
    /// Whether it was read to its end: if not, there may be more entries than were told.
    pub complete: bool,
    /// Hubs that tell when it changes (`WebSub`).
    pub hub: Vec<Url>,
    /// The URL under which hubs know it.
    pub itself: Option<Url>,
    /// What is wrong with it.
    pub defects: Defects,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A sitemap: `<urlset>`.
    Sitemap,
    /// An index of sitemaps: `<sitemapindex>`.
    Index,
    /// RSS 0.91 to 2.0.
    Rss,
    /// RSS 0.9 and 1.0, which are RDF.
    Rdf,
    /// Atom.
    Atom,
    /// JSON Feed.
    Json,
    /// URLs, one on each line.
    Lines,
    /// A page for people.
    Html,
    /// Nothing that says which pages there are.
    Unknown,
}

impl Format {
    /// Its name, which never changes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Index => "sitemap-index",
            Self::Rss => "rss",
            Self::Rdf => "rdf",
            Self::Atom => "atom",
            Self::Json => "json-feed",
            Self::Lines => "url-list",
            Self::Html => "html",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the sitemap protocol is what it should follow.
    #[must_use]
    pub fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::Index | Self::Lines)
    }

    /// Whether it is a feed.
    #[must_use]
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Rdf | Self::Atom | Self::Json)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
