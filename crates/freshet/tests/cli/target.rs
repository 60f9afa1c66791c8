//! `freshet plan --target`.

use crate::{Folder, generated, number};

/// Checks that the plan reaches the target, that its budget gives the same plan, and that a smaller budget
/// does not reach the target.
#[track_caller]
fn check(measure: &str, goal: f64, options: &str) {
    let folder = Folder::new(&[("s.csv", &generated(1000))]);
    let plan = format!("plan s.csv --quiet {options}");
    let reached = folder.json(&format!("{plan} --target {measure}={goal}"));
    let value = number(&reached, measure).unwrap();
    assert!((value - goal).abs() <= 1e-9 * goal, "{measure} is {value}, expected {goal}");

    let budget = number(&reached, "budget").unwrap();
    let at = |budget: f64| {
        let report = folder.json(&format!("{plan} --budget {budget}/day"));
        number(&report, measure).unwrap()
    };
    let again = at(budget);
    assert!((again - value).abs() <= 1e-12 * value, "{again} with that budget, not {value}");
    let short = at(0.999 * budget);
    if measure == "freshness" {
        assert!(short < goal, "{short} with less");
    } else {
        assert!(short > goal, "{short} with less");
    }
}

#[test]
fn the_freshness_target_is_reached() {
    check("freshness", 0.8, "");
    check("freshness", 0.8, "--objective freshness");
    check("freshness", 0.8, "--timing poisson");
    check("freshness", 0.8, "--policy uniform");
}

#[test]
fn the_age_target_is_reached() {
    check("age", 2.0, "--objective age");
}

#[test]
fn the_cost_targets_are_reached() {
    check("harmonic_cost", 1000.0, "");
    check("binary_cost", 1000.0, "--objective freshness");
}
