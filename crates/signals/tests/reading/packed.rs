//! Compressed documents, and those that give out.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use freshet_signals::{Defect, Format, Limits, Url, read};

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
    check(&once, Format::Sitemap, expect, "");
    check(gzip(&once), Format::Sitemap, expect, "");
    check(gzip(&gzip(&once)), Format::Unknown, "", "unknown-format bad-encoding");
    check(gzip(b"https://a.example/x\n"), Format::Lines, "/x", "");
    check(gzip(b""), Format::Unknown, "", "empty");
    assert!(read_all(&once, limits()).1.complete);
    // Several members follow each other.
    let text = text();
    let (first, second) = text.as_bytes().split_at(90);
    check([gzip(first), gzip(second)].concat(), Format::Sitemap, expect, "");
}

#[test]
fn damaged_and_cut_off() {
    let urls: String = (0..20_000)
        .map(|it| format!("<url><loc>https://a.example/{}</loc></url>", it * 7_919 % 100_003))
        .collect();
    let whole = gzip(sitemap(&urls).as_bytes());
    let (entries, report) = read_all(&whole[..whole.len() / 2], limits());
    assert!(report.defects.has(Defect::CutOff) && !report.complete);
    assert!(entries.len() > 1000 && entries.len() < 20_000);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    let (entries, report) = read_all(&damaged, limits());
    assert!(report.defects.has(Defect::BadGzip) && !report.complete, "{report:?}");
    assert!(entries.len() > 1000 && entries.len() < 20_000);
    check(&whole[..3], Format::Unknown, "", "empty cut-off");
    check(b"\x1f\x8b\x08garbage", Format::Unknown, "", "empty bad-gzip");
}

#[test]
fn a_bomb_is_read_to_the_limit_only() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10_000));
    let space = sitemap(&" ".repeat(4 << 20));
    for bomb in [gzip(text.as_bytes()), gzip(&gzip(text.as_bytes())), gzip(&gzip(space.as_bytes()))]
    {
        let few = Limits { bytes: 1 << 17, ..limits() };
        let (entries, report) = read_all(&bomb, few);
        assert!(report.defects.has(Defect::GzipBomb) && !report.complete, "{report:?}");
        assert!(!report.defects.has(Defect::CutOff));
        assert!(entries.len() <= (1 << 17) / 40);
    }
}

/// Bytes, and then an error.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0.read(out)? {
            0 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "gone")),
            length => Ok(length),
        }
    }
}

/// Bytes that come between interruptions.
struct Interrupted<'a>(&'a [u8], bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        let most = out.len().min(5);
        if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(&mut out[..most]) }
    }
}

fn read_from(reader: &mut dyn BufRead) -> (usize, freshet_signals::Report) {
    let mut told = 0;
    let base = Url::parse(BASE).unwrap();
    let report = read(reader, &base, limits(), &mut |_| {
        told += 1;
        ControlFlow::Continue(())
    });
    (told, report)
}

#[test]
fn what_stops_coming() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let half = &text.as_bytes()[..text.len() / 2];
    let packed = gzip(text.as_bytes());
    for part in [half, &packed[..packed.len() / 2], b"", b"\x1f\x8b", b"\x1f\x8b\x08"] {
        let (_, report) = read_from(&mut BufReader::new(Failing(part)));
        assert!(report.defects.has(Defect::Unreadable) && !report.complete, "{report:?}");
        assert!(!report.defects.has(Defect::CutOff) && !report.defects.has(Defect::BadGzip));
    }
    let (told, _) = read_from(&mut BufReader::new(Failing(half)));
    assert!((3..=5).contains(&told));
    for part in [text.as_bytes(), &packed] {
        let (told, report) = read_from(&mut BufReader::new(Interrupted(part, false)));
        assert_eq!((told, report.complete), (10, true));
    }
}

#[test]
fn what_is_long_in_the_middle_and_empty_inside_ends() {
    // Members without content: the outer layer makes much of little, and the inner one nothing of much.
    let nothing = gzip(b"");
    let middle = nothing.repeat(4_000_000 / nothing.len());
    let packed = gzip(&middle);
    assert!(packed.len() < 100_000);
    let base = Url::parse(BASE).unwrap();
    let few = freshet_signals::Limits { bytes: 1_000_000, ..limits() };
    let report = read(&mut packed.as_slice(), &base, few, &mut |_| ControlFlow::Continue(()));
    assert!(report.defects.has(Defect::GzipBomb) && !report.complete, "{report:?}");
    let report = read(&mut packed.as_slice(), &base, limits(), &mut |_| ControlFlow::Continue(()));
    assert!(report.defects.has(Defect::Empty), "{report:?}");
}
