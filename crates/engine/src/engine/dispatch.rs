//! Selection of the next source to fetch.
//!
//! Most sources wait for the day on which they are worth the price and are fetched in that order.
//! Ranks, which change with time, are only kept for sources whose value levels off and for those
//! that are worth the price and have to wait.

use super::{Engine, MAX_PROMOTIONS_PER_STEP};
use crate::event::{Action, FetchReason};
use crate::source::{Source, SourceFlags, SourceState};

/// Sources that are compared when none is worth the price.
const SPARE_LOOKAHEAD: usize = 64;
const SPARE_LOOKAHEAD_LARGE_SET: usize = 4;
/// Maximum number of fetches started in one step.
const MAX_FETCHES_PER_STEP: usize = 1024;
/// Candidates that are ranked again for each fetch.
const RERANKS_PER_FETCH: usize = 2;
/// Ring length from which on three times as many candidates are ranked again.
const SMALL_RING_LEN: usize = 64;
/// Growth of a rank below the price after which it is computed again.
const RERANK_GROWTH: f64 = 1.02;
/// Share of the entry value that suffices on the due day, so that a slowly rising price does not
/// send a source back again and again.
const ENTRY_TOLERANCE: f64 = 0.97;
/// Share of the price that counts as reaching it.
const PRICE_TOLERANCE: f64 = 0.99;
/// Maximum factor by which waiting for the price may lengthen an interval. Slower sources are
/// compared by value instead.
pub(super) const MAX_INTERVAL_STRETCH: f64 = 1.5;
/// One second in days.
const SECOND: f64 = 1.0 / 86_400.0;
/// Share of the entry value below which a candidate has to wait again.
const DEMOTION_SHARE: f64 = 0.7;

impl Engine {
    /// Spends budget that would overflow: fetches the most valuable of the sources due next before
    /// its time.
    pub(super) fn spend_spare_budget(&mut self, now: f64) {
        let max_lookahead =
            if self.is_large_set() { SPARE_LOOKAHEAD_LARGE_SET } else { SPARE_LOOKAHEAD };
        let mut next: Vec<(f64, u32, SourceState)> = Vec::with_capacity(2 * max_lookahead);
        let mut best: Option<(f64, u32)> = None;
        for state in [SourceState::Waiting, SourceState::Scheduled] {
            let before = next.len();
            while next.len() < before + max_lookahead
                && let Some((day, id)) = self.pop_from_queue(state, f64::INFINITY)
            {
                let source = &self.sources[id as usize];
                if source.state != state || source.due != day {
                    continue;
                }
                next.push((day, id, state));
                let is_allowed = !source.is_retry()
                    && now >= source.last + f64::from(source.min_interval)
                    && self.can_request(now, source.host);
                let value = if is_allowed { self.fetch_value(now, source) } else { 0.0 };
                if value > best.map_or(0.0, |best| best.0) {
                    best = Some((value, id));
                }
            }
        }
        for (day, id, state) in next {
            if best.is_none_or(|best| best.1 != id) {
                self.queue_for_state(state).push(day, id);
            }
        }
        self.extend_horizon(now);
        match best {
            Some((value, id)) => self.make_candidate(now, id, value),
            None => {
                self.may_spend_early = false;
                self.lower_price(now);
            }
        }
    }

    /// Handles a source whose day has come: it becomes a candidate or continues to wait.
    pub(crate) fn promote_if_due(&mut self, now: f64, id: u32) {
        let source = self.sources[id as usize];
        let rank = self.rank(now, &source);
        if !source.is_retry() && rank < ENTRY_TOLERANCE * self.entry_value(source.host) {
            // The price has risen since, or rounding moved the day.
            self.sources[id as usize].due = f64::INFINITY;
            self.enqueue(now, id);
            if self.sources[id as usize].due <= now {
                self.make_candidate(now, id, rank);
            }
            return;
        }
        // At a saturated host, all sources that are worth the common price are compared.
        let price = self.price;
        if rank < PRICE_TOLERANCE * price && !source.is_retry() && !source.is_observed() {
            let target = self.target_value(rank);
            let day = self.due_day(now, &source, target);
            let is_slow = self.levels_off(&source)
                && day - source.last > MAX_INTERVAL_STRETCH * (now - source.last);
            if day > now && day < f64::INFINITY && !is_slow {
                self.survey_schedule.target = self.survey_schedule.target.max(target);
                self.sources[id as usize].state = SourceState::Scheduled;
                return self.push_to_queue(day, id);
            }
        }
        self.make_candidate(now, id, rank);
    }

