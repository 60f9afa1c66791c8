//! Drives an engine through a case, and checks what holds whatever happens.

use freshet_engine::{
    Action, Alarm, Because, Blame, Description, Engine, Event, HostCheckpoint, LearnedState,
    Outcome, Signal, SignalReceipt, SignalSource, Standing,
};

use crate::case::{Case, Happening};
use crate::model::{Expectation, Model, Source};

/// How much more than the price something is clearly worth, whatever the price has done since it was
/// looked at.
const CLEARLY: f64 = 2.0;
/// Fetches that one step asks for, at most.
const MOST: usize = 1024;
/// Ticks in one wait; a longer one ends early.
const PATIENCE: usize = 400;
/// Of more sources, only some are asked for an explanation after a step.
const EXPLAINED: usize = 3;
/// Bytes of a snapshot at most, with no source and for each number up to the largest.
const MEMORY: (usize, usize) = (400_000, 400);
const SECOND: f64 = 1.0 / 86_400.0;

/// Runs a case. Says which line broke what, if one did.
pub(crate) fn run(case: &Case) -> Result<(), String> {
    show(case, |_| ())
}

/// The same, and shows each step.
pub(crate) fn show(case: &Case, shown: impl FnMut(&str)) -> Result<(), String> {
    let mut driven = Driven::new(case, shown);
    for (number, happening) in case.happenings.iter().enumerate() {
        let said = driven.happen(happening);
        said.map_err(|why| {
            let now = driven.engine.now();
            format!("line {}: `{happening}`, on day {now:?}: {why}", number + 3)
        })?;
    }
    if driven.engine.snapshot() == driven.twin.snapshot() {
        Ok(())
    } else {
        Err("two engines that were told the same ended in different states".to_owned())
    }
}

/// The engine after a case.
pub(crate) fn end(case: &Case) -> Engine {
    let mut driven = Driven::new(case, |_| ());
    for happening in &case.happenings {
        // What breaks on the way is not looked for here.
        let _ = driven.happen(happening);
    }
    driven.engine
}

struct Driven<F> {
    shown: F,
    engine: Engine,
    /// Is told the same; from a snapshot on it is one that was restored.
    twin: Engine,
    model: Model,
    /// What the caller's clock says, and what it will say once.
    clock: f64,
    odd_day: Option<f64>,
    /// Sources that other engines knew, before they are recalled.
    recalled: Vec<Source>,
    /// The largest number of a source.
    largest: u32,
    /// Which source is asked for an explanation next.
    turn: u32,
}

impl<F: FnMut(&str)> Driven<F> {
    fn new(case: &Case, shown: F) -> Self {
        let engine = Engine::new(case.from, case.settings);
        Self {
            shown,
            twin: Engine::new(case.from, case.settings),
            model: Model::new(case.from, *engine.settings()),
            engine,
            clock: case.from,
            odd_day: None,
            recalled: Vec::new(),
            largest: 0,
            turn: 0,
        }
    }

