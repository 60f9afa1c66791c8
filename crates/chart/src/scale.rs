//! Mapping of values to fractions of an axis and to pixels.

/// Range of values whose spans and ratios fit in `f64`.
const HUGE: f64 = 1e300;
const TINY: f64 = 1e-300;

/// Relative span below which it is rounding noise and drawn as one value.
const FLAT: f64 = 1e-9;

/// Largest distance of a point outside the figure, in axis lengths: coordinates stay small, and slopes look the same.
const FAR: f64 = 1e4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spacing {
    Linear,
    Log,
}

impl Spacing {
    pub(crate) fn shows(self, value: f64) -> bool {
        value.is_finite() && (self == Spacing::Linear || value > 0.0)
    }
}

/// Range of an axis: finite, `low < high`, wide enough for distinct ticks, positive if logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Domain {
    pub(crate) spacing: Spacing,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Domain {
    pub(crate) fn new(spacing: Spacing, one: f64, other: f64) -> Domain {
        let (low, high) = match spacing {
            _ if !spacing.shows(one) || !spacing.shows(other) => match spacing {
                Spacing::Linear => (0.0, 1.0),
                Spacing::Log => (1.0, 10.0),
            },
            Spacing::Linear => {
                let low = one.min(other).clamp(-HUGE, HUGE);
                let high = one.max(other).clamp(-HUGE, HUGE);
                let scale = low.abs().max(high.abs());
                if scale < TINY / FLAT {
                    (0.0, 1.0)
                } else if high - low < scale * FLAT {
                    ((low - 0.1 * scale).max(-HUGE), (high + 0.1 * scale).min(HUGE))
                } else {
                    (low, high)
                }
            }
            Spacing::Log => {
                let low = one.min(other).clamp(TINY, HUGE);
                let high = one.max(other).clamp(TINY, HUGE);
                if high / low < 1.0 + FLAT {
                    ((low / 2.0).max(TINY), (high * 2.0).min(HUGE))
                } else {
                    (low, high)
                }
            }
        };
        Domain { spacing, low, high }
    }

    /// Returns the smallest domain with all values that the axis can show.
    pub(crate) fn covering(spacing: Spacing, values: impl Iterator<Item = f64>) -> Domain {
        let (low, high) = values
            .filter(|&value| spacing.shows(value))
            .fold((f64::NAN, f64::NAN), |(low, high), value| (value.min(low), value.max(high)));
        Domain::new(spacing, low, high)
    }

    pub(crate) fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns 0 at the low end and 1 at the high end, or `None` for a value that the axis cannot show.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        if !self.spacing.shows(value) {
            return None;
        }
        let fraction = match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
        };
        Some(fraction.clamp(-FAR, FAR))
    }
}

/// Mapping of a domain to pixels; `from` may be larger than `to`, because y grows downwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) domain: Domain,
    from: f64,
    to: f64,
}

impl Scale {
    pub(crate) fn new(domain: Domain, from: f64, to: f64) -> Scale {
        Scale { domain, from, to }
    }

    pub(crate) fn pixel(&self, value: f64) -> Option<f64> {
        Some(self.from + (self.to - self.from) * self.domain.fraction(value)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(spacing: Spacing, ends: (f64, f64), values: (f64, f64)) -> Result<(), TestCaseError> {
        let domain = Domain::new(spacing, ends.0, ends.1);
        prop_assert!(domain.low < domain.high && (domain.high - domain.low).is_finite());
        let scale = Scale::new(domain, 400.0, 20.0);
        let (low, high) = (values.0.min(values.1), values.0.max(values.1));
        match (scale.pixel(low), scale.pixel(high)) {
            (Some(low), Some(high)) => {
                prop_assert!(low >= high);
                prop_assert!(low.abs() < 1e7 && high.abs() < 1e7);
            }
            (None, _) => prop_assert!(!spacing.shows(low)),
            (_, None) => prop_assert!(!spacing.shows(high)),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn pixels_are_finite_and_monotone(
            log: bool,
            ends in (any::<f64>(), any::<f64>()),
            values in (any::<f64>(), any::<f64>()),
        ) {
            check(if log { Spacing::Log } else { Spacing::Linear }, ends, values)?;
        }

        #[test]
        fn ordinary_values_keep_their_order(a in -1e3..1e3, b in -1e3..1e3) {
            let scale = Scale::new(Domain::new(Spacing::Linear, -1e3, 1e3), 0.0, 700.0);
            prop_assert_eq!(a < b, scale.pixel(a) < scale.pixel(b));
        }
    }

    #[test]
    fn ends_fall_on_the_ends() {
        for spacing in [Spacing::Linear, Spacing::Log] {
            let scale = Scale::new(Domain::new(spacing, 1e-30, 1e30), 50.0, 700.0);
            assert_eq!(scale.pixel(1e-30), Some(50.0));
            assert_eq!(scale.pixel(1e30), Some(700.0));
        }
    }
}
