//! JSON report of `freshet crew`.

use freshet_crew::{Dynamic, Event, Fixed};
use serde::Serialize;

use crate::commands::crew::CrewSolution;

/// Object that `--json` prints.
#[derive(Serialize)]
pub(crate) struct CrewReport<'a> {
    fetch_rate: f64,
    process_rate: f64,
    buffer: u32,
    starvation_weight: f64,
    available: Option<u32>,
    #[serde(rename = "static")]
    fixed: FixedReport,
    dynamic: Option<DynamicReport<'a>>,
    /// Reason why there is no switching curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    dynamic_error: Option<String>,
}

#[derive(Serialize)]
struct FixedReport {
    fetchers: u64,
    load: f64,
    cost: f64,
    starvation: f64,
    loss_rate: f64,
    large_buffer_fetchers: Option<u64>,
}

#[derive(Serialize)]
struct DynamicReport<'a> {
    available: u32,
    cost: f64,
    starvation: f64,
    loss_rate: f64,
    min_active: u32,
    mean_active: f64,
    max_active: u32,
    gap: f64,
    iterations: u32,
    ended_early: bool,
    solve_seconds: f64,
    curve: CurveReport<'a>,
}

#[derive(Serialize)]
struct CurveReport<'a> {
    arrival: Vec<i64>,
    departure: Vec<i64>,
    targets: &'a [u32],
}

impl<'a> CrewReport<'a> {
    pub(crate) fn new(crew: &'a CrewSolution<'_>) -> Self {
        let Fixed { fetchers, load, cost, starvation, loss_rate } = crew.fixed;
        let large_buffer_fetchers = crew.large_buffer_fetchers;
        let dynamic = |dynamic: &'a Dynamic| DynamicReport {
            available: dynamic.policy.available(),
            cost: dynamic.measures.cost,
            starvation: dynamic.measures.starvation,
            loss_rate: dynamic.measures.loss_rate,
            min_active: dynamic.measures.min_active,
            mean_active: dynamic.measures.mean_active,
            max_active: dynamic.measures.max_active,
            gap: dynamic.gap,
            iterations: dynamic.iterations,
            ended_early: dynamic.ended_early,
            solve_seconds: crew.solve_time.as_secs_f64(),
            curve: CurveReport {
                arrival: curve(dynamic, Event::Arrival),
                departure: curve(dynamic, Event::Departure),
                targets: dynamic.policy.targets(),
            },
        };
        Self {
            fetch_rate: crew.setting.fetch_rate(),
            process_rate: crew.setting.process_rate(),
            buffer: crew.setting.buffer(),
            starvation_weight: crew.setting.starvation_weight(),
            available: crew.arguments.available,
            fixed: FixedReport {
                fetchers,
                load,
                cost,
                starvation,
                loss_rate,
                large_buffer_fetchers,
            },
            dynamic: crew.dynamic.as_ref().ok().map(dynamic),
            dynamic_error: crew.dynamic.as_ref().err().map(ToString::to_string),
        }
    }
}

/// Returns the longest queue at which one more fetcher is started, or -1 for never, so that the rule is
/// `queue <= curve[active]`.
fn curve(dynamic: &Dynamic, event: Event) -> Vec<i64> {
    dynamic.policy.curve(event).into_iter().map(|longest| longest.map_or(-1, i64::from)).collect()
}
