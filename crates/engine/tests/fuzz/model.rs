//! What the driver of an engine knows without asking it: which fetches are allowed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use freshet_engine::{Blame, Description, Outcome, Settings, SignalSource, Standing};

use crate::budget_model::Purse;

/// Descriptions that one step takes in.
const STRIDE: usize = 1024;
const MINUTE: f64 = 1.0 / 1440.0;
/// Days that anybody is left alone because of what was said.
const LONGEST: f64 = 30.0;

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) told: Description,
    /// Where it is fetched from; elsewhere only after the fetch that is under way.
    pub(crate) host: u32,
    /// Minus infinity before the first answer.
    pub(crate) last: f64,
    /// The day on which it was described first.
    since: f64,
    pub(crate) pending: u32,
    /// Whether a change was announced while it was under way: it may not be in the answer.
    pub(crate) signalled: bool,
    /// The day before which it is not asked again.
    pub(crate) silent: f64,
    failures: u8,
    gone: u8,
    /// Whether the last fetch brought nothing.
    failed: bool,
    pub(crate) asked: bool,
    pub(crate) parked: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) asked: u32,
    /// Of them, for none of its sources.
    visits: u32,
    /// The day before which it is not asked again: the gap, back-off, its own wish.
    pub(crate) silent: f64,
    /// Days between two fetches that it asks for.
    gap: f64,
    failures: u8,
    pub(crate) down: bool,
}

impl Default for Host {
    fn default() -> Self {
        Self { asked: 0, visits: 0, silent: f64::NEG_INFINITY, gap: 0.0, failures: 0, down: false }
    }
}

/// What is waiting to be taken in.
#[derive(Clone, Debug)]
pub(crate) enum Expectation {
    Described(Description),
    Recalled(Box<Source>),
    Removed(u32),
    Signal(u32),
    Herald(u32),
    Dismissed(u32),
    Heard(u32, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) now: f64,
    pub(crate) settings: Settings,
    pub(crate) purse: Purse,
    pub(crate) capacity: u32,
    heralds: BTreeSet<u32>,
    pub(crate) sources: BTreeMap<u32, Source>,
    pub(crate) hosts: BTreeMap<u32, Host>,
    /// Hosts with a smaller number are known, whether they have sources or not.
    numbered: u32,
    /// Oldest first.
    pub(crate) under_way: Vec<u32>,
    inbox: VecDeque<Expectation>,
    /// Refusals that the engine must report in this step.
    pub(crate) refused: Vec<u32>,
}

/// What a fetch takes from the budget.
fn cost(told: &Description) -> f64 {
    f64::from(told.cost.clamp(1e-30, 1e30) as f32)
}

/// Doubled with each failure, four hours at most.
fn back_off(failures: u8) -> f64 {
    match failures {
        ..=8 => MINUTE * f64::from(failures.max(1) - 1).exp2(),
        9..=20 => 1.0 / 6.0,
        _ => (f64::from(failures - 20).exp2() / 6.0).min(30.0),
    }
}

impl Model {
    pub(crate) fn new(now: f64, settings: Settings) -> Self {
        Self {
            now,
            settings,
            purse: Purse::new(now, settings),
            capacity: 0,
            sources: BTreeMap::new(),
            hosts: BTreeMap::new(),
            numbered: 0,
            under_way: Vec::new(),
            heralds: BTreeSet::new(),
            inbox: VecDeque::new(),
            refused: Vec::new(),
        }
    }

    /// A day before the latest counts as the latest.
    pub(crate) fn flow(&mut self, day: f64) {
        if day.is_finite() {
            self.now = self.now.max(day);
        }
        self.purse.flow(self.now);
        self.refused.clear();
    }

