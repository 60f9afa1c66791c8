//! A simulated web.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use freshet_model::{Budget, ChangeTrace, SourceTable};

use crate::distribution::Distribution;
use crate::error::SimError;
use crate::fault::{Fault, Faults};
use crate::policy::Event;
use crate::population::{Population, Presence, SECONDS_PER_DAY, Synthetic, host_of};
use crate::process::epochs::Epochs;
use crate::process::recorded::Recorded;
use crate::process::{Process, Stream, WebKind};
use crate::scenario::{Allowance, Scenario, ScenarioAction, orders};
use crate::seed::{RandomPurpose, of_source};
use crate::signals::Signalled;

/// Origin of a web.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Synthetic.
    Synthetic(Synthetic, WebKind),
    /// Creates the sources of a table.
    Table(Arc<SourceTable>, WebKind),
    /// Recorded changes.
    Recorded(Arc<ChangeTrace>, Distribution),
}

/// Sources, with their changes and faults.
pub struct Web {
    /// Sources.
    pub population: Population,
    process: Box<dyn Process>,
    pub(crate) faults: Faults,
    /// Scenario events for policies, by day.
    pub(crate) course: Vec<(f64, Event)>,
    /// Signals about changes, if any.
    pub(crate) heralded: Option<Signalled>,
    seed: u64,
    /// Day 0 of a trace, in seconds since 1970.
    start: f64,
}

impl Web {
    /// Creates the web of a seed, which is the same for every policy.
    ///
    /// # Errors
    /// Returns an error if the web is empty, or a rate is not a probability where it must be.
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
                start = history.time_range().map_or(0.0, |span| span.start);
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

    /// Applies a scenario; `budget_of` converts a budget to requests per day for the sources, and
    /// defines 100 %.
    pub(crate) fn with(
        mut self,
        scenario: &Scenario,
        origin: &Origin,
        budget_of: impl Fn(&Self, Option<Budget>) -> f64,
    ) -> Result<Self, SimError> {
        let (sources, hosts) = (self.population.len(), self.population.hosts());
        let (host_order, order) = orders(self.seed, hosts, sources);
        self.faults.make_room(hosts);
        // The last arrivals are the last rows of the table.
        let mut left = sources;
        for turn in scenario.in_order().into_iter().rev() {
            if let ScenarioAction::Arrival(some) = turn.what {
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
                ScenarioAction::Outage { days, hosts, kind } => {
                    self.faults.add(hosts.pick(&host_order), turn.day, *days, *kind);
                }
                ScenarioAction::Rates { sources, factor } => {
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
                ScenarioAction::Arrival(_) | ScenarioAction::Budget(_) => {}
            }
        }
        for turn in scenario.in_order() {
            let event = match turn.what {
                ScenarioAction::Budget(Allowance::Share(share)) => {
                    Event::Budget(share * budget_of(&self, None))
                }
                ScenarioAction::Budget(Allowance::Budget(budget)) => {
                    Event::Budget(budget_of(&self, Some(budget)))
                }
                _ => continue,
            };
            self.course.push((turn.day, event));
        }
        self.set_rates(origin, epochs);
        Ok(self)
    }

    /// Sets the rates of each epoch.
    fn set_rates(&mut self, origin: &Origin, epochs: Vec<(f64, Population)>) {
        let (Origin::Synthetic(_, kind) | Origin::Table(_, kind)) = origin else { return };
        if let [(_, only)] = &epochs[..] {
            // Rates that change on day 0 are ordinary rates.
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

    /// Returns the mean requests per day between two days, for a budget at the start.
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

    /// Returns the change rate of a source on a day; for a trace, in hindsight.
    pub(crate) fn rate(&self, source: usize, day: f64) -> f64 {
        self.process.rate(source, day)
    }

    /// Returns the highest total change rate of all sources.
    pub(crate) fn most_changes(&self) -> f64 {
        let sum = |day: f64| (0..self.population.len()).map(|i| self.rate(i, day)).sum::<f64>();
        let turns = self.course.iter().filter(|(_, event)| *event == Event::Rates);
        let first = self.population.change_rate.iter().sum();
        turns.map(|(day, _)| sum(*day)).fold(first, f64::max)
    }

    /// Returns the change rates of all sources in each epoch between two [`Event::Rates`].
    pub(crate) fn known_rates(&self, days: f64) -> VecDeque<Vec<f64>> {
        let turns = self.course.iter().filter(|(_, event)| *event == Event::Rates);
        let mut edges = vec![0.0];
        edges.extend(turns.map(|(day, _)| *day));
        edges.push(days);
        edges.windows(2).map(|edge| self.mean_rates(edge[0], edge[1])).collect()
    }

    /// Returns the mean change rate of each source between two days.
    #[must_use]
    pub fn mean_rates(&self, from: f64, to: f64) -> Vec<f64> {
        (0..self.population.len()).map(|i| self.mean_rate(i, from, to)).collect()
    }

    /// Returns the mean change rate of one source.
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
        let random = of_source(self.seed, RandomPurpose::Changes, source as u64);
        Stream { random, at: 0.0, drawn: 0 }
    }

    /// Returns the next change of a source.
    #[inline]
    pub(crate) fn next_change(&self, source: usize, stream: &mut Stream) -> f64 {
        let next = self.process.next(source, stream);
        stream.at = next;
        stream.drawn += 1;
        next
    }
}

/// With slots, checks that rates are probabilities.
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
    /// Returns the number of sources.
    #[must_use]
    pub fn sources(&self) -> usize {
        match self {
            Self::Synthetic(synthetic, _) => synthetic.sources,
            Self::Table(table, _) => table.len(),
            Self::Recorded(history, _) => history.len(),
        }
    }

    /// Returns the number of hosts there will be; of a made-up web, a few may be without a source.
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

    /// Returns the names of the hosts, by number; `None` if they have none.
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

    /// Returns the names of the sources, by number; `None` if they have none.
    #[must_use]
    pub fn source_names(&self) -> Option<Vec<&str>> {
        match self {
            Self::Synthetic(..) => None,
            Self::Table(table, _) => table.ids.as_ref().map(|ids| ids.iter().collect()),
            Self::Recorded(history, _) => Some(history.ids.iter().collect()),
        }
    }

    /// Returns the days that a record covers; `None` for webs that go on for ever.
    #[must_use]
    pub fn days(&self) -> Option<f64> {
        match self {
            Self::Recorded(history, _) => {
                let span = history.time_range()?;
                Some((span.end - span.start) / SECONDS_PER_DAY)
            }
            _ => None,
        }
    }
}
