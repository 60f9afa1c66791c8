//! Documents of any length take constant memory. This is the only test of its binary, since it
//! measures the whole process.

#![allow(clippy::unwrap_used, missing_docs)]

use std::cell::Cell;
use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;
use std::rc::Rc;

use freshet_signals::{Defect, DocumentFormat, DocumentLimits, DocumentReport, Url, read_document};

/// Document that is generated while it is read. The benchmark does the same with ten million
/// entries.
struct GeneratedDocument<F> {
    piece: F,
    next: u64,
    count: u64,
    bytes: Vec<u8>,
    position: usize,
    /// Number of generated pieces.
    generated: Rc<Cell<u64>>,
}

impl<F: FnMut(u64, &mut Vec<u8>)> Read for GeneratedDocument<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.position == self.bytes.len() && self.next < self.count {
            self.bytes.clear();
            self.position = 0;
            (self.piece)(self.next, &mut self.bytes);
            self.next += 1;
            self.generated.set(self.next);
        }
        let length = out.len().min(self.bytes.len() - self.position);
        out[..length].copy_from_slice(&self.bytes[self.position..self.position + length]);
        self.position += length;
        Ok(length)
    }
}

/// Reads a generated document of `count` pieces after `begin`. Entries must be passed on soon after
/// they were generated.
fn stream(begin: &str, count: u64, piece: impl Fn(u64) -> String) -> DocumentReport {
    let generated = Rc::new(Cell::new(0));
    let write = |number: u64, out: &mut Vec<u8>| out.extend_from_slice(piece(number).as_bytes());
    let document = GeneratedDocument {
        piece: write,
        next: 0,
        count,
        bytes: begin.into(),
        position: 0,
        generated: Rc::clone(&generated),
    };
    let base = Url::parse("https://a.example/").unwrap();
    let limits = DocumentLimits {
        max_entries: u64::MAX,
        max_bytes: u64::MAX,
        ..DocumentLimits::new(1_800_000_000)
    };
    let mut entry_count = 0;
    read_document(&mut BufReader::new(document), &base, limits, &mut |entry| {
        entry_count += 1;
        let ahead = generated.get().saturating_sub(entry_count);
        assert!(ahead < 4096, "{}: {ahead} pieces are held", entry.url);
        ControlFlow::Continue(())
    })
}

/// Returns the peak memory of the process in bytes, if the system provides it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[test]
fn a_document_of_any_length_takes_constant_memory() {
    let before = peak();
    let piece_count = 200_000;
    let sitemap = stream("<urlset>", piece_count, |number| {
        format!("<url><loc>https://a.example/{number}</loc><lastmod>2024-01-02</lastmod></url>")
    });
    assert_eq!((sitemap.pages, sitemap.format), (piece_count, DocumentFormat::Sitemap));
    assert!(
        sitemap.defects.contains(Defect::Over50000) && sitemap.defects.contains(Defect::SameDates)
    );
    let piece_count = 50_000;
    let feed = stream("<rss><channel>", piece_count, |number| {
        format!("<item><link>/{number}</link><title>A &amp; b</title></item>")
    });
    assert_eq!(feed.pages, piece_count);
    let json =
        stream("{\"items\":[{}", piece_count, |number| format!(",{{\"url\":\"/{number}\"}}"));
    assert_eq!(json.pages, piece_count);
    let lines = stream("https://a.example/\n", piece_count, |number| {
        format!("https://a.example/{number}\n")
    });
    assert_eq!(lines.pages, piece_count + 1);
    // Unclosed elements, and texts, tags, comments and lines without end.
    let never = stream("<urlset>", piece_count, |number| format!("<a{number}><url><loc>/x</loc>"));
    assert_eq!(never.pages, piece_count - 1);
    for begin in
        ["<urlset>", "<urlset><url a='", "<urlset><!--", "<urlset><url><loc>", "<rss><![CDATA["]
    {
        let endless = stream(begin, 1000, |_| "x".repeat(1 << 14));
        assert!(endless.defects.contains(Defect::LongPiece), "{begin}");
    }
    for begin in ["{\"x\":\"", "{\"items\":[{\"url\":\"", "[", "https://a.example/\n"] {
        stream(begin, 1000, |_| "x".repeat(1 << 14));
    }
    // Long names and addresses of unclosed elements.
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
