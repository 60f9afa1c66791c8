//! Documents made to do harm: none takes more than its share of time and memory, and none ends the
//! program.

#![allow(clippy::unwrap_used)]

use freshet_detect::{Detector, Document, Kind, Layer, RawSettings, Settings, diff};
use proptest::prelude::*;

fn detector(toml: &str) -> Detector {
    let raw: RawSettings = toml::from_str(toml).unwrap();
    Detector::new(Settings::resolve(&[Layer { name: "test", settings: &raw }]).unwrap())
}

fn read(bytes: &[u8], kind: Kind) -> String {
    detector(&format!("kind = '{kind}'")).read(&Document::new(bytes)).text
}

/// A megabyte of a part over and over.
fn much(part: &str) -> String {
    part.repeat(1_000_000 / part.len())
}

#[test]
fn ten_megabytes_of_nested_tags() {
    for part in ["<div>", "<b><p>", "<table><tr><td>"] {
        let nested = part.repeat(10_000_000 / part.len()) + "text";
        assert_eq!(read(nested.as_bytes(), Kind::Html), "text\n");
    }
}

#[test]
fn much_of_anything_that_html_can_be_made_of() {
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
        read(much(part).as_bytes(), Kind::Html);
    }
    // A deep tree that ends in something else, over and over.
    let deep = "<div>".repeat(1000) + &"</span><td></td>".repeat(100);
    read(much(&deep).as_bytes(), Kind::Html);
    let huge = format!("<p class='{0}' {0}>text", much("ad "));
    assert_eq!(read(huge.as_bytes(), Kind::Html), "text\n");
}

#[test]
fn selectors_on_deep_pages() {
    let detector = detector(
        "select = ['div div > div ~ p', 'b:nth-of-type(2n)', ':not(a):is(p, b)']\ndrop = ['x y']",
    );
    for part in ["<div>", "<p>", "<b><i>", "<div></div><p>x</p>"] {
        let _ = detector.read(&Document {
            content_type: Some("text/html"),
            ..Document::new(much(part).as_bytes())
        });
    }
}

#[test]
fn fifty_megabytes_of_json_in_one_line() {
    let mut json = String::from("{\"z\":0,\"items\":[");
    while json.len() < 50_000_000 {
        json.push_str(
            r#"{"id":12345,"name":"A name of some length","price":12.50,"tags":["a","b"]},"#,
        );
    }
    json.push_str("{}],\"a\":1}");
    let old = detector("").read(&Document::new(json.as_bytes()));
    assert_eq!(old.mark.kind, Kind::Json);
    assert!(old.text.starts_with("/a: 1\n/items/+/id: 12345\n/items/*/name: "));
    let changed = json.replace("{}],", "{\"id\":1}],");
    let new = detector("").read(&Document::new(changed.as_bytes()));
    assert_ne!(old.mark.fingerprint, new.mark.fingerprint);
}

#[test]
fn json_that_is_hard_to_follow() {
    for part in
        ["[", "{\"a\":", "[[],", "\"", "1,", "{\"b\":1,\"a\":", "\\u0000", "-", "[1e9999999999,"]
    {
        read(much(part).as_bytes(), Kind::Json);
    }
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    assert_eq!(read(deep.as_bytes(), Kind::Json), deep.clone() + "\n");
    // The deepest that is followed, with all the weight at the bottom and every level to be sorted.
    let nested =
        "{\"b\":0,\"a\":".repeat(127) + &format!("[{}0]", "1,".repeat(20_000)) + &"}".repeat(127);
    let text = read(nested.as_bytes(), Kind::Json);
    assert!(text.ends_with("\"b\":0}\n"), "not in one form");
}

#[test]
fn xml_that_is_hard_to_follow() {
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
        read(much(part).as_bytes(), Kind::Xml);
    }
    let many = format!("<a {}/>", (0..200_000).map(|it| format!("a{it}='1' ")).collect::<String>());
    read(many.as_bytes(), Kind::Xml);
    let items = format!(
        "<rss><channel>{}</channel></rss>",
        "<item><title>x</title></item>".repeat(100_000)
    );
    read(items.as_bytes(), Kind::Xml);
}

#[test]
fn texts_that_have_nothing_in_common() {
    let lines = |from: u64| {
        (0..100_000).map(|it| format!("{}\n", (it * 7 + from) % 5003)).collect::<String>()
    };
    let found = diff(&lines(0), &lines(11));
    assert!(!found.is_empty());
    let one_line = |word: &str| much(word);
    assert!(!diff(&one_line("a b "), &one_line("b c ")).is_empty());
}

#[test]
fn texts_of_random_words_in_lines_of_any_length() {
    let mut state = 1_u64;
    let mut text = |longest: u64| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let mut out = String::new();
        while out.len() < 2_000_000 {
            for _ in 0..next() % longest {
                out.push_str(&format!("{} ", next() % 1000));
            }
            out.push('\n');
        }
        out
    };
    for longest in [4, 400, 40_000] {
        assert!(!diff(&text(longest), &text(longest)).is_empty());
    }
}

/// A mixture of signs that mean something and of anything.
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
    fn no_bytes_end_the_program(bytes in document(), selected in any::<bool>()) {
        let settings = if selected {
            "select = ['p', 'div > *', '/a', '$..a']\ndrop = ['.ad']\nignore = ['dates', 'numbers', 'case', 'order', 'space']\nlinks = true\nimages = true"
        } else {
            ""
        };
        for kind in Kind::ALL {
            let detector = detector(&format!("kind = '{kind}'\n{settings}"));
            let first = detector.explain(&Document::new(&bytes));
            let second = detector.read(&Document::new(&bytes));
            prop_assert_eq!(first.stored(), second.stored());
        }
        let _ = detector(settings).read(&Document::new(&bytes));
    }
}
