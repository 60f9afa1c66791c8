//! The loop.

mod hand_out;

use std::collections::BinaryHeap;

use freshet_estimate::{Pending, Prior};
use freshet_schedule::Agenda;

use crate::bucket::Bucket;
use crate::event::{Action, Blame, Event, Outcome};
use crate::host::{Host, back_off};
use crate::price::Survey;
use crate::settings::Settings;
use crate::source::{Description, Source, State};

use hand_out::{COMPARED, InLine};

/// Learns, prices and decides. Time is in days, from whenever the caller likes, and never goes back.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) sources: Vec<Source>,
    /// How many of them are there.
    pub(crate) count: usize,
    pub(crate) hosts: Vec<Host>,
    /// Sources by the day on which they will be worth their price.
    queue: Agenda,
    /// Hosts by the day on which they can be asked again.
    resting: Agenda,
    /// Hosts that can be asked and have a source that is worth it, the most worthy first.
    line: BinaryHeap<InLine>,
    pub(crate) bucket: Bucket,
    pub(crate) price: f64,
    pub(crate) prior: Prior,
    /// How much the price must differ from what the estimates say, as a logarithm.
    pub(crate) bias: f64,
    /// What the sources that are worth their price would cost.
    pub(crate) ready_cost: f64,
    pub(crate) survey: Option<Survey>,
    next_survey: f64,
    /// Sources that came or went since the last price.
    turnover: usize,
    /// Whether something may be worth a fetch before its time.
    spare: bool,
    /// What the next fetch costs, if there was not enough for it.
    saving_for: f64,
    /// Fetches that somebody can make.
    capacity: u32,
    now: f64,
}

/// Probes of a source that is gone before nobody asks any more.
const PROBES: u8 = 4;
/// Days to the first probe of a source that is gone.
const FIRST_PROBE: f64 = 7.0;

impl Engine {
    /// An engine without sources.
    #[must_use]
    pub fn new(now: f64, settings: Settings) -> Self {
        Self {
            bucket: Bucket::new(now, settings.budget, settings.burst()),
            settings,
            sources: Vec::new(),
            count: 0,
            hosts: Vec::new(),
            queue: Agenda::default(),
            resting: Agenda::default(),
            line: BinaryHeap::new(),
            price: 0.0,
            prior: Prior::BROAD,
            bias: 0.0,
            ready_cost: 0.0,
            survey: None,
            next_survey: f64::INFINITY,
            turnover: 0,
            spare: true,
            saving_for: 0.0,
            capacity: 0,
            now,
        }
    }

