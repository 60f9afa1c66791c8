//! `freshet simulate`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{Folder, generated, number};

/// Small enough for a test, large enough for every policy to have something to do.
const SMALL: &str = "simulate --sources 40 --days 20 --seeds 2";

const PAGES: &str = "page_id,birth_unix,end_unix,n_changes,path
1,0,1728000,3,a/one
2,0,1728000,0,a/two
3,432000,864000,1,b/three
";
const CHANGES: &str = "page_id,unix_time
1,100000
3,600000
1,1000000
1,1500000
";

fn trace() -> Folder {
    Folder::new(&[("t.csv", CHANGES), ("t_pages.csv", PAGES)])
}

#[track_caller]
fn policies(result: &Value) -> &Vec<Value> {
    result["policies"].as_array().unwrap()
}

fn name(policy: &Value) -> &str {
    policy["name"].as_str().unwrap()
}

#[test]
fn the_json_object_has_the_settings_and_the_results() {
    let folder = Folder::new(&[]);
    let result = folder.json(&format!("{SMALL} --policies optimum,uniform,fixed --quiet"));
    assert_eq!(
        (&result["sources"], &result["seeds"], &result["seed"]),
        (&40.into(), &2.into(), &1.into())
    );
    assert_eq!((number(&result, "days"), number(&result, "burn_in")), (Some(20.0), Some(10.0)));
    assert_eq!(number(&result, "budget"), Some(8.0));
    let words = [("objective", "harmonic"), ("timing", "periodic"), ("web", "poisson")];
    for (key, expect) in words {
        assert_eq!(result[key], expect, "{key}");
    }
    assert_eq!((&result["trace"], &result["table"]), (&Value::Null, &Value::Null));
    let names: Vec<&str> = policies(&result).iter().map(name).collect();
    assert_eq!(names, ["optimum", "uniform", "fixed"]);
    let pieces = result["series_days"].as_array().unwrap().len();
    for policy in policies(&result) {
        // Equal numbers of requests, as far as so small a web can be scaled.
        let requests = number(policy, "requests").unwrap();
        assert!((requests / 80.0 - 1.0).abs() < 0.1, "{policy}");
        assert!(policy["requests_interval"]["low"].as_f64().unwrap() <= requests);
        for key in ["freshness", "age", "harmonic_cost", "captured", "delay", "found", "host_load"]
        {
            let of = |end| policy[key][end].as_f64().unwrap_or_else(|| panic!("{key}: {policy}"));
            assert!(of("low") <= of("mean") && of("mean") <= of("high"), "{key}: {policy}");
        }
        for key in ["freshness", "age", "harmonic_cost", "requests", "regret"] {
            assert_eq!(policy["series"][key].as_array().unwrap().len(), pieces, "{key}");
        }
        assert_eq!(policy["scale"].is_null(), name(policy) != "fixed");
    }
}

#[test]
fn the_bound_is_not_beaten_by_equal_polling() {
    let folder = Folder::new(&[]);
    for (objective, measure, sign) in
        [("harmonic", "harmonic_cost", 1.0), ("freshness", "freshness", -1.0), ("age", "age", 1.0)]
    {
        let run = format!(
            "simulate --sources 200 --days 60 --seeds 1 --policies optimum,uniform --quiet \
             --objective {objective}"
        );
        let result = folder.json(&run);
        let cost = |at: usize| sign * policies(&result)[at][measure]["mean"].as_f64().unwrap();
        assert!(cost(0) < cost(1), "{objective}: {} {}", cost(0), cost(1));
    }
}

