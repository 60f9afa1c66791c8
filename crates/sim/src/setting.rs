//! What a policy knows at the start.

use freshet_plan::{Observed, Timing};

use crate::aim::Aim;
use crate::ledger::Calendar;
use crate::web::Web;

/// What is asked of a policy, and the web it runs in. Learners must look at nothing in the web but
/// importance, hosts and which sources are announced.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The web.
    pub web: &'a Web,
    /// Requests a day at the start.
    pub budget: f64,
    /// What the requests are to buy.
    pub objective: Aim,
    /// When the fetches of a source happen, for policies that set rates.
    pub timing: Timing,
    /// What to do about announced changes.
    pub observed: Observed,
    /// The days.
    pub calendar: Calendar,
    /// For the policy's own dice.
    pub seed: u64,
    /// The factor on the intervals of rules that know no budget.
    pub scale: f64,
    /// Of such a rule, one in so many sources is simulated: to find the factor, a part is enough.
    pub sample: u64,
}

impl Setting<'_> {
    /// Requests a day while it counts, on average over the scenario.
    pub(crate) fn mean_budget(&self) -> f64 {
        self.web.mean_budget(self.budget, self.calendar.burn_in, self.calendar.days)
    }
}
