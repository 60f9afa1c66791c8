//! `freshet simulate --scenario`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Folder, number};

/// Simulation with one interval of the series per day.
const SMALL: &str =
    "simulate --sources 200 --days 60 --burn-in 0 --seeds 1 --quiet --scenario s.toml";

fn folder(scenario: &str) -> Folder {
    Folder::new(&[("s.toml", scenario), ("s.csv", "id,change_rate,host\na,1,x\nb,0.5,y\nc,2,y\n")])
}

/// Returns the requests of a policy per day.
fn requests(result: &Value, policy: usize) -> Vec<f64> {
    let series = result["policies"][policy]["series"]["requests"].as_array().unwrap();
    series.iter().map(|it| it.as_f64().unwrap()).collect()
}

#[test]
fn a_budget_changes_and_the_report_has_its_mean() {
    let folder = folder(
        "[[budget]]\nday = 20\nbudget = \"50%\"\n[[budget]]\nday = 40\nbudget = \"0/day\"\n\
         [[budget]]\nday = 50\nbudget = \"100/day\"\n",
    );
    let policies = "engine,optimum,uniform,fixed";
    let result = folder.json(&format!("{SMALL} --budget 60/day --policies {policies}"));
    assert_eq!(number(&result, "budget"), Some((20.0 * 60.0 + 20.0 * 30.0 + 10.0 * 100.0) / 60.0));
    let turns = serde_json::json!([
        {"day": 20.0, "what": "budget 50 %"},
        {"day": 40.0, "what": "budget 0/day"},
        {"day": 50.0, "what": "budget 100/day"},
    ]);
    assert_eq!(result["scenario"], turns);
    let engine = requests(&result, 0);
    for (from, to, expect) in [(0, 20, 60.0), (20, 40, 30.0), (40, 50, 0.0), (50, 60, 100.0)] {
        let spent = engine[from..to].iter().sum::<f64>() / (to - from) as f64;
        assert!((spent - expect).abs() <= 0.01 * expect, "{from}–{to}: {spent}");
    }
    for policy in result["policies"].as_array().unwrap() {
        let spent = number(policy, "requests").unwrap() / 2800.0;
        assert!((spent - 1.0).abs() < 0.03, "{}: {spent}", policy["name"]);
    }
}

/// Runs the example of the documentation, which `--help` also shows.
#[test]
fn the_documented_example_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/simulation.md");
    let page = fs::read_to_string(page).unwrap();
    let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = folder(example);
    let help = folder.run("simulate --help").out;
    for line in example.lines().filter(|line| !line.is_empty()) {
        assert!(help.contains(line), "--help does not contain `{line}`");
    }
    let run = "simulate --sources 1200 --days 90 --seeds 1 --policies engine,optimum --out o \
               --scenario s.toml";
    let ran = folder.run(run);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    for words in [
        "scenario s.toml:\n  day 30: budget 50 %\n  day 45: budget 100 %\n",
        "  day 50: 10 % of the sources change × 10\n",
        "  day 60: 30 % of the hosts silent\n  day 80.5: 1000 sources come\n",
    ] {
        assert!(ran.err.contains(words), "no `{words}` in\n{}", ran.err);
    }
    assert_eq!(ran.err.lines().find(|line| line.chars().count() > 100), None);
    let svg = folder.read("o/over_time.svg");
    for mark in ["30: budget 50 %", "60: 30 % of the hosts silent", "80.5: 1000 sources come"] {
        assert!(svg.contains(&format!(">{mark}<")), "the chart does not contain `{mark}`");
    }
    let again = self::folder(example);
    assert_eq!(again.run(&format!("{run} --jobs 1")).err, ran.err);
    for name in ["series.csv", "over_time.svg", "policies.csv"] {
        let name = format!("o/{name}");
        assert_eq!(again.read(&name), folder.read(&name), "{name}: the same seed, other bytes");
    }
}

