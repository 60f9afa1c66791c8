//! A small web on a virtual clock: pages that change by chance, and an engine that fetches them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use freshet_engine::{Action, Alarm, Blame, Description, Engine, Event, Outcome, Reason, Settings};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(crate) const HOUR: f64 = 1.0 / 24.0;
pub(crate) const MINUTE: f64 = HOUR / 60.0;
/// A fetch takes as long.
const LATENCY: f64 = 0.3 / 86_400.0;

/// A fetch that the engine asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    pub(crate) day: f64,
    pub(crate) id: u32,
    pub(crate) host: u32,
    pub(crate) importance: f64,
    pub(crate) reason: Reason,
    /// What the engine thought of it, in parts of the price, if that was asked for.
    pub(crate) worth: f64,
    /// Changes that had been announced, if that was asked for.
    pub(crate) pending: u32,
}

/// A page as it is.
#[derive(Clone, Copy, Debug)]
struct Page {
    told: Description,
    rate: f64,
    last: f64,
}

/// What a host answers instead of a page, on a day.
type FailureRule = Box<dyn Fn(&Description, f64) -> Option<Outcome>>;

pub(crate) struct Web {
    pub(crate) engine: Engine,
    pub(crate) rng: Pcg64,
    pub(crate) fetches: Vec<Fetch>,
    /// All that the engine said but fetches.
    pub(crate) said: Vec<(f64, Action)>,
    /// When each fetch that found a change did.
    pub(crate) found: Vec<(f64, u32)>,
    pub(crate) trouble: FailureRule,
    pub(crate) most_actions: usize,
    /// Whether fetches are explained, which takes longer.
    pub(crate) curious: bool,
    pages: BTreeMap<u32, Page>,
    now: f64,
    /// What comes next: answers, and announced changes. Days as bits, which order as they do.
    coming: BinaryHeap<Reverse<(u64, bool, u32)>>,
}

impl Web {
    pub(crate) fn new(settings: Settings) -> Self {
        let mut web = Self {
            engine: Engine::new(0.0, settings),
            rng: Pcg64::seed_from_u64(7),
            fetches: Vec::new(),
            said: Vec::new(),
            found: Vec::new(),
            trouble: Box::new(|_, _| None),
            most_actions: 0,
            curious: false,
            pages: BTreeMap::new(),
            now: 0.0,
            coming: BinaryHeap::new(),
        };
        web.tell(Event::Capacity(u32::MAX));
        web
    }

    /// A number from a power of ten to another.
    pub(crate) fn log(&mut self, from: f64, to: f64) -> f64 {
        10_f64.powf(self.rng.random_range(from..to))
    }

    /// Adds pages with their true change rates, or describes them anew.
    pub(crate) fn add(&mut self, some: &[(Description, f64)]) {
        for &(told, rate) in some {
            let last = told.fetched.unwrap_or(self.now);
            let page = self.pages.entry(told.id).or_insert(Page { told, rate, last });
            (page.told, page.rate) = (told, rate);
            if told.observed {
                self.announce(told.id, rate);
            }
        }
        self.tell(Event::Described(some.iter().map(|it| it.0).collect()));
    }

    /// Many pages on some hosts, of importance 1, with change rates from once in 100 days to ten a day.
    pub(crate) fn add_many(&mut self, count: u32, hosts: u32) {
        let one = |id| Description { host: id % hosts, ..Description::new(id) };
        let some: Vec<_> = (0..count).map(|id| (one(id), self.log(-2.0, 1.0))).collect();
        self.add(&some);
    }

    pub(crate) fn change_rate(&mut self, id: u32, rate: f64) {
        let now = self.now;
        if let Some(page) = self.pages.get_mut(&id) {
            (page.rate, page.last) = (rate, now);
        }
    }

    fn announce(&mut self, id: u32, rate: f64) {
        let wait = -(1.0 - self.rng.random::<f64>()).ln() / rate;
        self.coming.push(Reverse(((self.now + wait).to_bits(), false, id)));
    }