#[test]
fn the_capture_objective_reports_utility() {
    let folder = Folder::new(&[]);
    let run = format!(
        "{SMALL} --objective capture --life changes:3 --urgency decay:12h --policies wic,uniform"
    );
    let ran = folder.run(&format!("{run} --json --out o"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let words = "objective capture, life changes:3, urgency decay:12h, timing periodic";
    assert!(ran.err.contains(words), "{}", ran.err);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    let words = [("objective", "capture"), ("life", "changes:3"), ("urgency", "decay:12h")];
    for (key, expect) in words {
        assert_eq!(result[key], expect, "{key}");
    }
    let pieces = result["series_days"].as_array().unwrap().len();
    for policy in policies(&result) {
        let utility = policy["utility"]["mean"].as_f64().unwrap();
        assert!(utility > 0.0 && utility < 1.0, "{policy}");
        for key in ["utility", "regret"] {
            assert_eq!(policy["series"][key].as_array().unwrap().len(), pieces, "{key}");
        }
    }
    assert!(folder.read("o/policies.csv").lines().next().unwrap().contains(",utility_low,"));
    for name in ["policies.svg", "over_time.svg"] {
        let svg = folder.read(&format!("o/{name}"));
        assert!(svg.contains(">utility") && !svg.contains("NaN"), "{name}");
    }
    assert!(folder.read("o/policies.svg").contains(">offline<"));

    // By default, an update lasts until the next change and keeps its value.
    let result = folder.json(&format!("{SMALL} --objective capture --policies uniform --quiet"));
    assert_eq!((&result["life"], &result["urgency"]), (&"overwrite".into(), &"uniform".into()));
    // Other objectives have no utility.
    let result = folder.json(&format!("{SMALL} --policies uniform --quiet"));
    assert_eq!((&result["life"], &result["urgency"]), (&Value::Null, &Value::Null));
    assert_eq!(policies(&result)[0]["utility"]["mean"], Value::Null);
}

#[test]
fn one_seed_has_no_interval() {
    let folder = Folder::new(&[]);
    let result = folder
        .json(&format!("{SMALL} --seeds 1 --policies uniform --quiet").replace("--seeds 2 ", ""));
    let freshness = &policies(&result)[0]["freshness"];
    assert!(freshness["mean"].is_number());
    assert_eq!((&freshness["low"], &freshness["high"]), (&Value::Null, &Value::Null));
    assert_eq!(policies(&result)[0]["series"]["regret"], Value::Array(Vec::new()), "no bound");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let files = ["policies.csv", "series.csv", "policies.svg", "over_time.svg"];
    let run = |jobs: &str| {
        let folder = Folder::new(&[]);
        let ran = folder.run(&format!("{SMALL} --json --out o {jobs}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let written: Vec<String> =
            files.iter().map(|name| folder.read(&format!("o/{name}"))).collect();
        (ran.out, ran.err, written)
    };
    let once = run("--jobs 1");
    assert!(once == run("--jobs 2"), "the number of threads shows");
    assert!(once == run("--threads 2"), "a second run differs");
    assert!(once.0 != run("--seed 7").0, "the seed is of no use");
}

#[test]
fn every_policy_and_every_variant_runs() {
    let folder = Folder::new(&[]);
    let help = folder.run("simulate --help").out;
    let listed = help.split("Policies (--policies):").nth(1).unwrap();
    let listed = listed.split("optimum, greedy, wic and").next().unwrap();
    let mut names = Vec::new();
    for line in listed.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with("  ") && !line.starts_with("   ") {
            names.push(words[0].to_owned());
        }
        names.extend(
            words
                .iter()
                .map(|word| word.trim_end_matches(','))
                .filter(|word| {
                    word.split_once(':').is_some_and(|(name, variant)| {
                        !variant.is_empty() && names.iter().any(|known| known == name)
                    })
                })
                .map(str::to_owned)
                .collect::<Vec<_>>(),
        );
    }
    assert!(names.len() > 20 && names.contains(&"optimum:edf".to_owned()), "{names:?}");
    for (objective, others, measure) in
        [("harmonic", "wic", "freshness"), ("capture", "optimum", "utility")]
    {
        let fit: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !name.starts_with(others)).collect();
        assert!(fit.len() < names.len(), "{others}");
        let run = format!(
            "{SMALL} --policies {} --shape azar --objective {objective} --quiet",
            fit.join(",")
        );
        let result = folder.json(&run);
        for policy in policies(&result) {
            assert!(policy[measure]["mean"].is_number(), "{policy}");
        }
        assert_eq!(policies(&result).len(), fit.len());
    }
}

#[test]
fn every_web_and_shape_runs() {
    let folder = Folder::new(&[]);
    for web in ["poisson", "bursty", "drifting", "diurnal", "slots"] {
        let result = folder.json(&format!("{SMALL} --web {web} --policies uniform,nutch --quiet"));
        assert_eq!(result["web"], web);
        assert!(policies(&result)[0]["freshness"]["mean"].is_number());
    }
    for shape in ["default", "azar", "kolobov"] {
        let run = format!("{SMALL} --shape {shape} --policies uniform --quiet");
        assert_eq!(folder.json(&run)["sources"], 40, "{shape}");
    }
    let run = format!(
        "{SMALL} --rates gamma:0.5,0.3 --importance zipf:0.8 --observed-share 0.5 --per-host 4 \
         --fault timeout:0.3 --fault gone:0.1 --timing poisson --observed random --quiet"
    );
    let result = folder.json(&run);
    assert_eq!(
        (&result["rates"], &result["importance"]),
        (&"gamma:0.5,0.3".into(), &"zipf:0.8".into())
    );
    assert_eq!(result["faults"], serde_json::json!(["timeout:0.3", "gone:0.1"]));
}

#[test]
fn a_table_is_a_web() {
    let folder = Folder::new(&[("s.csv", &generated(40))]);
    let ran = folder.run("simulate s.csv --days 20 --seeds 2 --policies optimum,uniform --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.starts_with("s.csv: not simulated: cost\n"), "{}", ran.err);
    assert!(ran.err.contains("table s.csv, web poisson"), "{}", ran.err);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&result["sources"], &result["table"]), (&40.into(), &"s.csv".into()));
}

#[test]
fn a_trace_is_a_web() {
    let folder = trace();
    let run = "simulate --trace t.csv --budget 0.5/source/day --seeds 1 --policies uniform,fixed";
    let result = folder.json(&format!("{run} --quiet"));
    assert_eq!((&result["sources"], &result["trace"]), (&3.into(), &"t.csv".into()));
    assert_eq!((number(&result, "days"), number(&result, "burn_in")), (Some(20.0), Some(10.0)));
    // In the second half two of the three pages are there.
    assert_eq!(number(&result, "budget"), Some(1.0));
    // The other file of pages, by its name.
    fs::rename(folder.path("t_pages.csv"), folder.path("other.csv")).unwrap();
    assert_eq!(folder.json(&format!("{run} --quiet --pages other.csv")), result);
    let alone = folder.run(run);
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    assert!(alone.err.starts_with("t.csv: there is no file of pages"), "{}", alone.err);
}

#[test]
fn signals_affect_only_the_policies_that_use_them() {
    let folder = Folder::new(&[]);
    let run = |signals: &str| {
        let policies = "engine:ignoring,engine:blind,lambda,lambda:ignoring,nutch";
        folder.json(&format!("{SMALL} --policies {policies} --quiet {signals}"))
    };
    let (without, with) = (run(""), run("--signals recall=0.9,precision=0.5,delay=1h"));
    assert_eq!(with["signals"], "recall=0.9,precision=0.5,delay=1h");
    assert_eq!((&without["signals"], &with["signal_trace"]), (&Value::Null, &Value::Null));
    let same: Vec<&str> = policies(&with)
        .iter()
        .zip(policies(&without))
        .filter(|(with, without)| with == without)
        .map(|(with, _)| name(with))
        .collect();
    assert_eq!(same, ["engine:ignoring", "lambda:ignoring", "nutch"]);
    // By default, the variants with different uses of signals are compared.
    let all = folder.json(&format!("{SMALL} --quiet --signals liar"));
    let names: Vec<&str> = policies(&all).iter().map(name).collect();
    assert_eq!(names[..3], ["engine", "engine:ignoring", "engine:blind"]);
    assert!(names.contains(&"lambda:ignoring"), "{names:?}");
    assert_eq!(all["signals"], "liar:every=1d");
}

#[test]
fn signals_of_a_second_trace() {
    let folder = trace();
    // Signals about the same pages with other numbers, from day 5 to day 15.
    let pages = "page_id,birth_unix,end_unix,path\n7,0,1296000,b/three\n8,0,1296000,a/one\n";
    let signals = "page_id,unix_time\n8,432000\n7,600000\n8,1000000\n8,1200000\n";
    fs::write(folder.path("s_pages.csv"), pages).unwrap();
    fs::write(folder.path("s.csv"), signals).unwrap();
    let run = "simulate --trace t.csv --signal-trace s.csv --budget 1/source/day --seeds 1 --json";
    let ran = folder.run(&format!("{run} --policies engine,lambda,uniform"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&result["signal_trace"], &result["signals"]), (&"s.csv".into(), &Value::Null));
    assert_eq!(number(&result, "days"), Some(10.0));
    assert!(ran.err.contains("t.csv: 10 of its 20 days are simulated"), "{}", ran.err);
    assert!(ran.err.contains("signals of s.csv"), "{}", ran.err);

    fs::write(folder.path("x.csv"), "page_id,unix_time\n9,432000\n9,600000\n").unwrap();
    let ran = folder.run("simulate --trace t.csv --signal-trace x.csv");
    let fact = "the signals are about 1 sources, none of which is among the 3 of the trace";
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains(fact) && ran.err.contains("hint: both traces"), "{}", ran.err);
}

