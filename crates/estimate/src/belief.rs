//! A gamma belief about the change rate of one source.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::prior::Prior;
use crate::quantile::gamma_quantile;

/// A gamma belief about a change rate `c`, with density `bᵃ c^(a−1) e^(−bc)/Γ(a)`. It is equivalent
/// to having counted `a` changes in `b` days.
///
/// Each observation updates the belief in constant time. Two kinds of update are exact:
/// [`observe_no_change`](Self::observe_no_change) and [`observe_count`](Self::observe_count). A
/// fetch that finds at least one change multiplies the density by `1 − e^(−cτ)`, and the product is
/// no longer a gamma density; [`observe_change`](Self::observe_change) takes the gamma with the
/// same mean and variance.
///
/// # Accuracy
///
/// Errors against the exact posterior, in units of its standard deviation (`tests/belief.rs` checks
/// these figures):
///
/// | histories | mean | standard deviation | 95 % interval |
/// | --- | --- | --- | --- |
/// | 1–400 fetches at 0.02–20 expected changes each: median | 0.03 | 2 % | 0.07 |
/// | the same: 99th percentile | 0.4 | 15 % | 0.5 |
/// | the same: worst of 360 | 0.7 | 31 % | 1.3 |
/// | one fetch, which found a change | 0 | 0 | 0.03 |
/// | 10 fetches, each found a change | 0.13 | 10 % | 0.4 |
/// | 100 fetches, each found a change | 0.54 | 36 % | 1.4 |
/// | 1,000 fetches, each found a change | 2.2 | 58 % | 3.2 |
///
/// When every fetch finds a change, the rate is only bounded from below, and the exact posterior
/// keeps the upper tail of the prior, so the belief becomes overconfident. Its mean stays within a
/// third of the exact mean even after 1,000 such fetches, and
/// [`decay_towards`](Self::decay_towards) limits how many can accumulate. Matching `E[ln c]`
/// instead of the variance (the projection of least divergence) gives about the same mean and a
/// less accurate deviation and interval.
///
/// A source whose change rate shifts, so that no single rate explains the observations, is tracked
/// faster than by the exact posterior: after 100 fetches that all found a change in 5 days, 100
/// fetches that found none in half a day put the mean 5.6 exact deviations below the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Belief {
    shape: f64,
    days: f64,
}

/// Error of [`Belief::new`]: a parameter is out of range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InvalidBelief {
    /// The shape is not a positive finite number.
    Shape(f64),
    /// The days are not a positive finite number.
    Days(f64),
}

impl fmt::Display for InvalidBelief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape(shape) => {
                write!(f, "shape of the belief is not a positive number: {shape}")
            }
            Self::Days(days) => write!(f, "days of the belief are not a positive number: {days}"),
        }
    }
}

impl Error for InvalidBelief {}

