//! Documents as people publish them, each with what is told of it and what is wrong with it.

#![allow(clippy::unwrap_used, missing_docs)]

mod broken;
mod feeds;
mod packed;
mod properties;
mod sitemaps;

use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use freshet_signals::{Defect, Entry, Format, Kind, Limits, Report, Url, read};

/// 2027-01-15T08:00:00Z.
pub const NOW: i64 = 1_800_000_000;
/// 2024-01-02T00:00:00Z.
pub const DAY: i64 = 1_704_153_600;
/// Where all documents are found.
pub const BASE: &str = "https://a.example/dir/document.xml";

pub fn limits() -> Limits {
    Limits::at(NOW)
}

pub fn read_all(document: &[u8], limits: Limits) -> (Vec<Entry>, Report) {
    let mut entries = Vec::new();
    let base = Url::parse(BASE).unwrap();
    let report = read(&mut &document[..], &base, limits, &mut |entry| {
        entries.push(entry);
        ControlFlow::Continue(())
    });
    // In small pieces it is the same document.
    let mut again = Vec::new();
    let chunk = if document.len() < 1 << 20 { 7 } else { 4099 };
    let mut pieces = BufReader::with_capacity(chunk, document.take(u64::MAX));
    let second = read(&mut pieces, &base, limits, &mut |entry| {
        again.push(entry);
        ControlFlow::Continue(())
    });
    assert_eq!((&entries, &report), (&again, &second));
    (entries, report)
}

/// What is told, in a few words: `url@date grain`, a part with a star.
pub fn told(entries: &[Entry]) -> Vec<String> {
    let one = |entry: &Entry| {
        let star = if entry.kind == Kind::Part { "*" } else { "" };
        let date = entry.changed.map(|it| format!("@{}{:?}", it.at - DAY, it.grain));
        let url = entry.url.strip_prefix("https://a.example").unwrap_or(&entry.url);
        format!("{star}{url}{}", date.unwrap_or_default())
    };
    entries.iter().map(one).collect()
}

/// What is wrong, in a few words.
pub fn wrong(report: &Report) -> Vec<String> {
    let one = |(defect, count): (Defect, u64)| match count {
        1 => defect.name().to_owned(),
        _ => format!("{defect}×{count}"),
    };
    report.defects.iter().map(one).collect()
}

#[track_caller]
pub fn check(document: impl AsRef<[u8]>, format: Format, expect: &str, defects: &str) {
    check_within(limits(), document, format, expect, defects);
}

#[track_caller]
pub fn check_within(
    limits: Limits,
    document: impl AsRef<[u8]>,
    format: Format,
    expect: &str,
    defects: &str,
) {
    let (entries, report) = read_all(document.as_ref(), limits);
    assert_eq!(told(&entries).join(" "), expect);
    assert_eq!(wrong(&report).join(" "), defects);
    assert_eq!(report.format, format);
    let count = |kind: Kind| entries.iter().filter(|it| it.kind == kind).count() as u64;
    assert_eq!((report.entries, report.parts), (count(Kind::Page), count(Kind::Part)));
}

#[test]
fn the_page_says_what_each_defect_means() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/signals.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().skip_while(|line| *line != "| name | what it means |").skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    let row = |it: &Defect| format!("| `{it}` | {} |", it.about());
    assert_eq!(rows, Defect::ALL.iter().map(row).collect::<Vec<_>>());
}

/// A sitemap of these entries.
pub fn sitemap(entries: &str) -> String {
    format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>")
}
