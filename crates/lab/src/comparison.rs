//! Comparison of a printed number or claim with the computed one, which determines the verdict.

use std::ops::RangeInclusive;

use crate::number::{fixed, significant};
use crate::printed::Printed;
use crate::verdict::Verdict;

/// Relative tolerance of two calculations of one formula.
const SAME: f64 = 1e-9;

/// Printed value, computed value and verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    paper: String,
    printed: Option<f64>,
    ours: f64,
    found: String,
    verdict: Verdict,
    note: String,
    /// For a formula: tolerance of equality.
    same: f64,
    /// Unit of the last significant printed digit.
    unit: Option<f64>,
    /// Further evidence: range of the computed number, or independent knowledge.
    range: Option<(f64, f64)>,
    /// Deviation of the printed formula from another calculation.
    deviation: Option<f64>,
}

/// Independent evidence about a number: a proven bound,
/// or a second calculation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Lower end of the range.
    pub low: f64,
    /// Upper end of the range.
    pub high: f64,
    /// Description of the evidence.
    pub by: String,
}

impl Evidence {
    /// Creates evidence from proven bounds.
    #[must_use]
    pub fn between(low: f64, high: f64, by: &str) -> Self {
        Self { low, high, by: by.to_owned() }
    }

    /// Creates evidence from a second calculation with an error bound.
    #[must_use]
    pub fn second(value: f64, error: f64, by: &str) -> Self {
        Self::between(value - error, value + error, by)
    }
}

impl Comparison {
    /// Compares with a printed number, which is reproduced if the computed one rounds to it.
    #[must_use]
    pub fn number(printed: &Printed, ours: f64) -> Self {
        let agrees = printed.agrees(ours);
        Self {
            paper: printed.text().to_owned(),
            printed: Some(printed.value()).filter(|value| value.is_finite()),
            ours,
            // Counts need no decimals.
            found: match ours.fract() == 0.0 && printed.unit() == 1.0 {
                true => fixed(ours, 0),
                false => fixed(ours, printed.decimals()),
            },
            verdict: if agrees { Verdict::Reproduced } else { Verdict::Differs },
            note: String::new(),
            same: SAME,
            unit: Some(printed.unit()),
            range: None,
            deviation: None,
        }
    }

    /// Compares with a printed whole number.
    #[must_use]
    pub fn count(printed: u64, ours: u64) -> Self {
        let number = Self::number(&Printed::new(&printed.to_string()), ours as f64);
        Self { found: ours.to_string(), ..number }
    }

    /// Compares a printed upper bound with the largest computed value.
    #[must_use]
    pub fn at_most(printed: &Printed, ours: f64) -> Self {
        let number = Self::number(printed, ours);
        let holds = ours <= printed.ends().1;
        Self {
            paper: format!("at most {}", printed.text()),
            verdict: if holds { Verdict::Shape } else { Verdict::Differs },
            range: Some((f64::NEG_INFINITY, printed.ends().1)),
            ..number
        }
    }

    /// Compares with a printed number that may be a misprint: it is one
    /// if the evidence rules out every number that rounds to it, includes the computed one, and is
    /// narrow enough to determine the correct value.
    #[must_use]
    pub fn or_misprint(mut self, printed: &Printed, evidence: &Evidence, why: &str) -> Self {
        if self.verdict != Verdict::Differs {
            return self;
        }
        let Evidence { low, high, by } = evidence;
        let (from, to) = printed.ends();
        let ruled_out = *high < from || *low > to;
        let ours_fits = (*low..=*high).contains(&self.ours);
        let narrow = high - low <= printed.unit().max(SAME * self.ours.abs());
        if ruled_out && ours_fits && narrow {
            self.verdict = Verdict::Misprint;
            self.range = Some((*low, *high));
            self.note = join(&[why, by, &self.note]);
        } else if !ours_fits {
            self.note = format!("ours contradicts {by}: {} to {}", shown(*low), shown(*high));
        }
        self
    }

