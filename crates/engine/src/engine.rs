//! The loop.

mod describe;
mod hand_out;
mod learn;
mod signal_learning;
mod visit;

use std::collections::VecDeque;
use std::hint::black_box;

use freshet_estimate::Prior;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::calendar::Queue;
use crate::chunks::Chunks;
use crate::event::{Action, Event};
use crate::heap::Heap;
use crate::host::Host;
use crate::memory::Memory;
use crate::ranked::Ranked;
use crate::settings::Settings;
use crate::signal_sources::SignalSources;
use crate::source::{Description, Goal, Source, State};
use crate::survey::{Rhythm, Survey};

use describe::Bulk;
use hand_out::SLOW;

/// Learns, prices and decides. Time is in days, from whenever the caller likes, and never goes back.
///
/// ```
/// use freshet_engine::{Action, Description, Engine, Event, Outcome, Settings};
///
/// let mut engine = Engine::new(0.0, Settings { budget: 24.0, ..Settings::default() });
/// let mut actions = Vec::new();
/// let sources = vec![Description::new(0), Description { importance: 5.0, ..Description::new(1) }];
/// engine.step(0.0, Event::Described(sources), &mut actions);
/// engine.step(0.0, Event::Capacity(1), &mut actions);
/// while !matches!(actions.last(), Some(Action::Fetch { .. })) {
///     engine.step(engine.wake(), Event::Tick, &mut actions);
/// }
/// // The more important one first.
/// let Some(&Action::Fetch { id, .. }) = actions.last() else { unreachable!() };
/// assert_eq!(id, 1);
/// engine.step(engine.now(), Event::Fetched { id, outcome: Outcome::Unchanged }, &mut actions);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) sources: Chunks<Source, 1024>,
    /// How many of them are there.
    pub(crate) count: usize,
    /// Goals that are not the settings': few.
    pub(crate) goals: Vec<Goal>,
    pub(crate) hosts: Chunks<Host, 256>,
    pub(crate) heralds: SignalSources,
    /// Descriptions that are still to be taken in.
    inbox: VecDeque<Bulk>,
    /// A long list of them that has been taken in.
    #[serde(skip)]
    spent: Vec<Description>,
    /// Sources by the day on which they are to be looked at: to be compared by worth, or tried again.
    pub(crate) queue: Queue,
    /// Sources by the day on which they will be worth the price.
    pub(crate) coming: Queue,
    /// Who waits for this day or a later one is in neither of the two: the next survey finds it.
    pub(crate) horizon: f64,
    /// Hosts by the day on which they can be asked again.
    pub(crate) resting: Heap,
    /// Hosts that can be asked, and have a candidate.
    pub(crate) line: Ranked,
    /// Candidates that are not worth the price, by the day on which they are ranked anew.
    pub(crate) aging: Heap,
    /// Those that are worth the price, in the order in which they are ranked anew.
    pub(crate) ring: VecDeque<u32>,
    pub(crate) bucket: Bucket,
    /// What a fetch must be worth now, and in the long run; 0 before it is known.
    pub(crate) price: f64,
    pub(crate) outlook: f64,
    /// Hosts that have a price of their own.
    pub(crate) saturated: u32,
    /// What all sources are like.
    pub(crate) prior: Prior,
    pub(crate) memory: Memory,
    pub(crate) survey: Option<Survey>,
    pub(crate) rhythm: Rhythm,
    pub(crate) next_survey: f64,
    /// Sources that came or went since the last survey, and whether they are so many that it cannot
    /// wait.
    turned: usize,
    look_again: bool,
    /// How often the price was doubted since the last fetch.
    doubts: u32,
    /// Whether something may be worth a fetch before its time.
    spare: bool,
    /// What the next fetch costs, if there was not enough for it.
    saving_for: f64,
    /// The day on which the first of those that come is a candidate; minus infinity if it is one, or
    /// that is not known.
    opening: f64,
    /// No fetch costs less.
    least_cost: f64,
    /// Fetches that somebody can make.
    capacity: u32,
    pub(crate) now: f64,
}

/// Sources that become candidates in one step, and hosts that get in line, at most.
const FED: usize = 64;
/// The share of all sources for whose fetches there is enough when the price is doubted, and that could
/// have been fetched since it was looked at.
const IDLE: f64 = 0.25;
/// Sources over which freshness is averaged, about.
const COUNTED: usize = 1 << 15;

