//! Files that want to be expensive. A blow-up would not end within the time of a test.

use freshet_fetch::Robots;

#[test]
fn stars_do_not_blow_up() {
    let path = format!("/{}", "a".repeat(16_000));
    for rule in ["/*a".repeat(8_000), format!("/{}b", "*a".repeat(12_000)), "*a*".repeat(9_000)] {
        for end in ["", "$", "b", "b$"] {
            let file = format!("user-agent: *\ndisallow: {rule}{end}");
            let verdict = Robots::parse(file.as_bytes()).allows("foo", &path);
            // No path of ours has a b, and none has so many letters behind slashes.
            assert!(verdict.allowed || !rule.contains('/'), "{}", &rule[..9]);
        }
    }
}

#[test]
fn ten_thousand_rules_on_long_paths() {
    let path = format!("/{}", "ab".repeat(8_000));
    let mut file = "user-agent: *\n".to_owned();
    for number in 0..10_000 {
        file.push_str(&format!("disallow: /*ab*{number:05}*aba$\n"));
    }
    let rules = Robots::parse(file.as_bytes()).rules_for("foo");
    for _ in 0..10 {
        assert!(rules.judge(&path).allowed);
    }
}

#[test]
fn a_hundred_thousand_groups() {
    let file = "user-agent: foo\nallow: /\n".repeat(25_000);
    let robots = Robots::parse(file.as_bytes());
    assert!(robots.is_cut());
    assert!(robots.allows("foo", "/").allowed);
    let file = "user-agent: a\n".repeat(40_000) + "disallow: /";
    assert!(robots.allows("a", "/").allowed);
    assert!(Robots::parse(file.as_bytes()).is_cut());
}

#[test]
fn any_bytes_are_a_file() {
    for file in [&b"\0"[..], b":", b"::", b"#", b"\r", b"\xff\xfe", b"user-agent", b"disallow:"] {
        assert!(Robots::parse(file).allows("foo", "/").allowed, "{}", file.escape_ascii());
    }
    for path in ["", "*", "%", "?", "//", "\u{0}", "/\u{fffd}"] {
        let robots = Robots::parse(b"user-agent: *\ndisallow: /\nallow: /$");
        assert_eq!(robots.allows("", path).allowed, !path.starts_with('/'), "{path:?}");
    }
}
