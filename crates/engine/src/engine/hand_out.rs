//! Who is fetched next, among those that are worth their price.

use std::cmp::Ordering;

use super::Engine;
use crate::event::{Action, Reason};
use crate::source::{Source, State};

/// A host in line, by the worth of its best source when it got there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct InLine {
    worth: f64,
    host: u32,
}

impl Eq for InLine {}

impl Ord for InLine {
    fn cmp(&self, other: &Self) -> Ordering {
        self.worth.total_cmp(&other.worth).then(other.host.cmp(&self.host))
    }
}

impl PartialOrd for InLine {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Sources of one host that are compared with each other before one is chosen.
pub(super) const COMPARED: usize = 64;
/// The share of its price that a source must be worth to be fetched before its time.
const ALMOST: f64 = 0.3;
/// Sources that are compared for it.
const LOOKED_AT: usize = 16;

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
            let worth = if may { self.worth(now, source) } else { 0.0 };
            if worth > best.map_or(ALMOST * self.price, |best| best.0) {
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
        self.ready_cost += f64::from(source.cost);
        let host = source.host;
        self.hosts[host as usize].ready.push(id);
        self.line_up(now, host);
    }

    /// Puts a host in line if it can be asked for something.
    pub(super) fn line_up(&mut self, now: f64, host: u32) {
        let connections = self.settings.host_connections;
        let it = &self.hosts[host as usize];
        if it.lined_up || it.ready.is_empty() || it.asked >= connections {
            return;
        }
        if it.free > now {
            self.resting.push(it.free, host);
            return;
        }
        let some = it.ready.iter().rev().take(COMPARED);
        let worth = some.map(|&id| self.worth(now, &self.sources[id as usize])).fold(0.0, f64::max);
        self.line.push(InLine { worth, host });
        self.hosts[host as usize].lined_up = true;
    }

    /// Asks for what is worth it, as far as budget, hosts and capacity allow.
    pub(super) fn hand_out(&mut self, now: f64, actions: &mut Vec<Action>) {
        while self.capacity > 0
            && let Some(&InLine { host, .. }) = self.line.peek()
        {
            if self.bucket.when(self.saving_for) > now {
                break;
            }
            self.line.pop();
            self.hosts[host as usize].lined_up = false;
            let Some((place, worth)) = self.best_of(now, host) else { continue };
            let id = self.hosts[host as usize].ready[place];
            let source = self.sources[id as usize];
            let reason = self.reason(now, &source, worth);
            if reason.is_none() {
                // The price has risen since.
                self.hosts[host as usize].ready.swap_remove(place);
                self.ready_cost -= f64::from(source.cost);
                self.sources[id as usize].state = State::Waiting;
                self.enqueue(now, id);
                self.line_up(now, host);
                continue;
            }
            if !self.bucket.pay(f64::from(source.cost)) {
                self.saving_for = f64::from(source.cost);
                self.line_up(now, host);
                break;
            }
            self.saving_for = 0.0;
            let it = &mut self.hosts[host as usize];
            it.ready.swap_remove(place);
            it.asked += 1;
            it.free = now + self.settings.host_gap;
            self.ready_cost -= f64::from(source.cost);
            self.sources[id as usize].state = State::Asked;
            if self.capacity != u32::MAX {
                self.capacity -= 1;
            }
            actions.push(Action::Fetch { id, reason: reason.unwrap_or(Reason::Worth) });
            self.line_up(now, host);
        }
    }

    /// The source of a host that is worth most now.
    fn best_of(&self, now: f64, host: u32) -> Option<(usize, f64)> {
        let ready = &self.hosts[host as usize].ready;
        // Among many, the latest comers and some others: all are worth their price.
        let stride = (ready.len() / COMPARED).max(1);
        (0..ready.len())
            .rev()
            .step_by(stride)
            .map(|place| (place, self.worth(now, &self.sources[ready[place] as usize])))
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    }

    /// Why a source is to be fetched; `None` if it is not worth its price any more. The day decides as
    /// well as the worth: of a short wait far from day 0 few digits are left.
    fn reason(&self, now: f64, source: &Source, worth: f64) -> Option<Reason> {
        if source.failures > 0 {
            Some(Reason::Retry)
        } else if source.last == f64::NEG_INFINITY {
            Some(Reason::New)
        } else if now - source.last >= f64::from(source.max_interval) {
            Some(Reason::Overdue)
        } else if worth >= self.price || self.due(now, source) <= now || self.bucket.full() <= now {
            Some(if source.observed { Reason::Pending } else { Reason::Worth })
        } else {
            None
        }
    }
}
