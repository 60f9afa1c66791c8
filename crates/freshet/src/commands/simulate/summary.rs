//! What policies made of a web, for people.

use std::fmt::Write;

use freshet_model::Budget;
use freshet_plan::Objective;
use freshet_sim::{Aim, Measured, PolicyReport, Report, Spread};

use crate::commands::simulate::Simulated;
use crate::commands::simulate::table::{Column, Digits, lines, means, width, with_half};
use crate::commands::simulate::verdict::Verdict;
use crate::number::{plural, significant, unit_of_days};

/// Tables are no wider.
const WIDEST: usize = 100;
/// Requests that tell next to nothing.
const FEW: f64 = 20.0;

pub(crate) fn text(simulated: &Simulated<'_>) -> String {
    let verdict = Verdict::of(simulated.report);
    let mut text = headline(simulated);
    for line in table(simulated, &verdict) {
        text.push('\n');
        text.push_str(&line);
    }
    let words = words(simulated, &verdict);
    if !words.is_empty() {
        text.push_str("\n\n");
        text.push_str(&words);
    }
    if let Some(out) = &simulated.arguments.out {
        let _ = write!(text, "\n\nwritten: {}", out.display());
    }
    text
}

/// So many requests, which need not be whole.
pub(crate) fn requests(number: f64) -> String {
    format!("{} request{}", significant(number), if number == 1.0 { "" } else { "s" })
}

/// What was simulated, in three lines.
fn headline(simulated: &Simulated<'_>) -> String {
    let Simulated { arguments, world, scenario, report } = simulated;
    let calendar = &report.calendar;
    let mut text = String::new();
    let each = match arguments.budget {
        Budget::PerSource(each) => format!(" ({} each)", significant(each.get())),
        Budget::Total(_) => String::new(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}, {} a day{each}, {} {} of which the last {} count, {}",
        plural(report.sources, "source", "sources"),
        requests(report.budget),
        significant(calendar.days),
        if calendar.days == 1.0 { "day" } else { "days" },
        significant(calendar.days - calendar.burn_in),
        plural(report.seeds, "seed", "seeds"),
    );
    let _ = writeln!(text, "{}", world.words());
    let _ = write!(text, "objective {}, timing {}", report.objective, arguments.options.timing);
    if !arguments.fault.is_empty() {
        let faults: Vec<String> = arguments.fault.iter().map(ToString::to_string).collect();
        let _ = write!(text, ", faults {}", faults.join(" "));
    }
    if arguments.scenario.is_some() {
        let _ = write!(text, "\nscenario {}:", scenario.name);
        for turn in &scenario.scenario.turns {
            let _ = write!(text, "\n  day {}: {}", significant(turn.day), turn.what);
        }
    }
    text.push('\n');
    text
}

/// A measure as a person reads it.
struct Shown {
    name: &'static str,
    unit: &'static str,
    spreads: Vec<Spread>,
    scale: f64,
}

impl Shown {
    fn new(report: &Report, name: &'static str, of: fn(&Measured) -> Spread) -> Self {
        let spreads = report.policies.iter().map(|it| of(&it.measured)).collect();
        Self { name, unit: "", spreads, scale: 1.0 }
    }

