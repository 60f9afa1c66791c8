//! Starts the fetches that the engine requests.

use std::sync::Arc;

use freshet_engine::Event;
use tokio::time::Instant;

use super::{EventLoop, RESUME_WINDOW};
use crate::config::ConcurrencySetting;
use crate::fetch_context::FetchOrder;

/// Finished fetches that may await a write; a crash loses them.
const MAX_UNWRITTEN: usize = 8192;
/// Slow fetches allowed in addition to the concurrency target.
const MAX_SLOW_FETCHES: u32 = 1024;
/// Budget prepaid, as part of a day: the most that a crash can cost.
const PREPAID_DAYS: f64 = 1.0 / 86_400.0;

impl EventLoop {
    /// Starts every fetch and grants every claim that may start now.
    pub(super) fn dispatch(&mut self) {
        self.grant_capacity();
        self.grant_claims();
        let day = self.engine.now();
        while let Some(&id) = self.in_flight.outbox.front() {
            if self.in_flight.stopping
                || self.byte_budget.blocked_until(day, self.in_flight.tasks.len(), 0).is_some()
            {
                break;
            }
            if self.in_flight.unwritten.contains_key(&id) {
                self.in_flight.outbox.pop_front();
                self.in_flight.awaiting_write.push(id);
                continue;
            }
            let cost = self.engine.source_cost(id).unwrap_or(0.0);
            if self.in_flight.prepaid + cost > self.in_flight.prepaid_written {
                // The cost must be in the store before the fetch starts.
                self.in_flight.needs_write = true;
                self.write_batch();
                break;
            }
            self.in_flight.outbox.pop_front();
            self.start_fetch(id, cost);
        }
        if self.next_write_at().is_some_and(|at| at <= Instant::now()) {
            self.write_batch();
        }
    }

    pub(super) fn start_fetch(&mut self, id: u32, cost: f64) {
        self.in_flight.prepaid += cost;
        let context = Arc::clone(&self.context);
        let is_on_demand = self.in_flight.on_demand.contains(&id);
        let hops = self.in_flight.resume_points.remove(&id);
        let hops = hops
            .filter(|(at, _)| at.elapsed() < RESUME_WINDOW)
            .map_or_else(Vec::new, |(_, hops)| hops);
        let order = FetchOrder { id, is_on_demand, hops };
        let task = self.in_flight.tasks.spawn(async move { context.fetch_source(order).await });
        self.in_flight.task_sources.insert(task.id(), (id, Instant::now()));
    }

    /// Raises the engine's capacity to the number of free fetchers.
    fn grant_capacity(&mut self) {
        let unwritten =
            self.in_flight.batch.fetches.len() + self.in_flight.fetches_being_written.unwrap_or(0);
        if self.in_flight.stopping || unwritten > MAX_UNWRITTEN {
            return;
        }
        let mut target = self.concurrency.target(u32::try_from(unwritten).unwrap_or(u32::MAX));
        if let ConcurrencySetting::Auto(_) = self.config.fetch_concurrency {
            // Hosts that do not answer block no fetcher.
            target += self.in_flight.slow_fetches.min(MAX_SLOW_FETCHES);
        }
        if target > self.in_flight.granted_capacity {
            let more = target - self.in_flight.granted_capacity;
            self.in_flight.granted_capacity = target;
            self.handle_event(Event::CapacityAdded(more));
        }
    }

    /// Returns the cost to prepay with the next write: as long as no more than that starts, the
    /// store never understates what was spent.
    pub(super) fn prepaid_reserve(&self) -> f64 {
        if self.in_flight.stopping {
            return 0.0;
        }
        let next = self
            .in_flight
            .outbox
            .front()
            .and_then(|&id| self.engine.source_cost(id))
            .unwrap_or(1.0);
        let next = next + self.next_claim_cost();
        next.max(self.engine.settings().budget * PREPAID_DAYS)
    }
}
