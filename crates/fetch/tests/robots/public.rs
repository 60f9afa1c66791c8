//! What the public tests of large crawlers agree on, as facts: files in our words, their verdicts.

use freshet_fetch::Robots;

use crate::{check, check_bytes};

#[test]
fn keys_are_tolerant_of_blanks_and_slips() {
    for key in ["Disallow:", "disallow :", " DISALLOW:\t", "Disallow ", "dissallow:", "disalow:"] {
        check(&format!("user-agent: foo\n{key}/x"), "foo", &["-/x", "+/y"]);
    }
    for key in ["user-agent:", "USER-AGENT :", "useragent:", "user agent:", "user-agent "] {
        check(&format!("{key}foo\ndisallow: /x"), "foo", &["-/x"]);
    }
    // Three words without a colon are no line of a robots.txt.
    check("user-agent: foo\ndisallow /x y", "foo", &["+/x"]);
    check("user-agent: foo\nallowance: /x\ndisallow: /x", "foo", &["-/x"]);
}

#[test]
fn a_rule_without_a_slash_matches_nothing() {
    check("user-agent: foo\ndisallow: x", "foo", &["+/x", "+/"]);
    check("user-agent: foo\ndisallow: *x", "foo", &["-/x", "+/"]);
}

#[test]
fn rules_before_any_agent_are_nobodys() {
    check("disallow: /x\nuser-agent: foo\ndisallow: /y", "foo", &["+/x", "-/y"]);
    check("foo: /x\n*\n<html>\nuser-agent: foo\ndisallow: /y", "foo", &["+/x", "-/y"]);
}

#[test]
fn agents_with_more_on_their_line() {
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

// The examples of the fish.
#[test]
fn prefixes_and_stars() {
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
fn the_order_of_precedence() {
    check("user-agent: *\nallow: /p\ndisallow: /", "foo", &["+/page"]);
    check("user-agent: *\nallow: /folder\ndisallow: /folder", "foo", &["+/folder/page"]);
    check("user-agent: *\nallow: /page\ndisallow: /*.htm", "foo", &["-/page.htm"]);
    check("user-agent: *\nallow: /page\ndisallow: /*.ph", "foo", &["+/page.php5"]);
    check("user-agent: *\nallow: /$\ndisallow: /", "foo", &["+/", "-/page.htm"]);
}

#[test]
fn a_part_of_a_mark_is_passed_over() {
    for mark in [&b""[..], b"\xef", b"\xef\xbb", b"\xef\xbb\xbf"] {
        let file = [mark, b"user-agent: foo\ndisallow: /x"].concat();
        check_bytes(&file, "foo", &["-/x"]);
    }
    // Not a mark, so the line names nobody.
    check_bytes(b"\xef\x11\xbfuser-agent: foo\ndisallow: /x", "foo", &["+/x"]);
}

#[test]
fn sitemaps_are_for_everybody() {
    let file =
        "sitemap: https://a.test/1.xml\nuser-agent: foo\nSiteMap : https://a.test/2.xml # x\n";
    let robots = Robots::parse(file.as_bytes());
    assert_eq!(robots.sitemaps(), ["https://a.test/1.xml", "https://a.test/2.xml"]);
}
