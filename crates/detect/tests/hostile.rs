//! Hostile documents: none takes more than linear time and memory, and none ends the program.

#![allow(clippy::unwrap_used)]

use freshet_detect::{
    DetectSettings, Detector, Document, DocumentKind, RawDetectSettings, SettingsLayer, diff,
};
use proptest::prelude::*;

fn detector(toml: &str) -> Detector {
    let raw: RawDetectSettings = toml::from_str(toml).unwrap();
    Detector::new(
        DetectSettings::resolve(&[SettingsLayer { name: "test", settings: &raw }]).unwrap(),
    )
}

fn extract(bytes: &[u8], kind: DocumentKind) -> String {
    detector(&format!("kind = '{kind}'")).extract(&Document::new(bytes)).text
}

/// Repeats a part up to a megabyte.
fn repeat_to_megabyte(part: &str) -> String {
    part.repeat(1_000_000 / part.len())
}

#[test]
fn nested_tags_take_linear_time() {
    for part in ["<div>", "<b><p>", "<table><tr><td>"] {
        let nested = part.repeat(10_000_000 / part.len()) + "text";
        assert_eq!(extract(nested.as_bytes(), DocumentKind::Html), "text\n");
    }
}

#[test]
fn repeated_html_tokens_take_linear_time() {
    for part in [
        "<div>",
        "<p>",
        "<b>",
        "<a>",
        "<table>",
        "<table><tr><td>",
        "<ul><li>",
        "<li>",
        "<td>",
        "<p><div>",
        "<!--",
        "<",
        "</",
        "</p>",
        "</div>",
        "<a b=c ",
        "<a b=\"",
        "&",
        "&#",
        "&amp",
        "<script>",
        "<title>",
        "<b><p>",
        "<a><b></a>",
        "</b></a>",
        "<x-y>",
        "<select><option>",
        "<h1>Related</h1>",
        "<svg><a/>",
        "<div class='a b c d e f g h'>",
        "<div class='ad'>",
        "<p>Related articles</p>",
        "1 view ",
        "\0",
        " ",
        "<form><table><form>",
        "<span hidden>",
        "x\u{300}",
        "<nav><main><h1>",
        "<aside><article>",
    ] {
        extract(repeat_to_megabyte(part).as_bytes(), DocumentKind::Html);
    }
    // A deep tree with stray closing tags, repeated.
    let deep = "<div>".repeat(1000) + &"</span><td></td>".repeat(100);
    extract(repeat_to_megabyte(&deep).as_bytes(), DocumentKind::Html);
    let huge = format!("<p class='{0}' {0}>text", repeat_to_megabyte("ad "));
    assert_eq!(extract(huge.as_bytes(), DocumentKind::Html), "text\n");
}

#[test]
fn selectors_on_deep_pages_take_linear_time() {
    let detector = detector(
        "select = ['div div > div ~ p', 'b:nth-of-type(2n)', ':not(a):is(p, b)']\ndrop = ['x y']",
    );
    for part in ["<div>", "<p>", "<b><i>", "<div></div><p>x</p>"] {
        let _ = detector.extract(&Document {
            content_type: Some("text/html"),
            ..Document::new(repeat_to_megabyte(part).as_bytes())
        });
    }
}

#[test]
fn fifty_megabytes_of_json_in_one_line_are_extracted() {
    let mut json = String::from("{\"z\":0,\"items\":[");
    while json.len() < 50_000_000 {
        json.push_str(
            r#"{"id":12345,"name":"A name of some length","price":12.50,"tags":["a","b"]},"#,
        );
    }
    json.push_str("{}],\"a\":1}");
    let old = detector("").extract(&Document::new(json.as_bytes()));
    assert_eq!(old.digests.kind, DocumentKind::Json);
    assert!(old.text.starts_with("/a: 1\n/items/+/id: 12345\n/items/*/name: "));
    let changed = json.replace("{}],", "{\"id\":1}],");
    let new = detector("").extract(&Document::new(changed.as_bytes()));
    assert_ne!(old.digests.fingerprint, new.digests.fingerprint);
}

