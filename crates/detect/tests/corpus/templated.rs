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
