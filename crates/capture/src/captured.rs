use crate::{Changes, Page};

/// What a schedule captured of the changes that there were.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The worth of what was captured: weight times urgency, summed up.
    pub worth: f64,
    /// What it would be worth if every change had been captured at once.
    pub most: f64,
    /// How many changes there were.
    pub changes: u64,
    /// How many were captured after each delay, in instants: first those captured at once.
    pub delays: Vec<u64>,
}

impl Captured {
    pub(crate) fn nothing_of(pages: &[Page], changes: &Changes) -> Self {
        let most = pages.iter().zip(changes.iter());
        let most = most.map(|(page, times)| page.weight() * times.len() as f64).sum();
        Self { worth: 0.0, most, changes: changes.total() as u64, delays: Vec::new() }
    }

    /// A page is fetched now; it changed at these times since it was fetched before.
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

    /// How many changes were captured, late or not.
    #[must_use]
    pub fn captured(&self) -> u64 {
        self.delays.iter().sum()
    }

    /// How many changes were captured in their own instant.
    #[must_use]
    pub fn at_once(&self) -> u64 {
        self.delays.first().copied().unwrap_or(0)
    }

    /// The worth as a share of the most that it could be; `None` if nothing of worth changed. Under
    /// CAM's objective, the returned information ratio.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.most > 0.0).then(|| self.worth / self.most)
    }
}
