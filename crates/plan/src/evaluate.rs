//! Long-run averages of given rates, in closed form.

use rayon::prelude::*;

use crate::objective::{Measure, MeasureForm, Objective};
use crate::options::{Options, Policy, Rule, Timing};
use crate::problem::sum;
use crate::response::Power;
use crate::solution::Solution;
use crate::sources::Sources;

/// Order and timing of the fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each source independently: at fixed intervals (fixed order), at random times (purely random), or in slots.
    Timed(Timing),
    /// All sources in rounds, each in a new random order (Cho & Garcia-Molina 2003, §4.2).
    RandomOrder,
}

impl From<Timing> for Order {
    fn from(timing: Timing) -> Self {
        Self::Timed(timing)
    }
}

/// Long-run averages that result from given rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    weight: f64,
    costs: Vec<f64>,
    saved: Vec<f64>,
    starved: usize,
}

impl Evaluation {
    /// Returns the importance-weighted sum of an objective's cost; infinite if the objective never
    /// gives a source up and a source is never fetched.
    #[must_use]
    pub fn cost(&self, objective: Objective) -> f64 {
        let at = Objective::ALL.iter().position(|&other| other == objective);
        at.map_or(f64::NAN, |at| self.costs[at])
    }

    /// Returns the importance-weighted share of time in which copies are fresh; NaN if the total importance is 0.
    #[must_use]
    pub fn freshness(&self) -> f64 {
        self.measure("freshness")
    }

    /// Returns the importance-weighted mean age in days; NaN if the total importance is 0.
    #[must_use]
    pub fn age(&self) -> f64 {
        self.measure("age")
    }

    fn measure(&self, key: &str) -> f64 {
        self.measures().find(|(measure, _)| measure.key == key).map_or(f64::NAN, |(_, value)| value)
    }

    /// Returns all measures, objective by objective.
    pub fn measures(&self) -> impl Iterator<Item = (Measure, f64)> + '_ {
        let of = move |at: usize, measure: Measure| match measure.form {
            MeasureForm::Sum => self.costs[at],
            MeasureForm::Mean => self.costs[at] / self.weight,
            MeasureForm::OneMinusMean => self.saved[at] / self.weight,
        };
        Objective::ALL.iter().enumerate().flat_map(move |(at, objective)| {
            objective.measures().iter().map(move |&measure| (measure, of(at, measure)))
        })
    }

    /// Returns the sum of all importance.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Returns the number of sources with importance and changes that are never fetched.
    #[must_use]
    pub fn starved(&self) -> usize {
        self.starved
    }
}

/// Evaluates `rates` (fetches a day, one for each source) under every objective. Observed sources
/// are fetched by `rule`, which for a plan is [`Options::rule`].
///
/// # Panics
/// Panics if the number of rates differs from the number of sources.
#[must_use]
pub fn evaluate(
    sources: &Sources<'_>,
    rates: &[f64],
    order: impl Into<Order>,
    rule: Rule,
) -> Evaluation {
    assert_eq!(rates.len(), sources.len(), "one rate for each source");
    let setting = RatedSources { sources, rates, order: order.into(), rule };
    let is_share = |objective: &Objective| {
        objective.measures().iter().any(|measure| measure.form == MeasureForm::OneMinusMean)
    };
    let costs = Objective::ALL.iter().map(|&objective| setting.cost(objective)).collect();
    let saved = Objective::ALL
        .iter()
        .map(|objective| if is_share(objective) { setting.saved(*objective) } else { f64::NAN })
        .collect();
    let starved = (0..sources.len())
        .into_par_iter()
        .filter(|&i| rates[i] == 0.0 && sources.importance[i] > 0.0 && sources.change_rate[i] > 0.0)
        .count();
    Evaluation { weight: sum(sources.len(), |i| sources.importance[i]), costs, saved, starved }
}

/// Rates, with the order and rule of the fetches.
pub(crate) struct RatedSources<'a> {
    pub(crate) sources: &'a Sources<'a>,
    pub(crate) rates: &'a [f64],
    pub(crate) order: Order,
    pub(crate) rule: Rule,
}

