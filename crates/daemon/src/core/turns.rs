//! Turns at hosts for fetches that come to them on their way: the engine gives those at hosts that it
//! knows, and so keeps them apart from its own.

use freshet_engine::Event;
use freshet_store::{HostRecord, Manner};

use super::Core;
use crate::clock::millis;
use crate::turns::{Left, Notice, Turn, WORTH_KEEPING, Want};

impl Core {
    pub(super) fn noticed(&mut self, notice: Notice) {
        match notice {
            Notice::Want(want, number, reply) => {
                let host = want.host.clone();
                let turn = self.want(&want, number);
                let is_given = matches!(turn, Turn::From(_));
                if reply.send(turn).is_err() && is_given {
                    self.left(&Left { host, rest: None, failed: false }, number);
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

    fn want(&mut self, want: &Want, number: Option<u32>) -> Turn {
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
                return Turn::From(free);
            }
            if !want.last {
                return Turn::Busy;
            }
        }
        let gap = self.engine.host_gap(number);
        self.flow.strangers.put_off(&want.host, free, gap)
    }

    fn left(&mut self, left: &Left, number: Option<u32>) {
        let Left { host, rest, failed } = left;
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
                    let manner = Manner { host: host.clone(), until: millis(until) };
                    self.flow.batch.manners.push(manner);
                    self.flow.stale = true;
                }
            }
        }
    }

    /// A turn for somebody outside, who may not come back to say that it is over.
    pub(super) fn lend(&mut self, want: &Want) -> Turn {
        let number = self.number(&want.host);
        let turn = self.want(want, number);
        if let Turn::From(_) = turn {
            self.left(&Left { host: want.host.clone(), rest: None, failed: false }, number);
        }
        turn
    }

    /// What somebody outside heard from a host.
    pub(super) fn heard(&mut self, left: &Left) {
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
        for Manner { host, until } in self.flow.strangers.resting(now) {
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
        let Some(memory) = self.engine.host_memory(host) else { return };
        let until = Some(memory.free()).filter(|day| day.is_finite()).map(millis);
        let record = HostRecord { host, until, record: memory.to_bytes() };
        let hosts = &mut self.flow.batch.hosts;
        // Of a host only the last one counts; they come one after another.
        match hosts.last_mut().filter(|last| last.host == host) {
            Some(last) => *last = record,
            None => hosts.push(record),
        }
    }
}
