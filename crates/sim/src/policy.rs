//! Who decides what is fetched when: the policies, and the one list of them.

mod adaptive;
mod change_rate;
mod crowd;
mod engine;
mod fixed;
mod greedy;
mod importance;
mod lambda;
mod miniflux;
mod nutch;
mod optimum;
mod paced;
mod sequenced;
mod source_recorder;
mod stormcrawler;
mod uniform;
mod wic;

pub(crate) use source_recorder::SourceRecorder;

use crate::aim::Aim;
use crate::error::SimError;
use crate::setting::Setting;

/// What a policy is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The day has come that it asked to be woken at.
    Wake,
    /// There is a source, and a copy of it as it is now.
    Added(u32),
    /// A source is no longer there.
    Removed(u32),
    /// A source whose changes are all announced has changed.
    Changed(u32),
    /// Somebody says that a source has changed, truly or not.
    Signalled(u32),
    /// A fetch has come back.
    Fetched {
        /// Of which source.
        source: u32,
        /// With what.
        outcome: Outcome,
    },
    /// From now on, so many requests a day. Rules that know no budget do not mind.
    Budget(f64),
    /// Change rates are others from now on: for those who are told them.
    Rates,
}

/// What a fetch brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The source is not what it was at the fetch before.
    Changed {
        /// How often it has changed since then. A feed tells, by its new entries; a page does not.
        times: u32,
    },
    /// It is.
    Unchanged,
    /// No answer: nothing is known.
    Failed,
    /// The source is no more.
    Gone,
}

/// Decides what is fetched when. It has no clock: days are told to it.
pub trait Policy {
    /// The day on which it wants to act next; infinite if it waits for events only.
    fn wake(&self) -> f64;

    /// Whether it makes anything of [signals](Event::Signalled). They are not told to others.
    fn hears(&self) -> bool {
        false
    }

    /// Takes note of an event, and says what to fetch now.
    fn step(&mut self, now: f64, event: Event, fetches: &mut Vec<u32>);
}

/// What the file of a policy provides.
pub(crate) trait Definition {
    /// As on the command line.
    const NAME: &'static str;
    /// In a few words.
    const ABOUT: &'static str;
    /// What may follow the name after a colon.
    const VARIANTS: &'static [&'static str] = &[];
    /// Whether it is a rule that knows no budget, whose intervals are scaled to meet it.
    const SCALED: bool = false;
    /// Whether it has anything to do with what is asked for.
    fn serves(_: Aim) -> bool {
        true
    }
    /// The policy for a run.
    fn build(setting: &Setting<'_>, variant: Option<&str>) -> Result<Box<dyn Policy>, SimError>;
}

macro_rules! policies {
    ($($(#[$doc:meta])* $variant:ident => $definition:ty,)*) => {
        /// The policies that there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PolicyKind { $($(#[$doc])* $variant,)* }

        impl PolicyKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => <$definition>::NAME,)* }
            }

            /// What it is, in a few words.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => <$definition>::ABOUT,)* }
            }

            /// What may follow its name after a colon.
            #[must_use]
            pub fn variants(self) -> &'static [&'static str] {
                match self { $(Self::$variant => <$definition>::VARIANTS,)* }
            }

            /// Whether it is a rule that knows no budget, whose intervals are scaled to meet it.
            #[must_use]
            pub fn is_scaled(self) -> bool {
                match self { $(Self::$variant => <$definition>::SCALED,)* }
            }

            /// Whether it can be asked for this.
            #[must_use]
            pub fn serves(self, objective: Aim) -> bool {
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

// A new policy is a file beside these and a line here.
policies! {
    /// freshet's own: learns all change rates as it goes.
    Engine => engine::Engine,
    /// The best rates for those who know all change rates: the bound.
    Optimum => optimum::Optimum,
    /// The most valuable fetch first, for those who know all change rates.
    Greedy => greedy::Greedy,
    /// The offline greedy of Pandey et al. 2004: the bound's place where updates are captured.
    Wic => wic::Wic,
    /// The same rate for all.
    Uniform => uniform::Uniform,
    /// In proportion to the change rate.
    ChangeRate => change_rate::ChangeRate,
    /// In proportion to importance.
    Importance => importance::Importance,
    /// Kolobov et al. 2019, Alg. 4.
    Lambda => lambda::Lambda,
    /// The same with rates in proportion to importance.
    LambdaApprox => lambda::LambdaApprox,
    /// The same for freshness with a floor.
    LambdaFloor => lambda::LambdaFloor,
    /// Apache Nutch's adaptive schedule.
    Nutch => nutch::Nutch,
    /// StormCrawler's adaptive schedule.
    StormCrawler => stormcrawler::StormCrawler,
    /// miniflux' entry frequency.
    Miniflux => miniflux::Miniflux,
    /// One interval for all.
    Fixed => fixed::Fixed,
}

/// A policy as chosen: a kind, and perhaps a variant of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Choice {
    /// Which policy.
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
