//! Pages as people publish them: whatever a server, a template or an advertiser adds is the same
//! page, and whatever its writer changes is another.

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

use freshet_detect::{Detector, Document, Kind, Reading};

/// A page read as a web page.
fn read(html: &str) -> Reading {
    read_bytes(html.as_bytes())
}

fn read_bytes(bytes: &[u8]) -> Reading {
    let document = Document { bytes, content_type: Some("text/html"), charset: None };
    let reading = Detector::default().explain(&document);
    assert_eq!(reading.mark.kind, Kind::Html);
    reading
}

/// What is wrong, if two pages that should be the same are not.
fn alarm(what: &str, a: &str, b: &str) -> Option<String> {
    let (old, new) = (read(a), read(b));
    (old.mark.fingerprint != new.mark.fingerprint).then(|| {
        let diff = freshet_detect::diff(&old.text, &new.text).unified(1);
        format!("{what}: a false alarm ({:?}, {:?})\n{diff}", old.basis, new.basis)
    })
}

/// What is wrong, if two pages that should differ do not.
fn miss(what: &str, a: &str, b: &str) -> Option<String> {
    let (old, new) = (read(a), read(b));
    assert_ne!(a, b, "{what}: no change");
    (old.mark.fingerprint == new.mark.fingerprint).then(|| {
        let (basis, text, left_out) = (old.basis, old.text, new.left_out);
        format!("{what}: a miss ({basis:?})\n{text}\nleft out: {left_out:?}")
    })
}

/// Faults that a failing test lists.
const MOST_SHOWN: usize = 200;

#[track_caller]
fn none(faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults[..faults.len().min(MOST_SHOWN)].join("\n")
    );
}

#[track_caller]
fn same(what: &str, a: &str, b: &str) {
    none(&Vec::from_iter(alarm(what, a, b)));
}

#[track_caller]
fn differ(what: &str, a: &str, b: &str) {
    none(&Vec::from_iter(miss(what, a, b)));
}
