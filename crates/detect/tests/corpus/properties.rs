//! Properties of all pages.

use freshet_detect::{Detector, Document};
use proptest::prelude::*;

use crate::extract;
use crate::page::Page;
use crate::pages::pages;

/// Words that no rule knows.
fn word() -> impl Strategy<Value = String> {
    "[bcdfghklmnprst][aeiou][bcdfghklmnprst][aeiou]{1,2}[lnrst]"
}

fn paragraph() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 8..40)
}

fn page() -> impl Strategy<Value = Page> {
    let count = pages().len();
    (0..count).prop_map(|at| pages().swap_remove(at))
}

proptest! {
    #[test]
    fn a_changed_word_is_detected(
        page in page(),
        text in paragraph(),
        place in any::<prop::sample::Index>(),
        other in "[jvwxz][aeiou][jvwxz][aeiou]",
    ) {
        let with = |words: &[String]| {
            let paragraph = format!("<p>{}.</p>", words.join(" "));
            page.fill(|slot| if slot == "within" { paragraph.clone() } else { String::new() }, None)
        };
        let mut changed = text.clone();
        changed[place.index(text.len())] = other;
        let (old, new) = (extract(&with(&text)), extract(&with(&changed)));
        prop_assert!(old.text.contains(&text.join(" ")), "{}: {}", page.name, old.text);
        prop_assert_ne!(old.digests.fingerprint, new.digests.fingerprint);
    }

    #[test]
    fn extracting_extracted_text_changes_nothing(page in page(), text in paragraph()) {
        let html = page.fill(|slot| if slot == "within" { format!("<p>{}</p>", text.join(" ")) } else { String::new() }, None);
        let once = extract(&html).text;
        let twice = Detector::default().extract(&Document {
            bytes: once.as_bytes(),
            content_type: Some("text/plain"),
            charset: None,
        });
        prop_assert_eq!(&twice.text, &once);
    }
}
