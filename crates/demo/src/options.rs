//! What a demo is to show.

use std::time::Duration;

use crate::clock::{Clock, DAY};
use crate::error::DemoError;
use crate::score::nutch_scale;
use crate::terms::Terms;
use crate::world::World;

/// A demo to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The web.
    pub world: World,
    /// How many times as fast as the real one its clock is.
    pub factor: f64,
    /// Requests a day for each page, of each client.
    pub budget: f64,
    /// How long it goes on, in real time; `None`: until it is stopped.
    pub length: Option<Duration>,
    /// Whether pages are slow and hosts fail now and then.
    pub lively: bool,
    /// Whether all answered fetches are kept, to be scored.
    pub record: bool,
}

impl Options {
    /// Pages of a web.
    pub const PAGES: usize = 2000;
    /// Requests a day for each page.
    pub const BUDGET: f64 = 10.0;

    /// A web as it is by default: a minute shows a day, and things go wrong now and then.
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

    /// Says what cannot be meant.
    ///
    /// # Errors
    /// If a number is not positive and finite.
    pub fn check(&self) -> Result<(), DemoError> {
        let numbers = [("the factor of the clock", self.factor), ("the budget", self.budget)];
        match numbers.into_iter().find(|(_, value)| !(1e-6..=1e12).contains(value)) {
            Some((what, value)) => Err(DemoError::Number { what, value }),
            None => Ok(()),
        }
    }

    /// What all clients have to keep to: requests come one by one, and no host gets two within two
    /// milliseconds of real time, or more than four at a time.
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

    /// The factor on the time of Nutch's rule for the days of this demo: found on the simulator, in a
    /// web of the same kind that is not larger than it need be.
    pub(crate) fn nutch_scale(&self) -> Result<f64, DemoError> {
        /// Without an end.
        const DAYS: f64 = 2.0;
        let days = self.length.map_or(DAYS, |it| it.as_secs_f64() * self.factor / DAY);
        let days = days.clamp(0.25, 1e5);
        let smaller = self.world.smaller(Self::PAGES)?;
        nutch_scale(smaller.as_ref().unwrap_or(&self.world), self.budget, days)
    }
}