impl RatedSources<'_> {
    /// Returns the importance-weighted cost of an objective.
    pub(crate) fn cost(&self, objective: Objective) -> f64 {
        let (timing, rule) = (self.timing(), self.rule);
        let polled = objective.polled(timing);
        self.total(0.0, |kind, s, c| match kind {
            Kind::Polled => polled.cost_at(s, c),
            Kind::InRounds => objective.random_order(1.0 / s, c),
            Kind::Observed => objective.observed_cost(rule, timing, s, c),
        })
    }

    /// Returns the importance-weighted sum of 1 minus the cost.
    fn saved(&self, objective: Objective) -> f64 {
        let (timing, rule) = (self.timing(), self.rule);
        let polled = objective.polled(timing);
        self.total(1.0, |kind, s, c| match kind {
            Kind::Polled => polled.saved_at(s, c),
            Kind::InRounds => objective.random_order_saved(1.0 / s, c),
            Kind::Observed => objective.observed_saved(rule, timing, s, c),
        })
    }

    fn timing(&self) -> Timing {
        match self.order {
            Order::Timed(timing) => timing,
            Order::RandomOrder => Timing::Periodic,
        }
    }

    /// Sums `each`, a function of fetches per change and change rate, over the sources. A source that never
    /// changes counts as `still`.
    fn total(&self, still: f64, each: impl Fn(Kind, f64, f64) -> f64 + Sync) -> f64 {
        let Self { sources, rates, order, .. } = *self;
        let unobserved = match order {
            Order::Timed(_) => Kind::Polled,
            Order::RandomOrder => Kind::InRounds,
        };
        sum(sources.len(), |i| {
            let (w, c) = (sources.importance[i], sources.change_rate[i]);
            if w == 0.0 {
                return 0.0;
            }
            if c == 0.0 {
                return w * still;
            }
            let observed = sources.complete.is_some_and(|complete| complete[i]);
            w * each(if observed { Kind::Observed } else { unobserved }, rates[i] / c, c)
        })
    }
}

/// Kind of a source.
#[derive(Clone, Copy)]
enum Kind {
    Polled,
    InRounds,
    Observed,
}

/// Returns the worth of one more fetch per day of each source under `solution`, in the unit of the
/// objective. At a kink of the cost, the value nearest to the price is returned.
///
/// # Panics
/// Panics if the number of rates differs from the number of sources.
#[must_use]
pub fn values(sources: &Sources<'_>, solution: &Solution, options: &Options) -> Vec<f64> {
    let rates = &solution.rates;
    assert_eq!(rates.len(), sources.len(), "one rate for each source");
    // BLCε optimises freshness, whatever the objective.
    let objective = match options.policy {
        Policy::Floor(_) => Objective::Freshness,
        _ => options.objective,
    };
    let polled = objective.polled(options.timing);
    let on_change = objective.observed(options.observed, options.timing);
    let complete = sources.complete.filter(|_| options.policy == Policy::Optimal);
    let square = objective.power() == Power::Two;
    let mut host_prices = vec![solution.price; sources.hosts.map_or(0, |hosts| hosts.limits.len())];
    for host in &solution.host_prices {
        host_prices[host.host as usize] = host.price;
    }
    (0..sources.len())
        .into_par_iter()
        .map(|i| {
            let (w, c) = (sources.importance[i], sources.change_rate[i]);
            if w == 0.0 || c == 0.0 {
                return 0.0;
            }
            let observed = complete.is_some_and(|complete| complete[i]);
            let response = if observed { on_change } else { polled };
            let worth = response.worth_one(rates[i] / c, c);
            let unit = w / if square { c * c } else { c };
            let price = sources
                .hosts
                .map_or(solution.price, |hosts| host_prices[hosts.of_source[i] as usize]);
            let price = price * sources.cost.map_or(1.0, |cost| cost[i]);
            let (next, last) = (worth.next * unit, worth.last * unit);
            if price > next { price.min(last) } else { next }
        })
        .collect()
}
