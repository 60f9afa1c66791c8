//! Documents as found on the web, each with its entries and defects.

#![allow(clippy::unwrap_used, missing_docs)]

mod broken;
mod compressed;
mod feeds;
mod properties;
mod sitemaps;

use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use freshet_signals::{
    Defect, DocumentEntry, DocumentFormat, DocumentLimits, DocumentReport, EntryTarget, Url,
    read_document,
};

/// 2027-01-15T08:00:00Z.
pub const NOW: i64 = 1_800_000_000;
/// 2024-01-02T00:00:00Z.
pub const DAY: i64 = 1_704_153_600;
/// URL of all documents.
pub const BASE: &str = "https://a.example/dir/document.xml";

pub fn limits() -> DocumentLimits {
    DocumentLimits::new(NOW)
}

pub fn read_all(document: &[u8], limits: DocumentLimits) -> (Vec<DocumentEntry>, DocumentReport) {
    let mut entries = Vec::new();
    let base = Url::parse(BASE).unwrap();
    let report = read_document(&mut &document[..], &base, limits, &mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    });
    // Read in small pieces, the result is the same.
    let mut entries_in_pieces = Vec::new();
    let chunk = if document.len() < 1 << 20 { 7 } else { 4099 };
    let mut pieces = BufReader::with_capacity(chunk, document.take(u64::MAX));
    let report_in_pieces = read_document(&mut pieces, &base, limits, &mut |entry| {
        entries_in_pieces.push(entry);
        ControlFlow::Continue(())
    });
    assert_eq!((&entries, &report), (&entries_in_pieces, &report_in_pieces));
    (entries, report)
}

/// Formats entries as `url@date precision`, with a star for sitemaps.
pub fn format_entries(entries: &[DocumentEntry]) -> Vec<String> {
    let one = |entry: &DocumentEntry| {
        let star = if entry.target == EntryTarget::Sitemap { "*" } else { "" };
        let date = entry.date.map(|it| format!("@{}{:?}", it.unix_seconds - DAY, it.precision));
        let url = entry.url.strip_prefix("https://a.example").unwrap_or(&entry.url);
        format!("{star}{url}{}", date.unwrap_or_default())
    };
    entries.iter().map(one).collect()
}

/// Formats the defects of a document.
pub fn format_defects(report: &DocumentReport) -> Vec<String> {
    let one = |(defect, count): (Defect, u64)| match count {
        1 => defect.name().to_owned(),
        _ => format!("{defect}×{count}"),
    };
    report.defects.iter().map(one).collect()
}

#[track_caller]
pub fn check(document: impl AsRef<[u8]>, format: DocumentFormat, expect: &str, defects: &str) {
    check_within(limits(), document, format, expect, defects);
}

#[track_caller]
pub fn check_within(
    limits: DocumentLimits,
    document: impl AsRef<[u8]>,
    format: DocumentFormat,
    expect: &str,
    defects: &str,
) {
    let (entries, report) = read_all(document.as_ref(), limits);
    assert_eq!(format_entries(&entries).join(" "), expect);
    assert_eq!(format_defects(&report).join(" "), defects);
    assert_eq!(report.format, format);
    let count = |kind: EntryTarget| entries.iter().filter(|it| it.target == kind).count() as u64;
    assert_eq!(
        (report.pages, report.sitemaps),
        (count(EntryTarget::Page), count(EntryTarget::Sitemap))
    );
}

#[test]
fn the_guide_describes_each_defect() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/signals.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().skip_while(|line| *line != "| Name | Meaning |").skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let row = |it: &Defect| format!("| `{it}` | {} |", it.description());
    assert_eq!(rows, Defect::ALL.iter().map(row).collect::<Vec<_>>());
}

/// Returns a sitemap with these entries.
pub fn sitemap(entries: &str) -> String {
    format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>")
}
