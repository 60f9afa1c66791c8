//! When sources change: the webs, and the one list of them.

mod bursty;
mod diurnal;
mod drifting;
pub(crate) mod epochs;
mod poisson;
pub(crate) mod recorded;
mod slots;

pub(crate) use slots::slots_until;

use rand_pcg::Pcg32;

use crate::population::Population;

/// The place at which the changes of one source have arrived.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Its own random numbers: the changes of a source do not depend on who asks, or when.
    pub random: Pcg32,
    /// The day of the last change that was drawn; 0 before the first.
    pub at: f64,
    /// How many were drawn.
    pub drawn: u32,
}

/// A rule by which sources change.
pub trait Process: Send + Sync {
    /// The day of the next change of a source; infinite if there is none.
    fn next(&self, source: usize, stream: &mut Stream) -> f64;

    /// The changes per day to be expected of a source between two days: what one who knows would
    /// plan with.
    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64;

    /// The changes per day that it is at on a day.
    fn rate(&self, source: usize, day: f64) -> f64 {
        const MOMENT: f64 = 1e-6;
        self.mean_rate(source, day, day + MOMENT)
    }
}

/// What the file of a web provides.
pub(crate) trait Definition {
    /// As on the command line.
    const NAME: &'static str;
    /// In a few words.
    const ABOUT: &'static str;
    /// The web for these sources.
    fn build(population: &Population, seed: u64) -> Box<dyn Process>;
}

macro_rules! webs {
    ($($(#[$doc:meta])* $variant:ident => $definition:ty,)*) => {
        /// How the sources of a synthetic web change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum WebKind { $($(#[$doc])* $variant,)* }

        impl WebKind {
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

            pub(crate) fn build(self, population: &Population, seed: u64) -> Box<dyn Process> {
                match self { $(Self::$variant => <$definition>::build(population, seed),)* }
            }
        }
    };
}

// A new web is a file beside these and a line here.
webs! {
    /// Changes at random times, at a constant rate.
    Poisson => poisson::Poisson,
    /// Changes in bursts.
    Bursty => bursty::Bursty,
    /// Rates that change now and then.
    Drifting => drifting::Drifting,
    /// More by day than by night, and less at weekends.
    Diurnal => diurnal::Diurnal,
    /// In each day a change with a fixed chance, at its start.
    Slots => slots::Slots,
}

impl std::fmt::Display for WebKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for WebKind {
    type Err = crate::UnknownName;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        crate::error::by_name("web", name, Self::ALL, Self::name)
    }
}
