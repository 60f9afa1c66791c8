//! Comparison of policies on the same webs with the same number of requests.

use freshet_model::{Budget, PerDay};
use freshet_plan::{Objective, Observed, Timing};
use rayon::prelude::*;

use crate::error::SimError;
use crate::fault::Fault;
use crate::ledger::Calendar;
use crate::objective::SimObjective;
use crate::policy::{Choice, PolicyKind};
use crate::report::{PolicyReport, Report, costs};
use crate::run::{Run, run, run_at_most};
use crate::scenario::Scenario;
use crate::setting::Setting;
use crate::signals::Signals;
use crate::web::{Origin, Web};

/// Settings of a comparison of policies.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Origin of the webs.
    pub origin: Origin,
    /// Policies to compare.
    pub policies: Vec<Choice>,
    /// Duration in days; `None` is the length of the trace, or 180 days.
    pub days: Option<f64>,
    /// Days before the measured time; `None` is half of the duration.
    pub burn_in: Option<f64>,
    /// Request budget. A budget per source counts the sources that exist on average during the
    /// measured time.
    pub budget: Budget,
    /// Objective.
    pub objective: SimObjective,
    /// Timing of the fetches, for policies that set rates.
    pub timing: Timing,
    /// Treatment of announced changes.
    pub observed: Observed,
    /// Faults of hosts.
    pub faults: Vec<Fault>,
    /// Events on certain days.
    pub scenario: Scenario,
    /// Signals about changes, if any.
    pub signals: Option<Signals>,
    /// Number of seeds.
    pub seeds: usize,
    /// First seed.
    pub seed: u64,
    /// Number of time steps in the report.
    pub pieces: usize,
}

/// Progress of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Number of runs to scale rules and to measure.
    Planned {
        /// Number of runs to measure.
        runs: usize,
    },
    /// A run to scale a rule has finished.
    Scaled,
    /// A measured run has finished.
    Done,
}

/// Default duration of a synthetic web in days.
const DAYS: f64 = 180.0;
/// Number of sources that is sufficient to find the factor of a rule.
const SAMPLE: usize = 4000;
/// Relative tolerance between the requests of a rule and the budget.
const CLOSE: f64 = 2e-3;
/// Largest number of changes, requests and signals in one run: some hours of computation.
const MOST_EVENTS: f64 = 2e10;

impl Experiment {
    /// Creates an experiment with the defaults of the command line.
    #[must_use]
    pub fn new(origin: Origin) -> Self {
        let objective = SimObjective::Keep(Objective::Harmonic);
        let all = PolicyKind::ALL.iter().filter(|kind| kind.serves(objective));
        let policies = all.map(|&kind| kind.into()).collect();
        let each = PerDay::new(0.2).unwrap_or(PerDay::ZERO);
        Self {
            origin,
            policies,
            days: None,
            burn_in: None,
            budget: Budget::PerSource(each),
            objective,
            timing: Timing::default(),
            observed: Observed::default(),
            faults: Vec::new(),
            scenario: Scenario::default(),
            signals: None,
            seeds: 5,
            seed: 1,
            pieces: 60,
        }
    }

    /// Returns the simulated time.
    ///
    /// # Errors
    /// Returns an error if there is no time, or none to measure.
    pub fn calendar(&self) -> Result<Calendar, SimError> {
        if self.origin.sources() == 0 {
            return Err(SimError::NoSources);
        }
        let recorded = self.origin.days();
        if let (Some(days), Origin::Recorded(history, _)) = (recorded, &self.origin)
            && days <= 0.0
        {
            return Err(SimError::NoTime(history.time_range().map_or(0.0, |span| span.start)));
        }
        let days = match (self.days, recorded) {
            (None, None) => DAYS,
            (None, Some(all)) => all,
            (Some(some), Some(all)) if some > all => all,
            (Some(some), _) => some,
        };
        if !(days > 0.0 && days <= 1e6) {
            return Err(SimError::Days(days));
        }
        let burn_in = self.burn_in.unwrap_or(0.5 * days);
        if !(burn_in >= 0.0 && burn_in < days) {
            return Err(SimError::BurnIn { burn_in, days });
        }
        Ok(Calendar::new(days, burn_in, self.pieces.max(2)))
    }

