//! Permits for other hosts on the way of a fetch. The engine grants those for hosts it knows, so
//! that they do not collide with its own fetches.

use freshet_engine::Event;
use freshet_store::{HostCooldown, HostRecord};

use super::EventLoop;
use crate::clock::millis_from_days;
use crate::host_permits::{
    LoopMessage, MIN_SAVED_COOLDOWN_DAYS, Permit, PermitRequest, PermitReturn,
};

impl EventLoop {
    pub(super) fn handle_message(&mut self, notice: LoopMessage) {
        match notice {
            LoopMessage::RequestPermit(request, host_id, reply) => {
                let host = request.host.clone();
                let permit = self.request_permit(&request, host_id);
                let is_given = matches!(permit, Permit::StartsAt(_));
                if reply.send(permit).is_err() && is_given {
                    self.return_permit(
                        &PermitReturn { host, cooldown_days: None, failed: false },
                        host_id,
                    );
                }
            }
            LoopMessage::ReturnPermit(permit_return, host_id) => {
                self.return_permit(&permit_return, host_id)
            }
            LoopMessage::RobotsRead(file) => {
                self.on_robots_read(&file, self.context.clock.now());
                self.in_flight.batch.robots.push(file);
                self.in_flight.needs_write = true;
                self.write_batch();
            }
            signal_sources => self.handle_reader_message(signal_sources),
        }
    }

    fn request_permit(&mut self, request: &PermitRequest, host_id: Option<u32>) -> Permit {
        let now = self.context.clock.now_days();
        let known = host_id.and_then(|host_id| self.engine.host_state(host_id));
        let Some(host) = known else {
            let Self { config, in_flight, .. } = self;
            return in_flight.unlisted_hosts.request(
                request,
                now,
                config.host_gap_days,
                config.host_connections,
            );
        };
        let host_id = host.number;
        if let Some(days) = request.crawl_delay_days {
            self.handle_event(Event::HostGapChanged { host: host_id, days });
        }
        let free = host.free_at.max(now);
        if free <= now + request.max_wait_days {
            if host.in_flight < self.config.host_connections {
                self.handle_event(Event::HostRequestStarted { host: host_id, earliest: free });
                return Permit::StartsAt(free);
            }
            if !request.is_final {
                return Permit::Busy;
            }
        }
        let gap = self.engine.host_gap(host_id);
        self.in_flight.unlisted_hosts.postpone(&request.host, free, gap)
    }

    fn return_permit(&mut self, permit_return: &PermitReturn, host_id: Option<u32>) {
        let PermitReturn { host, cooldown_days, failed } = permit_return;
        let now = self.context.clock.now_days();
        match host_id.filter(|&host_id| self.engine.host_state(host_id).is_some()) {
            Some(host_id) => {
                self.handle_event(Event::HostRequestFinished {
                    host: host_id,
                    retry_after: *cooldown_days,
                    failed: *failed,
                });
                if *failed || cooldown_days.is_some() {
                    self.save_host(host_id);
                    self.in_flight.needs_write = true;
                }
            }
            None => {
                let until = self.in_flight.unlisted_hosts.return_permit(
                    permit_return,
                    now,
                    self.config.host_gap_days,
                );
                if until > now + MIN_SAVED_COOLDOWN_DAYS {
                    let cooldown =
                        HostCooldown { host: host.clone(), until: millis_from_days(until) };
                    self.in_flight.batch.host_cooldowns.push(cooldown);
                    self.in_flight.needs_write = true;
                }
            }
        }
    }

    /// Grants a permit to another process and returns it at once, since that process may never do
    /// so.
    pub(super) fn lend_permit(&mut self, request: &PermitRequest) -> Permit {
        let host_id = self.host_id(&request.host);
        let permit = self.request_permit(request, host_id);
        if let Permit::StartsAt(_) = permit {
            self.return_permit(
                &PermitReturn { host: request.host.clone(), cooldown_days: None, failed: false },
                host_id,
            );
        }
        permit
    }

    /// Records the result of a fetch by another process.
    pub(super) fn record_outside_visit(&mut self, permit_return: &PermitReturn) {
        let host_id = self.host_id(&permit_return.host);
        if let Some(host) = host_id.filter(|&host_id| self.engine.host_state(host_id).is_some()) {
            self.handle_event(Event::HostRequestStarted {
                host,
                earliest: self.context.clock.now_days(),
            });
        }
        self.return_permit(permit_return, host_id);
    }

    fn host_id(&self, host: &str) -> Option<u32> {
        let found = self.context.readers.with_reader(|reader| reader.find_host(host));
        found.ok().flatten().map(|host| host.id)
    }

    /// Hands the cooldowns of unlisted hosts that now have sources over to the engine, before it
    /// learns of the sources.
    pub(super) fn adopt_unlisted_hosts(&mut self) {
        let now = self.context.clock.now_days();
        for HostCooldown { host, until } in self.in_flight.unlisted_hosts.cooldowns_after(now) {
            let Some(host_id) = self.host_id(&host) else { continue };
            self.handle_event(Event::HostRequestStarted { host: host_id, earliest: now });
            let cooldown_days = Some(crate::clock::days_from_millis(until) - now);
            self.handle_event(Event::HostRequestFinished {
                host: host_id,
                retry_after: cooldown_days,
                failed: false,
            });
            self.save_host(host_id);
            self.in_flight.unlisted_hosts.forget(&host);
        }
    }

    /// Adds the state of a host to the next batch.
    pub(super) fn save_host(&mut self, host: u32) {
        let Some(memory) = self.engine.host_checkpoint(host) else { return };
        let until = Some(memory.free_at()).filter(|day| day.is_finite()).map(millis_from_days);
        let record = HostRecord { host, cooldown_until: until, record: memory.to_bytes() };
        let hosts = &mut self.in_flight.batch.hosts;
        // Only the last record of a host matters; they come in a row.
        match hosts.last_mut().filter(|last| last.host == host) {
            Some(last) => *last = record,
            None => hosts.push(record),
        }
    }
}
