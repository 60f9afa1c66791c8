//! From the store to an engine that goes on where the last one ended.

use freshet_engine::{
    Action, Description, Engine, Event, HostCheckpoint, LearnedState, Settings, SignalHistoryMemory,
};
use freshet_store::{HostCooldown, Reader, ScheduleRow, StoreError};
use serde::{Deserialize, Serialize};

use crate::bytes::Allowance;
use crate::clock::{Millis, days};
use crate::goal::goal;
use crate::permits::UnlistedHosts;

/// Sources that the engine is told of at once.
const SOME: usize = 1 << 16;

/// Fetches that a first start may make at once: somebody watches.
const AT_FIRST: f64 = 10.0;

/// Days by which a clock that is just being kept right may go back.
const SET: f64 = 1.0 / 86_400.0;

/// What is kept that belongs to no source and no host.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LoadedCheckpoint {
    pub(crate) engine: Vec<u8>,
    pub(crate) allowance: Allowance,
}

impl LoadedCheckpoint {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Nothing in it is unknown to the format.
        postcard::to_extend(self, Vec::new()).unwrap_or_default()
    }

    /// How many days the clock was set back since this was written.
    pub(crate) fn back(&self, day: f64) -> f64 {
        let back = self.allowance.at() - day;
        if back > SET { back } else { 0.0 }
    }

    pub(crate) fn read(reader: &Reader) -> Result<Self, StoreError> {
        let bytes = reader.engine_checkpoint()?.unwrap_or_default();
        Ok(postcard::from_bytes(&bytes).unwrap_or_default())
    }
}

/// An engine without sources, with all that is known of hosts.
pub(crate) fn engine(
    reader: &Reader,
    rest: &LoadedCheckpoint,
    day: f64,
    settings: Settings,
) -> Result<Engine, StoreError> {
    let mut engine = match Engine::resume(day, settings, &rest.engine) {
        Ok(engine) => engine,
        Err(why) => {
            if !rest.engine.is_empty() {
                tracing::warn!("the price is found anew: {why}");
            }
            let mut engine = Engine::new(day, settings);
            engine.grant_budget(AT_FIRST);
            engine
        }
    };
    reader.for_each_host(|host| {
        if let Ok(memory) = HostCheckpoint::from_bytes(&host.record) {
            engine.restore_host(host.id, &memory.shift_back(rest.back(day)));
        }
    })?;
    Ok(engine)
}

/// Hosts that are to be left alone though nobody knew a source of theirs. They may have one by now.
pub(crate) fn host_cooldowns(
    reader: &Reader,
    engine: &mut Engine,
    strangers: &mut UnlistedHosts,
    now: Millis,
    back: f64,
) -> Result<(), StoreError> {
    for HostCooldown { host, until } in reader.host_cooldowns(now)? {
        let until = days(until) - back;
        let known = reader.find_host(&host)?.filter(|it| engine.host_state(it.id).is_some());
        match known {
            Some(known) => leave_alone(engine, known.id, days(now), until),
            None => strangers.rest(&host, until),
        }
    }
    Ok(())
}

/// Tells an engine that a host is to be left alone until a day.
pub(crate) fn leave_alone(engine: &mut Engine, host: u32, now: f64, until: f64) {
    let mut actions = Vec::new();
    let rest = Some(until - now);
    engine.step(now, Event::Visiting { host, from: now }, &mut actions);
    engine.step(now, Event::Visited { host, rest, failed: false }, &mut actions);
}

/// Tells an engine of all sources.
pub(crate) fn sources(
    reader: &Reader,
    engine: &mut Engine,
    day: f64,
    back: f64,
) -> Result<(), StoreError> {
    let mut actions = Vec::new();
    let (mut recalled, mut described) = (Vec::with_capacity(SOME), Vec::new());
    let mut tell = |event, engine: &mut Engine| tell(engine, day, event, &mut actions);
    reader.load_schedule(|row| {
        let description = description(&row);
        match LearnedState::from_bytes(row.learned) {
            Ok(learnt) => recalled.push((description, learnt.shift_back(back))),
            Err(_) => described.push(description),
        }
        if recalled.len() == SOME {
            let some = std::mem::replace(&mut recalled, Vec::with_capacity(SOME));
            tell(Event::Recalled(some), engine);
        }
        if described.len() == SOME {
            tell(Event::Described(std::mem::take(&mut described)), engine);
        }
    })?;
    tell(Event::Recalled(recalled), engine);
    tell(Event::Described(described), engine);
    Ok(())
}

/// Tells an engine something all at once: nobody waits for a step yet.
fn tell(engine: &mut Engine, day: f64, event: Event, actions: &mut Vec<Action>) {
    engine.step(day, event, actions);
    while !engine.is_settled() {
        engine.step(day, Event::Tick, actions);
    }
    actions.clear();
}

/// Tells an engine what was learnt of heralds about sources.
pub(crate) fn ears(reader: &Reader, engine: &mut Engine, day: f64) -> Result<(), StoreError> {
    let mut actions = Vec::new();
    let mut some = Vec::new();
    reader.for_each_signal_history(|ear| {
        let Ok(memory) = SignalHistoryMemory::from_bytes(&ear.learned) else { return };
        some.push((ear.source, ear.signal_source, memory));
        if some.len() == SOME {
            tell(engine, day, Event::Overheard(std::mem::take(&mut some)), &mut actions);
        }
    })?;
    tell(engine, day, Event::Overheard(some), &mut actions);
    Ok(())
}

pub(crate) fn description(row: &ScheduleRow<'_>) -> Description {
    Description {
        id: row.id,
        host: row.host,
        importance: row.importance,
        cost: row.cost,
        // What cannot be meant was refused when it was said.
        goal: Some(row.goal).filter(|text| !text.is_empty()).and_then(|text| goal(text).ok()),
        observed: row.observed,
        paused: row.paused,
        min_interval: row.min_interval,
        max_interval: row.max_interval,
        fetched: row.fetched_at.map(days),
        belief: None,
    }
}
