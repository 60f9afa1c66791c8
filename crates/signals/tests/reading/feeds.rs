//! Feeds of all formats.

use freshet_signals::{DocumentFormat, Url};

use crate::{check, limits, read_all};

/// Returns the hubs of a document and its own URL.
fn discovered(document: &str) -> (Vec<String>, Option<String>) {
    let (_, report) = read_all(document.as_bytes(), limits());
    let hubs = report.hubs.iter().map(Url::to_string).collect();
    (hubs, report.self_url.map(|it| it.to_string()))
}

#[test]
fn rss_2() {
    let text = "<?xml version='1.0'?><rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'
        xmlns:content='http://purl.org/rss/1.0/modules/content/'><channel><title>News</title>
        <link>https://a.example/</link><lastBuildDate>Tue, 02 Jan 2024 10:00:00 GMT</lastBuildDate>
        <atom:link rel='self' href='https://a.example/feed'/><atom:link rel='hub' href='https://hub.example/'/>
        <image><url>https://a.example/i.png</url><link>https://a.example/</link></image>
        <item><title>One</title><link>https://a.example/1</link><guid>x-1</guid>
        <pubDate>Tue, 02 Jan 2024 01:00:00 +0100</pubDate><content:encoded><![CDATA[<p>T</p>]]></content:encoded></item>
        <item><title>Two</title><guid isPermaLink='true'>https://a.example/2</guid>
        <pubDate>02 Jan 24 01:00 EST</pubDate></item>
        <item><title>Three</title><guid isPermaLink='false'>https://a.example/3</guid></item>
        <item><link/><atom:link href='https://a.example/4'/><atom:updated>2024-01-03T00:00:00Z</atom:updated>
        <pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate></item>
        </channel></rss>";
    let expect = "/1@0Exact /2@21600Exact /4@86400Exact";
    check(text, DocumentFormat::Rss, expect, "no-url");
    let found =
        (vec!["https://hub.example/".to_owned()], Some("https://a.example/feed".to_owned()));
    assert_eq!(discovered(text), found);
}

#[test]
fn rss_0_91() {
    let text = "<!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN'
        'http://my.netscape.com/publish/formats/rss-0.91.dtd'>
        <rss version='0.91'><channel><title>T</title><item><title>One</title>
        <link>https://a.example/1</link><description>D</description></item></channel></rss>";
    check(text, DocumentFormat::Rss, "/1", "doctype no-date");
}

#[test]
fn rss_1_0() {
    let text = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'
        xmlns='http://purl.org/rss/1.0/' xmlns:d='http://purl.org/dc/elements/1.1/'>
        <channel rdf:about='https://a.example/'><title>T</title><items><rdf:Seq>
        <rdf:li rdf:resource='https://a.example/1'/></rdf:Seq></items></channel>
        <item rdf:about='https://a.example/1'><title>One</title><link>https://a.example/1?x</link>
        <d:date>2024-01-02T00:00Z</d:date></item>
        <item rdf:about='https://a.example/2'><title>Two</title><d:date>2024-01-03</d:date></item></rdf:RDF>";
    check(text, DocumentFormat::Rdf, "/1?x@0Exact /2@86400Day", "");
}

#[test]
fn atom() {
    let text = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://a.example/blog/'>
        <id>urn:x</id><updated>2024-01-05T00:00:00Z</updated><link rel='self' href='feed.atom'/>
        <link rel='hub' href='https://hub.example/'/><link rel='Hub' href='https://other.example/'/>
        <entry><id>urn:1</id><title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>One <b>b</b></div></title>
        <link rel='edit' href='https://a.example/edit'/><link rel='enclosure' href='1.mp3'/><link href='1'/>
        <published>2024-01-01T00:00:00Z</published><updated>2024-01-02T00:00:00Z</updated>
        <source><id>urn:y</id><updated>2020-01-01T00:00:00Z</updated><link href='https://b.example/'/></source></entry>
        <entry xml:base='two/'><link rel='alternate' type='text/html' href='../2'/>
        <published>2024-01-01T00:00:00Z</published></entry>
        <entry xml:base='two/'><link rel='alternate' xml:base='/three/' href='3'/>
        <updated>2024-01-04T00:00:00Z</updated></entry>
        <entry><id>https://a.example/4</id><updated>2024-01-04T00:00:00Z</updated></entry></feed>";
    let expect = "/blog/1@0Exact /blog/2@-86400Exact /three/3@172800Exact /4@172800Exact";
    check(text, DocumentFormat::Atom, expect, "relative-url×3");
    let hubs = vec!["https://hub.example/".to_owned(), "https://other.example/".to_owned()];
    assert_eq!(discovered(text), (hubs, Some("https://a.example/blog/feed.atom".to_owned())));
}

#[test]
fn atom_with_prefixes_and_old_names() {
    let text = "<atom:feed xmlns:atom='http://www.w3.org/2005/Atom'><atom:entry>
        <atom:link href='https://a.example/1'/><atom:updated>2024-01-02T00:00:00Z</atom:updated>
        </atom:entry></atom:feed>";
    check(text, DocumentFormat::Atom, "/1@0Exact", "");
    let text = "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry>
        <link rel='alternate' href='https://a.example/1'/><issued>2024-01-01T00:00:00Z</issued>
        <modified>2024-01-02T00:00:00Z</modified></entry></feed>";
    check(text, DocumentFormat::Atom, "/1@0Exact", "");
    let text = "<feed><entry><link href='https://a.example/1'/></entry></feed>";
    check(text, DocumentFormat::Atom, "/1", "wrong-namespace no-date");
}

