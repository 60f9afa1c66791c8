use rand::{Rng, RngExt};

use crate::{CaptureError, Changes};

/// Probability that each page changes in each instant, validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Chances {
    pages: usize,
    instants: usize,
    /// Stored by instant, the order in which schedules are built.
    values: Vec<f64>,
}

impl Chances {
    /// Creates a table from one row per instant, with one probability per page.
    ///
    /// # Errors
    ///
    /// Returns an error if a probability is not in [0, 1], or a row is incomplete.
    pub fn new(pages: usize, values: Vec<f64>) -> Result<Self, CaptureError> {
        let instants = values.len().checked_div(pages).unwrap_or(0);
        if pages * instants != values.len() {
            return Err(CaptureError::Ragged { values: values.len(), pages });
        }
        fits(pages, instants)?;
        for (instant, row) in values.chunks_exact(pages.max(1)).enumerate() {
            check_row(row, instant)?;
        }
        Ok(Self { pages, instants, values })
    }

    /// Creates a table from computed probabilities without validation.
    pub(crate) fn from_parts(pages: usize, instants: usize, values: Vec<f64>) -> Self {
        debug_assert_eq!(pages * instants, values.len());
        Self { pages, instants, values }
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Returns the number of instants.
    #[must_use]
    pub fn instants(&self) -> usize {
        self.instants
    }

    /// Returns the probabilities of all pages in an instant.
    ///
    /// # Panics
    ///
    /// Panics if the instant does not exist.
    #[must_use]
    pub fn at(&self, instant: usize) -> &[f64] {
        &self.values[instant * self.pages..(instant + 1) * self.pages]
    }

    /// Returns the probabilities by instant, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        (0..self.instants).map(|instant| self.at(instant))
    }

    /// Draws changes with these probabilities, independently.
    pub fn draw(&self, random: &mut impl Rng) -> Changes {
        let mut rows = vec![Vec::new(); self.pages];
        for (row, instant) in self.iter().zip(0..) {
            for (&chance, changes) in row.iter().zip(&mut rows) {
                if random.random::<f64>() < chance {
                    changes.push(instant);
                }
            }
        }
        Changes::from_rows(self.instants, rows)
    }
}

/// Returns true if there is one probability per page, each in [0, 1].
pub(crate) fn check_row(row: &[f64], instant: usize) -> Result<(), CaptureError> {
    match row.iter().position(|chance| !(0.0..=1.0).contains(chance)) {
        Some(page) => Err(CaptureError::Chance { page, instant, chance: row[page] }),
        None => Ok(()),
    }
}

/// Checks that the numbers of pages and instants fit in 32 bits.
pub(crate) fn fits(pages: usize, instants: usize) -> Result<(), CaptureError> {
    for (what, count) in [("pages", pages), ("instants", instants)] {
        if u32::try_from(count).is_err() {
            return Err(CaptureError::TooMany { what, count });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_chances_are_named() {
        let error = |pages, values: &[f64]| Chances::new(pages, values.to_vec()).unwrap_err();
        assert_eq!(error(2, &[0.5; 3]), CaptureError::Ragged { values: 3, pages: 2 });
        assert_eq!(error(0, &[0.5]), CaptureError::Ragged { values: 1, pages: 0 });
        assert_eq!(
            error(2, &[0.0, 1.0, 0.5, 1.5]),
            CaptureError::Chance { page: 1, instant: 1, chance: 1.5 }
        );
        assert_eq!(
            error(1, &[f64::NAN]).to_string(),
            "chance of page 0 at instant 0 is not between 0 and 1: NaN"
        );
        assert_eq!(Chances::new(0, Vec::new()).unwrap().instants(), 0);
    }
}
