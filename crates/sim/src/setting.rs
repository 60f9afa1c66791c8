//! Settings of a run.

use freshet_plan::{Observed, Timing};

use crate::ledger::Calendar;
use crate::objective::SimObjective;
use crate::web::Web;

/// Settings of a run, and its web. Learning policies must use only importance, hosts and
/// the announced flag of the web.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The web.
    pub web: &'a Web,
    /// Requests per day at the start.
    pub budget: f64,
    /// Objective of a simulation.
    pub objective: SimObjective,
    /// Timing of the fetches, for policies that set rates.
    pub timing: Timing,
    /// Treatment of announced changes.
    pub observed: Observed,
    /// Simulated time.
    pub calendar: Calendar,
    /// Seed of the policy's random numbers.
    pub seed: u64,
    /// Scaling factor of the intervals, for rules without a budget.
    pub scale: f64,
    /// For such a rule, one in this number of sources is simulated, which is enough to find the factor.
    pub sample: u64,
}

impl Setting<'_> {
    /// Mean requests per day in the measured time, over the scenario.
    pub(crate) fn mean_budget(&self) -> f64 {
        self.web.mean_budget(self.budget, self.calendar.burn_in, self.calendar.days)
    }
}
