//! No policy beats the optimum at its own objective.

use crate::{Folder, generated, number};

const MEASURES: [(&str, &str); 3] =
    [("harmonic", "harmonic_cost"), ("freshness", "binary_cost"), ("age", "age")];

#[track_caller]
fn check(timing: &str, budget: &str) {
    let folder = Folder::new(&[("s.csv", &generated(2000))]);
    for (objective, measure) in MEASURES {
        let cost = |policy: &str| {
            let report = folder.json(&format!(
                "plan s.csv --quiet --budget {budget} --objective {objective} --timing {timing} \
                 --policy {policy}"
            ));
            // An infinite cost is null.
            number(&report, measure).unwrap_or(f64::INFINITY)
        };
        let best = cost("optimal");
        assert!(best.is_finite() && best > 0.0, "{objective}: {best}");
        for policy in ["uniform", "change-rate", "importance", "floor:0.4"] {
            let other = cost(policy);
            assert!(
                best <= other * (1.0 + 1e-12),
                "{policy} has {measure} {other}, the optimum {best} at {budget}, {timing}"
            );
        }
    }
}

#[test]
fn the_optimum_is_best_at_fixed_intervals() {
    check("periodic", "20%/day");
    check("periodic", "0.2%/day");
}

#[test]
fn the_optimum_is_best_at_random_times() {
    check("poisson", "20%/day");
    check("poisson", "0.2%/day");
}

#[test]
fn the_optimum_is_best_in_slots() {
    check("slots", "20%/day");
    check("slots", "0.2%/day");
}

#[test]
fn fixed_intervals_are_never_worse_than_random_times() {
    let folder = Folder::new(&[("s.csv", &generated(2000))]);
    for (objective, measure) in MEASURES {
        let cost = |timing: &str| {
            let plan = format!("plan s.csv --quiet --budget 20%/day --objective {objective}");
            number(&folder.json(&format!("{plan} --timing {timing}")), measure).unwrap()
        };
        assert!(cost("periodic") < cost("poisson"), "{objective}");
    }
}

#[test]
fn waiting_for_changes_is_never_worse_than_fetching_at_some() {
    let folder = Folder::new(&[("s.csv", &generated(2000))]);
    let cost = |observed: &str| {
        let plan = format!("plan s.csv --quiet --budget 1%/day --observed {observed}");
        number(&folder.json(&plan), "harmonic_cost").unwrap()
    };
    assert!(cost("threshold") < cost("random"));
}