    pub(super) fn make_candidate(&mut self, now: f64, id: u32, rank: f64) {
        let source = &mut self.sources[id as usize];
        source.state = SourceState::Candidate;
        let host = source.host;
        let sources = &mut self.sources;
        let candidates = &mut self.hosts[host as usize].candidates;
        candidates.add(rank, id, |id, place| sources[id as usize].place = place);
        self.enqueue_host(now, host);
        self.schedule_rerank(now, id, rank);
    }

    /// Ranks a candidate again.
    pub(super) fn rerank(&mut self, now: f64, id: u32) {
        let source = self.sources[id as usize];
        let rank = self.rank(now, &source);
        let has_unlimited_value = !self.levels_off(&source) && !source.is_observed();
        let has_common_price = self.hosts[source.host as usize].price <= 0.0;
        if rank < ENTRY_TOLERANCE * self.price
            && has_unlimited_value
            && has_common_price
            && !source.is_retry()
        {
            // The price has risen: the source waits again.
            self.remove_candidate(id);
            self.promote_if_due(now, id);
            return;
        }
        // While the budget is overflowing, no candidate is demoted.
        if self.token_bucket.full_day() > now && self.demote_candidate(now, id, rank) {
            return;
        }
        let sources = &mut self.sources;
        let candidates = &mut self.hosts[source.host as usize].candidates;
        candidates.update(source.place, rank, |id, place| sources[id as usize].place = place);
        self.rerank_host(source.host);
        self.schedule_rerank(now, id, rank);
    }

    /// Arranges for a candidate to be ranked again when its rank has changed: in turn with the
    /// others that are worth the price, or on a day of its own.
    fn schedule_rerank(&mut self, now: f64, id: u32, rank: f64) {
        let source = self.sources[id as usize];
        if rank >= self.price || source.is_retry() {
            self.add_to_rerank_ring(id);
        } else {
            let day = self.due_day(now, &source, self.price.min(RERANK_GROWTH * rank));
            // Once between two fetches is enough.
            let pause = self.token_bucket.daily_rate().recip().min(SECOND);
            let day = day.max(now + pause).max(now.next_up());
            self.sources[id as usize].due = day;
            self.rerank_queue.push(day, id);
        }
    }

    fn add_to_rerank_ring(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        source.due = f64::INFINITY;
        if !source.flags.has(SourceFlags::IN_RING) {
            source.flags.set(SourceFlags::IN_RING, true);
            self.rerank_ring.push_back(id);
        }
    }

    /// Removes a source from the candidates.
    pub(super) fn remove_candidate(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        (source.state, source.due) = (SourceState::Waiting, f64::INFINITY);
        let (host, place) = (source.host, source.place);
        let sources = &mut self.sources;
        let candidates = &mut self.hosts[host as usize].candidates;
        candidates.remove(place, |id, place| sources[id as usize].place = place);
        self.rerank_host(host);
    }

    /// Sends a candidate back to wait if its value is far below the entry value. Returns true if it
    /// did.
    pub(crate) fn demote_candidate(&mut self, now: f64, id: u32, rank: f64) -> bool {
        let source = self.sources[id as usize];
        let entry_value = self.entry_value(source.host);
        // A short wait far from day 0 loses precision, so the day decides as well as the value.
        if rank >= DEMOTION_SHARE * entry_value
            || source.is_retry()
            || self.due_day(now, &source, entry_value) <= now
        {
            return false;
        }
        self.remove_candidate(id);
        self.enqueue(now, id);
        true
    }

    /// Ranks some of the candidates that are worth the price again.
    fn rerank_some(&mut self, now: f64) {
        let count = if self.rerank_ring.len() < SMALL_RING_LEN {
            RERANKS_PER_FETCH.min(self.rerank_ring.len())
        } else {
            3 * RERANKS_PER_FETCH
        };
        for _ in 0..count {
            let Some(id) = self.rerank_ring.pop_front() else { break };
            let source = &mut self.sources[id as usize];
            source.flags.set(SourceFlags::IN_RING, false);
            if source.state == SourceState::Candidate {
                self.rerank(now, id);
            }
        }
    }

