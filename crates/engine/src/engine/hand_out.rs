//! Who is fetched next.
//!
//! Each candidate's worth grows at its own pace, so that no order stays right. Ranks are the worth a
//! short time ahead, and with each fetch a few are looked at again in turn: all ranks are about the
//! same day's, half a turn from now.

use super::Engine;
use crate::event::{Action, Reason};
use crate::source::{Flags, Source, State};

/// Sources that are compared when none is worth its price.
const LOOKED_AT: usize = 64;
/// Fetches that one step asks for.
const MOST: usize = 1024;
/// Candidates that are ranked anew for each fetch.
const RANKED: usize = 6;
/// How much less than the entry a candidate may be worth before it has to wait again.
const FALLEN: f64 = 0.7;

impl Engine {
    /// The budget would run over: of those that are due next, the one that is worth most is fetched
    /// before its time.
    pub(super) fn use_spare(&mut self, now: f64) {
        let mut next: Vec<(f64, u32)> = Vec::with_capacity(LOOKED_AT);
        let mut best: Option<(f64, u32)> = None;
        while next.len() < LOOKED_AT
            && let Some((day, id)) = self.queue.pop()
        {
            let source = &self.sources[id as usize];
            if source.state != State::Waiting || source.due != day {
                continue;
            }
            next.push((day, id));
            let may = !source.is_retried()
                && now - source.last >= f64::from(source.min_interval)
                && self.can_take(now, source.host);
            let worth = if may { self.worth(now, source) } else { 0.0 };
            if worth > best.map_or(0.0, |best| best.0) {
                best = Some((worth, id));
            }
        }
        for (day, id) in next {
            if best.is_none_or(|best| best.1 != id) {
                self.queue.push(day, id);
            }
        }
        match best {
            Some((_, id)) => self.make_ready(now, id),
            None => self.spare = false,
        }
    }

    /// The day that ranks are about.
    fn ranked_for(&self, now: f64) -> f64 {
        let turn = self.ring.len() as f64 / (RANKED as f64 * self.bucket.rate().max(1e-9));
        now + (0.5 * turn).min(1.0)
    }

    pub(super) fn make_ready(&mut self, now: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        source.state = State::Ready;
        source.due = f64::INFINITY;
        let host = source.host;
        if !source.flags.has(Flags::IN_RING) {
            source.flags.set(Flags::IN_RING, true);
            self.ring.push_back(id);
        }
        let rank = self.rank(self.ranked_for(now), &self.sources[id as usize]);
        let sources = &mut self.sources;
        let ready = &mut self.hosts[host as usize].ready;
        ready.add(rank, id, |id, place| sources[id as usize].place = place);
        self.line_up(now, host);
    }

    /// Takes a source from among the candidates.
    pub(super) fn leave_ready(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        source.state = State::Waiting;
        let (host, place) = (source.host, source.place);
        let sources = &mut self.sources;
        let ready = &mut self.hosts[host as usize].ready;
        ready.remove(place, |id, place| sources[id as usize].place = place);
        self.rank_host(host);
    }

    /// A candidate that is worth far less than the entry waits again. Says whether it does.
    pub(crate) fn send_back(&mut self, now: f64, id: u32, rank: f64) -> bool {
        let source = self.sources[id as usize];
        let entry = self.entry(source.host);
        // Of a short wait far from day 0 few digits are left: the day decides as well as the worth.
        if rank >= FALLEN * entry || source.is_retried() || self.due(now, &source, entry) <= now {
            return false;
        }
        self.leave_ready(id);
        self.enqueue(now, id);
        true
    }

    /// Ranks some candidates anew.
    fn look_around(&mut self, now: f64) {
        let day = self.ranked_for(now);
        // While there is more to spend than is asked for, nobody is sent away.
        let choosy = self.bucket.full() > now;
        for _ in 0..RANKED.min(self.ring.len()) {
            let Some(id) = self.ring.pop_front() else { break };
            let source = self.sources[id as usize];
            if source.state != State::Ready {
                self.sources[id as usize].flags.set(Flags::IN_RING, false);
                continue;
            }
            self.ring.push_back(id);
            let rank = self.rank(day, &source);
            if choosy && self.send_back(now, id, rank) {
                continue;
            }
            let sources = &mut self.sources;
            let ready = &mut self.hosts[source.host as usize].ready;
            ready.update(source.place, rank, |id, place| sources[id as usize].place = place);
            self.rank_host(source.host);
        }
    }

