//! Sitemaps, sitemap indexes and lists of URLs.

use std::ops::ControlFlow;

use freshet_signals::{Defect, DocumentFormat, DocumentLimits, Url, read_document};

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
    check(text, DocumentFormat::Sitemap, expect, "");
    assert!(read_all(text.as_bytes(), limits()).1.is_complete);
}

#[test]
fn an_index_has_parts() {
    let text = "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>
        <sitemap><loc>https://a.example/1.gz</loc><lastmod>2024-01-03</lastmod></sitemap>
        <sitemap><loc>https://a.example/2.gz</loc></sitemap></sitemapindex>";
    check(text, DocumentFormat::SitemapIndex, "*/1.gz@86400Day */2.gz", "no-date");
    let inside = DocumentLimits { in_index: true, ..limits() };
    check_within(
        inside,
        text,
        DocumentFormat::SitemapIndex,
        "*/1.gz@86400Day */2.gz",
        "nested-index no-date",
    );
}

#[test]
fn namespace_prefixes_and_extensions_are_handled() {
    let text = "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'
        xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'
        xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>
        <s:url><s:loc>https://a.example/x</s:loc><s:lastmod>2024-01-02</s:lastmod>
        <image:image><image:loc>https://a.example/x.png</image:loc></image:image></s:url>
        <s:url><s:loc>https://a.example/y</s:loc><image><loc>https://a.example/y.png</loc></image>
        <n:news><n:publication><n:name>N</n:name></n:publication>
        <n:publication_date>2024-01-03</n:publication_date></n:news></s:url></s:urlset>";
    check(text, DocumentFormat::Sitemap, "/x@0Day /y@86400Day", "");
}

#[test]
fn translation_links_are_not_addresses() {
    let text = sitemap(
        "<url><link rel='alternate' hreflang='de' href='https://a.example/de'/>
        <xhtml:link rel='alternate' hreflang='fr' href='https://a.example/fr'/>
        <loc>https://a.example/x</loc><lastmod>2024-01-02</lastmod></url>",
    );
    check(text, DocumentFormat::Sitemap, "/x@0Day", "");
}

#[test]
fn the_later_date_of_a_news_entry_counts() {
    let news = |lastmod: &str| {
        sitemap(&format!(
            "<url><loc>https://a.example/x</loc><lastmod>{lastmod}</lastmod><news:news>
            <news:publication_date>2024-01-02T12:00:00Z</news:publication_date></news:news></url>"
        ))
    };
    check(news("2024-01-02T11:00:00Z"), DocumentFormat::Sitemap, "/x@43200Exact", "");
    check(news("2024-01-02T13:00:00Z"), DocumentFormat::Sitemap, "/x@46800Exact", "");
    check(news("garbage"), DocumentFormat::Sitemap, "/x@43200Exact", "bad-date");
}

#[test]
fn lists_of_urls() {
    let text = "https://a.example/x\r\n\n# a comment\n  https://a.example/y  \nhttp://b.example\n";
    check(text, DocumentFormat::UrlList, "/x /y http://b.example/", "other-host");
    check(
        "https://a.example/x\nnot one\n/y\n",
        DocumentFormat::UrlList,
        "/x /y",
        "not-a-url relative-url",
    );
    let long = format!(
        "https://a.example/x\nhttps://a.example/{}\nhttps://a.example/y",
        "z".repeat(1 << 16)
    );
    check(long, DocumentFormat::UrlList, "/x /y", "long-url");
    check("Sitemap\nhttps://a.example/x", DocumentFormat::UrlList, "/x", "not-a-url");
    check("ftp://a.example/x\nhttps://a.example/x", DocumentFormat::UrlList, "/x", "other-scheme");
}

#[test]
fn a_changed_entry_has_another_fingerprint() {
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
fn the_callback_can_stop_the_reading() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let mut entry_count = 0;
    let base = Url::parse(BASE).unwrap();
    let report = read_document(&mut text.as_bytes(), &base, limits(), &mut |_| {
        entry_count += 1;
        if entry_count == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((entry_count, report.pages, report.is_complete), (3, 3, false));
    assert!(!report.defects.contains(Defect::CutOff));
}

#[test]
fn limits_are_enforced() {
    let text = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(10));
    let few_entries = DocumentLimits { max_entries: 2, ..limits() };
    check_within(few_entries, &text, DocumentFormat::Sitemap, "/x /x", "too-many no-date×2");
    let short = DocumentLimits { max_bytes: 160, ..limits() };
    check_within(short, &text, DocumentFormat::Sitemap, "/x /x", "too-large no-date×2");
    assert!(!read_all(text.as_bytes(), few_entries).1.is_complete);
    assert!(!read_all(text.as_bytes(), short).1.is_complete);
    // A limit that is exactly met has no effect.
    let exact_limits = DocumentLimits { max_entries: 10, max_bytes: text.len() as u64, ..limits() };
    assert!(read_all(text.as_bytes(), exact_limits).1.is_complete);
}

#[test]
fn exceeding_the_protocol_is_a_defect() {
    let many = sitemap(&"<url><loc>https://a.example/x</loc></url>".repeat(50_001));
    let (entries, report) = read_all(many.as_bytes(), limits());
    assert_eq!((entries.len(), report.is_complete), (50_001, true));
    assert_eq!(report.defects.count(Defect::Over50000), 1);
    let large = sitemap(&("<!--".to_owned() + &"x".repeat(3 << 20) + "-->").repeat(18));
    let (_, report) = read_all(large.as_bytes(), limits());
    assert_eq!((report.defects.count(Defect::Over50Mb), report.is_complete), (1, true));
}

#[test]
fn generation_dates_are_a_defect() {
    let of = |dates: [&str; 3]| {
        let one = |date: &&str| {
            format!("<url><loc>https://a.example/x</loc><lastmod>{date}</lastmod></url>")
        };
        let (_, report) =
            read_all(sitemap(&dates.iter().map(one).collect::<String>()).as_bytes(), limits());
        crate::format_defects(&report).join(" ")
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
