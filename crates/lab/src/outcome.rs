//! Outcomes of experiments.

use rayon::prelude::*;

use crate::catalogue::Experiment;
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::picture::Picture;
use crate::table::Table;
use crate::verdict::Verdict;

/// Outcome of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The comparisons.
    pub tables: Vec<Table>,
    /// The figure.
    pub picture: Option<Picture>,
    /// Remarks: data and assumptions.
    pub note: String,
}

/// Number of comparisons by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([usize; Verdict::ALL.len()]);

/// An experiment with its outcome.
#[derive(Clone, Debug)]
pub struct Report {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The outcome.
    pub outcome: Outcome,
}

impl Outcome {
    /// Creates an outcome from tables.
    #[must_use]
    pub fn new(tables: impl IntoIterator<Item = Table>) -> Self {
        Self { tables: tables.into_iter().collect(), ..Self::default() }
    }

    /// Adds a figure.
    #[must_use]
    pub fn picture(mut self, picture: Picture) -> Self {
        self.picture = Some(picture);
        self
    }

    /// Adds a remark.
    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        self.note = note.to_owned();
        self
    }

    /// Returns all comparisons, each with its table and its label.
    pub fn comparisons(&self) -> impl Iterator<Item = (&Table, String, &Comparison)> {
        self.tables.iter().flat_map(|table| {
            table.comparisons().map(move |(label, comparison)| (table, label, comparison))
        })
    }

    /// Returns the number of comparisons by verdict.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (_, _, comparison) in self.comparisons() {
            counts.0[comparison.verdict() as usize] += 1;
        }
        counts
    }
}

impl Counts {
    /// Returns the number of comparisons with a verdict.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }

    /// Returns the total number.
    #[must_use]
    pub fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// Returns the worst verdict; `Differs` if nothing was compared.
    #[must_use]
    pub fn worst(&self) -> Verdict {
        let there = |verdict: &&Verdict| self.of(**verdict) > 0;
        Verdict::ALL.iter().rev().find(there).copied().unwrap_or(Verdict::Differs)
    }

    /// Adds other counts.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.0.iter_mut().zip(others.0).for_each(|(own, other)| *own += other);
        self
    }

    /// Formats the counts: `9 reproduced, 1 misprint`.
    #[must_use]
    pub fn words(&self) -> String {
        let some = Verdict::ALL.iter().filter(|&&verdict| self.of(verdict) > 0);
        let words: Vec<String> =
            some.map(|&verdict| format!("{} {verdict}", self.of(verdict))).collect();
        if words.is_empty() { "nothing compared".to_owned() } else { words.join(", ") }
    }
}

/// Runs experiments in parallel on rayon's thread pool. The reports are in the requested order
/// and do not depend on the number of threads. `done` is called with the name of each finished
/// experiment.
///
/// # Errors
/// Returns the first error, with the name of its experiment.
pub fn run_all(
    experiments: &[&'static Experiment],
    done: &(dyn Fn(&'static str) + Sync),
) -> Result<Vec<Report>, (&'static str, LabError)> {
    let one = |experiment: &&'static Experiment| {
        let outcome = (experiment.run)().map_err(|error| (experiment.name, error))?;
        done(experiment.name);
        Ok(Report { experiment, outcome })
    };
    experiments.par_iter().with_max_len(1).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_is_that_of_all() {
        let list = |numbers: &[(u64, u64)]| {
            let lists = numbers.iter().map(|&(printed, ours)| {
                Table::list("").with("a number", Comparison::count(printed, ours))
            });
            Outcome::new(lists).counts()
        };
        let good = list(&[(1, 1), (2, 2)]);
        assert_eq!((good.worst(), good.words()), (Verdict::Reproduced, "2 reproduced".to_owned()));
        let bad = good.and(list(&[(1, 2)]));
        assert_eq!(bad.worst(), Verdict::Differs);
        assert_eq!(bad.words(), "2 reproduced, 1 differs");
        assert_eq!((bad.total(), list(&[]).worst()), (3, Verdict::Differs));
    }
}
