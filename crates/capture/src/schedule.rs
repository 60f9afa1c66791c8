use crate::captured::Captured;
use crate::chances::fits;
use crate::{CaptureError, Chances, Changes, Page, Pending};

/// Pages to fetch at each instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pages: usize,
    /// Pages by instant, in order.
    fetched: Vec<u32>,
    /// End of the fetches of each instant.
    ends: Vec<usize>,
}

impl Schedule {
    /// Creates a schedule from the pages of each instant, in any order.
    ///
    /// # Errors
    ///
    /// Returns an error if a page does not exist, or is fetched twice in an instant.
    pub fn new(pages: usize, instants: Vec<Vec<u32>>) -> Result<Self, CaptureError> {
        fits(pages, instants.len())?;
        let mut schedule = Self::empty(pages);
        for (instant, mut fetched) in instants.into_iter().enumerate() {
            fetched.sort_unstable();
            if let Some(twice) = fetched.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(CaptureError::Twice { instant, page: twice[0] });
            }
            if let Some(&page) = fetched.last().filter(|&&last| last as usize >= pages) {
                return Err(CaptureError::NoSuchPage { instant, page, pages });
            }
            schedule.add(&fetched);
        }
        Ok(schedule)
    }

    pub(crate) fn empty(pages: usize) -> Self {
        Self { pages, fetched: Vec::new(), ends: Vec::new() }
    }

    /// Adds an instant with sorted pages.
    pub(crate) fn add(&mut self, fetched: &[u32]) {
        self.fetched.extend_from_slice(fetched);
        self.ends.push(self.fetched.len());
    }

    /// Returns the number of pages, fetched or not.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Returns the number of instants.
    #[must_use]
    pub fn instants(&self) -> usize {
        self.ends.len()
    }

    /// Returns the total number of fetches.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.fetched.len()
    }

    /// Returns the pages of an instant, in order.
    ///
    /// # Panics
    ///
    /// Panics if the instant does not exist.
    #[must_use]
    pub fn at(&self, instant: usize) -> &[u32] {
        let start = if instant == 0 { 0 } else { self.ends[instant - 1] };
        &self.fetched[start..self.ends[instant]]
    }

    /// Returns the pages by instant, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.instants()).map(|instant| self.at(instant))
    }

    /// Returns the total worth that this schedule is expected to capture with the given probabilities
    /// (WIC §2.2).
    ///
    /// # Errors
    ///
    /// Returns an error if the number of pages or instants differs from that of the schedule.
    pub fn expected(&self, pages: &[Page], chances: &Chances) -> Result<f64, CaptureError> {
        self.check(pages.len(), chances.pages(), chances.instants())?;
        let pending = |page: &Page| Pending::new(page.life(), page.urgency());
        let mut pending: Vec<Pending> = pages.iter().map(pending).collect();
        let mut expected = 0.0;
        for (row, fetched) in chances.iter().zip(self.iter()) {
            for (pending, &chance) in pending.iter_mut().zip(row) {
                pending.pass(chance);
            }
            for &page in fetched {
                let page = page as usize;
                expected += pages[page].weight() * pending[page].worth();
                pending[page].fetch();
            }
        }
        Ok(expected)
    }

    /// Returns what this schedule captures of the given changes.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of pages or instants differs from that of the schedule.
    pub fn captured(&self, pages: &[Page], changes: &Changes) -> Result<Captured, CaptureError> {
        self.check(pages.len(), changes.pages(), changes.instants())?;
        let mut captured = Captured::nothing_of(pages, changes);
        let mut seen = vec![0; pages.len()];
        for (fetched, now) in self.iter().zip(0..) {
            for &page in fetched {
                let page = page as usize;
                let times = &changes.of(page)[seen[page]..];
                let new = times.partition_point(|&time| time <= now);
                captured.fetch(pages[page], &times[..new], now);
                seen[page] += new;
            }
        }
        Ok(captured)
    }

    fn check(&self, pages: usize, other: usize, instants: usize) -> Result<(), CaptureError> {
        for found in [pages, other] {
            if found != self.pages {
                return Err(CaptureError::Pages { expected: self.pages, found });
            }
        }
        if instants != self.instants() {
            return Err(CaptureError::Instants { expected: self.instants(), found: instants });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_fetches_are_named() {
        let error = |instants| Schedule::new(3, instants).unwrap_err();
        assert_eq!(
            error(vec![vec![0], vec![2, 3]]),
            CaptureError::NoSuchPage { instant: 1, page: 3, pages: 3 }
        );
        assert_eq!(error(vec![vec![1, 0, 1]]), CaptureError::Twice { instant: 0, page: 1 });
    }

    #[test]
    fn others_must_speak_of_the_same_pages_and_instants() {
        let pages = [Page::cam(1.0).unwrap(); 2];
        let schedule = Schedule::new(2, vec![vec![1], vec![]]).unwrap();
        let chances = |pages, instants| Chances::new(pages, vec![0.5; pages * instants]).unwrap();
        let expected = |pages: &[Page], chances| schedule.expected(pages, &chances);
        assert_eq!(expected(&pages, chances(2, 2)), Ok(0.5));
        let few = Err(CaptureError::Pages { expected: 2, found: 1 });
        assert_eq!(expected(&pages[1..], chances(2, 2)), few);
        assert_eq!(expected(&pages, chances(1, 2)), few);
        let long = CaptureError::Instants { expected: 2, found: 3 };
        assert_eq!(expected(&pages, chances(2, 3)), Err(long.clone()));
        let changes = Changes::new(3, vec![vec![], vec![]]).unwrap();
        assert_eq!(schedule.captured(&pages, &changes), Err(long));
    }
}
