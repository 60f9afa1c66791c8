use crate::best::Best;
use crate::chances::check_row;
use crate::{CaptureError, Chances, Page, Pending, Schedule};

/// WIC, instant by instant: the C pages whose fetch is worth most now are fetched; of equals, the
/// first. A page whose fetch is worth nothing is not fetched, even if nothing else is.
///
/// It needs to know the chances of an instant only when that instant comes.
#[derive(Clone, Debug)]
pub struct Greedy {
    pages: Vec<(f64, Pending)>,
    best: Best,
    instant: usize,
    expected: f64,
}

impl Greedy {
    /// Of pages that were all just fetched, with so many fetches an instant.
    ///
    /// # Errors
    ///
    /// If there are more than 2³² − 1 pages.
    pub fn new(pages: &[Page], capacity: usize) -> Result<Self, CaptureError> {
        crate::chances::fits(pages.len(), 0)?;
        let pending = |page: &Page| (page.weight(), Pending::new(page.life(), page.urgency()));
        let best = Best::new(capacity.min(pages.len()));
        Ok(Self { pages: pages.iter().map(pending).collect(), best, instant: 0, expected: 0.0 })
    }

    /// The next instant: the chance of each page to change in it in, the pages to fetch in it out,
    /// in order.
    ///
    /// # Errors
    ///
    /// If there is not one chance in [0, 1] for each page. Then the instant has not come.
    pub fn step(&mut self, chances: &[f64]) -> Result<&[u32], CaptureError> {
        if chances.len() != self.pages.len() {
            return Err(CaptureError::Pages { expected: self.pages.len(), found: chances.len() });
        }
        check_row(chances, self.instant)?;
        Ok(self.pass(chances))
    }

    /// The same, for chances that were checked.
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

    /// Forgets what is pending of a page, as if it had just been fetched: it is gone, or another.
    ///
    /// # Errors
    ///
    /// If there is no such page.
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

    /// What all fetches so far are expected to have captured.
    #[must_use]
    pub fn expected(&self) -> f64 {
        self.expected
    }
}

/// WIC's schedule for pages with these chances, with up to `capacity` fetches an instant.
///
/// # Errors
///
/// If there are not as many pages as in the chances.
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

/// How many times what [`greedy`] captures any schedule can capture at most, on expectation: 1 + a,
/// where a is the most that an instant of waiting leaves of the worth of a pending change
/// (WIC, Theorem 1).
///
/// 1, so that greedy is optimal, if changes count in their own instant only, be it by their urgency
/// or, beyond the paper, by their life. 1 + r for decay. At most 2.
///
/// No less would do: of two pages that change at once, one for good and one for this instant only,
/// greedy may take the wrong one, and has half.
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
