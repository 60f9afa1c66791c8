//! `freshet crew`.

use serde_json::Value;

use crate::{Folder, number};

fn crew(fetch_rate: &str, buffer: &str, weight: &str) -> String {
    format!(
        "crew --process-rate 1 --fetch-rate {fetch_rate} --buffer {buffer} --starvation-weight \
         {weight}"
    )
}

#[track_caller]
fn check(object: &Value, key: &str, expect: f64, tolerance: f64) {
    let own = number(object, key).unwrap();
    assert!((own - expect).abs() <= tolerance, "{key}: {own}, expected {expect}");
}

/// Returns a list of whole numbers.
#[track_caller]
fn list(object: &Value, key: &str) -> Vec<i64> {
    object[key].as_array().unwrap().iter().map(|it| it.as_i64().unwrap()).collect()
}

#[test]
fn both_solutions_match_the_paper() {
    // Liu & Nain, Table 1.3, where 0.12020 is printed for 0.08156.
    let folder = Folder::new(&[]);
    let report = folder.json(&crew("0.05", "10", "1.2"));
    let (fixed, dynamic) = (&report["static"], &report["dynamic"]);
    check(fixed, "fetchers", 20.0, 0.0);
    check(fixed, "load", 1.0, 1e-15);
    check(fixed, "cost", 0.2, 1e-15);
    check(fixed, "starvation", 1.0 / 11.0, 1e-15);
    check(fixed, "loss_rate", 1.0 / 11.0, 1e-15);
    check(fixed, "large_buffer_fetchers", 20.0, 0.0);
    check(dynamic, "cost", 0.08156, 5e-6);
    check(dynamic, "min_active", 8.0, 0.0);
    check(dynamic, "mean_active", 19.9, 0.05);
    check(dynamic, "max_active", 33.0, 0.0);
    check(dynamic, "gap", 0.0, 1e-13);
    check(dynamic, "available", 34.0, 0.0);
    let cost = 1.2 * number(dynamic, "starvation").unwrap() + number(dynamic, "loss_rate").unwrap();
    check(dynamic, "cost", cost, 1e-15);
    assert_eq!(list(&dynamic["curve"], "targets"), [34, 32, 29, 26, 23, 21, 18, 16, 13, 10, 8]);
}

#[test]
fn the_curve_matches_figure_1_6() {
    let folder = Folder::new(&[]);
    let report = folder.json(&format!("{} --available 16", crew("0.1", "5", "1.4")));
    check(&report, "available", 16.0, 0.0);
    let dynamic = &report["dynamic"];
    check(dynamic, "cost", 0.25924, 5e-6);
    let curve = &dynamic["curve"];
    let departure = [5, 5, 5, 5, 5, 5, 5, 4, 4, 3, 3, 3, 2, 2, 1, 1, -1];
    let arrival = [5, 5, 5, 5, 5, 3, 3, 3, 2, 2, 1, 1, 1, 0, 0, -1, -1];
    assert_eq!(list(curve, "departure"), departure);
    assert_eq!(list(curve, "arrival"), arrival);
    assert_eq!(list(curve, "targets"), [16, 14, 12, 9, 7, 4]);
}

#[test]
fn the_text_has_both_solutions_and_the_chart() {
    let folder = Folder::new(&[]);
    let ran = folder.run(&crew("0.1", "5", "1.4"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let (head, rest) = ran.out.split_once("solution").unwrap();
    let expect = "\
per unit of time a fetcher delivers 0.1 and the processor handles 1; the queue holds 5 pages
cost = 1.4 × share of time starved + pages lost per unit of time

                     fixed   switching curve
active fetchers         10   4 to 15, 9.804 on average
cost                   0.4   0.2592 (35.2 % less)
time starved       16.67 %   11.62 %
pages lost         16.67 %   9.853 %
  per unit of time  0.1667   0.0966

When a page has arrived or been processed, start one more fetcher if fewer are active:
pages in the queue  0  1  2 3 4 5
fewer than         17 14 12 9 7 4

The same curve, as seen just before the event. # start one more; d only when a page is
processed, a only when one arrives; . start none
queue
    5 #####dd...........
    4 #####dddd.........
    3 ########dddd......
    2 ##########dddd....
    1 #############dddd.
    0  ##############...
      0         10     17  active

";
    assert_eq!(head, expect);
    assert!(rest.contains(" of the optimal cost"), "{rest}");
    assert!(rest.contains("useful fetchers    17: one more would never be started"), "{rest}");
}

#[test]
fn one_of_many_equally_good_curves_is_not_called_optimal() {
    let folder = Folder::new(&[]);
    let large = crew("0.05", "300", "1.2");
    let ran = folder.run(&large);
    assert!(ran.out.contains("practically never empty or full: many curves are equally good"));
    assert!(!ran.out.contains("useful fetchers"), "{}", ran.out);
    assert!(!ran.out.contains("of the optimal cost"), "{}", ran.out);
    assert_eq!(folder.json(&large)["dynamic"]["ended_early"], true);
    assert_eq!(folder.json(&crew("0.05", "10", "1.2"))["dynamic"]["ended_early"], false);
}

#[test]
fn without_a_weight_there_is_no_rule_for_large_buffers() {
    let folder = Folder::new(&[]);
    let free = crew("0.05", "30", "0");
    let report = folder.json(&free);
    check(&report["static"], "fetchers", 1.0, 0.0);
    assert_eq!(report["static"]["large_buffer_fetchers"], Value::Null);
    assert!(!folder.run(&free).out.contains("large buffer"));
}

#[test]
fn a_large_chart_fits_the_terminal() {
    let folder = Folder::new(&[]);
    let questions = [
        crew("0.02", "400", "3"),
        crew("1e-4", "4", "1"),
        crew("7", "1", "1e6"),
        format!("{} --available 9", crew("0.3", "123456", "1")),
    ];
    for question in questions {
        let ran = folder.run(&question);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.lines().count() < 60, "{}", ran.out);
        let widest = ran.out.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 104, "{}", ran.out);
    }
}

