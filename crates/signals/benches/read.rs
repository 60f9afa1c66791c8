//! Entries per second of each format on one core, compared with plain tokenization of the same
//! bytes.
//!
//! `cargo bench -p freshet-signals --bench read [-- ENTRIES]`. First reads ten million entries that
//! are generated on the fly, to measure the memory that takes.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::fs;
use std::hint::black_box;
use std::io::{self, BufReader, Read, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use freshet_signals::{DocumentLimits, Url, read_document};
use quick_xml::Reader;
use quick_xml::events::Event;

const ROUNDS: usize = 7;
const NOW: i64 = 1_800_000_000;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let entries: usize = arguments.next().unwrap_or(500_000);
    stream(10_000_000);
    println!("{entries} entries, best of {ROUNDS}");
    println!(
        "{:>14} {:>8} {:>12} {:>14} {:>8}",
        "document", "MB", "entries/s", "tokens only/s", "ratio"
    );
    let sitemap = sitemap(entries);
    let list: String = (0..entries).map(|it| url(it) + "\n").collect();
    compare("sitemap", sitemap.as_bytes(), sitemap.as_bytes(), entries);
    compare("sitemap.gz", &gzip(sitemap.as_bytes()), sitemap.as_bytes(), entries);
    let rss = rss(entries);
    compare("rss", rss.as_bytes(), rss.as_bytes(), entries);
    let parse = || {
        for print_line in list.lines() {
            black_box(Url::parse(print_line).unwrap());
        }
    };
    let (seconds, parsed) = best(|| read_all(list.as_bytes(), entries), parse);
    print_line("urls, parsed", list.len(), entries, seconds, parsed);
}

/// Sitemap that is generated while it is read.
struct GeneratedSitemap {
    next: usize,
    count: usize,
    bytes: Vec<u8>,
    position: usize,
}

impl Read for GeneratedSitemap {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.position == self.bytes.len() && self.next < self.count {
            self.bytes.clear();
            self.position = 0;
            let until = self.count.min(self.next + 1000);
            (self.next..until).for_each(|number| self.bytes.extend(entry(number).bytes()));
            self.next = until;
        }
        let length = out.len().min(self.bytes.len() - self.position);
        out[..length].copy_from_slice(&self.bytes[self.position..self.position + length]);
        self.position += length;
        Ok(length)
    }
}

fn stream(count: usize) {
    let before = peak();
    let generated = GeneratedSitemap { next: 0, count, bytes: b"<urlset>".to_vec(), position: 0 };
    let begin = Instant::now();
    let base = Url::parse("https://www.example.org/sitemap.xml").unwrap();
    let limits =
        DocumentLimits { max_entries: u64::MAX, max_bytes: u64::MAX, ..DocumentLimits::new(NOW) };
    let report = read_document(&mut BufReader::new(generated), &base, limits, &mut |entry| {
        black_box(entry);
        ControlFlow::Continue(())
    });
    assert_eq!(report.pages, count as u64);
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{count} entries made and read in {seconds:.1} s, with {} KB more memory",
        peak() - before
    );
}

/// Returns the peak memory of this process in KB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let print_line = status.lines().find_map(|print_line| print_line.strip_prefix("VmHWM:"));
    print_line.and_then(|it| it.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}

fn compare(name: &str, document: &[u8], plain: &[u8], entries: usize) {
    let (seconds, tokens) = best(|| read_all(document, entries), || tokenise(plain));
    print_line(name, plain.len(), entries, seconds, tokens);
}

fn print_line(name: &str, length: usize, entries: usize, seconds: f64, other: f64) {
    let (rate, other_rate) = (entries as f64 / seconds, entries as f64 / other);
    let megabytes = length as f64 / 1e6;
    println!(
        "{name:>14} {megabytes:>8.1} {rate:>12.0} {other_rate:>14.0} {:>8.2}",
        seconds / other
    );
}

/// Reads all entries.
fn read_all(mut document: &[u8], entries: usize) {
    let base = Url::parse("https://www.example.org/sitemap.xml").unwrap();
    let limits =
        DocumentLimits { max_entries: u64::MAX, max_bytes: u64::MAX, ..DocumentLimits::new(NOW) };
    let report = read_document(&mut document, &base, limits, &mut |entry| {
        black_box(entry);
        ControlFlow::Continue(())
    });
    assert_eq!((report.pages, report.is_complete), (entries as u64, true));
}

/// Tokenizes with `quick-xml` alone.
fn tokenise(document: &[u8]) {
    let mut reader = Reader::from_reader(document);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).unwrap() {
            Event::Eof => return,
            event => drop(black_box(event)),
        }
    }
}

/// Returns the best times of two functions, run alternately.
fn best(mut one: impl FnMut(), mut other: impl FnMut()) -> (f64, f64) {
    let time = |run: &mut dyn FnMut()| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    let rounds = (0..ROUNDS).map(|_| (time(&mut one), time(&mut other)));
    rounds.fold((f64::INFINITY, f64::INFINITY), |best, it| (best.0.min(it.0), best.1.min(it.1)))
}

fn url(number: usize) -> String {
    format!("https://www.example.org/articles/2026/{:02}/page-{number:07}.html", number % 12 + 1)
}

fn sitemap(entries: usize) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    (0..entries).for_each(|number| text += &entry(number));
    text + "</urlset>\n"
}

fn entry(number: usize) -> String {
    let (day, second) = (number % 28 + 1, number % 60);
    format!(
        "  <url>\n    <loc>{}</loc>\n    <lastmod>2026-11-{day:02}T12:00:{second:02}+00:00</lastmod>\n    \
        <changefreq>weekly</changefreq>\n    <priority>0.5</priority>\n  </url>\n",
        url(number)
    )
}

fn rss(entries: usize) -> String {
    let mut text = String::from("<rss version=\"2.0\"><channel><title>News</title>\n");
    for number in 0..entries {
        let (day, url) = (number % 28 + 1, url(number));
        text += &format!(
            "<item><title>Something of number {number} &amp; more</title><link>{url}</link>\
            <guid isPermaLink=\"true\">{url}</guid><pubDate>Mon, {day:02} Nov 2026 12:00:00 GMT</pubDate>\
            <description><![CDATA[<p>{}</p>]]></description></item>\n",
            "What it is about, in some words. ".repeat(8)
        );
    }
    text + "</channel></rss>\n"
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
