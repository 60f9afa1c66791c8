//! What policies made of a web, as pictures.

use freshet_chart::{Axis, Figure, Legend, Mark, Panel, Series};
use freshet_plan::Objective;
use freshet_sim::{Aim, PolicyReport, Spread};

use crate::commands::simulate::Simulated;
use crate::commands::simulate::summary::{requests, yardstick};
use crate::commands::simulate::table::{Digits, with_half};
use crate::commands::simulate::verdict::Verdict;
use crate::number::{plural, significant, unit_of_days};

/// From this ratio of the largest to the smallest on, costs are shown on a logarithmic axis.
const WIDE: f64 = 20.0;
/// The height of a row of a policy, in pixels.
const ROW: u32 = 25;

/// The look of the bound.
const DARK: usize = 7;

/// The measure of the objective.
struct Measure {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    /// From what the report has to what is shown.
    scale: f64,
}

impl Measure {
    fn of(simulated: &Simulated<'_>) -> Self {
        let report = simulated.report;
        let name = match report.objective {
            Aim::Keep(Objective::Harmonic) => "harmonic cost",
            Aim::Keep(Objective::Freshness) => "freshness",
            Aim::Keep(Objective::Age) => "age",
            Aim::Capture(_) => "utility",
        };
        let more = report.objective.more_is_better();
        let better = if more { "more is better" } else { "less is better" };
        let least = report.policies.iter().map(|it| value(simulated, it).mean);
        let least = least.filter(|it| *it > 0.0).fold(f64::INFINITY, f64::min);
        let (scale, unit) = match report.objective {
            Aim::Keep(Objective::Age) => unit_of_days(least),
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
        let log = !share && high > WIDE * low;
        if log { Axis::log(self.name, &unit) } else { Axis::linear(self.name, &unit) }
    }
}

/// The look of each policy, the same in both pictures: the bound is the dark line.
fn looks(verdict: &Verdict, policies: usize) -> Vec<usize> {
    let mut others = (0..).filter(|look| *look != DARK);
    let look = |at| if Some(at) == verdict.bound { DARK } else { others.next().unwrap_or(0) };
    (0..policies).map(look).collect()
}

fn value(simulated: &Simulated<'_>, policy: &PolicyReport) -> Spread {
    policy.measured.objective(simulated.report.objective)
}

/// Policy against policy, the best at the top.
pub(crate) fn policies(simulated: &Simulated<'_>) -> String {
    let report = simulated.report;
    let verdict = Verdict::of(report);
    let measure = Measure::of(simulated);
    let spreads: Vec<Spread> = report.policies.iter().map(|it| value(simulated, it)).collect();
    let mut order: Vec<usize> = (0..spreads.len()).collect();
    // What is not a number comes last.
    let sign = if report.objective.more_is_better() { -1.0 } else { 1.0 };
    order.sort_by(|&a, &b| (sign * spreads[a].mean).total_cmp(&(sign * spreads[b].mean)));

    let looks = looks(&verdict, spreads.len());
    let notes = with_half(&spreads, measure.scale, Digits::Fine);
    let names: Vec<String> =
        order.iter().map(|&at| report.policies[at].policy.to_string()).collect();
    let notes: Vec<&String> = order.iter().map(|&at| &notes[at]).collect();
    let mut panel = Panel::new()
        .x(measure.axis(spreads.iter().map(|it| it.mean)))
        .y(Axis::categories("", &names).notes(&notes));
    for (row, &at) in order.iter().enumerate() {
        let Spread { mean, interval } = spreads[at];
        let (low, high) = interval.unwrap_or((f64::NAN, f64::NAN));
        let scaled = |value: f64| [value * measure.scale];
        let (name, row) = (&names[row], [row as f64]);
        panel = panel
            .series(Series::intervals(name, &scaled(low), &scaled(high), &row).look(looks[at]))
            .series(Series::points(name, &scaled(mean), &row).look(looks[at]));
    }
    for (place, label) in
        [(verdict.bound, yardstick(report, simulated.has_signals())), (verdict.uniform, "uniform")]
    {
        if let Some(at) = place {
            panel = panel.mark(Mark::vertical(spreads[at].mean * measure.scale, label));
        }
    }
    let mut caption = caption(simulated);
    if report.seeds > 1 {
        caption = format!("mean and 95 % interval over {} seeds, {caption}", report.seeds);
    }
    Figure::new("Policy against policy, at an equal number of requests")
        .subtitle(&subtitle(simulated))
        .caption(&caption)
        .legend(Legend::Off)
        .plot_height(ROW * spreads.len() as u32)
        .panel(panel)
        .to_svg()
}

/// The measure over time, and how far each policy is above the bound.
pub(crate) fn over_time(simulated: &Simulated<'_>) -> String {
    let report = simulated.report;
    let measure = Measure::of(simulated);
    let verdict = Verdict::of(report);
    let looks = looks(&verdict, report.policies.len());
    let days = simulated.series_days();
    let scaled = |values: &[f64]| values.iter().map(|it| it * measure.scale).collect::<Vec<f64>>();
    let series_of = |it: &PolicyReport| {
        scaled(match report.objective {
            Aim::Keep(Objective::Harmonic) => &it.series.harmonic_cost,
            Aim::Keep(Objective::Freshness) => &it.series.freshness,
            Aim::Keep(Objective::Age) => &it.series.age,
            Aim::Capture(_) => &it.series.utility,
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
        let line = Series::line(&name, &days, &series_of(policy)).look(looks[at]);
        values = values.series(if Some(at) == verdict.bound { line.solid() } else { line });
    }
    values = burn_in("not measured").into_iter().chain(turns(simulated)).fold(values, Panel::mark);

    let mut figure = Figure::new("Policies over time, at an equal number of requests")
        .subtitle(&subtitle(simulated))
        .caption(&caption(simulated))
        .legend(Legend::Ends)
        .share_x()
        .plot_height(300)
        .panel(values);
    if verdict.bound.is_some() && report.policies.len() > 1 {
        let others =
            || report.policies.iter().enumerate().filter(|(at, _)| Some(*at) != verdict.bound);
        let name = match report.objective {
            Aim::Keep(Objective::Freshness) => "freshness below the bound".to_owned(),
            Aim::Capture(_) => "utility below wic's".to_owned(),
            Aim::Keep(_) => format!("{} above the bound", measure.name),
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
            panel = panel.series(Series::line(&name, &days, &regret).look(looks[at]));
        }
        figure = figure
            .panel(burn_in("").into_iter().chain(unnamed(simulated)).fold(panel, Panel::mark));
    }
    figure.to_svg()
}

/// Lines where something happens.
fn turns(simulated: &Simulated<'_>) -> impl Iterator<Item = Mark> {
    let turns = simulated.scenario.scenario.turns.iter();
    turns.map(|turn| Mark::vertical(turn.day, &format!("{}: {}", turn.day, turn.what)))
}

fn unnamed(simulated: &Simulated<'_>) -> impl Iterator<Item = Mark> {
    simulated.scenario.scenario.turns.iter().map(|turn| Mark::vertical(turn.day, ""))
}

fn subtitle(simulated: &Simulated<'_>) -> String {
    let report = simulated.report;
    format!(
        "{}, {} a day, objective {}, {}",
        plural(report.sources, "source", "sources"),
        requests(report.budget),
        report.objective,
        plural(report.seeds, "seed", "seeds"),
    )
}

fn caption(simulated: &Simulated<'_>) -> String {
    let calendar = &simulated.report.calendar;
    format!(
        "measured from day {} to day {}; {}; made with freshet simulate",
        significant(calendar.burn_in),
        significant(calendar.days),
        simulated.world.words()
    )
}
