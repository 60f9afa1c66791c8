//! Processes by which sources change, and the list of all kinds of webs.

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

/// Position in the changes of one source.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Random numbers of the source: its changes do not depend on the caller.
    pub random: Pcg32,
    /// Day of the last drawn change; 0 before the first.
    pub at: f64,
    /// Number of drawn changes.
    pub drawn: u32,
}

/// Process by which sources change.
pub trait Process: Send + Sync {
    /// Returns the day of the next change of a source; infinite if there is none.
    fn next(&self, source: usize, stream: &mut Stream) -> f64;

    /// Returns the expected changes per day of a source between two days.
    fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64;

    /// Returns the change rate on a day.
    fn rate(&self, source: usize, day: f64) -> f64 {
        const MOMENT: f64 = 1e-6;
        self.mean_rate(source, day, day + MOMENT)
    }
}

/// Implemented by each kind of web.
pub(crate) trait Definition {
    /// Name on the command line.
    const NAME: &'static str;
    /// Short description.
    const ABOUT: &'static str;
    /// Creates the process for the given sources.
    fn build(population: &Population, seed: u64) -> Box<dyn Process>;
}

macro_rules! webs {
    ($($(#[$doc:meta])* $variant:ident => $definition:ty,)*) => {
        /// Kind of a synthetic web.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum WebKind { $($(#[$doc])* $variant,)* }

        impl WebKind {
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

            pub(crate) fn build(self, population: &Population, seed: u64) -> Box<dyn Process> {
                match self { $(Self::$variant => <$definition>::build(population, seed),)* }
            }
        }
    };
}

// To add a web, add a file beside these and a line here.
webs! {
    /// Changes at random times, at a constant rate.
    Poisson => poisson::Poisson,
    /// Changes in bursts.
    Bursty => bursty::Bursty,
    /// Rates that change from time to time.
    Drifting => drifting::Drifting,
    /// More by day than by night, and less at weekends.
    Diurnal => diurnal::Diurnal,
    /// A change at the start of each day with a fixed probability.
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
