//! Sources that exist now, and their rates under a plan.

use std::collections::VecDeque;

use freshet_model::PerDay;
use freshet_plan::{Options, PlanError, Sources, solve};

use crate::error::SimError;

/// Sources that exist now.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSources {
    list: Vec<u32>,
    /// Position of each source in the list, or `u32::MAX`.
    places: Vec<u32>,
    /// Number of sources added or removed since the last plan.
    turnover: usize,
    /// Day of the next plan.
    plan_at: f64,
}

/// Share of added or removed sources at which a new plan is due at once; below it, within `MAX_PLAN_DELAY` days.
const MUCH: f64 = 0.01;
const PATIENCE: f64 = 1.0;

impl ActiveSources {
    pub(super) fn new(sources: usize) -> Self {
        Self { list: Vec::new(), places: vec![u32::MAX; sources], turnover: 0, plan_at: 0.0 }
    }

    pub(super) fn list(&self) -> &[u32] {
        &self.list
    }

    pub(super) fn has(&self, source: u32) -> bool {
        self.places[source as usize] != u32::MAX
    }

    pub(super) fn add(&mut self, now: f64, source: u32) {
        if !self.has(source) {
            self.places[source as usize] = self.list.len() as u32;
            self.list.push(source);
            self.turn(now);
        }
    }

    pub(super) fn remove(&mut self, now: f64, source: u32) {
        if self.has(source) {
            let place = self.places[source as usize];
            self.list.swap_remove(place as usize);
            if let Some(&moved) = self.list.get(place as usize) {
                self.places[moved as usize] = place;
            }
            self.places[source as usize] = u32::MAX;
            self.turn(now);
        }
    }

    fn turn(&mut self, now: f64) {
        self.turnover += 1;
        let much = self.turnover as f64 > MUCH * self.list.len() as f64;
        self.plan_at = self.plan_at.min(if much { now } else { now + PATIENCE });
    }

    /// Returns the day of the next plan, or infinity if no source was added or removed.
    pub(super) fn plan_at(&self) -> f64 {
        self.plan_at
    }

    /// Makes a new plan due at once.
    pub(super) fn plan_anew(&mut self, now: f64) {
        self.plan_at = self.plan_at.min(now);
    }

    /// Records that a plan was made.
    pub(super) fn planned(&mut self) {
        self.turnover = 0;
        self.plan_at = f64::INFINITY;
    }
}

/// Inputs of a plan: one value per source of the web.
pub(super) struct Columns {
    pub(super) importance: Vec<f64>,
    pub(super) change_rate: Vec<f64>,
    /// Sources that announce their changes; `None` if the policy ignores announcements.
    pub(super) complete: Option<Vec<bool>>,
    /// Future change rates, for policies that know them.
    pub(super) later: VecDeque<Vec<f64>>,
}

impl Columns {
    /// Switches to the next change rates.
    pub(super) fn turn_rates(&mut self) {
        if let Some(next) = self.later.pop_front() {
            self.change_rate = next;
        }
    }

    /// Returns the rates of the existing sources, in the order of `list`.
    pub(super) fn rates(
        &self,
        list: &[u32],
        budget: f64,
        options: &Options,
    ) -> Result<Vec<f64>, SimError> {
        if list.is_empty() {
            return Ok(Vec::new());
        }
        let pick =
            |column: &[f64]| -> Vec<f64> { list.iter().map(|&i| column[i as usize]).collect() };
        let (importance, change_rate) = (pick(&self.importance), pick(&self.change_rate));
        let complete: Option<Vec<bool>> =
            self.complete.as_ref().map(|all| list.iter().map(|&i| all[i as usize]).collect());
        let wrong = |error: String| SimError::Plan(error);
        let mut sources =
            Sources::new(&importance, &change_rate).map_err(|error| wrong(error.to_string()))?;
        if let Some(complete) = &complete {
            sources = sources.with_complete(complete).map_err(|error| wrong(error.to_string()))?;
        }
        let budget = PerDay::new(budget).map_err(|error| wrong(error.to_string()))?;
        let plan = solve(&sources, budget, options)
            .map_err(|error: PlanError| wrong(error.to_string()))?;
        Ok(plan.rates)
    }
}
