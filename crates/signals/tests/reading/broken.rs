//! Broken documents as found on the web, each with its named defects.

use freshet_signals::DocumentFormat;

use crate::{check, limits, read_all, sitemap};

use DocumentFormat::{Atom, Html, JsonFeed, Rss, Sitemap, SitemapIndex, Unknown};

fn one(loc: &str) -> String {
    sitemap(&format!("<url><loc>{loc}</loc><lastmod>2024-01-02</lastmod></url>"))
}

fn dated(date: &str) -> String {
    sitemap(&format!("<url><loc>https://a.example/x</loc><lastmod>{date}</lastmod></url>"))
}

#[test]
fn other_documents_are_recognized() {
    check("", Unknown, "", "empty");
    check(" \n\t ", Unknown, "", "empty");
    check("\u{feff}", Unknown, "", "empty bom");
    check("<!DOCTYPE html><html><body><p>Not found</p></body></html>", Html, "", "html");
    check("<HTML><head><title>Not found</title></head></HTML>", Html, "", "html");
    check("<div><p>Please log in", Html, "", "html");
    check("{\"error\": \"not found\"}", Unknown, "", "json-no-feed");
    check("[1, 2, 3]", Unknown, "", "json-no-feed");
    check("{\"error\": ", Unknown, "", "json-no-feed");
    check("<Error><Code>AccessDenied</Code></Error>", Unknown, "", "unknown-format");
    check(
        "<opml><body><outline xmlUrl='https://a.example/'/></body></opml>",
        Unknown,
        "",
        "unknown-format",
    );
    check("404 page not found\n", Unknown, "", "unknown-format");
    check("%PDF-1.4\n%\u{e2}\n1 0 obj", Unknown, "", "unknown-format");
    check(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", Unknown, "", "unknown-format bad-encoding");
    check("<urlset", Unknown, "", "unknown-format");
    check("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>", Sitemap, "", "empty");
    check(sitemap(""), Sitemap, "", "empty");
    check("<rss version='2.0'><channel><title>T</title></channel></rss>", Rss, "", "empty");
}

#[test]
fn wrong_namespaces_are_a_defect() {
    let url = "<url><loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>";
    for root in [
        "<urlset>".to_owned(),
        "<urlset xmlns='https://www.sitemaps.org/schemas/sitemap/0.9'>".to_owned(),
        "<urlset xmlns='http://www.google.com/schemas/sitemap/0.84'>".to_owned(),
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9/\" >".to_owned(),
    ] {
        check(format!("{root}{url}</urlset>"), Sitemap, "/x@0Day", "wrong-namespace");
    }
}

#[test]
fn content_around_the_root_is_tolerated() {
    let text = one("https://a.example/x");
    check(format!("\u{feff}{text}"), Sitemap, "/x@0Day", "bom");
    check(format!("\u{feff}\u{feff}{text}"), Sitemap, "/x@0Day", "bom");
    check(format!("\n<?xml version='1.0'?>{text}"), Sitemap, "/x@0Day", "junk-before");
    let warning =
        "<br />\n<b>Warning</b>: Undefined index in <b>map.php</b> on line <b>3</b><br />\n";
    check(format!("{warning}<?xml version='1.0'?>{text}"), Sitemap, "/x@0Day", "junk-before");
    check(format!("Notice: x\n<?xml version='1.0'?>{text}"), Sitemap, "/x@0Day", "junk-before");
    check(
        format!("<?xml version='1.0'?><?xml-stylesheet href='x'?><!-- x -->{text}"),
        Sitemap,
        "/x@0Day",
        "",
    );
    check(format!("{text}<!-- cached --> and more < & <oops"), Sitemap, "/x@0Day", "");
}

#[test]
fn addresses_have_defects() {
    check(one("/x"), Sitemap, "/x@0Day", "relative-url");
    check(one("x"), Sitemap, "/dir/x@0Day", "relative-url");
    check(
        one("www.a.example/x"),
        Sitemap,
        "https://www.a.example/x@0Day",
        "relative-url other-host",
    );
    check(one("https://b.example/x"), Sitemap, "https://b.example/x@0Day", "other-host");
    check(one("https://A.EXAMPLE:443/x#y"), Sitemap, "/x@0Day", "");
    check(one("https://u:p@a.example/x"), Sitemap, "/x@0Day", "");
    check(one(""), Sitemap, "", "empty no-url");
    check(one("https://"), Sitemap, "", "empty not-a-url");
    check(one("mailto:x@a.example"), Sitemap, "", "empty other-scheme");
    check(one("javascript:alert(1)"), Sitemap, "", "empty other-scheme");
    check(one(&format!("https://a.example/{}", "x".repeat(3000))), Sitemap, "", "empty long-url");
    check(one("https://a.example/?a=1&b=2&c=3"), Sitemap, "/?a=1&b=2&c=3@0Day", "bare-ampersand×2");
    check(one("https://a.example/?a=1&copy;=2"), Sitemap, "/?a=1&copy;=2@0Day", "unknown-entity");
    check(one("https://a.example/a b"), Sitemap, "/a%20b@0Day", "");
    check(sitemap("<url><lastmod>2024-01-02</lastmod></url>"), Sitemap, "", "empty no-url");
}

#[test]
fn dates_have_defects() {
    check(dated("2024-02-30"), Sitemap, "/x", "bad-date");
    check(dated("0000-00-00"), Sitemap, "/x", "bad-date");
    check(dated("today"), Sitemap, "/x", "bad-date");
    check(dated(&"2".repeat(10_000)), Sitemap, "/x", "bad-date");
    check(dated(""), Sitemap, "/x", "no-date");
    check(dated("2024-01-02 03:00"), Sitemap, "/x@10800NoZone", "odd-date no-zone");
    check(dated("Tue, 02 Jan 2024 00:00:00 GMT"), Sitemap, "/x@0Exact", "odd-date");
    check(dated("2 janvier 2024"), Sitemap, "/x@0Day", "odd-date");
    check(dated("1970-01-01T00:00:00Z"), Sitemap, "/x@-1704153600Exact", "early-date");
    check(dated("2028-01-01"), Sitemap, "/x@126144000Day", "future-date");
    // Today, somewhere on Earth.
    check(dated("2027-01-15"), Sitemap, "/x@95817600Day", "");
    check(dated("2027-01-15T08:04:00Z"), Sitemap, "/x@95846640Exact", "");
    check(dated("2027-01-15T09:00:00Z"), Sitemap, "/x@95850000Exact", "future-date");
}

#[test]
fn truncated_documents_keep_earlier_entries() {
    let url = |path: &str| format!("<url><loc>https://a.example/{path}</loc></url>");
    let whole = sitemap(&(url("x") + &url("y") + &url("z")));
    for (last, expect) in [
        ("<url><loc>https://a.example/y", "/x"),
        ("<url><loc>https://a.example/y</loc", "/x"),
        ("<url><loc>https://a.example/y</loc>", "/x"),
        ("https://a.example/y</loc></url>", "/x /y"),
        ("<url><loc>https://a.example/z</loc></url>", "/x /y /z"),
    ] {
        let end = whole.find(last).unwrap() + last.len();
        let defects = ["no-date", "no-date×2", "no-date×3"][expect.matches('/').count() - 1];
        check(&whole[..end], Sitemap, expect, &format!("cut-off {defects}"));
        assert!(!read_all(&whole.as_bytes()[..end], limits()).1.is_complete);
    }
}

#[test]
fn invalid_markup_damages_only_its_entry() {
    let x = "<url><loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>";
    let y = "<url><loc>https://a.example/y</loc><lastmod>2024-01-02</lastmod></url>";
    let around = |middle: &str| sitemap(&format!("{x}{middle}{y}"));
    let both = "/x@0Day /y@0Day";
    // End tags that are missing, wrong or superfluous.
    check(
        around("<url><loc>https://a.example/m</loc>"),
        Sitemap,
        "/x@0Day /m /y@0Day",
        "bad-xml no-date",
    );
    check(
        around("<url><loc>https://a.example/m</url>"),
        Sitemap,
        "/x@0Day /m /y@0Day",
        "bad-xml no-date",
    );
    check(
        around("<url><loc>https://a.example/m</lok></url>"),
        Sitemap,
        "/x@0Day /m /y@0Day",
        "bad-xml×2 no-date",
    );
    check(around("</url></b>"), Sitemap, both, "bad-xml×2");
    // Markup that no parser accepts.
    check(around("<url><!x><loc>https://a.example/m</loc></url>"), Sitemap, both, "bad-xml");
    check(around("<![CDATX[ ]]>"), Sitemap, both, "bad-xml");
    check(around("<!ELEMENT x>"), Sitemap, both, "bad-xml");
    check(around("< >"), Sitemap, both, "bad-xml");
    // An unescaped `<` swallows the text up to the next tag.
    check(
        around("<url><loc>https://a.example/m</loc><note>1 < 2</note></url>"),
        Sitemap,
        "/x@0Day /m /y@0Day",
        "bad-xml×2 no-date",
    );
    check(around("\u{0}\u{1}\u{b}"), Sitemap, both, "");
    // A piece without end.
    check(
        around(&format!("<url><loc>{}</loc></url>", "m".repeat(9 << 20))),
        Sitemap,
        both,
        "long-piece",
    );
    check(around(&format!("<url a='{}'>", "m".repeat(9 << 20))), Sitemap, both, "long-piece");
}

#[test]
fn pages_in_an_index_and_parts_in_a_sitemap() {
    let parts =
        "<sitemap><loc>https://a.example/x.xml</loc><lastmod>2024-01-02</lastmod></sitemap>";
    let pages = "<url><loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>";
    check(sitemap(&(parts.to_owned() + pages)), Sitemap, "*/x.xml@0Day /x@0Day", "mixed");
    let index = sitemap(&(parts.to_owned() + pages)).replace("urlset", "sitemapindex");
    check(index, SitemapIndex, "*/x.xml@0Day /x@0Day", "mixed");
}

#[test]
fn deep_nesting_is_limited() {
    let text = sitemap(&format!(
        "<url><loc>https://a.example/x</loc>{}{}<lastmod>2024-01-02</lastmod></url>",
        "<a>".repeat(10_000),
        "</a>".repeat(10_000)
    ));
    check(text, Sitemap, "/x@0Day", "too-deep");
    let never_ended = "<a>".repeat(100_000);
    check(sitemap(&format!("<url>{never_ended}</url>")), Sitemap, "", "cut-off too-deep");
    check(format!("<x>{never_ended}"), Unknown, "", "unknown-format");
    let json =
        format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"x\":{}", "[".repeat(1 << 20));
    check(json, JsonFeed, "", "cut-off");
}

