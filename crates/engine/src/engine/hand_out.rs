//! Who is fetched next.
//!
//! Most sources wait for the day on which they are worth the price, and whoever comes first there is
//! fetched first. Ranks, which change as time passes, are only kept for those whose worth levels off
//! and for those that are worth the price and have to wait.

use super::{Engine, FED};
use crate::event::{Action, Reason};
use crate::source::{Flags, Source, State};

/// Sources that are compared when none is worth its price.
const LOOKED_AT: usize = 64;
const LOOKED_AT_OF_MANY: usize = 4;
/// Fetches that one step asks for.
const MOST: usize = 1024;
/// Candidates that are ranked anew for each fetch.
const RANKED: usize = 2;
/// How many are few; if there are more, three times as many are ranked anew.
const FEW: usize = 64;
/// How much a rank below the price grows until it is looked at again.
const GROWTH: f64 = 1.02;
/// The share of the entry that a source must be worth when its day has come: a price that rises
/// slowly does not send it back again and again.
const ALMOST: f64 = 0.97;
/// The share of the price that is as good as the price.
const NEARLY: f64 = 0.99;
/// How much longer an interval may become until the price is reached; who takes longer is compared by
/// worth.
pub(super) const SLOW: f64 = 1.5;
/// In days.
const SECOND: f64 = 1.0 / 86_400.0;
/// How much less than the entry a candidate may be worth before it has to wait again.
const FALLEN: f64 = 0.7;

impl Engine {
    /// The budget would run over: of those that are due next, the one that is worth most is fetched
    /// before its time.
    pub(super) fn use_spare(&mut self, now: f64) {
        let most = if self.are_many() { LOOKED_AT_OF_MANY } else { LOOKED_AT };
        let mut next: Vec<(f64, u32, State)> = Vec::with_capacity(2 * most);
        let mut best: Option<(f64, u32)> = None;
        for state in [State::Waiting, State::Coming] {
            let before = next.len();
            while next.len() < before + most
                && let Some((day, id)) = self.next_of(state, f64::INFINITY)
            {
                let source = &self.sources[id as usize];
                if source.state != state || source.due != day {
                    continue;
                }
                next.push((day, id, state));
                let may = !source.is_retried()
                    && now >= source.last + f64::from(source.min_interval)
                    && self.can_take(now, source.host);
                let worth = if may { self.worth(now, source) } else { 0.0 };
                if worth > best.map_or(0.0, |best| best.0) {
                    best = Some((worth, id));
                }
            }
        }
        for (day, id, state) in next {
            if best.is_none_or(|best| best.1 != id) {
                self.queue_of(state).push(day, id);
            }
        }
        self.look_farther(now);
        match best {
            Some((worth, id)) => self.make_ready(now, id, worth),
            None => {
                self.spare = false;
                self.ask_less(now);
            }
        }
    }

    /// A source's day has come: it becomes a candidate, or waits on.
    pub(crate) fn consider(&mut self, now: f64, id: u32) {
        let source = self.sources[id as usize];
        let rank = self.rank(now, &source);
        if !source.is_retried() && rank < ALMOST * self.entry(source.host) {
            // The price has risen since; or the last digits of the day are missing.
            self.sources[id as usize].due = f64::INFINITY;
            self.enqueue(now, id);
            if self.sources[id as usize].due <= now {
                self.make_ready(now, id, rank);
            }
            return;
        }
        // At a host with a price of its own all that are worth the common one are compared.
        let price = self.price;
        if rank < NEARLY * price && !source.is_retried() && !source.is_observed() {
            let aim = self.next_worth(rank);
            let day = self.due(now, &source, aim);
            let is_slow =
                self.levels_off(&source) && day - source.last > SLOW * (now - source.last);
            if day > now && day < f64::INFINITY && !is_slow {
                self.rhythm.aim = self.rhythm.aim.max(aim);
                self.sources[id as usize].state = State::Coming;
                return self.queue_for(day, id);
            }
        }
        self.make_ready(now, id, rank);
    }

