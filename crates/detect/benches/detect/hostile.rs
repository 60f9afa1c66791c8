//! Time of hostile documents of one length and of four times that length. A ratio of about 4 is
//! linear.

use std::hint::black_box;
use std::time::Instant;

use freshet_detect::{
    DetectSettings, Detector, Document, DocumentKind, RawDetectSettings, SettingsLayer, diff,
};

/// Length of the shorter documents in bytes.
const SHORT_LEN: usize = 2_500_000;

pub(crate) fn print_table() {
    println!("\n{:>40} {:>9} {:>9} {:>7}", "seconds for", "2.5 MB", "10 MB", "ratio");
    for (kind, parts) in PARTS {
        let detector = detector_for(*kind);
        for part in *parts {
            let fill = |bytes: usize| part.repeat(bytes / part.len());
            measure(&format!("{kind} {part}"), fill, &detector);
        }
    }
    let html = detector_for(DocumentKind::Html);
    measure(
        "html, one attribute",
        |bytes| format!("<p title='{}'>x</p>", "a".repeat(bytes)),
        &html,
    );
    measure(
        "html, a comment without an end",
        |bytes| format!("<p>x</p><!--{}", "a ".repeat(bytes / 2)),
        &html,
    );
    measure("html, tiny blocks", |bytes| "<p>a1</p>".repeat(bytes / 9), &html);
    measure(
        "html, tiny blocks with names",
        |bytes| "<p class=meta>1 view</p>".repeat(bytes / 24),
        &html,
    );
    let nested = |open: &str, close: &str, bytes: usize| {
        let depth = bytes / (open.len() + close.len());
        open.repeat(depth) + &close.repeat(depth)
    };
    measure(
        "json, nested lists",
        |bytes| nested("[", "]", bytes),
        &detector_for(DocumentKind::Json),
    );
    measure(
        "json, nested objects",
        |bytes| nested("{\"a\":", "}", bytes),
        &detector_for(DocumentKind::Json),
    );
    measure(
        "xml, nested elements",
        |bytes| nested("<a>", "</a>", bytes),
        &detector_for(DocumentKind::Xml),
    );
    measure(
        "json in one line",
        |bytes| json_in_one_line(5 * bytes),
        &detector_for(DocumentKind::Json),
    );
    println!("{:>40}", "(that one of 12.5 MB and 50 MB)");
    for max_words in [8, 800, usize::MAX] {
        let pair =
            |bytes: usize| (random_words(bytes, max_words, 1), random_words(bytes, max_words, 2));
        let time = |bytes: usize| {
            let (old, new) = pair(bytes);
            let start = Instant::now();
            black_box(diff(&old, &new));
            start.elapsed().as_secs_f64()
        };
        let words = if max_words == usize::MAX { "all".to_owned() } else { max_words.to_string() };
        print_row(
            &format!("diff of random words, {words} in a line"),
            time(SHORT_LEN),
            time(4 * SHORT_LEN),
        );
    }
}

fn detector_for(kind: DocumentKind) -> Detector {
    let raw =
        RawDetectSettings { kind: Some(kind.name().to_owned()), ..RawDetectSettings::default() };
    let layers = [SettingsLayer { name: "bench", settings: &raw }];
    Detector::new(DetectSettings::resolve(&layers).expect("settings"))
}

fn measure(name: &str, fill: impl Fn(usize) -> String, detector: &Detector) {
    let time = |bytes: usize| {
        let text = fill(bytes);
        let start = Instant::now();
        black_box(detector.extract(&Document::new(text.as_bytes())));
        start.elapsed().as_secs_f64()
    };
    let _warm = time(SHORT_LEN);
    print_row(name, time(SHORT_LEN), time(4 * SHORT_LEN));
}

fn print_row(name: &str, short: f64, long: f64) {
    println!("{name:>40} {short:>9.3} {long:>9.3} {:>7.1}", long / short);
}

fn json_in_one_line(bytes: usize) -> String {
    let item = r#"{"id":12345,"name":"A name of some length","price":12.50,"tags":["a","b"]},"#;
    format!("[{}0]", item.repeat(bytes / item.len()))
}

/// Returns random words, so that two texts rarely match at the same place.
fn random_words(bytes: usize, max_words: usize, seed: u64) -> String {
    let (mut state, mut text, mut words) = (seed, String::with_capacity(bytes + 16), 0);
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&(state >> 40).to_string());
        words += 1;
        text.push(if words % max_words == 0 { '\n' } else { ' ' });
    }
    text
}

const PARTS: &[(DocumentKind, &[&str])] = &[
    (
        DocumentKind::Html,
        &[
            "<div>",
            "<p>",
            "<b>",
            "<a>",
            "<table><tr><td>",
            "<ul><li>",
            "<td>",
            "<!--",
            "<",
            "</div>",
            "<a b=c ",
            "&",
            "<b><p>",
            "<a><b></a>",
            "<svg><a/>",
            "<div class='a b c d e f g h'>",
            "<p>Related articles</p>",
            "1 view ",
            " ",
            "<h1>Related</h1>",
            "<nav><main><h1>",
            "<form><table><form>",
            "<select><option>",
            "x\u{300}",
            "<aside><article>",
            "<li>",
            "<pre>a\n",
        ],
    ),
    (DocumentKind::Json, &["[", "{\"b\":1,\"a\":", "[[],", "1 "]),
    (DocumentKind::Xml, &["<a>", "<a/>", "&a;"]),
];
