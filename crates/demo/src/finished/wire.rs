//! JSON result of a demo.

use serde::Serialize;

use super::{Finished, Ordering};
use crate::truth::Client;

#[derive(Serialize)]
struct Wire {
    seed: u64,
    pages: usize,
    hosts: usize,
    days: f64,
    seconds: f64,
    factor: f64,
    budget: f64,
    as_expected: bool,
    clients: Vec<WireClient>,
}

#[derive(Serialize)]
struct WireClient {
    name: &'static str,
    freshness: f64,
    settled_freshness: f64,
    fresh_at_end: f64,
    requests: u64,
    answered: u64,
    changes: u64,
    /// `null` if nothing was ever fresh.
    requests_per_point: Option<f64>,
    robots: u64,
    forbidden: u64,
}

impl Finished {
    /// Returns the result as JSON.
    ///
    /// # Errors
    /// Returns an error if serialisation fails, which does not happen with finite numbers.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let client = |client: Client| {
            let tally = self.tally(client);
            let per_point = self.requests_per_point(client);
            WireClient {
                name: client.key(),
                freshness: self.freshness(client),
                settled_freshness: self.settled_freshness(client),
                fresh_at_end: self.last().fresh[client as usize],
                requests: tally.requests,
                answered: tally.answered,
                changes: tally.changes,
                requests_per_point: per_point.is_finite().then_some(per_point),
                robots: tally.robots,
                forbidden: tally.forbidden,
            }
        };
        serde_json::to_string(&Wire {
            seed: self.seed,
            pages: self.pages,
            hosts: self.hosts,
            days: self.days(),
            seconds: self.elapsed.as_secs_f64(),
            factor: self.factor,
            budget: self.budget,
            as_expected: self.ordering() == Ordering::AsExpected,
            clients: Client::ALL.map(client).into(),
        })
    }
}
