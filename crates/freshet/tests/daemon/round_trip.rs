//! Exported sources can be imported again.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::instance::TestInstance;

/// Fields with the settings of a source; the other fields are statistics.
const SETTINGS: [&str; 10] = [
    "url",
    "importance",
    "cost",
    "min_interval_days",
    "max_interval_days",
    "tags",
    "objective",
    "settings",
    "paused",
    "observed",
];

fn select_fields(rows: &[Value], fields: &[&str]) -> Vec<Value> {
    let only = |row: &Value| fields.iter().map(|it| ((*it).to_owned(), row[*it].clone())).collect();
    rows.iter().map(only).map(Value::Object).collect()
}

/// Generates sources with arbitrary settings.
fn source() -> impl Strategy<Value = Value> {
    let objective = proptest::option::of(prop_oneof![
        Just("age".to_owned()),
        Just("freshness".to_owned()),
        Just("capture append decay:2d".to_owned()),
    ]);
    let settings =
        proptest::option::of((vec("[a-z]{1,8}", 1..3), 0.0..0.9).prop_map(|(ids, below)| {
            let select: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
            json!({ "select": select, "below": below })
        }));
    let interval = || proptest::option::of(0.001..1000.0_f64);
    let numbers = (0.0..1e6_f64, 0.001..1e3_f64, interval(), interval());
    let rest = (btree_set("[^\\p{C}\\p{Z}]{1,6}", 0..4), objective, settings, any::<[bool; 2]>());
    (numbers, rest).prop_map(|((importance, cost, one, other), (tags, goal, settings, flags))| {
        let (min, max) = match (one, other) {
            (Some(one), Some(other)) => (Some(one.min(other)), Some(one.max(other))),
            both => both,
        };
        json!({
            "importance": importance, "cost": cost, "min_interval_days": min,
            "max_interval_days": max, "tags": tags, "objective": goal, "settings": settings,
            "paused": flags[0], "observed": flags[1],
        })
    })
}

/// Returns 300 sources with different URLs, also as JSON lines.
fn sources() -> (Vec<Value>, String) {
    let mut runner = TestRunner::deterministic();
    let mut rows = vec(source(), 300).new_tree(&mut runner).unwrap().current();
    for (at, row) in rows.iter_mut().enumerate() {
        row["url"] =
            format!("https://h{}.example/{at}?q=\u{e4}", at % 7).replace('\u{e4}', "%C3%A4").into();
    }
    let lines = rows.iter().map(|row| format!("{row}\n")).collect();
    (rows, lines)
}

#[test]
fn a_json_export_restores_all_settings() {
    let (rows, lines) = sources();
    let first = TestInstance::new("");
    first.write("s.json", &lines);
    first.run(&["import", "s.json", "--format", "json"]).ok();
    first.run(&["export", "--format", "json", "-o", "out.json"]).ok();
    let exported: Vec<Value> =
        first.read("out.json").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(select_fields(&exported, &SETTINGS), select_fields(&rows, &SETTINGS));
    let second = TestInstance::new("");
    second.write("out.json", first.read("out.json"));
    // The format is detected.
    second.run(&["import", "out.json"]).ok();
    assert_eq!(
        select_fields(&second.lines(&["ls", "-n", "0", "--json"]), &SETTINGS),
        select_fields(&rows, &SETTINGS)
    );
}

#[test]
fn a_table_export_restores_the_settings_in_its_columns() {
    let (rows, lines) = sources();
    let first = TestInstance::new("");
    first.write("s.json", &lines);
    first.run(&["import", "s.json", "--format", "json"]).ok();
    for table in ["t.csv", "t.tsv.gz", "t.jsonl", "t.parquet"] {
        first.run(&["export", "-o", table]).ok();
        let second = TestInstance::new("");
        second.write(table, std::fs::read(first.path(table)).unwrap());
        second.run(&["import", table]).ok();
        let back = second.lines(&["ls", "-n", "0", "--json"]);
        let same = ["url", "importance", "cost", "paused", "observed"];
        assert_eq!(select_fields(&back, &same), select_fields(&rows, &same), "{table}");
        for (row, back) in rows.iter().zip(&back).filter(|(row, _)| row["paused"] == false) {
            for interval in ["min_interval_days", "max_interval_days"] {
                match (row[interval].as_f64(), back[interval].as_f64()) {
                    (Some(days), Some(back)) => assert!((back / days - 1.0).abs() < 1e-12),
                    (days, back) => assert_eq!(days, back, "{table}: {row}"),
                }
            }
        }
    }
    first.run(&["export", "--format", "urls", "-o", "urls.txt"]).ok();
    let second = TestInstance::new("");
    second.write("urls.txt", first.read("urls.txt"));
    second.run(&["import", "urls.txt"]).ok();
    let back = second.lines(&["ls", "-n", "0", "--json"]);
    assert_eq!(select_fields(&back, &["url"]), select_fields(&rows, &["url"]));
}
