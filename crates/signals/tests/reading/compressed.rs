//! Compressed documents, and readers that fail.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use freshet_signals::{Defect, DocumentFormat, DocumentLimits, Url, read_document};

use crate::{BASE, check, limits, read_all, sitemap};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn text() -> String {
    sitemap("<url><loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>")
}

#[test]
fn gzip_needs_no_declaration() {
    let (once, expect) = (gzip(text().as_bytes()), "/x@0Day");
    check(&once, DocumentFormat::Sitemap, expect, "");
    check(gzip(&once), DocumentFormat::Sitemap, expect, "");
    check(gzip(&gzip(&once)), DocumentFormat::Unknown, "", "unknown-format bad-encoding");
    check(gzip(b"https://a.example/x\n"), DocumentFormat::UrlList, "/x", "");
    check(gzip(b""), DocumentFormat::Unknown, "", "empty");
    assert!(read_all(&once, limits()).1.is_complete);
    // Concatenated members.
    let text = text();
    let (first, second) = text.as_bytes().split_at(90);
    check([gzip(first), gzip(second)].concat(), DocumentFormat::Sitemap, expect, "");
}

#[test]
fn corrupt_and_truncated_gzip_keeps_earlier_entries() {
    let urls: String = (0..20_000)
        .map(|it| format!("<url><loc>https://a.example/{}</loc></url>", it * 7_919 % 100_003))
        .collect();
    let whole = gzip(sitemap(&urls).as_bytes());
    let (entries, report) = read_all(&whole[..whole.len() / 2], limits());
    assert!(report.defects.contains(Defect::CutOff) && !report.is_complete);
    assert!(entries.len() > 1000 && entries.len() < 20_000);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    let (entries, report) = read_all(&damaged, limits());
    assert!(report.defects.contains(Defect::BadGzip) && !report.is_complete, "{report:?}");
    assert!(entries.len() > 1000 && entries.len() < 20_000);
    check(&whole[..3], DocumentFormat::Unknown, "", "empty cut-off");
    check(b"\x1f\x8b\x08garbage", DocumentFormat::Unknown, "", "empty bad-gzip");
}

#[test]
fn a_bomb_is_read_to_the_limit_only() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10_000));
    let space = sitemap(&" ".repeat(4 << 20));
    for bomb in [gzip(text.as_bytes()), gzip(&gzip(text.as_bytes())), gzip(&gzip(space.as_bytes()))]
    {
        let small_limits = DocumentLimits { max_bytes: 1 << 17, ..limits() };
        let (entries, report) = read_all(&bomb, small_limits);
        assert!(report.defects.contains(Defect::GzipBomb) && !report.is_complete, "{report:?}");
        assert!(!report.defects.contains(Defect::CutOff));
        assert!(entries.len() <= (1 << 17) / 40);
    }
}

/// Reader that returns bytes and then an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "gone")),
            length => Ok(length),
        }
    }
}

/// Reader that is interrupted before every read.
struct Interrupted<'a>(&'a [u8], bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        let most = out.len().min(5);
        if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut out[..most]) }
    }
}

fn read_from(reader: &mut dyn BufRead) -> (usize, freshet_signals::DocumentReport) {
    let mut entry_count = 0;
    let base = Url::parse(BASE).unwrap();
    let report = read_document(reader, &base, limits(), &mut |_| {
        entry_count += 1;
        ControlFlow::Continue(())
    });
    (entry_count, report)
}

#[test]
fn a_failing_reader_is_reported() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let half = &text.as_bytes()[..text.len() / 2];
    let packed = gzip(text.as_bytes());
    for part in [half, &packed[..packed.len() / 2], b"", b"\x1f\x8b", b"\x1f\x8b\x08"] {
        let (_, report) = read_from(&mut BufReader::new(Failing(part)));
        assert!(report.defects.contains(Defect::Unreadable) && !report.is_complete, "{report:?}");
        assert!(
            !report.defects.contains(Defect::CutOff) && !report.defects.contains(Defect::BadGzip)
        );
    }
    let (entry_count, _) = read_from(&mut BufReader::new(Failing(half)));
    assert!((3..=5).contains(&entry_count));
    for part in [text.as_bytes(), &packed] {
        let (entry_count, report) = read_from(&mut BufReader::new(Interrupted(part, false)));
        assert_eq!((entry_count, report.is_complete), (10, true));
    }
}

#[test]
fn a_long_intermediate_gzip_layer_is_limited() {
    // Empty members: the outer layer expands a lot, and the inner one to nothing.
    let nothing = gzip(b"");
    let middle = nothing.repeat(4_000_000 / nothing.len());
    let packed = gzip(&middle);
    assert!(packed.len() < 100_000);
    let base = Url::parse(BASE).unwrap();
    let small_limits = freshet_signals::DocumentLimits { max_bytes: 1_000_000, ..limits() };
    let report = read_document(&mut packed.as_slice(), &base, small_limits, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(report.defects.contains(Defect::GzipBomb) && !report.is_complete, "{report:?}");
    let report =
        read_document(&mut packed.as_slice(), &base, limits(), &mut |_| ControlFlow::Continue(()));
    assert!(report.defects.contains(Defect::Empty), "{report:?}");
}
