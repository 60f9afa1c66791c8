//! However long a document is, what is held of it stays small. The only test here, as it looks at the
//! memory of the whole process.

#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::Cell;
use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use freshet_signals::{Defect, Format, Limits, Report, Url, read};

/// A document that is made while it is read, of as many pieces as are wanted. The benchmark does the same with
/// ten million.
struct Made<F> {
    piece: F,
    next: u64,
    count: u64,
    bytes: Vec<u8>,
    place: usize,
    /// Pieces that were made.
    made: Rc<Cell<u64>>,
}

impl<F: FnMut(u64, &mut Vec<u8>)> Read for Made<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.place == self.bytes.len() && self.next < self.count {
            self.bytes.clear();
            self.place = 0;
            (self.piece)(self.next, &mut self.bytes);
            self.next += 1;
            self.made.set(self.next);
        }
        let length = out.len().min(self.bytes.len() - self.place);
        out[..length].copy_from_slice(&self.bytes[self.place..self.place + length]);
        self.place += length;
        Ok(length)
    }
}

/// Reads a document of `count` pieces that begins with `begin`. No entry may be told long after it came.
fn stream(begin: &str, count: u64, piece: impl Fn(u64) -> String) -> Report {
    let made = Rc::new(Cell::new(0));
    let write = |number: u64, out: &mut Vec<u8>| out.extend_from_slice(piece(number).as_bytes());
    let document = Made {
        piece: write,
        next: 0,
        count,
        bytes: begin.into(),
        place: 0,
        made: Rc::clone(&made),
    };
    let base = Url::parse("https://a.example/").unwrap();
    let limits = Limits { entries: u64::MAX, bytes: u64::MAX, ..Limits::at(1_800_000_000) };
    let mut told = 0;
    read(&mut BufReader::new(document), &base, limits, &mut |entry| {
        told += 1;
        let ahead = made.get().saturating_sub(told);
        assert!(ahead < 4096, "{}: {ahead} pieces are held", entry.url);
        ControlFlow::Continue(())
    })
}

/// The most memory that this process has had, in bytes, where the system tells.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[test]
fn a_document_of_any_length_takes_constant_memory() {
    let before = peak();
    let many = 200_000;
    let sitemap = stream("<urlset>", many, |number| {
        format!("<url><loc>https://a.example/{number}</loc><lastmod>2024-01-02</lastmod></url>")
    });
    assert_eq!((sitemap.entries, sitemap.format), (many, Format::Sitemap));
    assert!(sitemap.defects.has(Defect::Over50000) && sitemap.defects.has(Defect::SameDates));
    let many = 50_000;
    let feed = stream("<rss><channel>", many, |number| {
        format!("<item><link>/{number}</link><title>A &amp; b</title></item>")
    });
    assert_eq!(feed.entries, many);
    let json = stream("{\"items\":[{}", many, |number| format!(",{{\"url\":\"/{number}\"}}"));
    assert_eq!(json.entries, many);
    let lines =
        stream("https://a.example/\n", many, |number| format!("https://a.example/{number}\n"));
    assert_eq!(lines.entries, many + 1);
    // Elements that never end, texts, tags, comments and lines without an end.
    let never = stream("<urlset>", many, |number| format!("<a{number}><url><loc>/x</loc>"));
    assert_eq!(never.entries, many - 1);
    for begin in
        ["<urlset>", "<urlset><url a='", "<urlset><!--", "<urlset><url><loc>", "<rss><![CDATA["]
    {
        let endless = stream(begin, 1000, |_| "x".repeat(1 << 14));
        assert!(endless.defects.has(Defect::LongPiece), "{begin}");
    }
    for begin in ["{\"x\":\"", "{\"items\":[{\"url\":\"", "[", "https://a.example/\n"] {
        stream(begin, 1000, |_| "x".repeat(1 << 14));
    }
    // Long names and addresses that stay open.
    let long = "x".repeat(1 << 19);
    stream("<feed>", 60, |_| {
        format!("<{long} xml:base='{long}' xmlns:{long}='http://purl.org/dc/terms/'>")
    });
    stream("<feed>", 60, |number| format!("<link rel='hub self' href='/{number}{long}'/>"));
    stream("{\"items\":", 1000, |_| "[".repeat(1 << 14));
    if let (Some(before), Some(after)) = (before, peak()) {
        let more = after - before;
        assert!(more < 20 << 20, "{more} bytes for documents of any length");
    }
}
