//! More of what templates write, in many languages: none of it counts.

use crate::alarm;
use crate::lines::judge;

#[test]
fn tables_of_a_layout_flow() {
    judge(
        &[
            "<table><tr><td>[[One two||One</td></tr><tr><td>two]]</td></tr></table>",
            "<table><tr><td>Ann</td><td class=age>[[3 minutes ago||4 minutes ago]]</td></tr></table>",
        ],
        alarm,
    );
}

#[test]
fn lists_of_other_things_do_not_count() {
    judge(
        &[
            "<h3>Most popular</h3><ul><li><a href=/1>[[One||Two]]</a></li></ul>",
            "<h3>Related articles</h3><p>Chosen for you</p><ul><li><a href=/1>[[One||Two]]</a></li></ul>",
            "<h3>You may also like</h3><div><a href=/1>[[One||Two]]</a><p>[[Short||Brief]] words</p></div>",
        ],
        alarm,
    );
}
