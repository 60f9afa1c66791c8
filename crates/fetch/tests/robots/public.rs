//! Facts on which the public tests of large crawlers agree, with our own files.

use freshet_fetch::RobotsTxt;

use crate::{check, check_bytes};

#[test]
fn spaces_and_misspellings_in_keys_are_tolerated() {
    for key in ["Disallow:", "disallow :", " DISALLOW:\t", "Disallow ", "dissallow:", "disalow:"] {
        check(&format!("user-agent: foo\n{key}/x"), "foo", &["-/x", "+/y"]);
    }
    for key in ["user-agent:", "USER-AGENT :", "useragent:", "user agent:", "user-agent "] {
        check(&format!("{key}foo\ndisallow: /x"), "foo", &["-/x"]);
    }
    // Three words without a colon are not a valid line.
    check("user-agent: foo\ndisallow /x y", "foo", &["+/x"]);
    check("user-agent: foo\nallowance: /x\ndisallow: /x", "foo", &["-/x"]);
}

#[test]
fn a_rule_without_a_slash_matches_nothing() {
    check("user-agent: foo\ndisallow: x", "foo", &["+/x", "+/"]);
    check("user-agent: foo\ndisallow: *x", "foo", &["-/x", "+/"]);
}

#[test]
fn rules_before_the_first_agent_are_ignored() {
    check("disallow: /x\nuser-agent: foo\ndisallow: /y", "foo", &["+/x", "-/y"]);
    check("foo: /x\n*\n<html>\nuser-agent: foo\ndisallow: /y", "foo", &["+/x", "-/y"]);
}

#[test]
fn text_after_the_agent_is_ignored() {
    check("user-agent: *\ndisallow: /", "foo", &["-/"]);
    check("user-agent: * all of you\ndisallow: /", "foo", &["-/"]);
    check("user-agent: *bot\ndisallow: /", "foobot", &["+/"]);
    check("user-agent: foo bar\ndisallow: /", "foo", &["-/"]);
    check("user-agent: foo bar\ndisallow: /", "bar", &["+/"]);
}

#[test]
fn an_empty_group_is_a_group() {
    let file = "user-agent: foo\nuser-agent: *\ndisallow: /";
    check(file, "foo", &["-/"]);
    let file = "user-agent: *\ndisallow: /\nuser-agent: foo\nallow:";
    check(file, "foo", &["+/"]);
    check(file, "bar", &["-/"]);
}

// The examples with fish.
#[test]
fn prefixes_and_wildcards_match() {
    check(
        "user-agent: *\ndisallow: /\nallow: /fish",
        "foo",
        &[
            "+/fish",
            "+/fish.html",
            "+/fish/salmon.html",
            "+/fishheads/yummy.html",
            "+/fish.php?id=anything",
            "-/Fish.asp",
            "-/catfish",
            "-/?id=fish",
        ],
    );
    check("user-agent: *\ndisallow: /\nallow: /fish*", "foo", &["+/fish", "+/fishes", "-/Fish"]);
    check(
        "user-agent: *\ndisallow: /\nallow: /fish/",
        "foo",
        &["+/fish/", "+/fish/?id=x", "-/fish", "-/fish.html"],
    );
    check(
        "user-agent: *\ndisallow: /\nallow: /*.php",
        "foo",
        &["+/file.php", "+/a/file.php?x", "+/file.php.html", "-/", "-/windows.PHP"],
    );
    check(
        "user-agent: *\ndisallow: /\nallow: /*.php$",
        "foo",
        &["+/file.php", "+/a/file.php", "-/file.php?x", "-/file.php/", "-/file.php5"],
    );
    check(
        "user-agent: *\ndisallow: /\nallow: /fish*.php",
        "foo",
        &["+/fish.php", "+/fishheads/catfish.php?x", "-/Fish.php"],
    );
}

#[test]
fn the_longest_rule_takes_precedence() {
    check("user-agent: *\nallow: /p\ndisallow: /", "foo", &["+/page"]);
    check("user-agent: *\nallow: /folder\ndisallow: /folder", "foo", &["+/folder/page"]);
    check("user-agent: *\nallow: /page\ndisallow: /*.htm", "foo", &["-/page.htm"]);
    check("user-agent: *\nallow: /page\ndisallow: /*.ph", "foo", &["+/page.php5"]);
    check("user-agent: *\nallow: /$\ndisallow: /", "foo", &["+/", "-/page.htm"]);
}

#[test]
fn a_partial_byte_order_mark_is_ignored() {
    for mark in [&b""[..], b"\xef", b"\xef\xbb", b"\xef\xbb\xbf"] {
        let file = [mark, b"user-agent: foo\ndisallow: /x"].concat();
        check_bytes(&file, "foo", &["-/x"]);
    }
    // Not a byte-order mark, so the line names no agent.
    check_bytes(b"\xef\x11\xbfuser-agent: foo\ndisallow: /x", "foo", &["+/x"]);
}

#[test]
fn sitemaps_are_for_everybody() {
    let file =
        "sitemap: https://a.test/1.xml\nuser-agent: foo\nSiteMap : https://a.test/2.xml # x\n";
    let robots = RobotsTxt::parse(file.as_bytes());
    assert_eq!(robots.sitemaps(), ["https://a.test/1.xml", "https://a.test/2.xml"]);
}