#[test]
fn entities_are_never_expanded() {
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>
        <!ENTITY c SYSTEM 'file:///etc/passwd'>]>";
    let text = bomb.to_owned() + &one("https://a.example/&b;");
    check(text, Sitemap, "/&b;@0Day", "doctype unknown-entity");
    let text = bomb.to_owned() + &one("https://a.example/&c;");
    check(text, Sitemap, "/&c;@0Day", "doctype unknown-entity");
    check(one("https://a.example/&#120;&#x79;"), Sitemap, "/xy@0Day", "");
    check(one("https://a.example/&#xD800;"), Sitemap, "/&@0Day", "unknown-entity");
}

#[test]
fn encodings_are_detected() {
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
        <url><loc>https://a.example/\xe9</loc><lastmod>2024-01-02</lastmod></url></urlset>";
    check(latin, Sitemap, "/%C3%A9@0Day", "other-encoding");
    // The same bytes without a declaration: undecodable text is not an address.
    let plain = &latin[b"<?xml version='1.0' encoding='ISO-8859-1'?>".len()..];
    check(plain, Sitemap, "", "empty bad-encoding not-a-url");
    let text = "<?xml version='1.0' encoding='utf-32'?>".to_owned() + &one("https://a.example/x");
    check(text, Sitemap, "/x@0Day", "bad-encoding");
    let text = "<?xml version='1.0' encoding='utf-16'?>".to_owned() + &one("https://a.example/x");
    check(text, Sitemap, "/x@0Day", "bad-encoding");
    let atom = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='/x'/><updated>2024-01-02T00:00:00Z</updated></entry></feed>";
    let atom = "<?xml version='1.0' encoding='windows-1252'?>".to_owned() + atom;
    check(atom, Atom, "/x@0Exact", "relative-url");
}

#[test]
fn utf_16_is_decoded() {
    let text = one("https://a.example/é");
    let units: Vec<u16> = text.encode_utf16().collect();
    let little: Vec<u8> = units.iter().flat_map(|it| it.to_le_bytes()).collect();
    let big: Vec<u8> = units.iter().flat_map(|it| it.to_be_bytes()).collect();
    let expect = "/%C3%A9@0Day";
    check(&little, Sitemap, expect, "other-encoding");
    check(&big, Sitemap, expect, "other-encoding");
    check([&[0xff, 0xfe], &little[..]].concat(), Sitemap, expect, "other-encoding");
    check([&[0xfe, 0xff], &big[..]].concat(), Sitemap, expect, "other-encoding");
    check(&little[..little.len() - 1], Sitemap, expect, "cut-off other-encoding bad-encoding");
}