impl Engine {
    /// An engine without sources.
    #[must_use]
    pub fn new(now: f64, settings: Settings) -> Self {
        let settings = settings.sane();
        let now = if now.is_finite() { now } else { 0.0 };
        Self {
            bucket: Bucket::new(now, &settings),
            prior: settings.prior,
            settings,
            sources: Chunks::default(),
            count: 0,
            goals: Vec::new(),
            hosts: Chunks::default(),
            heralds: SignalSources::default(),
            inbox: VecDeque::new(),
            spent: Vec::new(),
            queue: Queue::default(),
            resting: Heap::default(),
            line: Ranked::default(),
            coming: Queue::default(),
            horizon: now,
            aging: Heap::default(),
            ring: VecDeque::new(),
            price: 0.0,
            outlook: 0.0,
            saturated: 0,
            memory: Memory::default(),
            survey: None,
            rhythm: Rhythm::default(),
            next_survey: f64::INFINITY,
            turned: 0,
            look_again: false,
            doubts: 0,
            spare: true,
            saving_for: 0.0,
            opening: f64::NEG_INFINITY,
            least_cost: f64::INFINITY,
            capacity: 0,
            now,
        }
    }

    /// The latest day that it was told.
    #[must_use]
    pub fn now(&self) -> f64 {
        self.now
    }

    /// What it was told to keep to.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What a fetch must be worth now, in the unit of the objective, for each unit of cost: what the
    /// latest fetches were worth. 0 as long as there are no sources.
    #[must_use]
    pub fn price(&self) -> f64 {
        self.price
    }

    /// What a fetch will have to be worth in the long run, if all stays as it is.
    #[must_use]
    pub fn outlook(&self) -> f64 {
        self.outlook
    }

    /// Hosts at which more is worth its price than they can take, and what a fetch must be worth there.
    pub fn host_prices(&self) -> impl Iterator<Item = (u32, f64)> {
        let hosts = self.hosts.iter().enumerate().filter(|(_, host)| host.price > 0.0);
        hosts.map(|(number, host)| (number as u32, host.price))
    }

