//! A small web on a virtual clock: randomly changing pages, and an engine that fetches them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use freshet_engine::{
    Action, Alarm, Engine, EngineSettings, Event, FailureCause, FetchReason, FetchResult,
    SourceDescription,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(crate) const HOUR: f64 = 1.0 / 24.0;
pub(crate) const MINUTE: f64 = HOUR / 60.0;
/// Duration of a fetch.
const LATENCY: f64 = 0.3 / 86_400.0;

/// A fetch started by the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    pub(crate) day: f64,
    pub(crate) id: u32,
    pub(crate) host: u32,
    pub(crate) importance: f64,
    pub(crate) reason: FetchReason,
    /// Value as a share of the price, if explanations are recorded.
    pub(crate) worth: f64,
    /// Observed pending changes, if explanations are recorded.
    pub(crate) pending: u32,
}

/// A page and its true change rate.
#[derive(Clone, Copy, Debug)]
struct Page {
    description: SourceDescription,
    rate: f64,
    last: f64,
}

/// Failure of a host on a day, instead of a page.
type FailureRule = Box<dyn Fn(&SourceDescription, f64) -> Option<FetchResult>>;

pub(crate) struct Web {
    pub(crate) engine: Engine,
    pub(crate) rng: Pcg64,
    pub(crate) fetches: Vec<Fetch>,
    /// All actions except fetches, with their day.
    pub(crate) actions: Vec<(f64, Action)>,
    /// Day and source of each fetch that found a change.
    pub(crate) found: Vec<(f64, u32)>,
    pub(crate) failure_rule: FailureRule,
    pub(crate) max_actions: usize,
    /// True if explanations of fetches are recorded, which takes longer.
    pub(crate) records_explanations: bool,
    pages: BTreeMap<u32, Page>,
    now: f64,
    /// Upcoming events: answers and observed changes. Days are stored as bits, which have the same
    /// order.
    upcoming: BinaryHeap<Reverse<(u64, bool, u32)>>,
}

impl Web {
    pub(crate) fn new(settings: EngineSettings) -> Self {
        let mut web = Self {
            engine: Engine::new(0.0, settings),
            rng: Pcg64::seed_from_u64(7),
            fetches: Vec::new(),
            actions: Vec::new(),
            found: Vec::new(),
            failure_rule: Box::new(|_, _| None),
            max_actions: 0,
            records_explanations: false,
            pages: BTreeMap::new(),
            now: 0.0,
            upcoming: BinaryHeap::new(),
        };
        web.send(Event::CapacityAdded(u32::MAX));
        web
    }

    /// Random number, log-uniform between two powers of ten.
    pub(crate) fn log_uniform(&mut self, from: f64, to: f64) -> f64 {
        10_f64.powf(self.rng.random_range(from..to))
    }

    /// Adds or updates pages with their true change rates.
    pub(crate) fn add(&mut self, pages: &[(SourceDescription, f64)]) {
        for &(description, rate) in pages {
            let last = description.last_fetch.unwrap_or(self.now);
            let page = self.pages.entry(description.id).or_insert(Page { description, rate, last });
            (page.description, page.rate) = (description, rate);
            if description.observed {
                self.schedule_change(description.id, rate);
            }
        }
        self.send(Event::SourcesDescribed(pages.iter().map(|it| it.0).collect()));
    }

    /// Adds pages of importance 1 on some hosts, with change rates from once in 100 days to ten a
    /// day.
    pub(crate) fn add_many(&mut self, count: u32, hosts: u32) {
        let one = |id| SourceDescription { host: id % hosts, ..SourceDescription::new(id) };
        let pages: Vec<_> = (0..count).map(|id| (one(id), self.log_uniform(-2.0, 1.0))).collect();
        self.add(&pages);
    }

    pub(crate) fn change_rate(&mut self, id: u32, rate: f64) {
        let now = self.now;
        if let Some(page) = self.pages.get_mut(&id) {
            (page.rate, page.last) = (rate, now);
        }
    }

    fn schedule_change(&mut self, id: u32, rate: f64) {
        let wait = -(1.0 - self.rng.random::<f64>()).ln() / rate;
        self.upcoming.push(Reverse(((self.now + wait).to_bits(), false, id)));
    }

