//! Other HTML parsers on the same pages, each in its common use.

use std::cell::Cell;
use std::hint::black_box;

use freshet_detect::{Detector, Document};
use html5ever::tendril::TendrilSink;
use lol_html::{RewriteStrSettings, rewrite_str, text};
use markup5ever_rcdom::RcDom;

use crate::best_time;

/// Prints one line for each page. html5ever only builds its tree; lol_html visits each text.
pub(crate) fn compare(pages: &[(u64, String)], detector: &Detector) {
    println!(
        "\n{:>28} {:>8} {:>10} {:>9} {:>13} {:>13}",
        "page, MB/s", "detect", "html5ever", "lol_html", "to html5ever", "to lol_html"
    );
    for (paragraphs, html) in pages {
        let megabytes = html.len() as f64 / 1e6;
        let own = best_time(|| {
            black_box(detector.extract(&Document::new(html.as_bytes())));
        });
        let tree = best_time(|| {
            let parser = html5ever::parse_document(RcDom::default(), Default::default());
            black_box(parser.one(html.as_str()));
        });
        let stream = best_time(|| {
            let letters = Cell::new(0);
            let handler = text!("*", |it| {
                letters.set(letters.get() + it.as_str().len());
                Ok(())
            });
            let settings = RewriteStrSettings::new().append_element_content_handler(handler);
            let _ = black_box(rewrite_str(html, settings));
            black_box(letters.get());
        });
        println!(
            "{:>28} {:>8.0} {:>10.0} {:>9.0} {:>13.2} {:>13.2}",
            format!("{paragraphs} paragraphs"),
            megabytes / own,
            megabytes / tree,
            megabytes / stream,
            tree / own,
            stream / own
        );
    }
}