/// The raw bytes of real pages change a hundred times as often as their text: signals with high recall and
/// very low precision.
#[test]
#[allow(clippy::print_stderr)]
fn a_real_and_very_noisy_stream_of_signals_does_not_reduce_freshness() {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if !traces.is_dir() {
        eprintln!("skipped: there are no traces in {}", traces.display());
        return;
    }
    let of = |name: &str| traces.join(format!("{name}.csv.gz")).display().to_string();
    let result = Folder::new(&[]).json(&format!(
        "simulate --trace {} --signal-trace {} --objective freshness --budget 0.1/source/day --days 120 \
         --seeds 1 --policies engine,engine:ignoring,engine:blind --quiet",
        of("ota_contrib"),
        of("ota_contrib_rawsnap")
    ));
    let [engine, ignoring, blind] =
        [0, 1, 2].map(|at| policies(&result)[at]["freshness"]["mean"].as_f64().unwrap());
    assert!(engine > 0.98 * ignoring, "{engine} instead of {ignoring}");
    assert!(blind < 0.98 * ignoring, "{blind} instead of {ignoring}");
}

#[test]
fn burn_in_is_days_or_a_share() {
    let folder = Folder::new(&[]);
    for (given, expect) in [("5", 5.0), ("25%", 5.0), ("0", 0.0)] {
        let run = format!("{SMALL} --burn-in {given} --policies uniform --quiet");
        assert_eq!(number(&folder.json(&run), "burn_in"), Some(expect), "{given}");
    }
}

