//! What documents made to do harm take, of one length and of four times that: a ratio of about 4 is
//! linear.

use std::hint::black_box;
use std::time::Instant;

use freshet_detect::{Detector, Document, Kind, Layer, RawSettings, Settings, diff};

/// Megabytes of the shorter.
const SHORT: usize = 2_500_000;

pub(crate) fn table() {
    println!("\n{:>40} {:>9} {:>9} {:>7}", "seconds for", "2.5 MB", "10 MB", "ratio");
    for (kind, parts) in PARTS {
        let detector = reader(*kind);
        for part in *parts {
            let fill = |bytes: usize| part.repeat(bytes / part.len());
            row(&format!("{kind} {part}"), fill, &detector);
        }
    }
    let html = reader(Kind::Html);
    row("html, one attribute", |bytes| format!("<p title='{}'>x</p>", "a".repeat(bytes)), &html);
    row(
        "html, a comment without an end",
        |bytes| format!("<p>x</p><!--{}", "a ".repeat(bytes / 2)),
        &html,
    );
    row("html, tiny blocks", |bytes| "<p>a1</p>".repeat(bytes / 9), &html);
    row(
        "html, tiny blocks with names",
        |bytes| "<p class=meta>1 view</p>".repeat(bytes / 24),
        &html,
    );
    let nested = |open: &str, close: &str, bytes: usize| {
        let depth = bytes / (open.len() + close.len());
        open.repeat(depth) + &close.repeat(depth)
    };
    row("json, nested lists", |bytes| nested("[", "]", bytes), &reader(Kind::Json));
    row("json, nested objects", |bytes| nested("{\"a\":", "}", bytes), &reader(Kind::Json));
    row("xml, nested elements", |bytes| nested("<a>", "</a>", bytes), &reader(Kind::Xml));
    row("json in one line", |bytes| one_line(5 * bytes), &reader(Kind::Json));
    println!("{:>40}", "(that one of 12.5 MB and 50 MB)");
    for longest in [8, 800, usize::MAX] {
        let pair = |bytes: usize| (random(bytes, longest, 1), random(bytes, longest, 2));
        let time = |bytes: usize| {
            let (old, new) = pair(bytes);
            let start = Instant::now();
            black_box(diff(&old, &new));
            start.elapsed().as_secs_f64()
        };
        let words = if longest == usize::MAX { "all".to_owned() } else { longest.to_string() };
        show(&format!("diff of random words, {words} in a line"), time(SHORT), time(4 * SHORT));
    }
}

fn reader(kind: Kind) -> Detector {
    let raw = RawSettings { kind: Some(kind.name().to_owned()), ..RawSettings::default() };
    let layers = [Layer { name: "bench", settings: &raw }];
    Detector::new(Settings::resolve(&layers).expect("settings"))
}

fn row(what: &str, fill: impl Fn(usize) -> String, detector: &Detector) {
    let time = |bytes: usize| {
        let text = fill(bytes);
        let start = Instant::now();
        black_box(detector.read(&Document::new(text.as_bytes())));
        start.elapsed().as_secs_f64()
    };
    let _warm = time(SHORT);
    show(what, time(SHORT), time(4 * SHORT));
}

fn show(what: &str, short: f64, long: f64) {
    println!("{what:>40} {short:>9.3} {long:>9.3} {:>7.1}", long / short);
}

fn one_line(bytes: usize) -> String {
    let item = r#"{"id":12345,"name":"A name of some length","price":12.50,"tags":["a","b"]},"#;
    format!("[{}0]", item.repeat(bytes / item.len()))
}

/// Words that two texts rarely have in common at the same place.
fn random(bytes: usize, longest: usize, seed: u64) -> String {
    let (mut state, mut text, mut words) = (seed, String::with_capacity(bytes + 16), 0);
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(&(state >> 40).to_string());
        words += 1;
        text.push(if words % longest == 0 { '\n' } else { ' ' });
    }
    text
}

const PARTS: &[(Kind, &[&str])] = &[
    (
        Kind::Html,
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
    (Kind::Json, &["[", "{\"b\":1,\"a\":", "[[],", "1 "]),
    (Kind::Xml, &["<a>", "<a/>", "&a;"]),
];