    /// Compares with a number that the paper determines only up to a range: not determinable if the range
    /// includes both numbers.
    #[must_use]
    pub fn or_open(mut self, printed: &Printed, range: RangeInclusive<f64>, missing: &str) -> Self {
        let (low, high) = (*range.start(), *range.end());
        let (from, to) = printed.ends();
        let both = low <= to && high >= from && range.contains(&self.ours);
        if self.verdict == Verdict::Differs && both {
            self.verdict = Verdict::NotDeterminable;
            self.range = Some((low, high));
            let digits = printed.decimals().saturating_sub(1);
            let (low, high) = (fixed(low, digits), fixed(high, digits));
            self.note = format!("{low} to {high} fit; missing: {missing}");
        }
        self
    }

    /// Compares with a number that the paper leaves open: the range that fits must include the printed
    /// number and be wider than its last digit. A narrower range that includes it reproduces it.
    #[must_use]
    pub fn open(printed: &Printed, range: &RangeInclusive<f64>, missing: &str) -> Self {
        let (low, high) = (*range.start(), *range.end());
        let (from, to) = printed.ends();
        let holds = low <= to && high >= from && low <= high;
        let narrow = from <= low && high <= to;
        let digits = printed.decimals().saturating_sub(1);
        Self {
            paper: printed.text().to_owned(),
            printed: Some(printed.value()).filter(|value| value.is_finite()),
            ours: f64::NAN,
            found: format!("{} to {}", fixed(low, digits), fixed(high, digits)),
            verdict: match (holds, narrow) {
                (false, _) => Verdict::Differs,
                (true, true) => Verdict::Reproduced,
                (true, false) => Verdict::NotDeterminable,
            },
            note: if holds && !narrow { format!("missing: {missing}") } else { String::new() },
            same: SAME,
            unit: Some(printed.unit()),
            range: Some((low, high)),
            deviation: None,
        }
    }

    /// Checks a claim about a number, as a range in which it must lie.
    #[must_use]
    pub fn shape(claim: &str, ours: f64, range: RangeInclusive<f64>) -> Self {
        let holds = range.contains(&ours);
        Self {
            ours,
            range: Some((*range.start(), *range.end())),
            ..Self::property(claim, &significant(ours), holds)
        }
    }

    /// Checks a claim about a number that the paper leaves open: the shape holds if it holds
    /// for every number that fits, and is not determinable if it holds for some only.
    #[must_use]
    pub fn open_shape(
        claim: &str,
        fitting: &[f64],
        range: &RangeInclusive<f64>,
        missing: &str,
    ) -> Self {
        let holds = fitting.iter().filter(|ours| range.contains(ours)).count();
        let shown: Vec<String> = fitting.iter().map(|&ours| significant(ours)).collect();
        let mut own =
            Self::property(claim, &shown.join(" or "), holds > 0 && holds == fitting.len());
        if holds > 0 && holds < fitting.len() {
            own.verdict = Verdict::NotDeterminable;
            own.note = format!("it depends; missing: {missing}");
        }
        own
    }

    /// Records a checked claim, with the finding and whether it holds.
    #[must_use]
    pub fn property(claim: &str, found: &str, holds: bool) -> Self {
        Self {
            paper: claim.to_owned(),
            printed: None,
            ours: f64::NAN,
            found: found.to_owned(),
            verdict: if holds { Verdict::Shape } else { Verdict::Differs },
            note: String::new(),
            same: SAME,
            unit: None,
            range: None,
            deviation: None,
        }
    }

    /// Compares with a printed formula, which is reproduced if it agrees with another calculation to nine
    /// digits; `deviation` is the largest relative difference.
    #[must_use]
    pub fn formula(printed: &str, deviation: f64) -> Self {
        Self::formula_within(printed, deviation, SAME)
    }