    pub(super) fn make_ready(&mut self, now: f64, id: u32, rank: f64) {
        let source = &mut self.sources[id as usize];
        source.state = State::Ready;
        let host = source.host;
        let sources = &mut self.sources;
        let ready = &mut self.hosts[host as usize].ready;
        ready.add(rank, id, |id, place| sources[id as usize].place = place);
        self.line_up(now, host);
        self.watch(now, id, rank);
    }

    /// Ranks a candidate anew.
    pub(super) fn rank_anew(&mut self, now: f64, id: u32) {
        let source = self.sources[id as usize];
        let rank = self.rank(now, &source);
        let is_usual = !self.levels_off(&source) && !source.is_observed();
        let is_alone = self.hosts[source.host as usize].price <= 0.0;
        if rank < ALMOST * self.price && is_usual && is_alone && !source.is_retried() {
            // The price has risen: it comes again.
            self.leave_ready(id);
            self.consider(now, id);
            return;
        }
        // While there is more to spend than is asked for, nobody is sent away.
        if self.bucket.full() > now && self.send_back(now, id, rank) {
            return;
        }
        let sources = &mut self.sources;
        let ready = &mut self.hosts[source.host as usize].ready;
        ready.update(source.place, rank, |id, place| sources[id as usize].place = place);
        self.rank_host(source.host);
        self.watch(now, id, rank);
    }

    /// Sees to it that a candidate is ranked anew when its rank has changed: in turn with the others
    /// that are worth the price, or on its own day.
    fn watch(&mut self, now: f64, id: u32, rank: f64) {
        let source = self.sources[id as usize];
        if rank >= self.price || source.is_retried() {
            self.join_ring(id);
        } else {
            let day = self.due(now, &source, self.price.min(GROWTH * rank));
            // Between two fetches once is enough.
            let pause = self.bucket.rate().recip().min(SECOND);
            let day = day.max(now + pause).max(now.next_up());
            self.sources[id as usize].due = day;
            self.aging.push(day, id);
        }
    }

    fn join_ring(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        source.due = f64::INFINITY;
        if !source.flags.has(Flags::IN_RING) {
            source.flags.set(Flags::IN_RING, true);
            self.ring.push_back(id);
        }
    }

