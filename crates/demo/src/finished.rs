//! Result of a demo as a table, as JSON and as a chart.

mod picture;
mod wire;

use std::time::Duration;

use crate::site::Site;
use crate::terms::Terms;
use crate::truth::{Client, Fetched, Standing, Tally};

/// Result of a demo.
#[derive(Clone, Debug)]
pub struct Finished {
    seed: u64,
    pages: usize,
    hosts: usize,
    budget: f64,
    factor: f64,
    elapsed: Duration,
    standings: Vec<Standing>,
    fetched: [Vec<Fetched>; 3],
}

/// Order of the clients by freshness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordering {
    /// freshet first, then equal polling, then Nutch's rule.
    AsExpected,
    /// Another order.
    Otherwise,
}

impl Finished {
    pub(crate) fn new(
        site: &Site,
        terms: Terms,
        elapsed: Duration,
        standings: Vec<Standing>,
    ) -> Self {
        let truth = site.truth();
        Self {
            seed: site.world.seed(),
            pages: site.world.len(),
            hosts: site.world.hosts().len(),
            budget: terms.budget,
            factor: site.clock.factor(),
            elapsed,
            standings,
            fetched: Client::ALL.map(|client| truth.fetched(client).to_vec()),
        }
    }

    /// Returns the duration in days of the demo.
    #[must_use]
    pub fn days(&self) -> f64 {
        self.last().day
    }

    fn last(&self) -> &Standing {
        self.standings.last().unwrap_or(&Standing::START)
    }

    /// Returns the samples from the start to the end.
    #[must_use]
    pub fn standings(&self) -> &[Standing] {
        &self.standings
    }

    /// Returns a client's mean freshness over the whole demo.
    #[must_use]
    pub fn freshness(&self, client: Client) -> f64 {
        self.last().mean(client)
    }

    /// Returns the mean freshness of a client over the second half.
    #[must_use]
    pub fn settled_freshness(&self, client: Client) -> f64 {
        let half = 0.5 * self.days();
        let middle = self.standings.iter().find(|it| it.day >= half).unwrap_or(self.last());
        self.last().mean_since(middle, client)
    }

    /// Returns the request counts of a client.
    #[must_use]
    pub fn tally(&self, client: Client) -> Tally {
        self.last().tallies[client as usize]
    }

    /// Returns the requests per percentage point of mean freshness; infinite without any.
    #[must_use]
    pub fn requests_per_point(&self, client: Client) -> f64 {
        let points = 100.0 * self.freshness(client);
        if points > 0.0 { self.tally(client).requests as f64 / points } else { f64::INFINITY }
    }

    /// Returns the recorded fetches of a client, if they were recorded.
    #[must_use]
    pub fn fetched(&self, client: Client) -> &[Fetched] {
        &self.fetched[client as usize]
    }

    /// Returns true if the order of the clients is as expected.
    #[must_use]
    pub fn ordering(&self) -> Ordering {
        let [freshet, equal, nutch] = Client::ALL.map(|client| self.freshness(client));
        if freshet > equal && equal > nutch { Ordering::AsExpected } else { Ordering::Otherwise }
    }

    /// Returns a table and a sentence for people.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} pages on {} hosts, {:.2} days in {:.0} seconds, {:.0} request{} a day for each\n\n\
             {:<13}  {:>9}  {:>8}  {:>17}  {:>12}\n",
            self.pages,
            self.hosts,
            self.days(),
            self.elapsed.as_secs_f64(),
            self.budget,
            if format!("{:.0}", self.budget) == "1" { "" } else { "s" },
            "",
            "freshness",
            "requests",
            "requests per point",
            "changes seen",
        );
        for client in Client::ALL {
            let tally = self.tally(client);
            text.push_str(&format!(
                "{:<13}  {:>7.1} %  {:>8}  {:>17.0}  {:>12}\n",
                client.name(),
                100.0 * self.freshness(client),
                tally.requests,
                self.requests_per_point(client),
                tally.changes,
            ));
        }
        text.push('\n');
        text.push_str(&self.sentence());
        text.push('\n');
        text
    }

    /// Returns a sentence that interprets the result.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [freshet, equal, nutch] = Client::ALL.map(|client| 100.0 * self.freshness(client));
        let order = match self.ordering() {
            Ordering::AsExpected => "as the theory predicts",
            Ordering::Otherwise => {
                "not in the order that the theory predicts, which happens in a short run or on a busy machine"
            }
        };
        format!(
            "With the same number of requests, freshet's copies were up to date {freshet:.1} % of the time, \
             weighted by importance; equal polling reached {equal:.1} % and Nutch's rule {nutch:.1} %: \
             {order}."
        )
    }
}
