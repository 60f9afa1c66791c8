//! The content of each kind of document.

use freshet_detect::{Detector, Document, DocumentKind, TextScope};

use crate::extract;

#[track_caller]
fn check(text: &str, kind: DocumentKind, expect: &str) {
    let extraction = extract("", text);
    assert_eq!((extraction.digests.kind, extraction.text.as_str()), (kind, expect), "{text}");
}

#[track_caller]
fn assert_same_content(a: &str, b: &str) {
    assert_eq!(extract("", a).digests.fingerprint, extract("", b).digests.fingerprint, "{a} {b}");
}

#[track_caller]
fn assert_different_content(a: &str, b: &str) {
    assert_ne!(extract("", a).digests.fingerprint, extract("", b).digests.fingerprint, "{a} {b}");
}

#[test]
fn json_has_a_canonical_form() {
    check("{\"b\":1,\"a\":[true]}", DocumentKind::Json, "/a/+: true\n/b: 1\n");
    assert_same_content("{\"a\": 1.0, \"b\": \"\\u0041\"}", "{\"b\":\"A\",\n\"a\":1}");
    assert_different_content("[1,2]", "[2,1]");
    assert_different_content("{\"a\":1}", "{\"a\":\"1\"}");
    assert_different_content("{\"a\":null}", "{}");
}

#[test]
fn malformed_json_is_extracted_as_text() {
    let document =
        |bytes| Document { bytes, content_type: Some("application/json"), charset: None };
    let extraction = Detector::default().extract(&document(b"Not  found\n"));
    assert_eq!(
        (extraction.digests.kind, extraction.text.as_str()),
        (DocumentKind::Json, "Not found\n")
    );
    assert!(
        extraction.is_parsed_as_text
            && !Detector::default().extract(&document(b"{}")).is_parsed_as_text
    );
}

#[test]
fn xml_and_feeds_have_a_canonical_form() {
    assert_same_content(
        "<?xml version='1.0'?><a x='1' y='2'><b/></a>",
        "<?xml version='1.0'?>\n<!-- c -->\n<a y='2' x='1'>\n <b></b>\n</a>",
    );
    assert_different_content("<?xml version='1.0'?><a><b/></a>", "<?xml version='1.0'?><a/>");
    let feed = |built: &str, items: &[&str]| {
        let items: String = items
            .iter()
            .map(|it| format!("<item><title>{it}</title><guid>{it}</guid></item>"))
            .collect();
        format!(
            "<?xml version='1.0'?><rss><channel><title>F</title><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>"
        )
    };
    assert_same_content(&feed("1", &["a", "b"]), &feed("2", &["b", "a"]));
    assert_different_content(&feed("1", &["a", "b"]), &feed("1", &["a", "b", "c"]));
    assert_different_content(&feed("1", &["a", "b"]), &feed("1", &["a", "x"]));
}

#[test]
fn malformed_xml_is_extracted_as_text() {
    check("<?xml version='1.0'?><a>x", DocumentKind::Xml, "<?xml version='1.0'?><a>x\n");
    assert!(extract("", "<?xml version='1.0'?><a>x").is_parsed_as_text);
    assert!(!extract("", "<?xml version='1.0'?><a/>").is_parsed_as_text);
}

#[test]
fn white_space_in_text_is_collapsed() {
    check("a  b \r\n\n  - c\n", DocumentKind::Text, "a b\n  - c\n");
    assert_same_content(
        "# Generated at 2026-11-16 10:03:22\nx\n",
        "# Generated at 2026-11-17 11:04:23\nx\n",
    );
    assert_different_content("a\n", "b\n");
}

#[test]
fn pdf_is_compared_without_dates_and_other_files_by_bytes() {
    let pdf = |date: &str, text: &str| {
        format!("%PDF-1.7\n/CreationDate (D:{date})\n/ID [<{date}>]\n{text}")
    };
    assert_same_content(&pdf("1", "x"), &pdf("2", "x"));
    assert_different_content(&pdf("1", "x"), &pdf("1", "y"));
    assert_different_content("\0a", "\0b");
    assert_eq!(extract("", "\0a").scope, TextScope::Whole);
}
