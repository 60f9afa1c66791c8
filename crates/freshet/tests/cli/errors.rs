//! Error messages: location, value and hint; nothing is written.

use crate::Folder;

/// Checks that a plan of `s.csv` fails with exactly this message and leaves all files unchanged.
#[track_caller]
fn check_plan(table: &str, arguments: &str, expect: &str) {
    check(&[("s.csv", table)], &format!("plan s.csv --out plan.csv {arguments}"), expect);
}

#[track_caller]
fn check(files: &[(&str, &str)], arguments: &str, expect: &str) {
    let files = [files, &[("plan.csv", "an older plan\n")]].concat();
    let folder = Folder::new(&files);
    let before = folder.names();
    let ran = folder.run(arguments);
    assert_eq!(ran.err, format!("error: {expect}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert_eq!(folder.names(), before);
    assert_eq!(folder.read("plan.csv"), "an older plan\n");
}

/// Checks the message for an invalid value in a table.
#[track_caller]
fn check_value(table: &str, expect: &str) {
    check_plan(table, "--budget 1/day", expect);
}

#[test]
fn bad_numbers() {
    check_value("id,change_rate\na,1\nb,-3\n", "s.csv:3: change_rate: `-3` is negative");
    check_value("change_rate\n1\n\nfast\n", "s.csv:4: change_rate: `fast` is not a number");
    check_value("change_rate\nNaN\n", "s.csv:2: change_rate: `NaN` is not a finite number");
    check_value("change_rate\ninf\n", "s.csv:2: change_rate: `inf` is not a finite number");
    check_value("id,change_rate\na,\n", "s.csv:2: change_rate: no value");
    check_value(
        "change_rate\n1e-99\n",
        "s.csv:2: change_rate: `1e-99` is outside 1e-30 to 1e30\n\n\
         hint: use 0 where it means none: plans cannot tell it from 0",
    );
    check_value("change_rate,importance\n1,-1\n", "s.csv:2: importance: `-1` is negative");
    check_value("change_rate,cost\n1,1\n1,0\n", "s.csv:3: cost: `0` is not above 0");
    check_value("change_rate,min_rate\n1,-inf\n", "s.csv:2: min_rate: `-inf` is negative");
    check_value("change_rate,max_rate\n1,x\n", "s.csv:2: max_rate: `x` is not a number");
    check_value(
        "change_rate,min_rate,max_rate\n1,2,1.5\n",
        "s.csv:2: max_rate: `1.5` is below min_rate `2`",
    );
}

#[test]
fn bad_flags_and_names() {
    check_value(
        "change_rate,complete\n1,maybe\n",
        "s.csv:2: complete: `maybe` is not 0, 1, true or false",
    );
    check_value(
        "id,change_rate\na,1\nb,1\na,2\n",
        "s.csv:4: id: `a` was seen before, on line 2\n\nhint: keep one of the two rows",
    );
}

#[test]
fn bad_tables() {
    check_value("", "s.csv: empty");
    check_value("change_rate\n", "s.csv: no sources");
    check_value("id\na\n", "s.csv: no column `change_rate`");
    check_value("change_rate,change_rate\n1,1\n", "s.csv: column `change_rate` occurs twice");
    check_value(
        "id,chnage_rate\na,1\n",
        "s.csv: unknown column `chnage_rate` (known: id, importance, change_rate, complete, host, \
         cost, min_rate, max_rate; did you mean `change_rate`?)\n\n\
         hint: use --ignore-extra to skip columns that freshet does not know",
    );
    check_value(
        "id,change_rate\nhttp://a.org/?x=1,2,3\n",
        "s.csv:2: 3 cells, but 2 expected\n\n\
         hint: put values that hold the separator in double quotes",
    );
    check_value(
        "id;change_rate\na;1\n",
        "s.csv: unknown column `id;change_rate` (known: id, importance, change_rate, complete, \
         host, cost, min_rate, max_rate; did you mean `change_rate`?)\n\n\
         hint: separate the cells by commas, or name the file .tsv if they are separated by tabs",
    );
}

#[test]
fn extra_columns_are_skipped_on_request() {
    let folder = Folder::new(&[("s.csv", "title,change_rate\nx,1\ny,1\n")]);
    let rates = folder.rows("plan s.csv --budget 4/day --ignore-extra").numbers("rate");
    assert_eq!(rates, [2.0, 2.0]);
}

#[test]
fn json_lines_and_standard_input_have_lines_too() {
    let text = "{\"change_rate\":1}\n{\"change_rate\":\"often\"}\n";
    check(
        &[("s.jsonl", text)],
        "plan s.jsonl --budget 1/day --out plan.csv",
        "s.jsonl:2: change_rate: `\"often\"` is not a number",
    );
    let ran = Folder::new(&[]).run_with("change_rate\n1\n-2\n", "plan - --budget 1/day");
    let expect = "error: standard input:3: change_rate: `-2` is negative\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), expect));
}

const TWO: &str = "id,change_rate,max_rate\na,1,2\nb,0.5,2\n";

#[test]
fn missing_files_and_unknown_formats_are_rejected() {
    check(
        &[],
        "plan none.csv --budget 1/day --out plan.csv",
        "none.csv: cannot be read: No such file or directory (os error 2)",
    );
    let known = "(known: .csv, .tsv, .jsonl, .ndjson, each also with .gz, and .parquet)";
    check(
        &[("s.xlsx", TWO)],
        "plan s.xlsx --budget 1/day --out plan.csv",
        &format!("s.xlsx: unknown extension {known}"),
    );
    check(
        &[("s.csv", TWO)],
        "plan s.csv --budget 1/day --out plan.txt",
        &format!("plan.txt: unknown extension {known}"),
    );
}

#[test]
fn unwritable_outputs_are_rejected() {
    let hint = "hint: create it, or choose another path";
    for arguments in [
        "plan s.csv --budget 1/day --out no/where.csv",
        "curve s.csv --out no/where.csv",
        "curve s.csv --svg no/where.csv",
    ] {
        check(
            &[("s.csv", TWO)],
            arguments,
            &format!("cannot write no/where.csv: there is no directory no\n\n{hint}"),
        );
    }
    check(
        &[("s.csv", TWO)],
        "plan s.csv --budget 1/day --json --out -",
        "only one of --json and --out - can use standard output\n\n\
         hint: write the rows to a file: --out plan.csv",
    );
}

#[test]
fn a_budget_below_the_minimum_rates() {
    check_plan(
        "change_rate,min_rate\n1,100\n2,50\n",
        "--budget 120/day",
        "budget is below the sum of the minimum rates: 120/day < 150/day\n\n\
         hint: raise it with `--budget 150/day`, or lower `min_rate`",
    );
}

#[test]
fn a_budget_of_the_hint_is_enough() {
    let folder = Folder::new(&[("s.csv", "change_rate,min_rate\n1,0.1234567\n2,0.0333333\n")]);
    let err = folder.run("plan s.csv --budget 0.01/day").err;
    let hinted = err.split('`').nth(1).unwrap();
    let ran = folder.run(&format!("plan s.csv {hinted}"));
    assert_eq!(ran.code, Some(0), "{hinted}: {}", ran.err);
}

#[test]
fn a_target_out_of_reach() {
    // Two fetches a day at most: freshness is (1 − e^(−c/2))/(c/2), 0.7869 and 0.8848 for the two.
    let folder = Folder::new(&[("s.csv", TWO)]);
    let ran = folder.run("plan s.csv --target freshness=0.99");
    let (fact, hint) = ran.err.split_once("\n\n").unwrap();
    let best = fact.strip_prefix(
        "error: freshness = 0.99 cannot be reached: the best value with any budget is ",
    );
    let best: f64 = best.unwrap_or_else(|| panic!("{fact}")).parse().unwrap();
    let expect = ((1.0 - (-0.5_f64).exp()) / 0.5 + (1.0 - (-0.25_f64).exp()) / 0.25) / 2.0;
    assert!((best - expect).abs() < 1e-12, "{best}, expected {expect}");
    assert_eq!(hint, "hint: lower the target, or raise `max_rate` or --host-limit\n");
    assert_eq!(ran.code, Some(2));
}

#[test]
fn a_rate_that_is_no_chance() {
    check_plan(
        "id,change_rate\na,0.5\nb,1\n",
        "--budget 1/day --timing slots",
        "s.csv: source `b`: change_rate: `1` is too large: with slots it is a probability per \
         slot\n\nhint: give probabilities, or use `--timing periodic` or `--timing poisson` for rates",
    );
}

#[test]
fn host_limits_without_hosts() {
    check_plan(
        TWO,
        "--budget 1/day --host-limit 1/s",
        "s.csv: host limits require a column `host`, and there is none\n\n\
         hint: add the column, or remove --host-limit",
    );
}

#[test]
fn a_host_limit_below_its_minimum_rates() {
    check_plan(
        "change_rate,host,min_rate\n1,a.org,2\n1,a.org,3\n1,b.org,0\n",
        "--budget 9/day --host-limit 4/day",
        "host `a.org` allows 4/day, below the sum of its minimum rates: 5/day\n\n\
         hint: raise its limit, or lower `min_rate` of its sources",
    );
}

#[test]
fn bad_host_limits() {
    let table = ("s.csv", "change_rate,host\n1,a\n");
    let plan = "plan s.csv --budget 1/day --out plan.csv --host-limit l.csv";
    let cases = [
        (
            "host,limit\na,often\n",
            "l.csv:2: limit: `often` is not a rate such as `1/s`, `500/day` or `500`",
        ),
        ("host,limit\na,-1/s\n", "l.csv:2: limit: `-1/s` is negative"),
        ("host\na\n", "l.csv: no column `limit`"),
    ];
    for (limits, expect) in cases {
        check(&[table, ("l.csv", limits)], plan, expect);
    }
}

/// Checks that an error of the arguments contains a text; clap determines the rest of the message.
#[track_caller]
fn check_arguments(arguments: &str, words: &str) {
    let folder = Folder::new(&[("s.csv", TWO)]);
    let ran = folder.run(&format!("plan s.csv --out plan.csv {arguments}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.starts_with("error: ") && ran.err.contains(words), "{}", ran.err);
    assert_eq!(folder.names(), ["s.csv"]);
}

#[test]
fn bad_arguments() {
    check_arguments(
        "--budget 1/day --objective joy",
        "[possible values: harmonic, freshness, age]",
    );
    check_arguments("--budget 1/day --timing soon", "[possible values: periodic, poisson, slots]");
    check_arguments(
        "--budget 1/day --target age=2",
        "'--budget <B>' cannot be used with '--target <MEASURE=VALUE>'",
    );
    check_arguments("", "--budget <B>");
    check_arguments("--budget lots", "`lots` is not a budget such as `5000/day`, `10/s`");
    check_arguments("--budget=-3/day", "budget -3 is negative");
    check_arguments(
        "--budget 1/day --policy best",
        "unknown policy `best` (known: optimal, uniform, change-rate, importance, floor:0…1)",
    );
    check_arguments("--budget 1/day --policy floor:1.5", "unknown policy `floor:1.5`");
    check_arguments(
        "--target joy=1",
        "unknown measure `joy` (known: harmonic_cost, freshness, binary_cost, age)",
    );
    check_arguments("--target freshness=1", "it must be at least 0 and below 1");
    check_arguments("--target freshness", "`freshness` is not a target such as `freshness=0.8`");
    check_arguments("--budget 1/day --host-limit none.csv", "and there is no such file");
}
