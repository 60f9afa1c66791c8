//! Options of a demo.

use std::time::Duration;

use crate::clock::{Clock, DAY};
use crate::error::DemoError;
use crate::score::nutch_scale;
use crate::terms::Terms;
use crate::world::World;

/// Options of a demo.
#[derive(Clone, Debug)]
pub struct Options {
    /// The web.
    pub world: World,
    /// Factor between demo time and real time.
    pub factor: f64,
    /// Requests per day and page for each client.
    pub budget: f64,
    /// Duration in real time; `None` until it is stopped.
    pub length: Option<Duration>,
    /// True if pages are slow and hosts fail from time to time.
    pub lively: bool,
    /// True if all fetches are recorded for scoring.
    pub record: bool,
}

impl Options {
    /// Default number of pages.
    pub const PAGES: usize = 2000;
    /// Default requests per day and page.
    pub const BUDGET: f64 = 10.0;

    /// Creates the default options: one minute shows one day, with occasional faults.
    #[must_use]
    pub fn new(world: World) -> Self {
        Self {
            world,
            factor: Clock::A_DAY_A_MINUTE,
            budget: Self::BUDGET,
            length: None,
            lively: true,
            record: false,
        }
    }

    /// Validates the options.
    ///
    /// # Errors
    /// Returns an error if a number is not positive and finite.
    pub fn check(&self) -> Result<(), DemoError> {
        let numbers = [("the factor of the clock", self.factor), ("the budget", self.budget)];
        match numbers.into_iter().find(|(_, value)| !(1e-6..=1e12).contains(value)) {
            Some((what, value)) => Err(DemoError::Number { what, value }),
            None => Ok(()),
        }
    }

    /// Returns the limits for all clients: no burst, at least two
    /// milliseconds of real time between two requests to a host, and at most four at a time.
    pub(crate) fn terms(&self) -> Terms {
        let budget = self.budget * self.world.len() as f64;
        let second = self.factor / DAY;
        Terms {
            budget,
            burst: (0.1 * second * budget).max(4.0),
            host_gap: 0.002 * second,
            host_connections: 4,
            connections: 64,
        }
    }

    /// Returns the time factor of Nutch's rule for the duration of this demo, found by simulation on a
    /// smaller web of the same kind.
    pub(crate) fn nutch_scale(&self) -> Result<f64, DemoError> {
        /// For a demo without an end.
        const DAYS: f64 = 2.0;
        let days = self.length.map_or(DAYS, |it| it.as_secs_f64() * self.factor / DAY);
        let days = days.clamp(0.25, 1e5);
        let smaller = self.world.smaller(Self::PAGES)?;
        nutch_scale(smaller.as_ref().unwrap_or(&self.world), self.budget, days)
    }
}
