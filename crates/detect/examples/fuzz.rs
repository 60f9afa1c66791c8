//! Extracts randomly mutated documents of each kind for some seconds.
//!
//! `cargo run --release -p freshet-detect --example fuzz -- [SECONDS] [SEED]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use freshet_detect::{
    ContentSignature, DetectSettings, Detector, Document, DocumentKind, RawDetectSettings,
    SettingsLayer, diff,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Tokens with a meaning in one of the formats.
const TOKENS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "&",
    "&#x",
    ";",
    "\"",
    "'",
    "=",
    "<script>",
    "</script>",
    "<table>",
    "<td>",
    "<p>",
    "</p>",
    "<h2>Related articles</h2>",
    "Sponsored",
    "3 minutes ago",
    "12 views",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\u",
    "\\",
    "1e999",
    "-",
    "<![CDATA[",
    "]]>",
    "<?xml",
    "<!DOCTYPE a [",
    "/ID",
    "\u{200b}",
    "é",
    "日",
    "\0",
    "\n",
    " ",
    "<title>",
    "<svg>",
    "<a href=",
    "hidden",
    "class=ad",
    "<main>",
    "<time>",
    "<li>",
    "<pre>",
    "\r\n",
];

const SETTINGS: &[&str] = &[
    "",
    "select = ['p', 'div > *', 'li:nth-child(2n+1)', '/a', '$..name', '$[0:5:2]']\ndrop = ['.ad', '/b']",
    "ignore = ['case', 'space', 'numbers', 'dates', 'order']\nkeep_text = ['a']\nignore_text = ['\\d+']",
    "text = 'visible'\nnoise = true\nlinks = true\nimages = true",
];

fn main() {
    let mut arguments = std::env::args().skip(1).map(|it| it.parse::<u64>().unwrap());
    let seconds = arguments.next().unwrap_or(60);
    let seed = arguments.next().unwrap_or(1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut random = Pcg64::seed_from_u64(seed);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    let corpus: Vec<Vec<u8>> = files.iter().map(|it| std::fs::read(it).unwrap()).collect();
    for kind in DocumentKind::ALL {
        let detectors: Vec<Detector> = SETTINGS.iter().map(|it| detector(kind, it)).collect();
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut count = 0_u64;
        while Instant::now() < until {
            let bytes = mutate(&corpus, &mut random);
            let detector = &detectors[random.random_range(0..detectors.len())];
            let other = &corpus[random.random_range(0..corpus.len())];
            if catch_unwind(AssertUnwindSafe(|| check(detector, &bytes, other))).is_err() {
                let path = std::env::temp_dir().join(format!("fuzz-{kind}-{seed}-{count}"));
                std::fs::write(&path, &bytes).unwrap();
                println!(
                    "{kind}: document {count} of seed {seed} fails; it is in {}",
                    path.display()
                );
                std::process::exit(1);
            }
            count += 1;
        }
        println!("{kind}: {count} documents in {seconds} s, seed {seed}");
    }
}

fn detector(kind: DocumentKind, toml: &str) -> Detector {
    let mut raw: RawDetectSettings = toml::from_str(toml).unwrap();
    raw.kind = Some(kind.name().to_owned());
    Detector::new(
        DetectSettings::resolve(&[SettingsLayer { name: "fuzz", settings: &raw }]).unwrap(),
    )
}

/// Checks the invariants of any two documents.
fn check(detector: &Detector, bytes: &[u8], other: &[u8]) {
    let extraction = detector.extract(&Document::new(bytes));
    let explained = detector.explain(&Document::new(bytes));
    assert_eq!(extraction.signature(), explained.signature());
    assert_eq!(extraction.text, explained.text);
    assert_eq!(
        ContentSignature::from_bytes(&extraction.signature().to_bytes()),
        Some(extraction.signature())
    );
    let other = detector.extract(&Document::new(other));
    let verdict = detector.compare(&other.signature(), Some(&other.text), &extraction);
    let changes = diff(&other.text, &extraction.text);
    if changes.is_empty() && other.digests.kind == DocumentKind::Text {
        assert!(!verdict.is_change());
    }
    let _ = (
        changes.unified(3),
        changes.words(),
        detector.compare(&other.signature(), None, &extraction),
    );
}

fn mutate(corpus: &[Vec<u8>], random: &mut Pcg64) -> Vec<u8> {
    let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
    for _ in 0..random.random_range(1..12) {
        let at = random.random_range(0..=bytes.len());
        let length = random.random_range(0..40).min(bytes.len() - at);
        match random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] = random.random(),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let part: Vec<u8> = bytes[at..at + length].to_vec();
                let part = part.repeat(random.random_range(1..20));
                bytes.splice(at..at, part);
            }
            3 => {
                let other = &corpus[random.random_range(0..corpus.len())];
                let from = random.random_range(0..=other.len());
                let to = (from + 200).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            4 => bytes.truncate(at),
            _ => {
                let token = TOKENS[random.random_range(0..TOKENS.len())];
                bytes.splice(at..at, token.bytes());
            }
        }
    }
    bytes
}