    /// Whether a host can be asked now.
    fn can_take(&self, now: f64, host: u32) -> bool {
        let it = &self.hosts[host as usize];
        it.asked < self.settings.host_connections && it.free <= now
    }

    /// Puts a host in line if it can be asked for something.
    pub(crate) fn line_up(&mut self, now: f64, host: u32) {
        let it = &self.hosts[host as usize];
        if it.place.is_some() {
            self.rank_host(host);
        } else if let Some(best) = it.ready.first()
            && it.asked < self.settings.host_connections
        {
            if it.free > now {
                if !it.resting {
                    self.resting.push(it.free, host);
                    self.hosts[host as usize].resting = true;
                }
            } else {
                let hosts = &mut self.hosts;
                self.line.add(best.rank, host, |host, place| {
                    hosts[host as usize].place = Some(place);
                });
            }
        }
    }

    /// The best candidate of a host may be another one.
    fn rank_host(&mut self, host: u32) {
        let it = &self.hosts[host as usize];
        let (Some(place), best) = (it.place, it.ready.first()) else { return };
        match best {
            None => self.leave_line(host),
            Some(best) => {
                let hosts = &mut self.hosts;
                self.line.update(place, best.rank, |host, place| {
                    hosts[host as usize].place = Some(place);
                });
            }
        }
    }

    pub(super) fn leave_line(&mut self, host: u32) {
        if let Some(place) = self.hosts[host as usize].place.take() {
            let hosts = &mut self.hosts;
            self.line.remove(place, |host, place| hosts[host as usize].place = Some(place));
        }
    }

    /// The best candidate of all hosts that can be asked.
    fn best(&self) -> Option<u32> {
        let host = self.line.first()?.number;
        self.hosts[host as usize].ready.first().map(|it| it.number)
    }

    /// Asks for what is worth it, as far as budget, hosts and capacity allow.
    pub(super) fn hand_out(&mut self, now: f64, actions: &mut Vec<Action>) {
        for _ in 0..MOST {
            let Some(id) = self.best().filter(|_| self.capacity > 0) else { break };
            self.saving_for = f64::from(self.sources[id as usize].cost);
            if self.bucket.when(self.saving_for) > now {
                break;
            }
            self.look_around(now);
            let Some(id) = self.best() else { break };
            let source = self.sources[id as usize];
            let host = source.host;
            if !self.can_take(now, host) {
                // The settings are not what they were.
                self.leave_line(host);
                continue;
            }
            if !self.bucket.pay(f64::from(source.cost)) {
                self.saving_for = f64::from(source.cost);
                break;
            }
            self.saving_for = 0.0;
            let rank = self.rank(now, &source);
            let reason = self.reason(now, &source, rank);
            if matches!(reason, Reason::Worth | Reason::Spare) {
                self.note_worth(host, rank);
            }
            self.leave_ready(id);
            self.leave_line(host);
            let source = &mut self.sources[id as usize];
            (source.state, source.place) = (State::Asked, host);
            source.flags.set(Flags::SIGNALLED, false);
            let it = &mut self.hosts[host as usize];
            it.asked += 1;
            it.free = it.free.max(now + self.settings.host_gap);
            if self.capacity != u32::MAX {
                self.capacity -= 1;
            }
            actions.push(Action::Fetch { id, reason });
            self.line_up(now, host);
        }
    }

    /// Why a source is fetched.
    fn reason(&self, now: f64, source: &Source, rank: f64) -> Reason {
        if source.is_retried() {
            Reason::Retry
        } else if source.is_new() {
            Reason::New
        } else if source.is_overdue(now) {
            Reason::Overdue
        } else if source.is_observed() {
            Reason::Pending
        } else if rank < FALLEN * self.entry(source.host) {
            Reason::Spare
        } else {
            Reason::Worth
        }
    }
}
