//! What counts of each kind.

use freshet_detect::{Basis, Detector, Document, Kind};

use crate::read;

#[track_caller]
fn check(text: &str, kind: Kind, expect: &str) {
    let reading = read("", text);
    assert_eq!((reading.mark.kind, reading.text.as_str()), (kind, expect), "{text}");
}

#[track_caller]
fn same(a: &str, b: &str) {
    assert_eq!(read("", a).mark.fingerprint, read("", b).mark.fingerprint, "{a} {b}");
}

#[track_caller]
fn differ(a: &str, b: &str) {
    assert_ne!(read("", a).mark.fingerprint, read("", b).mark.fingerprint, "{a} {b}");
}

#[test]
fn json() {
    check("{\"b\":1,\"a\":[true]}", Kind::Json, "/a/+: true\n/b: 1\n");
    same("{\"a\": 1.0, \"b\": \"\\u0041\"}", "{\"b\":\"A\",\n\"a\":1}");
    differ("[1,2]", "[2,1]");
    differ("{\"a\":1}", "{\"a\":\"1\"}");
    differ("{\"a\":null}", "{}");
}

#[test]
fn what_says_it_is_json_and_is_not_is_text() {
    let document =
        |bytes| Document { bytes, content_type: Some("application/json"), charset: None };
    let reading = Detector::default().read(&document(b"Not  found\n"));
    assert_eq!((reading.mark.kind, reading.text.as_str()), (Kind::Json, "Not found\n"));
    assert!(reading.as_text && !Detector::default().read(&document(b"{}")).as_text);
}

#[test]
fn xml_and_feeds() {
    same(
        "<?xml version='1.0'?><a x='1' y='2'><b/></a>",
        "<?xml version='1.0'?>\n<!-- c -->\n<a y='2' x='1'>\n <b></b>\n</a>",
    );
    differ("<?xml version='1.0'?><a><b/></a>", "<?xml version='1.0'?><a/>");
    let feed = |built: &str, items: &[&str]| {
        let items: String = items
            .iter()
            .map(|it| format!("<item><title>{it}</title><guid>{it}</guid></item>"))
            .collect();
        format!(
            "<?xml version='1.0'?><rss><channel><title>F</title><lastBuildDate>{built}</lastBuildDate>{items}</channel></rss>"
        )
    };
    same(&feed("1", &["a", "b"]), &feed("2", &["b", "a"]));
    differ(&feed("1", &["a", "b"]), &feed("1", &["a", "b", "c"]));
    differ(&feed("1", &["a", "b"]), &feed("1", &["a", "x"]));
}

#[test]
fn broken_xml_is_text() {
    check("<?xml version='1.0'?><a>x", Kind::Xml, "<?xml version='1.0'?><a>x\n");
    assert!(read("", "<?xml version='1.0'?><a>x").as_text);
    assert!(!read("", "<?xml version='1.0'?><a/>").as_text);
}

#[test]
fn text() {
    check("a  b \r\n\n  - c\n", Kind::Text, "a b\n  - c\n");
    same("# Generated at 2026-11-16 10:03:22\nx\n", "# Generated at 2026-11-17 11:04:23\nx\n");
    differ("a\n", "b\n");
}

#[test]
fn pdf_and_bytes() {
    let pdf = |date: &str, text: &str| {
        format!("%PDF-1.7\n/CreationDate (D:{date})\n/ID [<{date}>]\n{text}")
    };
    same(&pdf("1", "x"), &pdf("2", "x"));
    differ(&pdf("1", "x"), &pdf("1", "y"));
    differ("\0a", "\0b");
    assert_eq!(read("", "\0a").basis, Basis::Whole);
}
