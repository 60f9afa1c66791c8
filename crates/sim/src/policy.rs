//! Policies that decide what to fetch when, and the list of all policies.

mod active_sources;
mod adaptive;
mod change_rate;
mod engine;
mod fixed;
mod greedy;
mod importance;
mod lambda;
mod miniflux;
mod nutch;
mod optimum;
mod rate_policy;
mod sequenced;
mod source_recorder;
mod stormcrawler;
mod uniform;
mod wic;

pub(crate) use source_recorder::SourceRecorder;

use crate::error::SimError;
use crate::objective::SimObjective;
use crate::setting::Setting;

/// Event that a policy receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The day that the policy returned from `wake` has come.
    Wake,
    /// A source was added, with an up-to-date copy.
    Added(u32),
    /// A source was removed.
    Removed(u32),
    /// A source whose changes are all announced has changed.
    Changed(u32),
    /// A signal says that a source has changed; it may be wrong.
    Signalled(u32),
    /// A fetch has finished.
    Fetched {
        /// The source.
        source: u32,
        /// The outcome.
        outcome: Outcome,
    },
    /// The budget is now this number of requests per day. Rules without a budget ignore it.
    Budget(f64),
    /// The change rates have changed, for policies that know them.
    Rates,
}

/// Outcome of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The source has changed since the last fetch.
    Changed {
        /// Number of changes since then. A feed shows it by its new entries; a page does not.
        times: u32,
    },
    /// The source has not changed.
    Unchanged,
    /// The host did not answer.
    Failed,
    /// The source does not exist any more.
    Gone,
}

/// Decides what to fetch when. It reads no clock: the day is an argument.
pub trait Policy {
    /// Returns the day on which the policy acts next, or infinity if it waits for events only.
    fn wake(&self) -> f64;

    /// Returns true if the policy uses [signals](Event::Signalled). Other policies do not receive them.
    fn hears(&self) -> bool {
        false
    }

    /// Processes an event and returns the sources to fetch now.
    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>);
}

/// Implemented by each policy.
pub(crate) trait Definition {
    /// Name on the command line.
    const NAME: &'static str;
    /// Short description.
    const ABOUT: &'static str;
    /// Variants that may follow the name after a colon.
    const VARIANTS: &'static [&'static str] = &[];
    /// True for a rule without a budget, whose intervals are scaled to meet it.
    const SCALED: bool = false;
    /// Returns true if the policy supports the objective.
    fn serves(_: SimObjective) -> bool {
        true
    }
    /// Creates the policy for a run.
    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError>;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $variant:ident => $definition:ty,)*) => {
        /// Kind of policy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PolicyKind { $($(#[$doc])* $variant,)* }

        impl PolicyKind {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$definition>::NAME,)* }
            }

            /// Returns a short description.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => <$definition>::ABOUT,)* }
            }

            /// What may follow its name after a colon.
            #[must_use]
            pub fn variants(self) -> &'static [&'static str] {
                match self { $(Self::$variant => <$definition>::VARIANTS,)* }
            }

            /// Returns true for a rule without a budget, whose intervals are scaled to meet it.
            #[must_use]
            pub fn is_scaled(self) -> bool {
                match self { $(Self::$variant => <$definition>::SCALED,)* }
            }

            /// Returns true if the policy supports the objective.
            #[must_use]
            pub fn serves(self, objective: SimObjective) -> bool {
                match self { $(Self::$variant => <$definition>::serves(objective),)* }
            }

            fn build(
                self,
                setting: &Setting<'_>,
                variant: Option<&str>,
            ) -> Result<Box<dyn Policy>, SimError> {
                match self { $(Self::$variant => <$definition>::build(setting, variant),)* }
            }
        }
    };
}

// To add a policy, add a file beside these and a line here.
policies! {
    /// freshet's engine, which learns all change rates.
    Engine => engine::Engine,
    /// Optimal rates for known change rates: the bound.
    Optimum => optimum::Optimum,
    /// Highest value first, for known change rates.
    Greedy => greedy::Greedy,
    /// Offline greedy algorithm of Pandey et al. 2004: the reference for captured updates.
    Wic => wic::Wic,
    /// The same rate for all sources.
    Uniform => uniform::Uniform,
    /// Rates proportional to the change rate.
    ChangeRate => change_rate::ChangeRate,
    /// Rates proportional to importance.
    Importance => importance::Importance,
    /// Kolobov et al. 2019, Alg. 4.
    Lambda => lambda::Lambda,
    /// As [`Lambda`](Self::Lambda), with rates proportional to importance.
    LambdaApprox => lambda::LambdaApprox,
    /// As [`Lambda`](Self::Lambda), for freshness with a floor.
    LambdaFloor => lambda::LambdaFloor,
    /// Apache Nutch's adaptive schedule.
    Nutch => nutch::Nutch,
    /// StormCrawler's adaptive schedule.
    StormCrawler => stormcrawler::StormCrawler,
    /// miniflux' entry frequency.
    Miniflux => miniflux::Miniflux,
    /// One interval for all sources.
    Fixed => fixed::Fixed,
}

/// A policy and optionally a variant of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Name of the policy.
    pub kind: PolicyKind,
    variant: Option<String>,
}

impl Choice {
    pub(crate) fn build(&self, setting: &Setting<'_>) -> Result<Box<dyn Policy>, SimError> {
        self.kind.build(setting, self.variant.as_deref())
    }

    pub(crate) fn variant(&self) -> Option<&str> {
        self.variant.as_deref()
    }
}

impl From<PolicyKind> for Choice {
    fn from(kind: PolicyKind) -> Self {
        Self { kind, variant: None }
    }
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.variant {
            None => f.write_str(self.kind.name()),
            Some(variant) => write!(f, "{}:{variant}", self.kind.name()),
        }
    }
}

impl std::str::FromStr for Choice {
    type Err = crate::UnknownName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, variant) = match text.split_once(':') {
            None => (text, None),
            Some((name, variant)) => (name, Some(variant)),
        };
        let kind = crate::error::by_name("policy", name, PolicyKind::ALL, PolicyKind::name)?;
        if let Some(variant) = variant
            && !kind.variants().contains(&variant)
        {
            return Err(crate::UnknownName {
                what: "variant of that policy",
                name: variant.to_owned(),
                known: kind.variants().to_vec(),
            });
        }
        Ok(Self { kind, variant: variant.map(str::to_owned) })
    }
}
