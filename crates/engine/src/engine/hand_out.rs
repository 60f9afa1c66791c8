//! Who is fetched next.

use super::Engine;
use crate::event::{Action, Reason};
use crate::source::{Source, State};

/// Sources that are compared when none is worth its price.
const LOOKED_AT: usize = 64;
/// Fetches that one step asks for.
const MOST: usize = 1024;
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
            let may = source.failures == 0 && now - source.last >= f64::from(source.min_interval);
            let worth = if may && self.can_take(now, source.host) { self.worth(now, source) } else { 0.0 };
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

    pub(super) fn make_ready(&mut self, now: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        source.state = State::Ready;
        source.due = f64::INFINITY;
        source.place = self.hosts[source.host as usize].ready.add(id);
        let host = source.host;
        self.line_up(now, host);
    }

    /// Takes a source from among the candidates.
    pub(super) fn leave_ready(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        source.state = State::Waiting;
        let (host, place) = (source.host, source.place);
        let it = &mut self.hosts[host as usize];
        if let Some(moved) = it.ready.remove(place) {
            self.sources[moved as usize].place = place;
        }
        if it.ready.is_empty() {
            self.leave_line(host);
        }
    }

    /// A candidate that is not worth it any more waits again.
    pub(crate) fn send_back(&mut self, now: f64, id: u32) {
        self.leave_ready(id);
        self.sources[id as usize].due = f64::INFINITY;
        self.enqueue(now, id);
    }

    /// Whether a host can be asked now.
    fn can_take(&self, now: f64, host: u32) -> bool {
        let it = &self.hosts[host as usize];
        it.asked < self.settings.host_connections && it.free <= now
    }

    /// Puts a host in line if it can be asked for something.
    pub(super) fn line_up(&mut self, now: f64, host: u32) {
        let it = &self.hosts[host as usize];
        if it.place.is_some() || it.ready.is_empty() || it.asked >= self.settings.host_connections {
            return;
        }
        if it.free > now {
            self.resting.push(it.free, host);
        } else {
            let place = self.line.add(host);
            self.hosts[host as usize].place = Some(place);
        }
    }

    fn leave_line(&mut self, host: u32) {
        if let Some(place) = self.hosts[host as usize].place.take()
            && let Some(moved) = self.line.remove(place)
        {
            self.hosts[moved as usize].place = Some(place);
        }
    }

    /// Asks for what is worth it, as far as budget, hosts and capacity allow.
    pub(super) fn hand_out(&mut self, now: f64, actions: &mut Vec<Action>) {
        for _ in 0..MOST {
            if self.capacity == 0 || self.line.is_empty() || self.bucket.when(self.saving_for) > now {
                break;
            }
            let Some(host) = self.best_host(now) else { break };
            let Some((id, rank)) = self.best_of(now, host) else {
                self.leave_line(host);
                continue;
            };
            let source = self.sources[id as usize];
            if !self.bucket.pay(f64::from(source.cost)) {
                self.saving_for = f64::from(source.cost);
                break;
            }
            self.saving_for = 0.0;
            let reason = self.reason(now, &source, rank);
            if matches!(reason, Reason::Worth | Reason::Spare) {
                self.note_worth(host, rank);
            }
            self.leave_ready(id);
            self.leave_line(host);
            self.sources[id as usize].state = State::Asked;
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

    /// The host in line whose best candidate is worth most.
    fn best_host(&mut self, now: f64) -> Option<u32> {
        let mut line = std::mem::take(&mut self.line);
        if line.len() == 1 {
            let only = line.first();
            self.line = line;
            return only;
        }
        let mut places = Vec::new();
        let rank = |host: u32| {
            let first = self.hosts[host as usize].ready.first();
            first.map_or(0.0, |id| self.rank(now, &self.sources[id as usize]))
        };
        let look = line.look(rank, |host, place| places.push((host, place)));
        for (host, place) in places {
            self.hosts[host as usize].place = Some(place);
        }
        self.line = line;
        look.map(|look| look.best.0)
    }

    /// The candidate of a host that is worth most.
    fn best_of(&mut self, now: f64, host: u32) -> Option<(u32, f64)> {
        let mut ready = std::mem::take(&mut self.hosts[host as usize].ready);
        let mut places = Vec::new();
        let rank = |id: u32| self.rank(now, &self.sources[id as usize]);
        let look = ready.look(rank, |id, place| places.push((id, place)));
        for (id, place) in places {
            self.sources[id as usize].place = place;
        }
        self.hosts[host as usize].ready = ready;
        let look = look?;
        if let Some((worst, rank)) = look.worst
            && rank < FALLEN * self.entry(host)
            && self.sources[worst as usize].failures == 0
        {
            self.send_back(now, worst);
        }
        Some(look.best)
    }

    /// Why a source is fetched.
    fn reason(&self, now: f64, source: &Source, rank: f64) -> Reason {
        if source.failures > 0 {
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