    pub(crate) fn tell(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.engine.step(self.now, event, &mut actions);
        self.most_actions = self.most_actions.max(actions.len());
        for action in actions {
            let Action::Fetch { id, reason } = action else {
                self.said.push((self.now, action));
                continue;
            };
            let Description { host, importance, .. } = self.pages[&id].told;
            let it = if self.curious { self.engine.explain(id) } else { None };
            let worth = it.map_or(f64::NAN, |it| it.worth / it.price);
            let pending = it.and_then(|it| it.pending).unwrap_or(0);
            let day = self.now;
            self.fetches.push(Fetch { day, id, host, importance, reason, worth, pending });
            self.coming.push(Reverse(((self.now + LATENCY).to_bits(), true, id)));
        }
    }

    /// Lets the time pass.
    pub(crate) fn run_until(&mut self, day: f64) {
        loop {
            let coming = self.coming.peek().map_or(f64::INFINITY, |it| f64::from_bits(it.0.0));
            let next = coming.min(self.engine.wake());
            if next > day {
                break;
            }
            self.now = self.now.max(next);
            let event = if coming <= next { self.coming.pop() } else { None };
            match event {
                None => self.tell(Event::Tick),
                Some(Reverse((_, true, id))) => self.answer(id),
                Some(Reverse((_, false, id))) => {
                    let rate = self.pages[&id].rate;
                    self.announce(id, rate);
                    self.tell(Event::Signal(id));
                }
            }
        }
        self.now = day;
    }

    fn answer(&mut self, id: u32) {
        let page = &self.pages[&id];
        let outcome = (self.trouble)(&page.told, self.now).unwrap_or_else(|| {
            let same = (-page.rate * (self.now - page.last)).exp();
            if self.rng.random::<f64>() < same { Outcome::Unchanged } else { Outcome::Changed }
        });
        if matches!(outcome, Outcome::Changed | Outcome::Unchanged) {
            self.pages.entry(id).and_modify(|page| page.last = self.now);
        }
        if outcome == Outcome::Changed {
            self.found.push((self.now, id));
        }
        self.tell(Event::Fetched { id, outcome });
    }

    /// The engine ends; some days later another one goes on with what was kept of it. Answers that were
    /// under way are lost.
    pub(crate) fn restart(&mut self, days: f64) {
        let old = &self.engine;
        let rest = old.checkpoint(0.0);
        let hosts: Vec<_> = (0..).map_while(|host| old.host_checkpoint(host)).collect();
        let again = |page: &Page| (page.told, old.learned_state(page.told.id).unwrap());
        let sources: Vec<_> = self.pages.values().map(again).collect();
        self.now += days;
        self.coming.retain(|it| !it.0.1);
        let mut engine = Engine::resume(self.now, *old.settings(), &rest).unwrap();
        for (number, host) in hosts.iter().enumerate() {
            engine.restore_host(number as u32, host);
        }
        self.engine = engine;
        self.tell(Event::Recalled(sources));
        self.tell(Event::Capacity(u32::MAX));
    }

    /// The fetches from a day to another.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Fetch> {
        self.fetches.iter().filter(move |it| from <= it.day && it.day < to)
    }

    pub(crate) fn count(&self, from: f64, to: f64) -> f64 {
        self.between(from, to).count() as f64
    }

    /// Each of the days' fetches are what the budget says, but for a burst.
    #[track_caller]
    pub(crate) fn spends(&self, from: f64, to: f64, budget: f64, burst: f64) {
        for day in 0..(to - from) as u32 {
            let from = from + f64::from(day);
            let spent = self.count(from, from + 1.0);
            assert!((spent - budget).abs() <= burst + 1.0, "{spent} of {budget} on day {from}");
        }
    }

    pub(crate) fn alarms(&self) -> impl Iterator<Item = (f64, Alarm)> {
        self.said.iter().filter_map(|&(day, action)| match action {
            Action::Alarm(alarm) => Some((day, alarm)),
            _ => None,
        })
    }
}

pub(crate) fn budget(budget: f64) -> Settings {
    Settings { budget, ..Settings::default() }
}

pub(crate) fn down() -> Option<Outcome> {
    Some(Outcome::Failed { blame: Blame::Host, retry_after: None })
}

pub(crate) fn mean(some: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for one in some {
        sum += one;
        count += 1.0;
    }
    sum / count
}
