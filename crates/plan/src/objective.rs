//! Objectives, and the list of all objectives.

pub(crate) mod age;
pub(crate) mod freshness;
pub(crate) mod harmonic;
pub(crate) mod step;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use crate::options::{Observed, Rule, Timing};
use crate::response::{Blocks, Power};

/// Implemented by each objective: its name, its measures, and a [`crate::Response`] for every way to fetch a
/// source.
pub(crate) trait Definition {
    /// Name on the command line.
    const NAME: &'static str;
    /// Exponent of the change rate in the scale-free price.
    const POWER: Power;
    /// Measures to report.
    const MEASURES: &'static [Measure];
    /// Response of polled sources.
    fn polled(timing: Timing) -> &'static dyn Blocks;
    /// Response of sources whose changes are all observed.
    fn observed(observed: Observed, timing: Timing) -> &'static dyn Blocks;
    /// Quantity that the threshold of an observed source limits: the cost depends on it alone.
    const THRESHOLD: Rule;
    /// Cost per unit of importance of an observed source that is fetched `s` times per change by the rule of
    /// another objective.
    fn observed_cost(rule: Rule, timing: Timing, s: f64, c: f64) -> f64;
    /// One minus the above, for objectives where this keeps more digits.
    fn observed_saved(rule: Rule, timing: Timing, s: f64, c: f64) -> f64 {
        1.0 - Self::observed_cost(rule, timing, s, c)
    }
    /// Cost per unit of importance when a source is fetched once in each round of `x / c` days, at
    /// a random place in the round (random order of Cho & Garcia-Molina 2003, §4.2).
    fn random_order(x: f64, c: f64) -> f64;
    /// One minus the above, for objectives where this keeps more digits.
    fn random_order_saved(x: f64, c: f64) -> f64 {
        1.0 - Self::random_order(x, c)
    }
}

/// A number to report about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Name in JSON and in `--target`.
    pub key: &'static str,
    /// Label for people.
    pub label: &'static str,
    /// Unit; empty for a plain number.
    pub unit: &'static str,
    /// How the measure follows from the cost.
    pub form: MeasureForm,
}

/// How a [`Measure`] follows from the costs of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureForm {
    /// Importance-weighted sum of the cost.
    Sum,
    /// Importance-weighted mean of the cost.
    Mean,
    /// One minus the importance-weighted mean: larger is better.
    OneMinusMean,
}

impl MeasureForm {
    /// Returns the weighted sum of the cost at which the measure has this value.
    pub(crate) fn cost_for(self, value: f64, weight: f64) -> f64 {
        match self {
            Self::Sum => value,
            Self::Mean => value * weight,
            Self::OneMinusMean => (1.0 - value) * weight,
        }
    }
}

macro_rules! objectives {
    ($($(#[$doc:meta])* $variant:ident => $definition:ty,)*) => {
        /// What the budget is spent on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Objective { $($(#[$doc])* $variant,)* }

        impl Objective {
            /// All objectives.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns its name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$definition>::NAME,)* }
            }

            /// Returns the measures to report.
            #[must_use]
            pub fn measures(self) -> &'static [Measure] {
                match self { $(Self::$variant => <$definition>::MEASURES,)* }
            }

            pub(crate) fn power(self) -> Power {
                match self { $(Self::$variant => <$definition>::POWER,)* }
            }

            pub(crate) fn polled(self, timing: Timing) -> &'static dyn Blocks {
                match self { $(Self::$variant => <$definition>::polled(timing),)* }
            }

            pub(crate) fn observed(self, observed: Observed, timing: Timing) -> &'static dyn Blocks {
                match self { $(Self::$variant => <$definition>::observed(observed, timing),)* }
            }

            pub(crate) fn threshold(self) -> Rule {
                match self { $(Self::$variant => <$definition>::THRESHOLD,)* }
            }

            pub(crate) fn observed_cost(self, rule: Rule, timing: Timing, s: f64, c: f64) -> f64 {
                match self { $(Self::$variant => <$definition>::observed_cost(rule, timing, s, c),)* }
            }

            pub(crate) fn observed_saved(self, rule: Rule, timing: Timing, s: f64, c: f64) -> f64 {
                match self { $(Self::$variant => <$definition>::observed_saved(rule, timing, s, c),)* }
            }

            pub(crate) fn random_order(self, x: f64, c: f64) -> f64 {
                match self { $(Self::$variant => <$definition>::random_order(x, c),)* }
            }

            pub(crate) fn random_order_saved(self, x: f64, c: f64) -> f64 {
                match self { $(Self::$variant => <$definition>::random_order_saved(x, c),)* }
            }
        }
    };
}

// To add an objective, add a file beside these and a line here.
objectives! {
    /// Harmonic number of missed changes (Kolobov et al. 2019): every change counts, the first
    /// the most, and no source is given up.
    Harmonic => harmonic::Harmonic,
    /// Share of time in which the copy is stale (Cho & Garcia-Molina 2003).
    Freshness => freshness::Freshness,
    /// Time since the first missed change (Cho & Garcia-Molina 2003).
    Age => age::Age,
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Objective {
    type Err = crate::options::UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|objective| objective.name() == name);
        found.ok_or_else(|| crate::options::UnknownName {
            what: "objective",
            name: name.to_owned(),
            known: Self::ALL.iter().map(|objective| objective.name()).collect(),
        })
    }
}
