//! Selectors, filters and options.

use freshet_detect::TextScope;

use crate::extract;

const PAGE: &str = "<html><body><nav id=menu><a href='/a?sid=1'>Home</a></nav><div id=main class='box wide'>\
    <p class=price>12 €</p><p>Second <b>bold</b></p><div><p>Inner</p></div><p lang=en-GB hidden>Secret</p></div>\
    <table><tr><td>a<td>b<tr><td>c<td>d</table><ul><li>one<li>two<li>three</ul><img src=/i.png?v=3 alt='A cat'></body></html>";

#[track_caller]
fn check(settings: &str, expect: &str) {
    assert_eq!(extract(settings, PAGE).text.replace('\n', "/"), expect, "{settings}");
}

#[track_caller]
fn select(selector: &str, expect: &str) {
    check(&format!("select = [\"{selector}\"]"), expect);
}

#[test]
fn css_selectors_select_elements() {
    select("#main", "12 €/Second bold/Inner/");
    select("p", "12 €/Second bold/Inner/Secret/");
    select("#main > p", "12 €/Second bold/Secret/");
    select("div.box.wide p.price", "12 €/");
    select(".price + p b", "bold/");
    select(".price ~ div", "Inner/");
    select("body > table > tbody > tr:nth-child(2) > td", "c | d/");
    select("td:first-child", "a/c/");
    select("li:nth-child(odd)", "one/three/");
    select("li:nth-of-type(2)", "two/");
    select("li:not(:first-child)", "two/three/");
    select("li:last-child", "three/");
    select("li:nth-last-child(2)", "two/");
    select("td:last-of-type", "b/d/");
    select("tr:nth-last-child(1) > td:nth-last-of-type(2)", "c/");
    select("b:only-child", "bold/");
    select("li:only-child", "");
    select("#main > p:last-of-type", "Secret/");
    select(":is(li, b):nth-child(1)", "bold/one/");
    select("[lang|=en]", "Secret/");
    select("[class~=wide] > [class^=pri]", "12 €/");
    select("nav", "Home/");
    select("HTML BODY NAV", "Home/");
    select("section", "");
    check("select = ['li', '.price']", "12 €/one/two/three/");
}

#[test]
fn drop_applies_within_the_selection() {
    check("select = ['#main']\ndrop = ['b', '.price']", "Second/Inner/");
    check("drop = ['#main', 'ul']", "a | b/c | d/");
    assert_eq!(extract("select = ['p']", PAGE).scope, TextScope::Selected);
}

#[test]
fn links_and_images_count_if_enabled() {
    check("select = ['nav']\nlinks = true", "Home </a>/");
    check("select = ['img', 'nav']\nimages = true", "Home/");
    let page = |target: &str| {
        format!("<p>Get the <a href='{target}'>file</a> from the server of the project.</p>")
    };
    let fingerprint =
        |settings: &str, target: &str| extract(settings, &page(target)).digests.fingerprint;
    assert_eq!(fingerprint("", "/a"), fingerprint("", "/b"));
    assert_eq!(fingerprint("links = true", "/a?utm_source=x"), fingerprint("links = true", "/a"));
    assert_ne!(fingerprint("links = true", "/a"), fingerprint("links = true", "/b"));
}

#[test]
fn noise_and_all_visible_text_count_if_enabled() {
    let page = "<html><body><nav>Menu</nav><p>Some text that is long enough to count.</p><p>12 views</p></body></html>";
    let text = |settings: &str| extract(settings, page).text;
    assert_eq!(text(""), "Some text that is long enough to count.\n");
    assert_eq!(text("noise = true"), "Some text that is long enough to count.\n12 views\n");
    assert_eq!(text("text = 'visible'"), "Menu\nSome text that is long enough to count.\n");
}

#[test]
fn json_paths_select_values() {
    let json = "{\"items\": [{\"n\": \"x\", \"p\": 1}, {\"n\": \"y\", \"p\": 2}], \"t\": 5}";
    let text = |settings: &str| extract(settings, json).text;
    assert_eq!(text("select = ['$.items[*].p']"), "1\n2\n");
    assert_eq!(text("drop = ['/t', '$..n']"), "/items/+/p: 1\n/items/+/p: 2\n");
    assert_eq!(text("select = ['/none']"), "");
    assert_eq!(text("select = ['$.items[-1].p']"), "2\n");
    assert_eq!(text("select = ['$.items[-2:].n']"), "\"x\"\n\"y\"\n");
    assert_eq!(text("select = ['$.items[:-1].n']"), "\"x\"\n");
    assert_eq!(text("select = ['$.items[-9]']"), "");
    let order = |json: &str| extract("ignore = ['order']", json).digests.fingerprint;
    assert_eq!(order("[3, 1, {\"a\": 1, \"b\": 2}]"), order("[{\"b\": 2, \"a\": 1}, 3, 1]"));
}

#[test]
fn selectors_without_a_match_are_reported() {
    let unmatched = |settings: &str, text: &str| extract(settings, text).unmatched;
    assert!(unmatched("select = ['p', 'td:last-child']\ndrop = ['b']", PAGE).is_empty());
    assert_eq!(
        unmatched("select = ['p', 'h1 > em, h2']\ndrop = ['.none', '/a']", PAGE),
        ["h1 > em, h2", ".none", "/a"]
    );
    let json = "{\"a\": [1, 2]}";
    assert_eq!(
        unmatched("select = ['/a/1', '$.b']\ndrop = ['p', '$.a[5]']", json),
        ["p", "$.b", "$.a[5]"]
    );
    assert_eq!(unmatched("select = ['p']", "words"), ["p"]);
}

#[test]
fn selectors_match_nothing_in_xml() {
    for select in ["item", "/item", "$.item"] {
        let xml = "<?xml version='1.0'?><list><item>12</item></list>";
        let extraction = crate::extract(&format!("select = ['{select}']"), xml);
        assert_eq!((extraction.text.as_str(), extraction.unmatched), ("", vec![select.to_owned()]));
    }
}

#[test]
fn long_json_is_split_into_lines() {
    let text = format!("[\"{}\",\"y\"]", "x".repeat(9 << 20));
    let extraction = crate::extract("keep_text = ['y']", &text);
    assert_eq!(extraction.text, "/+: \"y\"\n");
}