    pub(crate) fn send(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.engine.step(self.now, event, &mut actions);
        self.max_actions = self.max_actions.max(actions.len());
        for action in actions {
            let Action::Fetch { id, reason } = action else {
                self.actions.push((self.now, action));
                continue;
            };
            let SourceDescription { host, importance, .. } = self.pages[&id].description;
            let it = if self.records_explanations { self.engine.explain(id) } else { None };
            let worth = it.map_or(f64::NAN, |it| it.value / it.price);
            let pending = it.and_then(|it| it.pending_changes).unwrap_or(0);
            let day = self.now;
            self.fetches.push(Fetch { day, id, host, importance, reason, worth, pending });
            self.upcoming.push(Reverse(((self.now + LATENCY).to_bits(), true, id)));
        }
    }

    /// Advances the clock.
    pub(crate) fn run_until(&mut self, day: f64) {
        loop {
            let coming = self.upcoming.peek().map_or(f64::INFINITY, |it| f64::from_bits(it.0.0));
            let next = coming.min(self.engine.next_tick());
            if next > day {
                break;
            }
            self.now = self.now.max(next);
            let event = if coming <= next { self.upcoming.pop() } else { None };
            match event {
                None => self.send(Event::Tick),
                Some(Reverse((_, true, id))) => self.finish_fetch(id),
                Some(Reverse((_, false, id))) => {
                    let rate = self.pages[&id].rate;
                    self.schedule_change(id, rate);
                    self.send(Event::ChangeObserved(id));
                }
            }
        }
        self.now = day;
    }

    fn finish_fetch(&mut self, id: u32) {
        let page = &self.pages[&id];
        let outcome = (self.failure_rule)(&page.description, self.now).unwrap_or_else(|| {
            let same = (-page.rate * (self.now - page.last)).exp();
            if self.rng.random::<f64>() < same {
                FetchResult::Unchanged
            } else {
                FetchResult::Changed
            }
        });
        if matches!(outcome, FetchResult::Changed | FetchResult::Unchanged) {
            self.pages.entry(id).and_modify(|page| page.last = self.now);
        }
        if outcome == FetchResult::Changed {
            self.found.push((self.now, id));
        }
        self.send(Event::FetchFinished { id, outcome });
    }

    /// Replaces the engine by one that resumes from its checkpoints some days later. Fetches in
    /// flight are lost.
    pub(crate) fn restart(&mut self, days: f64) {
        let old = &self.engine;
        let rest = old.checkpoint(0.0);
        let hosts: Vec<_> = (0..).map_while(|host| old.host_checkpoint(host)).collect();
        let again =
            |page: &Page| (page.description, old.learned_state(page.description.id).unwrap());
        let sources: Vec<_> = self.pages.values().map(again).collect();
        self.now += days;
        self.upcoming.retain(|it| !it.0.1);
        let mut engine = Engine::resume(self.now, *old.settings(), &rest).unwrap();
        for (number, host) in hosts.iter().enumerate() {
            engine.restore_host(number as u32, host);
        }
        self.engine = engine;
        self.send(Event::SourcesRestored(sources));
        self.send(Event::CapacityAdded(u32::MAX));
    }

    /// Fetches in a period.
    pub(crate) fn fetches_between(&self, from: f64, to: f64) -> impl Iterator<Item = &Fetch> {
        self.fetches.iter().filter(move |it| from <= it.day && it.day < to)
    }

    pub(crate) fn count(&self, from: f64, to: f64) -> f64 {
        self.fetches_between(from, to).count() as f64
    }

    /// Asserts that the fetches of each day match the budget, up to a burst.
    #[track_caller]
    pub(crate) fn assert_daily_spending(&self, from: f64, to: f64, budget: f64, burst: f64) {
        for day in 0..(to - from) as u32 {
            let from = from + f64::from(day);
            let spent = self.count(from, from + 1.0);
            assert!((spent - budget).abs() <= burst + 1.0, "{spent} of {budget} on day {from}");
        }
    }

    pub(crate) fn alarms(&self) -> impl Iterator<Item = (f64, Alarm)> {
        self.actions.iter().filter_map(|&(day, action)| match action {
            Action::Alarm(alarm) => Some((day, alarm)),
            _ => None,
        })
    }
}

pub(crate) fn budget(budget: f64) -> EngineSettings {
    EngineSettings { budget, ..EngineSettings::default() }
}

pub(crate) fn down() -> Option<FetchResult> {
    Some(FetchResult::Failed { cause: FailureCause::Host, retry_after: None })
}

pub(crate) fn mean(pages: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for one in pages {
        sum += one;
        count += 1.0;
    }
    sum / count
}
