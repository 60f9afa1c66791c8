//! Layers of settings, and errors in them.

use freshet_detect::{DetectSettings, Detector, Document, RawDetectSettings, SettingsLayer};

fn raw(toml: &str) -> RawDetectSettings {
    toml::from_str(toml).unwrap()
}

#[test]
fn the_most_specific_layer_decides() {
    let (source, pattern, global) = (
        raw("select = ['b']"),
        raw("select = ['i']\nignore = ['case']"),
        raw("ignore = ['numbers']\nnoise = true"),
    );
    let layers = [
        SettingsLayer { name: "source", settings: &source },
        SettingsLayer { name: "pattern", settings: &pattern },
        SettingsLayer { name: "global", settings: &global },
    ];
    let detector = Detector::new(DetectSettings::resolve(&layers).unwrap());
    let page = Document::new(b"<html><b>Bold 12</b><i>Italic</i><b>3 views</b>");
    assert_eq!(detector.extract(&page).text, "bold 123 views\n");
}

#[track_caller]
fn check_error(toml: &str, message: &str) {
    let raw = raw(toml);
    let error =
        DetectSettings::resolve(&[SettingsLayer { name: "source x", settings: &raw }]).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_error_names_the_layer_and_the_field() {
    check_error(
        "select = ['p', 'a >']",
        "source x: detect.select[1]: a name, `.class`, `#id` or `[attribute]` is missing at the end, after 3 characters of `a >`",
    );
    check_error(
        "drop = ['/a~']",
        "source x: detect.drop[0]: invalid escape `~`: write `~0` for `~`, `~1` for `/`, after 1 characters of `/a~`",
    );
    check_error(
        "ignore_text = ['x', '(']",
        "source x: detect.ignore_text[1]: unclosed group in `(`",
    );
    check_error(
        "ignore = ['colour']",
        "source x: detect.ignore: unknown value `colour`; expected case, space, numbers, dates, order",
    );
    check_error(
        "kind = 'word'",
        "source x: detect.kind: unknown value `word`; expected html, json, xml, text, pdf, bytes",
    );
    check_error(
        "text = 'all'",
        "source x: detect.text: unknown value `all`; expected main, visible",
    );
    check_error("below = 5.0", "source x: detect.below: 5 is not between 0 and 1");
    check_error("below = nan", "source x: detect.below: NaN is not between 0 and 1");
    let many = format!("select = ['{}']", vec!["a"; 200].join(" "));
    check_error(&many, "source x: detect.select: the selectors have more than 128 parts in total");
    let huge = format!("keep_text = ['{}']", "(a{1000}){1000}");
    let raw = raw(&huge);
    assert!(DetectSettings::resolve(&[SettingsLayer { name: "x", settings: &raw }]).is_err());
}

#[test]
fn an_unknown_field_is_an_error() {
    let error = toml::from_str::<RawDetectSettings>("selct = ['p']").unwrap_err();
    assert!(error.message().contains("unknown field `selct`"), "{error}");
}

#[test]
fn a_share_may_be_in_percent() {
    for toml in ["below = 0.05", "below = '5%'", "below = ' 5 % '", "below = '0.05'"] {
        assert_eq!(raw(toml).below, Some(0.05), "{toml}");
    }
    for toml in ["below = 'much'", "below = '%'", "below = true"] {
        let error = toml::from_str::<RawDetectSettings>(toml).unwrap_err().to_string();
        assert!(error.contains("not a share: 0.05 is 5 %"), "{toml}: {error}");
    }
}