#[test]
fn hostile_json_takes_linear_time() {
    for part in
        ["[", "{\"a\":", "[[],", "\"", "1,", "{\"b\":1,\"a\":", "\\u0000", "-", "[1e9999999999,"]
    {
        extract(repeat_to_megabyte(part).as_bytes(), DocumentKind::Json);
    }
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    assert_eq!(extract(deep.as_bytes(), DocumentKind::Json), deep.clone() + "\n");
    // The maximum depth, with a large list at the bottom and members to sort at every level.
    let nested =
        "{\"b\":0,\"a\":".repeat(127) + &format!("[{}0]", "1,".repeat(20_000)) + &"}".repeat(127);
    let text = extract(nested.as_bytes(), DocumentKind::Json);
    assert!(text.ends_with("\"b\":0}\n"), "not in one form");
}

#[test]
fn hostile_xml_takes_linear_time() {
    for part in [
        "<a>",
        "<a b='c' ",
        "<!ENTITY a '&b;'>",
        "<![CDATA[",
        "<?a ?>",
        "&a;",
        "<!-- -->",
        "<a/>",
        "<!DOCTYPE a [",
    ] {
        extract(repeat_to_megabyte(part).as_bytes(), DocumentKind::Xml);
    }
    let many = format!("<a {}/>", (0..200_000).map(|it| format!("a{it}='1' ")).collect::<String>());
    extract(many.as_bytes(), DocumentKind::Xml);
    let items = format!(
        "<rss><channel>{}</channel></rss>",
        "<item><title>x</title></item>".repeat(100_000)
    );
    extract(items.as_bytes(), DocumentKind::Xml);
}

#[test]
fn a_diff_of_texts_with_nothing_in_common_takes_bounded_time() {
    let lines = |from: u64| {
        (0..100_000).map(|it| format!("{}\n", (it * 7 + from) % 5003)).collect::<String>()
    };
    let found = diff(&lines(0), &lines(11));
    assert!(!found.is_empty());
    let one_line = |word: &str| repeat_to_megabyte(word);
    assert!(!diff(&one_line("a b "), &one_line("b c ")).is_empty());
}

#[test]
fn a_diff_of_random_words_takes_bounded_time() {
    let mut state = 1_u64;
    let mut text = |max_words: u64| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut out = String::new();
        while out.len() < 2_000_000 {
            for _ in 0..next() % max_words {
                out.push_str(&format!("{} ", next() % 1000));
            }
            out.push('\n');
        }
        out
    };
    for max_words in [4, 400, 40_000] {
        assert!(!diff(&text(max_words), &text(max_words)).is_empty());
    }
}

/// A mixture of meaningful tokens and arbitrary bytes.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let parts = prop_oneof![
        3 => prop::sample::select(vec![
            "<", ">", "</", "/>", "<!--", "-->", "&", ";", "=", "\"", "'", " ", "\n", "<p>", "</p>", "<div class=ad>",
            "<script>", "</script>", "<table>", "<tr>", "<td>", "</table>", "{", "}", "[", "]", ",", ":", "\\", "\"a\"",
            "1", "-1.5e3", "true", "<rss>", "<item>", "</item>", "<![CDATA[", "]]>", "<?xml?>", "&#x41;", "views", "3",
            "ago", "Related", "<h1>", "<main>", "<nav>", "©", "日本", "\u{200b}", "<title>", "hidden", "%PDF-", "/ID", "]",
        ]).prop_map(|it| it.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ];
    prop::collection::vec(parts, 0..60).prop_map(|it| it.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn no_bytes_cause_a_panic(bytes in document(), selected in any::<bool>()) {
        let settings = if selected {
            "select = ['p', 'div > *', '/a', '$..a']\ndrop = ['.ad']\nignore = ['dates', 'numbers', 'case', 'order', 'space']\nlinks = true\nimages = true"
        } else {
            ""
        };
        for kind in DocumentKind::ALL {
            let detector = detector(&format!("kind = '{kind}'\n{settings}"));
            let first = detector.explain(&Document::new(&bytes));
            let second = detector.extract(&Document::new(&bytes));
            prop_assert_eq!(first.signature(), second.signature());
        }
        let _ = detector(settings).extract(&Document::new(&bytes));
    }
}
