//! SVG charts of the results.

use freshet_chart::{Axis, Figure, Legend, Mark, Panel, Series};
use freshet_plan::Objective;
use freshet_sim::{MeanWithInterval, PolicyReport, SimObjective};

use crate::commands::simulate::FinishedSimulation;
use crate::commands::simulate::comparison::PolicyComparison;
use crate::commands::simulate::summary::{baseline_label, format_requests};
use crate::commands::simulate::table::{Digits, with_half};
use crate::number::{format_significant, pluralize, unit_for_days};

/// Ratio of the largest to the smallest value above which costs are shown on a logarithmic axis.
const LOG_AXIS_RATIO: f64 = 20.0;
/// Height of the row of a policy, in pixels.
const ROW_HEIGHT: u32 = 25;

/// Index of the line style of the bound.
const BOUND_STYLE: usize = 7;

/// Measure of the objective, as shown on an axis.
struct ObjectiveMeasure {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    /// Factor from the unit of the report to the shown unit.
    scale: f64,
}

impl ObjectiveMeasure {
    fn new(simulated: &FinishedSimulation<'_>) -> Self {
        let report = simulated.report;
        let name = match report.objective {
            SimObjective::Keep(Objective::Harmonic) => "harmonic cost",
            SimObjective::Keep(Objective::Freshness) => "freshness",
            SimObjective::Keep(Objective::Age) => "age",
            SimObjective::Capture(_) => "utility",
        };
        let more = report.objective.more_is_better();
        let better = if more { "more is better" } else { "less is better" };
        let smallest = report.policies.iter().map(|it| value(simulated, it).mean);
        let smallest = smallest.filter(|it| *it > 0.0).fold(f64::INFINITY, f64::min);
        let (scale, unit) = match report.objective {
            SimObjective::Keep(Objective::Age) => unit_for_days(smallest),
            _ => (1.0, ""),
        };
        Self { name, unit, better, scale }
    }

    fn axis(&self, values: impl Iterator<Item = f64>) -> Axis {
        let unit = match self.unit {
            "" => self.better.to_owned(),
            unit => format!("{unit}, {}", self.better),
        };
        let (low, high) = values
            .filter(|value| *value > 0.0 && value.is_finite())
            .fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let share = matches!(self.name, "freshness" | "utility");
        let log = !share && high > LOG_AXIS_RATIO * low;
        if log { Axis::log(self.name, &unit) } else { Axis::linear(self.name, &unit) }
    }
}

/// Returns the line style of each policy, the same in both charts; the bound is the dark line.
fn line_styles(comparison: &PolicyComparison, policies: usize) -> Vec<usize> {
    let mut others = (0..).filter(|style| *style != BOUND_STYLE);
    let line_style =
        |at| if Some(at) == comparison.bound { BOUND_STYLE } else { others.next().unwrap_or(0) };
    (0..policies).map(line_style).collect()
}

fn value(simulated: &FinishedSimulation<'_>, policy: &PolicyReport) -> MeanWithInterval {
    policy.measured.objective(simulated.report.objective)
}

/// Draws a comparison of the policies, the best at the top.
pub(crate) fn policies(simulated: &FinishedSimulation<'_>) -> String {
    let report = simulated.report;
    let comparison = PolicyComparison::new(report);
    let measure = ObjectiveMeasure::new(simulated);
    let spreads: Vec<MeanWithInterval> =
        report.policies.iter().map(|it| value(simulated, it)).collect();
    let mut order: Vec<usize> = (0..spreads.len()).collect();
    // NaN is sorted last.
    let sign = if report.objective.more_is_better() { -1.0 } else { 1.0 };
    order.sort_by(|&a, &b| (sign * spreads[a].mean).total_cmp(&(sign * spreads[b].mean)));

    let line_styles = line_styles(&comparison, spreads.len());
    let notes = with_half(&spreads, measure.scale, Digits::Fine);
    let names: Vec<String> =
        order.iter().map(|&at| report.policies[at].policy.to_string()).collect();
    let notes: Vec<&String> = order.iter().map(|&at| &notes[at]).collect();
    let mut panel = Panel::new()
        .x(measure.axis(spreads.iter().map(|it| it.mean)))
        .y(Axis::categories("", &names).notes(&notes));
    for (row, &at) in order.iter().enumerate() {
        let MeanWithInterval { mean, interval } = spreads[at];
        let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
        let scaled = |value: f64| [value * measure.scale];
        let (name, row) = (&names[row], [row as f64]);
        panel = panel
            .series(
                Series::intervals(name, &scaled(low), &scaled(high), &row).look(line_styles[at]),
            )
            .series(Series::points(name, &scaled(mean), &row).look(line_styles[at]));
    }
    for (place, label) in [
        (comparison.bound, baseline_label(report, simulated.has_signals())),
        (comparison.uniform, "uniform"),
    ] {
        if let Some(at) = place {
            panel = panel.mark(Mark::vertical(spreads[at].mean * measure.scale, label));
        }
    }
    let mut caption = caption(simulated);
    if report.seeds > 1 {
        caption = format!("mean and 95 % interval over {} seeds, {caption}", report.seeds);
    }
    Figure::new("Comparison of policies at an equal number of requests")
        .subtitle(&subtitle(simulated))
        .caption(&caption)
        .legend(Legend::Off)
        .plot_height(ROW_HEIGHT * spreads.len() as u32)
        .panel(panel)
        .to_svg()
}

