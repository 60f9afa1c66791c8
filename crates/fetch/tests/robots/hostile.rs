//! Files that are designed to be expensive. A blow-up would exceed the time limit of the test.

use freshet_fetch::RobotsTxt;

#[test]
fn many_wildcards_take_linear_time() {
    let path = format!("/{}", "a".repeat(16_000));
    for rule in ["/*a".repeat(8_000), format!("/{}b", "*a".repeat(12_000)), "*a*".repeat(9_000)] {
        for end in ["", "$", "b", "b$"] {
            let file = format!("user-agent: *\ndisallow: {rule}{end}");
            let verdict = RobotsTxt::parse(file.as_bytes()).check("foo", &path);
            // The path has no `b`, and no run of letters is as long as the pattern requires.
            assert!(verdict.allowed || !rule.contains('/'), "{}", &rule[..9]);
        }
    }
}

#[test]
fn ten_thousand_rules_are_matched_quickly() {
    let path = format!("/{}", "ab".repeat(8_000));
    let mut file = "user-agent: *\n".to_owned();
    for number in 0..10_000 {
        file.push_str(&format!("disallow: /*ab*{number:05}*aba$\n"));
    }
    let rules = RobotsTxt::parse(file.as_bytes()).rules_for_agent("foo");
    for _ in 0..10 {
        assert!(rules.check(&path).allowed);
    }
}

#[test]
fn many_groups_are_parsed() {
    let file = "user-agent: foo\nallow: /\n".repeat(25_000);
    let robots = RobotsTxt::parse(file.as_bytes());
    assert!(robots.is_truncated());
    assert!(robots.check("foo", "/").allowed);
    let file = "user-agent: a\n".repeat(40_000) + "disallow: /";
    assert!(robots.check("a", "/").allowed);
    assert!(RobotsTxt::parse(file.as_bytes()).is_truncated());
}

#[test]
fn any_bytes_are_a_file() {
    for file in [&b"\0"[..], b":", b"::", b"#", b"\r", b"\xff\xfe", b"user-agent", b"disallow:"] {
        assert!(RobotsTxt::parse(file).check("foo", "/").allowed, "{}", file.escape_ascii());
    }
    for path in ["", "*", "%", "?", "//", "\u{0}", "/\u{fffd}"] {
        let robots = RobotsTxt::parse(b"user-agent: *\ndisallow: /\nallow: /$");
        assert_eq!(robots.check("", path).allowed, !path.starts_with('/'), "{path:?}");
    }
}
