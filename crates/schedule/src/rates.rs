use crate::ScheduleError;

/// Validated column of rates in fetches per slot: finite, not negative, with a sum of at most 1. A
/// source with rate 0 is never fetched.
#[derive(Clone, Copy, Debug)]
pub struct Rates<'a> {
    column: &'a [f64],
    sum: f64,
}

impl<'a> Rates<'a> {
    /// Allowed excess of the sum of the rates over 1: the rounding error of a column of ten million
    /// rates.
    pub const EXCESS: f64 = 1e-9;

    /// Validates a column.
    pub fn new(column: &'a [f64]) -> Result<Self, ScheduleError> {
        if column.len() >= u32::MAX as usize {
            return Err(ScheduleError::TooManySources { sources: column.len() });
        }
        for (source_index, &rate) in column.iter().enumerate() {
            if rate.is_nan() {
                return Err(ScheduleError::NotANumber { source_index });
            } else if rate < 0.0 {
                return Err(ScheduleError::Negative { source_index, rate });
            } else if rate.is_infinite() {
                return Err(ScheduleError::Infinite { source_index });
            }
        }
        let sum = sum(column);
        if sum > 1.0 + Self::EXCESS {
            return Err(ScheduleError::Oversubscribed { sum });
        }
        Ok(Self { column, sum })
    }

    /// Returns the column.
    pub fn as_slice(self) -> &'a [f64] {
        self.column
    }

    /// Returns the sum of all rates, in fetches per slot.
    pub fn sum(self) -> f64 {
        self.sum
    }

    /// Returns the share of idle slots.
    pub(crate) fn idle_share(self) -> f64 {
        (1.0 - self.sum).max(0.0)
    }

    /// Returns the sources with a positive rate.
    pub(crate) fn positive(self) -> impl Iterator<Item = (u32, f64)> + 'a {
        let indexed = self.column.iter().enumerate();
        indexed.filter(|&(_, &rate)| rate > 0.0).map(|(source, &rate)| (source as u32, rate))
    }
}

/// Sums by Neumaier's algorithm, whose error does not grow with the number of terms.
fn sum(column: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &term in column {
        let next = sum + term;
        lost += if sum >= term { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    if sum.is_finite() { sum + lost } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(column: &[f64], expect: ScheduleError) {
        assert_eq!(Rates::new(column).unwrap_err(), expect);
    }

    #[test]
    fn bad_rates_are_named() {
        refused(&[0.1, f64::NAN], ScheduleError::NotANumber { source_index: 1 });
        refused(&[-0.25], ScheduleError::Negative { source_index: 0, rate: -0.25 });
        refused(&[0.0, 0.0, f64::INFINITY], ScheduleError::Infinite { source_index: 2 });
        refused(&[0.75, 0.5], ScheduleError::Oversubscribed { sum: 1.25 });
        refused(&[f64::MAX, f64::MAX], ScheduleError::Oversubscribed { sum: f64::INFINITY });
    }

    #[test]
    fn rounding_is_no_fault() {
        for n in [3, 7, 10, 49, 1_000_003] {
            let column = vec![1.0 / n as f64; n];
            assert!((Rates::new(&column).unwrap().sum() - 1.0).abs() < 1e-15);
        }
        assert!(Rates::new(&[1.0, 1e-12]).is_ok());
        assert_eq!(Rates::new(&[]).unwrap().sum(), 0.0);
    }

    #[test]
    fn the_sum_loses_no_small_rates() {
        let mut column = vec![1e-17; 1_000_001];
        column[0] = 0.5;
        assert!((Rates::new(&column).unwrap().sum() - (0.5 + 1e-11)).abs() < 1e-16);
    }
}