    /// As [`formula`](Self::formula), for a less accurate calculation such as a limit.
    #[must_use]
    pub fn formula_within(printed: &str, deviation: f64, same: f64) -> Self {
        let agrees = deviation <= same;
        Self {
            paper: printed.to_owned(),
            printed: None,
            ours: deviation,
            found: if deviation == 0.0 {
                "exact".into()
            } else {
                format!("within {deviation:.0e}")
            },
            verdict: if agrees { Verdict::Reproduced } else { Verdict::Differs },
            note: String::new(),
            same,
            unit: None,
            range: Some((0.0, same)),
            deviation: Some(deviation),
        }
    }

    /// Compares with a printed formula that may be wrong: a misprint if a corrected one agrees
    /// with another calculation and the printed one does not.
    #[must_use]
    pub fn or_formula(mut self, corrected: &str, deviation: f64, by: &str) -> Self {
        if self.verdict == Verdict::Differs && deviation <= self.same {
            self.verdict = Verdict::Misprint;
            let off = significant(self.ours);
            self.note = format!("as printed it is off by {off}, relatively; ours agrees with {by}");
            self.ours = deviation;
            self.found = corrected.to_owned();
        }
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        self.note = join(&[&self.note, note]);
        self
    }

    /// Sets the text of the computed value, for example with a unit.
    #[must_use]
    pub fn found_as(mut self, found: &str) -> Self {
        self.found = found.to_owned();
        self
    }

    /// Returns the printed number, formula or claim.
    #[must_use]
    pub fn paper(&self) -> &str {
        &self.paper
    }

    /// Returns the printed number, if it is one.
    #[must_use]
    pub fn printed(&self) -> Option<f64> {
        self.printed
    }

    /// Returns the computed number, if any.
    #[must_use]
    pub fn ours(&self) -> Option<f64> {
        Some(self.ours).filter(|ours| !ours.is_nan())
    }

    /// Returns the unit of the last significant printed digit; 0 for an exact number, `None` if it is not a
    /// number.
    #[must_use]
    pub fn unit(&self) -> Option<f64> {
        self.unit
    }

    /// Returns the range of the evidence: for a shape or a formula, the range of the computed number; for a
    /// misprint, that of a proof or a second calculation; for an undetermined number, the
    /// numbers that fit.
    #[must_use]
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// Returns the deviation of a printed formula from another calculation. The formula is reproduced if it is in the
    /// range, and a misprint if only the deviation of the corrected formula (the computed number)
    /// is.
    #[must_use]
    pub fn printed_deviation(&self) -> Option<f64> {
        self.deviation
    }

    /// Returns the finding as text.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the verdict.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the reason and remarks.
    #[must_use]
    pub fn remark(&self) -> &str {
        &self.note
    }
}

fn shown(number: f64) -> String {
    significant(number)
}

fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(comparison: &Comparison, expect: Verdict) {
        assert_eq!(comparison.verdict(), expect, "{comparison:?}");
    }

    #[test]
    fn a_number_is_reproduced_or_differs() {
        let printed = Printed::new("0.84");
        check(&Comparison::number(&printed, 0.8351), Verdict::Reproduced);
        check(&Comparison::number(&printed, 0.8349), Verdict::Differs);
        check(&Comparison::number(&printed, f64::NAN), Verdict::Differs);
        check(&Comparison::count(7, 7), Verdict::Reproduced);
        check(&Comparison::count(8, 7), Verdict::Differs);
    }

    #[test]
    fn a_misprint_needs_a_proof() {
        let printed = Printed::new("0.84");
        let with = |ours: f64, low: f64, high: f64| {
            let evidence = Evidence::between(low, high, "a proof");
            Comparison::number(&printed, ours).or_misprint(&printed, &evidence, "why")
        };
        check(&with(0.8349, 0.8348, 0.8350 - 1e-6), Verdict::Misprint);
        // The evidence allows the printed number, contradicts the computed one, or is too weak.
        check(&with(0.8349, 0.8348, 0.8352), Verdict::Differs);
        check(&with(0.8349, 0.8340, 0.8345), Verdict::Differs);
        check(&with(0.8349, 0.1, 0.8350 - 1e-6), Verdict::Differs);
        check(&with(0.8349, f64::NAN, f64::NAN), Verdict::Differs);
        // A correct number needs no proof.
        check(&with(0.8351, 0.1, 0.2), Verdict::Reproduced);
    }

    #[test]
    fn a_bound_holds_or_is_refuted() {
        let printed = Printed::new("1.05");
        let evidence = Evidence::second(1.109, 1e-3, "a proof");
        let with =
            |ours: f64| Comparison::at_most(&printed, ours).or_misprint(&printed, &evidence, "why");
        check(&with(1.01), Verdict::Shape);
        check(&with(1.109), Verdict::Misprint);
        check(&with(1.2), Verdict::Differs);
        check(&with(f64::NAN), Verdict::Differs);
    }

    #[test]
    fn what_is_open_must_be_open() {
        let printed = Printed::new("0.12");
        let open = |low: f64, high: f64| Comparison::open(&printed, &(low..=high), "data");
        check(&open(0.10, 0.14), Verdict::NotDeterminable);
        check(&open(0.119, 0.121), Verdict::Reproduced);
        check(&open(0.13, 0.14), Verdict::Differs);
        check(&open(f64::NAN, 0.14), Verdict::Differs);
        let or_open = |ours: f64, low: f64, high: f64| {
            Comparison::number(&printed, ours).or_open(&printed, low..=high, "data")
        };
        check(&or_open(0.129, 0.12, 0.14), Verdict::NotDeterminable);
        check(&or_open(0.129, 0.126, 0.14), Verdict::Differs);
        check(&or_open(0.15, 0.12, 0.14), Verdict::Differs);
        check(&or_open(0.121, 0.12, 0.14), Verdict::Reproduced);
    }

    #[test]
    fn shapes_hold_or_differ() {
        check(&Comparison::shape("above 1", 1.5, 1.0..=f64::INFINITY), Verdict::Shape);
        check(&Comparison::shape("above 1", 0.5, 1.0..=f64::INFINITY), Verdict::Differs);
        check(&Comparison::shape("above 1", f64::NAN, 1.0..=f64::INFINITY), Verdict::Differs);
        let open = |fitting: &[f64]| Comparison::open_shape("above 1", fitting, &(1.0..=9.0), "");
        check(&open(&[2.0, 3.0]), Verdict::Shape);
        check(&open(&[2.0, 0.5]), Verdict::NotDeterminable);
        check(&open(&[0.5, 0.2]), Verdict::Differs);
        check(&open(&[]), Verdict::Differs);
        check(&Comparison::property("rises", "it does", true), Verdict::Shape);
        check(&Comparison::property("rises", "it falls at 3", false), Verdict::Differs);
    }

    #[test]
    fn formulas_are_right_or_mended_or_differ() {
        check(&Comparison::formula("1/(1 + r)", 1e-15), Verdict::Reproduced);
        check(&Comparison::formula("1/(1 + r)", 1e-3), Verdict::Differs);
        check(&Comparison::formula("1/(1 + r)", f64::NAN), Verdict::Differs);
        let mended = |first: f64, second: f64| {
            Comparison::formula("a", first).or_formula("b", second, "a sum")
        };
        check(&mended(1e-3, 1e-14), Verdict::Misprint);
        let own = mended(1e-3, 1e-14);
        assert_eq!((own.printed_deviation(), own.ours()), (Some(1e-3), Some(1e-14)));
        assert_eq!(own.range(), Some((0.0, SAME)));
        check(&mended(1e-3, 1e-3), Verdict::Differs);
        check(&mended(1e-3, f64::NAN), Verdict::Differs);
        check(&mended(1e-14, 1e-14), Verdict::Reproduced);
    }
}
