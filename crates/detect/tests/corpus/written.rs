//! More texts that writers write, similar to those of templates. All of them are content.

use crate::lines::check_parts;
use crate::{assert_different_content, assert_same_content, describe_miss};

#[test]
fn the_place_of_a_value_in_a_table_counts() {
    check_parts(
        &[
            "<table><tr><td>Pets</td>[[<td>✓</td><td></td>||<td></td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td>✓</td><td></td>||<td></td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td>✓</td><td>&nbsp;</td>||<td>&nbsp;</td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td><p>✓</p></td><td></td>||<td></td><td><p>✓</p></td>]]</tr></table>",
            "<table><tr><th>Mon<th>Tue<th>Wed<tr>[[<td>Yoga<td><td>||<td><td><td>Yoga]]</table>",
            "<table><tr><td>A</td><td>B[[</td></tr><tr><td>||</td><td>]]C</td></tr><tr><td>D</td><td>E</td></tr></table>",
            "<table><tr><td>A</td><td>[[B</td></tr><tr><td>C</td><td>||</td></tr><tr><td>B</td><td>C]]</td></tr></table>",
        ],
        describe_miss,
    );
}

#[test]
fn the_state_in_a_script_counts() {
    let shell = |script: &str| {
        format!(
            "<html><head><title>Store</title></head><body><div id=app>Loading…</div><script>{script}</script></body></html>"
        )
    };
    let states = [
        r#"window.__INITIAL_STATE__={"price":"49.90","csrfToken":"a1"};"#,
        r#"window.__PRELOADED_STATE__ = {"item":{"price":"49.90"},"requestId":"a1"}; go()"#,
        r#"window["__APOLLO_STATE__"]={"P:1":{"price":"49.90"},"nonce":"a1"}"#,
        r#"window.__NUXT__={data:[{price:"49.90",token:"a1"}]};"#,
        r#"window.__NUXT__=(function(a,b){return {data:[{price:a,token:"a1"}]}}("49.90",false));"#,
        r#"window.__INITIAL_STATE__={"price":"49.90","session":"a1","now":"a1"};"#,
        r#"var ytInitialData = {"title":"49.90","sessionId":"a1"};"#,
        r#"window.__INITIAL_STATE__=JSON.parse("{\"price\":\"49.90\",\"csrf\":\"a1\"}");"#,
        r#"window.__INITIAL_STATE__={"price":"49.90","a":undefined,"csrf":"a1"};"#,
        r#"self.__next_f.push([1,"0:{\"b\":\"a1\"}\n1:[\"$\",\"p\",null,{\"children\":\"49.90\"}]\n"])"#,
    ];
    for state in states {
        assert_different_content(state, &shell(state), &shell(&state.replace("49.90", "59.90")));
        assert_same_content(state, &shell(state), &shell(&state.replace("a1", "b2")));
    }
    let code = |it: &str| shell(&format!("var build = '{it}'; start({{v: '{it}'}})"));
    assert_same_content("a script", &code("1"), &code("2"));
}

#[test]
fn content_that_a_script_reveals_counts() {
    for part in [
        "<div id=B>Loading…</div><div hidden id=S:0><p>Doors open at @, and the concert begins an hour later.</p></div>",
        "<x-page><template shadowrootmode=open><p>Doors open at @, and the concert begins an hour later.</p></template></x-page>",
    ] {
        assert_different_content(part, &part.replace('@', "18:00"), &part.replace('@', "19:00"));
    }
    let unused = "<p>Doors open at six, and the concert begins later.</p><template><p>@</p></template><div hidden>@</div>";
    assert_same_content("a template", &unused.replace('@', "1"), &unused.replace('@', "2"));
}

#[test]
fn a_rise_or_fall_counts() {
    check_parts(
        &[
            "<p>▲ [[1.2||1.4]]%</p>",
            "<p>↑ [[1.2||1.4]]%</p>",
            "<p>▼ [[1.2||1.4]]</p>",
            "<p>▲ [[12||14]] %</p>",
            "<p>Index <span class=change>▲ [[12||14]]%</span></p>",
            "<div class=stat><span class=count>▼ [[1,5||1,7]] %</span></div>",
        ],
        describe_miss,
    );
}

