//! The index averaged over the belief about the unsignalled changes.

use super::interval::first_day_at_price;
use super::{ChangeCountPenalty, SignalChannel, SignalsSinceFetch};
use crate::belief::Belief;
use crate::signal_belief::{SignalBelief, SignalEstimate};

/// Relative tolerance of the interval at which the price is reached.
const INTERVAL_TOLERANCE: f64 = 1e-3;
/// Number of rates at which the index is evaluated.
const RATE_COUNT: u32 = 16;
/// If signals report less than this share of the changes, they are ignored.
const MIN_SIGNALLED_SHARE: f64 = 1e-6;

impl SignalEstimate {
    /// Value of a fetch now, per unit of importance: [`SignalChannel::approximate_fetch_value`]
    /// averaged over the rate of the unsignalled changes, with the signals at their expected rate
    /// and precision.
    ///
    /// It is not evaluated at the mean of that rate, for the reason given at
    /// [`Penalty`](crate::Penalty): sources with an uncertain rate would starve. The average is a
    /// sum over 16 rates, within 1e-3 of the integral. Without signals it is
    /// [`Penalty::fetch_value`](crate::Penalty::fetch_value).
    #[must_use]
    pub fn fetch_value(
        &self,
        penalty: ChangeCountPenalty,
        signals_since_fetch: SignalsSinceFetch,
    ) -> f64 {
        let (signals, precision) = (self.signal_rate(), self.precision());
        let unsignalled = self.unsignalled_belief();
        let has_no_signals = precision * signals <= MIN_SIGNALLED_SHARE * unsignalled.mean();
        if has_no_signals && signals_since_fetch.checked().count == 0.0 {
            return penalty.penalty().fetch_value(unsignalled, signals_since_fetch.days);
        }
        average(unsignalled, |unsignalled| {
            SignalChannel { unsignalled_rate: unsignalled, signal_rate: signals, precision }
                .approximate_fetch_value(penalty, signals_since_fetch)
        })
    }

    /// Returns the days after the last fetch at which [`fetch_value`](Self::fetch_value) reaches
    /// `price`, with `signals` pending and no further ones, to 1e-3. 0 if the signals alone are
    /// worth the price, infinite if it is never reached.
    #[must_use]
    pub fn interval_at_price(&self, penalty: ChangeCountPenalty, signals: f64, price: f64) -> f64 {
        let value =
            |days: f64| self.fetch_value(penalty, SignalsSinceFetch { days, count: signals });
        first_day_at_price(price, value, 1.0 / self.unsignalled_belief().mean(), INTERVAL_TOLERANCE)
    }
}

impl SignalBelief {
    /// [`SignalEstimate::fetch_value`] of the point estimate.
    #[must_use]
    pub fn fetch_value(
        &self,
        penalty: ChangeCountPenalty,
        signals_since_fetch: SignalsSinceFetch,
    ) -> f64 {
        self.estimate().fetch_value(penalty, signals_since_fetch)
    }

    /// [`SignalEstimate::interval_at_price`] of the point estimate.
    #[must_use]
    pub fn interval_at_price(&self, penalty: ChangeCountPenalty, signals: f64, price: f64) -> f64 {
        self.estimate().interval_at_price(penalty, signals, price)
    }
}

/// `E[f(c)]` over a belief, by the trapezoidal rule in `ln c`, in which a gamma density decays
/// faster than any exponential at the top. Below the last rate `f` is taken as constant.
fn average(belief: Belief, f: impl Fn(f64) -> f64) -> f64 {
    let (shape, days) = (belief.shape(), belief.days());
    let root = shape.sqrt();
    let step = 0.8 / root.max(0.9);
    let top = (1.0 + 4.0 / root + 9.0 / shape).ln();
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in 0..RATE_COUNT {
        let z = top - step * f64::from(i);
        let mut weight = (shape * (z - z.exp_m1())).exp();
        if i + 1 == RATE_COUNT {
            weight /= -(-shape * step).exp_m1();
        }
        sum += weight * f(shape / days * z.exp());
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::penalty::Penalty;

    #[test]
    fn without_signals_the_sum_is_the_closed_form() {
        for shape in [0.3, 0.5, 1.0, 2.0, 7.0, 50.0, 1e4] {
            for days in [0.01, 0.3, 2.0, 20.0, 200.0] {
                for penalty in [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness] {
                    let belief = Belief::new(shape, 3.0).unwrap();
                    let mean = average(belief, |unsignalled| {
                        let channel = SignalChannel {
                            unsignalled_rate: unsignalled,
                            signal_rate: 0.0,
                            precision: 0.0,
                        };
                        channel.approximate_fetch_value(
                            penalty,
                            SignalsSinceFetch { days, count: 0.0 },
                        )
                    });
                    let expect = Penalty::fetch_value(penalty.penalty(), belief, days);
                    let off = mean / expect - 1.0;
                    assert!(off.abs() < 2e-3, "{penalty:?}, {shape}, {days}: {mean}, {expect}");
                }
            }
        }
    }

    #[test]
    fn the_value_at_the_interval_is_the_price() {
        let mut trust = SignalBelief::SCEPTICAL;
        for _ in 0..5 {
            trust = trust.observe_fetch(SignalsSinceFetch { days: 2.0, count: 1.0 }, true);
            trust = trust.observe_fetch(SignalsSinceFetch { days: 2.0, count: 0.0 }, false);
        }
        for penalty in [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness] {
            for signals in [0.0, 0.4, 1.0, 3.0] {
                let value = |days: f64| {
                    trust.fetch_value(penalty, SignalsSinceFetch { days, count: signals })
                };
                let price = value(0.7);
                let due = trust.interval_at_price(penalty, signals, price);
                assert!((value(due) / price - 1.0).abs() < 1e-3, "{due}");
                let at_once = trust.interval_at_price(penalty, signals, 0.5 * value(0.0));
                assert_eq!(at_once, 0.0);
            }
            assert_eq!(
                trust.interval_at_price(ChangeCountPenalty::Freshness, 0.0, 1e9),
                f64::INFINITY
            );
            assert_eq!(trust.interval_at_price(penalty, 0.0, f64::NAN), f64::INFINITY);
        }
    }
}
