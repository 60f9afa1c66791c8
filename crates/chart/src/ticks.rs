//! Ticks: multiples of 1, 2 or 5, or powers of ten on a logarithmic axis.

use crate::number::{Decimal, labels, log_labels};
use crate::scale::{Domain, Spacing};

/// Fewer intervals could leave an axis with a single tick; more would give more than twelve.
const INTERVALS: std::ops::RangeInclusive<usize> = 5..=11;

#[derive(Clone, Debug)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    pub(crate) labelled: Vec<Tick>,
    pub(crate) minor: Vec<f64>,
}

impl Ticks {
    /// Returns about `intervals` ticks, at least 2 and at most 12.
    pub(crate) fn new(domain: &Domain, intervals: usize) -> Ticks {
        match domain.spacing {
            Spacing::Linear => linear(domain, intervals),
            Spacing::Log => logarithmic(domain, intervals),
        }
    }
}

/// Returns the domain with padding: up to the next tick if it is near, otherwise a little. Padding never crosses zero.
pub(crate) fn widen(domain: Domain, intervals: usize) -> Domain {
    let Domain { spacing, low, high } = domain;
    match spacing {
        Spacing::Linear => {
            let step = step(high - low, intervals);
            let size = step.value();
            let air = |end: f64, tick: f64| {
                let near = (end - tick).abs() <= if tick == 0.0 { size } else { 0.7 * size };
                let little = end + 0.03 * (high - low) * (tick - end).signum();
                if near { tick } else { little }
            };
            let tick = |index: f64| step.times(index as i64).value();
            // The division may land just beside a whole number: 0.3 / 0.1 < 3.
            let below = air(low, tick((low / size + 1e-9).floor())).min(low);
            let above = air(high, tick((high / size - 1e-9).ceil())).max(high);
            Domain::new(spacing, below, above)
        }
        Spacing::Log => {
            let ladder = |from: f64| {
                let exponent = from.log10().floor() as i32;
                (exponent - 1..=exponent + 1).flat_map(|exponent| {
                    [1, 2, 5].map(|digits| Decimal::new(digits, exponent).value())
                })
            };
            let below = ladder(low).rfind(|&value| value <= low).unwrap_or(low);
            let above = ladder(high).find(|&value| value >= high).unwrap_or(high);
            Domain::new(spacing, below, above)
        }
    }
}

/// Returns the smallest 1-2-5 step that divides the span into at most the given number of intervals.
fn step(span: f64, intervals: usize) -> Decimal {
    let intervals = intervals.clamp(*INTERVALS.start(), *INTERVALS.end()) as f64;
    let exponent = (span / intervals).log10().floor() as i32;
    (exponent..exponent + 3)
        .flat_map(|exponent| [1, 2, 5].map(|digits| Decimal::new(digits, exponent)))
        .find(|step| span / step.value() <= intervals * (1.0 + 1e-9))
        .unwrap_or(Decimal::new(1, exponent + 3))
}

fn linear(domain: &Domain, intervals: usize) -> Ticks {
    let step = step(domain.high - domain.low, intervals);
    let size = step.value();
    let first = (domain.low / size).floor() as i64;
    let last = (domain.high / size).ceil() as i64;
    let ticks: Vec<Decimal> = (first..=last)
        .map(|index| step.times(index))
        .filter(|tick| domain.contains(tick.value()))
        .collect();
    Ticks { labelled: with_labels(&ticks, labels(&ticks, step)), minor: Vec::new() }
}

fn with_labels(ticks: &[Decimal], labels: Vec<String>) -> Vec<Tick> {
    let labelled = ticks.iter().zip(labels);
    labelled.map(|(tick, label)| Tick { value: tick.value(), label }).collect()
}

