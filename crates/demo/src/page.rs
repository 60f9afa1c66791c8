//! HTML of a page: text that depends on the version only, among bytes that differ in every
//! response.

use std::fmt::Write;

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::seed::{Purpose, number, random};
use crate::words::{heading, sentence};

/// Number of paragraphs of a page. Each version rewrites one of them.
const PARAGRAPHS: u32 = 8;

/// Page and version to render.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) seed: u64,
    pub(crate) page: u32,
    pub(crate) version: u32,
    pub(crate) host: &'a str,
}

/// Renders the page for the n-th response.
pub(crate) fn html(subject: &Subject<'_>, answer: u64) -> String {
    let Subject { seed, page, version, host } = *subject;
    let mut noise = random(seed, Purpose::Noise, number(seed, Purpose::Noise, page.into(), answer));
    let title = heading(&mut random(seed, Purpose::Text, key(page, u32::MAX, 0)));
    let mut out = String::with_capacity(9 * 1024);
    head(&mut out, &title, host, &mut noise);
    let _ = write!(out, "<main><article id=\"content\">\n<h1>{title}</h1>\n");
    for paragraph in 0..PARAGRAPHS {
        text(&mut out, seed, page, paragraph, version);
    }
    out.push_str("</article></main>\n");
    aside(&mut out, host, &mut noise);
    foot(&mut out, host, answer, &mut noise);
    out
}

/// Renders the latest text of a paragraph.
fn text(out: &mut String, seed: u64, page: u32, paragraph: u32, version: u32) {
    let since = version.saturating_sub(paragraph).div_ceil(PARAGRAPHS);
    let mut dice = random(seed, Purpose::Text, key(page, paragraph, since));
    if paragraph > 0 && paragraph.is_multiple_of(3) {
        let mut fixed = random(seed, Purpose::Text, key(page, paragraph, u32::MAX));
        let _ = writeln!(out, "<h2>{}</h2>", heading(&mut fixed));
    }
    out.push_str("<p>");
    for _ in 0..4 + dice.random_range(0..3) {
        sentence(&mut dice, out);
    }
    out.truncate(out.trim_end().len());
    out.push_str("</p>\n");
}

fn key(page: u32, part: u32, turn: u32) -> u64 {
    number(u64::from(page), Purpose::Text, u64::from(part), u64::from(turn))
}

fn head(out: &mut String, title: &str, host: &str, noise: &mut Pcg64) {
    let nonce: u64 = noise.random();
    let token: u128 = noise.random();
    let name = host.split('.').next().unwrap_or(host);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <title>{title} – {name}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"csrf-token\" content=\"{token:032x}\">\n\
         <link rel=\"stylesheet\" href=\"/assets/site.css?v={:x}\">\n\
         <script nonce=\"{nonce:016x}\">window.session={{id:\"{:032x}\",seen:{}}};</script>\n\
         </head>\n<body class=\"page s{}\">\n<header>\n<a class=\"brand\" href=\"/\">{name}</a>\n<nav>\n<ul>\n",
        noise.random::<u32>(),
        noise.random::<u128>(),
        noise.random_range(1..1_000_000),
        noise.random_range(0..8),
    );
    for entry in ["Home", "Today", "Topics", "Archive", "About", "Contact"] {
        let link = entry.to_lowercase();
        let _ = writeln!(
            out,
            "<li><a href=\"/{link}?sid={:08x}\">{entry}</a></li>",
            noise.random::<u32>()
        );
    }
    let _ = write!(
        out,
        "</ul>\n</nav>\n<form action=\"/search\" method=\"post\"><input type=\"hidden\" \
         name=\"authenticity_token\" value=\"{token:032x}\"><input type=\"search\" name=\"q\" \
         placeholder=\"Search\"><button>Search</button></form>\n</header>\n",
    );
}