    /// Days between two requests to a known host.
    pub(crate) fn known_host_gap(&self, host: u32) -> f64 {
        self.settings.host_gap.max(self.hosts[host as usize].gap)
    }

    /// True if the host can take a request now.
    fn can_request(&self, now: f64, host: u32) -> bool {
        let host_state = &self.hosts[host as usize];
        host_state.in_flight < self.settings.host_connections && host_state.free_at <= now
    }

    /// Adds a host to the ready hosts if it has a candidate and can take a request.
    pub(crate) fn enqueue_host(&mut self, now: f64, host: u32) {
        let host_state = &self.hosts[host as usize];
        if host_state.place.is_some() {
            self.rerank_host(host);
        } else if let Some(best) = host_state.candidates.first()
            && host_state.in_flight < self.settings.host_connections
        {
            if host_state.free_at > now {
                if !host_state.is_resting {
                    self.resting_hosts.push(host_state.free_at, host);
                    self.hosts[host as usize].is_resting = true;
                }
            } else {
                let hosts = &mut self.hosts;
                self.ready_hosts.add(best.rank, host, |host, place| {
                    hosts[host as usize].place = Some(place);
                });
            }
        }
    }

    /// Handles the end of a host's pause: the value of its best candidate may have changed.
    pub(super) fn on_host_available(&mut self, now: f64, host: u32) {
        if self.can_request(now, host)
            && let Some(best) = self.hosts[host as usize].candidates.first()
        {
            self.rerank(now, best.number);
        }
        self.enqueue_host(now, host);
    }

    /// Updates the rank of a ready host after its best candidate changed.
    fn rerank_host(&mut self, host: u32) {
        let host_state = &self.hosts[host as usize];
        let (Some(place), best) = (host_state.place, host_state.candidates.first()) else { return };
        match best {
            None => self.dequeue_host(host),
            Some(best) => {
                let hosts = &mut self.hosts;
                self.ready_hosts.update(place, best.rank, |host, place| {
                    hosts[host as usize].place = Some(place);
                });
            }
        }
    }

    pub(super) fn dequeue_host(&mut self, host: u32) {
        if let Some(place) = self.hosts[host as usize].place.take() {
            let hosts = &mut self.hosts;
            self.ready_hosts.remove(place, |host, place| hosts[host as usize].place = Some(place));
        }
    }

    /// Picks the next source to fetch: the most valuable candidate of the ready hosts, or, while
    /// none of them is worth the price, the first scheduled source if that is worth more now. Sets
    /// the cost to save for. Returns the source's rank if it had to be computed.
    fn pick_next(&mut self, now: f64) -> Option<(u32, Option<f64>)> {
        let first = self.ready_hosts.first();
        let best_candidate = first.and_then(|it| self.hosts[it.number as usize].candidates.first());
        let mut best = best_candidate.map(|it| (it.number, None));
        let rank = first.map_or(0.0, |it| it.rank);
        self.next_candidate_at = f64::NEG_INFINITY;
        let is_worth_price =
            best.is_some() && rank >= PRICE_TOLERANCE * self.price && !self.is_large_set();
        let mut requeued = 0;
        while !is_worth_price && let Some((day, id)) = self.scheduled.peek() {
            if requeued == MAX_PROMOTIONS_PER_STEP {
                break;
            }
            let source = &self.sources[id as usize];
            if source.state != SourceState::Scheduled || source.due != day {
                self.pop_from_queue(SourceState::Scheduled, f64::INFINITY);
                continue;
            }
            let earliest = source.last + f64::from(source.min_interval);
            if earliest > now {
                // Its minimum interval is not over: it makes way for others.
                self.pop_from_queue(SourceState::Scheduled, f64::INFINITY);
                self.sources[id as usize].state = SourceState::Waiting;
                self.push_to_queue(earliest, id);
                requeued += 1;
                continue;
            }
            let is_turn_reached = day <= now && self.is_large_set();
            if is_turn_reached && self.hosts[source.host as usize].price > 0.0 {
                // Its host has become saturated.
                self.pop_from_queue(SourceState::Scheduled, f64::INFINITY);
                self.sources[id as usize].due = f64::INFINITY;
                self.enqueue(now, id);
                requeued += 1;
                continue;
            }
            let scheduled_rank = self.rank(now, source);
            let entry_value = self.entry_value(source.host);
            if scheduled_rank < ENTRY_TOLERANCE * entry_value && !is_turn_reached {
                // A short wait far from day 0 loses precision, so the day decides as well.
                let next_candidate_at = self.due_day(now, source, entry_value);
                if next_candidate_at > now {
                    self.next_candidate_at = next_candidate_at;
                    break;
                }
            }
            if best.is_none() || scheduled_rank > rank {
                best = Some((id, Some(scheduled_rank)));
            }
            break;
        }
        self.saving_for = f64::from(self.sources[best?.0 as usize].cost);
        best
    }