    pub(crate) fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.purse.set(settings);
    }

    /// Few are taken in at once, more tick by tick.
    pub(crate) fn post(&mut self, letters: impl Iterator<Item = Expectation>) {
        let was_empty = self.inbox.is_empty();
        self.inbox.extend(letters);
        if was_empty {
            self.take_in();
        }
    }

    pub(crate) fn take_in(&mut self) {
        for _ in 0..STRIDE {
            match self.inbox.pop_front() {
                None => break,
                Some(Expectation::Described(it)) => self.describe(&it),
                Some(Expectation::Recalled(it)) => drop(self.sources.insert(it.told.id, *it)),
                Some(Expectation::Removed(id)) => self.remove(id),
                Some(Expectation::Signal(id)) => self.signal(id),
                Some(Expectation::Herald(number)) if number >= SignalSource::NUMBERS => {}
                Some(Expectation::Herald(number)) => drop(self.heralds.insert(number)),
                Some(Expectation::Dismissed(number)) => drop(self.heralds.remove(&number)),
                Some(Expectation::Heard(id, herald)) if self.heralds.contains(&herald) => {
                    self.signal(id);
                }
                Some(Expectation::Heard(..)) => {}
            }
        }
    }

    fn describe(&mut self, it: &Description) {
        if it.check().is_err() {
            self.refused.push(it.id);
            return;
        }
        let now = self.now;
        self.numbered = self.numbered.max(it.host + 1);
        let source = self.sources.entry(it.id).or_insert_with(|| Source {
            told: *it,
            host: it.host,
            last: f64::NEG_INFINITY,
            since: now,
            pending: 0,
            signalled: false,
            silent: f64::NEG_INFINITY,
            failures: 0,
            gone: 0,
            failed: false,
            asked: false,
            parked: false,
        });
        let paid = cost(&source.told);
        source.told = *it;
        if source.asked {
            self.purse.take_back(paid - cost(it));
        }
        if let Some(day) = it.fetched {
            source.last = source.last.max(day.min(now));
        }
        if !source.asked {
            source.host = it.host;
        }
    }

    fn remove(&mut self, id: u32) {
        if let Some(source) = self.sources.remove(&id)
            && source.asked
        {
            self.no_longer_under_way(id, source.host);
        }
    }

    fn no_longer_under_way(&mut self, id: u32, host: u32) {
        self.under_way.retain(|&other| other != id);
        self.hosts.entry(host).or_default().asked -= 1;
    }

    fn signal(&mut self, id: u32) {
        if let Some(source) = self.sources.get_mut(&id)
            && source.told.observed
        {
            source.pending = source.pending.saturating_add(1);
            source.signalled |= source.asked;
        }
    }

    /// Whether the engine may ask for a source now.
    pub(crate) fn ask(&mut self, id: u32) -> Result<(), String> {
        let now = self.now;
        // Days are rounded, and intervals kept in single precision.
        let slack = |days: f64| 1e-7 * days.min(1e6) + 4e-16 * now.abs() + 1e-12;
        let source = self.sources.get_mut(&id).ok_or("there is no such source")?;
        let host = self.hosts.entry(source.host).or_default();
        // A fetch that failed is made up for, whatever interval its owner has set since.
        let shortest = if source.failed { 0.0 } else { source.told.min_interval };
        let wrong = if source.asked {
            Some("it is being fetched".to_owned())
        } else if source.told.paused {
            Some("it is paused".to_owned())
        } else if source.parked {
            Some("it is parked".to_owned())
        } else if source.silent > now + slack(0.0) {
            Some(format!("it is to be left alone until {}", source.silent))
        } else if host.silent > now + slack(0.0) {
            Some(format!("its host is to be left alone until {}", host.silent))
        } else if host.asked >= self.settings.host_connections {
            Some(format!("{} fetches from its host are under way", host.asked))
        } else if now - source.last < shortest - slack(shortest) {
            Some(format!("it was fetched on {}", source.last))
        } else if self.capacity == 0 {
            Some("nobody can fetch it".to_owned())
        } else {
            None
        };
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        (source.asked, source.signalled) = (true, false);
        host.asked += 1;
        host.silent = host.silent.max(now + self.settings.host_gap.max(host.gap));
        if self.capacity != u32::MAX {
            self.capacity -= 1;
        }
        self.under_way.push(id);
        self.purse.pay(cost(&source.told))
    }

    /// Somebody fetches a source unasked.
    pub(crate) fn fetch(&mut self, id: u32) {
        let Some(source) = self.sources.get_mut(&id).filter(|source| !source.asked) else { return };
        (source.asked, source.signalled) = (true, false);
        let host = self.hosts.entry(source.host).or_default();
        host.asked += 1;
        host.silent = host.silent.max(self.now + self.settings.host_gap.max(host.gap));
        self.under_way.push(id);
        self.purse.owe(cost(&source.told));
        source.parked = false;
    }

    /// A host asks for a gap: a day at most.
    pub(crate) fn set_gap(&mut self, host: u32, days: f64) {
        if host < self.numbered {
            let gap = if days > 0.0 { days.min(1.0) } else { 0.0 };
            self.hosts.entry(host).or_default().gap = gap;
        }
    }

    /// Whether all that was posted has been taken in.
    pub(crate) fn is_read(&self) -> bool {
        self.inbox.is_empty()
    }

    /// The engine is another one, without sources. What was under way is forgotten.
    pub(crate) fn reopen(&mut self) -> BTreeMap<u32, Source> {
        self.heralds.clear();
        self.capacity = 0;
        self.under_way.clear();
        for source in self.sources.values() {
            self.hosts.entry(source.told.host).or_default();
        }
        for host in self.hosts.values_mut() {
            (host.asked, host.visits) = (0, 0);
            host.silent = host.silent.max(self.now + self.settings.host_gap.max(host.gap));
        }
        self.numbered = self.hosts.keys().next_back().map_or(0, |last| last + 1);
        let mut sources = std::mem::take(&mut self.sources);
        for source in sources.values_mut() {
            if source.asked {
                // Whoever asked for it unasked did not wait for its day either.
                source.silent = f64::NEG_INFINITY;
            }
            source.asked = false;
            source.host = source.told.host;
        }
        sources
    }

    /// A fetch is over.
    pub(crate) fn answer(&mut self, id: u32, outcome: Outcome, day: f64) {
        let now = self.now;
        let Some(source) = self.sources.get_mut(&id).filter(|source| source.asked) else { return };
        let asked = source.host;
        source.asked = false;
        source.failed = matches!(outcome, Outcome::Failed { .. } | Outcome::Gone);
        source.host = source.told.host;
        let host = self.hosts.entry(asked).or_default();
        let gap = self.settings.host_gap.max(host.gap);
        host.silent = host.silent.max(now + gap);
        match outcome {
            Outcome::Changed | Outcome::Unchanged | Outcome::Copied => {
                let first = if source.last.is_finite() { source.last } else { source.since };
                let day = if day.is_nan() { now } else { day.max(first).min(now) };
                // What was announced meanwhile may not be in the copy.
                (source.last, source.pending) = (day, u32::from(source.signalled));
                (source.failures, source.gone) = (0, 0);
                source.silent = f64::NEG_INFINITY;
                host.failures /= 2;
            }
            Outcome::Failed { blame, retry_after } => {
                let mut wait = retry_after.filter(|days| *days > 0.0).unwrap_or(0.0).min(30.0);
                if blame == Blame::Host {
                    // What fails while the host is left alone already was under way before.
                    if host.silent <= now + gap {
                        host.failures = (host.failures + 1).min(30);
                    }
                    wait = wait.max(back_off(host.failures));
                }
                host.silent = host.silent.max(now + wait);
                if blame != Blame::Us {
                    source.failures = (source.failures + 1).min(30);
                }
                let put_off = blame == Blame::Us && source.failures == 0 && wait > 0.0;
                let back_off = if put_off { wait } else { back_off(source.failures) };
                source.silent = now + wait.max(back_off);
            }
            Outcome::Gone => {
                host.failures /= 2;
                source.gone += 1;
                source.silent = now + 7.0;
            }
        }
        self.no_longer_under_way(id, asked);
    }

    /// A fetch did not come to its end, and is tried again.
    pub(crate) fn put_off(&mut self, id: u32, days: f64, unasked: bool) {
        let now = self.now;
        let Some(source) = self.sources.get_mut(&id).filter(|source| source.asked) else { return };
        let asked = source.host;
        // It is made up for, as one that failed.
        (source.asked, source.failed) = (false, true);
        source.host = source.told.host;
        source.silent = now + if days > 0.0 { days.min(LONGEST) } else { 0.0 };
        if unasked {
            self.purse.take_back(cost(&source.told));
        } else {
            let host = self.hosts.entry(asked).or_default();
            host.silent = host.silent.max(now + self.settings.host_gap.max(host.gap));
        }
        self.no_longer_under_way(id, asked);
    }

    /// Somebody asks a host for something else, from a day on.
    pub(crate) fn visit(&mut self, host: u32, from: f64) {
        if host >= Description::NUMBERS {
            return;
        }
        self.numbered = self.numbered.max(host + 1);
        let it = self.hosts.entry(host).or_default();
        (it.asked, it.visits) = (it.asked + 1, it.visits + 1);
        let from = if from.is_nan() { self.now } else { from.clamp(self.now, self.now + LONGEST) };
        it.silent = it.silent.max(from + self.settings.host_gap.max(it.gap));
    }

    /// That is over.
    pub(crate) fn visited(&mut self, host: u32, rest: Option<f64>, failed: bool) {
        let Some(it) = self.hosts.get_mut(&host).filter(|it| it.visits > 0) else { return };
        (it.asked, it.visits) = (it.asked - 1, it.visits - 1);
        let gap = self.settings.host_gap.max(it.gap);
        let mut wait = rest.filter(|days| *days > 0.0).unwrap_or(0.0).min(LONGEST);
        if failed {
            if it.silent <= self.now + gap {
                it.failures = (it.failures + 1).min(30);
            }
            wait = wait.max(back_off(it.failures));
        } else {
            it.failures /= 2;
        }
        it.silent = it.silent.max(self.now + wait.max(gap));
    }

    /// A source is said to be gone for good: after four probes.
    pub(crate) fn park(&mut self, id: u32) -> Result<(), String> {
        let source = self.sources.get_mut(&id).ok_or("gone, but it was never there")?;
        if source.gone < 5 {
            return Err(format!("given up after it was found gone {} times", source.gone));
        }
        source.parked = true;
        Ok(())
    }

    /// Where a source may stand.
    pub(crate) fn may_stand(&self, id: u32, standing: Standing) -> bool {
        let source = &self.sources[&id];
        match standing {
            Standing::Asked => source.asked,
            Standing::Paused => source.told.paused && !source.asked && !source.parked,
            Standing::Gone => source.parked && !source.asked,
            Standing::Waiting | Standing::Candidate => {
                !source.asked && !source.told.paused && !source.parked
            }
        }
    }
}
