//! Forms of a budget.

use crate::{Folder, number};

#[track_caller]
fn check(budget: &str, expect: f64) {
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n2\n3\n4\n")]);
    let report = folder.json(&format!("plan s.csv --quiet --budget {budget}"));
    assert_eq!(number(&report, "budget"), Some(expect));
    assert!((number(&report, "spent").unwrap() / expect - 1.0).abs() < 1e-12);
}

#[test]
fn a_budget_is_a_total_or_a_rate_per_source() {
    check("5000/day", 5000.0);
    check("10/s", 864_000.0);
    check("0.2/source/day", 0.8);
    check("20%/day", 0.8);
    check("1/source/week", 4.0 / 7.0);
}

#[test]
fn a_limit_for_every_source_can_leave_some_unspent() {
    let folder = Folder::new(&[("s.csv", "change_rate,max_rate\n1,2\n5,3\n")]);
    let report = folder.json("plan s.csv --budget 8/day --quiet");
    assert_eq!(number(&report, "spent"), Some(5.0));
    assert_eq!(number(&report, "price"), Some(0.0));
    assert_eq!(report["status"], "unspent");
}

#[test]
fn rates_stay_between_their_limits() {
    let table = "change_rate,importance,min_rate,max_rate\n1,100,0,2\n1,0.01,1.5,\n2,1,,inf\n";
    let folder = Folder::new(&[("s.csv", table)]);
    let rates = folder.rows("plan s.csv --budget 4/day").numbers("rate");
    assert_eq!(rates[..2], [2.0, 1.5]);
    assert!((rates[2] - 0.5).abs() < 1e-12, "{rates:?}");
}
