//! What holds for any bytes.

use std::io::{BufReader, Read};
use std::ops::ControlFlow;

use freshet_signals::{Defect, Kind, Limits, Url, links, read};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{BASE, NOW};

const ENTRIES: u64 = 50;

/// Signs that mean something to one of the readers.
const SIGNS: &[&str] = &[
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

/// Reads a document and checks all that must hold; gives what was told and the names of its defects.
fn hold(document: &[u8], chunk: usize) -> (Vec<String>, String) {
    let base = Url::parse(BASE).unwrap();
    let limits = Limits { entries: ENTRIES, bytes: 1 << 16, ..Limits::at(NOW) };
    let (mut told, mut parts) = (Vec::new(), 0);
    let mut reader = BufReader::with_capacity(chunk, document.take(u64::MAX));
    let report = read(&mut reader, &base, limits, &mut |entry| {
        let url = Url::parse(&entry.url).unwrap();
        assert!(matches!(url.scheme(), "http" | "https") && url.has_host());
        assert_eq!((url.fragment(), url.username(), url.password()), (None, "", None));
        assert_eq!(url.as_str(), entry.url);
        parts += u64::from(entry.kind == Kind::Part);
        if let Some(said) = entry.changed {
            assert!(said.span().contains(&said.at));
        }
        told.push(format!("{entry:?}"));
        ControlFlow::Continue(())
    });
    assert_eq!((report.entries + report.parts, report.parts), (told.len() as u64, parts));
    assert!(report.entries + report.parts <= ENTRIES);
    // What was not read to its end says why, and what was not understood too.
    if !report.complete {
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
        assert!(why.iter().any(|it| report.defects.has(*it)), "{report:?}");
    }
    (told, format!("{report:?}"))
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let sign = select(SIGNS).prop_map(|it| it.as_bytes().to_vec());
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
    fn any_bytes(document in vec(any::<u8>(), 0..200), chunk in 1..64_usize) {
        hold(&document, chunk);
    }

    #[test]
    fn signs_in_any_order(signs in vec(select(SIGNS), 0..60), chunk in 1..64_usize) {
        let document = signs.concat();
        for root in ["", "<urlset>", "<rss>", "<feed>", "{\"items\":[{\"url\":\"", "https://a.example/\n"] {
            hold((root.to_owned() + &document).as_bytes(), chunk);
        }
    }

    #[test]
    fn documents_that_were_damaged(document in mutated(), chunk in 1..64_usize) {
        // However the bytes come, it is the same document.
        prop_assert_eq!(hold(&document, chunk), hold(&document, 1 << 16));
    }

    #[test]
    fn a_beginning_tells_a_beginning(place in any::<prop::sample::Index>(), of in select(DOCUMENTS)) {
        let (whole, _) = hold(of.as_bytes(), 1 << 16);
        let (part, _) = hold(&of.as_bytes()[..place.index(of.len())], 1 << 16);
        // The last line of a list may be cut in its middle.
        let sure = part.len().saturating_sub(usize::from(of.starts_with("https://")));
        prop_assert_eq!(&part[..sure], &whole[..sure]);
    }

    #[test]
    fn any_header(value in "[<>;,=\"\\\\a-z /:#]{0,80}|.{0,40}") {
        let base = Url::parse(BASE).unwrap();
        let found = links([value.as_str()], &base);
        for url in found.hub.iter().chain(&found.itself) {
            prop_assert!(matches!(url.scheme(), "http" | "https"));
        }
    }
}
