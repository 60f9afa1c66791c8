//! Throughput on one core from bytes to a fingerprint, in MB/s, compared with other HTML parsers
//! and with a pass over the same bytes that only counts `<`, and the time of hostile documents.
//!
//! `cargo bench -p freshet-detect --bench detect`

#![allow(clippy::disallowed_methods, clippy::print_stdout, missing_docs)]

mod hostile;
mod others;

use std::hint::black_box;
use std::time::Instant;

use freshet_detect::{
    DetectSettings, Detector, Document, RawDetectSettings, SettingsLayer, diff, digest,
};

/// Returns the best of several times.
fn best_time(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// A pseudorandom number generator with a fixed seed.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn words(&mut self, count: u64) -> String {
        const WORDS: [&str; 24] = [
            "the",
            "river",
            "of",
            "council",
            "and",
            "bridge",
            "a",
            "reopened",
            "in",
            "spring",
            "which",
            "was",
            "repairs",
            "for",
            "residents",
            "million",
            "to",
            "said",
            "on",
            "street",
            "new",
            "that",
            "school",
            "12",
        ];
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.next(24) as usize]).collect();
        words.join(" ")
    }
}

/// Returns a page in the style of a content management system: about a quarter of it is text.
fn page(numbers: &mut RandomNumbers, paragraphs: u64) -> String {
    let mut html = String::from(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>A page</title>",
    );
    for n in 0..12 {
        html += &format!(
            "<link rel=\"stylesheet\" href=\"/assets/css/module-{n}.css?v={}\"><meta property=\"og:x{n}\" content=\"value\">",
            numbers.next(9999)
        );
    }
    html += &format!(
        "<script>window.state={{\"items\":[{}]}};</script>",
        "{\"id\":12345,\"name\":\"x\"},".repeat(40)
    );
    html += "</head><body class=\"page page--article\"><header class=\"site-header\"><nav class=\"main-nav\"><ul class=\"nav__list\">";
    for n in 0..40 {
        html += &format!(
            "<li class=\"nav__item nav__item--{n}\"><a class=\"nav__link\" href=\"/section/{n}\" data-track=\"nav-{n}\">Section {n}</a></li>"
        );
    }
    html += "</ul></nav></header><main class=\"layout__main\"><article class=\"article\"><h1 class=\"article__title\">A title</h1>";
    for n in 0..paragraphs {
        html += &format!(
            "<div class=\"block block--text\" id=\"b{n}\" data-component=\"paragraph\"><p class=\"article__text\">{} <a href=\"/a/{n}?ref=inline\" class=\"link\">{}</a> {}</p></div>\n",
            numbers.words(25),
            numbers.words(3),
            numbers.words(20)
        );
        if n % 5 == 4 {
            html += "<figure class=\"figure\"><picture><source srcset=\"/i/1.webp 1x, /i/2.webp 2x\" type=\"image/webp\"><img class=\"figure__image\" src=\"/i/1.jpg\" alt=\"A picture\" width=\"640\" height=\"480\" loading=\"lazy\"></picture><figcaption class=\"figure__caption\">A caption</figcaption></figure>";
            html += "<div class=\"ad-slot\" data-ad=\"inline\"><span>Advertisement</span></div>";
        }
    }
    html += "</article></main><aside class=\"sidebar\"><div class=\"related-posts\"><h3>Related articles</h3><ul>";
    for n in 0..20 {
        html += &format!(
            "<li class=\"card\"><a href=\"/r/{n}\"><span class=\"card__title\">{}</span></a></li>",
            numbers.words(6)
        );
    }
    html + "</ul></div></aside><footer class=\"site-footer\"><p>© 2026 A company</p></footer></body></html>"
}

fn measure(name: &str, bytes: &[u8], detector: &Detector) {
    let document = Document::new(bytes);
    let megabytes = bytes.len() as f64 / 1e6;
    let count_time = best_time(|| {
        black_box(bytes.iter().filter(|it| **it == b'<').count());
    });
    let raw = best_time(|| {
        black_box(digest(bytes));
    });
    let extraction = detector.extract(&document);
    let time = best_time(|| {
        black_box(detector.extract(&document));
    });
    println!(
        "{name:>28} {:>8.3} {:>8.0} {:>8.1} {:>10.0} {:>7.1} %",
        megabytes,
        megabytes / time,
        time / count_time,
        megabytes / raw,
        100.0 * extraction.text.len() as f64 / bytes.len() as f64
    );
}

fn main() {
    let mut numbers = RandomNumbers(1);
    let detector = Detector::default();
    println!(
        "{:>28} {:>8} {:>8} {:>8} {:>10} {:>9}",
        "document", "MB", "MB/s", "passes", "same MB/s", "counts"
    );
    let pages = [4, 20, 200, 20_000].map(|it| (it, page(&mut numbers, it)));
    for (paragraphs, html) in &pages {
        measure(&format!("page, {paragraphs} paragraphs"), html.as_bytes(), &detector);
    }
    let detector_with_selectors = detector_with_selectors();
    let html = page(&mut numbers, 200);
    measure("page, with selectors", html.as_bytes(), &detector_with_selectors);
    measure_documents(&mut numbers, &detector);

    let old = detector.extract(&Document::new(html.as_bytes())).text;
    let new = old.replace("school 12", "school 13");
    let time = best_time(|| {
        black_box(diff(&old, &new));
    });
    println!("\ndiff of {} lines: {:.2} ms", old.lines().count(), 1e3 * time);
    others::compare(&pages, &detector);
    hostile::print_table();
}

fn detector_with_selectors() -> Detector {
    let raw = RawDetectSettings {
        select: Some(vec!["article p".to_owned(), "#b3 > *".to_owned()]),
        drop: Some(vec![".link".to_owned()]),
        ..RawDetectSettings::default()
    };
    let layers = [SettingsLayer { name: "bench", settings: &raw }];
    Detector::new(DetectSettings::resolve(&layers).expect("settings"))
}

/// Measures documents other than pages.
fn measure_documents(numbers: &mut RandomNumbers, detector: &Detector) {
    let items: Vec<String> = (0..8000)
        .map(|n| {
            format!(
                "{{\"name\":\"{}\",\"id\":{n},\"price\":{}.50,\"tags\":[\"a\",\"b\"]}}",
                numbers.words(4),
                numbers.next(900)
            )
        })
        .collect();
    let json = format!("{{\"items\":[{}]}}", items.join(","));
    measure("JSON", json.as_bytes(), detector);
    let huge = format!("{{\"items\":[{}]}}", vec![items.join(","); 80].join(","));
    measure("JSON in one line", huge.as_bytes(), detector);
    let entries: Vec<String> = (0..2000)
        .map(|n| format!("<item><title>{}</title><link>https://a.example/{n}</link><guid>{n}</guid><description>&lt;p&gt;{}&lt;/p&gt;</description></item>", numbers.words(6), numbers.words(30)))
        .collect();
    let feed = format!(
        "<?xml version=\"1.0\"?><rss><channel><title>Feed</title>{}</channel></rss>",
        entries.concat()
    );
    measure("feed", feed.as_bytes(), detector);
    let text: String = (0..20_000).map(|_| numbers.words(12) + "\n").collect();
    measure("text", text.as_bytes(), detector);
}
