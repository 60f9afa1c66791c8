//! The smallest budget that reaches a goal.

use crate::{Folder, generated, number};

/// The plan reaches the goal, its budget leads to the same plan, and a smaller one falls short.
#[track_caller]
fn check(measure: &str, goal: f64, options: &str) {
    let folder = Folder::new(&[("s.csv", &generated(1000))]);
    let plan = format!("plan s.csv --quiet {options}");
    let reached = folder.json(&format!("{plan} --target {measure}={goal}"));
    let value = number(&reached, measure).unwrap();
    assert!((value - goal).abs() <= 1e-9 * goal, "{measure} is {value}, asked was {goal}");

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
fn freshness() {
    check("freshness", 0.8, "");
    check("freshness", 0.8, "--objective freshness");
    check("freshness", 0.8, "--timing poisson");
    check("freshness", 0.8, "--policy uniform");
}

#[test]
fn age() {
    check("age", 2.0, "--objective age");
}

#[test]
fn costs() {
    check("harmonic_cost", 1000.0, "");
    check("binary_cost", 1000.0, "--objective freshness");
}