    fn happen(&mut self, happening: &Happening) -> Result<(), String> {
        match *happening {
            Happening::Describe { first, count, hosts } => {
                let some = many(first, count, hosts, self.clock);
                self.largest = self.largest.max(
                    some.iter()
                        .map(|it| it.id)
                        .filter(|&id| id < Description::NUMBERS)
                        .max()
                        .unwrap_or(0),
                );
                self.step(Event::Described(some)).map(drop)
            }
            Happening::Remove { first, count } => {
                let some = (first..first.saturating_add(count)).collect();
                self.step(Event::Removed(some)).map(drop)
            }
            Happening::Answer { which, outcome } => {
                let under_way = &self.model.under_way;
                match under_way.get(which % under_way.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::Fetched { id, outcome }).map(drop),
                }
            }
            Happening::Fetched { id, outcome } => {
                self.step(Event::Fetched { id, outcome }).map(drop)
            }
            Happening::Report { which, ago, outcome } => {
                let under_way = &self.model.under_way;
                let day = self.clock - ago;
                match under_way.get(which % under_way.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::Reported { id, outcome, day }).map(drop),
                }
            }
            Happening::PutOff { which, days, unasked } => {
                let under_way = &self.model.under_way;
                match under_way.get(which % under_way.len().max(1)) {
                    None => Ok(()),
                    Some(&id) => self.step(Event::PutOff { id, days, unasked }).map(drop),
                }
            }
            Happening::Visit { host, days } => {
                self.step(Event::Visiting { host, from: self.clock + days }).map(drop)
            }
            Happening::Visited { host, rest, failed } => {
                self.step(Event::Visited { host, rest, failed }).map(drop)
            }
            Happening::Signal(id) => self.step(Event::Signal(id)).map(drop),
            Happening::Herald { number, source } => {
                self.step(Event::Heralds(vec![(SignalSource { number, source }, None)])).map(drop)
            }
            Happening::Dismiss(number) => self.step(Event::Dismissed(vec![number])).map(drop),
            Happening::Heard { id, herald, said } => {
                let said =
                    said.map(|ago| SignalReceipt { day: self.clock - ago, grain: ago.abs() / 2.0 });
                self.step(Event::Heard(Signal { id, herald, said })).map(drop)
            }
            Happening::Read { herald, found } => self.step(Event::Read { herald, found }).map(drop),
            Happening::Gap { host, days } => self.step(Event::HostGap { host, days }).map(drop),
            Happening::Fetch(id) => self.step(Event::Fetching(id)).map(drop),
            Happening::Capacity(some) => self.step(Event::Capacity(some)).map(drop),
            Happening::Withdraw(some) => self.step(Event::Withdrawn(some)).map(drop),
            Happening::Tick => self.step(Event::Tick).map(drop),
            Happening::Set(settings) => self.step(Event::Settings(settings)).map(drop),
            Happening::Clock(days) => {
                if days.is_finite() {
                    self.clock += days;
                } else {
                    self.odd_day = Some(days);
                }
                Ok(())
            }
            Happening::Wait(days) => self.wait(days, None),
            Happening::Run { days, seed } => self.wait(days, Some(seed)),
            Happening::Snapshot => self.snapshot(),
            Happening::Reopen => self.reopen(),
        }
    }

    fn snapshot(&mut self) -> Result<(), String> {
        let bytes = self.engine.snapshot();
        let most = MEMORY.0 + MEMORY.1 * self.largest as usize;
        must(bytes.len() < most, || format!("{} bytes, and at most {most} needed", bytes.len()))?;
        self.twin = Engine::restore(&bytes).map_err(|why| why.to_string())?;
        must(self.twin.snapshot() == bytes, || "restored, it is not what it was".to_owned())
    }

    /// Goes on with other engines, that know what was learnt.
    fn reopen(&mut self) -> Result<(), String> {
        if !self.model.is_read() {
            return Ok(());
        }
        let sources: Vec<_> = self.model.reopen().into_values().collect();
        let mut recalled = Vec::new();
        for source in &sources {
            let learnt = self.engine.learned_state(source.told.id).ok_or("nothing was learnt")?;
            let again =
                LearnedState::from_bytes(&learnt.to_bytes()).map_err(|why| why.to_string())?;
            must(format!("{learnt:?}") == format!("{again:?}"), || format!("{learnt:?} lost"))?;
            recalled.push((Description { fetched: None, ..source.told }, again));
        }
        self.engine = self.without_sources()?;
        self.twin = self.engine.clone();
        self.recalled = sources;
        self.step(Event::Recalled(recalled)).map(drop)
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

    /// Ticks when it asks for them; with a seed, answers all fetches too.
    fn wait(&mut self, days: f64, mut seed: Option<u32>) -> Result<(), String> {
        self.clock = self.clock.max(self.engine.now());
        let until = self.clock + days;
        // Ticks in about one moment, that brought nothing.
        let (mut idle, mut since) = (0, self.clock);
        let patience = if self.model.sources.len() > 500 { PATIENCE / 5 } else { PATIENCE };
        for _ in 0..patience {
            if let Some(seed) = &mut seed
                && let Some(&id) = self.model.under_way.first()
            {
                *seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                self.step(Event::Fetched { id, outcome: likely(*seed >> 16) })?;
                if self.engine.wake() > self.clock {
                    continue;
                }
            }
            let wake = self.engine.wake();
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
            let most = 200 + 8 * self.model.sources.len();
            must(idle < most, || {
                format!("{idle} ticks in about one moment, and it asks for more")
            })?;
        }
        Ok(())
    }

    /// Tells both engines, and checks all that can be checked at once. Says how many fetches are asked
    /// for.
    fn step(&mut self, event: Event) -> Result<usize, String> {
        let day = self.odd_day.take().unwrap_or(self.clock);
        let (mut actions, mut others) = (Vec::new(), Vec::new());
        self.engine.step(day, event.clone(), &mut actions);
        self.twin.step(day, event.clone(), &mut others);
        must(actions == others, || {
            format!("told the same, one engine says {actions:?}, and the other one {others:?}")
        })?;
        let wake = self.engine.wake();
        (self.shown)(&format!("{day:?}: {event:?} -> {actions:?}, next {wake:?}"));
        self.model.flow(day);
        self.note(event)?;
        let fetches = self.judge(&actions)?;
        self.check_state(&actions)?;
        Ok(fetches)
    }

    /// Lets the model know.
    fn note(&mut self, event: Event) -> Result<(), String> {
        let model = &mut self.model;
        match event {
            Event::Described(some) => model.post(some.into_iter().map(Expectation::Described)),
            Event::Recalled(_) => {
                let sources = std::mem::take(&mut self.recalled);
                model.post(sources.into_iter().map(|it| Expectation::Recalled(Box::new(it))));
            }
            Event::Fetching(id) => model.fetch(id),
            Event::HostGap { host, days } => model.set_gap(host, days),
            Event::Removed(some) => model.post(some.into_iter().map(Expectation::Removed)),
            Event::Signal(id) => model.post([Expectation::Signal(id)].into_iter()),
            // What heralds say moves days, and no rule that is held here, but for those whose changes are all
            // announced.
            Event::Heralds(some) => {
                model.post(some.into_iter().map(|(it, _)| Expectation::Herald(it.number)));
            }
            Event::Dismissed(some) => model.post(some.into_iter().map(Expectation::Dismissed)),
            Event::Heard(it) => model.post([Expectation::Heard(it.id, it.herald)].into_iter()),
            Event::Overheard(_) | Event::Read { .. } => {}
            Event::Fetched { id, outcome } => model.answer(id, outcome, f64::INFINITY),
            Event::Reported { id, outcome, day } => model.answer(id, outcome, day),
            Event::PutOff { id, days, unasked } => model.put_off(id, days, unasked),
            Event::Visiting { host, from } => model.visit(host, from),
            Event::Visited { host, rest, failed } => model.visited(host, rest, failed),
            Event::Capacity(some) => model.capacity = model.capacity.saturating_add(some),
            Event::Withdrawn(some) => model.capacity = model.capacity.saturating_sub(some),
            Event::Tick => model.take_in(),
            Event::Settings(settings) => {
                let kept = *self.engine.settings();
                kept.check().map_err(|why| why.to_string())?;
                let all = [settings.budget, settings.burst.unwrap_or(0.0), settings.host_gap];
                let mended = settings.check().is_err() || all.iter().any(|&it| it > 1e30);
                let meant = mended || kept == settings;
                must(meant, || format!("{settings:?} became {kept:?}"))?;
                model.set(kept);
            }
        }
        Ok(())
    }

    fn judge(&mut self, actions: &[Action]) -> Result<usize, String> {
        let model = &mut self.model;
        let (mut fetches, mut refused) = (0, Vec::new());
        for action in actions {
            match *action {
                Action::Fetch { id, .. } => {
                    fetches += 1;
                    model.ask(id).map_err(|why| format!("a fetch of {id}: {why}"))?;
                }
                Action::Gone(id) => model.park(id).map_err(|why| format!("source {id}: {why}"))?,
                Action::Priced { price, outlook, .. } => {
                    let fine = amount(price) && amount(outlook);
                    must(fine, || format!("the price is {price}, the outlook {outlook}"))?;
                }
                Action::Alarm(Alarm::Refused(id)) => refused.push(id),
                Action::Alarm(Alarm::HostDown(host)) => {
                    let it = model.hosts.entry(host).or_default();
                    must(!it.down, || format!("host {host} is down twice"))?;
                    it.down = true;
                }
                Action::Alarm(Alarm::HostBack(host)) => {
                    let it = model.hosts.entry(host).or_default();
                    must(it.down, || format!("host {host} is back, and was not away"))?;
                    it.down = false;
                }
                Action::Alarm(Alarm::BudgetTooSmall { needed }) => {
                    must(needed > 0.0, || format!("{needed} is needed"))?;
                }
            }
        }
        must(fetches <= MOST, || format!("{fetches} fetches in one step"))?;
        must(refused == model.refused, || {
            format!("{refused:?} are refused, and {:?} cannot be meant", model.refused)
        })?;
        Ok(fetches)
    }

    fn check_state(&mut self, actions: &[Action]) -> Result<(), String> {
        let (engine, model) = (&self.engine, &self.model);
        let (wake, now) = (engine.wake(), engine.now());
        must(now == model.now, || format!("it is {now} to it, and {} to us", model.now))?;
        must(wake >= now, || format!("it wants to wake on {wake}"))?;
        must(wake.to_bits() == self.twin.wake().to_bits(), || "the two wake apart".to_owned())?;
        let (price, outlook) = (engine.price(), engine.outlook());
        must(amount(price) && amount(outlook), || format!("the price is {price}, {outlook}"))?;
        let (len, there) = (engine.len(), model.sources.len());
        must(len == there && engine.is_empty() == (there == 0), || format!("{len} of {there}"))?;
        for (host, price) in engine.host_prices() {
            let known = model.hosts.contains_key(&host);
            must(known && price > 0.0 && amount(price), || format!("host {host} costs {price}"))?;
        }
        let touched = actions.iter().filter_map(|action| match action {
            Action::Fetch { id, .. } | Action::Gone(id) => Some(*id),
            _ => None,
        });
        for id in touched.take(EXPLAINED) {
            self.check_source(id)?;
        }
        for _ in 0..EXPLAINED.min(there) {
            let model = &self.model;
            let next = model.sources.range(self.turn..).next().or(model.sources.iter().next());
            let Some((&id, _)) = next else { break };
            self.turn = id + 1;
            self.check_source(id)?;
            let none = self.model.sources.contains_key(&self.turn);
            let absent = none || self.engine.explain(self.turn).is_none();
            must(absent, || format!("source {} is explained, and not there", self.turn))?;
        }
        Ok(())
    }

    /// An explanation agrees with what we know, and makes sense.
    fn check_source(&self, id: u32) -> Result<(), String> {
        let it = self.engine.explain(id).ok_or_else(|| format!("source {id} is not explained"))?;
        let source = &self.model.sources[&id];
        let check =
            |fine: bool| must(fine, || format!("source {id} is {it:?}, we know {source:?}"));
        check(it.id == id && it.now == self.model.now && it.price == it.price.max(0.0))?;
        check(self.model.may_stand(id, it.standing))?;
        check(it.last == Some(source.last).filter(|day| day.is_finite()))?;
        check(it.pending == source.told.observed.then_some(source.pending))?;
        check(it.importance == f64::from(source.told.importance as f32))?;
        check(it.host.number == source.host)?;
        let host = self.model.hosts.get(&source.host);
        check(it.host.asked == host.map_or(0, |host| host.asked))?;
        check(!it.due.is_nan() && it.worth >= 0.0)?;
        check((it.due == f64::INFINITY) == (it.because == Because::Never))?;
        check(0.0 <= it.between.0 && it.between.0 <= it.between.1)?;
        check(it.importance_to_be_due.is_none_or(|it| it >= 0.0))?;
        check(it.budget_to_be_due.is_none_or(|it| it >= 0.0))?;
        check(!it.to_string().contains("NaN"))
    }

    /// It wants no tick now: nothing that could be done is left.
    fn check_rest(&mut self) -> Result<(), String> {
        let (engine, model) = (&self.engine, &self.model);
        if model.purse.rate() <= 0.0 {
            return Ok(());
        }
        must(engine.is_empty() || engine.price() > 0.0 || !self.somebody_is_live(), || {
            "at rest, and there is no price".to_owned()
        })?;
        let now = engine.now();
        // Whatever is saved for must be affordable for a candidate to be missed.
        let mut free = None;
        let most = model.sources.values().map(|it| it.told.cost).fold(0.0, f64::max);
        for (&id, source) in model.sources.iter().take(256) {
            let Some(it) = engine.explain(id) else { continue };
            let late = !source.last.is_finite() && source.silent == f64::NEG_INFINITY;
            // Who is due becomes a candidate when there is something to spend on it.
            let could = model.capacity > 0 && model.purse.can_surely_pay(most);
            must(!(late && could && it.standing == Standing::Waiting), || {
                format!("source {id} is new, and waits: {it:?}")
            })?;
            let host = model.hosts.get(&source.host);
            let can = host.is_none_or(|host| {
                host.asked < model.settings.host_connections && host.silent <= now
            });
            if it.standing == Standing::Candidate && can && it.worth >= CLEARLY * it.price {
                free = Some(id);
            }
        }
        // A second is no time.
        let idle = free.filter(|_| engine.wake() > now + SECOND).filter(|_| {
            model.sources.len() <= 256 && model.capacity > 0 && model.purse.can_surely_pay(most)
        });
        must(idle.is_none(), || format!("idle, while {idle:?} waits, and its host too"))
    }

    fn somebody_is_live(&self) -> bool {
        self.model.sources.values().any(|it| !(it.parked || it.told.paused))
    }
}

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn amount(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}

/// The descriptions of a bulk.
fn many(first: Description, count: u32, hosts: u32, now: f64) -> Vec<Description> {
    let one = |at: u32| Description {
        id: first.id.saturating_add(at),
        host: first.host.saturating_add(at % hosts.max(1)),
        // Of many, no two alike.
        importance: first.importance * (1.0 + f64::from(at % 17) / 4.0),
        fetched: first.fetched.map(|age| now - age),
        ..first
    };
    (0..count).map(one).collect()
}

/// What fetches bring, mostly.
fn likely(random: u32) -> Outcome {
    match random % 64 {
        0..=24 => Outcome::Changed,
        25..=54 => Outcome::Unchanged,
        55..=57 => Outcome::Failed { blame: Blame::Host, retry_after: None },
        58 => Outcome::Failed { blame: Blame::Host, retry_after: Some(0.01) },
        59 | 60 => Outcome::Failed { blame: Blame::Source, retry_after: None },
        61 => Outcome::Failed { blame: Blame::Us, retry_after: Some(0.02) },
        _ => Outcome::Gone,
    }
}
