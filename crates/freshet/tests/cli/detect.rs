//! `freshet detect`.

use crate::{Folder, number};

const OLD: &str = "<html><title>Store</title><nav><a href=/>Home</a></nav><main><h1>Kettle</h1>\
    <p>Price: 12.99 €</p><p>3 minutes ago</p></main><script>nonce = 1</script></html>";

fn folder() -> Folder {
    let noise = OLD.replace("nonce = 1", "nonce = 2").replace("3 minutes", "4 minutes");
    let new = OLD.replace("12.99", "13.49");
    Folder::new(&[
        ("old.html", OLD),
        ("noise.html", &noise),
        ("new.html", &new),
        ("a.json", "{\"b\": [1, 2.50], \"a\": \"x\"}"),
        ("b.json", "{\"a\": \"x\", \"b\": [1, 3]}"),
        ("settings.toml", "select = ['h1']\nignore = ['case']\n"),
        ("wrong.toml", "\nselct = ['h1']\n"),
        ("type.toml", "noise = true\nbelow = \"x\"\n"),
    ])
}

#[test]
fn the_compared_content_is_printed() {
    let ran = folder().run("detect old.html --why");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Store\nKettle\nPrice: 12.99 €\n"));
    for part in ["old.html: html", "the main text", "navigation  Home", "counter  3 minutes ago"] {
        assert!(ran.err.contains(part), "{}", ran.err);
    }
    let ran = folder().run("detect a.json");
    assert_eq!(ran.out, "/a: \"x\"\n/b/+: 1\n/b/+: 2.5\n");
    let report = folder().json("detect old.html --why");
    assert_eq!(report["text"], "Store\nKettle\nPrice: 12.99 €\n");
    assert_eq!(report["left_out"][0]["reason"], "navigation");
}

#[test]
fn exit_codes_say_whether_it_changed() {
    let folder = folder();
    let same = folder.run("detect old.html old.html");
    assert_eq!((same.code, same.out.as_str()), (Some(0), ""));
    assert!(same.err.contains("the bytes are identical"), "{}", same.err);
    let noise = folder.run("detect old.html noise.html");
    assert_eq!((noise.code, noise.out.as_str()), (Some(0), ""));
    assert!(noise.err.contains("not the compared content"), "{}", noise.err);
    let changed = folder.run("detect old.html new.html");
    assert_eq!(changed.code, Some(1));
    assert!(changed.out.contains("-Price: 12.99 €\n+Price: 13.49 €\n"), "{}", changed.out);
    let slight = folder.run("detect old.html new.html --below 50%");
    assert_eq!(slight.code, Some(0));
    assert!(slight.err.starts_with("slight: 80.0 %"), "{}", slight.err);
    assert_eq!(folder.run("detect old.html missing.html").code, Some(2));
}

#[test]
fn differences_in_other_forms() {
    let folder = folder();
    let words = folder.run("detect old.html new.html --diff words");
    assert_eq!(words.out, "Price: [-12.99-]{+13.49+} €\n");
    let side = folder.run("detect old.html new.html --diff side");
    assert!(
        side.out
            .lines()
            .any(|it| it.starts_with("Price: 12.99 €") && it.ends_with("| Price: 13.49 €"))
    );
    assert_eq!(folder.run("detect old.html new.html --diff none").out, "");
    let ran = folder.run("detect a.json b.json --json");
    assert_eq!(ran.code, Some(1));
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["verdict"], "changed");
    assert_eq!(report["rows"][0]["change"], "changed");
    assert!(number(&report, "similarity").unwrap() < 1.0);
}

#[test]
fn selectors_and_settings() {
    let folder = folder();
    assert_eq!(
        folder.run("detect old.html --select h1 --select p --drop p:nth-child(3)").out,
        "Kettle\nPrice: 12.99 €\n"
    );
    assert_eq!(folder.run("detect a.json --pointer /b/1").out, "2.5\n");
    assert_eq!(folder.run("detect a.json --path $.b[*]").out, "1\n2.5\n");
    assert_eq!(folder.run("detect old.html --settings settings.toml").out, "kettle\n");
    // The command line comes before the file.
    assert_eq!(
        folder.run("detect old.html --settings settings.toml --select p").out,
        "price: 12.99 €\n"
    );
}

#[test]
fn errors_name_the_location_and_have_hints() {
    let folder = folder();
    let error = |arguments: &str| {
        let ran = folder.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}");
        assert!(
            ran.err.contains("hint: ") || ran.err.contains("For more information"),
            "{}",
            ran.err
        );
        ran.err
    };
    assert!(
        error("detect old.html --select p:foo")
            .contains("detect.select[0]: unknown pseudo-class `:foo`, after 1 characters")
    );
    assert!(
        error("detect old.html --ignore-text (").contains("detect.ignore_text[0]: unclosed group")
    );
    assert!(
        error("detect old.html --settings wrong.toml")
            .contains("wrong.toml:2: unknown field `selct`")
    );
    assert!(
        error("detect old.html --settings none.toml")
            .contains("cannot read the settings none.toml")
    );
    assert!(
        error("detect old.html --settings type.toml")
            .contains("type.toml:2: below: `x` is not a share: 0.05 is 5 %")
    );
    assert!(error("detect old.html --charset klingon").contains("unknown charset `klingon`"));
    assert!(error("detect none.html").contains("cannot read none.html"));
    assert!(
        error("detect ftp://h/x").contains("cannot read ftp://h/x: ftp URLs are not supported")
    );
    assert!(error("detect file:///x.html").contains("hint: give only the path: `/x.html`"));
    assert!(error("detect https://example.org/").contains("cannot fetch https://example.org/"));
    assert!(error("detect - -").contains("standard input can be read only once"));
    assert!(error("detect old.html --below 5").contains("from 0 to 1"));
}

#[test]
fn unmatched_selectors_and_invalid_documents_are_reported() {
    let folder = folder();
    let ran = folder.run("detect old.html --select .none --select h1");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Kettle\n"));
    assert!(ran.err.contains("old.html: nothing matches `.none`"), "{}", ran.err);
    let ran = folder.run("detect old.html new.html --drop .none --diff none");
    assert!(ran.err.contains("new.html: nothing matches `.none`"), "{}", ran.err);
    let ran = folder.run("detect old.html --kind json");
    assert!(ran.err.contains("old.html: not valid json"), "{}", ran.err);
    let report = folder.json("detect old.html --kind json --select $.a");
    assert_eq!((&report["as_text"], &report["unmatched"][0]), (&true.into(), &"$.a".into()));
}

#[test]
fn changed_content_is_never_a_hundred_percent_the_same() {
    let words: Vec<String> = (0..5000).map(|it| format!("word{it}")).collect();
    let text = words.join(" ");
    let folder = Folder::new(&[
        ("a.txt", &text),
        ("b.txt", &text.replace("word77 ", "other ")),
        ("c.txt", &text.replace("word1 word2 ", "word2 word1 ")),
    ]);
    let ran = folder.run("detect a.txt b.txt --diff words");
    assert!(ran.err.starts_with("changed: 99.9 % of the words are the same"), "{}", ran.err);
    assert!(ran.out.contains("[-word77-]{+other+}") && ran.out.len() < 6000, "{}", ran.out.len());
    let ran = folder.run("detect a.txt c.txt --diff none");
    assert!(ran.err.starts_with("changed: the same words in a different order"), "{}", ran.err);
}