    /// Takes a source from among the candidates.
    pub(super) fn leave_ready(&mut self, id: u32) {
        let source = &mut self.sources[id as usize];
        (source.state, source.due) = (State::Waiting, f64::INFINITY);
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

    /// Ranks some of those that are worth the price anew.
    fn look_around(&mut self, now: f64) {
        let some = if self.ring.len() < FEW { RANKED.min(self.ring.len()) } else { 3 * RANKED };
        for _ in 0..some {
            let Some(id) = self.ring.pop_front() else { break };
            let source = &mut self.sources[id as usize];
            source.flags.set(Flags::IN_RING, false);
            if source.state == State::Ready {
                self.rank_anew(now, id);
            }
        }
    }

    /// Days between two fetches from a host.
    pub(crate) fn gap(&self, host: u32) -> f64 {
        self.settings.host_gap.max(self.hosts[host as usize].gap)
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

    /// A host can perhaps be asked again: what its best candidate is worth may have changed meanwhile.
    pub(super) fn come_back(&mut self, now: f64, host: u32) {
        if self.can_take(now, host)
            && let Some(best) = self.hosts[host as usize].ready.first()
        {
            self.rank_anew(now, best.number);
        }
        self.line_up(now, host);
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

    /// Who is to be fetched next: of those in line the one that is worth most; or, as long as nobody
    /// there is worth the price, whoever will be first, if that is worth more now. Saves for it. Says what
    /// it is worth now, where that had to be found.
    fn best(&mut self, now: f64) -> Option<(u32, Option<f64>)> {
        let first = self.line.first();
        let in_line = first.and_then(|it| self.hosts[it.number as usize].ready.first());
        let mut best = in_line.map(|it| (it.number, None));
        let rank = first.map_or(0.0, |it| it.rank);
        self.opening = f64::NEG_INFINITY;
        let is_worth_it = best.is_some() && rank >= NEARLY * self.price && !self.are_many();
        let mut moved = 0;
        while !is_worth_it && let Some((day, id)) = self.coming.peek() {
            if moved == FED {
                break;
            }
            let source = &self.sources[id as usize];
            if source.state != State::Coming || source.due != day {
                self.next_of(State::Coming, f64::INFINITY);
                continue;
            }
            let allowed = source.last + f64::from(source.min_interval);
            if allowed > now {
                // Its owner wants it later: it makes way for others.
                self.next_of(State::Coming, f64::INFINITY);
                self.sources[id as usize].state = State::Waiting;
                self.queue_for(allowed, id);
                moved += 1;
                continue;
            }
            let has_come = day <= now && self.are_many();
            if has_come && self.hosts[source.host as usize].price > 0.0 {
                // Its host has a price of its own by now.
                self.next_of(State::Coming, f64::INFINITY);
                self.sources[id as usize].due = f64::INFINITY;
                self.enqueue(now, id);
                moved += 1;
                continue;
            }
            let its_rank = self.rank(now, source);
            let entry = self.entry(source.host);
            if its_rank < ALMOST * entry && !has_come {
                // Of a short wait far from day 0 few digits are left: the day decides as well.
                let opening = self.due(now, source, entry);
                if opening > now {
                    self.opening = opening;
                    break;
                }
            }
            if best.is_none() || its_rank > rank {
                best = Some((id, Some(its_rank)));
            }
            break;
        }
        self.saving_for = f64::from(self.sources[best?.0 as usize].cost);
        best
    }

    /// Asks for what is worth it, as far as budget, hosts and capacity allow.
    pub(super) fn hand_out(&mut self, now: f64, actions: &mut Vec<Action>) {
        for _ in 0..MOST {
            self.saving_for = self.least_cost;
            if self.capacity == 0 || !self.bucket.has(self.saving_for) {
                break;
            }
            self.look_around(now);
            let best = self.best(now).filter(|_| self.bucket.has(self.saving_for));
            let Some((id, rank)) = best else { break };
            let source = self.sources[id as usize];
            let host = source.host;
            let rank = rank.unwrap_or_else(|| self.rank(now, &source));
            let is_coming = source.state == State::Coming;
            if is_coming {
                self.next_of(State::Coming, f64::INFINITY);
            }
            if !self.can_take(now, host) {
                // It waits for its host; or the settings are not what they were.
                if is_coming {
                    self.make_ready(now, id, rank);
                }
                self.leave_line(host);
                continue;
            }
            let reason = self.reason(now, &source, rank);
            if matches!(reason, Reason::Worth | Reason::Spare) {
                self.note_worth(host, rank);
            }
            if !is_coming {
                self.leave_ready(id);
            }
            self.ask(now, id);
            if reason == Reason::Pending && source.ear().is_some() {
                self.follow(now, &source, rank);
            }
            if self.capacity != u32::MAX {
                self.capacity -= 1;
            }
            self.doubts = 0;
            actions.push(Action::Fetch { id, reason });
            self.line_up(now, host);
        }
    }

    /// Pays for a fetch of a source that waits for nothing any more.
    fn ask(&mut self, now: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        let host = source.host;
        (source.state, source.due, source.place) = (State::Asked, f64::INFINITY, host);
        source.flags.set(Flags::SIGNALLED, false);
        let ear = source.ear();
        self.bucket.pay(f64::from(source.cost));
        self.begin_to_listen(ear);
        self.leave_line(host);
        let gap = self.gap(host);
        let it = &mut self.hosts[host as usize];
        it.asked += 1;
        it.free = it.free.max(now + gap);
    }

    /// Somebody fetches a source without being asked to.
    pub(super) fn fetching(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get(id as usize) else { return };
        if matches!(source.state, State::Absent | State::Asked) {
            return;
        }
        if source.state == State::Ready {
            self.leave_ready(id);
        }
        let host = self.sources[id as usize].host;
        self.ask(now, id);
        self.line_up(now, host);
    }

    /// Why a source is fetched.
    fn reason(&self, now: f64, source: &Source, rank: f64) -> Reason {
        if source.is_retried() {
            Reason::Retry
        } else if source.is_new() {
            Reason::New
        } else if source.is_overdue(now) {
            Reason::Overdue
        } else if source.is_observed() || self.is_moved(now, source, rank) {
            Reason::Pending
        } else if rank < FALLEN * self.entry(source.host) {
            Reason::Spare
        } else {
            Reason::Worth
        }
    }
}
