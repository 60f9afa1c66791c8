//! Parameters: rates, buffer and starvation weight.

use crate::CrewError;

/// Largest ratio of two parameters whose sum has significant digits of both.
const FURTHEST: f64 = 1e18;

/// Fetchers that feed a bounded queue, and one processor that drains it (Liu & Nain 2006, §1.2).
///
/// An active fetcher brings pages as a Poisson process; the time to process a page is
/// exponential. A page that arrives at a full queue is lost. Rates are in any common unit of time.
///
/// The cost is γ × (share of time in which the queue is empty) + (pages lost per unit of time), so γ
/// is the number of lost pages that is as bad as an empty queue for one unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    fetch_rate: f64,
    process_rate: f64,
    buffer: u32,
    starvation_weight: f64,
}

impl Setting {
    /// Creates parameters: `fetch_rate` is λ of one active fetcher, `process_rate` μ, `buffer` K including the page in work,
    /// `starvation_weight` γ.
    pub fn new(
        fetch_rate: f64,
        process_rate: f64,
        buffer: u32,
        starvation_weight: f64,
    ) -> Result<Self, CrewError> {
        let positive = |rate: f64| rate > 0.0 && rate.is_finite();
        if !positive(fetch_rate) {
            return Err(CrewError::FetchRate(fetch_rate));
        }
        if !positive(process_rate) {
            return Err(CrewError::ProcessRate(process_rate));
        }
        if !(starvation_weight >= 0.0 && starvation_weight.is_finite()) {
            return Err(CrewError::StarvationWeight(starvation_weight));
        }
        if buffer == 0 {
            return Err(CrewError::NoRoom);
        }
        let ratio = |value: f64| value / process_rate;
        let apart = |what, value| CrewError::Apart { what, value, process_rate };
        if !(1.0 / FURTHEST..FURTHEST).contains(&ratio(fetch_rate)) {
            return Err(apart("the rate of a fetcher", fetch_rate));
        }
        let weight = ratio(starvation_weight);
        if starvation_weight > 0.0 && !(1.0 / FURTHEST..FURTHEST).contains(&weight) {
            return Err(apart("the weight of starvation", starvation_weight));
        }
        Ok(Self { fetch_rate, process_rate, buffer, starvation_weight })
    }

    /// Returns λ, the pages per unit of time of one active fetcher.
    #[must_use]
    pub fn fetch_rate(&self) -> f64 {
        self.fetch_rate
    }

    /// Returns μ, the pages per unit of time that the processor takes.
    #[must_use]
    pub fn process_rate(&self) -> f64 {
        self.process_rate
    }

    /// Returns K, the capacity of the queue including the page in work.
    #[must_use]
    pub fn buffer(&self) -> u32 {
        self.buffer
    }

    /// Returns γ, the cost of an empty queue per unit of time, in lost pages.
    #[must_use]
    pub fn starvation_weight(&self) -> f64 {
        self.starvation_weight
    }

    /// Returns λ/μ, the pages that one active fetcher brings per processed page.
    pub(crate) fn fetched(&self) -> f64 {
        self.fetch_rate / self.process_rate
    }

    /// Returns γ/μ, the weight if the unit of time is one processed page.
    pub(crate) fn weight(&self) -> f64 {
        self.starvation_weight / self.process_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rates: (f64, f64), buffer: u32, weight: f64, expect: Option<CrewError>) {
        assert_eq!(Setting::new(rates.0, rates.1, buffer, weight).err(), expect);
    }

    #[test]
    fn only_numbers_that_make_sense_are_taken() {
        check((0.05, 1.0), 10, 1.2, None);
        check((1e-9, 1e9), 1, 0.0, None);
        check((0.0, 1.0), 10, 1.2, Some(CrewError::FetchRate(0.0)));
        check((-1.0, 1.0), 10, 1.2, Some(CrewError::FetchRate(-1.0)));
        check((0.05, f64::INFINITY), 10, 1.2, Some(CrewError::ProcessRate(f64::INFINITY)));
        check((0.05, 1.0), 10, -0.1, Some(CrewError::StarvationWeight(-0.1)));
        check((0.05, 1.0), 0, 1.2, Some(CrewError::NoRoom));
        let apart =
            CrewError::Apart { what: "the rate of a fetcher", value: 1e-200, process_rate: 1.0 };
        check((1e-200, 1.0), 10, 1.2, Some(apart));
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        assert!(Setting::new(f64::NAN, 1.0, 1, 1.0).is_err());
        assert!(Setting::new(1.0, f64::NAN, 1, 1.0).is_err());
        assert!(Setting::new(1.0, 1.0, 1, f64::NAN).is_err());
    }
}
