//! A web like that of Kolobov et al., whose data set is not public, and their policies on
//! it.

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Observed, Options, Policy, Rule, Sources, Timing, evaluate, solve,
};
use freshet_sim::{Origin, Synthetic, Web, WebKind};

use crate::error::LabError;

/// Requests a day for each source.
pub(super) const BUDGET: f64 = 0.2;

/// Importance, change rates, and which sources announce their changes.
pub(super) struct Pages {
    pub(super) weights: Vec<f64>,
    pub(super) changes: Vec<f64>,
    pub(super) complete: Vec<bool>,
}

/// Costs per source: harmonic and binary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    pub(super) harmonic: f64,
    pub(super) binary: f64,
}

/// A kind of cost.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) of: fn(&Costs) -> f64,
}

pub(super) const KINDS: [Kind; 2] = [
    Kind { name: "harmonic cost", of: |it| it.harmonic },
    Kind { name: "binary cost", of: |it| it.binary },
];

/// The policies of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crawl {
    /// LambdaCrawl.
    Lc,
    /// LambdaCrawl without announcements.
    LcIo,
    /// LambdaCrawl with rates proportional to importance for sources without announcements.
    Lca,
    /// BinaryLambdaCrawl.
    Blc,
    /// BinaryLambdaCrawl with a floor of 0.4 of the equal rate.
    BlcFloor,
    /// UniformCrawl.
    Uc,
    /// ChangeRateCrawl.
    Cc,
}

impl Crawl {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lc => "LC",
            Self::LcIo => "LC-IO",
            Self::Lca => "LCA",
            Self::Blc => "BLC",
            Self::BlcFloor => "BLCε",
            Self::Uc => "UC",
            Self::Cc => "CC",
        }
    }

    fn listens(self) -> bool {
        matches!(self, Self::Lc | Self::Lca)
    }

    fn options(self) -> Options {
        Options {
            objective: if self == Self::Blc { Objective::Freshness } else { Objective::Harmonic },
            timing: Timing::Poisson,
            observed: Observed::Random,
            policy: match self {
                Self::BlcFloor => Policy::Floor(0.4),
                Self::Uc => Policy::Uniform,
                Self::Cc => Policy::ChangeRate,
                _ => Policy::Optimal,
            },
        }
    }
}

impl Pages {
    pub(super) fn new(synthetic: Synthetic, seed: u64) -> Result<Self, LabError> {
        let web = Web::new(&Origin::Synthetic(synthetic, WebKind::Poisson), &[], 1.0, seed)?;
        let population = web.population;
        Ok(Self {
            weights: population.importance,
            changes: population.change_rate,
            complete: population.complete,
        })
    }

    /// As [`new`](Self::new), but the most important sources announce their changes.
    pub(super) fn with_complete_by_importance(&self, share: f64) -> Self {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&a, &b| self.weights[b].total_cmp(&self.weights[a]));
        let mut complete = vec![false; self.len()];
        for &source in &order[..(share * self.len() as f64) as usize] {
            complete[source] = true;
        }
        Self { weights: self.weights.clone(), changes: self.changes.clone(), complete }
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns the sources, with or without announcements.
    fn sources(&self, listens: bool) -> Result<Sources<'_>, LabError> {
        let sources = Sources::new(&self.weights, &self.changes)?;
        Ok(if listens { sources.with_complete(&self.complete)? } else { sources })
    }

    /// Returns the rates of a policy for given change rates, which may be estimates.
    pub(super) fn rates(&self, crawl: Crawl, budget: f64) -> Result<Vec<f64>, LabError> {
        let sources = self.sources(crawl.listens())?;
        let mut rates = solve(&sources, PerDay::new(budget)?, &crawl.options())?.rates;
        if crawl == Crawl::Lca {
            share_by_importance(&self.weights, &self.complete, &mut rates);
        }
        Ok(rates)
    }

    pub(super) fn costs(&self, crawl: Crawl, rates: &[f64]) -> Result<Costs, LabError> {
        let sources = self.sources(crawl.listens())?;
        let all: Evaluation = evaluate(&sources, rates, Timing::Poisson, Rule::Chance);
        let each = |objective| all.cost(objective) / self.len() as f64;
        Ok(Costs { harmonic: each(Objective::Harmonic), binary: each(Objective::Freshness) })
    }

    pub(super) fn planned(&self, crawl: Crawl) -> Result<Costs, LabError> {
        self.costs(crawl, &self.rates(crawl, BUDGET * self.len() as f64)?)
    }
}

/// Distributes the remaining budget to sources without announcements in proportion to importance (Prop. 9).
fn share_by_importance(weights: &[f64], complete: &[bool], rates: &mut [f64]) {
    let polled = |i: &usize| !complete[*i];
    let left: f64 = (0..rates.len()).filter(polled).map(|i| rates[i]).sum();
    let weight: f64 = (0..rates.len()).filter(polled).map(|i| weights[i]).sum();
    for i in (0..rates.len()).filter(polled) {
        rates[i] = left * weights[i] / weight;
    }
}