#[test]
fn counters_of_other_things_count() {
    check_parts(
        &[
            "<div><span class=counter>[[350||360]]</span><h3>Projects</h3></div>",
            "<div class=counter-box><span class=count>[[350||360]]</span><p>Projects done</p></div>",
            "<div class=counter><h2>Day ticket</h2><p>Tickets cost £[[12||14]].</p></div>",
            "<div class=count><h3>Rooms</h3><p>[[12||14]]</p></div>",
        ],
        describe_miss,
    );
}

#[test]
fn figures_of_the_content_count() {
    check_parts(
        &[
            "<p>Annual visitors: [[12,331||12,402]]</p>",
            "<p>Total shares: [[12||13]]</p>",
            "<p>Downloads: [[12||13]]</p>",
            "<h3>Last eruption</h3><p>[[30 years||2 days]] ago</p>",
            "<h3>Last flood</h3><p>[[3 months||2 decades]] ago</p>",
            "<p>Rendered in [[3D||2D]]</p>",
        ],
        describe_miss,
    );
}

#[test]
fn text_after_a_related_list_counts() {
    check_parts(
        &[
            "<h3>Related articles</h3><ul><li><a href=/1>One</a></li></ul><p>Closed on [[Monday||Friday]].</p>",
            "<h4>Read also</h4><p><a href=/1>One</a></p><p><a href=/2>Two</a></p><p>Open until [[six||five]].</p>",
            "<p>Read also</p><div><a href=/1>One</a></div><p>Tickets cost £[[12||14]].</p>",
            "<h3>Recommended</h3><p>[[Two||Three]] tablets a day.</p>",
            "<h3>Popular</h3><ul><li>Tomato soup, [[5||6]] €</li></ul>",
            "<h3>Most popular</h3><div>Tariff [[A||B]]</div>",
        ],
        describe_miss,
    );
}

/// Checks that a change in a part of the main element is seen.
fn check_in_main(part: &str, change: (&str, &str)) {
    let page = |it: &str| {
        format!(
            "<body><main><h1>Valley</h1><p>The valley has many paths, and in spring the snow on them melts late in the year.</p>{}</main></body>",
            part.replace('@', it)
        )
    };
    assert_different_content(part, &page(change.0), &page(change.1));
}

#[test]
fn items_of_a_front_page_count() {
    for name in ["news-teaser", "promo", "recommended-item", "trending-item", "popular-item"] {
        let item = |text: &str| format!("<article class='{name}'><a href=/1>{text}</a></article>");
        check_in_main(&(item("Bridge closed") + &item("@")), ("Storm comes", "Storm goes"));
        check_in_main(&(item("@") + &item("Storm comes")), ("Bridge closed", "Bridge open"));
        let item = |text: &str| format!("<div class='{name}'><a href=/1>{text}</a></div>");
        check_in_main(&(item("@") + &item("Storm comes")), ("Bridge closed", "Bridge open"));
    }
}

#[test]
fn the_header_of_a_text_counts() {
    let page = |head: &str, change: &str| {
        format!(
            "<body>{}<p>The valley has many paths, and in spring the snow on them melts late in the year.</p></body>",
            head.replace('@', change)
        )
    };
    for head in [
        "<header class=hero><h1>Fair</h1><p>Tickets from £@</p></header>",
        "<div class=page-header><h1>Fair</h1><p>Tickets from £@</p></div>",
        "<div class=page-header><h1>Fair <small>@ May</small></h1></div>",
    ] {
        assert_different_content(head, &page(head, "12"), &page(head, "14"));
    }
    for head in [
        "<header class=hero><nav><a href=/>@</a></nav><h1>Fair</h1><div class=clock>10:@</div></header>",
        "<div class=page-header><a href=/>@</a><h1>Fair</h1></div>",
    ] {
        assert_same_content(head, &page(head, "12"), &page(head, "14"));
    }
}

#[test]
fn short_notices_in_boxes_count() {
    for name in ["promo", "toast", "modal-body", "tooltip"] {
        let part = |text: &str| format!("<div class='{name}'>{text}</div>");
        check_in_main(&part("Day ticket @"), ("£12", "£14"));
        check_in_main(&part("We are @ today"), ("open", "closed"));
        check_in_main(&part("Fair on @ May"), ("12", "14"));
    }
}
