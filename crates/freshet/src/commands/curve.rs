//! `freshet curve`.

mod chart;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use freshet_model::{Budget, PackedStrings, PerDay};
use freshet_plan::{Measure, PlanError, Policy, Sources, solve};
use freshet_tables::{Table, write_atomic};
use serde::Serialize;

use crate::arguments::CurveArguments;
use crate::commands::plan::{finite, measure, measures};
use crate::failure::Failure;
use crate::number::{format_significant, pluralize};
use crate::output::{
    check_file, check_not_input, check_table, print_json, print_note, print_text, write_table,
};
use crate::progress::Progress;
use crate::source_table::{LoadedTable, load};

/// Result of one policy with one budget.
pub(crate) struct CurvePoint {
    pub(crate) policy: Policy,
    pub(crate) budget: f64,
    pub(crate) spent: f64,
    pub(crate) price: f64,
    pub(crate) starved: usize,
    pub(crate) status: String,
    pub(crate) values: Vec<(Measure, f64)>,
    json: BTreeMap<&'static str, Option<f64>>,
}

/// Results over a range of budgets, and those of the marked budget.
pub(crate) struct Curve<'a> {
    pub(crate) arguments: &'a CurveArguments,
    pub(crate) loaded: &'a LoadedTable,
    pub(crate) sources: usize,
    pub(crate) points: Vec<CurvePoint>,
    pub(crate) marked: Vec<CurvePoint>,
}

pub(crate) fn run(arguments: &CurveArguments) -> Result<(), Failure> {
    if let Some(out) = &arguments.out {
        check_table(out)?;
        check_not_input(out, &arguments.sources.path)?;
    }
    let is_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let to_stdout = [arguments.json, is_stdout(&arguments.out), is_stdout(&arguments.svg)];
    if to_stdout.iter().filter(|it| **it).count() > 1 {
        return Err(Failure::new(
            "only one of --json, --out - and --svg - can use standard output",
        )
        .with_hint("write the others to files: --out curve.csv --svg curve.svg"));
    }
    if let Some(svg) = arguments.svg.as_deref().filter(|svg| *svg != Path::new("-")) {
        check_file(svg)?;
        check_not_input(svg, &arguments.sources.path)?;
    }
    let loaded = load(&arguments.sources)?;
    let sources = loaded.sources()?;
    let budgets = budgets(arguments, &sources)?;
    let curve = compute(arguments, &loaded, &sources, &budgets)?;
    if let Some(svg) = &arguments.svg {
        let picture = chart::svg(&curve);
        if svg == Path::new("-") {
            return print_text(&picture);
        }
        write_atomic(svg, |out| out.write_all(picture.as_bytes()))?;
    }
    if let Some(out) = &arguments.out {
        curve.write(out)?;
    }
    if arguments.json {
        print_json(&curve.report())?;
    } else if !is_stdout(&arguments.out) {
        print_text(&curve.text())?;
    }
    Ok(())
}

/// Returns the budgets, evenly spaced on a log scale.
fn budgets(arguments: &CurveArguments, sources: &Sources<'_>) -> Result<Vec<f64>, Failure> {
    let total = |budget: Budget| budget.for_sources(sources.len()).get();
    // The default is centered on one fetch per source and day.
    let middle = arguments.budget.map_or(sources.len() as f64, total);
    let from = arguments.from.map_or(middle / 100.0, total);
    let to = arguments.to.map_or(middle * 100.0, total);
    if from <= 0.0 || from >= to {
        return Err(Failure::new(format!("{from}/day to {to}/day is not a range of budgets"))
            .with_hint(
                "give `--from` above 0 and below `--to`, such as `--from 100/day --to 10000/day`",
            ));
    }
    let steps = f64::from(arguments.points - 1);
    let at = |step: u32| match step {
        0 => from,
        last if last + 1 == arguments.points => to,
        step => from * ((to / from).ln() * f64::from(step) / steps).exp(),
    };
    Ok((0..arguments.points).map(at).collect())
}

