//! Sitemaps, their indexes, and lists of URLs.

use std::ops::ControlFlow;

use freshet_signals::{Defect, Format, Limits, Url, read};

use crate::{BASE, NOW, check, check_within, limits, read_all, sitemap};

#[test]
fn the_example_of_the_protocol() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
        <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">
        <url><loc>https://a.example/?item=12&amp;desc=vacation</loc><lastmod>2024-01-02</lastmod>
        <changefreq>monthly</changefreq><priority>0.8</priority></url>
        <url><loc>https://a.example/b</loc><lastmod>2024-01-02T18:00:15+00:00</lastmod></url>
        <url><loc><![CDATA[https://a.example/c?d=1&e=2]]></loc><lastmod>2024-01</lastmod></url>
        </urlset>";
    let expect = "/?item=12&desc=vacation@0Day /b@64815Exact /c?d=1&e=2@-86400Month";
    check(text, Format::Sitemap, expect, "");
    assert!(read_all(text.as_bytes(), limits()).1.complete);
}

#[test]
fn an_index_has_parts() {
    let text = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>
        <sitemap><loc>https://a.example/1.gz</loc><lastmod>2024-01-03</lastmod></sitemap>
        <sitemap><loc>https://a.example/2.gz</loc></sitemap></sitemapindex>";
    check(text, Format::Index, "*/1.gz@86400Day */2.gz", "no-date");
    let inside = Limits { in_index: true, ..limits() };
    check_within(inside, text, Format::Index, "*/1.gz@86400Day */2.gz", "nested-index no-date");
}

#[test]
fn prefixes_and_other_vocabularies() {
    let text = "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'
        xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'
        xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>
        <s:url><s:loc>https://a.example/x</s:loc><s:lastmod>2024-01-02</s:lastmod>
        <image:image><image:loc>https://a.example/x.png</image:loc></image:image></s:url>
        <s:url><s:loc>https://a.example/y</s:loc><image><loc>https://a.example/y.png</loc></image>
        <n:news><n:publication><n:name>N</n:name></n:publication>
        <n:publication_date>2024-01-03</n:publication_date></n:news></s:url></s:urlset>";
    check(text, Format::Sitemap, "/x@0Day /y@86400Day", "");
}

#[test]
fn translations_are_no_addresses() {
    let text = sitemap(
        "<url><link rel='alternate' hreflang='de' href='https://a.example/de'/>
        <xhtml:link rel='alternate' hreflang='fr' href='https://a.example/fr'/>
        <loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>",
    );
    check(text, Format::Sitemap, "/x@0Day", "");
}

#[test]
fn of_news_the_later_date_counts() {
    let news = |lastmod: &str| {
        sitemap(&format!(
            "<url><loc>https://a.example/x</loc><lastmod>{lastmod}</lastmod><news:news>
            <news:publication_date>2024-01-02T12:00:00Z</news:publication_date></news:news></url>"
        ))
    };
    check(news("2024-01-02T11:00:00Z"), Format::Sitemap, "/x@43200Exact", "");
    check(news("2024-01-02T13:00:00Z"), Format::Sitemap, "/x@46800Exact", "");
    check(news("garbage"), Format::Sitemap, "/x@43200Exact", "bad-date");
}

#[test]
fn lists_of_urls() {
    let text = "https://a.example/x\r\n\n# a comment\n  https://a.example/y  \nhttp://b.example\n";
    check(text, Format::Lines, "/x /y http://b.example/", "other-host");
    check("https://a.example/x\nnot one\n/y\n", Format::Lines, "/x /y", "not-a-url relative-url");
    let long = format!(
        "https://a.example/x\nhttps://a.example/{}\nhttps://a.example/y",
        "z".repeat(1 << 16)
    );
    check(long, Format::Lines, "/x /y", "long-url");
    check("Sitemap\nhttps://a.example/x", Format::Lines, "/x", "not-a-url");
    check("ftp://a.example/x\nhttps://a.example/x", Format::Lines, "/x", "other-scheme");
}

#[test]
fn an_entry_that_says_something_new_has_another_fingerprint() {
    let one = |text: &str| {
        let (entries, _) = read_all(sitemap(&format!("<url>{text}</url>")).as_bytes(), limits());
        entries[0].fingerprint
    };
    let plain = one("<loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod>");
    let same = [
        "<loc>\nhttps://a.example/x\n</loc> <lastmod>2024-01-02</lastmod>",
        "<loc><![CDATA[https://a.example/x]]></loc><lastmod>2024-01-02</lastmod>",
        "<loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod><priority>1</priority>",
        "<loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod><changefreq>x</changefreq>",
    ];
    for text in same {
        assert_eq!(one(text), plain, "{text}");
    }
    let other = [
        "<loc>https://a.example/y</loc><lastmod>2024-01-02</lastmod>",
        "<loc>https://a.example/x</loc><lastmod>2024-01-03</lastmod>",
        "<loc>https://a.example/x</loc>",
        "<loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod>
        <image:image><image:loc>/x.png</image:loc></image:image>",
    ];
    for text in other {
        assert_ne!(one(text), plain, "{text}");
    }
}

#[test]
fn who_wants_no_more_is_told_no_more() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let mut told = 0;
    let base = Url::parse(BASE).unwrap();
    let report = read(&mut text.as_bytes(), &base, limits(), &mut |_| {
        told += 1;
        if told == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((told, report.entries, report.complete), (3, 3, false));
    assert!(!report.defects.has(Defect::CutOff));
}

#[test]
fn limits_are_kept() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let few = Limits { entries: 2, ..limits() };
    check_within(few, &text, Format::Sitemap, "/x /x", "too-many no-date×2");
    let short = Limits { bytes: 160, ..limits() };
    check_within(short, &text, Format::Sitemap, "/x /x", "too-large no-date×2");
    assert!(!read_all(text.as_bytes(), few).1.complete);
    assert!(!read_all(text.as_bytes(), short).1.complete);
    // A limit that is just met is no limit.
    let met = Limits { entries: 10, bytes: text.len() as u64, ..limits() };
    assert!(read_all(text.as_bytes(), met).1.complete);
}

#[test]
fn more_than_the_protocol_allows_is_named() {
    let many = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(50_001));
    let (entries, report) = read_all(many.as_bytes(), limits());
    assert_eq!((entries.len(), report.complete), (50_001, true));
    assert_eq!(report.defects.count(Defect::Over50000), 1);
    let large = sitemap(&("<!--".to_owned() + &"x".repeat(3 << 20) + "-->").repeat(18));
    let (_, report) = read_all(large.as_bytes(), limits());
    assert_eq!((report.defects.count(Defect::Over50Mb), report.complete), (1, true));
}

#[test]
fn dates_that_say_when_it_was_built() {
    let of = |dates: [&str; 3]| {
        let one = |date: &&str| {
            format!("<url><loc>https://a.example/x</loc><lastmod>{date}</lastmod></url>")
        };
        let (_, report) =
            read_all(sitemap(&dates.iter().map(one).collect::<String>()).as_bytes(), limits());
        crate::wrong(&report).join(" ")
    };
    assert_eq!(NOW % 86_400, 8 * 3600);
    assert_eq!(of(["2024-01-02", "2024-01-02", "2024-01-03"]), "");
    assert_eq!(of(["2024-01-02"; 3]), "same-dates");
    assert_eq!(of(["2027-01-15T07:58:00Z"; 3]), "same-dates dates-of-now");
    let made = ["2027-01-15T07:58:00Z", "2027-01-15T07:58:01Z", "2027-01-15T07:58:02Z"];
    assert_eq!(of(made), "dates-of-now");
    let one_old = ["2027-01-15T07:58:00Z", "2027-01-15T07:58:01Z", "2027-01-15T07:28:02Z"];
    assert_eq!(of(one_old), "");
}
