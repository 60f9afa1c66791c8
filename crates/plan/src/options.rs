//! Options of a plan.

use std::fmt;
use std::str::FromStr;

use crate::objective::Objective;

/// Error for an unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{name}` (known: {})", known.join(", "))]
pub struct UnknownName {
    /// Kind of name that was expected.
    pub what: &'static str,
    /// Name that was given.
    pub name: String,
    /// Names that exist.
    pub known: Vec<&'static str>,
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $what:literal, { $($(#[$variant_doc:meta])* $variant:ident => $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns its name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($text => Ok(Self::$variant),)*
                    _ => Err(UnknownName { what: $what, name: name.to_owned(), known: vec![$($text,)*] }),
                }
            }
        }
    };
}

named! {
    /// Timing of the fetches of a source at a given rate.
    Timing, "timing", {
        /// At fixed intervals: never worse than the other timings at the same budget.
        #[default]
        Periodic => "periodic",
        /// At the points of a Poisson process.
        Poisson => "poisson",
        /// In each slot of discrete time with a fixed probability (Azar et al. 2018, Problem 1). One
        /// day is one slot, the change rate is the probability of a change in it, below 1.
        Slots => "slots",
    }
}

named! {
    /// Treatment of sources whose changes are all observed.
    Observed, "treatment of observed sources", {
        /// Fetch when enough changes are pending; for age, when the first one is old enough.
        #[default]
        Threshold => "threshold",
        /// Fetch at each change with a fixed probability (Kolobov et al. 2019, Alg. 2).
        Random => "random",
    }
}

/// What triggers a fetch of a source whose changes are all observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A number of pending changes.
    Count,
    /// The age of the first pending change.
    Wait,
    /// Each change, with a fixed probability.
    Chance,
}

/// Rule that chooses the rates.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Policy {
    /// Rates that minimise the objective.
    #[default]
    Optimal,
    /// The same rate for all sources.
    Uniform,
    /// Proportional to the change rate.
    ChangeRate,
    /// Proportional to importance (Kolobov et al. 2019, Prop. 9).
    Importance,
    /// Best freshness with at least this share of the uniform rate for each source (Kolobov et al.
    /// 2019, BLCε, with one price for all).
    Floor(f64),
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Optimal => f.write_str("optimal"),
            Self::Uniform => f.write_str("uniform"),
            Self::ChangeRate => f.write_str("change-rate"),
            Self::Importance => f.write_str("importance"),
            Self::Floor(share) => write!(f, "floor:{share}"),
        }
    }
}

impl FromStr for Policy {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let share =
            |text: &str| text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
        match (name, name.strip_prefix("floor:").and_then(share)) {
            ("optimal", _) => Ok(Self::Optimal),
            ("uniform", _) => Ok(Self::Uniform),
            ("change-rate", _) => Ok(Self::ChangeRate),
            ("importance", _) => Ok(Self::Importance),
            (_, Some(share)) => Ok(Self::Floor(share)),
            _ => Err(UnknownName {
                what: "policy",
                name: name.to_owned(),
                known: vec!["optimal", "uniform", "change-rate", "importance", "floor:0…1"],
            }),
        }
    }
}

/// Options of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// What the budget is to buy.
    pub objective: Objective,
    /// Timing of the fetches.
    pub timing: Timing,
    /// Treatment of sources whose changes are all observed.
    pub observed: Observed,
    /// Rule that chooses the rates.
    pub policy: Policy,
}

impl Options {
    /// Returns what triggers a fetch of an observed source under these options.
    #[must_use]
    pub fn rule(&self) -> Rule {
        match self.observed {
            Observed::Threshold => self.objective.threshold(),
            Observed::Random => Rule::Chance,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            objective: Objective::Harmonic,
            timing: Timing::default(),
            observed: Observed::default(),
            policy: Policy::default(),
        }
    }
}
