//! What the server shows: a world, its clock, and the truth about its clients.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use freshet_fetch::{RawLimits, RawSettings};

use crate::clock::Clock;
use crate::truth::{Client, Standing, Truth};
use crate::world::World;

/// A world that is being looked at.
#[derive(Debug)]
pub struct Site {
    /// The pages.
    pub world: World,
    /// What time it is there.
    pub clock: Clock,
    /// Whether pages are slow and hosts fail now and then.
    pub lively: bool,
    truth: Mutex<Truth>,
    answers: AtomicU64,
}

impl Site {
    /// Day 0 of a world. With `record`, all answered fetches are kept.
    #[must_use]
    pub fn new(world: World, clock: Clock, lively: bool, record: bool) -> Self {
        let truth = Mutex::new(Truth::new(&world, record));
        Self { world, clock, lively, truth, answers: AtomicU64::new(0) }
    }

    /// The truth, for as long as nobody else needs it.
    pub fn truth(&self) -> MutexGuard<'_, Truth> {
        // Sums of somebody who panicked are as right as they were.
        self.truth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the clients stand now.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let mut truth = self.truth();
        truth.standing(self.clock.now())
    }

    /// The number of the next answer: no two are the same.
    pub(crate) fn next_answer(&self) -> u64 {
        self.answers.fetch_add(1, Ordering::Relaxed)
    }

    /// How many requests for pages a client has made.
    pub(crate) fn requests(&self, client: Client) -> u64 {
        self.truth().tally(client).requests
    }

    /// Settings for fetching from here: all hosts are on this machine, and no name server is asked.
    #[must_use]
    pub fn fetch_settings(&self) -> RawSettings {
        let here = || vec!["127.0.0.1".to_owned()];
        let resolve: BTreeMap<_, _> =
            self.world.hosts().iter().map(|host| (host.clone(), here())).collect();
        let limits = RawLimits { robots_retry: Some("1s".to_owned()), ..RawLimits::default() };
        RawSettings {
            contact: Some("https://example.com/freshet-demo".to_owned()),
            allow: vec!["*.localhost".to_owned()],
            // Its clock runs too fast for anybody else's hosts.
            public: Some(false),
            resolve,
            limits,
            ..RawSettings::default()
        }
    }
}
