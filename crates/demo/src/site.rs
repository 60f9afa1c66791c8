//! Shared state of the server: a world, its clock, and the true state of its clients.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_fetch::{RawFetchLimits, RawFetchSettings};

use crate::clock::Clock;
use crate::truth::{Client, Standing, Truth};
use crate::world::World;

/// A running world.
#[derive(Debug)]
pub struct Site {
    /// The pages.
    pub world: World,
    /// Clock of the world.
    pub clock: Clock,
    /// True if pages are slow and hosts fail from time to time.
    pub lively: bool,
    truth: Mutex<Truth>,
    answers: AtomicU64,
}

impl Site {
    /// Creates day 0 of a world. With `record`, all fetches are recorded.
    #[must_use]
    pub fn new(world: World, clock: Clock, lively: bool, record: bool) -> Self {
        let truth = Mutex::new(Truth::new(&world, record));
        Self { world, clock, lively, truth, answers: AtomicU64::new(0) }
    }

    /// Locks and returns the truth.
    pub fn truth(&self) -> MutexGuard<'_, Truth> {
        // The sums are valid even if another thread panicked.
        self.truth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current sample of all clients.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let mut truth = self.truth();
        truth.standing(self.clock.now())
    }

    /// Returns the number of the next response.
    pub(crate) fn next_answer(&self) -> u64 {
        self.answers.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of page requests of a client.
    pub(crate) fn requests(&self, client: Client) -> u64 {
        self.truth().tally(client).requests
    }

    /// Returns fetch settings for this web: all hosts are on loopback, without a name server.
    #[must_use]
    pub fn fetch_settings(&self) -> RawFetchSettings {
        let here = || vec!["127.0.0.1".to_owned()];
        let resolve: BTreeMap<_, _> =
            self.world.hosts().iter().map(|host| (host.clone(), here())).collect();
        let limits =
            RawFetchLimits { robots_retry: Some("1s".to_owned()), ..RawFetchLimits::default() };
        RawFetchSettings {
            contact: Some("https://example.com/freshet-demo".to_owned()),
            allow: vec!["*.localhost".to_owned()],
            // The accelerated clock must not be used with real hosts.
            public: Some(false),
            resolve,
            limits,
            ..RawFetchSettings::default()
        }
    }
}
