//! What is asked of hosts beside their own sources, and fetches that did not come to their end.

use super::Engine;
use super::learn::LONGEST_REST;
use crate::event::Action;
use crate::explain::HostState;
use crate::host::Host;
use crate::source::State;

impl Engine {
    /// What a host is doing; `None` if nothing is known of it.
    #[must_use]
    pub fn host_state(&self, number: u32) -> Option<HostState> {
        Some(self.state_of(number, self.hosts.get(number as usize)?))
    }

    /// Hosts that failed the last time, or have a price of their own.
    pub fn troubled_hosts(&self) -> impl Iterator<Item = HostState> {
        let hosts = (0..).zip(self.hosts.iter());
        let troubled = hosts.filter(|(_, host)| host.failures > 0 || host.price > 0.0);
        troubled.map(|(number, host)| self.state_of(number, host))
    }

    pub(crate) fn state_of(&self, number: u32, host: &Host) -> HostState {
        HostState {
            number,
            asked: host.asked,
            free: host.free,
            candidates: host.ready.len(),
            failures: host.failures,
            down: host.down,
            price: (host.price > 0.0).then_some(host.price),
            gap: self.gap(number),
        }
    }

    /// Days between two fetches from a host.
    #[must_use]
    pub fn host_gap(&self, number: u32) -> f64 {
        let own = self.hosts.get(number as usize).map_or(0.0, |host| host.gap);
        self.settings.host_gap.max(own)
    }

    pub(super) fn visiting(&mut self, now: f64, host: u32, from: f64) {
        if host >= crate::Description::NUMBERS {
            return;
        }
        while self.hosts.len() <= host as usize {
            self.hosts.push(Host::new(self.prior));
        }
        self.leave_line(host);
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        it.asked += 1;
        it.visits += 1;
        it.free = it.free.max(from.clamp(now, now + LONGEST_REST) + gap);
        self.line_up(now, host);
    }

    pub(super) fn visited(
        &mut self,
        now: f64,
        host: u32,
        rest: Option<f64>,
        failed: bool,
        actions: &mut Vec<Action>,
    ) {
        // Whoever says so was not there.
        if self.hosts.get(host as usize).is_none_or(|it| it.visits == 0) {
            return;
        }
        let mut wait = rest.filter(|days| *days > 0.0).map_or(0.0, |days| days.min(LONGEST_REST));
        if failed {
            wait = wait.max(self.host_failed(now, host, actions));
        } else {
            self.host_answered(host, actions);
        }
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        it.asked -= 1;
        it.visits -= 1;
        it.free = it.free.max(now + wait.max(gap));
        self.leave_line(host);
        self.come_back(now, host);
    }

    pub(super) fn put_off(&mut self, now: f64, id: u32, days: f64, unasked: bool) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if source.state != State::Asked {
            return;
        }
        let (host, moved_to, cost) = (source.host, source.place, f64::from(source.cost));
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        it.asked -= 1;
        if unasked {
            self.bucket.give_back(cost);
        } else {
            it.free = it.free.max(now + gap);
        }
        self.leave_line(host);
        self.spare = true;
        let days = if days > 0.0 { days.min(LONGEST_REST) } else { 0.0 };
        self.wait_again(now, id, Some(now + days));
        self.sources[id as usize].host = moved_to;
        self.come_back(now, host);
    }
}
