//! Properties that hold for any input.

use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use freshet_signals::{
    Defect, DocumentLimits, EntryTarget, Url, parse_link_headers, read_document,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{BASE, NOW};

const ENTRIES: u64 = 50;

/// Tokens that are special to one of the readers.
const TOKENS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "&",
    "&#x",
    ";",
    "\"",
    "'",
    "=",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "<item>",
    "</item>",
    "<entry>",
    "<link href='",
    "<![CDATA[",
    "]]>",
    "<?xml",
    "?>",
    "<!DOCTYPE a [",
    "xml:base='",
    "xmlns:",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\u",
    "\"items\":[",
    "\"url\":",
    "https://",
    "//",
    "\n",
    " ",
    "\0",
    "\u{feff}",
    "é",
    "\u{fffd}",
    "2024-02-30",
    "Tue, 02 Jan 2024 00:00:00 GMT",
    "<a:b>",
    "<urlset>",
    "</urlset>",
];

const DOCUMENTS: &[&str] = &[
    "<?xml version='1.0' encoding='UTF-8'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>\
     <url><loc>https://a.example/x?a=1&amp;b=2</loc><lastmod>2024-01-02T03:04:05Z</lastmod></url>\
     <url><loc>https://a.example/y</loc><lastmod>2024-01-02</lastmod></url></urlset>",
    "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><sitemap><loc>https://a.example/1.xml</loc>\
     </sitemap><sitemap><loc>https://a.example/2.xml</loc></sitemap></sitemapindex>",
    "<rss version='2.0'><channel><title>T</title><item><title>A</title><link>https://a.example/1</link>\
     <pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate><guid>1</guid></item></channel></rss>",
    "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='https://a.example/'><link rel='hub' href='https://h.example/'/>\
     <entry xml:base='x/'><link href='1'/><updated>2024-01-02T00:00:00Z</updated><id>urn:1</id></entry></feed>",
    "{\"version\":\"https://jsonfeed.org/version/1\",\"hubs\":[{\"url\":\"https://h.example/\"}],\"items\":\
     [{\"id\":\"1\",\"url\":\"https://a.example/1\",\"date_modified\":\"2024-01-02T00:00:00Z\"}]}",
    "https://a.example/1\nhttps://a.example/2\n",
];

/// Reads a document and checks its invariants; returns the entries and the report as text.
fn check_invariants(document: &[u8], chunk: usize) -> (Vec<String>, String) {
    let base = Url::parse(BASE).unwrap();
    let limits =
        DocumentLimits { max_entries: ENTRIES, max_bytes: 1 << 16, ..DocumentLimits::new(NOW) };
    let (mut entries, mut parts) = (Vec::new(), 0);
    let mut reader = BufReader::with_capacity(chunk, document.take(u64::MAX));
    let report = read_document(&mut reader, &base, limits, &mut |entry| {
        let url = Url::parse(&entry.url).unwrap();
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
        assert_eq!((url.fragment(), url.username(), url.password()), (None, "", None));
        assert_eq!(url.as_str(), entry.url);
        parts += u64::from(entry.target == EntryTarget::Sitemap);
        if let Some(date) = entry.date {
            assert!(date.possible_range().contains(&date.unix_seconds));
        }
        entries.push(format!("{entry:?}"));
        ControlFlow::Continue(())
    });
    assert_eq!((report.pages + report.sitemaps, report.sitemaps), (entries.len() as u64, parts));
    assert!(report.pages + report.sitemaps <= ENTRIES);
    // An incomplete or unknown document has a defect that explains it.
    if !report.is_complete {
        let why = [
            Defect::Empty,
            Defect::Html,
            Defect::NoFeed,
            Defect::Unknown,
            Defect::CutOff,
            Defect::BadGzip,
            Defect::GzipBomb,
            Defect::TooLarge,
            Defect::TooMany,
            Defect::BadJson,
            Defect::LongPiece,
        ];
        assert!(why.iter().any(|it| report.defects.contains(*it)), "{report:?}");
    }
    (entries, format!("{report:?}"))
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let sign = select(TOKENS).prop_map(|it| it.as_bytes().to_vec());
    let piece = prop_oneof![4 => sign, 1 => vec(any::<u8>(), 0..4)];
    let change = (any::<prop::sample::Index>(), 0..30_usize, piece, any::<bool>());
    (select(DOCUMENTS), vec(change, 0..8), any::<bool>(), any::<bool>()).prop_map(
        |(document, changes, wide, cut)| {
            let mut bytes = document.as_bytes().to_vec();
            for (place, length, piece, replace) in changes {
                let at = place.index(bytes.len() + 1);
                let end = if replace { (at + length).min(bytes.len()) } else { at };
                bytes.splice(at..end, piece);
            }
            if cut {
                bytes.truncate(bytes.len() * 3 / 4);
            }
            if wide {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn any_bytes_are_read(document in vec(any::<u8>(), 0..200), chunk in 1..64_usize) {
        check_invariants(&document, chunk);
    }

    #[test]
    fn any_tokens_are_read(tokens in vec(select(TOKENS), 0..60), chunk in 1..64_usize) {
        let document = tokens.concat();
        for root in ["", "<urlset>", "<rss>", "<feed>", "{\"items\":[{\"url\":\"", "https://a.example/\n"] {
            check_invariants((root.to_owned() + &document).as_bytes(), chunk);
        }
    }

    #[test]
    fn mutated_documents_are_read(document in mutated(), chunk in 1..64_usize) {
        // The result does not depend on the chunks.
        prop_assert_eq!(check_invariants(&document, chunk), check_invariants(&document, 1 << 16));
    }

    #[test]
    fn a_prefix_yields_a_prefix_of_the_entries(place in any::<prop::sample::Index>(), of in select(DOCUMENTS)) {
        let (whole, _) = check_invariants(of.as_bytes(), 1 << 16);
        let (part, _) = check_invariants(&of.as_bytes()[..place.index(of.len())], 1 << 16);
        // The last line of a list may be truncated.
        let certain_len = part.len().saturating_sub(usize::from(of.starts_with("https://")));
        prop_assert_eq!(&part[..certain_len], &whole[..certain_len]);
    }

    #[test]
    fn any_link_header_is_parsed(value in "[<>;,=\"\\\\a-z /:#]{0,80}|.{0,40}") {
        let base = Url::parse(BASE).unwrap();
        let found = parse_link_headers([value.as_str()], &base);
        for url in found.hubs.iter().chain(&found.self_url) {
            prop_assert!(matches!(url.scheme(), "http" | "https"));
        }
    }
}
