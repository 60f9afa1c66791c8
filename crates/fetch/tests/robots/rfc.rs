//! RFC 9309, rule by rule.

use std::time::Duration;

use freshet_fetch::RobotsTxt;

use crate::{check, check_bytes};

// §2.2.1: the product token is case-insensitive.
#[test]
fn agents_match_whatever_the_case() {
    check("User-Agent: FoO\nDisallow: /", "fOo", &["-/"]);
    check("uSeR-aGeNt: foo\ndIsAlLoW: /", "Foo", &["-/"]);
}

// §2.2.1: a crawler obeys the group that names it, and no other.
#[test]
fn a_matching_group_replaces_the_group_for_all() {
    let file = "User-agent: *\nDisallow: /a\n\nUser-agent: foo\nDisallow: /b\n";
    check(file, "foo", &["+/a", "-/b"]);
    check(file, "bar", &["-/a", "+/b"]);
}

// §2.2.1: groups of the same agent are merged.
#[test]
fn groups_of_one_agent_are_merged() {
    let file = "user-agent: foo\ndisallow: /a\nuser-agent: bar\ndisallow: /b\nuser-agent: FOO\ndisallow: /c";
    check(file, "foo", &["-/a", "+/b", "-/c"]);
    check("user-agent: *\ndisallow: /a\nuser-agent: *\ndisallow: /b", "foo", &["-/a", "-/b"]);
}

// §2.2.1: without a matching group and a group for all, nothing is disallowed.
#[test]
fn a_file_without_a_matching_group_allows_everything() {
    check("user-agent: bar\ndisallow: /", "foo", &["+/"]);
    check("", "foo", &["+/"]);
    check("disallow: /", "foo", &["+/"]);
}

// §2.2.1: the token is at the start of the line; a version is not part of it.
#[test]
fn agents_match_by_product_token() {
    check("user-agent: foo/1.2 (x)\ndisallow: /", "foo", &["-/"]);
    check("user-agent: foo\ndisallow: /", "foo/2.0 (+mail)", &["-/"]);
    check("user-agent: foobar\ndisallow: /", "foo", &["+/"]);
    check("user-agent: foo\ndisallow: /", "foobar", &["+/"]);
    check("user-agent: foo-bar_baz\ndisallow: /", "Foo-Bar_Baz", &["-/"]);
}

// §2.1: consecutive agents share the rules below them; empty lines and comments do not matter.
#[test]
fn consecutive_agents_share_their_rules() {
    let file = "user-agent: a\n\n# and\nuser-agent: b\ndisallow: /x\nuser-agent: c\ndisallow: /y";
    check(file, "a", &["-/x", "+/y"]);
    check(file, "b", &["-/x", "+/y"]);
    check(file, "c", &["+/x", "-/y"]);
}

// §2.2.2: the most specific match wins, whatever the order.
#[test]
fn the_longest_match_wins() {
    for file in
        ["user-agent: *\nallow: /a/b\ndisallow: /a", "user-agent: *\ndisallow: /a\nallow: /a/b"]
    {
        check(file, "foo", &["-/a", "-/a/c", "+/a/b", "+/a/bc", "+/"]);
    }
}

// §2.2.2: `Allow` wins over an equally long `Disallow`.
#[test]
fn allow_wins_ties() {
    check("user-agent: *\ndisallow: /a\nallow: /a", "foo", &["+/a", "+/ab"]);
    check("user-agent: *\nallow: /*b\ndisallow: /ab", "foo", &["+/ab", "+/abb"]);
}

// §2.2.2: paths are case-sensitive and match from their beginning.
#[test]
fn paths_are_case_sensitive() {
    check("user-agent: *\ndisallow: /A", "foo", &["-/A", "+/a", "+/x/A"]);
}

// §2.2.2: an empty rule matches nothing, and robots.txt itself is always allowed.
#[test]
fn robots_txt_itself_is_always_allowed() {
    check("user-agent: *\ndisallow:", "foo", &["+/", "+/a"]);
    check("user-agent: *\ndisallow: /", "foo", &["+/robots.txt", "-/robots.txt?x", "-/"]);
}

// §2.2.3: the table of special characters.
#[test]
fn wildcards_anchors_and_comments_are_supported() {
    check("user-agent: *\ndisallow: /a # b", "foo", &["-/a", "-/a#"]);
    check(
        "user-agent: *\nallow: /this/is/exactly$\ndisallow: /",
        "foo",
        &["+/this/is/exactly", "-/this/is/exactly/not"],
    );
    check(
        "user-agent: *\ndisallow: /*/x/*.gif$",
        "foo",
        &["-/a/x/b.gif", "-/a/b/x/c/d.gif", "+/a/x/b.gif?c", "+/x/b.gif"],
    );
    check("user-agent: *\ndisallow: /a$b", "foo", &["-/a$b", "+/a"]);
    // A literal star or dollar is percent-encoded.
    check("user-agent: *\ndisallow: /a-%2A.html", "foo", &["-/a-*.html", "+/a-b.html"]);
    check("user-agent: *\ndisallow: /a-%24", "foo", &["-/a-$b", "+/a-"]);
}

