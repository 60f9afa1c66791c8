//! The sources of a web.

use freshet_model::{ChangeTrace, SourceTable};
use rand::RngExt;

use crate::distribution::Distribution;
use crate::seed::{Random, RandomPurpose, random};

/// Time in which a source exists, in days from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Presence {
    /// First day.
    pub from: f64,
    /// Last day; infinite if it is after the simulation.
    pub to: f64,
}

/// The sources of a web.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Population {
    /// Importance of each source.
    pub importance: Vec<f64>,
    /// Long-run changes per day of each source.
    pub change_rate: Vec<f64>,
    /// True for sources whose changes are all announced.
    pub complete: Vec<bool>,
    /// Host of each source.
    pub host: Vec<u32>,
    /// Time in which each source exists; `None` if all exist always.
    pub presence: Option<Vec<Presence>>,
}

/// Parameters of a synthetic web.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthetic {
    /// Number of sources.
    pub sources: usize,
    /// Distribution of change rates.
    pub rates: Distribution,
    /// Distribution of importances.
    pub importance: Distribution,
    /// Share of sources whose changes are all announced.
    pub observed: f64,
    /// Mean number of sources per host.
    pub per_host: f64,
}

impl Synthetic {
    /// A thousand pages with rates between 0 and 1 (Azar et al. 2018, Fig. 1).
    pub const AZAR: Self = Self {
        sources: 1000,
        rates: Distribution::Uniform { low: 0.0, high: 1.0 },
        importance: Distribution::ZipfDraws { exponent: 2.0, range: 10_000.0 },
        observed: 0.0,
        per_host: 10.0,
    };

    /// Like the pages of Kolobov et al. 2019, §7: heavy-tailed importance mostly below 1000, changes
    /// mostly once in a few days, 4 % announced.
    pub const KOLOBOV: Self = Self {
        sources: 10_000,
        rates: Distribution::LogNormal { median: 0.2, sigma: 1.5 },
        importance: Distribution::LogNormal { median: 30.0, sigma: 1.6 },
        observed: 0.04,
        per_host: 100.0,
    };

    /// Returns the number of hosts; some may have no source.
    pub(crate) fn hosts(&self) -> usize {
        host_count(self.sources, self.per_host) as usize
    }

    pub(crate) fn population(&self, seed: u64) -> Population {
        let random = &mut random(seed, RandomPurpose::Population);
        let n = self.sources;
        Population {
            change_rate: self.rates.draw(n, random),
            importance: self.importance.draw(n, random),
            complete: (0..n).map(|_| random.random::<f64>() < self.observed).collect(),
            host: hosts(n, self.per_host, random),
            presence: None,
        }
    }
}

fn host_count(sources: usize, per_host: f64) -> f64 {
    (sources as f64 / per_host.max(1.0)).ceil().max(1.0)
}

/// Returns the host in the name of a recorded source.
pub(crate) fn host_of(id: &str) -> &str {
    id.split('/').next().unwrap_or_default()
}

/// Draws hosts of very different sizes: squares of uniform numbers.
fn hosts(n: usize, per_host: f64, random: &mut Random) -> Vec<u32> {
    let count = host_count(n, per_host);
    let pick = |_| {
        let u: f64 = random.random();
        (u * u * count) as u32
    };
    (0..n).map(pick).collect()
}

impl Population {
    /// Returns the number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.importance.len()
    }

    /// Returns true if there are no sources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.importance.is_empty()
    }

    /// Returns the number of hosts.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.host.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// Creates the sources of a table.
    #[must_use]
    pub fn of_table(table: &SourceTable) -> Self {
        let n = table.len();
        let host = match &table.hosts {
            Some(hosts) => hosts.index_by_source.clone(),
            // A source without a host has a host of its own.
            None => (0..n as u32).collect(),
        };
        Self {
            importance: table.importance.clone(),
            change_rate: table.change_rate.clone(),
            complete: table.observed.clone().unwrap_or_else(|| vec![false; n]),
            host,
            presence: None,
        }
    }

    /// Creates the sources of a trace; the path before the first slash is the host. Day 0 is
    /// `start`, in seconds since 1970.
    pub(crate) fn of_history(
        history: &ChangeTrace,
        start: f64,
        importance: Distribution,
        seed: u64,
    ) -> Self {
        let n = history.len();
        let days = |time: f64| (time - start) / SECONDS_PER_DAY;
        let presence = |life: &freshet_model::TimeRange| Presence {
            from: days(life.start).max(0.0),
            to: days(life.end),
        };
        let mut names = std::collections::HashMap::new();
        let host = history
            .ids
            .iter()
            .map(|id| {
                let name = host_of(id);
                let next = names.len() as u32;
                *names.entry(name.to_owned()).or_insert(next)
            })
            .collect();
        Self {
            importance: importance.draw(n, &mut random(seed, RandomPurpose::Population)),
            change_rate: vec![0.0; n],
            complete: vec![false; n],
            host,
            presence: Some(history.lifetimes.iter().map(presence).collect()),
        }
    }

    /// Returns the time in which a source exists.
    pub(crate) fn presence(&self, source: usize) -> Presence {
        match &self.presence {
            Some(all) => all[source],
            None => Presence { from: 0.0, to: f64::INFINITY },
        }
    }

    /// Returns the mean number of existing sources between two times.
    pub(crate) fn mean_present(&self, from: f64, to: f64) -> f64 {
        match &self.presence {
            None => self.len() as f64,
            Some(all) => {
                let there = |it: &Presence| (it.to.min(to) - it.from.max(from)).max(0.0);
                all.iter().map(there).sum::<f64>() / (to - from)
            }
        }
    }
}

pub(crate) const SECONDS_PER_DAY: f64 = 86_400.0;
