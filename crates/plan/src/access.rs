//! Access frequencies when each fetch takes a random time (Liu & Nain 2006, §1.3).
//!
//! One fetcher fetches pages one after another, and a fetch takes a random time `X`. Let
//! `h = E[e^(−cX)]` be the probability that a page does not change during one fetch. A page that is
//! accessed every `1/f` fetches is out of date for the same share of time as a page that changes
//! `−ln h` times per slot and is fetched `f` times per slot. This reduces the problem to freshness.

use crate::objective::Objective;
use crate::options::{Options, Timing};
use crate::plan::{PlanError, solve};
use crate::solution::Solution;
use crate::sources::{InvalidSources, Sources};
use freshet_model::PerDay;

/// Distribution of the time that a fetch takes, in days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccessTime {
    /// Constant.
    Deterministic {
        /// Time of a fetch.
        mean: f64,
    },
    /// Exponential.
    Exponential {
        /// Mean of the distribution.
        mean: f64,
    },
    /// Gamma.
    Gamma {
        /// Mean of the distribution.
        mean: f64,
        /// Shape parameter: 1 is exponential, infinity is deterministic.
        shape: f64,
    },
}

impl AccessTime {
    /// Returns the mean time of a fetch.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::Deterministic { mean }
            | Self::Exponential { mean }
            | Self::Gamma { mean, .. } => mean,
        }
    }

    /// `−ln E[e^(−cX)]`.
    fn exponent(self, change_rate: f64) -> f64 {
        match self {
            Self::Deterministic { mean } => change_rate * mean,
            Self::Exponential { mean } => (change_rate * mean).ln_1p(),
            Self::Gamma { mean, shape } => shape * (change_rate * mean / shape).ln_1p(),
        }
    }
}

/// Access frequencies and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPlan {
    /// Share of all accesses that goes to each page; they add up to 1.
    pub frequencies: Vec<f64>,
    /// The weighted sum of the shares of time out of date, `Σ wᵢrᵢ`. For
    /// [`access_frequencies`] it is the lower bound that evenly spaced accesses would reach.
    pub cost: f64,
}

/// Error of [`access_frequencies`] and [`random_access_frequencies`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// Invalid weights or change rates.
    #[error(transparent)]
    Pages(#[from] InvalidSources),
    /// No plan exists.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The mean or the shape is not a positive number.
    #[error("{what} of the access time is {value}; it must be a positive number")]
    AccessTime {
        /// Name of the parameter.
        what: &'static str,
        /// Its value.
        value: f64,
    },
}

/// Returns the frequencies that minimise the weighted time out of date when accesses to each page are
/// evenly spaced (Props. 9 and 10). Weights proportional to the change rates have a closed form,
/// (1.30): frequencies proportional to `−ln h`; general weights are solved for.
///
/// # Errors
/// [`AccessError`] where a number is not valid.
pub fn access_frequencies(
    weights: &[f64],
    change_rates: &[f64],
    access: AccessTime,
) -> Result<AccessPlan, AccessError> {
    check(weights, change_rates, access)?;
    let exponents: Vec<f64> = change_rates.iter().map(|&c| access.exponent(c)).collect();
    if let Some(frequencies) = closed_form(weights, change_rates, &exponents) {
        let spacing: f64 = exponents.iter().sum();
        let cost = weights
            .iter()
            .zip(change_rates)
            .zip(&frequencies)
            .map(|((w, c), f)| {
                if *c > 0.0 {
                    w * (1.0 + f / (c * access.mean()) * (-spacing).exp_m1())
                } else {
                    0.0
                }
            })
            .sum();
        return Ok(AccessPlan { frequencies, cost });
    }
    let plan = freshness_plan(weights, change_rates, access, &exponents, Timing::Periodic)?;
    let out_of_date = |f: f64, c: f64, exponent: f64| {
        if f > 0.0 { 1.0 + f / (c * access.mean()) * (-exponent / f).exp_m1() } else { 1.0 }
    };
    Ok(with_cost(plan.rates, weights, change_rates, &exponents, out_of_date))
}

/// Returns the frequencies that minimise the weighted time out of date when each access goes to a page
/// drawn at random (Lemma 4 and Prop. 11).
///
/// # Errors
/// [`AccessError`] where a number is not valid.
pub fn random_access_frequencies(
    weights: &[f64],
    change_rates: &[f64],
    access: AccessTime,
) -> Result<AccessPlan, AccessError> {
    check(weights, change_rates, access)?;
    let odds: Vec<f64> = change_rates.iter().map(|&c| access.exponent(c).exp_m1()).collect();
    let plan = freshness_plan(weights, change_rates, access, &odds, Timing::Poisson)?;
    let out_of_date = |f: f64, c: f64, odds: f64| 1.0 - f * odds / (c * access.mean() * (odds + f));
    Ok(with_cost(plan.rates, weights, change_rates, &odds, out_of_date))
}

fn check(weights: &[f64], change_rates: &[f64], access: AccessTime) -> Result<(), AccessError> {
    Sources::new(weights, change_rates)?;
    let positive = |what, value: f64| {
        let fine = value.is_finite() && value > 0.0;
        if fine { Ok(()) } else { Err(AccessError::AccessTime { what, value }) }
    };
    positive("mean", access.mean())?;
    if let AccessTime::Gamma { shape, .. } = access {
        positive("shape", shape)?;
    }
    Ok(())
}

/// (1.30), if the weights are proportional to the change rates.
fn closed_form(weights: &[f64], change_rates: &[f64], exponents: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = exponents.iter().sum();
    let mut ratios = weights.iter().zip(change_rates).map(|(w, c)| w / c);
    let first = ratios.next().filter(|ratio| ratio.is_finite() && *ratio > 0.0)?;
    let proportional = ratios.all(|ratio| (ratio / first - 1.0).abs() <= 4.0 * f64::EPSILON);
    proportional.then(|| exponents.iter().map(|exponent| exponent / total).collect())
}

/// Solves the freshness problem for pages that change `rates[i]` times per slot.
fn freshness_plan(
    weights: &[f64],
    change_rates: &[f64],
    access: AccessTime,
    rates: &[f64],
    timing: Timing,
) -> Result<Solution, AccessError> {
    let importance: Vec<f64> = weights
        .iter()
        .zip(change_rates)
        .zip(rates)
        .map(|((w, c), rate)| if *c > 0.0 { w * rate / (c * access.mean()) } else { 0.0 })
        .collect();
    let sources = Sources::new(&importance, rates)?;
    let options = Options { objective: Objective::Freshness, timing, ..Options::default() };
    let one = PerDay::new(1.0).unwrap_or(PerDay::ZERO);
    Ok(solve(&sources, one, &options)?)
}

fn with_cost(
    frequencies: Vec<f64>,
    weights: &[f64],
    change_rates: &[f64],
    rates: &[f64],
    out_of_date: impl Fn(f64, f64, f64) -> f64,
) -> AccessPlan {
    let cost = (0..weights.len())
        .filter(|&i| change_rates[i] > 0.0)
        .map(|i| weights[i] * out_of_date(frequencies[i], change_rates[i], rates[i]))
        .sum();
    AccessPlan { frequencies, cost }
}
