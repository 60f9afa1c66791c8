//! Layers of settings, and what is wrong with them.

use freshet_detect::{Detector, Document, Layer, RawSettings, Settings};

fn raw(toml: &str) -> RawSettings {
    toml::from_str(toml).unwrap()
}

#[test]
fn the_source_comes_before_the_pattern_and_the_pattern_before_all() {
    let (source, pattern, global) = (
        raw("select = ['b']"),
        raw("select = ['i']\nignore = ['case']"),
        raw("ignore = ['numbers']\nnoise = true"),
    );
    let layers = [
        Layer { name: "source", settings: &source },
        Layer { name: "pattern", settings: &pattern },
        Layer { name: "global", settings: &global },
    ];
    let detector = Detector::new(Settings::resolve(&layers).unwrap());
    let page = Document::new(b"<html><b>Bold 12</b><i>Italic</i><b>3 views</b>");
    assert_eq!(detector.read(&page).text, "bold 123 views\n");
}

#[track_caller]
fn refuse(toml: &str, message: &str) {
    let raw = raw(toml);
    let error = Settings::resolve(&[Layer { name: "source x", settings: &raw }]).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn the_field_that_is_wrong_is_named() {
    refuse(
        "select = ['p', 'a >']",
        "source x: detect.select[1]: a name, `.class`, `#id` or `[attribute]` is missing at the end, after 3 characters of `a >`",
    );
    refuse(
        "drop = ['/a~']",
        "source x: detect.drop[0]: `~` stands for nothing: write `~0` for `~`, `~1` for `/`, after 1 characters of `/a~`",
    );
    refuse("ignore_text = ['x', '(']", "source x: detect.ignore_text[1]: unclosed group in `(`");
    refuse(
        "ignore = ['colour']",
        "source x: detect.ignore: there is no `colour`, only case, space, numbers, dates, order",
    );
    refuse(
        "kind = 'word'",
        "source x: detect.kind: there is no `word`, only html, json, xml, text, pdf, bytes",
    );
    refuse("text = 'all'", "source x: detect.text: there is no `all`, only main, visible");
    refuse("below = 5.0", "source x: detect.below: 5 is not between 0 and 1");
    refuse("below = nan", "source x: detect.below: NaN is not between 0 and 1");
    let many = format!("select = ['{}']", vec!["a"; 200].join(" "));
    refuse(&many, "source x: detect.select: the selectors have more than 128 parts in all");
    let huge = format!("keep_text = ['{}']", "(a{1000}){1000}");
    let raw = raw(&huge);
    assert!(Settings::resolve(&[Layer { name: "x", settings: &raw }]).is_err());
}

#[test]
fn a_setting_that_does_not_exist_is_an_error() {
    let error = toml::from_str::<RawSettings>("selct = ['p']").unwrap_err();
    assert!(error.message().contains("unknown field `selct`"), "{error}");
}

#[test]
fn a_share_may_be_in_percent() {
    for toml in ["below = 0.05", "below = '5%'", "below = ' 5 % '", "below = '0.05'"] {
        assert_eq!(raw(toml).below, Some(0.05), "{toml}");
    }
    for toml in ["below = 'much'", "below = '%'", "below = true"] {
        let error = toml::from_str::<RawSettings>(toml).unwrap_err().to_string();
        assert!(error.contains("not a share: 0.05 is 5 %"), "{toml}: {error}");
    }
}