    /// Whether all that it was told has been taken in.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.inbox.is_empty()
    }

    /// The host of a source.
    #[must_use]
    pub fn host(&self, id: u32) -> Option<u32> {
        let source = self.sources.get(id as usize)?;
        (source.state != State::Absent).then_some(source.host)
    }

    /// What a fetch of a source takes from the budget.
    #[must_use]
    pub fn cost(&self, id: u32) -> Option<f64> {
        let source = self.sources.get(id as usize)?;
        (source.state != State::Absent).then_some(f64::from(source.cost))
    }

    /// The chance that a copy is what its source is, weighted by importance, as far as is believed: over
    /// all sources, or many of them. `None` without sources.
    #[must_use]
    pub fn freshness(&self) -> Option<f64> {
        let step = (self.sources.len() / COUNTED).max(1);
        let (mut fresh, mut all) = (0.0, 0.0);
        for at in (0..self.sources.len()).step_by(step) {
            let source = &self.sources[at];
            if source.state == State::Absent {
                continue;
            }
            let importance = f64::from(source.importance);
            all += importance;
            if !source.is_new() && source.announced_changes() == 0 {
                fresh += importance * self.fresh_now(source);
            }
        }
        (all > 0.0).then(|| fresh / all)
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
        let is_busy = self.survey.is_some() || !self.inbox.is_empty() || self.look_again;
        if is_busy || self.has_fallen(self.now) {
            return self.now;
        }
        let day = if self.can_ask() {
            let payable = self.bucket.when(self.saving_for);
            if !self.line.is_empty() {
                // Who becomes a candidate while others wait for the budget is seen when there is some.
                payable
            } else {
                let spare = if self.spare { self.bucket.full() } else { f64::INFINITY };
                let coming = match self.coming.peek() {
                    Some((day, _)) => day.min(self.opening).max(payable),
                    None => f64::INFINITY,
                };
                let next = self.queue.first().min(self.resting.first());
                coming.min(next).min(spare).min(self.idle_until())
            }
        } else {
            f64::INFINITY
        };
        day.min(self.next_survey).max(self.now)
    }

    /// The day on which the price is looked at again if nobody is fetched until then: there is enough for
    /// a good part of all, and nobody is worth the price, so it may be too high.
    fn idle_until(&self) -> f64 {
        let nobody_waits = self.queue.is_empty() && self.coming.is_empty();
        if !self.spare || nobody_waits || self.are_many() || !self.is_idle(self.now) {
            return f64::INFINITY;
        }
        // If that does not help, it will not the next moment either.
        let share = IDLE * f64::from(self.doubts.min(60)).exp2();
        self.bucket.when(IDLE * self.count as f64).max(self.day_to_doubt(share))
    }

    /// Whether nobody is a candidate.
    fn is_idle(&self, now: f64) -> bool {
        self.line.is_empty() && (self.coming.is_empty() || self.opening > now)
    }

    /// Whether there is somebody to fetch, and a budget for it.
    fn can_ask(&self) -> bool {
        self.capacity > 0 && self.bucket.rate() > 0.0
    }

    /// Takes note of an event, and says what is to be done. A day before the latest one counts as the
    /// latest.
    pub fn step(&mut self, now: f64, event: Event, actions: &mut Vec<Action>) {
        self.now = if now.is_finite() { self.now.max(now) } else { self.now };
        let now = self.now;
        self.bucket.flow(now);
        self.tidy();
        match event {
            Event::Described(some) => self.take_in(now, Bulk::Described(some, 0), actions),
            Event::Recalled(some) => self.take_in(now, Bulk::Recalled(some, 0), actions),
            Event::Removed(some) => self.take_in(now, Bulk::Removed(some, 0), actions),
            Event::Fetching(id) => self.fetching(now, id),
            Event::HostGap { host, days } => self.set_gap(host, days),
            Event::Signal(id) if self.inbox.is_empty() => self.signal(now, id),
            Event::Signal(id) => self.inbox.push_back(Bulk::Signal(id)),
            Event::Heralds(some) => self.take_in(now, Bulk::Heralds(some, 0), actions),
            Event::Dismissed(some) => self.take_in(now, Bulk::Dismissed(some, 0), actions),
            Event::Overheard(some) => self.take_in(now, Bulk::Overheard(some, 0), actions),
            Event::Heard(signal) if self.inbox.is_empty() => self.heard(now, signal),
            Event::Heard(signal) => self.inbox.push_back(Bulk::Heard(signal)),
            Event::Read { herald, found } => self.read(now, herald, found),
            Event::Fetched { id, outcome } => self.fetched(now, id, outcome, now, actions),
            Event::Reported { id, outcome, day } => self.fetched(now, id, outcome, day, actions),
            Event::PutOff { id, days, unasked } => self.put_off(now, id, days, unasked),
            Event::Visiting { host, from } => self.visiting(now, host, from),
            Event::Visited { host, rest, failed } => {
                self.visited(now, host, rest, failed, actions);
            }
            Event::Capacity(fetches) => self.capacity = self.capacity.saturating_add(fetches),
            Event::Withdrawn(fetches) => self.capacity = self.capacity.saturating_sub(fetches),
            Event::Tick => self.tick(now, actions),
            Event::Settings(settings) => self.set(now, settings.sane()),
        }
        if self.can_ask() {
            self.feed(now);
            self.hand_out(now, actions);
        }
    }

    fn set(&mut self, now: f64, settings: Settings) {
        self.bucket.set(now, &settings);
        if settings.goal != self.settings.goal {
            // The price is in another unit now.
            (self.price, self.outlook) = (0.0, 0.0);
            self.rhythm.without_price();
            if self.saturated > 0 {
                (0..self.hosts.len()).for_each(|host| self.hosts[host].price = 0.0);
                self.saturated = 0;
            }
        }
        if let Some(survey) = &mut self.survey {
            survey.forget_demand();
        }
        self.settings = settings;
        self.look_again = true;
        self.spare = true;
    }

    fn tick(&mut self, now: f64, actions: &mut Vec<Action>) {
        if !self.inbox.is_empty() {
            self.go_on_taking_in(now, actions);
        } else if self.survey.is_some() {
            if self.go_on_surveying(now, actions) {
                self.spare = true;
            }
        } else if self.look_again || self.next_survey <= now || self.has_fallen(now) {
            let at_once = std::mem::take(&mut self.look_again);
            self.turned = 0;
            self.begin_survey(now, at_once);
        }
    }

    /// Whose day has come becomes a candidate: a few at a time, so that no step is long.
    fn feed(&mut self, now: f64) {
        for _ in 0..FED {
            let Some((_, host)) = self.resting.pop_due(now) else { break };
            self.hosts[host as usize].resting = false;
            self.come_back(now, host);
        }
        for state in [State::Waiting, State::Coming, State::Ready] {
            if state == State::Coming && self.are_many() {
                continue;
            }
            for _ in 0..FED {
                let due = match state {
                    State::Ready => self.aging.pop_due(now),
                    _ => self.next_of(state, now),
                };
                let Some((day, id)) = due else { break };
                let source = &self.sources[id as usize];
                if source.state != state || source.due != day {
                    continue;
                }
                if state == State::Ready {
                    self.rank_anew(now, id);
                } else {
                    self.consider(now, id);
                }
            }
        }
        if self.idle_until() <= now {
            self.doubts = self.doubts.saturating_add(1);
            self.look_again = true;
        }
        if self.is_idle(now) && self.spare && self.bucket.full() <= now {
            self.use_spare(now);
        }
    }

    /// Puts a waiting source into the queue in which it waits, for its day.
    pub(crate) fn enqueue(&mut self, now: f64, id: u32) {
        let (state, mut day, aim) = self.next_day(now, &self.sources[id as usize]);
        self.rhythm.entry = self.rhythm.entry.max(self.common_entry());
        if state == State::Coming {
            self.rhythm.aim = self.rhythm.aim.max(aim);
            if day <= now && self.are_many() {
                day = self.past_day(self.rank(now, &self.sources[id as usize]));
            }
        }
        // Once its day has come it does not matter which.
        let source = &mut self.sources[id as usize];
        if source.state == state && (day == source.due || day.max(source.due) <= now) {
            return;
        }
        source.state = state;
        self.queue_for(day, id);
    }

    /// The day that a source waits for, how, and what it is worth then: the price, if its worth grows
    /// as it does for most; or so much that it is to be compared with others.
    fn next_day(&self, now: f64, source: &Source) -> (State, f64, f64) {
        let entry = self.entry(source.host);
        let goal = self.goal(source);
        let is_usual = matches!(goal, Goal::Keep(_)) && source.importance > 0.0;
        // At a host with a price of its own all that are worth the common one are compared.
        let is_alone = self.hosts[source.host as usize].price <= 0.0;
        if is_usual && is_alone && !source.is_new() && !source.is_observed() {
            // Most have just been fetched.
            let worth = if source.last < now { self.worth(now, source) } else { 0.0 };
            let aim = self.next_worth(worth);
            let day = self.due(now, source, aim);
            if self.are_many() {
                // Who is never worth it waits for the next survey.
                let state = if day < f64::INFINITY { State::Coming } else { State::Waiting };
                return (state, day, aim);
            }
            let is_slow = || {
                let compared = self.due(now, source, entry);
                day - source.last > SLOW * (compared - source.last)
            };
            if day < f64::INFINITY && !(goal.levels_off() && is_slow()) {
                return (State::Coming, day, aim);
            }
        }
        (State::Waiting, self.due(now, source, entry), entry)
    }

    /// Puts a waiting source into its queue, for a day; unless that is far off.
    pub(crate) fn queue_for(&mut self, day: f64, id: u32) {
        let source = &mut self.sources[id as usize];
        source.due = day;
        if day < self.horizon || day <= self.now {
            let state = source.state;
            self.queue_of(state).push(day, id);
        }
    }

    /// Takes the first of those that wait in a queue out of it, if its day is not past another.
    fn next_of(&mut self, state: State, until: f64) -> Option<(f64, u32)> {
        let Self { queue, coming, sources, hosts, .. } = self;
        let queue = if state == State::Coming { coming } else { queue };
        queue.pop_due(until, |id| {
            // It only has to be in the cache.
            let host = sources.get(id as usize).and_then(|source| hosts.get(source.host as usize));
            black_box(host.map(|host| (host.price, host.ready.len())));
        })
    }

    fn queue_of(&mut self, state: State) -> &mut Queue {
        if state == State::Coming { &mut self.coming } else { &mut self.queue }
    }
}
