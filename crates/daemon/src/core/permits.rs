//! Turns at hosts for fetches that come to them on their way: the engine gives those at hosts that it
//! knows, and so keeps them apart from its own.

use freshet_engine::Event;
use freshet_store::{HostCooldown, HostRecord};

use super::Core;
use crate::clock::millis;
use crate::permits::{Notice, Permit, PermitRequest, PermitReturn, WORTH_KEEPING};

impl Core {
    pub(super) fn noticed(&mut self, notice: Notice) {
        match notice {
            Notice::Want(want, number, reply) => {
                let host = want.host.clone();
                let turn = self.want(&want, number);
                let is_given = matches!(turn, Permit::From(_));
                if reply.send(turn).is_err() && is_given {
                    self.left(&PermitReturn { host, rest: None, failed: false }, number);
                }
            }
            Notice::Left(left, number) => self.left(&left, number),
            Notice::Robots(file) => {
                self.robots_found(&file, self.shop.clock.now());
                self.flow.batch.robots.push(file);
                self.flow.stale = true;
                self.write();
            }
            heralds => self.herald_noticed(heralds),
        }
    }

    fn want(&mut self, want: &PermitRequest, number: Option<u32>) -> Permit {
        let now = self.shop.clock.day();
        let known = number.and_then(|number| self.engine.host_state(number));
        let Some(host) = known else {
            let Self { config, flow, .. } = self;
            return flow.strangers.want(want, now, config.gap, config.connections);
        };
        let number = host.number;
        if let Some(days) = want.delay {
            self.tell(Event::HostGap { host: number, days });
        }
        let free = host.free.max(now);
        if free <= now + want.patience {
            if host.asked < self.config.connections {
                self.tell(Event::Visiting { host: number, from: free });
                return Permit::From(free);
            }
            if !want.last {
                return Permit::Busy;
            }
        }
        let gap = self.engine.host_gap(number);
        self.flow.strangers.put_off(&want.host, free, gap)
    }

    fn left(&mut self, left: &PermitReturn, number: Option<u32>) {
        let PermitReturn { host, rest, failed } = left;
        let now = self.shop.clock.day();
        match number.filter(|&number| self.engine.host_state(number).is_some()) {
            Some(number) => {
                self.tell(Event::Visited { host: number, rest: *rest, failed: *failed });
                if *failed || rest.is_some() {
                    self.remember_host(number);
                    self.flow.stale = true;
                }
            }
            None => {
                let until = self.flow.strangers.left(left, now, self.config.gap);
                if until > now + WORTH_KEEPING {
                    let manner = HostCooldown { host: host.clone(), until: millis(until) };
                    self.flow.batch.host_cooldowns.push(manner);
                    self.flow.stale = true;
                }
            }
        }
    }

    /// A turn for somebody outside, who may not come back to say that it is over.
    pub(super) fn lend(&mut self, want: &PermitRequest) -> Permit {
        let number = self.number(&want.host);
        let turn = self.want(want, number);
        if let Permit::From(_) = turn {
            self.left(&PermitReturn { host: want.host.clone(), rest: None, failed: false }, number);
        }
        turn
    }

    /// What somebody outside heard from a host.
    pub(super) fn heard(&mut self, left: &PermitReturn) {
        let number = self.number(&left.host);
        if let Some(host) = number.filter(|&number| self.engine.host_state(number).is_some()) {
            self.tell(Event::Visiting { host, from: self.shop.clock.day() });
        }
        self.left(left, number);
    }

    fn number(&self, host: &str) -> Option<u32> {
        let found = self.shop.readers.with(|reader| reader.find_host(host));
        found.ok().flatten().map(|host| host.id)
    }

    /// Hosts that were strangers may have sources now. The engine knows how to treat them before it knows
    /// the sources.
    pub(super) fn meet(&mut self) {
        let now = self.shop.clock.day();
        for HostCooldown { host, until } in self.flow.strangers.resting(now) {
            let Some(number) = self.number(&host) else { continue };
            self.tell(Event::Visiting { host: number, from: now });
            let rest = Some(crate::clock::days(until) - now);
            self.tell(Event::Visited { host: number, rest, failed: false });
            self.remember_host(number);
            self.flow.strangers.forget(&host);
        }
    }

    /// Has written what is known of a host.
    pub(super) fn remember_host(&mut self, host: u32) {
        let Some(memory) = self.engine.host_checkpoint(host) else { return };
        let until = Some(memory.free()).filter(|day| day.is_finite()).map(millis);
        let record = HostRecord { host, cooldown_until: until, record: memory.to_bytes() };
        let hosts = &mut self.flow.batch.hosts;
        // Of a host only the last one counts; they come one after another.
        match hosts.last_mut().filter(|last| last.host == host) {
            Some(last) => *last = record,
            None => hosts.push(record),
        }
    }
}
