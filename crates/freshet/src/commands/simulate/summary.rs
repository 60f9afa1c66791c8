//! Text summary of the results.

use std::fmt::Write;

use freshet_model::Budget;
use freshet_plan::Objective;
use freshet_sim::{MeanWithInterval, Measured, PolicyReport, Report, SimObjective};

use crate::commands::simulate::FinishedSimulation;
use crate::commands::simulate::comparison::PolicyComparison;
use crate::commands::simulate::table::{Column, Digits, lines, means, width, with_half};
use crate::number::{format_significant, pluralize, unit_for_days};

/// Maximum width of the table, in characters.
const MAX_WIDTH: usize = 100;
/// Number of requests below which the results are not meaningful.
const MIN_REQUESTS: f64 = 20.0;

pub(crate) fn text(simulated: &FinishedSimulation<'_>) -> String {
    let comparison = PolicyComparison::new(simulated.report);
    let mut text = headline(simulated);
    for line in table(simulated, &comparison) {
        text.push('\n');
        text.push_str(&line);
    }
    let conclusion = conclusion(simulated, &comparison);
    if !conclusion.is_empty() {
        text.push_str("\n\n");
        text.push_str(&conclusion);
    }
    if let Some(out) = &simulated.arguments.out {
        let _ = write!(text, "\n\nwrote files to {}", out.display());
    }
    text
}

/// Formats a number of requests, which need not be whole.
pub(crate) fn format_requests(number: f64) -> String {
    format!("{} request{}", format_significant(number), if number == 1.0 { "" } else { "s" })
}

/// Describes the simulation in three lines.
fn headline(simulated: &FinishedSimulation<'_>) -> String {
    let FinishedSimulation { arguments, web, scenario, report } = simulated;
    let calendar = &report.calendar;
    let mut text = String::new();
    let each = match arguments.budget {
        Budget::PerSource(each) => format!(" ({} each)", format_significant(each.get())),
        Budget::Total(_) => String::new(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}, {} a day{each}, {} {} of which the last {} are measured, {}",
        pluralize(report.sources, "source", "sources"),
        format_requests(report.budget),
        format_significant(calendar.days),
        if calendar.days == 1.0 { "day" } else { "days" },
        format_significant(calendar.days - calendar.burn_in),
        pluralize(report.seeds, "seed", "seeds"),
    );
    let _ = writeln!(text, "{}", web.description());
    let _ = write!(text, "objective {}, timing {}", report.objective, arguments.options.timing);
    if !arguments.fault.is_empty() {
        let faults: Vec<String> = arguments.fault.iter().map(ToString::to_string).collect();
        let _ = write!(text, ", faults {}", faults.join(" "));
    }
    if arguments.scenario.is_some() {
        let _ = write!(text, "\nscenario {}:", scenario.name);
        for turn in &scenario.scenario.turns {
            let _ = write!(text, "\n  day {}: {}", format_significant(turn.day), turn.what);
        }
    }
    text.push('\n');
    text
}

/// Measure as shown in a column.
struct DisplayedMeasure {
    name: &'static str,
    unit: &'static str,
    spreads: Vec<MeanWithInterval>,
    scale: f64,
}

impl DisplayedMeasure {
    fn new(report: &Report, name: &'static str, of: fn(&Measured) -> MeanWithInterval) -> Self {
        let spreads = report.policies.iter().map(|it| of(&it.measured)).collect();
        Self { name, unit: "", spreads, scale: 1.0 }
    }

    /// Converts days to the unit that suits most of the policies.
    fn in_days(mut self) -> Self {
        let mut times: Vec<f64> =
            self.spreads.iter().map(|it| it.mean).filter(|it| it.is_finite()).collect();
        times.sort_by(f64::total_cmp);
        let (scale, unit) = unit_for_days(times.get(times.len() / 2).copied().unwrap_or(1.0));
        self.unit = unit;
        self.scale = scale;
        self
    }

    fn column(&self, over: &str, halves: bool, digits: Digits) -> Column {
        let cells = if halves { with_half } else { means }(&self.spreads, self.scale, digits);
        match self.unit {
            "" => Column::new([over, self.name], cells),
            unit => Column::new([over, &format!("{}, {unit}", self.name)], cells),
        }
    }
}

