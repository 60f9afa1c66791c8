//! Exit codes: 0 for a plan, 2 for a failure.

use crate::Folder;

#[track_caller]
fn check(arguments: &str, expect: i32) {
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n2\n"), ("bad.csv", "change_rate\n-1\n")]);
    let ran = folder.run(arguments);
    assert_eq!(ran.code, Some(expect), "{arguments}: {}", ran.err);
    assert_eq!(ran.err.starts_with("error: "), expect != 0, "{arguments}: {}", ran.err);
}

#[test]
fn the_exit_code_is_zero_with_a_result_and_two_without() {
    check("--version", 0);
    check("plan --help", 0);
    check("plan s.csv --budget 1/day", 0);
    check("plan s.csv --target age=1", 0);
    check("curve s.csv --points 3", 0);
    check("plan bad.csv --budget 1/day", 2);
    check("curve bad.csv", 2);
    check("plan s.csv", 2);
    check("plan s.csv --budget 1/day --threads 0", 2);
    check("curve s.csv --points 1", 2);
    check("water s.csv", 2);
}