/// Draws the measure over time, and the distance of each policy from the bound.
pub(crate) fn over_time(simulated: &FinishedSimulation<'_>) -> String {
    let report = simulated.report;
    let measure = ObjectiveMeasure::new(simulated);
    let comparison = PolicyComparison::new(report);
    let line_styles = line_styles(&comparison, report.policies.len());
    let days = simulated.series_days();
    let scaled = |values: &[f64]| values.iter().map(|it| it * measure.scale).collect::<Vec<f64>>();
    let series_of = |it: &PolicyReport| {
        scaled(match report.objective {
            SimObjective::Keep(Objective::Harmonic) => &it.series.harmonic_cost,
            SimObjective::Keep(Objective::Freshness) => &it.series.freshness,
            SimObjective::Keep(Objective::Age) => &it.series.age,
            SimObjective::Capture(_) => &it.series.utility,
        })
    };
    let calendar = &report.calendar;
    let burn_in = |label: &str| match calendar.burn_in > 0.0 {
        true => Some(Mark::span(0.0, calendar.burn_in, label)),
        false => None,
    };
    let day = || Axis::linear("day", "").range(0.0, calendar.days);

    let measured = report
        .policies
        .iter()
        .flat_map(|it| series_of(it).into_iter().skip(calendar.measured()).collect::<Vec<f64>>());
    let mut values = Panel::new().x(day()).y(measure.axis(measured));
    for (at, policy) in report.policies.iter().enumerate() {
        let name = policy.policy.to_string();
        let line = Series::line(&name, &days, &series_of(policy)).look(line_styles[at]);
        values = values.series(if Some(at) == comparison.bound { line.solid() } else { line });
    }
    values =
        burn_in("not measured").into_iter().chain(event_marks(simulated)).fold(values, Panel::mark);

    let mut figure = Figure::new("Policies over time, at an equal number of requests")
        .subtitle(&subtitle(simulated))
        .caption(&caption(simulated))
        .legend(Legend::Ends)
        .share_x()
        .plot_height(300)
        .panel(values);
    if comparison.bound.is_some() && report.policies.len() > 1 {
        let others =
            || report.policies.iter().enumerate().filter(|(at, _)| Some(*at) != comparison.bound);
        let name = match report.objective {
            SimObjective::Keep(Objective::Freshness) => "freshness below the bound".to_owned(),
            SimObjective::Capture(_) => "utility below wic's".to_owned(),
            SimObjective::Keep(_) => format!("{} above the bound", measure.name),
        };
        let positive = |it: &PolicyReport| {
            it.series.regret.iter().skip(calendar.measured()).all(|regret| *regret > 0.0)
        };
        let axis = match others().all(|(_, it)| positive(it)) {
            true => Axis::log(&name, measure.unit),
            false => Axis::linear(&name, measure.unit),
        };
        let mut panel = Panel::new().x(day()).y(axis);
        for (at, policy) in others() {
            let (name, regret) = (policy.policy.to_string(), scaled(&policy.series.regret));
            panel = panel.series(Series::line(&name, &days, &regret).look(line_styles[at]));
        }
        figure = figure.panel(
            burn_in("")
                .into_iter()
                .chain(unlabeled_event_marks(simulated))
                .fold(panel, Panel::mark),
        );
    }
    figure.to_svg()
}

/// Returns lines at the events of the scenario.
fn event_marks(simulated: &FinishedSimulation<'_>) -> impl Iterator<Item = Mark> {
    let turns = simulated.scenario.scenario.turns.iter();
    turns.map(|turn| Mark::vertical(turn.day, &format!("{}: {}", turn.day, turn.what)))
}

fn unlabeled_event_marks(simulated: &FinishedSimulation<'_>) -> impl Iterator<Item = Mark> {
    simulated.scenario.scenario.turns.iter().map(|turn| Mark::vertical(turn.day, ""))
}

fn subtitle(simulated: &FinishedSimulation<'_>) -> String {
    let report = simulated.report;
    format!(
        "{}, {} a day, objective {}, {}",
        pluralize(report.sources, "source", "sources"),
        format_requests(report.budget),
        report.objective,
        pluralize(report.seeds, "seed", "seeds"),
    )
}

fn caption(simulated: &FinishedSimulation<'_>) -> String {
    let calendar = &simulated.report.calendar;
    format!(
        "measured from day {} to day {}; {}; made with freshet simulate",
        format_significant(calendar.burn_in),
        format_significant(calendar.days),
        simulated.web.description()
    )
}