fn table(simulated: &FinishedSimulation<'_>, comparison: &PolicyComparison) -> Vec<String> {
    let report = simulated.report;
    let all = [
        (
            Objective::Harmonic,
            DisplayedMeasure::new(report, "harmonic cost", |it| it.harmonic_cost),
        ),
        (Objective::Freshness, DisplayedMeasure::new(report, "freshness", |it| it.freshness)),
        (Objective::Age, DisplayedMeasure::new(report, "age", |it| it.age).in_days()),
    ];
    let is_own = |objective: Objective| report.objective == SimObjective::Keep(objective);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(it, _)| is_own(*it));
    let shown =
        |all: Vec<(Objective, DisplayedMeasure)>| all.into_iter().map(|(_, it)| it).collect();
    let utility = DisplayedMeasure::new(report, "utility", |it| it.utility);
    let (own, others): (Vec<DisplayedMeasure>, Vec<DisplayedMeasure>) = match report.objective {
        SimObjective::Keep(_) => (shown(own), shown(others)),
        // Another column would make the table too wide.
        SimObjective::Capture(_) => (vec![utility], shown(others.into_iter().skip(1).collect())),
    };
    let delay = DisplayedMeasure::new(report, "delay", |it| it.delay).in_days();
    let columns = |halves: bool| {
        let mut columns = vec![Column::new(["", "policy"], names(simulated, comparison))];
        columns.extend(own.iter().map(|measure| measure.column("objective:", true, Digits::Fine)));
        columns.extend(others.iter().map(|measure| measure.column("", halves, Digits::Standard)));
        columns.push(percent(report, ["changes", "found"], 0, |it| it.captured.mean));
        let late = means(&delay.spreads, delay.scale, Digits::Standard);
        columns.push(Column::new(["after,", delay.unit], late));
        let days = report.calendar.days - report.calendar.burn_in;
        let whole = report.budget * days;
        columns.push(percent(report, ["budget", "spent"], 1, |it| it.requests.mean / whole));
        columns.push(percent(report, ["found a", "change"], 0, |it| it.found.mean));
        if simulated.web.hosts {
            let load = |it: &PolicyReport| format_significant(it.measured.host_load.mean.round());
            let cells = report.policies.iter().map(load).collect();
            columns.push(Column::new(["host,", "a day"], cells));
        }
        columns
    };
    let full = columns(true);
    lines(&if width(&full) <= MAX_WIDTH { full } else { columns(false) })
}

fn names(simulated: &FinishedSimulation<'_>, comparison: &PolicyComparison) -> Vec<String> {
    let (report, has_signals) = (simulated.report, simulated.has_signals());
    let name = |(at, it): (usize, &PolicyReport)| match Some(at) {
        at if at == comparison.bound => {
            format!("{} ({})", it.policy, baseline_label(report, has_signals))
        }
        at if at == comparison.best => format!("{} (best)", it.policy),
        _ => it.policy.to_string(),
    };
    report.policies.iter().enumerate().map(name).collect()
}

/// Returns the label of the policy that others are compared with.
pub(crate) fn baseline_label(report: &Report, signals: bool) -> &'static str {
    match report.objective {
        SimObjective::Keep(_) if signals => "without signals",
        SimObjective::Keep(_) => "bound",
        SimObjective::Capture(_) => "offline",
    }
}

fn percent(
    report: &Report,
    head: [&str; 2],
    decimals: usize,
    of: impl Fn(&Measured) -> f64,
) -> Column {
    let cell = |it: &PolicyReport| match of(&it.measured) * 100.0 {
        share if !share.is_finite() => "–".to_owned(),
        share if share > 0.0 && share < 1.0 => format!("{share:.2} %"),
        share => format!("{share:.decimals$} %"),
    };
    Column::new(head, report.policies.iter().map(cell).collect())
}

/// Describes the comparison in one or two sentences.
fn conclusion(simulated: &FinishedSimulation<'_>, comparison: &PolicyComparison) -> String {
    let report = simulated.report;
    let name = |at: usize| report.policies[at].policy.to_string();
    let mut words = Vec::new();
    if let (Some(best), Some(way)) = (comparison.best, comparison.way) {
        words.push(match way {
            _ if comparison.best == comparison.uniform => {
                "No policy that has to learn the change rates does better than uniform.".to_owned()
            }
            way if way > 1.0 && report.objective.capture().is_some() => {
                format!("{} does better than wic, which is greedy and not a bound.", name(best))
            }
            way if way > 1.0 && simulated.has_signals() => {
                format!("{} does better than optimum, which receives no signals.", name(best))
            }
            way if way > 1.0 => format!(
                "{} does better than optimum, which is a bound only where rates are constant.",
                name(best)
            ),
            way => format!(
                "{} goes {:.0} % of the way from uniform to {}.",
                name(best),
                (way * 100.0).floor(),
                match report.objective {
                    SimObjective::Keep(_) => "the bound",
                    SimObjective::Capture(_) => "wic",
                }
            ),
        });
    }
    let worse: Vec<String> = comparison.worse.iter().map(|&at| name(at)).collect();
    match &worse[..] {
        [] => {}
        [only] => words.push(format!("Worse than uniform: {only}.")),
        [others @ .., last] => {
            words.push(format!("Worse than uniform: {} and {last}.", others.join(", ")));
        }
    }
    let allowed = report.budget * (report.calendar.days - report.calendar.burn_in);
    if allowed < MIN_REQUESTS {
        words.push(format!(
            "Only {} requests were measured: use a larger --budget or more --days.",
            format_significant(allowed)
        ));
    }
    words.join("\n")
}