#[test]
fn hosts_and_sources_by_name() {
    let folder = folder(
        "[[outage]]\nday = 10\ndays = 5\nhosts = [\"y\"]\n[[rates]]\nday = 20\nsources = [\"a\"]\n\
         factor = 0\n",
    );
    let run = "simulate s.csv --days 30 --burn-in 0 --seeds 1 --budget 6/day --scenario s.toml \
               --policies engine --explain";
    let moments = |source: &str| folder.json(&format!("{run} {source}"));
    let failed = |source: &str| {
        let all = moments(source);
        all.as_array().unwrap().iter().filter(|it| it["outcome"] == "failed").count()
    };
    assert_eq!(failed("a"), 0);
    assert!(failed("b") + failed("c") > 0);
    let a = moments("a");
    let last = a.as_array().unwrap().iter().rfind(|it| it["event"] == "changed").unwrap();
    assert!(number(last, "day").unwrap() < 20.0, "{last}");
}

#[track_caller]
fn check_refused(scenario: &str, arguments: &str, fact: &str, hint: &str) {
    let folder = folder(scenario);
    let ran = folder.run(&format!("{SMALL} {arguments}"));
    let expect = format!("error: {fact}\n\nhint: {hint}\n");
    assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(2), "", expect));
}

#[test]
fn invalid_scenarios_are_rejected() {
    check_refused(
        "[[budget]]\nday = 3\nbugdet = \"50%\"\n",
        "",
        "s.toml, line 3: unknown field `bugdet`, expected `day` or `budget`",
        "such as [[budget]] with `day = 30` and `budget = \"50%\"`",
    );
    check_refused(
        "[[outage]]\nday = 3\nhosts = \"30\"\n",
        "",
        "s.toml, line 3: `hosts = \"30\"` is not a share such as \"30%\" or a list of names or \
         numbers such as [1, 2]",
        "such as [[outage]] with `day = 60`, `hosts = \"30%\"`, and optionally `days = 1` and `kind \
         = \"timeout\"`",
    );
    check_refused(
        "[[fault]]\nday = 3\n",
        "",
        "s.toml, line 1: unknown field `fault`, expected one of `budget`, `outage`, `arrival`, \
         `rates`",
        "a scenario has [[budget]], [[outage]], [[arrival]] and [[rates]]; `freshet simulate --help` \
         shows one",
    );
    check_refused(
        "# late\n\n[[budget]]\nday = 60\nbudget = \"50%\"\n",
        "",
        "s.toml, line 3: day 60 is not in the time that is simulated, from day 0 to day 60",
        "choose an earlier day, or increase --days",
    );
    check_refused(
        "[[arrival]]\nday = 3\nsources = 201\n",
        "",
        "s.toml, line 1: 201 sources are to be added, but there are only 200 in total",
        "add fewer sources, or increase --sources or the table",
    );
    check_refused(
        "[[outage]]\nday = 3\nhosts = [21]\n",
        "",
        "s.toml, line 1: there is no host `21`",
        "hosts are numbered from 1 to 20",
    );
    check_refused(
        "[[rates]]\nday = 3\nsources = \"100%\"\nfactor = 3\n",
        "--web slots --rates equal:0.5",
        "source 1: change rate 1.5 is not the probability of a change in a slot (below 1)",
        "give probabilities below 1, or choose another `--web`: with slots a rate is the probability \
         of a change in a day",
    );
}

#[test]
fn missing_scenarios_and_those_that_a_trace_does_not_support_are_rejected() {
    let folder = folder("[[arrival]]\nday = 1\nsources = 1\n");
    let ran = folder.run("simulate --scenario none.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("error: cannot read the scenario none.toml: "), "{}", ran.err);
    fs::write(folder.path("t.csv"), "page_id,unix_time\n1,0\n1,864000\n").unwrap();
    let ran = folder.run("simulate --trace t.csv --scenario s.toml --policies engine");
    assert_eq!(ran.code, Some(2));
    let words =
        "s.toml, line 1: the sources of a trace appear and change as recorded\n\nhint: remove";
    assert!(ran.err.contains(words), "{}", ran.err);
}
