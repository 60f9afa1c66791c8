//! A world to crawl.

use std::sync::Arc;

use freshet_model::{History, SourceTable};

use crate::distribution::Distribution;
use crate::error::SimError;
use crate::fault::{Fault, Faults};
use crate::population::{Population, SECONDS_PER_DAY, Synthetic};
use crate::process::recorded::Recorded;
use crate::process::{Process, Stream, WebKind};
use crate::seed::{Purpose, of_source};

/// Where a web comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Made up.
    Synthetic(Synthetic, WebKind),
    /// The sources of a table.
    Table(Arc<SourceTable>, WebKind),
    /// What really happened.
    Recorded(Arc<History>, Distribution),
}

/// Sources, and how they change and fail.
pub struct Web {
    /// Who is there.
    pub population: Population,
    process: Box<dyn Process>,
    pub(crate) faults: Faults,
    seed: u64,
}

impl Web {
    /// The web of a seed: the same for every policy.
    ///
    /// # Errors
    /// If there is nothing in it, or rates are no chances where they must be.
    pub fn new(origin: &Origin, faults: &[Fault], days: f64, seed: u64) -> Result<Self, SimError> {
        let (population, process): (Population, Box<dyn Process>) = match origin {
            Origin::Synthetic(synthetic, kind) => {
                let population = synthetic.population(seed);
                let process = kind.build(&population, seed);
                (population, process)
            }
            Origin::Table(table, kind) => {
                let population = Population::of_table(table);
                let process = kind.build(&population, seed);
                (population, process)
            }
            Origin::Recorded(history, importance) => {
                let start = history.span().map_or(0.0, |span| span.birth);
                let population = Population::of_history(history, start, *importance, seed);
                (population, Box::new(Recorded { history: Arc::clone(history), start }))
            }
        };
        if population.is_empty() {
            return Err(SimError::NoSources);
        }
        let slots = matches!(
            origin,
            Origin::Synthetic(_, WebKind::Slots) | Origin::Table(_, WebKind::Slots)
        );
        if slots && let Some(at) = population.change_rate.iter().position(|&rate| rate >= 1.0) {
            let rate = population.change_rate[at];
            return Err(SimError::Chance { source_number: at + 1, rate });
        }
        let faults = Faults::new(faults, population.hosts(), days, seed);
        Ok(Self { population, process, faults, seed })
    }

    /// The changes per day of each source between two days, for those who know.
    #[must_use]
    pub fn mean_rates(&self, from: f64, to: f64) -> Vec<f64> {
        (0..self.population.len()).map(|i| self.process.mean_rate(i, from, to)).collect()
    }

    pub(crate) fn stream(&self, source: usize) -> Stream {
        let random = of_source(self.seed, Purpose::Changes, source as u64);
        Stream { random, at: 0.0, drawn: 0 }
    }

    /// The next change of a source.
    #[inline]
    pub(crate) fn next_change(&self, source: usize, stream: &mut Stream) -> f64 {
        let next = self.process.next(source, stream);
        stream.at = next;
        stream.drawn += 1;
        next
    }
}

impl Origin {
    /// How many sources there will be.
    #[must_use]
    pub fn sources(&self) -> usize {
        match self {
            Self::Synthetic(synthetic, _) => synthetic.sources,
            Self::Table(table, _) => table.len(),
            Self::Recorded(history, _) => history.len(),
        }
    }

    /// The days that a record covers; `None` for webs that go on for ever.
    #[must_use]
    pub fn days(&self) -> Option<f64> {
        match self {
            Self::Recorded(history, _) => {
                let span = history.span()?;
                Some((span.end - span.birth) / SECONDS_PER_DAY)
            }
            _ => None,
        }
    }
}
