//! Atom feeds.

use freshet_notify::atom::{FeedMetadata, format_feed};
use freshet_store::{Change, ChangeKind, NewChange};

fn change(cursor: i64, url: &str, summary: &str) -> Change {
    Change {
        cursor,
        kind: ChangeKind::Changed,
        source: 7,
        url: url.to_owned(),
        host: "example.com".to_owned(),
        tags: vec!["<news>".to_owned()],
        importance: 1.0,
        change: NewChange {
            last_unchanged_at: Some(0),
            first_changed_at: cursor * 1000,
            old_digest: Some([1; 16]),
            new_digest: [2; 16],
            old_size: Some(1),
            new_size: 2,
            similarity: 0.5,
            summary: summary.to_owned(),
        },
        old_version: Some(1),
        new_version: Some(2),
    }
}

fn metadata<'a>(identity: &'a str, url: &'a str) -> FeedMetadata<'a> {
    FeedMetadata { identity, title: "All & more", url, base: "http://127.0.0.1:1", created_at: 5 }
}

/// Returns the texts of all elements with a name, read with an XML parser.
fn texts(xml: &str, name: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let (mut found, mut open) = (Vec::new(), None::<String>);
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Start(it) if it.name().as_ref() == name => {
                open = Some(String::new());
            }
            quick_xml::events::Event::End(it) if it.name().as_ref() == name => {
                found.extend(open.take());
            }
            quick_xml::events::Event::Text(it) => {
                if let Some(text) = &mut open {
                    text.push_str(&it);
                }
            }
            quick_xml::events::Event::GeneralRef(it) => {
                if let Some(text) = &mut open {
                    text.push_str(&format!("&{};", &*it));
                }
            }
            quick_xml::events::Event::Eof => return found,
            _ => {}
        }
    }
}

#[test]
fn a_change_has_the_same_id_in_every_feed() {
    let changes = [change(2, "https://a/", "b"), change(1, "https://a/", "a")];
    let all = texts(&format_feed(&metadata("store", "http://x/all"), &changes), "id");
    let one = texts(&format_feed(&metadata("store", "http://x/one"), &changes[1..]), "id");
    let other = texts(&format_feed(&metadata("other", "http://x/all"), &changes), "id");
    assert_eq!((all.len(), one.len()), (3, 2));
    assert_ne!(all[1], all[2]);
    assert_eq!(all[2], one[1]);
    assert_ne!(all[0], one[0]);
    assert!(other.iter().all(|id| !all.contains(id)));
    assert!(all.iter().all(|id| id.starts_with("urn:uuid:") && id.len() == 45));
}

#[test]
fn remote_content_is_escaped() {
    let hostile =
        "</title><script>alert('x')</script>]]>&amp;\u{0}\u{b}\u{1b}[2J\u{ffff}\u{fffe}é\n";
    let xml = format_feed(
        &metadata("store", "http://x/?a=1&b=\"2\""),
        &[change(1, "https://a/<b>", hostile)],
    );
    assert!(!xml.contains("<script>"));
    assert!(!xml.chars().any(|it| it.is_control() && it != '\n'), "{xml:?}");
    let contents = texts(&xml, "content");
    assert!(contents[0].contains("é") && contents[0].contains("&amp;amp;"), "{contents:?}");
    assert_eq!(texts(&xml, "title").len(), 2);
}

#[test]
fn a_feed_has_the_time_of_its_newest_entry() {
    let some = format_feed(&metadata("s", "http://x/"), &[change(2, "https://a/", "")]);
    assert_eq!(texts(&some, "updated")[0], "1970-01-01T00:00:02.000Z");
    assert!(some.contains("href=\"http://127.0.0.1:1/v1/sources/7/diff?from=1&amp;to=2\""));
    let none = format_feed(&metadata("s", "http://x/"), &[]);
    assert_eq!(texts(&none, "updated"), ["1970-01-01T00:00:00.005Z"]);
}