#[test]
fn json_feeds() {
    for version in ["1", "1.1"] {
        let text = format!(
            "{{\"version\": \"https://jsonfeed.org/version/{version}\", \"title\": \"T\",
            \"feed_url\": \"https://a.example/feed.json\", \"author\": {{\"name\": \"A\"}},
            \"hubs\": [{{\"type\": \"WebSub\", \"url\": \"https://hub.example/\"}}, 3, {{}}],
            \"items\": [
            {{\"id\": \"1\", \"url\": \"https://a.example/1\", \"content_text\": \"é\\u00e9\",
              \"date_published\": \"2024-01-01T00:00:00Z\", \"date_modified\": \"2024-01-02T00:00:00+00:00\"}},
            {{\"id\": \"https://a.example/2\", \"title\": null, \"date_published\": \"2024-01-02T00:00:00Z\"}},
            {{\"id\": 3, \"external_url\": \"/3\", \"tags\": [\"a\", {{\"b\": [1, 2]}}]}},
            \"text\", null, {{\"id\": 5}}], \"next_url\": \"x\"}}"
        );
        let expect = "/1@0Exact /2@0Exact /3";
        check(&text, DocumentFormat::JsonFeed, expect, "no-url relative-url no-date");
        let found = (
            vec!["https://hub.example/".to_owned()],
            Some("https://a.example/feed.json".to_owned()),
        );
        assert_eq!(discovered(&text), found);
    }
}

#[test]
fn incomplete_json_feeds_are_read() {
    let text = "{\"items\": [{\"url\": \"https://a.example/1\"}]}";
    check(text, DocumentFormat::JsonFeed, "/1", "wrong-namespace no-date");
    let text = "{\"version\": \"https://jsonfeed.org/version/1\", \"items\": [{\"url\": \"https://a.example/1\"}";
    check(text, DocumentFormat::JsonFeed, "/1", "cut-off no-date");
    check(text.to_owned() + ", }", DocumentFormat::JsonFeed, "/1", "bad-json no-date");
    check(text.to_owned() + ", <html>", DocumentFormat::JsonFeed, "/1", "bad-json no-date");
    let text = "{\"version\": \"https://jsonfeed.org/version/1\", \"items\": {}}";
    check(text, DocumentFormat::JsonFeed, "", "empty");
    check("{\"items\": 3}", DocumentFormat::Unknown, "", "json-no-feed");
    let long =
        format!("{{\"items\": [{{\"url\": \"{}\"}}, {{\"url\": \"/x\"}}]}}", "x".repeat(9 << 20));
    check(long, DocumentFormat::JsonFeed, "", "long-piece");
}

#[test]
fn feed_dates_are_tolerated() {
    let rss = |date: &str| {
        format!("<rss><channel><item><link>https://a.example/1</link>{date}</item></channel></rss>")
    };
    check(
        rss("<pubDate>2024-01-02T00:00:00Z</pubDate>"),
        DocumentFormat::Rss,
        "/1@0Exact",
        "odd-date",
    );
    check(
        rss("<pubDate>mar., 02 janv. 2024 00:00:00 GMT</pubDate>"),
        DocumentFormat::Rss,
        "/1@0Exact",
        "odd-date",
    );
    check(
        rss("<pubDate>Tue, 02 Jan 2024 00:00:00</pubDate>"),
        DocumentFormat::Rss,
        "/1@0NoZone",
        "no-zone",
    );
    check(
        rss("<pubDate>Tue, 32 Jan 2024 00:00:00 GMT</pubDate>"),
        DocumentFormat::Rss,
        "/1",
        "bad-date",
    );
    check(rss("<dc:date>2024-01-02T00:00:00Z</dc:date>"), DocumentFormat::Rss, "/1@0Exact", "");
    check(rss("<pubDate></pubDate>"), DocumentFormat::Rss, "/1", "no-date");
}

#[test]
fn a_changed_entry_without_a_date_has_another_fingerprint() {
    let one = |text: &str| {
        let text = format!("<rss><channel><item>{text}</item></channel></rss>");
        read_all(text.as_bytes(), limits()).0[0].fingerprint
    };
    let plain = one("<link>/1</link><title>A &amp; b</title><description>Text</description>");
    let same = [
        "<link>/1</link><title><![CDATA[A & b]]></title><description>Text</description>",
        "<link>/1</link>\n<title>A &#38; b</title>\n<description>Text</description><slash:comments>9</slash:comments>",
    ];
    for text in same {
        assert_eq!(one(text), plain, "{text}");
    }
    let other = [
        "<link>/1</link><title>A &amp; c</title><description>Text</description>",
        "<link>/1</link><title>A &amp; b</title><description>Texts</description>",
        "<link>/1</link><title>A &amp; bText</title><description></description>",
        "<link>/2</link><title>A &amp; b</title><description>Text</description>",
        "<link>/1</link><guid>x</guid><title>A &amp; b</title><description>Text</description>",
    ];
    for text in other {
        assert_ne!(one(text), plain, "{text}");
    }
}

#[test]
fn the_original_link_of_a_proxy_service_wins() {
    let text = "<rss xmlns:f='http://rssnamespace.org/feedburner/ext/1.0'><channel><item>
        <link>http://proxy.example/~r/1</link><f:origLink>https://a.example/1</f:origLink></item></channel></rss>";
    check(text, DocumentFormat::Rss, "/1", "no-date");
}
