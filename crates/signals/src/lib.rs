//! Reader for sitemaps and feeds. The bytes of a document in; its pages and their dates out, one by one,
//! with a count of every defect. Uses no file, no socket and no clock.
//!
//! Reads sitemaps and sitemap indexes, as XML or as a list of URLs; RSS, RDF, Atom and JSON feeds; in any
//! encoding, also compressed. A document of any length takes constant memory. No document is an error:
//! each fault that publishers make is a [`Defect`], which is counted.
//!
//! ```
//! use std::ops::ControlFlow;
//! use freshet_signals::{Defect, DocumentLimits, Url, read_document};
//!
//! let sitemap = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>
//!     <url><loc>https://a.example/x</loc><lastmod>2026-11-16</lastmod></url>
//!     <url><loc>/y</loc></url></urlset>";
//! let base = Url::parse("https://a.example/sitemap.xml").unwrap();
//! let mut pages = Vec::new();
//! let limits = DocumentLimits::new(1_800_000_000);
//! let report = read_document(&mut sitemap.as_bytes(), &base, limits, &mut |entry| {
//!     pages.push(entry.url);
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(pages, ["https://a.example/x", "https://a.example/y"]);
//! assert_eq!(report.defects.count(Defect::RelativeUrl), 1);
//! ```

mod entry;
mod published_date;

mod defect;
mod limits;
mod report;

mod read;

mod text_reader;
mod unpack;

mod elements;
mod json_feed;
mod url_list;
mod xml;
mod xml_document;

mod entry_draft;
mod entry_sink;
mod entry_url;

mod hub_links;
mod index_walk;

pub use defect::{Defect, DefectCounts};
pub use entry::{DocumentEntry, EntryTarget};
pub use hub_links::{HubLinks, parse_link_headers};
pub use index_walk::{SitemapIndexLimits, SitemapIndexWalk, SitemapSkipReason};
pub use limits::DocumentLimits;
pub use published_date::{DatePrecision, PublishedDate};
pub use read::read_document;
pub use report::{DocumentFormat, DocumentReport};
pub use url::Url;
