//! Runs a test case and checks the invariants after every step.

use freshet_engine::{
    Action, Alarm, DueReason, Engine, Event, FailureCause, FetchResult, HostCheckpoint,
    LearnedState, Signal, SignalSource, SourceDescription, SourcePhase, StatedChangeTime,
};

use crate::case::{Case, Step};
use crate::model::{InboxItem, Model, Source};

/// Factor above the price at which a source is certainly worth it, whatever the price did
/// meanwhile.
const CLEARLY_WORTH: f64 = 2.0;
/// Maximum number of fetches started in one step.
const MAX_FETCHES_PER_STEP: usize = 1024;
/// Maximum number of ticks in one wait; a longer one ends early.
const MAX_TICKS: usize = 400;
/// Number of sources whose explanation is checked after a step.
const EXPLANATIONS_PER_STEP: usize = 3;
/// Maximum bytes of a snapshot: without sources, and per number up to the largest.
const MAX_SNAPSHOT_BYTES: (usize, usize) = (400_000, 400);
const SECOND: f64 = 1.0 / 86_400.0;

/// Runs a case. Returns the line and the violated rule if it fails.
pub(crate) fn run(case: &Case) -> Result<(), String> {
    show(case, |_| ())
}

/// Runs a case and passes a description of each step to `show_step`.
pub(crate) fn show(case: &Case, show_step: impl FnMut(&str)) -> Result<(), String> {
    let mut driven = Driver::new(case, show_step);
    for (number, step) in case.steps.iter().enumerate() {
        let change_time = driven.run_step(step);
        change_time.map_err(|why| {
            let now = driven.engine.now();
            format!("line {}: `{step}`, on day {now:?}: {why}", number + 3)
        })?;
    }
    if driven.engine.snapshot() == driven.twin.snapshot() {
        Ok(())
    } else {
        Err("two engines with the same events ended in different states".to_owned())
    }
}

/// Returns the engine at the end of a case.
pub(crate) fn end(case: &Case) -> Engine {
    let mut driven = Driver::new(case, |_| ());
    for step in &case.steps {
        // Failures on the way are tested elsewhere.
        let _ = driven.run_step(step);
    }
    driven.engine
}

struct Driver<F> {
    show_step: F,
    engine: Engine,
    /// Receives the same events; restored from a snapshot at some point.
    twin: Engine,
    model: Model,
    /// Current day of the caller's clock, and a different day for the next event only.
    clock: f64,
    override_day: Option<f64>,
    /// Sources of the previous engine that are not restored yet.
    restored_sources: Vec<Source>,
    /// Largest source number.
    largest_id: u32,
    /// Next source whose explanation is checked.
    next_checked: u32,
}

impl<F: FnMut(&str)> Driver<F> {
    fn new(case: &Case, show_step: F) -> Self {
        let engine = Engine::new(case.from, case.settings);
        Self {
            show_step,
            twin: Engine::new(case.from, case.settings),
            model: Model::new(case.from, *engine.settings()),
            engine,
            clock: case.from,
            override_day: None,
            restored_sources: Vec::new(),
            largest_id: 0,
            next_checked: 0,
        }
    }

