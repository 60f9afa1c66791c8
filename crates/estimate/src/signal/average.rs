//! The index averaged over what is believed of the changes that are not signalled.

use super::due::first_day;
use super::{Channel, Counted, Heard};
use crate::belief::Belief;
use crate::trust::{Reading, Trust};

/// How near to the day on which the price is reached is near enough, as a share of the days.
const NEARLY: f64 = 1e-3;
/// Rates at which the index is taken.
const RATES: u32 = 16;
/// Where signals tell of less than this share of the changes, they are left out.
const NOTHING: f64 = 1e-6;

impl Reading {
    /// What a fetch is worth now, per unit of importance: [`Channel::quick_value`] averaged over the rate of
    /// the changes that are not signalled, with the signals at their expected rate and precision.
    ///
    /// Not at the mean of that rate, for the reason that [`Penalty`](crate::Penalty) has: it would starve
    /// the sources that are little known. The average is a sum over 16 rates, within 1e-3 of the integral.
    /// Where there are no signals at all it is [`Penalty::value`](crate::Penalty::value).
    #[must_use]
    pub fn value(&self, penalty: Counted, heard: Heard) -> f64 {
        let (signals, precision) = (self.signals(), self.precision());
        let missed = self.missed();
        let silent = precision * signals <= NOTHING * missed.mean();
        if silent && heard.checked().signals == 0.0 {
            return penalty.penalty().value(missed, heard.days);
        }
        average(missed, |missed| Channel { missed, signals, precision }.quick_value(penalty, heard))
    }

    /// The days after the last fetch at which [`value`](Self::value) reaches `price`, with so many signals and
    /// no further ones, to 1e-3; 0 if the signals alone are worth it, infinite if no time is.
    #[must_use]
    pub fn due(&self, penalty: Counted, signals: f64, price: f64) -> f64 {
        let value = |days: f64| self.value(penalty, Heard { days, signals });
        first_day(price, value, 1.0 / self.missed().mean(), NEARLY)
    }
}

impl Trust {
    /// [`Reading::value`] of what is believed.
    #[must_use]
    pub fn value(&self, penalty: Counted, heard: Heard) -> f64 {
        self.reading().value(penalty, heard)
    }

    /// [`Reading::due`] of what is believed.
    #[must_use]
    pub fn due(&self, penalty: Counted, signals: f64, price: f64) -> f64 {
        self.reading().due(penalty, signals, price)
    }
}

/// `E[f(c)]` over a belief, by the trapezoidal rule in `ln c`, in which a gamma density ends faster than
/// any exponential above. Below the last rate `f` is taken as constant.
fn average(belief: Belief, f: impl Fn(f64) -> f64) -> f64 {
    let (shape, days) = (belief.shape(), belief.days());
    let root = shape.sqrt();
    let step = 0.8 / root.max(0.9);
    let top = (1.0 + 4.0 / root + 9.0 / shape).ln();
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in 0..RATES {
        let z = top - step * f64::from(i);
        let mut weight = (shape * (z - z.exp_m1())).exp();
        if i + 1 == RATES {
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
                for penalty in [Counted::Harmonic, Counted::Freshness] {
                    let belief = Belief::new(shape, 3.0).unwrap();
                    let mean = average(belief, |missed| {
                        let channel = Channel { missed, signals: 0.0, precision: 0.0 };
                        channel.quick_value(penalty, Heard { days, signals: 0.0 })
                    });
                    let expect = Penalty::value(penalty.penalty(), belief, days);
                    let off = mean / expect - 1.0;
                    assert!(off.abs() < 2e-3, "{penalty:?}, {shape}, {days}: {mean}, {expect}");
                }
            }
        }
    }

    #[test]
    fn due_is_when_the_value_is_the_price() {
        let mut trust = Trust::SCEPTICAL;
        for _ in 0..5 {
            trust = trust.fetched(Heard { days: 2.0, signals: 1.0 }, true);
            trust = trust.fetched(Heard { days: 2.0, signals: 0.0 }, false);
        }
        for penalty in [Counted::Harmonic, Counted::Freshness] {
            for signals in [0.0, 0.4, 1.0, 3.0] {
                let value = |days: f64| trust.value(penalty, Heard { days, signals });
                let price = value(0.7);
                let due = trust.due(penalty, signals, price);
                assert!((value(due) / price - 1.0).abs() < 1e-3, "{due}");
                let at_once = trust.due(penalty, signals, 0.5 * value(0.0));
                assert_eq!(at_once, 0.0);
            }
            assert_eq!(trust.due(Counted::Freshness, 0.0, 1e9), f64::INFINITY);
            assert_eq!(trust.due(penalty, 0.0, f64::NAN), f64::INFINITY);
        }
    }
}
