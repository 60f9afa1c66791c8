//! The rows and the JSON object of a plan.

use crate::{Folder, generated, number};

#[test]
fn rows_have_the_documented_columns_and_one_line_per_source() {
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n2\n")]);
    let rows = folder.rows("plan s.csv --budget 4/day --policy uniform");
    let lines: Vec<&str> = rows.0.lines().collect();
    assert_eq!(lines[0], "id,rate,interval,probability,threshold,value");
    assert!(lines[1].starts_with("1,2,0.5,,,"), "{}", lines[1]);
    assert!(lines[2].starts_with("2,2,0.5,,,"), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
}

#[test]
fn an_abandoned_source_has_rate_zero_and_an_infinite_interval() {
    // Cho & Garcia-Molina 2003, Table IV (b): the last of five.
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n2\n3\n4\n5\n")]);
    let rows = folder.rows("plan s.csv --budget 5/day --objective freshness");
    let last = rows.0.lines().last().unwrap();
    assert!(last.starts_with("5,0,inf,,,"), "{last}");
}

#[test]
fn an_observed_source_waits_for_a_number_of_changes() {
    // Fetches happen after k changes with probability p, and otherwise after k + 1: changes per fetch are
    // k·p + (k + 1)·(1 − p).
    let folder = Folder::new(&[("s.csv", &generated(600))]);
    let rows = folder.rows("plan s.csv --budget 30/day");
    let table: Vec<Vec<String>> = generated(600)
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let (rate, chance, threshold) =
        (rows.numbers("rate"), rows.numbers("probability"), rows.numbers("threshold"));
    for (row, source) in table.iter().enumerate() {
        let change_rate: f64 = source[2].parse().unwrap();
        if source[3] == "0" {
            assert!(chance[row].is_nan() && threshold[row].is_nan(), "row {row}");
            continue;
        }
        let (p, k) = (chance[row], threshold[row]);
        assert!((0.0..=1.0).contains(&p) && k >= 1.0 && k.fract() == 0.0, "row {row}: {p} {k}");
        let changes_per_fetch = k * p + (k + 1.0) * (1.0 - p);
        let error = change_rate / rate[row] / changes_per_fetch - 1.0;
        assert!(error.abs() < 1e-9, "row {row}: off by {error}");
    }
}

#[test]
fn at_an_optimum_the_value_of_a_source_is_the_price_times_its_cost() {
    let folder = Folder::new(&[("s.csv", "change_rate,cost\n0.5,1\n2,3\n7,0.25\n")]);
    let plan = "plan s.csv --budget 4/day";
    let price = number(&folder.json(plan), "price").unwrap();
    let values = folder.rows(plan).numbers("value");
    for (value, cost) in values.iter().zip([1.0, 3.0, 0.25]) {
        assert!((value / cost / price - 1.0).abs() < 1e-9, "{values:?} at price {price}");
    }
}

#[test]
fn the_object_has_every_documented_key() {
    let folder = Folder::new(&[("s.csv", &generated(100))]);
    let report = folder.json("plan s.csv --budget 50%/day --objective age --timing poisson");
    let keys = [
        "sources",
        "budget",
        "spent",
        "price",
        "objective",
        "timing",
        "freshness",
        "age",
        "harmonic_cost",
        "binary_cost",
        "starved",
        "status",
        "gap",
        "passes",
        "solve_seconds",
    ];
    for key in keys {
        assert!(report.get(key).is_some_and(|value| !value.is_null()), "no `{key}` in {report}");
    }
    assert_eq!(report["sources"], 100);
    assert_eq!(report["budget"], 50.0);
    assert_eq!(report["objective"], "age");
    assert_eq!(report["timing"], "poisson");
    assert_eq!(report["status"], "optimal");
    assert!(number(&report, "gap").unwrap() <= 1e-9);
    assert!((number(&report, "spent").unwrap() / 50.0 - 1.0).abs() <= 1e-9);
}

#[test]
fn measures_are_weighted_by_importance() {
    // One fetch a day of each at random times: freshness is 1/(1 + c), age c/(1 + c), and the
    // harmonic cost ln(1 + c).
    let folder = Folder::new(&[("s.csv", "importance,change_rate\n3,1\n1,4\n")]);
    let report = folder.json("plan s.csv --budget 2/day --policy uniform --timing poisson");
    let freshness = (3.0 * 0.5 + 0.2) / 4.0;
    let expect = [
        ("freshness", freshness),
        ("binary_cost", 4.0 * (1.0 - freshness)),
        ("age", (3.0 * 0.5 + 0.8) / 4.0),
        ("harmonic_cost", 3.0 * 2f64.ln() + 5f64.ln()),
    ];
    for (key, expect) in expect {
        let got = number(&report, key).unwrap();
        assert!((got / expect - 1.0).abs() < 1e-12, "{key} is {got}, expected {expect}");
    }
}

#[test]
fn the_summary_goes_to_standard_error_and_can_be_omitted() {
    let folder = Folder::new(&[("s.csv", "change_rate\n1\n2\n")]);
    let ran = folder.run("plan s.csv --budget 4/day");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""));
    for word in ["2 sources, 4 fetches a day", "freshness", "price of a fetch", "equal polling"] {
        assert!(ran.err.contains(word), "no `{word}` in {}", ran.err);
    }
    let quiet = folder.run("plan s.csv --budget 4/day --quiet");
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
}
