use crate::best::Best;
use crate::chances::check_row;
use crate::{CaptureError, Chances, Page, Pending, Schedule};

/// WIC, instant by instant: fetches the C pages with the highest value of a fetch; among equal values, the
/// first. A page with value zero is never fetched.
///
/// The probabilities of an instant are needed only when that instant comes.
#[derive(Clone, Debug)]
pub struct Greedy {
    pages: Vec<(f64, Pending)>,
    best: Best,
    instant: usize,
    expected: f64,
}

impl Greedy {
    /// Creates the algorithm for pages that were all just fetched, with `capacity` fetches per instant.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more than 2³² − 1 pages.
    pub fn new(pages: &[Page], capacity: usize) -> Result<Self, CaptureError> {
        crate::chances::fits(pages.len(), 0)?;
        let pending = |page: &Page| (page.weight(), Pending::new(page.life(), page.urgency()));
        let best = Best::new(capacity.min(pages.len()));
        Ok(Self { pages: pages.iter().map(pending).collect(), best, instant: 0, expected: 0.0 })
    }

    /// Processes the next instant: takes the probability of a change of each page and returns the pages to fetch,
    /// in order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one probability in [0, 1] per page. The state is then unchanged.
    pub fn step(&mut self, chances: &[f64]) -> Result<&[u32], CaptureError> {
        if chances.len() != self.pages.len() {
            return Err(CaptureError::Pages { expected: self.pages.len(), found: chances.len() });
        }
        check_row(chances, self.instant)?;
        Ok(self.pass(chances))
    }

    /// As [`next`](Self::next), for validated probabilities.
    fn pass(&mut self, chances: &[f64]) -> &[u32] {
        for (((weight, pending), &chance), page) in self.pages.iter_mut().zip(chances).zip(0..) {
            self.best.offer(*weight * pending.pass(chance), page);
        }
        let (fetched, worth) = self.best.take();
        for &page in fetched {
            self.pages[page as usize].1.fetch();
        }
        self.instant += 1;
        self.expected += worth;
        fetched
    }

    /// Drops the pending changes of a page, as if it had just been fetched.
    ///
    /// # Errors
    ///
    /// Panics if the page does not exist.
    pub fn forget(&mut self, page: u32) -> Result<(), CaptureError> {
        let pages = self.pages.len();
        match self.pages.get_mut(page as usize) {
            Some((_, pending)) => {
                pending.fetch();
                Ok(())
            }
            None => Err(CaptureError::NoSuchPage { instant: self.instant, page, pages }),
        }
    }

    /// Returns the expected worth captured by all fetches so far.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.expected
    }
}

/// Returns WIC's schedule for pages with the given probabilities, with up to `capacity` fetches per instant.
///
/// # Errors
///
/// Returns an error if the number of pages differs from that of the probabilities.
pub fn greedy(
    pages: &[Page],
    chances: &Chances,
    capacity: usize,
) -> Result<Schedule, CaptureError> {
    if pages.len() != chances.pages() {
        return Err(CaptureError::Pages { expected: pages.len(), found: chances.pages() });
    }
    let mut greedy = Greedy::new(pages, capacity)?;
    let mut schedule = Schedule::empty(pages.len());
    for row in chances.iter() {
        schedule.add(greedy.pass(row));
    }
    Ok(schedule)
}

/// Returns the largest ratio of the expected worth of any schedule to that of [`greedy`]: 1 + a,
/// where a is the largest share of the worth of a pending change that remains after an instant
/// (WIC, Theorem 1).
///
/// The ratio is 1, so that greedy is optimal, if changes count in their own instant only, by their urgency
/// or, beyond the paper, by their life. It is 1 + r for decay, and at most 2.
///
/// The bound is tight: of two pages that change at once, one permanently and one for this instant only,
/// greedy may take the wrong one and capture half.
#[must_use]
pub fn bound(pages: &[Page]) -> f64 {
    1.0 + pages.iter().map(|page| page.carry()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_not_fetched() {
        let pages = [
            Page::cam(2.0).unwrap(),
            Page::new(1.0, crate::Life::Append, crate::Urgency::Uniform).unwrap(),
        ];
        let mut greedy = Greedy::new(&pages, 1).unwrap();
        assert_eq!(greedy.step(&[0.5, 0.5]), Ok(&[0][..]));
        greedy.forget(1).unwrap();
        assert_eq!(greedy.step(&[0.0, 0.0]), Ok(&[][..]));
        let error = CaptureError::NoSuchPage { instant: 2, page: 2, pages: 2 };
        assert_eq!(greedy.forget(2), Err(error));
    }
}
