//! Politeness of the other pollers.

use crate::terms::Terms;

/// Next allowed request per host.
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    gap: f64,
    connections: u32,
}

#[derive(Clone, Copy, Default)]
struct Host {
    /// Time from which requests are allowed.
    free: f64,
    busy: u32,
}

impl Hosts {
    pub(crate) fn new(hosts: usize, terms: Terms) -> Self {
        let Terms { host_gap: gap, host_connections: connections, .. } = terms;
        Self { hosts: vec![Host::default(); hosts], gap, connections }
    }

    pub(crate) fn is_free(&self, host: u32, now: f64) -> bool {
        let host = self.hosts[host as usize];
        host.free <= now && host.busy < self.connections
    }

    pub(crate) fn ask(&mut self, host: u32, now: f64) {
        let host = &mut self.hosts[host as usize];
        host.free = host.free.max(now + self.gap);
        host.busy += 1;
    }

    /// Records a response with an optional `Retry-After` in days.
    pub(crate) fn answered(&mut self, host: u32, now: f64, rest: f64) {
        let host = &mut self.hosts[host as usize];
        host.busy = host.busy.saturating_sub(1);
        if rest > 0.0 {
            host.free = host.free.max(now + rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms =
        Terms { budget: 1.0, burst: 1.0, host_gap: 0.25, host_connections: 2, connections: 9 };

    #[test]
    fn hosts_are_asked_with_a_gap_and_not_too_often_at_once() {
        let mut hosts = Hosts::new(2, TERMS);
        assert!(hosts.is_free(0, 0.0));
        hosts.ask(0, 0.0);
        assert!(!hosts.is_free(0, 0.2) && hosts.is_free(1, 0.2));
        assert!(hosts.is_free(0, 0.25));
        hosts.ask(0, 0.25);
        assert!(!hosts.is_free(0, 9.0), "two are under way");
        hosts.answered(0, 9.0, 0.0);
        assert!(hosts.is_free(0, 9.0));
    }

    #[test]
    fn a_host_that_wants_to_be_left_alone_is() {
        let mut hosts = Hosts::new(1, TERMS);
        hosts.ask(0, 0.0);
        hosts.answered(0, 1.0, 3.0);
        assert!(!hosts.is_free(0, 3.9) && hosts.is_free(0, 4.0));
        hosts.ask(0, 4.0);
        // A shorter delay does not replace a longer one.
        hosts.answered(0, 4.0, 2.0);
        hosts.ask(0, 4.0);
        hosts.answered(0, 4.0, 0.1);
        assert!(!hosts.is_free(0, 5.9) && hosts.is_free(0, 6.0));
    }
}
