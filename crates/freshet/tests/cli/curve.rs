//! `freshet curve`.

use serde_json::Value;

use crate::{Folder, generated, number};

/// Checks for every policy that the measures never get worse as the budget grows.
#[track_caller]
fn check(options: &str) {
    let folder = Folder::new(&[("s.csv", &generated(500))]);
    let curve = folder.json(&format!("curve s.csv --from 1%/day --to 10/source/day {options}"));
    for policy in ["optimal", "uniform"] {
        let points: Vec<&Value> = curve["points"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["policy"] == policy)
            .collect();
        assert_eq!(points.len(), 41, "{policy}");
        for (less, more) in points.iter().zip(&points[1..]) {
            let pair = |key| (number(less, key), number(more, key));
            let (low, high) = pair("budget");
            assert!(low < high);
            let (low, high) = pair("freshness");
            assert!(low <= high, "freshness falls: {less} to {more}");
            for key in ["age", "harmonic_cost", "binary_cost"] {
                let (low, high) = pair(key);
                // An infinite cost is null.
                let (low, high) = (low.unwrap_or(f64::INFINITY), high.unwrap_or(f64::INFINITY));
                assert!(high <= low * (1.0 + 1e-12), "{key} rises: {less} to {more}");
            }
        }
    }
}

#[test]
fn more_budget_never_buys_less() {
    for objective in ["harmonic", "freshness", "age"] {
        for timing in ["periodic", "poisson", "slots"] {
            check(&format!("--objective {objective} --timing {timing}"));
        }
    }
}

#[test]
fn a_point_equals_the_plan_for_its_budget() {
    let folder = Folder::new(&[("s.csv", &generated(500))]);
    let curve = folder.json("curve s.csv --from 10/day --to 1000/day --points 3");
    let point = &curve["points"][1];
    let budget = number(point, "budget").unwrap();
    assert!((budget - 100.0).abs() < 1e-9, "{budget} is not in the middle");
    let plan = folder.json(&format!("plan s.csv --quiet --budget {budget}/day"));
    for key in ["freshness", "age", "harmonic_cost", "binary_cost", "price"] {
        assert_eq!(point[key], plan[key], "{key}");
    }
}

#[test]
fn the_chart_shows_the_budget_and_the_policies() {
    let folder = Folder::new(&[("s.csv", &generated(500))]);
    let ran = folder.run(
        "curve s.csv --budget 100/day --points 9 --policies optimal,uniform,change-rate --svg c.svg",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let svg = folder.read("c.svg");
    let svg = svg.trim_end();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"));
    let words = ["your budget 100/day", "500 sources", "optimal", "equal polling", "∝ change rate"];
    for word in words {
        assert!(svg.contains(word), "no `{word}` in the chart");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
}

#[test]
fn the_table_has_one_line_for_each_policy_and_budget() {
    let folder = Folder::new(&[("s.csv", &generated(500))]);
    let ran = folder.run("curve s.csv --from 1/day --to 100/day --points 5 --out c.csv");
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 11), "{}", ran.err);
    let text = folder.read("c.csv");
    let mut lines = text.lines();
    let header = "policy,budget,spent,price,harmonic_cost,freshness,binary_cost,age,starved";
    assert_eq!(lines.next(), Some(header));
    let policies: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(policies, [["optimal"; 5], ["uniform"; 5]].concat());
}

#[test]
fn an_empty_range_of_budgets_is_rejected() {
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n")]);
    for (from, to) in [("10/day", "1/day"), ("5/day", "5/day"), ("0/day", "1/day")] {
        let ran = folder.run(&format!("curve s.csv --from {from} --to {to} --svg c.svg"));
        let expect = format!(
            "error: {from} to {to} is not a range of budgets\n\nhint: give `--from` above 0 and \
             below `--to`, such as `--from 100/day --to 10000/day`\n"
        );
        assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(2), "", expect));
        assert_eq!(folder.names(), ["s.csv"]);
    }
}

#[test]
fn budgets_below_the_minimum_are_skipped() {
    let folder = Folder::new(&[("s.csv", "change_rate,min_rate\n1,2\n1,3\n")]);
    let ran =
        folder.run("curve s.csv --from 1/day --to 100/day --points 5 --policies optimal --json");
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.err, "skipped 2 budgets below the sum of the minimum rates, 5/day\n");
    let curve: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(curve["points"].as_array().unwrap().len(), 3);
}
