//! Reads documents that are changed at random, for some seconds for each kind.
//!
//! `cargo run --release -p freshet-detect --example fuzz -- [SECONDS] [SEED]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use freshet_detect::{Detector, Document, Kind, Layer, RawSettings, Settings, Stored, diff};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Signs that mean something to one of the readers.
const SIGNS: &[&str] = &[
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
    for kind in Kind::ALL {
        let detectors: Vec<Detector> = SETTINGS.iter().map(|it| detector(kind, it)).collect();
        let until = Instant::now() + Duration::from_secs(seconds);
        let mut count = 0_u64;
        while Instant::now() < until {
            let bytes = mutated(&corpus, &mut random);
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

fn detector(kind: Kind, toml: &str) -> Detector {
    let mut raw: RawSettings = toml::from_str(toml).unwrap();
    raw.kind = Some(kind.name().to_owned());
    Detector::new(Settings::resolve(&[Layer { name: "fuzz", settings: &raw }]).unwrap())
}

/// What holds for any two documents.
fn check(detector: &Detector, bytes: &[u8], other: &[u8]) {
    let reading = detector.read(&Document::new(bytes));
    let explained = detector.explain(&Document::new(bytes));
    assert_eq!(reading.stored(), explained.stored());
    assert_eq!(reading.text, explained.text);
    assert_eq!(Stored::from_bytes(&reading.stored().to_bytes()), Some(reading.stored()));
    let other = detector.read(&Document::new(other));
    let verdict = detector.judge(&other.stored(), Some(&other.text), &reading);
    let found = diff(&other.text, &reading.text);
    if found.is_empty() && other.mark.kind == Kind::Text {
        assert!(!verdict.is_change());
    }
    let _ = (found.unified(3), found.words(), detector.judge(&other.stored(), None, &reading));
}

fn mutated(corpus: &[Vec<u8>], random: &mut Pcg64) -> Vec<u8> {
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
                let sign = SIGNS[random.random_range(0..SIGNS.len())];
                bytes.splice(at..at, sign.bytes());
            }
        }
    }
    bytes
}
