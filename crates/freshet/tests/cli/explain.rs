//! `freshet simulate --explain`.

use serde_json::Value;

use crate::{Folder, number};

const SMALL: &str = "simulate --sources 60 --days 40";

fn folder() -> Folder {
    Folder::new(&[
        ("s.csv", "id,change_rate,host\nnews.example/a,9,x\nnews.example/b,0.01,y\n"),
        ("t.csv", "page_id,unix_time\n1,100000\n2,600000\n1,1000000\n1,1500000\n"),
        (
            "t_pages.csv",
            "page_id,birth_unix,end_unix,n_changes,path\n1,0,1728000,3,a/one\n2,432000,864000,1,b/two\n",
        ),
        ("zero.toml", "[[budget]]\nday = 5\nbudget = \"0/day\"\n"),
    ])
}

#[test]
fn a_timeline_ends_with_the_final_state() {
    let folder = folder();
    let ran = folder.run(&format!("{SMALL} --explain 7"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    let expect = "source 7 of 60; engine, objective harmonic, budget 0.2/source/day, seed 1";
    assert_eq!(lines[0], expect);
    for words in [" event ", "added, with a copy", "fetched (value): ", ": value\n", " end "] {
        assert!(ran.out.contains(words), "no `{words}` in\n{}", ran.out);
    }
    let last = ran.out.split("\n\n").last().unwrap();
    assert!(last.starts_with("source 7 on day 39.9"), "{last}");
    assert!(last.contains("\n  changes   every ") && last.contains("\n  host      "), "{last}");
    assert_eq!(lines.iter().find(|line| line.chars().count() > 130), None);
    assert_eq!(folder.run(&format!("{SMALL} --explain 7 --seeds 3 --jobs 1")).out, ran.out);
    assert_ne!(folder.run(&format!("{SMALL} --explain 7 --seed 2")).out, ran.out);
    assert_eq!(folder.run(&format!("{SMALL} --explain 7 --policies engine")).out, ran.out);
}

#[test]
fn long_timelines_are_sampled_and_the_json_has_every_event() {
    let folder = folder();
    let run = "simulate s.csv --budget 6/day --days 60 --explain news.example/a";
    let ran = folder.run(run);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("source news.example/a, number 1 of 2; "), "{}", ran.out);
    let moments = folder.json(run);
    let moments = moments.as_array().unwrap();
    assert!(moments.len() > 200, "{}", moments.len());
    let note = format!("60 of {} events, sampled evenly: --json prints all\n", moments.len());
    assert!(ran.out.contains(&note), "{}", ran.out);
    let table = ran.out.split("\n\n").nth(1).unwrap();
    assert_eq!(table.lines().count(), 62);

    let fetched: Vec<&Value> = moments.iter().filter(|it| it["event"] == "fetched").collect();
    assert!(!fetched.is_empty());
    for it in &fetched {
        // Each fetch has the age of the copy and the value at its time.
        assert!(number(it, "age").unwrap() > 0.0, "{it}");
        assert!(number(it, "worth").unwrap() > 0.0 && number(it, "price").unwrap() > 0.0, "{it}");
        assert!(it["reason"].is_string() && it["outcome"].is_string(), "{it}");
        assert_eq!(it["missed"], 0, "{it}");
        assert!((number(it, "true_interval").unwrap() - 1.0 / 9.0).abs() < 1e-9, "{it}");
        let of = |key| number(it, key).unwrap();
        assert!(of("interval_low") < of("interval") && of("interval") < of("interval_high"));
    }
    assert!(moments.iter().is_sorted_by_key(|it| number(it, "day")));
    assert_eq!(moments.last().unwrap()["event"], "end");
}

#[test]
fn without_a_budget_a_source_is_not_fetched() {
    let folder = folder();
    let run = "simulate s.csv --budget 6/day --days 60 --scenario zero.toml --explain";
    let moments = folder.json(&format!("{run} news.example/b"));
    let after: Vec<&Value> =
        moments.as_array().unwrap().iter().filter(|it| number(it, "day") > Some(5.0)).collect();
    assert!(after.iter().any(|it| it["event"] == "waits"), "{after:?}");
    assert!(after.iter().all(|it| it["event"] != "fetched"), "{after:?}");
    let out = folder.run(&format!("{run} news.example/b")).out;
    assert!(out.contains("budget 0/day"), "{out}");
}

#[test]
fn a_page_of_a_trace_is_added_and_removed() {
    let folder = folder();
    let moments = folder.json("simulate --trace t.csv --budget 2/day --explain b/two");
    let moments = moments.as_array().unwrap();
    let events: Vec<&str> = moments.iter().map(|it| it["event"].as_str().unwrap()).collect();
    assert_eq!((events[0], number(&moments[0], "day")), ("described", Some(5.0)));
    assert!(events.contains(&"removed") && events.contains(&"changed"), "{events:?}");
    // One change in the five days of its life.
    assert_eq!(number(&moments[0], "true_interval"), Some(5.0));
    let out = folder.run("simulate --trace t.csv --budget 2/day --explain b/two").out;
    assert!(out.contains("  removed"), "{out}");
}

#[test]
fn unknown_sources_and_contradictory_options_are_rejected() {
    let folder = folder();
    let check = |arguments: &str, expect: &str| {
        let ran = folder.run(&format!("simulate {arguments}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}");
        assert!(ran.err.starts_with(expect), "{arguments}: {}", ran.err);
    };
    for number in ["0", "1001", "x"] {
        check(
            &format!("--explain {number}"),
            &format!(
                "error: there is no source `{number}`\n\nhint: sources are numbered from 1 to 1000\n"
            ),
        );
    }
    check(
        "s.csv --explain news.exmaple/a",
        "error: there is no source `news.exmaple/a`\n\nhint: did you mean `news.example/a`?\n",
    );
    check(
        "s.csv --explain 1",
        "error: there is no source `1`\n\nhint: sources have names such as `news.example/a`\n",
    );
    check(
        "--explain 1 --policies engine,uniform",
        "error: --explain shows the estimates of the engine, and --policies contains `uniform`\n\n\
         hint: remove --policies or --explain\n",
    );
    check("--explain 1 --out o", "error: the argument '--explain <SOURCE>' cannot be used with");
}
