//! A printed number, whose digits define its precision.

/// A printed number.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    text: String,
    value: f64,
    unit: f64,
}

/// Tolerance for rounding in the last digit of a calculation.
const SLACK: f64 = 1e-9;
/// Relative tolerance for an exact number.
const EXACT: f64 = 1e-12;

impl Printed {
    /// Parses a printed number, exact to its last digit: `0.84` to hundredths, `101` to whole numbers. A text
    /// that is not a number agrees with nothing.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Self::to(text, 10_f64.powi(-(decimals as i32)))
    }

    /// Parses a printed number with a given precision: `30` to tens.
    #[must_use]
    pub fn to(text: &str, unit: f64) -> Self {
        let value = text.replace(',', "").parse().unwrap_or(f64::NAN);
        Self { text: text.to_owned(), value, unit }
    }

    /// Creates an exact expression with its value, such as `10/36`.
    #[must_use]
    pub fn exact(text: &str, value: f64) -> Self {
        Self { text: text.to_owned(), value, unit: 0.0 }
    }

    /// Returns its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its value.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Returns the unit of the last significant digit; 0 if it is exact.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Returns the smallest and the largest number that it can represent.
    #[must_use]
    pub fn ends(&self) -> (f64, f64) {
        let half = 0.5 * self.unit * (1.0 + SLACK) + EXACT * self.value.abs();
        (self.value - half, self.value + half)
    }

    /// Returns true if a number rounds to it. A number halfway between two may be rounded either way.
    #[must_use]
    pub fn agrees(&self, number: f64) -> bool {
        let (low, high) = self.ends();
        (low..=high).contains(&number)
    }

    /// Returns true if it is truncated instead of rounded.
    #[must_use]
    pub fn is_cut(&self, number: f64) -> bool {
        let cut = (number.abs() / self.unit).floor() * self.unit * number.signum();
        self.unit > 0.0 && !self.agrees(number) && self.agrees(cut)
    }

    /// Decimals with which to show a number beside it: two more than it has, and at least what two
    /// significant digits of its unit need.
    #[must_use]
    pub fn decimals(&self) -> usize {
        if self.unit > 0.0 { (2.0 - self.unit.log10().round()).max(0.0) as usize } else { 6 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &Printed, yes: &[f64], no: &[f64]) {
        for &number in yes {
            assert!(printed.agrees(number), "{printed:?} and {number}");
        }
        for &number in no {
            assert!(!printed.agrees(number), "{printed:?} and {number}");
        }
    }

    #[test]
    fn digits_say_how_exact() {
        check(&Printed::new("0.84"), &[0.84, 0.835, 0.8449], &[0.8349, 0.8451, f64::NAN]);
        check(&Printed::new("101"), &[101.0, 100.6], &[100.0, 102.0, f64::INFINITY]);
        check(&Printed::new("0.40000"), &[0.4, 0.400_004], &[0.400_006]);
        check(&Printed::to("30", 10.0), &[26.4, 34.0], &[24.0, 36.0]);
        check(&Printed::exact("10/36", 10.0 / 36.0), &[0.25 + 1.0 / 36.0], &[0.2778]);
        check(&Printed::exact("0", 0.0), &[0.0], &[1e-300]);
        check(&Printed::new("many"), &[], &[0.0, f64::NAN]);
    }

    #[test]
    fn digits_are_cut_or_rounded() {
        let printed = Printed::new("0.53");
        assert!(printed.is_cut(0.5352));
        for other in [0.5349, 0.5402, 0.5249, f64::NAN] {
            assert!(!printed.is_cut(other), "{other}");
        }
        assert!(Printed::new("-0.53").is_cut(-0.5352));
        assert!(!Printed::exact("1/2", 0.5).is_cut(0.6));
    }

    #[test]
    fn ours_is_shown_with_more_digits() {
        for (text, decimals) in [("0.84", 4), ("101", 2), ("0.16804", 7)] {
            assert_eq!(Printed::new(text).decimals(), decimals);
        }
        assert_eq!(Printed::to("400", 100.0).decimals(), 0);
    }
}