/// Renders teasers, which differ in every response.
fn aside(out: &mut String, host: &str, noise: &mut Pcg64) {
    out.push_str("<aside class=\"related\">\n<h2>Most read</h2>\n<ul>\n");
    for _ in 0..8 {
        let title = heading(noise);
        let number = noise.random_range(0..100_000);
        let _ = writeln!(
            out,
            "<li><a href=\"http://{host}/teaser/{number}?ref=mostread&amp;pos={:x}\">{title}</a></li>",
            noise.random::<u16>()
        );
    }
    out.push_str("</ul>\n</aside>\n");
    let _ = write!(
        out,
        "<div class=\"advertisement\" id=\"ad-{:x}\"><a href=\"/private/click/{:016x}\">{}</a></div>\n\
         <p class=\"views\">{} views</p>\n",
        noise.random::<u32>(),
        noise.random::<u64>(),
        heading(noise),
        noise.random_range(1000..900_000),
    );
}

fn foot(out: &mut String, host: &str, answer: u64, noise: &mut Pcg64) {
    let _ = write!(
        out,
        "<footer>\n<p>Page generated in {} ms at {:02}:{:02}:{:02} by node-{}</p>\n\
         <p><a href=\"/imprint\">Imprint</a> · <a href=\"/privacy\">Privacy</a></p>\n</footer>\n\
         <script nonce=\"{:016x}\">\nvar beacons = [",
        noise.random_range(3..400),
        noise.random_range(0..24),
        noise.random_range(0..60),
        noise.random_range(0..60),
        noise.random_range(1..30),
        noise.random::<u64>(),
    );
    for _ in 0..12 {
        let _ = write!(out, "\"{:016x}\",", noise.random::<u64>());
    }
    let _ = write!(
        out,
        "];\nbeacons.forEach(function (it) {{ navigator.sendBeacon(\"/private/beacon/\" + it); }});\n\
         </script>\n<!-- {host}, answer {answer}, trace {:032x} -->\n</body>\n</html>\n",
        noise.random::<u128>(),
    );
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use freshet_detect::{Detector, Document, Extraction};

    use super::*;

    fn page(seed: u64, page: u32, version: u32, answer: u64) -> String {
        html(&Subject { seed, page, version, host: "news-1.localhost" }, answer)
    }

    fn read(text: &str) -> Extraction {
        let content_type = Some("text/html; charset=utf-8");
        let document = Document { bytes: text.as_bytes(), content_type, charset: None };
        Detector::default().extract(&document)
    }

    #[test]
    fn the_bytes_of_a_page_are_never_the_same_and_of_an_ordinary_size() {
        let mut all = HashSet::new();
        for answer in 0..200 {
            let text = page(1, 7, 3, answer);
            assert!((5_000..10_000).contains(&text.len()), "{}", text.len());
            assert!(all.insert(text), "answer {answer} repeats");
        }
    }

    #[test]
    fn the_same_seed_and_answer_give_the_same_bytes() {
        assert_eq!(page(1, 7, 3, 9), page(1, 7, 3, 9));
        assert_ne!(read(&page(1, 7, 3, 9)).text, read(&page(2, 7, 3, 9)).text);
    }

    #[test]
    fn what_counts_is_the_version_and_nothing_else() {
        let detector = Detector::default();
        for number in 0..150 {
            let mut kept = read(&page(5, number, 0, 0));
            let mut answer = 1;
            for version in 0..20 {
                for _ in 0..3 {
                    let now = read(&page(5, number, version, answer));
                    let verdict = detector.compare(&kept.signature(), None, &now);
                    let expect = version > 0 && answer % 3 == 1;
                    assert_eq!(verdict.is_change(), expect, "{number} {version}: {verdict:?}");
                    (kept, answer) = (now, answer + 1);
                }
            }
        }
    }

    #[test]
    fn no_version_is_another_one_again() {
        let texts: HashSet<String> =
            (0..100).map(|version| read(&page(5, 3, version, 1)).text).collect();
        assert_eq!(texts.len(), 100);
    }
}