    fn run_step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Describe { first, count, hosts } => {
                let items = descriptions(first, count, hosts, self.clock);
                self.largest_id = self.largest_id.max(
                    items
                        .iter()
                        .map(|it| it.id)
                        .filter(|&id| id < SourceDescription::ID_LIMIT)
                        .max()
                        .unwrap_or(0),
                );
                self.step(Event::SourcesDescribed(items)).map(drop)
            }
            Step::Remove { first, count } => {
                let items = (first..first.saturating_add(count)).collect();
                self.step(Event::SourcesRemoved(items)).map(drop)
            }
            Step::Answer { index, outcome } => {
                let fetches_in_flight = &self.model.fetches_in_flight;
                match fetches_in_flight.get(index % fetches_in_flight.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::FetchFinished { id, outcome }).map(drop),
                }
            }
            Step::Fetched { id, outcome } => {
                self.step(Event::FetchFinished { id, outcome }).map(drop)
            }
            Step::Report { index, ago, outcome } => {
                let fetches_in_flight = &self.model.fetches_in_flight;
                let day = self.clock - ago;
                match fetches_in_flight.get(index % fetches_in_flight.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::FetchReported { id, outcome, day }).map(drop),
                }
            }
            Step::PutOff { index, days, unsent } => {
                let fetches_in_flight = &self.model.fetches_in_flight;
                match fetches_in_flight.get(index % fetches_in_flight.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::FetchDeferred { id, days, unsent }).map(drop),
                }
            }
            Step::Visit { host, days } => {
                self.step(Event::HostRequestStarted { host, earliest: self.clock + days }).map(drop)
            }
            Step::Visited { host, retry_after, failed } => {
                self.step(Event::HostRequestFinished { host, retry_after, failed }).map(drop)
            }
            Step::Signal(id) => self.step(Event::ChangeObserved(id)).map(drop),
            Step::SignalSource { number, source } => self
                .step(Event::SignalSourcesDescribed(vec![(SignalSource { number, source }, None)]))
                .map(drop),
            Step::RemoveSignalSource(number) => {
                self.step(Event::SignalSourcesRemoved(vec![number])).map(drop)
            }
            Step::SignalReceived { id, signal_source, change_time } => {
                let change_time = change_time.map(|ago| StatedChangeTime {
                    earliest: self.clock - ago,
                    resolution: ago.abs() / 2.0,
                });
                self.step(Event::SignalReceived(Signal { source: id, signal_source, change_time }))
                    .map(drop)
            }
            Step::Read { signal_source, found } => {
                self.step(Event::SignalSourceRead { signal_source, found }).map(drop)
            }
            Step::Gap { host, days } => self.step(Event::HostGapChanged { host, days }).map(drop),
            Step::Fetch(id) => self.step(Event::FetchStarted(id)).map(drop),
            Step::Capacity(items) => self.step(Event::CapacityAdded(items)).map(drop),
            Step::Withdraw(items) => self.step(Event::CapacityRemoved(items)).map(drop),
            Step::Tick => self.step(Event::Tick).map(drop),
            Step::Set(settings) => self.step(Event::SettingsChanged(settings)).map(drop),
            Step::Clock(days) => {
                if days.is_finite() {
                    self.clock += days;
                } else {
                    self.override_day = Some(days);
                }
                Ok(())
            }
            Step::Wait(days) => self.wait(days, None),
            Step::Run { days, seed } => self.wait(days, Some(seed)),
            Step::Snapshot => self.snapshot(),
            Step::Reopen => self.reopen(),
        }
    }

    fn snapshot(&mut self) -> Result<(), String> {
        let bytes = self.engine.snapshot();
        let max = MAX_SNAPSHOT_BYTES.0 + MAX_SNAPSHOT_BYTES.1 * self.largest_id as usize;
        ensure(bytes.len() < max, || format!("{} bytes, maximum {max}", bytes.len()))?;
        self.twin = Engine::restore(&bytes).map_err(|why| why.to_string())?;
        ensure(self.twin.snapshot() == bytes, || {
            "the restored engine has a different snapshot".to_owned()
        })
    }

    /// Continues with new engines that resume from checkpoints.
    fn reopen(&mut self) -> Result<(), String> {
        if !self.model.is_inbox_empty() {
            return Ok(());
        }
        let sources: Vec<_> = self.model.reopen().into_values().collect();
        let mut restored_sources = Vec::new();
        for source in &sources {
            let learnt =
                self.engine.learned_state(source.description.id).ok_or("no learned state")?;
            let again =
                LearnedState::from_bytes(&learnt.to_bytes()).map_err(|why| why.to_string())?;
            ensure(format!("{learnt:?}") == format!("{again:?}"), || {
                format!("checkpoint differs: {learnt:?}")
            })?;
            restored_sources
                .push((SourceDescription { last_fetch: None, ..source.description }, again));
        }
        self.engine = self.without_sources()?;
        self.twin = self.engine.clone();
        self.restored_sources = sources;
        self.step(Event::SourcesRestored(restored_sources)).map(drop)
    }

    fn without_sources(&self) -> Result<Engine, String> {
        let engine = &self.engine;
        let mut again = Engine::resume(engine.now(), *engine.settings(), &engine.checkpoint(0.0))
            .map_err(|why| why.to_string())?;
        for &number in self.model.hosts.keys() {
            let Some(memory) = engine.host_checkpoint(number) else { continue };
            let memory =
                HostCheckpoint::from_bytes(&memory.to_bytes()).map_err(|why| why.to_string())?;
            again.restore_host(number, &memory);
        }
        Ok(again)
    }

    /// Ticks when the engine requests it; with a seed, also answers all fetches.
    fn wait(&mut self, days: f64, mut seed: Option<u32>) -> Result<(), String> {
        self.clock = self.clock.max(self.engine.now());
        let until = self.clock + days;
        // Ticks within about one moment that had no effect.
        let (mut idle, mut since) = (0, self.clock);
        let max_ticks = if self.model.sources.len() > 500 { MAX_TICKS / 5 } else { MAX_TICKS };
        for _ in 0..max_ticks {
            if let Some(seed) = &mut seed
                && let Some(&id) = self.model.fetches_in_flight.first()
            {
                *seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                self.step(Event::FetchFinished { id, outcome: typical_result(*seed >> 16) })?;
                if self.engine.next_tick() > self.clock {
                    continue;
                }
            }
            let wake = self.engine.next_tick();
            if wake > until {
                self.check_rest()?;
                self.clock = until;
                return Ok(());
            }
            self.clock = self.clock.max(wake);
            let fetches = self.step(Event::Tick)?;
            if fetches > 0 || self.clock > since + SECOND {
                (idle, since) = (0, self.clock);
            }
            idle += 1;
            let max = 200 + 8 * self.model.sources.len();
            ensure(idle < max, || format!("{idle} ticks in about one moment without effect"))?;
        }
        Ok(())
    }

    /// Passes an event to both engines and checks the invariants. Returns the number of fetches
    /// started.
    fn step(&mut self, event: Event) -> Result<usize, String> {
        let day = self.override_day.take().unwrap_or(self.clock);
        let (mut actions, mut others) = (Vec::new(), Vec::new());
        self.engine.step(day, event.clone(), &mut actions);
        self.twin.step(day, event.clone(), &mut others);
        ensure(actions == others, || format!("engines differ: {actions:?}, and {others:?}"))?;
        let wake = self.engine.next_tick();
        (self.show_step)(&format!("{day:?}: {event:?} -> {actions:?}, next {wake:?}"));
        self.model.advance(day);
        self.update_model(event)?;
        let fetches = self.check_actions(&actions)?;
        self.check_state(&actions)?;
        Ok(fetches)
    }

    /// Updates the model.
    fn update_model(&mut self, event: Event) -> Result<(), String> {
        let model = &mut self.model;
        match event {
            Event::SourcesDescribed(items) => {
                model.enqueue(items.into_iter().map(InboxItem::Described))
            }
            Event::SourcesRestored(_) => {
                let sources = std::mem::take(&mut self.restored_sources);
                model.enqueue(sources.into_iter().map(|it| InboxItem::Recalled(Box::new(it))));
            }
            Event::FetchStarted(id) => model.fetch(id),
            Event::HostGapChanged { host, days } => model.set_gap(host, days),
            Event::SourcesRemoved(items) => {
                model.enqueue(items.into_iter().map(InboxItem::Removed))
            }
            Event::ChangeObserved(id) => model.enqueue([InboxItem::Signal(id)].into_iter()),
            // Signals move due days but affect no rule of the model, except for observed sources.
            Event::SignalSourcesDescribed(items) => {
                model.enqueue(
                    items.into_iter().map(|(it, _)| InboxItem::SignalSourceDescribed(it.number)),
                );
            }
            Event::SignalSourcesRemoved(items) => {
                model.enqueue(items.into_iter().map(InboxItem::SignalSourceRemoved))
            }
            Event::SignalReceived(it) => {
                model.enqueue([InboxItem::SignalReceived(it.source, it.signal_source)].into_iter())
            }
            Event::SignalHistoriesRestored(_) | Event::SignalSourceRead { .. } => {}
            Event::FetchFinished { id, outcome } => model.answer(id, outcome, f64::INFINITY),
            Event::FetchReported { id, outcome, day } => model.answer(id, outcome, day),
            Event::FetchDeferred { id, days, unsent } => model.defer_fetch(id, days, unsent),
            Event::HostRequestStarted { host, earliest: from } => {
                model.start_host_request(host, from)
            }
            Event::HostRequestFinished { host, retry_after, failed } => {
                model.finish_host_request(host, retry_after, failed)
            }
            Event::CapacityAdded(items) => model.capacity = model.capacity.saturating_add(items),
            Event::CapacityRemoved(items) => model.capacity = model.capacity.saturating_sub(items),
            Event::Tick => model.take_in(),
            Event::SettingsChanged(settings) => {
                let kept = *self.engine.settings();
                kept.validate().map_err(|why| why.to_string())?;
                let all = [settings.budget, settings.burst.unwrap_or(0.0), settings.host_gap];
                let mended = settings.validate().is_err() || all.iter().any(|&it| it > 1e30);
                let meant = mended || kept == settings;
                ensure(meant, || format!("valid settings {settings:?} became {kept:?}"))?;
                model.set(kept);
            }
        }
        Ok(())
    }

    fn check_actions(&mut self, actions: &[Action]) -> Result<usize, String> {
        let model = &mut self.model;
        let (mut fetches, mut rejected) = (0, Vec::new());
        for action in actions {
            match *action {
                Action::Fetch { id, .. } => {
                    fetches += 1;
                    model.start_fetch(id).map_err(|why| format!("a fetch of {id}: {why}"))?;
                }
                Action::SourceGone(id) => {
                    model.park(id).map_err(|why| format!("source {id}: {why}"))?
                }
                Action::PriceUpdated { price, long_run_price: outlook, .. } => {
                    let fine = amount(price) && amount(outlook);
                    ensure(fine, || format!("invalid prices: {price}, long run {outlook}"))?;
                }
                Action::Alarm(Alarm::DescriptionRejected(id)) => rejected.push(id),
                Action::Alarm(Alarm::HostDown(host)) => {
                    let it = model.hosts.entry(host).or_default();
                    ensure(!it.down, || format!("host {host} reported as down twice"))?;
                    it.down = true;
                }
                Action::Alarm(Alarm::HostRecovered(host)) => {
                    let it = model.hosts.entry(host).or_default();
                    ensure(it.down, || format!("host {host} recovered, but was not down"))?;
                    it.down = false;
                }
                Action::Alarm(Alarm::BudgetTooSmall { needed }) => {
                    ensure(needed > 0.0, || format!("invalid required budget: {needed}"))?;
                }
            }
        }
        ensure(fetches <= MAX_FETCHES_PER_STEP, || format!("{fetches} fetches in one step"))?;
        ensure(rejected == model.rejected, || {
            format!("rejected: {rejected:?}, invalid: {:?}", model.rejected)
        })?;
        Ok(fetches)
    }

    fn check_state(&mut self, actions: &[Action]) -> Result<(), String> {
        let (engine, model) = (&self.engine, &self.model);
        let (wake, now) = (engine.next_tick(), engine.now());
        ensure(now == model.now, || format!("engine day is {now}, expected {}", model.now))?;
        ensure(wake >= now, || format!("next tick in the past: {wake}"))?;
        ensure(wake.to_bits() == self.twin.next_tick().to_bits(), || {
            "the two engines request different ticks".to_owned()
        })?;
        let (price, outlook) = (engine.price(), engine.long_run_price());
        ensure(amount(price) && amount(outlook), || {
            format!("invalid prices: {price}, long run {outlook}")
        })?;
        let (len, there) = (engine.len(), model.sources.len());
        ensure(len == there && engine.is_empty() == (there == 0), || {
            format!("{len} sources instead of {there}")
        })?;
        for (host, price) in engine.host_prices() {
            let known = model.hosts.contains_key(&host);
            ensure(known && price > 0.0 && amount(price), || {
                format!("invalid price of host {host}: {price}")
            })?;
        }
        let touched = actions.iter().filter_map(|action| match action {
            Action::Fetch { id, .. } | Action::SourceGone(id) => Some(*id),
            _ => None,
        });
        for id in touched.take(EXPLANATIONS_PER_STEP) {
            self.check_source(id)?;
        }
        for _ in 0..EXPLANATIONS_PER_STEP.min(there) {
            let model = &self.model;
            let next =
                model.sources.range(self.next_checked..).next().or(model.sources.iter().next());
            let Some((&id, _)) = next else { break };
            self.next_checked = id + 1;
            self.check_source(id)?;
            let none = self.model.sources.contains_key(&self.next_checked);
            let absent = none || self.engine.explain(self.next_checked).is_none();
            ensure(absent, || format!("explanation of missing source {}", self.next_checked))?;
        }
        Ok(())
    }

    /// Checks that an explanation agrees with the model and is plausible.
    fn check_source(&self, id: u32) -> Result<(), String> {
        let it = self.engine.explain(id).ok_or_else(|| format!("no explanation of source {id}"))?;
        let source = &self.model.sources[&id];
        let check = |fine: bool| {
            ensure(fine, || format!("source {id}: {it:?} does not match the model: {source:?}"))
        };
        check(it.id == id && it.now == self.model.now && it.price == it.price.max(0.0))?;
        check(self.model.may_be_in_phase(id, it.phase))?;
        check(it.last_fetch == Some(source.last).filter(|day| day.is_finite()))?;
        check(it.pending_changes == source.description.observed.then_some(source.pending))?;
        check(it.importance == f64::from(source.description.importance as f32))?;
        check(it.host.number == source.host)?;
        let host = self.model.hosts.get(&source.host);
        check(it.host.in_flight == host.map_or(0, |host| host.in_flight))?;
        check(!it.due_day.is_nan() && it.value >= 0.0)?;
        check((it.due_day == f64::INFINITY) == (it.due_reason == DueReason::Never))?;
        check(0.0 <= it.credible_interval.0 && it.credible_interval.0 <= it.credible_interval.1)?;
        check(it.importance_to_be_due.is_none_or(|it| it >= 0.0))?;
        check(it.budget_to_be_due.is_none_or(|it| it >= 0.0))?;
        check(!it.to_string().contains("NaN"))
    }

    /// Checks that no work is left when the engine requests no tick.
    fn check_rest(&mut self) -> Result<(), String> {
        let (engine, model) = (&self.engine, &self.model);
        if model.budget.rate() <= 0.0 {
            return Ok(());
        }
        ensure(engine.is_empty() || engine.price() > 0.0 || !self.has_live_source(), || {
            "idle without a price".to_owned()
        })?;
        let now = engine.now();
        // A candidate is only missed if the cost that is being saved for is affordable.
        let mut free = None;
        let max = model.sources.values().map(|it| it.description.cost).fold(0.0, f64::max);
        for (&id, source) in model.sources.iter().take(256) {
            let Some(it) = engine.explain(id) else { continue };
            let is_late = !source.last.is_finite() && source.blocked_until == f64::NEG_INFINITY;
            // Due sources become candidates when there is budget.
            let can_pay = model.capacity > 0 && model.budget.can_surely_pay(max);
            ensure(!(is_late && can_pay && it.phase == SourcePhase::Waiting), || {
                format!("new source {id} is not a candidate: {it:?}")
            })?;
            let host = model.hosts.get(&source.host);
            let can = host.is_none_or(|host| {
                host.in_flight < model.settings.host_connections && host.blocked_until <= now
            });
            if it.phase == SourcePhase::Candidate && can && it.value >= CLEARLY_WORTH * it.price {
                free = Some(id);
            }
        }
        // One second is within the tolerance.
        let idle = free.filter(|_| engine.next_tick() > now + SECOND).filter(|_| {
            model.sources.len() <= 256 && model.capacity > 0 && model.budget.can_surely_pay(max)
        });
        ensure(idle.is_none(), || format!("idle, although source {idle:?} and its host are ready"))
    }

    fn has_live_source(&self) -> bool {
        self.model.sources.values().any(|it| !(it.parked || it.description.paused))
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn amount(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}

/// Descriptions of a bulk step.
fn descriptions(
    first: SourceDescription,
    count: u32,
    hosts: u32,
    now: f64,
) -> Vec<SourceDescription> {
    let one = |at: u32| SourceDescription {
        id: first.id.saturating_add(at),
        host: first.host.saturating_add(at % hosts.max(1)),
        // Varied importances.
        importance: first.importance * (1.0 + f64::from(at % 17) / 4.0),
        last_fetch: first.last_fetch.map(|age| now - age),
        ..first
    };
    (0..count).map(one).collect()
}

/// A typical fetch result.
fn typical_result(random: u32) -> FetchResult {
    match random % 64 {
        0..=24 => FetchResult::Changed,
        25..=54 => FetchResult::Unchanged,
        55..=57 => FetchResult::Failed { cause: FailureCause::Host, retry_after: None },
        58 => FetchResult::Failed { cause: FailureCause::Host, retry_after: Some(0.01) },
        59 | 60 => FetchResult::Failed { cause: FailureCause::Source, retry_after: None },
        61 => FetchResult::Failed { cause: FailureCause::Us, retry_after: Some(0.02) },
        _ => FetchResult::Gone,
    }
}
