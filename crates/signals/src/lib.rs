//! Bytes of a sitemap or feed in; which pages there are and when they changed out, one after another,
//! with all that is wrong with the document by name. Knows no file, no socket and no clock.
//!
//! In: sitemaps and their indexes, as XML or as a list of URLs; RSS, RDF, Atom and JSON feeds; in any
//! encoding, also compressed. A document of any length is read in constant memory, and whatever it is,
//! nothing is an error: each fault that people publish is a [`Defect`] that is counted.
//!
//! ```
//! use std::ops::ControlFlow;
//! use freshet_signals::{Defect, Limits, Url, read};
//!
//! let sitemap = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>
//!     <url><loc>https://a.example/x</loc><lastmod>2026-11-16</lastmod></url>
//!     <url><loc>/y</loc></url></urlset>";
//! let base = Url::parse("https://a.example/sitemap.xml").unwrap();
//! let mut pages = Vec::new();
//! let report = read(&mut sitemap.as_bytes(), &base, Limits::at(1_800_000_000), &mut |entry| {
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

mod text;
mod unpack;

mod document;
mod json;
mod lines;
mod names;
mod xml;

mod address;
mod draft;
mod entry_sink;

mod links;
mod walk;

pub use defect::{Defect, Defects};
pub use entry::{Entry, Kind};
pub use limits::Limits;
pub use links::{Links, links};
pub use published_date::{DatePrecision, PublishedDate};
pub use read::read;
pub use report::{Format, Report};
pub use url::Url;
pub use walk::{Refused, Walk, WalkLimits};
