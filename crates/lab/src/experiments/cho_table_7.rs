//! Three policies on the web of 1999.

use freshet_model::PerDay;
use freshet_plan::{Evaluation, Objective, Options, Policy, Sources, Timing, evaluate, solve};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "cho-table-7",
    paper: Paper::Cho,
    item: "Table VII",
    section: "§7.5",
    about: "freshness and age of the web of 1999, each page fetched once a month on average, by \
            three policies",
    run,
};

/// Shares of pages that change daily, weekly, monthly, every four months and yearly.
pub(super) type Shares = [f64; 5];

/// Two are in the text; the others are read from Figure 17.
pub(super) const OVERALL: Shares = [0.23, 0.15, 0.16, 0.16, 0.30];
/// Days between the changes of each class.
pub(super) const DAYS: Shares = [1.0, 7.0, 30.0, 120.0, 365.0];
const MONTH: f64 = 30.0;

/// Freshness and age (days) of the proportional, the uniform and the optimal policy.
type Six = [f64; 6];

pub(super) fn policy(
    shares: &Shares,
    changes: &Shares,
    month: f64,
    policy: Policy,
    objective: Objective,
) -> Result<Evaluation, LabError> {
    let sources = Sources::new(shares, changes)?.with_cost(shares)?;
    let options = Options { objective, policy, ..Options::default() };
    let total: f64 = shares.iter().sum();
    let plan = solve(&sources, PerDay::new(total / month)?, &options)?;
    Ok(evaluate(&sources, &plan.rates, Timing::Periodic, options.rule()))
}

fn six(shares: &Shares, month: f64) -> Result<Six, LabError> {
    let changes = DAYS.map(|days| 1.0 / days);
    let of = |rule, objective| policy(shares, &changes, month, rule, objective);
    let proportional = of(Policy::ChangeRate, Objective::Freshness)?;
    let uniform = of(Policy::Uniform, Objective::Freshness)?;
    Ok([
        proportional.freshness(),
        proportional.age(),
        uniform.freshness(),
        uniform.age(),
        of(Policy::Optimal, Objective::Freshness)?.freshness(),
        of(Policy::Optimal, Objective::Age)?.age(),
    ])
}

/// Returns the least and the most of each measure.
fn ranges(all: &[Six]) -> [(f64, f64); 6] {
    std::array::from_fn(|at| {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        all.iter().fold(ends, |(low, high), six| (low.min(six[at]), high.max(six[at])))
    })
}

/// Returns the printed shares could each be off by half a percent, and months have 28 to 31 days.
fn near_overall() -> Result<Vec<Six>, LabError> {
    let mut all = Vec::new();
    for code in 0..3_u32.pow(5) {
        let steps: [i32; 5] =
            std::array::from_fn(|at| (code / 3_u32.pow(at as u32) % 3) as i32 - 1);
        if steps.iter().sum::<i32>() == 0 {
            let shares = std::array::from_fn(|at| OVERALL[at] + 0.005 * f64::from(steps[at]));
            for month in [28.0, 30.0, 365.25 / 12.0, 31.0] {
                all.push(six(&shares, month)?);
            }
        }
    }
    Ok(all)
}

/// Returns all shares in steps of five percent that a condition allows.
fn shares_with(allowed: impl Fn(&Shares) -> bool) -> Result<Vec<Six>, LabError> {
    let mut all = Vec::new();
    // A class without pages is skipped.
    let step = |count: u32| (f64::from(count) / 20.0).max(1e-9);
    for daily in 0..=20 {
        for weekly in 0..=20 - daily {
            for monthly in 0..=20 - daily - weekly {
                for rarely in 0..=20 - daily - weekly - monthly {
                    let yearly = 20 - daily - weekly - monthly - rarely;
                    let shares = [daily, weekly, monthly, rarely, yearly].map(step);
                    if allowed(&shares) {
                        all.push(six(&shares, MONTH)?);
                    }
                }
            }
        }
    }
    Ok(all)
}

fn run() -> Result<Outcome, LabError> {
    let measures = ["freshness", "age"];
    let columns: Vec<String> = ["overall", "com", "gov"]
        .iter()
        .flat_map(|domain| measures.map(|measure| format!("{domain}: {measure}")))
        .collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("Freshness, and age in days", "policy", &columns);

    let overall = six(&OVERALL, MONTH)?;
    let open = ranges(&near_overall()?);
    // The text: 40 % of com change daily. Of gov less than 10 % do, and more than half not in four
    // months.
    let com = ranges(&shares_with(|shares| (shares[0] - 0.4).abs() < 0.01)?);
    let gov = ranges(&shares_with(|shares| shares[0] < 0.11 && shares[4] > 0.49)?);
    for (policy, (name, printed)) in [
        ("proportional", ["0.12", "400", "0.07", "386", "0.69", "19.3"]),
        ("uniform", ["0.57", "5.6", "0.38", "8.5", "0.82", "2.0"]),
        ("optimal", ["0.62", "4.3", "0.44", "7.4", "0.85", "1.3"]),
    ]
    .into_iter()
    .enumerate()
    {
        let cell = |at: usize| {
            let printed = Printed::new(printed[at]);
            let place = 2 * policy + at % 2;
            let (low, high) = match at / 2 {
                0 => open[place],
                1 => com[place],
                _ => gov[place],
            };
            Some(match at / 2 {
                0 => Comparison::number(&printed, overall[place]).or_open(
                    &printed,
                    low..=high,
                    "the shares of Fig. 17 to more than a percent, and the length of a month",
                ),
                _ => Comparison::open(
                    &printed,
                    &(low..=high),
                    "the shares of the domain in Fig. 17 (b)",
                ),
            })
        };
        table.push(name, (0..6).map(cell));
    }
    Ok(Outcome::new([table, statements()]).note(
        "Overall with 23, 15, 16, 16 and 30 % of pages changing daily, weekly, monthly, every four \
         months and yearly, and a month of 30 days. For com and gov the ranges are over all shares \
         in steps of 5 % that the text allows.",
    ))
}

/// Statements of the text about the numbers of the table, over all values that round to the printed ones.
fn statements() -> Table {
    let mut table = Table::list("What the text says of these numbers");
    let change = |from: &str, to: &str, of: fn(f64, f64) -> f64| {
        let (a, b) = (Printed::new(from), Printed::new(to));
        let ends = [a.ends(), b.ends()];
        let corners = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| {
            let end = |ends: (f64, f64), at: i32| if at == 0 { ends.0 } else { ends.1 };
            of(end(ends[0], i), end(ends[1], j))
        });
        let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (of(a.value(), b.value()), low, high)
    };
    let more: fn(f64, f64) -> f64 = |from, to| 100.0 * (to / from - 1.0);
    let less: fn(f64, f64) -> f64 = |from, to| 100.0 * (1.0 - to / from);
    let times: fn(f64, f64) -> f64 = |from, to| from / to;
    for (label, printed, (ours, low, high)) in [
        (
            "freshness, proportional to optimal: more by %",
            Printed::to("500", 100.0),
            change("0.12", "0.62", more),
        ),
        ("age, uniform to optimal: less by %", Printed::new("23"), change("5.6", "4.3", less)),
        ("age, proportional over optimal: times", Printed::new("93"), change("400", "4.3", times)),
    ] {
        let evidence = Evidence::between(
            low,
            high,
            &format!("what rounds to the table's numbers gives {low:.0} to {high:.0}"),
        );
        let comparison = Comparison::number(&printed, ours);
        table = table.with(label, comparison.or_misprint(&printed, &evidence, "a slip"));
    }
    table
}
