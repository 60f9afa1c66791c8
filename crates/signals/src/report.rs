//! Report on a document.

use std::fmt;

use url::Url;

use crate::defect::DefectCounts;

/// Report on a document, without its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentReport {
    /// Format.
    pub format: DocumentFormat,
    /// Number of pages.
    pub pages: u64,
    /// Number of other sitemaps.
    pub sitemaps: u64,
    /// True if the document was read to its end: otherwise it may have more entries.
    pub is_complete: bool,
    /// Hubs that announce changes of the document (`WebSub`).
    pub hubs: Vec<Url>,
    /// URL under which the hubs know the document.
    pub self_url: Option<Url>,
    /// Defects of the document.
    pub defects: DefectCounts,
}

/// Format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Sitemap: `<urlset>`.
    Sitemap,
    /// Sitemap index: `<sitemapindex>`.
    SitemapIndex,
    /// RSS 0.91 to 2.0.
    Rss,
    /// RSS 0.9 and 1.0, which are RDF.
    Rdf,
    /// Atom.
    Atom,
    /// JSON Feed.
    JsonFeed,
    /// List of URLs, one per line.
    UrlList,
    /// HTML page.
    Html,
    /// Neither a sitemap nor a feed.
    Unknown,
}

impl DocumentFormat {
    /// Returns the stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::SitemapIndex => "sitemap-index",
            Self::Rss => "rss",
            Self::Rdf => "rdf",
            Self::Atom => "atom",
            Self::JsonFeed => "json-feed",
            Self::UrlList => "url-list",
            Self::Html => "html",
            Self::Unknown => "unknown",
        }
    }

    /// True if the sitemap protocol applies.
    #[must_use]
    pub fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::UrlList)
    }

    /// True if the document is a feed.
    #[must_use]
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Rdf | Self::Atom | Self::JsonFeed)
    }
}

impl fmt::Display for DocumentFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
