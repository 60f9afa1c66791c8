//! From what the engine asks for to fetches that are under way.

use std::sync::Arc;

use freshet_engine::Event;
use tokio::time::Instant;

use super::{Core, STOPPED};
use crate::config::ConcurrencySetting;
use crate::work::Order;

/// Fetches that may be over and not written: more would be lost if the process ended.
const UNWRITTEN: usize = 8192;
/// Fetches that wait for their hosts beside those that the crew is for.
const MOST_STUCK: u32 = 1024;
/// The part of a day whose budget is paid for ahead: what an end of the process at the worst moment
/// costs.
const AHEAD: f64 = 1.0 / 86_400.0;

impl Core {
    /// Begins what may begin.
    pub(super) fn go_on(&mut self) {
        self.give();
        self.grant_claims();
        let day = self.engine.now();
        while let Some(&id) = self.flow.outbox.front() {
            if self.flow.stopping || self.allowance.until(day, self.flow.tasks.len(), 0).is_some() {
                break;
            }
            if self.flow.unwritten.contains_key(&id) {
                self.flow.outbox.pop_front();
                self.flow.early.push(id);
                continue;
            }
            let cost = self.engine.cost(id).unwrap_or(0.0);
            if self.flow.paid + cost > self.flow.covered {
                // What is left of the budget must be in the store first.
                self.flow.stale = true;
                self.write();
                break;
            }
            self.flow.outbox.pop_front();
            self.begin(id, cost);
        }
        if self.write_at().is_some_and(|at| at <= Instant::now()) {
            self.write();
        }
    }

    pub(super) fn begin(&mut self, id: u32, cost: f64) {
        self.flow.paid += cost;
        let shop = Arc::clone(&self.shop);
        let at_once = self.flow.checked.contains(&id);
        let way = self.flow.ways.remove(&id);
        let way =
            way.filter(|(at, _)| at.elapsed() < STOPPED).map_or_else(Vec::new, |(_, way)| way);
        let order = Order { id, at_once, way };
        let task = self.flow.tasks.spawn(async move { shop.work(order).await });
        self.flow.sources.insert(task.id(), (id, Instant::now()));
    }

    /// Lets the engine ask for as many fetches as there are fetchers for.
    fn give(&mut self) {
        let unwritten = self.flow.batch.fetches.len() + self.flow.writing.unwrap_or(0);
        if self.flow.stopping || unwritten > UNWRITTEN {
            return;
        }
        let mut target = self.crew.target(u32::try_from(unwritten).unwrap_or(u32::MAX));
        if let ConcurrencySetting::Auto(_) = self.config.crew {
            // Hosts that do not answer keep no fetcher from others.
            target += self.flow.stuck.min(MOST_STUCK);
        }
        if target > self.flow.given {
            let more = target - self.flow.given;
            self.flow.given = target;
            self.tell(Event::Capacity(more));
        }
    }

    /// What is paid for ahead: as long as no more than that begins, what is written is not more than what
    /// there is.
    pub(super) fn reserve(&self) -> f64 {
        if self.flow.stopping {
            return 0.0;
        }
        let next = self.flow.outbox.front().and_then(|&id| self.engine.cost(id)).unwrap_or(1.0);
        let next = next + self.cost_of_next_claim();
        next.max(self.engine.settings().budget * AHEAD)
    }
}
