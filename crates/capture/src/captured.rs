use crate::{Changes, Page};

/// Captured changes of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// Worth of the captured changes: sum of weight times urgency.
    pub worth: f64,
    /// Worth of all changes if each had been captured at once.
    pub most: f64,
    /// Number of changes.
    pub changes: u64,
    /// Number of changes captured after each delay in instants, starting with 0.
    pub delays: Vec<u64>,
}

impl Captured {
    pub(crate) fn nothing_of(pages: &[Page], changes: &Changes) -> Self {
        let most = pages.iter().zip(changes.iter());
        let most = most.map(|(page, times)| page.weight() * times.len() as f64).sum();
        Self { worth: 0.0, most, changes: changes.total() as u64, delays: Vec::new() }
    }

    /// Records a fetch of a page, with its changes since the previous fetch.
    pub(crate) fn fetch(&mut self, page: Page, times: &[u32], now: u32) {
        for (&time, later) in times.iter().rev().zip(0..) {
            let delay = now - time;
            if page.life().holds(delay, later) {
                self.worth += page.weight() * page.urgency().worth(delay);
                if self.delays.len() <= delay as usize {
                    self.delays.resize(delay as usize + 1, 0);
                }
                self.delays[delay as usize] += 1;
            }
        }
    }

    /// Returns the number of captured changes.
    #[must_use]
    pub fn captured(&self) -> u64 {
        self.delays.iter().sum()
    }

    /// Returns the number of changes captured in their own instant.
    #[must_use]
    pub fn at_once(&self) -> u64 {
        self.delays.first().copied().unwrap_or(0)
    }

    /// Returns the worth as a share of its maximum, or `None` if no change has any worth. Under
    /// CAM's objective this is the returned information ratio.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.most > 0.0).then(|| self.worth / self.most)
    }
}
