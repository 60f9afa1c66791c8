//! More of what writers write, where it looks like what templates do: all of it counts.

use crate::lines::judge;
use crate::miss;

#[test]
fn the_place_of_a_value_in_a_table_counts() {
    judge(
        &[
            "<table><tr><td>Pets</td>[[<td>✓</td><td></td>||<td></td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td>✓</td><td></td>||<td></td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td>✓</td><td>&nbsp;</td>||<td>&nbsp;</td><td>✓</td>]]</tr></table>",
            "<table><tr>[[<td><p>✓</p></td><td></td>||<td></td><td><p>✓</p></td>]]</tr></table>",
            "<table><tr><th>Mon<th>Tue<th>Wed<tr>[[<td>Yoga<td><td>||<td><td><td>Yoga]]</table>",
            "<table><tr><td>A</td><td>B[[</td></tr><tr><td>||</td><td>]]C</td></tr><tr><td>D</td><td>E</td></tr></table>",
            "<table><tr><td>A</td><td>[[B</td></tr><tr><td>C</td><td>||</td></tr><tr><td>B</td><td>C]]</td></tr></table>",
        ],
        miss,
    );
}
