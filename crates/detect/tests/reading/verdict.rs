//! Whether what matters changed.

use freshet_detect::{Document, Verdict, diff};

use crate::detector;

fn page(words: &str, nonce: u32) -> String {
    format!("<html><p>{words}</p><script>{nonce}</script></html>")
}

#[track_caller]
fn check(settings: &str, old: &str, new: &str, expect: impl Fn(Verdict) -> bool) {
    let detector = detector(settings);
    let old = detector.read(&Document::new(old.as_bytes()));
    let new = detector.read(&Document::new(new.as_bytes()));
    let with_text = detector.judge(&old.stored(), Some(&old.text), &new);
    let without = detector.judge(&old.stored(), None, &new);
    assert!(expect(with_text), "{with_text:?}");
    assert_eq!(std::mem::discriminant(&with_text), std::mem::discriminant(&without));
}

#[test]
fn each_verdict() {
    let words = "one two three four five six seven eight nine ten";
    let changed = words.replace("ten", "eleven");
    check("", &page(words, 1), &page(words, 1), |it| it == Verdict::SameBytes);
    check("", &page(words, 1), &page(words, 2), |it| it == Verdict::SameContent);
    check("", &page(words, 1), &page(&changed, 1), |it| it == Verdict::Changed { similarity: 0.9 });
    check("below = 0.2", &page(words, 1), &page(&changed, 1), |it| {
        it == Verdict::Slight { similarity: 0.9 }
    });
    check("below = 0.05", &page(words, 1), &page(&changed, 1), |it| it.is_change());
    check("", "\0a", "\0b", |it| it == Verdict::Changed { similarity: 0.0 });
    check("below = 0.9", "\0a", "\0b", |it| it.is_change());
}

#[test]
fn a_page_that_became_something_else_has_changed() {
    check(
        "below = 0.9",
        "<html><p>words of a page</p></html>",
        "{\"words\": \"of a page\"}",
        |it| it.is_change(),
    );
}

#[test]
fn other_settings_cannot_be_compared() {
    let old = detector("").read(&Document::new(b"<html><p>a</p>"));
    let other = detector("ignore = ['case']");
    let new = other.read(&Document::new(b"<html><p>b</p>"));
    assert_eq!(other.judge(&old.stored(), None, &new), Verdict::Incomparable);
    let same = other.read(&Document::new(b"<html><p>a</p>"));
    assert_eq!(other.judge(&old.stored(), None, &same), Verdict::SameBytes);
    // How much is slight is no matter of reading.
    let patient = detector("below = 0.5");
    assert!(
        patient
            .judge(&old.stored(), None, &patient.read(&Document::new(b"<html><p>b</p>")))
            .is_change()
    );
}

#[test]
fn a_diff_shows_what_changed() {
    let detector = detector("");
    let text = |page: &str| detector.read(&Document::new(page.as_bytes())).text;
    let old = text("<html><h1>Kettle</h1><p>It costs 12 €.</p><ul><li>Steel<li>Blue</ul>");
    let new = text("<html><h1>Kettle</h1><p>It costs 13 €.</p><ul><li>Steel<li>Light<li>Blue</ul>");
    let found = diff(&old, &new);
    assert_eq!(
        found.unified(0),
        "@@ -2,1 +2,1 @@\n-It costs 12 €.\n+It costs 13 €.\n@@ -3,0 +4,1 @@\n+Light\n"
    );
    assert_eq!(found.words(), "It costs [-12-]{+13+} €.\n{+Light+}\n");
}
