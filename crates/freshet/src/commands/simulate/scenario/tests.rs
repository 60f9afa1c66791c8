use super::*;
use freshet_sim::{Allowance, FaultKind, Synthetic, WebKind};

fn synthetic_web() -> Origin {
    Origin::Synthetic(Synthetic::AZAR, WebKind::Poisson)
}

fn parsed(text: &str) -> Result<ScenarioFile, Failure> {
    parse("s.toml".to_owned(), text, &synthetic_web())
}

#[test]
fn a_scenario_with_all_sections_is_parsed() {
    let text = r#"
        [[rates]]
        day = 50
        sources = [3, "4", 3]
        factor = 0.1

        [[budget]]
        day = 30
        budget = "50%"
        [[budget]]
        day = 31.5
        budget = "0/day"

        [[outage]]
        day = 60
        days = 0.5
        hosts = "30 %"
        kind = "slow"
        [[outage]]
        day = 61
        hosts = [1]

        [[arrival]]
        day = 0
        sources = 7
    "#;
    let file = parsed(text).expect("a scenario");
    let turn = |day, what| ScenarioEvent { day, what };
    let outage = |days, hosts, kind| ScenarioAction::Outage { days, hosts, kind };
    let expect = [
        turn(0.0, ScenarioAction::Arrival(7)),
        turn(30.0, ScenarioAction::Budget(Allowance::Share(0.5))),
        turn(31.5, ScenarioAction::Budget(Allowance::Budget("0/day".parse().expect("a budget")))),
        turn(50.0, ScenarioAction::Rates { sources: Selection::List(vec![2, 3]), factor: 0.1 }),
        turn(60.0, outage(0.5, Selection::Share(0.3), FaultKind::Slow)),
        turn(61.0, outage(1.0, Selection::List(vec![0]), FaultKind::Timeout)),
    ];
    assert_eq!(file.scenario.turns, expect);
    assert_eq!(file.lines, [23, 7, 10, 2, 14, 19]);
    assert_eq!(parsed("").expect("an empty one").scenario, Scenario::default());
}

#[track_caller]
fn check(text: &str, fact: &str) {
    let failure = parsed(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert_eq!(failure.fact(), format!("s.toml, line {fact}"), "{text}");
}

#[test]
fn errors_name_the_line_and_the_value() {
    check(
        "[[budget]]\nday = -1\nbudget = \"50%\"",
        "2: `day = -1` is not a day, 0 or more, such as `day = 30` or `day = 80.5`",
    );
    check(
        "# first\n[[budget]]\nday = 1\nbudget = 400",
        "4: `budget = 400` is not a budget, such as `budget = \"50%\"` (of --budget) or `budget = \
         \"400/day\"`",
    );
    check("[[budget]]\nday = 1\n", "1: missing field `budget`");
    check(
        "[[budget]]\ndya = 1\nbudget = \"50%\"",
        "2: unknown field `dya`, expected `day` or `budget`",
    );
    check(
        "[[bugdet]]\nday = 1",
        "1: unknown field `bugdet`, expected one of `budget`, `outage`, `arrival`, `rates`",
    );
    check(
        "[[outage]]\nday = 1\nhosts = 30",
        "3: `hosts = 30` is not a share such as \"30%\" or a list of names or numbers such as [1, 2]",
    );
    check("[[outage]]\nday = 1\nhosts = [1, 101]", "1: there is no host `101`");
    check(
        "[[outage]]\nday = 1\nhosts = \"1%\"\nkind = \"gone\"",
        "4: `kind = \"gone\"` is not \"timeout\" (no response) or \"slow\" (after an hour)",
    );
    check(
        "[[outage]]\nday = 1\nhosts = \"1%\"\ndays = 0",
        "4: `days = 0` is not a number of days above 0, such as `days = 1`",
    );
    check(
        "[[arrival]]\nday = 1\nsources = \"10%\"",
        "3: `sources = \"10%\"` is not a number of sources, such as `sources = 1000`",
    );
    check(
        "[[rates]]\nday = 1\nsources = \"101%\"\nfactor = 2",
        "3: `sources = \"101%\"` is not a share such as \"30%\" or a list of names or numbers such \
         as [1, 2]",
    );
    check(
        "[[rates]]\nday = 1\nsources = \"1%\"\nfactor = inf",
        "4: `factor = inf` is not a factor from 0 to 1e6, such as `factor = 10`",
    );
    check("[[rates]]\nday = ", "2: string values must be quoted, expected literal string");
    check("[budget]\nday = 1", "1: invalid type: map, expected a sequence");
}
