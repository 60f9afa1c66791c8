//! Command-line arguments for the objective.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use freshet_estimate::{CaptureObjective, UpdateLifetime, Urgency};
use freshet_plan::Objective;
use freshet_sim::SimObjective;

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct ObjectiveArguments {
    /// Objective to optimize
    #[arg(long, value_name = "OBJECTIVE", default_value = "harmonic", value_parser = objectives())]
    pub(crate) objective: ObjectiveName,

    /// With --objective capture, lifetime of an update [default: overwrite]
    ///
    /// append: for ever; overwrite: until the next change; changes:3: until the third change after it;
    /// window:6h: for 6 hours.
    #[arg(long, value_name = "LIFE")]
    pub(crate) life: Option<UpdateLifetime>,

    /// With --objective capture, value of an update that is captured late [default: uniform]
    ///
    /// uniform: the full value; decay:6h: half the value for each 6 hours; window:2d: no value after
    /// 2 days.
    #[arg(long, value_name = "URGENCY")]
    pub(crate) urgency: Option<Urgency>,
}

/// Name of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectiveName {
    Keep(Objective),
    Capture,
}

const CAPTURE: &str = "capture";

fn objectives() -> impl TypedValueParser<Value = ObjectiveName> {
    let about = |objective: Objective| match objective {
        Objective::Harmonic => "The n-th missed change costs 1/n, and no source is abandoned",
        Objective::Freshness => "Share of time up to date; sources may be abandoned",
        Objective::Age => "Time out of date",
    };
    let keep = |&it: &Objective| PossibleValue::new(it.name()).help(about(it));
    let capture = PossibleValue::new(CAPTURE).help("Every change is an update to capture");
    PossibleValuesParser::new(Objective::ALL.iter().map(keep).chain([capture]))
        .map(|name| name.parse().map_or(ObjectiveName::Capture, ObjectiveName::Keep))
}

impl ObjectiveArguments {
    /// Returns the objective. Fails if an option does not apply to it.
    pub(crate) fn resolve(&self) -> Result<SimObjective, Failure> {
        let Self { objective, life, urgency } = *self;
        let objective = match objective {
            ObjectiveName::Keep(objective) => objective,
            ObjectiveName::Capture => {
                let (life, urgency) = (
                    life.unwrap_or(UpdateLifetime::OVERWRITE),
                    urgency.unwrap_or(Urgency::Uniform),
                );
                return Ok(SimObjective::Capture(CaptureObjective { life, urgency }));
            }
        };
        let (option, value) = match (life, urgency) {
            (Some(life), _) => ("--life", life.to_string()),
            (None, Some(urgency)) => ("--urgency", urgency.to_string()),
            (None, None) => return Ok(SimObjective::Keep(objective)),
        };
        Err(Failure::new(format!(
            "{option} {value} requires --objective {CAPTURE}, and the objective is {objective}"
        ))
        .with_hint(format!("remove {option}, or give --objective {CAPTURE}")))
    }
}
