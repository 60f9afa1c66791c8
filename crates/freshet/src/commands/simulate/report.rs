//! JSON report of a simulation.

use freshet_sim::{MeanWithInterval, Origin, PolicyReport, ScenarioEvent};
use serde::Serialize;

use crate::commands::plan::finite;
use crate::commands::simulate::FinishedSimulation;
use crate::commands::simulate::web::WebName;

/// Object that `--json` prints.
#[derive(Serialize)]
pub(crate) struct SimulationReport<'a> {
    sources: usize,
    days: f64,
    burn_in: f64,
    budget: f64,
    objective: &'static str,
    life: Option<String>,
    urgency: Option<String>,
    timing: &'static str,
    observed: &'static str,
    seeds: usize,
    seed: u64,
    web: Option<&'static str>,
    table: Option<&'a str>,
    trace: Option<&'a str>,
    rates: Option<String>,
    importance: Option<String>,
    observed_share: Option<f64>,
    per_host: Option<f64>,
    faults: Vec<String>,
    signals: Option<String>,
    signal_trace: Option<&'a str>,
    scenario: Vec<ScenarioEventReport>,
    policies: Vec<PolicyObject>,
    series_days: Vec<f64>,
}

#[derive(Serialize)]
struct ScenarioEventReport {
    day: f64,
    what: String,
}

#[derive(Serialize)]
struct PolicyObject {
    name: String,
    scale: Option<f64>,
    requests: Option<f64>,
    requests_interval: IntervalReport,
    freshness: MeasureReport,
    age: MeasureReport,
    harmonic_cost: MeasureReport,
    captured: MeasureReport,
    delay: MeasureReport,
    utility: MeasureReport,
    found: MeasureReport,
    host_load: MeasureReport,
    series: SeriesObject,
}

#[derive(Serialize)]
struct IntervalReport {
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct MeasureReport {
    mean: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Serialize)]
struct SeriesObject {
    freshness: Vec<Option<f64>>,
    age: Vec<Option<f64>>,
    harmonic_cost: Vec<Option<f64>>,
    utility: Vec<Option<f64>>,
    requests: Vec<Option<f64>>,
    regret: Vec<Option<f64>>,
}

impl<'a> SimulationReport<'a> {
    pub(crate) fn new(simulated: &'a FinishedSimulation<'_>) -> Self {
        let FinishedSimulation { arguments, web, scenario, report } = simulated;
        let (kind, synthetic, importance) = match &web.origin {
            Origin::Synthetic(synthetic, kind) => {
                (Some(kind.name()), Some(synthetic), Some(synthetic.importance))
            }
            Origin::Table(_, kind) => (Some(kind.name()), None, None),
            Origin::Recorded(_, importance) => (None, None, Some(*importance)),
        };
        let (table, trace) = match &web.name {
            WebName::Synthetic => (None, None),
            WebName::Table(name) => (Some(name.as_str()), None),
            WebName::Trace(name) => (None, Some(name.as_str())),
        };
        Self {
            sources: report.sources,
            days: report.calendar.days,
            burn_in: report.calendar.burn_in,
            budget: report.budget,
            objective: report.objective.name(),
            life: report.objective.capture().map(|it| it.life.to_string()),
            urgency: report.objective.capture().map(|it| it.urgency.to_string()),
            timing: arguments.options.timing.name(),
            observed: arguments.options.observed.name(),
            seeds: report.seeds,
            seed: arguments.seed,
            web: kind,
            table,
            trace,
            rates: synthetic.map(|it| it.rates.to_string()),
            importance: importance.map(|importance| importance.to_string()),
            observed_share: synthetic.map(|it| it.observed),
            per_host: synthetic.map(|it| it.per_host),
            faults: arguments.fault.iter().map(ToString::to_string).collect(),
            signals: web
                .signals
                .as_ref()
                .filter(|it| it.trace.is_none())
                .map(|it| it.signals.to_string()),
            signal_trace: web.signals.as_ref().and_then(|it| it.trace.as_deref()),
            scenario: scenario.scenario.turns.iter().map(event_report).collect(),
            policies: report.policies.iter().map(policy).collect(),
            series_days: simulated.series_days(),
        }
    }
}

impl FinishedSimulation<'_> {
    /// Returns the middle of each time interval, in days.
    pub(crate) fn series_days(&self) -> Vec<f64> {
        let calendar = &self.report.calendar;
        let middle = |at: usize| 0.5 * (calendar.edge(at) + calendar.edge(at + 1));
        (0..calendar.pieces()).map(middle).collect()
    }
}

fn event_report(of: &ScenarioEvent) -> ScenarioEventReport {
    ScenarioEventReport { day: of.day, what: of.what.to_string() }
}

fn policy(of: &PolicyReport) -> PolicyObject {
    let measured = &of.measured;
    let requests = measure(measured.requests);
    let column = |values: &[f64]| values.iter().map(|&value| finite(value)).collect();
    PolicyObject {
        name: of.policy.to_string(),
        scale: of.scale,
        requests: requests.mean,
        requests_interval: IntervalReport { low: requests.low, high: requests.high },
        freshness: measure(measured.freshness),
        age: measure(measured.age),
        harmonic_cost: measure(measured.harmonic_cost),
        captured: measure(measured.captured),
        delay: measure(measured.delay),
        utility: measure(measured.utility),
        found: measure(measured.found),
        host_load: measure(measured.host_load),
        series: SeriesObject {
            freshness: column(&of.series.freshness),
            age: column(&of.series.age),
            harmonic_cost: column(&of.series.harmonic_cost),
            utility: column(&of.series.utility),
            requests: column(&of.series.requests),
            regret: column(&of.series.regret),
        },
    }
}

fn measure(spread: MeanWithInterval) -> MeasureReport {
    MeasureReport {
        mean: finite(spread.mean),
        low: spread.interval.and_then(|(low, _)| finite(low)),
        high: spread.interval.and_then(|(_, high)| finite(high)),
    }
}
