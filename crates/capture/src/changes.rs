use crate::chances::fits;
use crate::{CaptureError, Chances};

/// Changes of pages: instants in order for each page. Several changes of a page in one instant
/// count as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    instants: usize,
    /// Instants by page.
    times: Vec<u32>,
    /// End of the instants of each page.
    ends: Vec<usize>,
}

impl Changes {
    /// Creates changes from the instants of each page, in any order, counted from 0.
    ///
    /// # Errors
    ///
    /// Returns an error if a change is after the last instant.
    pub fn new(instants: usize, mut pages: Vec<Vec<u32>>) -> Result<Self, CaptureError> {
        fits(pages.len(), instants)?;
        for (page, times) in pages.iter_mut().enumerate() {
            times.sort_unstable();
            times.dedup();
            if let Some(&instant) = times.last().filter(|&&last| last as usize >= instants) {
                return Err(CaptureError::NoSuchInstant { page, instant, instants });
            }
        }
        Ok(Self::from_rows(instants, pages))
    }

    /// Creates changes from sorted instants.
    pub(crate) fn from_rows(instants: usize, pages: Vec<Vec<u32>>) -> Self {
        let ends = pages.iter().scan(0, |end, times| {
            *end += times.len();
            Some(*end)
        });
        let ends = ends.collect();
        Self { instants, times: pages.concat(), ends }
    }

    /// Returns the number of pages.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of instants.
    #[must_use]
    pub fn instants(&self) -> usize {
        self.instants
    }

    /// Returns the total number of changes.
    #[must_use]
    pub fn total(&self) -> usize {
        self.times.len()
    }

    /// Returns the instants at which a page changed.
    ///
    /// # Panics
    ///
    /// Panics if the page does not exist.
    #[must_use]
    pub fn of(&self, page: usize) -> &[u32] {
        let start = if page == 0 { 0 } else { self.ends[page - 1] };
        &self.times[start..self.ends[page]]
    }

    /// Returns the changes by page, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.pages()).map(|page| self.of(page))
    }

    /// Returns the probabilities with hindsight: 1 where a page changes, otherwise 0.
    #[must_use]
    pub fn chances(&self) -> Chances {
        let pages = self.pages();
        let mut values = vec![0.0; pages * self.instants];
        for (page, times) in self.iter().enumerate() {
            times.iter().for_each(|&time| values[time as usize * pages + page] = 1.0);
        }
        Chances::from_parts(pages, self.instants, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_put_in_order_and_once() {
        let changes = Changes::new(5, vec![vec![4, 0, 4], vec![], vec![2]]).unwrap();
        let rows: Vec<&[u32]> = changes.iter().collect();
        assert_eq!(rows, [&[0, 4][..], &[], &[2]]);
        assert_eq!((changes.pages(), changes.instants(), changes.total()), (3, 5, 3));
        assert_eq!(changes.chances().at(4), [1.0, 0.0, 0.0]);
        assert_eq!(changes.chances().at(2), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_change_after_the_end_is_named() {
        assert_eq!(
            Changes::new(5, vec![vec![], vec![1, 5]]).unwrap_err().to_string(),
            "page 1 changes at instant 5, but there are 5 instants"
        );
    }
}