    /// Starts the fetches that budget, hosts and capacity allow.
    pub(super) fn dispatch(&mut self, now: f64, actions: &mut Vec<Action>) {
        for _ in 0..MAX_FETCHES_PER_STEP {
            self.saving_for = self.min_cost;
            if self.capacity == 0 || !self.token_bucket.can_pay(self.saving_for) {
                break;
            }
            self.rerank_some(now);
            let best = self.pick_next(now).filter(|_| self.token_bucket.can_pay(self.saving_for));
            let Some((id, rank)) = best else { break };
            let source = self.sources[id as usize];
            let host = source.host;
            let rank = rank.unwrap_or_else(|| self.rank(now, &source));
            let is_scheduled = source.state == SourceState::Scheduled;
            if is_scheduled {
                self.pop_from_queue(SourceState::Scheduled, f64::INFINITY);
            }
            if !self.can_request(now, host) {
                // It waits for its host, or the settings have changed.
                if is_scheduled {
                    self.make_candidate(now, id, rank);
                }
                self.dequeue_host(host);
                continue;
            }
            let reason = self.fetch_reason(now, &source, rank);
            if matches!(reason, FetchReason::Value | FetchReason::SpareBudget) {
                self.record_fetch_value(host, rank);
            }
            if !is_scheduled {
                self.remove_candidate(id);
            }
            self.start_fetch(now, id);
            if reason == FetchReason::PendingChanges && source.history().is_some() {
                self.record_signal_gain(now, &source, rank);
            }
            if self.capacity != u32::MAX {
                self.capacity -= 1;
            }
            self.idle_surveys = 0;
            actions.push(Action::Fetch { id, reason });
            self.enqueue_host(now, host);
        }
    }

    /// Charges for a fetch of a source that is in no queue, and marks it as in flight.
    fn start_fetch(&mut self, now: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        let host = source.host;
        (source.state, source.due, source.place) = (SourceState::InFlight, f64::INFINITY, host);
        source.flags.set(SourceFlags::SIGNALLED, false);
        let history = source.history();
        self.token_bucket.pay(f64::from(source.cost));
        self.mark_fetch_started(history);
        self.dequeue_host(host);
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        host_state.in_flight += 1;
        host_state.free_at = host_state.free_at.max(now + gap);
    }

    /// Handles a fetch that someone started without being asked.
    pub(super) fn on_external_fetch(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if matches!(source.state, SourceState::Absent | SourceState::InFlight) {
            return;
        }
        if source.state == SourceState::Candidate {
            self.remove_candidate(id);
        }
        let host = self.sources[id as usize].host;
        self.start_fetch(now, id);
        self.enqueue_host(now, host);
    }

    /// Returns the reason for fetching a source.
    fn fetch_reason(&self, now: f64, source: &Source, rank: f64) -> FetchReason {
        if source.is_retry() {
            FetchReason::Retry
        } else if source.is_new() {
            FetchReason::New
        } else if source.is_overdue(now) {
            FetchReason::Overdue
        } else if source.is_observed() || self.is_led_by_signals(now, source, rank) {
            FetchReason::PendingChanges
        } else if rank < DEMOTION_SHARE * self.entry_value(source.host) {
            FetchReason::SpareBudget
        } else {
            FetchReason::Value
        }
    }
}
