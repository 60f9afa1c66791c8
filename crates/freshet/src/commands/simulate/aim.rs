//! What the policies are asked to make good, as it is typed and as it is meant.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use freshet_estimate::{Capture, Life, Urgency};
use freshet_plan::Objective;
use freshet_sim::Aim;

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct AimArguments {
    /// What the budget is to buy
    #[arg(long, value_name = "OBJECTIVE", default_value = "harmonic", value_parser = objectives())]
    pub(crate) objective: Asked,

    /// With --objective capture, how long an update can still be captured: append (for ever),
    /// overwrite (until the next change), changes:3 (until the third change after it) or window:6h
    /// [default: overwrite]
    #[arg(long, value_name = "LIFE")]
    pub(crate) life: Option<Life>,

    /// With --objective capture, what an update is worth that is captured late: uniform (as much as
    /// ever), decay:6h (half for each 6 hours) or window:2d (nothing after 2 days)
    /// [default: uniform]
    #[arg(long, value_name = "URGENCY")]
    pub(crate) urgency: Option<Urgency>,
}

/// An objective by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Keep(Objective),
    Capture,
}

const CAPTURE: &str = "capture";

fn objectives() -> impl TypedValueParser<Value = Asked> {
    let about = |objective: Objective| match objective {
        Objective::Harmonic => "the n-th missed change costs 1/n, no source is given up",
        Objective::Freshness => "share of time up to date, sources may be given up",
        Objective::Age => "time out of date",
    };
    let keep = |&it: &Objective| PossibleValue::new(it.name()).help(about(it));
    let capture = PossibleValue::new(CAPTURE).help("every change is an update to be captured");
    PossibleValuesParser::new(Objective::ALL.iter().map(keep).chain([capture]))
        .map(|name| name.parse().map_or(Asked::Capture, Asked::Keep))
}

impl AimArguments {
    /// Refuses what would be of no use.
    pub(crate) fn aim(&self) -> Result<Aim, Failure> {
        let Self { objective, life, urgency } = *self;
        let objective = match objective {
            Asked::Keep(objective) => objective,
            Asked::Capture => {
                let (life, urgency) =
                    (life.unwrap_or(Life::OVERWRITE), urgency.unwrap_or(Urgency::Uniform));
                return Ok(Aim::Capture(Capture { life, urgency }));
            }
        };
        let (option, value) = match (life, urgency) {
            (Some(life), _) => ("--life", life.to_string()),
            (None, Some(urgency)) => ("--urgency", urgency.to_string()),
            (None, None) => return Ok(Aim::Keep(objective)),
        };
        Err(Failure::new(format!(
            "{option} {value} is for --objective {CAPTURE}, and the objective is {objective}"
        ))
        .hint(format!("leave out {option}, or give --objective {CAPTURE}")))
    }
}