    /// What a fetch must be worth, in the unit of the objective, for each unit of cost.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price
    }

    /// How many sources there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The day on which it wants a tick; infinite if it waits for events only.
    #[must_use]
    pub fn wake(&self) -> f64 {
        if self.survey.is_some() || self.turnover > 0 {
            return self.now;
        }
        let payable = match self.line.peek() {
            Some(_) if self.capacity > 0 => self.bucket.when(self.saving_for).max(self.now),
            _ => f64::INFINITY,
        };
        let spare =
            if self.line.is_empty() && self.spare { self.bucket.full() } else { f64::INFINITY };
        let due = if self.settings.budget > 0.0 { self.queue.first() } else { f64::INFINITY };
        due.min(spare).min(self.resting.first()).min(payable).min(self.next_survey).max(self.now)
    }

    /// Takes note of an event, and says what is to be done.
    pub fn step(&mut self, now: f64, event: Event<'_>, actions: &mut Vec<Action>) {
        self.now = self.now.max(now);
        let now = self.now;
        self.bucket.flow(now);
        match event {
            Event::Described(descriptions) => {
                for description in descriptions {
                    self.describe(now, description);
                }
            }
            Event::Removed(ids) => {
                for &id in ids {
                    self.remove(id);
                }
            }
            Event::Fetched { id, outcome } => self.fetched(now, id, outcome, actions),
            Event::Signal(id) => self.signal(now, id),
            Event::Capacity(fetches) => self.capacity = self.capacity.saturating_add(fetches),
            Event::Tick => self.tick(now, actions),
            Event::Settings(settings) => {
                self.bucket.set(now, settings.budget, settings.burst());
                self.settings = settings;
                self.turnover = self.turnover.max(1);
            }
        }
        self.hand_out(now, actions);
    }

    fn tick(&mut self, now: f64, actions: &mut Vec<Action>) {
        if self.turnover > 0 && self.survey.is_none() {
            // A first price for many new sources; the survey does the rest.
            let many = self.turnover * 50 > self.count || self.price == 0.0;
            self.turnover = 0;
            if many {
                self.find_price();
                actions.push(Action::Priced { price: self.price });
            }
            self.begin_survey();
        } else if self.survey.is_some() {
            self.go_on_surveying(now);
            if self.survey.is_none() {
                self.next_survey = now + self.epoch();
                self.spare = true;
                actions.push(Action::Priced { price: self.price });
            }
        } else if self.next_survey <= now {
            self.begin_survey();
        }
        while let Some((_, host)) = self.resting.pop_due(now) {
            self.line_up(now, host);
        }
        if self.line.is_empty() && self.spare && self.bucket.full() <= now {
            self.use_spare(now);
        }
        // A few at a time: no step is long.
        for _ in 0..COMPARED {
            let Some((day, id)) = self.queue.pop_due(now) else { break };
            let source = &self.sources[id as usize];
            if source.state == State::Waiting && source.due == day {
                self.make_ready(now, id);
            }
        }
    }

    fn describe(&mut self, now: f64, it: &Description) {
        let (id, host) = (it.id as usize, it.host as usize);
        while self.hosts.len() <= host {
            self.hosts.push(Host::new(self.prior));
        }
        let prior = self.hosts[host].prior;
        if self.sources.len() <= id {
            let nobody = Source {
                belief: prior.belief(),
                last: f64::NEG_INFINITY,
                seen: now,
                due: f64::INFINITY,
                first: 0.0,
                importance: 0.0,
                cost: 1.0,
                min_interval: 0.0,
                max_interval: f32::INFINITY,
                host: 0,
                pending: 0,
                failures: 0,
                state: State::Absent,
                penalty: it.penalty,
                observed: false,
                known: false,
            };
            self.sources.resize(id + 1, nobody);
        }
        let source = &mut self.sources[id];
        if source.state == State::Absent {
            self.count += 1;
            *source = Source {
                belief: prior.belief(),
                last: f64::NEG_INFINITY,
                seen: now,
                state: State::Waiting,
                pending: 0,
                failures: 0,
                ..*source
            };
        } else if source.host != it.host {
            let from = self.hosts[source.host as usize].prior;
            source.belief = source.belief.rebase(from, prior);
        }
        if let Some(belief) = it.belief {
            (source.belief, source.known) = (belief, true);
        }
        if let Some(day) = it.fetched {
            source.last = source.last.max(day);
        }
        source.importance = it.importance as f32;
        source.cost = it.cost as f32;
        source.min_interval = it.min_interval as f32;
        source.max_interval = it.max_interval as f32;
        source.penalty = it.penalty;
        source.observed = it.observed;
        if source.state != State::Ready {
            source.host = it.host;
        }
        self.turnover += 1;
        if source.state == State::Waiting && self.price > 0.0 {
            self.enqueue(now, it.id);
        }
    }

    fn remove(&mut self, id: u32) {
        let Some(source) = self.sources.get_mut(id as usize) else { return };
        if source.state == State::Absent {
            return;
        }
        let (state, host, cost) = (source.state, source.host as usize, f64::from(source.cost));
        source.state = State::Absent;
        source.due = f64::INFINITY;
        self.count -= 1;
        self.turnover += 1;
        match state {
            State::Ready => {
                self.ready_cost -= cost;
                self.hosts[host].ready.retain(|&other| other != id);
            }
            State::Asked => self.hosts[host].asked -= 1,
            _ => {}
        }
    }

    /// Puts a waiting source into the queue for the day on which it will be worth its price.
    pub(crate) fn enqueue(&mut self, now: f64, id: u32) {
        let source = &self.sources[id as usize];
        let day = self.due(now, source);
        let source = &mut self.sources[id as usize];
        if day != source.due {
            source.due = day;
            self.queue.push(day, id);
        }
    }

    /// The day on which a source will be worth its price.
    fn due(&self, now: f64, source: &Source) -> f64 {
        if source.last == f64::NEG_INFINITY {
            return now;
        }
        let latest = source.last + f64::from(source.max_interval);
        if !source.observed {
            return source.last + self.interval(source, self.price);
        }
        if source.pending == 0 {
            return latest;
        }
        let (cost, weight) = (f64::from(source.cost), f64::from(source.importance));
        let price = self.price * cost * self.hosts[source.host as usize].surcharge / weight;
        let worth = |days: f64| {
            let pending = Pending { changes: source.pending, days };
            source.penalty.pending_value(source.belief.unchanged(now - source.seen), pending)
        };
        let earliest = source.last + f64::from(source.min_interval);
        if worth((now - source.first).max(0.0)) >= price {
            return now.max(earliest);
        }
        // Only age grows by itself: T²/2 + T·E[1/c].
        let rate = worth(1.0) - 0.5;
        let day = if source.penalty == freshet_estimate::Penalty::Age && rate.is_finite() {
            source.first + 2.0 * price / (rate + (rate * rate + 2.0 * price).sqrt())
        } else {
            f64::INFINITY
        };
        day.max(earliest).min(latest)
    }

    /// What a fetch of a source is worth now, for each unit of the price it has to pay.
    fn worth(&self, now: f64, source: &Source) -> f64 {
        if source.last == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        let value = if source.observed {
            let pending = Pending { changes: source.pending, days: now - source.first };
            if source.pending > 0 {
                source.penalty.pending_value(source.belief.unchanged(now - source.seen), pending)
            } else {
                0.0
            }
        } else {
            source.penalty.value(source.belief, now - source.last)
        };
        let surcharge = self.hosts[source.host as usize].surcharge;
        f64::from(source.importance) * value / (f64::from(source.cost) * surcharge)
    }

    fn signal(&mut self, now: f64, id: u32) {
        let Some(source) = self.sources.get_mut(id as usize) else { return };
        if source.state == State::Absent || !source.observed {
            return;
        }
        if source.pending == 0 {
            source.first = now;
        }
        source.pending = source.pending.saturating_add(1);
        let days = now - source.seen;
        if days > 0.0 && !source.known {
            let prior = self.hosts[source.host as usize].prior;
            let half_life = self.settings.half_life;
            source.belief = source.belief.forget(prior, days, half_life).counted(1, days);
            source.seen = now;
        }
        if source.state == State::Waiting {
            self.enqueue(now, id);
        }
    }

    fn fetched(&mut self, now: f64, id: u32, outcome: Outcome, actions: &mut Vec<Action>) {
        let Some(source) = self.sources.get_mut(id as usize) else { return };
        if source.state != State::Asked {
            return;
        }
        let host = source.host;
        source.state = State::Waiting;
        let it = &mut self.hosts[host as usize];
        it.asked -= 1;
        let (known, prior) = (source.known, it.prior);
        match outcome {
            Outcome::Changed | Outcome::Unchanged => {
                it.failures /= 2;
                source.failures = 0;
                if source.last > f64::NEG_INFINITY {
                    let days = if source.observed { now - source.seen } else { now - source.last };
                    if !known {
                        source.belief = source.belief.forget(prior, days, self.settings.half_life);
                    }
                    source.belief = match outcome {
                        _ if source.observed => source.belief.unchanged(days),
                        Outcome::Changed => source.belief.changed(days),
                        _ => source.belief.unchanged(days),
                    };
                }
                (source.last, source.seen) = (now, now);
                source.pending = 0;
                self.spare = true;
                self.enqueue(now, id);
            }
            Outcome::Failed { blame, retry_after } => {
                let mut wait = retry_after.unwrap_or(0.0).max(0.0);
                if blame == Blame::Host {
                    it.failures = it.failures.saturating_add(1);
                    wait = wait.max(back_off(it.failures));
                    it.free = it.free.max(now + wait);
                }
                if blame != Blame::Us {
                    source.failures = source.failures.saturating_add(1);
                }
                let again = now + wait.max(back_off(source.failures));
                source.due = again;
                self.queue.push(again, id);
            }
            Outcome::Gone => {
                source.failures = source.failures.saturating_add(1);
                if source.failures > PROBES {
                    source.state = State::Parked;
                    source.due = f64::INFINITY;
                    actions.push(Action::Gone(id));
                } else {
                    let again = now + FIRST_PROBE * f64::from(1_u32 << (source.failures - 1));
                    source.due = again;
                    self.queue.push(again, id);
                }
            }
        }
        self.line_up(now, host);
    }
}
