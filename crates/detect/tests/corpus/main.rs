//! Pages as people publish them. Whatever a server, a template or an advertiser adds is not a
//! change, and whatever a writer changes is one.

#![allow(clippy::unwrap_used)]

mod changes;
mod lines;
mod noise;
mod page;
mod pages;
mod properties;
mod sites;
mod special;
mod templated;
mod written;

use freshet_detect::{Detector, Document, DocumentKind, Extraction};

/// Extracts a web page.
fn extract(html: &str) -> Extraction {
    extract_bytes(html.as_bytes())
}

fn extract_bytes(bytes: &[u8]) -> Extraction {
    let document = Document { bytes, content_type: Some("text/html"), charset: None };
    let extraction = Detector::default().explain(&document);
    assert_eq!(extraction.digests.kind, DocumentKind::Html);
    extraction
}

/// Describes a false alarm: two pages that should have the same content differ.
fn describe_false_alarm(name: &str, a: &str, b: &str) -> Option<String> {
    let (old, new) = (extract(a), extract(b));
    (old.digests.fingerprint != new.digests.fingerprint).then(|| {
        let diff = freshet_detect::diff(&old.text, &new.text).unified(1);
        format!("{name}: a false alarm ({:?}, {:?})\n{diff}", old.scope, new.scope)
    })
}

/// Describes a miss: two pages that should differ have the same content.
fn describe_miss(name: &str, a: &str, b: &str) -> Option<String> {
    let (old, new) = (extract(a), extract(b));
    assert_ne!(a, b, "{name}: no change");
    (old.digests.fingerprint == new.digests.fingerprint).then(|| {
        let (scope, text, left_out) = (old.scope, old.text, new.excluded);
        format!("{name}: a miss ({scope:?})\n{text}\nleft out: {left_out:?}")
    })
}

/// Maximum number of faults that a failing test lists.
const MAX_LISTED_FAULTS: usize = 200;

#[track_caller]
fn assert_no_faults(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults[..faults.len().min(MAX_LISTED_FAULTS)].join("\n")
    );
}

#[track_caller]
fn assert_same_content(name: &str, a: &str, b: &str) {
    assert_no_faults(&Vec::from_iter(describe_false_alarm(name, a, b)));
}

#[track_caller]
fn assert_different_content(name: &str, a: &str, b: &str) {
    assert_no_faults(&Vec::from_iter(describe_miss(name, a, b)));
}