#[test]
fn the_output_directory_has_tables_and_charts() {
    let folder = Folder::new(&[]);
    let ran = folder.run(&format!("{SMALL} --policies optimum,uniform,nutch --out a/b"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
    let mut names: Vec<String> = fs::read_dir(folder.path("a/b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["over_time.svg", "policies.csv", "policies.svg", "series.csv"]);

    let table = folder.read("a/b/policies.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("policy,scale,requests,requests_low,requests_high,freshness,"));
    assert_eq!(lines.len(), 4);
    assert!(lines[3].starts_with("nutch,") && !lines[3].starts_with("nutch,,"));
    let series = folder.read("a/b/series.csv");
    assert!(series.starts_with("day,policy,freshness,age,harmonic_cost,utility,requests,regret\n"));
    assert_eq!((series.lines().count() - 1) % 3, 0);

    for name in ["policies.svg", "over_time.svg"] {
        let svg = folder.read(&format!("a/b/{name}"));
        let svg = svg.trim_end();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
        for tag in ["<g ", "<text", "<style", "<desc"] {
            let close = format!("</{}>", tag.trim_start_matches('<').trim());
            assert_eq!(svg.matches(tag).count(), svg.matches(&close).count(), "{name}: {tag}");
        }
        for word in ["optimum", "uniform", "nutch", "harmonic cost", "40 sources"] {
            assert!(svg.contains(word), "{name} does not contain `{word}`");
        }
    }
    assert!(folder.read("a/b/policies.svg").contains(">bound<"));
    assert!(folder.read("a/b/over_time.svg").contains(">not measured<"));
}

#[test]
fn the_summary_fits_a_terminal_and_names_the_best_policy() {
    let folder = Folder::new(&[]);
    for objective in ["harmonic", "freshness", "age", "capture"] {
        let ran = folder.run(&format!("{SMALL} --objective {objective}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        let wide = ran.err.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None);
        let known = if objective == "capture" { "wic (offline)" } else { "optimum (bound)" };
        for word in ["40 sources, 8 requests a day", known, "(best)", "objective:"] {
            assert!(ran.err.contains(word), "no `{word}` in\n{}", ran.err);
        }
    }
    let ran = folder.run(&format!("{SMALL} --policies uniform --quiet"));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
}

/// Checks that arguments are rejected with this message, and that nothing is written.
#[track_caller]
fn check_refused(arguments: &str, fact: &str, hint: &str) {
    let folder = trace();
    fs::write(folder.path("s.csv"), "change_rate\n1\n2\n").unwrap();
    let ran = folder.run(&format!("simulate {arguments} --out o"));
    let expect = format!("error: {fact}\n\nhint: {hint}\n");
    assert_eq!((ran.code, ran.out.as_str(), ran.err), (Some(2), "", expect));
    assert_eq!(folder.names(), ["s.csv", "t.csv", "t_pages.csv"]);
}

#[test]
fn contradictory_options_are_rejected() {
    check_refused(
        "s.csv --trace t.csv",
        "both a table of sources and a trace are given: `s.csv` and `t.csv`",
        "remove `s.csv` or `--trace t.csv`",
    );
    for (option, value) in [
        ("--rates", "equal"),
        ("--shape", "azar"),
        ("--sources", "9"),
        ("--observed-share", "0.1"),
        ("--per-host", "3"),
    ] {
        check_refused(
            &format!("s.csv {option} {value}"),
            &format!("{option} requires a synthetic web, and the sources come from `s.csv`"),
            &format!("remove {option} or `s.csv`"),
        );
        check_refused(
            &format!("--trace t.csv {option} {value}"),
            &format!(
                "{option} requires a synthetic web, and the sources come from the trace `t.csv`"
            ),
            &format!("remove {option} or --trace"),
        );
    }
    check_refused(
        "s.csv --importance zipf",
        "--importance requires a synthetic web or a trace, and `s.csv` is a table",
        "use the column `importance` of the table",
    );
    check_refused(
        "--trace t.csv --signal-trace t.csv --signals liar",
        "--signals liar:every=1d generates signals, and the trace `t.csv` has its own",
        "remove --signals or --signal-trace",
    );
    check_refused(
        "--signal-trace t.csv",
        "--signal-trace `t.csv` contains signals about the pages of a trace, and there is no trace",
        "give the changes with --trace, or generate signals with --signals",
    );
    check_refused(
        "--trace t.csv --web bursty",
        "--web bursty generates changes, and the trace `t.csv` has its own",
        "remove --web or --trace",
    );
    check_refused(
        "--pages t_pages.csv",
        "--pages `t_pages.csv` requires a trace, and none is given",
        "give the changes of these pages with --trace FILE",
    );
    check_refused(
        "--trace git:. --pages t_pages.csv",
        "--pages `t_pages.csv` requires a trace from a file, and `git:.` has its own pages",
        "remove --pages",
    );
    check_refused(
        "--policies uniform,nutch,uniform",
        "the policy `uniform` is given twice",
        "give each policy once in --policies",
    );
    check_refused(
        "--life append",
        "--life append requires --objective capture, and the objective is harmonic",
        "remove --life, or give --objective capture",
    );
    check_refused(
        "--objective age --urgency decay:1440m",
        "--urgency decay:1d requires --objective capture, and the objective is age",
        "remove --urgency, or give --objective capture",
    );
    check_refused(
        "--objective capture --policies uniform,optimum:edf",
        "the policy `optimum:edf` does not support the objective capture",
        "remove it from --policies: it plans rates, which cannot capture; see also `wic`",
    );
    check_refused(
        "--policies wic",
        "the policy `wic` does not support the objective harmonic",
        "remove it from --policies, or give `--objective capture`",
    );
}

#[test]
fn invalid_times_are_rejected() {
    check_refused(
        "--trace t.csv --days 21",
        "the trace `t.csv` has 20 days, and --days is 21",
        "remove --days to simulate the whole trace",
    );
    for days in ["0", "-3", "2000000"] {
        check_refused(
            &format!("--days {days}"),
            &format!("cannot simulate {days} days: expected more than 0 and at most 1e6"),
            "give a number of days, such as `--days 60`",
        );
    }
    check_refused(
        "--days 10 --burn-in 10",
        "a burn-in of 10 days leaves nothing of 10 days to measure",
        "give a shorter `--burn-in`, such as `50%`, or more `--days`",
    );
}

#[test]
fn too_large_simulations_and_invalid_probabilities_are_rejected() {
    check_refused(
        "--sources 1000 --days 1000000 --rates equal:10000",
        "about 2.000e8 requests and 1.000e13 changes are too many to simulate (at most 2e10)",
        "use fewer sources or days, or a smaller budget",
    );
    check_refused(
        "s.csv --web slots",
        "source 1: change rate 1 is not the probability of a change in a slot (below 1)",
        "give probabilities below 1, or choose another `--web`: with slots a rate is the probability \
         of a change in a day",
    );
}

#[test]
fn an_invalid_output_directory_is_rejected() {
    let folder = Folder::new(&[("file", "")]);
    let ran = folder.run(&format!("{SMALL} --out file/deep/results"));
    let expect = "error: cannot write to file/deep/results: file is not a directory\n\n\
                  hint: choose another path\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), expect));
}

#[test]
fn invalid_values_are_rejected() {
    let folder = Folder::new(&[]);
    for (arguments, words) in [
        ("--policies best", "unknown policy `best` (known: "),
        ("--policies nutch:fast", "unknown variant of that policy `fast` (it has none)"),
        ("--policies optimum:fast", "unknown variant of that policy `fast` (known: "),
        ("--web wild", "possible values: poisson, bursty"),
        ("--rates wild", "`wild` is not a distribution such as `equal`"),
        ("--fault timeout", "`timeout` is not a fault such as `timeout:0.3`"),
        ("--signals recall", "`recall` is not a setting of signals: settings are `recall`"),
        ("--signals precision=0", "precision `0` is not a share above 0 and up to 1"),
        ("--signals liar:every=0s", "every `0s` is not a time such as `30m`"),
        ("--burn-in half", "`half` is not a time such as `30` (days) or `25%` (of all days)"),
        ("--budget lots", "`lots` is not a budget such as `5000/day`"),
        ("--objective best", "possible values: harmonic, freshness, age, capture"),
        ("--life changes:0", "life is 0 changes, at least `changes:1` is needed"),
        ("--life window:-6h", "window of the life is not a positive number of days: -0.25"),
        ("--urgency soon", "`soon` is not an urgency such as `uniform`, `decay:6h` or"),
        ("--days NaN", "`NaN` is not a number of days"),
        ("--observed-share 2", "`2` is not a share between 0 and 1"),
        ("--per-host 0", "`0` is not a number of sources, 1 or more"),
        ("--trace git:", "`git:` has no path, such as `git:.`"),
        ("--trace none.csv", "none.csv"),
        ("--seeds 0", "0 is not in 1..=10000"),
    ] {
        let ran = folder.run(&format!("simulate {arguments} --out o"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}");
        assert!(ran.err.contains(words), "{arguments}: {}", ran.err);
        assert!(folder.names().is_empty(), "{arguments}");
    }
}
