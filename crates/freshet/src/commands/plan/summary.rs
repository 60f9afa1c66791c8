//! What a plan comes to, for people.

use std::fmt::Write;
use std::time::Duration;

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Measure, MeasureForm, Options, Policy, Solution, Sources, Status, Target, solve,
};

use crate::commands::plan::measure;
use crate::number::{count, days, days_like, plural, share, significant};
use crate::source_table::Loaded;

/// Hosts listed by name before the rest is only counted.
const HOSTS_SHOWN: usize = 5;

pub(crate) struct Facts<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) options: &'a Options,
    pub(crate) budget: PerDay,
    pub(crate) target: Option<&'a Target>,
    pub(crate) solution: &'a Solution,
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) solve_time: Duration,
}

impl Facts<'_> {
    /// Whether fetches differ in what they take of the budget.
    fn has_costs(&self) -> bool {
        self.loaded.table.cost.is_some()
    }

    /// What one more of is worth the price.
    fn one_more(&self) -> &'static str {
        if self.has_costs() { "one more unit of budget a day" } else { "one more fetch a day" }
    }
}

pub(crate) fn text(facts: &Facts<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, facts);
    text
}

fn write_all(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let Facts { sources, options, budget, solution, evaluation, .. } = facts;
    let n = sources.len();
    let each = budget.get() / n as f64;
    if let Some(target) = facts.target {
        let unit = target.measure().unit;
        writeln!(
            out,
            "{} {}{unit} takes {} a day",
            target.measure().label,
            significant(target.value()),
            amount(facts, budget.get()),
            unit = if unit.is_empty() { String::new() } else { format!(" {unit}") },
        )?;
    }
    writeln!(
        out,
        "{}, {} a day ({} each), {}, timing {}",
        plural(n, "source", "sources"),
        amount(facts, budget.get()),
        significant(each),
        match options.policy {
            Policy::Optimal => format!("objective {}", options.objective),
            policy => format!("policy {policy}"),
        },
        options.timing,
    )?;
    writeln!(out)?;
    table(out, facts)?;
    writeln!(out)?;
    price(out, facts)?;
    let starved = evaluation.starved();
    if starved > 0 {
        writeln!(
            out,
            "never fetched      {} of {} sources ({} %)",
            count(starved),
            count(n),
            significant(100.0 * starved as f64 / n as f64)
        )?;
    } else {
        writeln!(out, "never fetched      none that matters and changes")?;
    }
    hosts(out, facts)?;
    if solution.spent < budget.get() * (1.0 - 1e-9) {
        writeln!(
            out,
            "unspent            {} a day: {}",
            amount(facts, budget.get() - solution.spent),
            if facts.loaded.limits.is_some() {
                "more than the hosts allow"
            } else {
                "more would bring nothing"
            }
        )?;
    }
    write!(
        out,
        "solution           {}, gap {}, {}, {:.2?}",
        solution.status,
        match solution.gap.worst() {
            0.0 => "0".to_owned(),
            gap => format!("{gap:.0e}"),
        },
        plural(solution.passes as usize, "pass", "passes"),
        facts.solve_time
    )?;
    if solution.status == Status::Inexact {
        write!(out, "\nwarning: the gap is above 1e-9; please report the table that led to it")?;
    }
    Ok(())
}

/// An amount of the budget: fetches, unless they differ in cost.
fn amount(facts: &Facts<'_>, number: f64) -> String {
    let (one, many) = if facts.has_costs() { ("unit", "units") } else { ("fetch", "fetches") };
    format!("{} {}", significant(number), if number == 1.0 { one } else { many })
}

/// This plan beside equal polling and beside what a little more budget would bring.
fn table(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let Facts { sources, options, budget, .. } = facts;
    let planned = |budget: f64, policy: Policy| {
        let options = Options { policy, ..**options };
        let solution = PerDay::new(budget).ok().and_then(|it| solve(sources, it, &options).ok())?;
        Some(measure(sources, &solution, &options))
    };
    let uniform = match options.policy {
        Policy::Uniform => None,
        _ => planned(budget.get(), Policy::Uniform),
    };
    let mut columns = vec![("this plan", Some(facts.evaluation.clone()))];
    if options.policy != Policy::Uniform {
        columns.push(("equal polling", uniform));
    }
    columns.push(("10 % more budget", planned(budget.get() * 1.1, options.policy)));
    write!(out, "{:18}", "")?;
    for (name, _) in &columns {
        write!(out, " {name:>17}")?;
    }
    writeln!(out)?;
    for (at, (measure, own)) in facts.evaluation.measures().enumerate() {
        write!(out, "{:18}", measure.label)?;
        for (_, evaluation) in &columns {
            let value = evaluation.as_ref().and_then(|it| it.measures().nth(at));
            let text = value.map_or("–".to_owned(), |(_, value)| show(measure, value, own));
            write!(out, " {text:>17}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A value of a measure, times in the unit that suits `own`.
fn show(measure: Measure, value: f64, own: f64) -> String {
    match measure.form {
        MeasureForm::OneLessMean => share(value),
        _ if measure.unit == "days" => days_like(value, own),
        _ => significant(value),
    }
}

fn price(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let Facts { solution, options, evaluation, .. } = facts;
    let price = solution.price;
    if price.is_nan() {
        return Ok(());
    }
    write!(out, "price of a fetch   ")?;
    if price == 0.0 {
        let why = if solution.host_prices.is_empty() { "" } else { ", unless its host allows it" };
        return writeln!(out, "0: {} is worth nothing{why}", facts.one_more());
    }
    if price.is_infinite() {
        return writeln!(out, "∞: the first fetch is worth any price");
    }
    let objective = options.objective;
    // The cost falls by the price; say it in the terms of the first measure.
    let words = objective.measures().first().map(|measure| {
        let by = price / if measure.form == MeasureForm::Sum { 1.0 } else { evaluation.weight() };
        match measure.form {
            MeasureForm::OneLessMean => format!("{} more {}", significant(by), measure.label),
            _ if measure.unit == "days" => format!("{} less {}", days(by), measure.label),
            _ => format!("{} less {}", significant(by), measure.label),
        }
    });
    writeln!(
        out,
        "{}: {} is worth {}",
        significant(price),
        facts.one_more(),
        words.unwrap_or_default()
    )
}

fn hosts(out: &mut String, facts: &Facts<'_>) -> std::fmt::Result {
    let mut full = facts.solution.host_prices.clone();
    if full.is_empty() {
        return Ok(());
    }
    full.sort_by(|a, b| b.price.total_cmp(&a.price));
    writeln!(out, "hosts at limit     {}; one more fetch a day there is worth", count(full.len()))?;
    for host in full.iter().take(HOSTS_SHOWN) {
        writeln!(out, "  {:>14}   {}", significant(host.price), facts.loaded.host(host.host))?;
    }
    if full.len() > HOSTS_SHOWN {
        writeln!(out, "  and {} more (--json lists them)", count(full.len() - HOSTS_SHOWN))?;
    }
    Ok(())
}