fn logarithmic(domain: &Domain, intervals: usize) -> Ticks {
    let shown = |ticks: Vec<Decimal>| -> Vec<Decimal> {
        ticks.into_iter().filter(|tick| domain.contains(tick.value())).collect()
    };
    let (low, high) = (domain.low.log10(), domain.high.log10());
    let exponents = low.floor() as i32..=high.ceil() as i32;
    let within_decades = |digits: &[i64]| {
        shown(
            exponents
                .clone()
                .flat_map(|exponent| {
                    digits.iter().map(move |&digits| Decimal::new(digits, exponent))
                })
                .collect(),
        )
    };
    let between = || within_decades(&[2, 3, 4, 5, 6, 7, 8, 9]);

    let decades = within_decades(&[1]);
    let (labelled, minor) = if decades.len() <= 2 {
        let labelled = within_decades(&[1, 2, 5]);
        let narrow = domain.high < 3.0 * domain.low;
        if labelled.len() < 2 || labelled.len() == 2 && narrow {
            // The axis is nearly linear.
            return linear(domain, intervals);
        }
        (labelled, between())
    } else {
        let stride = step(high - low, intervals).value().max(1.0) as i32;
        let labelled =
            decades.iter().copied().filter(|tick| tick.exponent.rem_euclid(stride) == 0).collect();
        match stride {
            1 => (labelled, between()),
            2..=10 => (labelled, decades),
            _ => (labelled, Vec::new()),
        }
    };
    Ticks {
        minor: minor
            .iter()
            .filter(|tick| !labelled.contains(tick))
            .map(|tick| tick.value())
            .collect(),
        labelled: with_labels(&labelled, log_labels(&labelled)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn domain() -> impl Strategy<Value = Domain> {
        let value = prop_oneof![
            any::<f64>(),
            -1.0..1.0,
            0.0..1e6,
            (-300.0..300.0).prop_map(|e| 10f64.powf(e))
        ];
        // Narrow and wide domains.
        let width = prop_oneof![Just(f64::NAN), 1e-12..1.0];
        (any::<bool>(), value.clone(), value, width).prop_map(|(log, one, other, width)| {
            let spacing = if log { Spacing::Log } else { Spacing::Linear };
            Domain::new(spacing, one, if width.is_nan() { other } else { one * (1.0 + width) })
        })
    }

    fn check(domain: Domain, intervals: usize) -> Result<(), TestCaseError> {
        let Ticks { labelled, minor } = Ticks::new(&domain, intervals);
        prop_assert!((2..=12).contains(&labelled.len()), "{labelled:?}");
        prop_assert!(labelled.is_sorted_by(|a, b| a.value < b.value), "{labelled:?}");
        prop_assert!(minor.is_sorted_by(|a, b| a < b));
        let all = labelled.iter().map(|tick| tick.value).chain(minor);
        prop_assert!(all.into_iter().all(|value| domain.contains(value)), "{labelled:?}");
        let labels: BTreeSet<&str> = labelled.iter().map(|tick| tick.label.as_str()).collect();
        prop_assert_eq!(labels.len(), labelled.len());
        prop_assert!(labels.iter().all(|label| label.chars().count() <= 20), "{labelled:?}");
        Ok(())
    }

    proptest! {
        #[test]
        fn ticks_are_few_increasing_within_and_distinct(domain in domain(), intervals in 0usize..40) {
            check(domain, intervals)?;
            let wide = widen(domain, intervals);
            prop_assert!(wide.low <= domain.low && domain.high <= wide.high);
            check(wide, intervals)?;
        }
    }

    fn labels(spacing: Spacing, low: f64, high: f64) -> String {
        let ticks = Ticks::new(&Domain::new(spacing, low, high), 6).labelled;
        let labels: Vec<String> = ticks.into_iter().map(|tick| tick.label).collect();
        labels.join(" ").replace('\u{a0}', "")
    }

    #[test]
    fn linear_ticks_are_one_two_five() {
        assert_eq!(labels(Spacing::Linear, 0.0, 1.0), "0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels(Spacing::Linear, 0.0, 365.0), "0 100 200 300");
        assert_eq!(labels(Spacing::Linear, -3.0, 3.0), "−3 −2 −1 0 1 2 3");
    }

    #[test]
    fn log_ticks_are_decades_and_below_two_decades_two_and_five_as_well() {
        assert_eq!(labels(Spacing::Log, 1.0, 1e6), "1 10 100 1,000 10k 100k 1M");
        assert_eq!(labels(Spacing::Log, 3.0, 90.0), "5 10 20 50");
        assert_eq!(labels(Spacing::Log, 2.1, 4.2), "2.5 3.0 3.5 4.0");
        assert_eq!(labels(Spacing::Log, 1e-30, 1e30), "10⁻³⁰ 10⁻²⁰ 10⁻¹⁰ 1 10¹⁰ 10²⁰ 10³⁰");
    }

    #[test]
    fn widening_ends_on_near_ticks_and_wastes_little() {
        let wide = widen(Domain::new(Spacing::Linear, -0.05, 0.82), 5);
        assert!(wide.low > -0.1 && wide.high == 1.0 || wide.high < 0.85, "{wide:?}");
        let wide = widen(Domain::new(Spacing::Linear, 0.001, 365.0), 5);
        assert_eq!((wide.low, wide.high), (0.0, 400.0));
        let wide = widen(Domain::new(Spacing::Linear, 0.13, 0.87), 5);
        assert_eq!((wide.low, wide.high), (0.0, 1.0));
        let wide = widen(Domain::new(Spacing::Log, 0.013, 45.0), 5);
        assert_eq!((wide.low, wide.high), (0.01, 50.0));
        let wide = widen(Domain::new(Spacing::Linear, 0.1, 0.3), 5);
        assert_eq!((wide.low, wide.high), (0.1, 0.3));
    }
}