impl Belief {
    /// Returns the belief Gamma(`shape`, `days`), whose mean is `shape/days`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidBelief`] if either parameter is not a positive finite number.
    pub fn new(shape: f64, days: f64) -> Result<Self, InvalidBelief> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        match (positive(shape), positive(days)) {
            (true, true) => Ok(Self { shape, days }),
            (false, _) => Err(InvalidBelief::Shape(shape)),
            (true, false) => Err(InvalidBelief::Days(days)),
        }
    }

    /// Skips validation, for parameters that are positive and finite by construction.
    pub(crate) const fn from_parts(shape: f64, days: f64) -> Self {
        Self { shape, days }
    }

    /// Shape `a`: the equivalent number of counted changes.
    #[must_use]
    pub fn shape(self) -> f64 {
        self.shape
    }

    /// Rate parameter `b`: the equivalent number of days in which the changes were counted.
    #[must_use]
    pub fn days(self) -> f64 {
        self.days
    }

    /// Updates the belief after a fetch that found no change in `days`: `b + τ`, exact.
    ///
    /// This and the other updates ignore days that are not a positive finite number.
    #[must_use]
    pub fn observe_no_change(self, days: f64) -> Self {
        self.replace_if_valid(self.shape, self.days + days, days)
    }

    /// Updates the belief after `changes` were counted in `days`: `a + n`, `b + τ`, exact.
    #[must_use]
    pub fn observe_count(self, changes: u64, days: f64) -> Self {
        self.replace_if_valid(self.shape + changes as f64, self.days + days, days)
    }

    /// Updates the belief after a fetch that found at least one change in `days`: the gamma with
    /// the mean and the variance of `(1 − e^(−cτ))·Gamma(a, b)`.
    ///
    /// With `q = b/(b+τ)`, `r = qᵃ`: `E[c] = (a/b)(1 − rq)/(1 − r)`, `Var[c] = (a/b²)·D/(1 − r)²`,
    /// `D = (1 − rq²)(1 − r) − a r (1 − q)²`. The two terms of `D` differ by at least a factor `a +
    /// 2` at small `τ` and by more at large `τ`, so `D` keeps its precision; `E[c²] − E[c]²` would
    /// not.
    #[must_use]
    pub fn observe_change(self, days: f64) -> Self {
        let Self { shape: a, days: b } = self;
        let u = days / b;
        let minus_r = (-a * u.ln_1p()).exp_m1();
        let r = 1.0 + minus_r;
        let q = 1.0 / (1.0 + u);
        // All terms are in units of 1 − q, so that nothing underflows for very small τ.
        let seen = -minus_r / (u * q);
        let first = seen + r;
        let second = r.mul_add(1.0 + q, seen);
        let spread = second.mul_add(seen, -a * r);
        self.replace_if_valid(a * first * (first / spread), b * first * (seen / spread), days)
    }

    /// Updates the belief after a change in `days` that may have another explanation: the gamma
    /// with the mean and the variance of `(1 − s e^(−cτ))·Gamma(a, b)`, where `s` is the
    /// probability that there is no other explanation. `s = 1` is
    /// [`observe_change`](Self::observe_change); `s = 0` leaves the belief as it is.
    pub(crate) fn observe_possible_change(self, days: f64, unexplained: f64) -> Self {
        let Self { shape: a, days: b } = self;
        let r = unexplained * self.no_change_probability(days);
        if r == 0.0 {
            return self;
        }
        let q = b / (b + days);
        let (seen, first, second) = (1.0 - r, 1.0 - r * q, 1.0 - r * q * q);
        let spread = second * seen - a * r * (1.0 - q) * (1.0 - q);
        self.replace_if_valid(a * first * first / spread, b * first * seen / spread, days)
    }

    /// Returns the new belief, or the old one if the observation is invalid or too short or too
    /// long for the result to be finite.
    fn replace_if_valid(self, shape: f64, days: f64, observed: f64) -> Self {
        if observed > 0.0 && observed.is_finite() {
            Self::new(shape, days).unwrap_or(self)
        } else {
            self
        }
    }

    /// Decays towards the prior over `days`: the evidence `(a − a₀, b − b₀)` loses half its weight
    /// every `half_life` days (a power prior).
    ///
    /// The result lies between the belief and the prior, on whichever side the belief is. Days or
    /// half-lives that are not positive numbers leave the belief as it is, and so does an infinite
    /// half-life.
    #[must_use]
    pub fn decay_towards(self, prior: Prior, days: f64, half_life: f64) -> Self {
        if days.is_nan() || half_life.is_nan() || days <= 0.0 || half_life <= 0.0 {
            return self;
        }
        let remaining = if half_life.is_infinite() { 1.0 } else { (-days / half_life).exp2() };
        let prior = prior.belief();
        let mix = |own: f64, prior: f64| remaining * own + (1.0 - remaining) * prior;
        Self { shape: mix(self.shape, prior.shape), days: mix(self.days, prior.days) }
    }

    /// Moves the evidence from one prior to another: `a − a₀ + a₁`, `b − b₀ + b₁`. Exact if the
    /// updates were. A parameter that fell below its prior keeps its ratio to the prior instead.
    #[must_use]
    pub fn rebase(self, from: Prior, to: Prior) -> Self {
        let (from, to) = (from.belief(), to.belief());
        let part = |own: f64, from: f64, to: f64| {
            if own >= from { own - from + to } else { own / from * to }
        };
        let shape = part(self.shape, from.shape, to.shape);
        Self::new(shape, part(self.days, from.days, to.days)).unwrap_or(to)
    }

    /// Expected changes per day, `a/b`.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.shape / self.days
    }

    /// Variance of the changes per day, `a/b²`.
    #[must_use]
    pub fn variance(self) -> f64 {
        self.mean() / self.days
    }

    /// Standard deviation of the changes per day, `√a/b`.
    #[must_use]
    pub fn std_dev(self) -> f64 {
        self.shape.sqrt() / self.days
    }

    /// Returns the rate below which the true rate lies with the given probability. 0 for
    /// probabilities of 0 and less; infinite for 1 and more, and for NaN.
    #[must_use]
    pub fn quantile(self, probability: f64) -> f64 {
        gamma_quantile(self.shape, probability) / self.days
    }

    /// Returns the central interval that contains the true rate with the given probability:
    /// `credible_interval(0.95)` is the 95 % interval.
    #[must_use]
    pub fn credible_interval(self, probability: f64) -> (f64, f64) {
        let miss = (1.0 - probability) / 2.0;
        (self.quantile(miss), self.quantile(1.0 - miss))
    }

    /// Probability of no change in `days`: `(b/(b+τ))ᵃ`. 1 if `days` is not positive.
    #[must_use]
    pub fn no_change_probability(self, days: f64) -> f64 {
        if days > 0.0 { (-self.shape * (days / self.days).ln_1p()).exp() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, got: f64, expect: f64, tolerance: f64) {
        assert!((got / expect - 1.0).abs() <= tolerance, "{label}: {got:e}, expected {expect:e}");
    }

    fn belief(shape: f64, days: f64) -> Belief {
        Belief::new(shape, days).unwrap()
    }

    #[test]
    fn observing_a_change_matches_mean_and_variance() {
        // a, τ/b, then a' and b'/b from the moments in 60 digits.
        for (a, u, shape, days) in CHANGED {
            let after = belief(a, 3.0).observe_change(3.0 * u);
            check(&format!("shape at a = {a:e}, u = {u:e}"), after.shape(), shape, 1e-12);
            check(&format!("days at a = {a:e}, u = {u:e}"), after.days(), 3.0 * days, 1e-12);
        }
    }

    #[test]
    fn very_short_and_very_long_intervals_have_the_right_limits() {
        let moment = belief(0.7, 2.0).observe_change(1e-300);
        check("shape", moment.shape(), 1.7, 1e-12);
        check("days", moment.days(), 2.0, 1e-12);
        let age = belief(5.0, 2.0).observe_change(1e300);
        check("shape", age.shape(), 5.0, 1e-12);
        check("days", age.days(), 2.0, 1e-12);
    }

    #[test]
    fn invalid_observations_are_ignored() {
        let before = belief(0.7, 2.0);
        for days in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(before.observe_no_change(days), before);
            assert_eq!(before.observe_change(days), before);
            assert_eq!(before.observe_count(3, days), before);
        }
        assert_eq!(before.observe_no_change(4.0), belief(0.7, 6.0));
        assert_eq!(before.observe_count(3, 4.0), belief(3.7, 6.0));
    }

    #[test]
    fn decay_halves_the_evidence_on_either_side_of_the_prior() {
        let prior = Prior::new(2.0, 8.0).unwrap();
        assert_eq!(belief(6.0, 4.0).decay_towards(prior, 10.0, 10.0), belief(4.0, 6.0));
        assert_eq!(belief(1.0, 24.0).decay_towards(prior, 20.0, 10.0), belief(1.75, 12.0));
        assert_eq!(belief(1.0, 24.0).decay_towards(prior, f64::INFINITY, 10.0), prior.belief());
        for (days, half_life) in [(0.0, 1.0), (1.0, f64::INFINITY), (f64::NAN, 1.0), (1.0, 0.0)] {
            assert_eq!(belief(6.0, 4.0).decay_towards(prior, days, half_life), belief(6.0, 4.0));
        }
    }

    #[test]
    fn evidence_moves_to_another_prior() {
        let (from, to) = (Prior::new(2.0, 8.0).unwrap(), Prior::new(1.0, 2.0).unwrap());
        assert_eq!(belief(6.0, 10.0).rebase(from, to), belief(5.0, 4.0));
        assert_eq!(belief(1.0, 4.0).rebase(from, to), belief(0.5, 1.0));
        assert_eq!(from.belief().rebase(from, to), to.belief());
    }

    #[test]
    fn no_change_probabilities_and_moments_have_known_values() {
        // Gamma(2, 3) over 3 days: (1/2)².
        check("no change", belief(2.0, 3.0).no_change_probability(3.0), 0.25, 1e-15);
        assert_eq!(belief(2.0, 3.0).no_change_probability(f64::INFINITY), 0.0);
        assert_eq!(belief(2.0, 3.0).no_change_probability(-1.0), 1.0);
        check("deviation", belief(4.0, 3.0).std_dev(), 2.0 / 3.0, 1e-15);
        check("variance", belief(4.0, 3.0).variance(), 4.0 / 9.0, 1e-15);
    }

    #[test]
    fn invalid_beliefs_are_rejected() {
        assert_eq!(Belief::new(0.0, 1.0), Err(InvalidBelief::Shape(0.0)));
        assert_eq!(Belief::new(1.0, f64::INFINITY), Err(InvalidBelief::Days(f64::INFINITY)));
        assert_eq!(size_of::<Belief>(), 16);
    }

    const CHANGED: [(f64, f64, f64, f64); 56] = [
        (0.001, 1e-12, 1.001, 1.000_000_000_000_5),
        (0.001, 1e-6, 1.000_999_999_999_833_1, 1.000_000_499_999_666_6),
        (0.001, 0.001, 1.000_999_833_250_044_5, 1.000_499_666_666_689),
        (0.001, 0.5, 0.974_362_151_818_244_5, 1.184_009_363_238_177_4),
        (0.001, 7.0, 0.598_099_456_215_094_3, 1.419_488_060_144_545_4),
        (0.001, 1_000.0, 0.169_333_162_759_940_95, 1.167_007_191_136_463_7),
        (0.001, 1_000_000.0, 0.078_528_298_259_823_91, 1.077_449_784_746_870_3),
        (0.001, 1_000_000_000_000.0, 0.038_051_708_391_424_54, 1.037_014_693_696_718_2),
        (0.3, 1e-12, 1.3, 1.000_000_000_000_5),
        (0.3, 1e-6, 1.299_999_999_999_751, 1.000_000_499_999_616_6),
        (0.3, 0.001, 1.299_999_751_082_332_2, 1.000_499_616_858_281_4),
        (0.3, 0.5, 1.260_609_133_083_593_3, 1.174_719_989_678_422_2),
        (0.3, 7.0, 0.774_616_231_852_005_3, 1.284_402_342_905_194_7),
        (0.3, 1_000.0, 0.358_562_410_849_422_9, 1.044_916_746_677_852),
        (0.3, 1_000_000.0, 0.306_311_100_600_018_9, 1.004_854_676_843_408_3),
        (0.3, 1_000_000_000_000.0, 0.300_097_995_570_815_46, 1.000_075_381_208_319_4),
        (1.0, 1e-12, 2.0, 1.000_000_000_000_5),
        (1.0, 1e-6, 1.999_999_999_999_5, 1.000_000_499_999_5),
        (1.0, 0.001, 1.999_999_500_499_75, 1.000_499_500_25),
        (1.0, 0.5, 1.923_076_923_076_923_1, 1.153_846_153_846_153_7),
        (1.0, 7.0, 1.246_153_846_153_846_2, 1.107_692_307_692_307_8),
        (1.0, 1_000.0, 1.001_998_000_003_992, 1.000_998_001_999_996),
        (1.0, 1_000_000.0, 1.000_001_999_998, 1.000_000_999_998),
        (1.0, 1_000_000_000_000.0, 1.000_000_000_002, 1.000_000_000_001),
        (2.0, 1e-12, 3.0, 1.000_000_000_000_5),
        (2.0, 1e-6, 2.999_999_999_999, 1.000_000_499_999_333_3),
        (2.0, 0.001, 2.999_999_000_999_832_5, 1.000_499_333_666_832_9),
        (2.0, 0.5, 2.853_754_940_711_462_4, 1.126_482_213_438_735_1),
        (2.0, 7.0, 2.074_751_800_661_865, 1.023_165_271_559_275_8),
        (2.0, 1_000.0, 2.000_005_976_077_748_7, 1.000_001_991_029_904_3),
        (2.0, 1_000_000.0, 2.000_000_000_006, 1.000_000_000_002),
        (2.0, 1_000_000_000_000.0, 2.0, 1.0),
        (50.0, 1e-12, 51.0, 1.000_000_000_000_5),
        (50.0, 1e-6, 50.999_999_999_779, 1.000_000_499_991_333_4),
        (50.0, 0.001, 50.999_779_250_426_44, 1.000_491_338_451_043),
        (50.0, 0.5, 50.000_000_444_359_756, 1.000_000_008_364_419),
        (50.0, 7.0, 50.0, 1.0),
        (50.0, 1_000.0, 50.0, 1.0),
        (50.0, 1_000_000.0, 50.0, 1.0),
        (50.0, 1_000_000_000_000.0, 50.0, 1.0),
        (10_000.0, 1e-12, 10_001.0, 1.000_000_000_000_5),
        (10_000.0, 1e-6, 10_000.999_991_664_217, 1.000_000_498_333_006_4),
        (10_000.0, 0.001, 10_000.004_554_495_42, 1.000_000_409_865_679_4),
        (10_000.0, 0.5, 10_000.0, 1.0),
        (10_000.0, 7.0, 10_000.0, 1.0),
        (10_000.0, 1_000.0, 10_000.0, 1.0),
        (10_000.0, 1_000_000.0, 10_000.0, 1.0),
        (10_000.0, 1_000_000_000_000.0, 10_000.0, 1.0),
        (1_000_000.0, 1e-12, 1_000_001.0, 1.000_000_000_000_5),
        (1_000_000.0, 1e-6, 1_000_000.920_673_445_7, 1.000_000_338_696_663_4),
        (1_000_000.0, 0.001, 1_000_000.0, 1.0),
        (1_000_000.0, 0.5, 1_000_000.0, 1.0),
        (1_000_000.0, 7.0, 1_000_000.0, 1.0),
        (1_000_000.0, 1_000.0, 1_000_000.0, 1.0),
        (1_000_000.0, 1_000_000.0, 1_000_000.0, 1.0),
        (1_000_000.0, 1_000_000_000_000.0, 1_000_000.0, 1.0),
    ];
}