#[test]
fn the_svg_chart_shows_both_curves() {
    let folder = Folder::new(&[]);
    let ran = folder.run(&format!("{} --svg c.svg", crew("0.05", "10", "1.2")));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let svg = folder.read("c.svg");
    for word in
        ["page processed: start one more", "page arrives: its fetcher continues", "in use: 8 to 33"]
    {
        assert!(svg.contains(word), "no `{word}` in the chart");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
    let ran = folder.run(&format!("{} --svg -", crew("0.05", "10", "1.2")));
    assert_eq!((ran.code, ran.out.trim_end()), (Some(0), svg.trim_end()));
}

#[test]
fn a_million_pages_have_a_fixed_solution_only() {
    let folder = Folder::new(&[]);
    let report = folder.json(&crew("0.01", "1e6", "1.2"));
    check(&report["static"], "fetchers", 100.0, 0.0);
    check(&report["static"], "cost", 2.2 / 1_000_001.0, 1e-17);
    assert!(report["dynamic"].is_null());
    let error = report["dynamic_error"].as_str().unwrap();
    assert_eq!(error, "the switching curve would need 1.0e8 states, more than 1e7");
    let ran = folder.run(&crew("0.01", "1e6", "1.2"));
    let end = format!("no switching curve: {error}\n\nhint: use a smaller `--buffer`\n");
    assert!(ran.code == Some(0) && ran.out.ends_with(&end), "{}", ran.out);
}

#[test]
fn errors_have_hints() {
    let folder = Folder::new(&[]);
    let check = |question: String, expect: &str| {
        let ran = folder.run(&question);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{question}");
        assert_eq!(ran.err, format!("error: {expect}\n"), "{question}");
        assert_eq!(folder.names(), [""; 0]);
    };
    check(
        crew("0", "10", "1"),
        "the rate of a fetcher is not a number above 0: 0\n\nhint: give the number of pages that one \
         fetcher delivers per unit of time, such as `--fetch-rate 0.05`",
    );
    check(
        crew("0.1", "10", "-1"),
        "the weight of starvation is not a number of 0 or more: -1\n\nhint: give the cost of an \
         empty queue for one unit of time in lost pages, such as `--starvation-weight 1`",
    );
    check(
        crew("0.1", "0", "1"),
        "the buffer has no room: its size is 0\n\nhint: include the page being processed: `--buffer \
         1` has room for no other page",
    );
    check(
        format!("{} --available 0", crew("0.1", "10", "1")),
        "no fetcher is available: the number is 0\n\nhint: give `--available 1` or more, or omit it \
         to see how many are useful",
    );
    check(
        format!("{} --svg c.svg --available 1e7", crew("1e-6", "10", "1")),
        "the switching curve would need 1.1e8 states, more than 1e7\n\nhint: use a smaller \
         `--buffer`",
    );
    check(
        format!("{} --svg c.svg", crew("1e-9", "10", "1")),
        "the switching curve would need 1.1e10 states, more than 1e7\n\nhint: use the fixed number: \
         with such slow fetchers it is close to optimal",
    );
    check(
        format!("{} --svg - --json", crew("0.1", "10", "1")),
        "only one of --json and --svg - can use standard output\n\nhint: write the chart to a file: \
         --svg crew.svg",
    );
    check(
        crew("1e-70", "10", "1"),
        "the rate of a fetcher and the rate of the processor are too far apart: 1e-70 and 1e0\n\n\
         hint: give both rates and the weight in the same unit of time",
    );
    for question in [crew("fast", "10", "1"), crew("1", "1.5", "1"), crew("1", "-1", "1")] {
        let ran = folder.run(&question);
        assert_eq!(ran.code, Some(2), "{question}");
        assert!(ran.err.starts_with("error: invalid value"), "{}", ran.err);
    }
}