    /// Runs every policy on every seed, on rayon's thread pool. The result does not depend
    /// on the number of threads.
    ///
    /// # Errors
    /// Returns an error if there is nothing to simulate, too much, or a policy cannot plan.
    pub fn run(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Report, SimError> {
        let unfit = self.policies.iter().find(|choice| !choice.kind.serves(self.objective));
        if let Some(choice) = unfit {
            let (policy, objective) = (choice.to_string(), self.objective.name());
            return Err(SimError::Policy { policy, objective });
        }
        let (calendar, first, budget) = self.first()?;
        let mean_budget = first.mean_budget(budget, calendar.burn_in, calendar.days);
        progress(Progress::Planned { runs: self.policies.len() * self.seeds.max(1) });

        // Nearly the same for all seeds, so it is a good start for each.
        let starts: Vec<Option<f64>> = self
            .policies
            .par_iter()
            .map(|choice| {
                let setting = self.setting(&first, budget, &calendar, 0);
                scale_of(choice, &setting, 1.0, progress)
            })
            .collect::<Result<_, SimError>>()?;
        drop(first);

        let seeds = self.seeds.max(1);
        // Seed by seed, so that early results cover all policies.
        let jobs: Vec<(usize, usize)> = (0..seeds)
            .flat_map(|seed| (0..self.policies.len()).map(move |at| (seed, at)))
            .collect();
        let runs: Vec<(Run, Option<f64>)> = jobs
            .into_par_iter()
            .map(|(seed, at)| {
                let web = self.web(&calendar, seed)?;
                let setting = self.setting(&web, budget, &calendar, seed);
                let scale = match (starts[at], seed) {
                    (Some(start), 1..) => scale_of(&self.policies[at], &setting, start, progress)?,
                    (start, _) => start,
                };
                let setting = Setting { scale: scale.unwrap_or(1.0), ..setting };
                let mut policy = self.policies[at].build(&setting)?;
                let done = run(&web, policy.as_mut(), calendar, self.objective.capture());
                progress(Progress::Done);
                Ok((done, scale))
            })
            .collect::<Result<_, SimError>>()?;

        let mut of_policy: Vec<Vec<Run>> = vec![Vec::new(); self.policies.len()];
        let mut scales = vec![Vec::new(); self.policies.len()];
        for (place, (run, scale)) in runs.into_iter().enumerate() {
            of_policy[place % self.policies.len()].push(run);
            scales[place % self.policies.len()].extend(scale);
        }
        let bound = self.objective.yardstick().into();
        let bound = self.policies.iter().position(|choice| *choice == bound);
        let bound = bound.map(|at| costs(&of_policy[at], self.objective));
        let policies = self
            .policies
            .iter()
            .zip(scales)
            .zip(of_policy)
            .map(|((choice, scales), runs)| {
                let scale = scales.iter().sum::<f64>() / scales.len() as f64;
                let scale = choice.kind.is_scaled().then_some(scale);
                let mut report = PolicyReport::new(choice.clone(), scale, runs, self.objective);
                if let Some(bound) = &bound {
                    report.compare(bound, self.objective);
                }
                report
            })
            .collect();
        Ok(Report {
            sources: self.origin.sources(),
            calendar,
            budget: mean_budget,
            objective: self.objective,
            seeds,
            policies,
        })
    }

    /// Returns the calendar, the web of the first seed, and the requests per day at the start.
    pub(crate) fn first(&self) -> Result<(Calendar, Web, f64), SimError> {
        let calendar = self.calendar()?;
        let checked = self.scenario.check(&self.origin, calendar.days);
        checked.map_err(|(place, why)| SimError::Scenario { place, why })?;
        let web = self.web(&calendar, 0)?;
        let budget = budget_in(self.budget, &web, &calendar);
        self.check_size(&web, budget, &calendar)?;
        Ok((calendar, web, budget))
    }

    fn web(&self, calendar: &Calendar, seed: usize) -> Result<Web, SimError> {
        let seed = self.seed.wrapping_add(seed as u64);
        let mut web = Web::new(&self.origin, &self.faults, calendar.days, seed)?;
        if let Some(signals) = &self.signals {
            web = web.with_signals(signals, &self.origin)?;
        }
        if self.scenario.turns.is_empty() {
            return Ok(web);
        }
        web.with(&self.scenario, &self.origin, |web, budget| {
            budget_in(budget.unwrap_or(self.budget), web, calendar)
        })
    }

    pub(crate) fn setting<'a>(
        &self,
        web: &'a Web,
        budget: f64,
        calendar: &Calendar,
        seed: usize,
    ) -> Setting<'a> {
        Setting {
            web,
            budget,
            objective: self.objective,
            timing: self.timing,
            observed: self.observed,
            calendar: *calendar,
            seed: self.seed.wrapping_add(seed as u64),
            scale: 1.0,
            sample: 1,
        }
    }

    fn check_size(&self, web: &Web, budget: f64, calendar: &Calendar) -> Result<(), SimError> {
        let requests = web.mean_budget(budget, 0.0, calendar.days) * calendar.days;
        let changes = match &self.origin {
            Origin::Recorded(history, _) => history.change_count() as f64,
            _ => web.most_changes() * calendar.days,
        };
        let signals = web.heralded.as_ref().map_or(0.0, |it| it.a_day(web, calendar.days));
        let signals = signals * calendar.days;
        if requests + changes + signals <= MOST_EVENTS {
            Ok(())
        } else {
            Err(SimError::TooMuch { requests, changes, signals, limit: MOST_EVENTS })
        }
    }
}

