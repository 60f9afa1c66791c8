//! Requests to hosts outside their own sources, and fetches that did not complete.

use super::Engine;
use super::fetch_results::MAX_RETRY_AFTER;
use crate::event::Action;
use crate::explain::HostState;
use crate::host::Host;
use crate::source::SourceState;

impl Engine {
    /// Returns the state of a host; `None` if the host is unknown.
    #[must_use]
    pub fn host_state(&self, number: u32) -> Option<HostState> {
        Some(self.host_state_of(number, self.hosts.get(number as usize)?))
    }

    /// Iterates over hosts whose last request failed or that have a price of their own.
    pub fn failing_or_saturated_hosts(&self) -> impl Iterator<Item = HostState> {
        let hosts = (0..).zip(self.hosts.iter());
        let limited = hosts.filter(|(_, host)| host.failures > 0 || host.price > 0.0);
        limited.map(|(number, host)| self.host_state_of(number, host))
    }

    pub(crate) fn host_state_of(&self, number: u32, host: &Host) -> HostState {
        HostState {
            number,
            in_flight: host.in_flight,
            free_at: host.free_at,
            candidates: host.candidates.len(),
            failures: host.failures,
            down: host.down,
            price: (host.price > 0.0).then_some(host.price),
            gap: self.known_host_gap(number),
        }
    }

    /// Days between two requests to a host.
    #[must_use]
    pub fn host_gap(&self, number: u32) -> f64 {
        let own = self.hosts.get(number as usize).map_or(0.0, |host| host.gap);
        self.settings.host_gap.max(own)
    }

    pub(super) fn on_host_request_started(&mut self, now: f64, host: u32, earliest: f64) {
        if host >= crate::SourceDescription::ID_LIMIT {
            return;
        }
        while self.hosts.len() <= host as usize {
            self.hosts.push(Host::new(self.prior));
        }
        self.dequeue_host(host);
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        host_state.in_flight += 1;
        host_state.external_requests += 1;
        host_state.free_at =
            host_state.free_at.max(earliest.clamp(now, now + MAX_RETRY_AFTER) + gap);
        self.enqueue_host(now, host);
    }

    pub(super) fn on_host_request_finished(
        &mut self,
        now: f64,
        host: u32,
        retry_after: Option<f64>,
        failed: bool,
        actions: &mut Vec<Action>,
    ) {
        // Ignores an unmatched end of a request.
        if self.hosts.get(host as usize).is_none_or(|host_state| host_state.external_requests == 0)
        {
            return;
        }
        let mut wait =
            retry_after.filter(|days| *days > 0.0).map_or(0.0, |days| days.min(MAX_RETRY_AFTER));
        if failed {
            wait = wait.max(self.record_host_failure(now, host, actions));
        } else {
            self.record_host_success(host, actions);
        }
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        host_state.in_flight -= 1;
        host_state.external_requests -= 1;
        host_state.free_at = host_state.free_at.max(now + wait.max(gap));
        self.dequeue_host(host);
        self.on_host_available(now, host);
    }

    pub(super) fn defer_fetch(&mut self, now: f64, id: u32, days: f64, unsent: bool) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if source.state != SourceState::InFlight {
            return;
        }
        let (host, moved_to, cost) = (source.host, source.place, f64::from(source.cost));
        let gap = self.known_host_gap(host);
        let host_state = &mut self.hosts[host as usize];
        host_state.in_flight -= 1;
        if unsent {
            self.token_bucket.refund(cost);
        } else {
            host_state.free_at = host_state.free_at.max(now + gap);
        }
        self.dequeue_host(host);
        self.may_spend_early = true;
        let days = if days > 0.0 { days.min(MAX_RETRY_AFTER) } else { 0.0 };
        self.reschedule(now, id, Some(now + days));
        self.sources[id as usize].host = moved_to;
        self.on_host_available(now, host);
    }
}