fn compute<'a>(
    arguments: &'a CurveArguments,
    loaded: &'a LoadedTable,
    sources: &Sources<'_>,
    budgets: &[f64],
) -> Result<Curve<'a>, Failure> {
    let minimum = total_min_rate(loaded);
    let marked = arguments.budget.map(|budget| budget.for_sources(sources.len()).get());
    if let Some(marked) = marked.filter(|marked| *marked < minimum) {
        let error = PlanError::BelowMinimum { budget: marked, minimum };
        return Err(loaded.failure(&error));
    }
    let mut progress = Progress::new("planning");
    let work = (budgets.len() * arguments.policies.len()) as f64;
    let mut points = Vec::new();
    let plan = |policy: Policy, budget: f64| -> Result<CurvePoint, Failure> {
        let options = arguments.options.with_policy(policy);
        let total = PerDay::new(budget).map_err(Failure::new)?;
        let solution = solve(sources, total, &options).map_err(|error| loaded.failure(&error))?;
        let evaluation = measure(sources, &solution, &options);
        Ok(CurvePoint {
            policy,
            budget,
            spent: solution.spent,
            price: solution.price,
            starved: evaluation.starved(),
            status: solution.status.to_string(),
            values: evaluation.measures().collect(),
            json: measures(&evaluation),
        })
    };
    let allowed: Vec<f64> = budgets.iter().copied().filter(|&budget| budget >= minimum).collect();
    if allowed.len() < budgets.len() {
        print_note(&format!(
            "skipped {} below the sum of the minimum rates, {}/day",
            pluralize(budgets.len() - allowed.len(), "budget", "budgets"),
            format_significant(minimum)
        ));
    }
    if allowed.is_empty() {
        return Err(Failure::new(format!(
            "every budget is below the sum of the minimum rates, {minimum}/day"
        ))
        .with_hint("raise `--to`, or lower `min_rate`"));
    }
    for &policy in &arguments.policies {
        for &budget in &allowed {
            points.push(plan(policy, budget)?);
            progress.report(Some(points.len() as f64 / work), "");
        }
    }
    let marked = match marked {
        None => Vec::new(),
        Some(total) => {
            let policies = arguments.policies.iter();
            policies.map(|&policy| plan(policy, total)).collect::<Result<_, _>>()?
        }
    };
    Ok(Curve { arguments, loaded, sources: sources.len(), points, marked })
}

fn total_min_rate(loaded: &LoadedTable) -> f64 {
    let cost = |row: usize| loaded.table.cost.as_ref().map_or(1.0, |cost| cost[row]);
    let min_rate = loaded.table.min_rate.as_deref().unwrap_or_default();
    min_rate.iter().enumerate().map(|(row, min)| cost(row) * min).sum()
}

#[derive(Serialize)]
struct CurveReport {
    sources: usize,
    objective: &'static str,
    timing: &'static str,
    observed: &'static str,
    points: Vec<PointReport>,
    marked: Vec<PointReport>,
}

#[derive(Serialize)]
struct PointReport {
    policy: String,
    budget: f64,
    spent: f64,
    price: Option<f64>,
    #[serde(flatten)]
    measures: BTreeMap<&'static str, Option<f64>>,
    starved: usize,
    status: String,
}

impl CurvePoint {
    fn report(&self) -> PointReport {
        PointReport {
            policy: self.policy.to_string(),
            budget: self.budget,
            spent: self.spent,
            price: finite(self.price),
            measures: self.json.clone(),
            starved: self.starved,
            status: self.status.clone(),
        }
    }
}

impl Curve<'_> {
    fn report(&self) -> CurveReport {
        let options = &self.arguments.options;
        CurveReport {
            sources: self.sources,
            objective: options.objective.name(),
            timing: options.rhythm.timing.name(),
            observed: options.rhythm.observed.name(),
            points: self.points.iter().map(CurvePoint::report).collect(),
            marked: self.marked.iter().map(CurvePoint::report).collect(),
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let first = self.points.first();
        first.map_or_else(Vec::new, |point| {
            point.values.iter().map(|(measure, _)| *measure).collect()
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, out: &mut String) -> std::fmt::Result {
        let measures = self.measures();
        write!(out, "{:<12} {:>14}", "policy", "budget/day")?;
        for measure in &measures {
            let unit = if measure.unit.is_empty() {
                String::new()
            } else {
                format!(" ({})", measure.unit)
            };
            write!(out, " {:>14}", format!("{}{unit}", measure.label))?;
        }
        writeln!(out, " {:>13}", "never fetched")?;
        for point in &self.points {
            write!(
                out,
                "{:<12} {:>14}",
                point.policy.to_string(),
                format_significant(point.budget)
            )?;
            for (_, value) in &point.values {
                write!(out, " {:>14}", format_significant(*value))?;
            }
            writeln!(out, " {:>13}", point.starved)?;
        }
        Ok(())
    }

    fn write(&self, path: &Path) -> Result<(), Failure> {
        let policies: PackedStrings = {
            let names: Vec<String> = self.points.iter().map(|it| it.policy.to_string()).collect();
            names.iter().map(String::as_str).collect()
        };
        let column = |value: &dyn Fn(&CurvePoint) -> f64| {
            self.points.iter().map(value).collect::<Vec<f64>>()
        };
        let measures = self.measures();
        let mut columns = vec![
            ("budget", column(&|point| point.budget)),
            ("spent", column(&|point| point.spent)),
            ("price", column(&|point| point.price)),
        ];
        for (at, measure) in measures.iter().enumerate() {
            columns.push((measure.key, column(&|point| point.values[at].1)));
        }
        columns.push(("starved", column(&|point| point.starved as f64)));
        let mut table = Table::new(self.points.len()).names("policy", Some(&policies));
        for (name, values) in &columns {
            table = table.numbers(name, values);
        }
        write_table(path, &table)
    }
}
