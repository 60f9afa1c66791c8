//! A world to crawl.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use freshet_model::{Budget, History, SourceTable};

use crate::distribution::Distribution;
use crate::error::SimError;
use crate::fault::{Fault, Faults};
use crate::policy::Event;
use crate::population::{Population, Presence, SECONDS_PER_DAY, Synthetic, host_of};
use crate::process::epochs::Epochs;
use crate::process::recorded::Recorded;
use crate::process::{Process, Stream, WebKind};
use crate::scenario::{Allowance, Happening, Scenario, orders};
use crate::seed::{Purpose, of_source};
use crate::signals::Signalled;

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
    /// What policies are told on known days.
    pub(crate) course: Vec<(f64, Event)>,
    /// Who says that sources have changed, if anybody does.
    pub(crate) heralded: Option<Signalled>,
    seed: u64,
    /// Day 0 of a record, in seconds since 1970.
    start: f64,
}

impl Web {
    /// The web of a seed: the same for every policy.
    ///
    /// # Errors
    /// If there is nothing in it, or rates are no chances where they must be.
    pub fn new(origin: &Origin, faults: &[Fault], days: f64, seed: u64) -> Result<Self, SimError> {
        let mut start = 0.0;
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
                start = history.span().map_or(0.0, |span| span.birth);
                let population = Population::of_history(history, start, *importance, seed);
                (population, Box::new(Recorded { history: Arc::clone(history), start }))
            }
        };
        if population.is_empty() {
            return Err(SimError::NoSources);
        }
        check_chances(origin, &population)?;
        let faults = Faults::new(faults, population.hosts(), days, seed);
        Ok(Self { population, process, faults, course: Vec::new(), heralded: None, seed, start })
    }

    /// The same, with what happens on known days; `budget_of` says what a budget comes to among its
    /// sources, and what 100 % is.
    pub(crate) fn with(
        mut self,
        scenario: &Scenario,
        origin: &Origin,
        budget_of: impl Fn(&Self, Option<Budget>) -> f64,
    ) -> Result<Self, SimError> {
        let (sources, hosts) = (self.population.len(), self.population.hosts());
        let (host_order, order) = orders(self.seed, hosts, sources);
        self.faults.make_room(hosts);
        // The last to come are the last of the table.
        let mut left = sources;
        for turn in scenario.in_order().into_iter().rev() {
            if let Happening::Arrival(some) = turn.what {
                let all = Presence { from: 0.0, to: f64::INFINITY };
                let presence = self.population.presence.get_or_insert_with(|| vec![all; sources]);
                let first = left.saturating_sub(some);
                presence[first..left].iter_mut().for_each(|it| it.from = turn.day);
                left = first;
            }
        }
        let mut epochs = vec![(0.0, self.population.clone())];
        for turn in scenario.in_order() {
            match &turn.what {
                Happening::Outage { days, hosts, kind } => {
                    self.faults.add(hosts.pick(&host_order), turn.day, *days, *kind);
                }
                Happening::Rates { sources, factor } => {
                    let Some((day, mut population)) = epochs.last().cloned() else { continue };
                    for &source in sources.pick(&order) {
                        population.change_rate[source as usize] *= factor;
                    }
                    check_chances(origin, &population)?;
                    if day == turn.day {
                        epochs.pop();
                    }
                    epochs.push((turn.day, population));
                }
                Happening::Arrival(_) | Happening::Budget(_) => {}
            }
        }
        for turn in scenario.in_order() {
            let event = match turn.what {
                Happening::Budget(Allowance::Share(share)) => {
                    Event::Budget(share * budget_of(&self, None))
                }
                Happening::Budget(Allowance::Budget(budget)) => {
                    Event::Budget(budget_of(&self, Some(budget)))
                }
                _ => continue,
            };
            self.course.push((turn.day, event));
        }
        self.set_rates(origin, epochs);
        Ok(self)
    }

    /// Other rates from day to day.
    fn set_rates(&mut self, origin: &Origin, epochs: Vec<(f64, Population)>) {
        let (Origin::Synthetic(_, kind) | Origin::Table(_, kind)) = origin else { return };
        if let [(_, only)] = &epochs[..] {
            // From the first day on is a rate like any other.
            self.process = kind.build(only, self.seed);
        } else {
            let process = |(_, population): &(f64, Population)| kind.build(population, self.seed);
            self.process = Box::new(Epochs {
                processes: epochs.iter().map(process).collect(),
                starts: epochs.iter().map(|(day, _)| *day).collect(),
                rates: epochs.iter().map(|(_, it)| it.change_rate.clone()).collect(),
            });
            self.course.extend(epochs[1..].iter().map(|(day, _)| (*day, Event::Rates)));
            self.course.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        }
        if let Some((_, first)) = epochs.into_iter().next() {
            self.population.change_rate = first.change_rate;
        }
    }

    /// Requests a day between two days, on average, if so many are allowed at first.
    pub(crate) fn mean_budget(&self, first: f64, from: f64, to: f64) -> f64 {
        let (mut budget, mut since, mut sum) = (first, 0.0, 0.0);
        let mut spend = |budget: f64, since: f64, until: f64| {
            sum += budget * (until.min(to) - since.max(from)).max(0.0);
        };
        for &(day, event) in &self.course {
            if let Event::Budget(next) = event {
                spend(budget, since, day);
                (budget, since) = (next, day);
            }
        }
        spend(budget, since, to);
        sum / (to - from)
    }

    /// The change rate of a source on a day; of a record, in hindsight.
    pub(crate) fn rate(&self, source: usize, day: f64) -> f64 {
        self.process.rate(source, day)
    }

    /// The changes per day of all sources together, while they change most.
    pub(crate) fn most_changes(&self) -> f64 {
        let sum = |day: f64| (0..self.population.len()).map(|i| self.rate(i, day)).sum::<f64>();
        let turns = self.course.iter().filter(|(_, event)| *event == Event::Rates);
        let first = self.population.change_rate.iter().sum();
        turns.map(|(day, _)| sum(*day)).fold(first, f64::max)
    }

    /// The change rates of all sources in each time between two [`Event::Rates`], for those who are
    /// told them.
    pub(crate) fn known_rates(&self, days: f64) -> VecDeque<Vec<f64>> {
        let turns = self.course.iter().filter(|(_, event)| *event == Event::Rates);
        let mut edges = vec![0.0];
        edges.extend(turns.map(|(day, _)| *day));
        edges.push(days);
        edges.windows(2).map(|edge| self.mean_rates(edge[0], edge[1])).collect()
    }

    /// The changes per day of each source between two days, for those who know.
    #[must_use]
    pub fn mean_rates(&self, from: f64, to: f64) -> Vec<f64> {
        (0..self.population.len()).map(|i| self.mean_rate(i, from, to)).collect()
    }

    /// That of one.
    pub(crate) fn mean_rate(&self, source: usize, from: f64, to: f64) -> f64 {
        self.process.mean_rate(source, from, to)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn start(&self) -> f64 {
        self.start
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

/// In slots a rate is a chance.
fn check_chances(origin: &Origin, population: &Population) -> Result<(), SimError> {
    let slots =
        matches!(origin, Origin::Synthetic(_, WebKind::Slots) | Origin::Table(_, WebKind::Slots));
    if slots && let Some(at) = population.change_rate.iter().position(|&rate| rate >= 1.0) {
        let rate = population.change_rate[at];
        return Err(SimError::Chance { source_number: at + 1, rate });
    }
    Ok(())
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

    /// How many hosts there will be; of a made-up web, a few may be without a source.
    #[must_use]
    pub fn hosts(&self) -> usize {
        match self {
            Self::Synthetic(synthetic, _) => synthetic.hosts(),
            Self::Table(table, _) => {
                table.hosts.as_ref().map_or_else(|| table.len(), |hosts| hosts.names.len())
            }
            Self::Recorded(..) => self.host_names().map_or(0, |names| names.len()),
        }
    }

    /// The names of the hosts, by number; `None` if they have none.
    #[must_use]
    pub fn host_names(&self) -> Option<Vec<&str>> {
        match self {
            Self::Synthetic(..) => None,
            Self::Table(table, _) => table.hosts.as_ref().map(|it| it.names.iter().collect()),
            Self::Recorded(history, _) => {
                let mut seen = HashSet::new();
                // In order of first appearance, as they are numbered.
                Some(history.ids.iter().map(host_of).filter(|name| seen.insert(*name)).collect())
            }
        }
    }

    /// The names of the sources, by number; `None` if they have none.
    #[must_use]
    pub fn source_names(&self) -> Option<Vec<&str>> {
        match self {
            Self::Synthetic(..) => None,
            Self::Table(table, _) => table.ids.as_ref().map(|ids| ids.iter().collect()),
            Self::Recorded(history, _) => Some(history.ids.iter().collect()),
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
