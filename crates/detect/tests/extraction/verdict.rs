//! Comparison of content with earlier content.

use freshet_detect::{ChangeVerdict, Document, diff};

use crate::detector;

fn page(words: &str, nonce: u32) -> String {
    format!("<html><p>{words}</p><script>{nonce}</script></html>")
}

#[track_caller]
fn check(settings: &str, old: &str, new: &str, expect: impl Fn(ChangeVerdict) -> bool) {
    let detector = detector(settings);
    let old = detector.extract(&Document::new(old.as_bytes()));
    let new = detector.extract(&Document::new(new.as_bytes()));
    let with_text = detector.compare(&old.signature(), Some(&old.text), &new);
    let without = detector.compare(&old.signature(), None, &new);
    assert!(expect(with_text), "{with_text:?}");
    assert_eq!(std::mem::discriminant(&with_text), std::mem::discriminant(&without));
}

#[test]
fn each_kind_of_change_has_its_verdict() {
    let words = "one two three four five six seven eight nine ten";
    let changed = words.replace("ten", "eleven");
    check("", &page(words, 1), &page(words, 1), |it| it == ChangeVerdict::SameBytes);
    check("", &page(words, 1), &page(words, 2), |it| it == ChangeVerdict::SameContent);
    check("", &page(words, 1), &page(&changed, 1), |it| {
        it == ChangeVerdict::Changed { similarity: 0.9 }
    });
    check("below = 0.2", &page(words, 1), &page(&changed, 1), |it| {
        it == ChangeVerdict::Slight { similarity: 0.9 }
    });
    check("below = 0.05", &page(words, 1), &page(&changed, 1), |it| it.is_change());
    check("", "\0a", "\0b", |it| it == ChangeVerdict::Changed { similarity: 0.0 });
    check("below = 0.9", "\0a", "\0b", |it| it.is_change());
}

#[test]
fn another_kind_of_document_is_a_change() {
    check(
        "below = 0.9",
        "<html><p>words of a page</p></html>",
        "{\"words\": \"of a page\"}",
        |it| it.is_change(),
    );
}

#[test]
fn content_of_other_settings_is_incomparable() {
    let old = detector("").extract(&Document::new(b"<html><p>a</p>"));
    let other = detector("ignore = ['case']");
    let new = other.extract(&Document::new(b"<html><p>b</p>"));
    assert_eq!(other.compare(&old.signature(), None, &new), ChangeVerdict::Incomparable);
    let same = other.extract(&Document::new(b"<html><p>a</p>"));
    assert_eq!(other.compare(&old.signature(), None, &same), ChangeVerdict::SameBytes);
    // The threshold does not affect extraction.
    let with_threshold = detector("below = 0.5");
    assert!(
        with_threshold
            .compare(
                &old.signature(),
                None,
                &with_threshold.extract(&Document::new(b"<html><p>b</p>"))
            )
            .is_change()
    );
}

#[test]
fn a_diff_has_the_changed_lines_and_words() {
    let detector = detector("");
    let text = |page: &str| detector.extract(&Document::new(page.as_bytes())).text;
    let old = text("<html><h1>Kettle</h1><p>It costs 12 €.</p><ul><li>Steel<li>Blue</ul>");
    let new = text("<html><h1>Kettle</h1><p>It costs 13 €.</p><ul><li>Steel<li>Light<li>Blue</ul>");
    let found = diff(&old, &new);
    assert_eq!(
        found.unified(0),
        "@@ -2,1 +2,1 @@\n-It costs 12 €.\n+It costs 13 €.\n@@ -3,0 +4,1 @@\n+Light\n"
    );
    assert_eq!(found.words(), "It costs [-12-]{+13+} €.\n{+Light+}\n");
}