/// Requests per day.
fn budget_in(budget: Budget, web: &Web, calendar: &Calendar) -> f64 {
    match budget {
        Budget::Total(total) => total.get(),
        Budget::PerSource(each) => {
            each.get() * web.population.mean_present(calendar.burn_in, calendar.days)
        }
    }
}

/// Returns the factor at which a rule without a budget makes the budgeted number of requests in the measured time.
fn scale_of(
    choice: &Choice,
    setting: &Setting<'_>,
    start: f64,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<f64>, SimError> {
    if !choice.kind.is_scaled() {
        return Ok(None);
    }
    let Setting { web, calendar, .. } = *setting;
    let budget = setting.mean_budget();
    let target = budget * (calendar.days - calendar.burn_in);
    let most = target.max(web.mean_budget(setting.budget, 0.0, calendar.days) * calendar.days);
    let sample = web.population.len().div_ceil(SAMPLE) as u64;
    let count = |scale: f64, sample: u64| {
        // The run can stop at this number, which is too large in any case.
        let at_most = (20.0 * most / sample as f64).max(1e4) as u64;
        let mut policy = choice.build(&Setting { scale, sample, ..*setting })?;
        let done = run_at_most(web, policy.as_mut(), calendar, at_most);
        progress(Progress::Scaled);
        let enough = 10.0 * target;
        Ok(done.map_or(enough, |run| run.ledger.measured().requests * sample as f64))
    };
    let mut scale = find_scale(target, start, |scale| count(scale, sample))?;
    if sample > 1 {
        // The sample differs slightly from the whole; correct its target accordingly.
        let ratio = count(scale, 1)? / count(scale, sample)?.max(1.0);
        if ratio > 0.0 && (ratio - 1.0).abs() > CLOSE {
            scale = find_scale(target / ratio, scale, |scale| count(scale, sample))?;
        }
    }
    Ok(Some(scale))
}

/// Returns the scale at which a decreasing count meets a target: brackets by doubling, then the Illinois method on
/// logarithms.
fn find_scale(
    target: f64,
    start: f64,
    count: impl Fn(f64) -> Result<f64, SimError>,
) -> Result<f64, SimError> {
    let excess = |requests: f64| (requests.max(0.5) / target.max(0.5)).ln();
    let near = |excess: f64| excess.abs() < CLOSE;
    let (mut at, mut step) = (start.ln(), if start == 1.0 { 0.7 } else { 0.05 });
    let mut here = excess(count(at.exp())?);
    if near(here) {
        return Ok(at.exp());
    }
    // A larger scale means fewer requests.
    let direction = here.signum();
    let (mut other, mut there) = (at, here);
    for _ in 0..40 {
        (other, there) = (at, here);
        at += direction * step;
        step *= 2.0;
        here = excess(count(at.exp())?);
        if near(here) {
            return Ok(at.exp());
        }
        if here.signum() != direction {
            break;
        }
    }
    if here.signum() == direction {
        return Ok(at.exp());
    }
    let (mut best, mut best_excess) =
        if here.abs() < there.abs() { (at, here) } else { (other, there) };
    let mut side = 0;
    for round in 0..30 {
        let middle = if round % 4 == 3 {
            0.5 * (at + other)
        } else {
            (at * there - other * here) / (there - here)
        };
        let value = excess(count(middle.exp())?);
        if value.abs() < best_excess.abs() {
            (best, best_excess) = (middle, value);
        }
        if near(value) || (at - other).abs() < 1e-9 {
            break;
        }
        if value.signum() == here.signum() {
            (at, here) = (middle, value);
            if side == 1 {
                there *= 0.5;
            }
            side = 1;
        } else {
            (other, there) = (middle, value);
            if side == -1 {
                here *= 0.5;
            }
            side = -1;
        }
    }
    Ok(best.exp())
}