    /// In the unit that suits most of the policies.
    fn in_days(mut self) -> Self {
        let mut times: Vec<f64> =
            self.spreads.iter().map(|it| it.mean).filter(|it| it.is_finite()).collect();
        times.sort_by(f64::total_cmp);
        let (scale, unit) = unit_of_days(times.get(times.len() / 2).copied().unwrap_or(1.0));
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

fn table(simulated: &Simulated<'_>, verdict: &Verdict) -> Vec<String> {
    let report = simulated.report;
    let all = [
        (Objective::Harmonic, Shown::new(report, "harmonic cost", |it| it.harmonic_cost)),
        (Objective::Freshness, Shown::new(report, "freshness", |it| it.freshness)),
        (Objective::Age, Shown::new(report, "age", |it| it.age).in_days()),
    ];
    let is_own = |objective: Objective| report.objective == Aim::Keep(objective);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(it, _)| is_own(*it));
    let shown = |all: Vec<(Objective, Shown)>| all.into_iter().map(|(_, it)| it).collect();
    let utility = Shown::new(report, "utility", |it| it.utility);
    let (own, others): (Vec<Shown>, Vec<Shown>) = match report.objective {
        Aim::Keep(_) => (shown(own), shown(others)),
        // One more would be too wide.
        Aim::Capture(_) => (vec![utility], shown(others.into_iter().skip(1).collect())),
    };
    let delay = Shown::new(report, "delay", |it| it.delay).in_days();
    let columns = |halves: bool| {
        let mut columns = vec![Column::new(["", "policy"], names(simulated, verdict))];
        columns.extend(own.iter().map(|shown| shown.column("objective:", true, Digits::Fine)));
        columns.extend(others.iter().map(|shown| shown.column("", halves, Digits::Known)));
        columns.push(percent(report, ["changes", "seen"], 0, |it| it.captured.mean));
        let late = means(&delay.spreads, delay.scale, Digits::Known);
        columns.push(Column::new(["after,", delay.unit], late));
        let days = report.calendar.days - report.calendar.burn_in;
        let whole = report.budget * days;
        columns.push(percent(report, ["budget", "spent"], 1, |it| it.requests.mean / whole));
        columns.push(percent(report, ["found", "change"], 0, |it| it.found.mean));
        if simulated.world.hosts {
            let load = |it: &PolicyReport| significant(it.measured.host_load.mean.round());
            let cells = report.policies.iter().map(load).collect();
            columns.push(Column::new(["host,", "a day"], cells));
        }
        columns
    };
    let full = columns(true);
    lines(&if width(&full) <= WIDEST { full } else { columns(false) })
}

fn names(simulated: &Simulated<'_>, verdict: &Verdict) -> Vec<String> {
    let (report, hears) = (simulated.report, simulated.has_signals());
    let name = |(at, it): (usize, &PolicyReport)| match Some(at) {
        at if at == verdict.bound => format!("{} ({})", it.policy, yardstick(report, hears)),
        at if at == verdict.best => format!("{} (best)", it.policy),
        _ => it.policy.to_string(),
    };
    report.policies.iter().enumerate().map(name).collect()
}

/// What the policy is that others are compared with.
pub(crate) fn yardstick(report: &Report, signals: bool) -> &'static str {
    match report.objective {
        Aim::Keep(_) if signals => "without signals",
        Aim::Keep(_) => "bound",
        Aim::Capture(_) => "offline",
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

/// The comparison in a sentence or two.
fn words(simulated: &Simulated<'_>, verdict: &Verdict) -> String {
    let report = simulated.report;
    let name = |at: usize| report.policies[at].policy.to_string();
    let mut words = Vec::new();
    if let (Some(best), Some(way)) = (verdict.best, verdict.way) {
        words.push(match way {
            _ if verdict.best == verdict.uniform => {
                "No policy that is not told the change rates does better than uniform.".to_owned()
            }
            way if way > 1.0 && report.objective.capture().is_some() => format!(
                "{} does better than wic, which is greedy and in no way a bound.",
                name(best)
            ),
            way if way > 1.0 && simulated.has_signals() => {
                format!("{} does better than optimum, which hears no signals.", name(best))
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
                    Aim::Keep(_) => "the bound",
                    Aim::Capture(_) => "wic",
                }
            ),
        });
    }
    let worse: Vec<String> = verdict.worse.iter().map(|&at| name(at)).collect();
    match &worse[..] {
        [] => {}
        [only] => words.push(format!("Worse than uniform: {only}.")),
        [most @ .., last] => {
            words.push(format!("Worse than uniform: {} and {last}.", most.join(", ")));
        }
    }
    let allowed = report.budget * (report.calendar.days - report.calendar.burn_in);
    if allowed < FEW {
        words.push(format!(
            "Only {} requests were allowed while it counted: take a larger --budget or more --days.",
            significant(allowed)
        ));
    }
    words.join("\n")
}
