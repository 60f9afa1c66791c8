//! More texts that templates write, in many languages. None of them is content.

use crate::describe_false_alarm;
use crate::lines::check_parts;

#[test]
fn layout_tables_have_no_significant_columns() {
    check_parts(
        &[
            "<table><tr><td>[[One two||One</td></tr><tr><td>two]]</td></tr></table>",
            "<table><tr><td>Ann</td><td class=age>[[3 minutes ago||4 minutes ago]]</td></tr></table>",
        ],
        describe_false_alarm,
    );
}

#[test]
fn related_lists_do_not_count() {
    check_parts(
        &[
            "<h3>Most popular</h3><ul><li><a href=/1>[[One||Two]]</a></li></ul>",
            "<h3>Related articles</h3><p>Chosen for you</p><ul><li><a href=/1>[[One||Two]]</a></li></ul>",
            "<h3>You may also like</h3><div><a href=/1>[[One||Two]]</a><p>[[Short||Brief]] words</p></div>",
        ],
        describe_false_alarm,
    );
}

#[test]
fn related_headings_are_recognized_in_many_languages() {
    for heading in [
        "Ähnliche Stellen",
        "Vergelijkbare woningen",
        "Fler evenemang",
        "С этим товаром покупают",
        "Похожие товары",
        "Podobne artykuły",
        "Também pode gostar",
        "Latest from the blog",
        "Suggested Topics",
    ] {
        let part = format!("<h3>{heading}</h3><ul><li><a href=/1>[[One||Two]]</a></li></ul>");
        check_parts(&[&part], describe_false_alarm);
    }
}

#[test]
fn counts_and_identifiers_are_noise_in_many_languages() {
    check_parts(
        &[
            "<p>浏览次数：[[1234||1250]]</p>",
            "<p>再生回数 [[1,234||1,250]] 回</p>",
            "<p>Dilihat: [[1234||1250]]</p>",
            "<p>Letture: [[1234||1250]]</p>",
            "<p>Okunma: [[1234||1250]]</p>",
            "<p>Your IP address is [[10.1.2.3||10.4.5.6]]</p>",
            "<p>Incident ID: [[8f3a-11bc-9021||77b2-90aa-1c3d]]</p>",
        ],
        describe_false_alarm,
    );
}
