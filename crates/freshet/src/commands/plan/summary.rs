//! Text summary of a plan.

use std::fmt::Write;
use std::time::Duration;

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Measure, MeasureForm, Options, Policy, Solution, Sources, Status, Target, solve,
};

use crate::commands::plan::measure;
use crate::number::{
    format_count, format_days, format_days_in_unit_of, format_share, format_significant, pluralize,
};
use crate::source_table::LoadedTable;

/// Maximum number of hosts that are listed by name.
const MAX_HOSTS: usize = 5;
/// Minimum gain that is printed, in points of freshness; smaller gains are given for more fetches.
const MIN_POINTS: f64 = 0.01;

/// Plan with everything that its summary shows.
pub(crate) struct PlanFacts<'a> {
    pub(crate) loaded: &'a LoadedTable,
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) options: &'a Options,
    pub(crate) budget: PerDay,
    pub(crate) target: Option<&'a Target>,
    pub(crate) solution: &'a Solution,
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) solve_time: Duration,
}

impl PlanFacts<'_> {
    /// True if fetches differ in cost.
    fn has_costs(&self) -> bool {
        self.loaded.table.cost.is_some()
    }

    /// Describes additional budget.
    fn more_budget(&self, amount: f64) -> String {
        let number = if amount == 1.0 { "one".to_owned() } else { format_significant(amount) };
        let (one, many) = match self.has_costs() {
            true => ("more unit of budget", "more units of budget"),
            false => ("more fetch", "more fetches"),
        };
        format!("{number} {} a day", if amount == 1.0 { one } else { many })
    }
}

pub(crate) fn text(facts: &PlanFacts<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_all(&mut text, facts);
    text
}

fn write_all(out: &mut String, facts: &PlanFacts<'_>) -> std::fmt::Result {
    let PlanFacts { sources, options, budget, solution, evaluation, .. } = facts;
    let n = sources.len();
    let each = budget.get() / n as f64;
    if let Some(target) = facts.target {
        let unit = target.measure().unit;
        writeln!(
            out,
            "{} {}{unit} requires {} a day",
            target.measure().label,
            format_significant(target.value()),
            amount(facts, budget.get()),
            unit = if unit.is_empty() { String::new() } else { format!(" {unit}") },
        )?;
    }
    writeln!(
        out,
        "{}, {} a day ({} each), {}, timing {}",
        pluralize(n, "source", "sources"),
        amount(facts, budget.get()),
        format_significant(each),
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
            format_count(starved),
            format_count(n),
            format_significant(100.0 * starved as f64 / n as f64)
        )?;
    } else {
        writeln!(out, "never fetched      none with an importance and a change rate above 0")?;
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
                "more would have no effect"
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
        pluralize(solution.passes as usize, "pass", "passes"),
        facts.solve_time
    )?;
    if solution.status == Status::Inexact {
        write!(out, "\nwarning: the gap is above 1e-9; please report this table as a bug")?;
    }
    Ok(())
}

/// Formats an amount of the budget, in fetches unless they differ in cost.
fn amount(facts: &PlanFacts<'_>, number: f64) -> String {
    let (one, many) = if facts.has_costs() { ("unit", "units") } else { ("fetch", "fetches") };
    format!("{} {}", format_significant(number), if number == 1.0 { one } else { many })
}

/// Writes a table of this plan, equal polling, and the plan with a little more budget.
fn table(out: &mut String, facts: &PlanFacts<'_>) -> std::fmt::Result {
    let PlanFacts { sources, options, budget, .. } = facts;
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
            let text =
                value.map_or("–".to_owned(), |(_, value)| format_measure(measure, value, own));
            write!(out, " {text:>17}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Formats a value of a measure, with times in the unit that suits `own`.
fn format_measure(measure: Measure, value: f64, own: f64) -> String {
    match measure.form {
        MeasureForm::OneMinusMean => format_share(value),
        _ if measure.unit == "days" => format_days_in_unit_of(value, own),
        _ => format_significant(value),
    }
}

/// Writes what additional budget would buy.
fn price(out: &mut String, facts: &PlanFacts<'_>) -> std::fmt::Result {
    let PlanFacts { solution, .. } = facts;
    let price = solution.price;
    if price.is_nan() {
        return Ok(());
    }
    write!(out, "price of a fetch   ")?;
    if price == 0.0 {
        let limit = if solution.host_prices.is_empty() { "" } else { ", except at hosts at limit" };
        return writeln!(out, "0: {} buys nothing{limit}", facts.more_budget(1.0));
    }
    if price.is_infinite() {
        return writeln!(out, "infinite: there is no budget for a first fetch");
    }
    writeln!(out, "{}", gain(facts, price))
}

/// Describes what additional budget buys at a price, in terms of the first measure of the objective.
///
/// The cost falls by the price for each additional fetch a day. A small gain is given for 10, 100, …
/// additional fetches, up to a hundredth of the budget.
fn gain(facts: &PlanFacts<'_>, price: f64) -> String {
    let PlanFacts { options, evaluation, budget, .. } = facts;
    let Some(measure) = options.objective.measures().first() else { return String::new() };
    let weight = if measure.form == MeasureForm::Sum { 1.0 } else { evaluation.weight() };
    let gain = price / weight;
    let mut amount = 1.0;
    let is_small = |gain: f64| match measure.form {
        MeasureForm::OneMinusMean => 100.0 * gain < MIN_POINTS,
        _ if measure.unit == "days" => gain * 86_400.0 < 1.0,
        _ => gain < MIN_POINTS,
    };
    while is_small(gain * amount) && 1000.0 * amount <= budget.get() {
        amount *= 10.0;
    }
    let total = gain * amount;
    let gain = match measure.form {
        MeasureForm::OneMinusMean if 100.0 * total < MIN_POINTS => {
            format!("less than {MIN_POINTS} points of {}", measure.label)
        }
        MeasureForm::OneMinusMean => {
            format!("{} points of {}", format_significant(100.0 * total), measure.label)
        }
        _ if measure.unit == "days" => {
            format!("{} less {}", format_days(total), measure.label)
        }
        _ => format!("{} less {}", format_significant(total), measure.label),
    };
    format!("{} {} {gain}", facts.more_budget(amount), if amount == 1.0 { "buys" } else { "buy" })
}

fn hosts(out: &mut String, facts: &PlanFacts<'_>) -> std::fmt::Result {
    let mut full = facts.solution.host_prices.clone();
    if full.is_empty() {
        return Ok(());
    }
    full.sort_by(|a, b| b.price.total_cmp(&a.price));
    writeln!(out, "hosts at limit     {}", format_count(full.len()))?;
    for host in full.iter().take(MAX_HOSTS) {
        writeln!(out, "  {}: {} there", facts.loaded.host(host.host), gain(facts, host.price))?;
    }
    if full.len() > MAX_HOSTS {
        writeln!(out, "  and {} more (--json lists them)", format_count(full.len() - MAX_HOSTS))?;
    }
    Ok(())
}
