//! `freshet plan`.

mod summary;

use std::collections::BTreeMap;

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Options, Policy, Rule, Solution, Sources, evaluate, solve, target, values,
};
use freshet_tables::PlanRows;
use serde::Serialize;

use crate::arguments::PlanArguments;
use crate::clock::timed;
use crate::failure::Failure;
use crate::output::{check_not_input, check_table, print_json, print_note, write_table};
use crate::progress::Progress;
use crate::source_table::{LoadedTable, load};

/// Number of sources from which planning may take more than a second.
const PROGRESS_THRESHOLD: usize = 500_000;

pub(crate) fn run(arguments: &PlanArguments) -> Result<(), Failure> {
    if let Some(out) = &arguments.out {
        check_table(out)?;
        check_not_input(out, &arguments.sources.path)?;
        if arguments.json && out.as_os_str() == "-" {
            return Err(Failure::new("only one of --json and --out - can use standard output")
                .with_hint("write the rows to a file: --out plan.csv"));
        }
    }
    let (loaded, read_time) = timed(|| load(&arguments.sources));
    let loaded = loaded?;
    let sources = loaded.sources()?;
    let options = arguments.options.with_policy(arguments.policy);

    let mut progress = Progress::new("planning");
    if sources.len() >= PROGRESS_THRESHOLD {
        progress.spin();
    }
    let (planned, solve_time) = timed(|| match (&arguments.target, arguments.budget) {
        (Some(goal), _) => target(&sources, goal, &options),
        (None, budget) => {
            let budget = budget.map_or(PerDay::ZERO, |budget| budget.for_sources(sources.len()));
            solve(&sources, budget, &options).map(|solution| (budget, solution))
        }
    });
    let (budget, solution) = planned.map_err(|error| loaded.failure(&error))?;
    let evaluation = measure(&sources, &solution, &options);
    drop(progress);

    if let Some(out) = &arguments.out {
        write_rows(out, &loaded, &sources, &solution, &options)?;
    }
    if arguments.json {
        print_json(&PlanReport {
            sources: sources.len(),
            budget: budget.get(),
            spent: solution.spent,
            price: finite(solution.price),
            objective: options.objective.name(),
            timing: options.timing.name(),
            observed: options.observed.name(),
            policy: options.policy.to_string(),
            measures: measures(&evaluation),
            starved: evaluation.starved(),
            host_prices: host_prices(&loaded, &solution),
            status: solution.status.to_string(),
            gap: solution.gap.worst(),
            budget_gap: solution.gap.budget,
            kkt_gap: solution.gap.kkt,
            passes: solution.passes,
            read_seconds: read_time.as_secs_f64(),
            solve_seconds: solve_time.as_secs_f64(),
        })?;
    }
    if !arguments.quiet {
        let facts = summary::PlanFacts {
            loaded: &loaded,
            sources: &sources,
            options: &options,
            budget,
            target: arguments.target.as_ref(),
            solution: &solution,
            evaluation: &evaluation,
            solve_time,
        };
        print_note(&summary::text(&facts));
    }
    Ok(())
}

/// Evaluates a plan. Policies other than the optimum poll observed sources like all others.
pub(crate) fn measure(sources: &Sources<'_>, solution: &Solution, options: &Options) -> Evaluation {
    let evaluated = match options.policy {
        Policy::Optimal => *sources,
        _ => sources.without_observations(),
    };
    evaluate(&evaluated, &solution.rates, options.timing, options.rule())
}

/// Returns every measure by its name; infinite and undefined measures have no value.
pub(crate) fn measures(evaluation: &Evaluation) -> BTreeMap<&'static str, Option<f64>> {
    evaluation.measures().map(|(measure, value)| (measure.key, finite(value))).collect()
}

pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// JSON report of `freshet plan`.
#[derive(Serialize)]
struct PlanReport<'a> {
    sources: usize,
    budget: f64,
    spent: f64,
    price: Option<f64>,
    objective: &'static str,
    timing: &'static str,
    observed: &'static str,
    policy: String,
    #[serde(flatten)]
    measures: BTreeMap<&'static str, Option<f64>>,
    starved: usize,
    host_prices: Vec<HostPriceReport<'a>>,
    status: String,
    gap: f64,
    budget_gap: f64,
    kkt_gap: f64,
    passes: u32,
    read_seconds: f64,
    solve_seconds: f64,
}

#[derive(Serialize)]
struct HostPriceReport<'a> {
    host: &'a str,
    limit: f64,
    price: Option<f64>,
}

fn host_prices<'a>(loaded: &'a LoadedTable, solution: &Solution) -> Vec<HostPriceReport<'a>> {
    let limits = loaded.limits.as_deref().unwrap_or_default();
    let saturated = solution.host_prices.iter().map(|saturated| HostPriceReport {
        host: loaded.host(saturated.host),
        limit: limits.get(saturated.host as usize).copied().unwrap_or(f64::NAN),
        price: finite(saturated.price),
    });
    saturated.collect()
}

fn write_rows(
    out: &std::path::Path,
    loaded: &LoadedTable,
    sources: &Sources<'_>,
    solution: &Solution,
    options: &Options,
) -> Result<(), Failure> {
    let value = values(sources, solution, options);
    let observed = loaded.table.observed.as_deref().filter(|_| options.policy == Policy::Optimal);
    let on_change = observed.map(|complete| on_change(complete, loaded, solution, options));
    let (probability, threshold) = match &on_change {
        None => (None, None),
        Some((probability, threshold)) => (Some(&probability[..]), threshold.as_deref()),
    };
    let rows = PlanRows {
        ids: loaded.table.ids.as_ref(),
        rate: &solution.rates,
        probability,
        threshold,
        value: &value,
    };
    write_table(out, &rows.table())
}

/// Returns for observed sources the probability of a fetch, and the number of changes to wait for.
fn on_change(
    complete: &[bool],
    loaded: &LoadedTable,
    solution: &Solution,
    options: &Options,
) -> (Vec<f64>, Option<Vec<f64>>) {
    let changes_per_fetch = |row: usize| loaded.table.change_rate[row] / solution.rates[row];
    let is_fetched = |row: usize| complete[row] && solution.rates[row] > 0.0;
    let rows = 0..complete.len();
    match options.rule() {
        Rule::Chance => {
            let chance = |row: usize| match (complete[row], is_fetched(row)) {
                (false, _) => f64::NAN,
                (true, false) => 0.0,
                (true, true) => (1.0 / changes_per_fetch(row)).min(1.0),
            };
            (rows.map(chance).collect(), None)
        }
        rule @ (Rule::Count | Rule::Wait) => {
            let both = |row: usize| {
                if !is_fetched(row) {
                    let never = if complete[row] { f64::INFINITY } else { f64::NAN };
                    return (if complete[row] { 0.0 } else { f64::NAN }, never);
                }
                if rule == Rule::Wait {
                    // A fixed time after the first change, regardless of later changes.
                    return (1.0, 1.0);
                }
                // A cycle has k changes with this probability, and otherwise k + 1.
                let wait = changes_per_fetch(row).max(1.0);
                let nearest = wait.round();
                if (wait - nearest).abs() <= 1e-12 * wait {
                    (1.0, nearest)
                } else {
                    (wait.ceil() - wait, wait.floor())
                }
            };
            let (probability, threshold) = rows.map(both).unzip();
            (probability, Some(threshold))
        }
    }
}