// §2.2.2: the table of encodings.
#[test]
fn paths_are_compared_in_normalized_encoding() {
    check("user-agent: *\ndisallow: /foo/bar?baz=quz", "foo", &["-/foo/bar?baz=quz"]);
    check(
        "user-agent: *\ndisallow: /foo/bar?baz=http://foo.bar",
        "foo",
        &["-/foo/bar?baz=http://foo.bar"],
    );
    let encoded = "/foo/bar/%E3%83%84";
    check("user-agent: *\ndisallow: /foo/bar/ツ", "foo", &[&format!("-{encoded}"), "-/foo/bar/ツ"]);
    check(&format!("user-agent: *\ndisallow: {encoded}"), "foo", &["-/foo/bar/ツ"]);
    check("user-agent: *\ndisallow: /%62%61%7A", "foo", &["-/baz"]);
    check("user-agent: *\ndisallow: /baz", "foo", &["-/%62%61%7a"]);
    check("user-agent: *\ndisallow: /a%2fb", "foo", &["-/a%2Fb", "+/a/b"]);
}

// §2.2.2: bytes are encoded before the comparison, so a star can end within an encoded one.
#[test]
fn wildcards_match_within_encoded_bytes() {
    check("user-agent: *\ndisallow: /*0", "foo", &["-/a%20b", "-/a b", "+/a-b"]);
}

// §2.2.4: other records do not interfere.
#[test]
fn other_records_do_not_interfere() {
    let file =
        "user-agent: a\nsitemap: https://x.test/s.xml\nuser-agent: b\nnoindex: /\ndisallow: /";
    check(file, "a", &["-/"]);
    check(file, "b", &["-/"]);
    assert_eq!(RobotsTxt::parse(file.as_bytes()).sitemaps(), ["https://x.test/s.xml"]);
}

// §2.2: lines end with CR, LF or both; §2.3: a byte-order mark is not part of the text.
#[test]
fn lines_end_with_cr_lf_or_both() {
    for end in ["\n", "\r", "\r\n"] {
        let file = ["user-agent: foo", "disallow: /a", "", "disallow: /b"].join(end);
        check(&file, "foo", &["-/a", "-/b"]);
        let verdict = RobotsTxt::parse(file.as_bytes()).check("foo", "/b");
        assert_eq!(verdict.rule.unwrap().line, 4, "{end:?}");
    }
    check_bytes(b"\xef\xbb\xbfuser-agent: foo\ndisallow: /", "foo", &["-/"]);
}

// §2.5: at least 500 KiB are read.
#[test]
fn five_hundred_kib_are_read() {
    let start = "user-agent: foo\ndisallow: /early\n";
    let rest = 500 * 1024 - start.len();
    let rule = "disallow: /late\n";
    let fits = format!("{start}{}\n{rule}", "#".repeat(rest - rule.len() - 1));
    check(&fits, "foo", &["-/early", "-/late"]);
    assert!(!RobotsTxt::parse(fits.as_bytes()).is_truncated());
    // A truncated rule would disallow too much, so it is ignored.
    let cut = format!("{start}{}\n{rule}", "#".repeat(rest - rule.len() + 3));
    check(&cut, "foo", &["-/early", "+/late", "+/l"]);
    assert!(RobotsTxt::parse(cut.as_bytes()).is_truncated());
}

#[test]
fn a_verdict_names_its_rule() {
    let file = "# x\nuser-agent: *\nuser-agent: foo\nallow: /\ndisallow: /a*z\n";
    let verdict = RobotsTxt::parse(file.as_bytes()).check("Foo/1.0", "/abcz?");
    let (rule, agent) = (verdict.rule.unwrap(), verdict.agent.unwrap());
    assert_eq!((rule.text.as_str(), rule.line, rule.allow), ("/a*z", 5, false));
    assert_eq!((agent.token.as_str(), agent.line), ("foo", 3));
}

#[test]
fn crawl_delays_apply_to_the_named_agents() {
    let delay = |file: &str| RobotsTxt::parse(file.as_bytes()).rules_for_agent("foo").crawl_delay();
    let seconds = |it| Some(Duration::from_secs_f64(it));
    assert_eq!(delay("user-agent: foo\ncrawl-delay: 2.5"), seconds(2.5));
    assert_eq!(delay("user-agent: *\ncrawl-delay: 2\nuser-agent: foo\ndisallow: /"), None);
    assert_eq!(
        delay("user-agent: foo\ncrawl-delay: 2\nuser-agent: foo\ncrawl-delay: 5"),
        seconds(5.0)
    );
    for nonsense in ["-1", "-0", "NaN", "inf", "soon", "", "+5", "10s", "1,5", "0x10", "."] {
        assert_eq!(delay(&format!("user-agent: foo\ncrawl-delay: {nonsense}")), None, "{nonsense}");
    }
    for (text, expect) in [("0", 0.0), (".5", 0.5), ("86399.9", 86_399.9)] {
        assert_eq!(delay(&format!("user-agent: foo\ncrawl-delay: {text}")), seconds(expect));
    }
    // Capped at one day, the lifetime of the file itself.
    for huge in ["86401", "1e300", "1e400", "99999999999999999999999999999999999999"] {
        assert_eq!(delay(&format!("user-agent: foo\ncrawl-delay: {huge}")), seconds(86_400.0));
    }
}

// RFC 9309 §2.2.1: a product token consists of letters, `_` and `-`. Anything after it is ignored,
// in our name and in the file, so a digit distinguishes nothing.
#[test]
fn a_product_token_ends_before_a_digit() {
    let file = "user-agent: bot2\ndisallow: /two\n\nuser-agent: *\ndisallow: /all\n";
    for agent in ["bot2/1.0", "bot", "BOT/2", "bot3", "bot 2"] {
        check(file, agent, &["-/two", "+/all"]);
    }
    for agent in ["bo", "bot-2", "bots", "robot2"] {
        check(file, agent, &["+/two", "-/all"]);
    }
    check("user-agent: my-bot_x2.1\ndisallow: /\n", "My-Bot_X/7", &["-/"]);
}
