//! Restores the engine from the store.

use freshet_engine::{
    Action, Engine, EngineSettings, Event, HostCheckpoint, LearnedState, SignalHistoryCheckpoint,
    SourceDescription,
};
use freshet_store::{HostCooldown, Reader, ScheduleRow, StoreError};
use serde::{Deserialize, Serialize};

use crate::byte_budget::ByteBudget;
use crate::clock::{Millis, days_from_millis};
use crate::goal::parse_goal;
use crate::host_permits::UnlistedHosts;

/// Sources per engine event.
const BATCH_LEN: usize = 1 << 16;

/// Fetches that the first start may make at once, since the user is watching.
const FIRST_START_FETCHES: f64 = 10.0;

/// A clock may go back by this many days without having been set.
const MAX_BACKWARD_STEP_DAYS: f64 = 1.0 / 86_400.0;

/// State that belongs to no source and no host.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct DaemonCheckpoint {
    pub(crate) engine: Vec<u8>,
    pub(crate) byte_budget: ByteBudget,
}

impl DaemonCheckpoint {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Serialization cannot fail: the format supports every field.
        postcard::to_extend(self, Vec::new()).unwrap_or_default()
    }

    /// Returns the days by which the clock was set back since the checkpoint was written.
    pub(crate) fn days_set_back(&self, day: f64) -> f64 {
        let days_back = self.byte_budget.updated_at() - day;
        if days_back > MAX_BACKWARD_STEP_DAYS { days_back } else { 0.0 }
    }

    pub(crate) fn load(reader: &Reader) -> Result<Self, StoreError> {
        let bytes = reader.engine_checkpoint()?.unwrap_or_default();
        Ok(postcard::from_bytes(&bytes).unwrap_or_default())
    }
}

/// Creates an engine without sources, and restores the state of the hosts.
pub(crate) fn load_engine(
    reader: &Reader,
    checkpoint: &DaemonCheckpoint,
    day: f64,
    settings: EngineSettings,
) -> Result<Engine, StoreError> {
    let mut engine = match Engine::resume(day, settings, &checkpoint.engine) {
        Ok(engine) => engine,
        Err(error) => {
            if !checkpoint.engine.is_empty() {
                tracing::warn!(
                    "cannot restore the engine state; the price is computed again: {error}"
                );
            }
            let mut engine = Engine::new(day, settings);
            engine.grant_budget(FIRST_START_FETCHES);
            engine
        }
    };
    reader.for_each_host(|host| {
        if let Ok(memory) = HostCheckpoint::from_bytes(&host.record) {
            engine.restore_host(host.id, &memory.rebase_time(checkpoint.days_set_back(day)));
        }
    })?;
    Ok(engine)
}

/// Restores the cooldowns of hosts that had no sources when the cooldown was recorded. They may
/// have some now.
pub(crate) fn load_host_cooldowns(
    reader: &Reader,
    engine: &mut Engine,
    unlisted: &mut UnlistedHosts,
    now: Millis,
    days_back: f64,
) -> Result<(), StoreError> {
    for HostCooldown { host, until } in reader.host_cooldowns(now)? {
        let until = days_from_millis(until) - days_back;
        let known = reader.find_host(&host)?.filter(|it| engine.host_state(it.id).is_some());
        match known {
            Some(known) => set_host_cooldown(engine, known.id, days_from_millis(now), until),
            None => unlisted.set_cooldown(&host, until),
        }
    }
    Ok(())
}

/// Sets the cooldown of a host in the engine.
pub(crate) fn set_host_cooldown(engine: &mut Engine, host: u32, now: f64, until: f64) {
    let mut actions = Vec::new();
    let cooldown_days = Some(until - now);
    engine.step(now, Event::HostRequestStarted { host, earliest: now }, &mut actions);
    engine.step(
        now,
        Event::HostRequestFinished { host, retry_after: cooldown_days, failed: false },
        &mut actions,
    );
}

/// Loads all sources into the engine.
pub(crate) fn load_sources(
    reader: &Reader,
    engine: &mut Engine,
    day: f64,
    days_back: f64,
) -> Result<(), StoreError> {
    let mut actions = Vec::new();
    let (mut recalled, mut described) = (Vec::with_capacity(BATCH_LEN), Vec::new());
    let mut tell =
        |event, engine: &mut Engine| step_until_settled(engine, day, event, &mut actions);
    reader.load_schedule(|row| {
        let description = describe_source(&row);
        match LearnedState::from_bytes(row.learned) {
            Ok(learned) => recalled.push((description, learned.rebase_time(days_back))),
            Err(_) => described.push(description),
        }
        if recalled.len() == BATCH_LEN {
            let batch = std::mem::replace(&mut recalled, Vec::with_capacity(BATCH_LEN));
            tell(Event::SourcesRestored(batch), engine);
        }
        if described.len() == BATCH_LEN {
            tell(Event::SourcesDescribed(std::mem::take(&mut described)), engine);
        }
    })?;
    tell(Event::SourcesRestored(recalled), engine);
    tell(Event::SourcesDescribed(described), engine);
    Ok(())
}

/// Handles an event and all work that follows from it. Nothing waits for the engine at this point.
fn step_until_settled(engine: &mut Engine, day: f64, event: Event, actions: &mut Vec<Action>) {
    engine.step(day, event, actions);
    while !engine.is_inbox_empty() {
        engine.step(day, Event::Tick, actions);
    }
    actions.clear();
}

/// Loads what was learned about signal sources per source.
pub(crate) fn load_signal_histories(
    reader: &Reader,
    engine: &mut Engine,
    day: f64,
) -> Result<(), StoreError> {
    let mut actions = Vec::new();
    let mut batch = Vec::new();
    reader.for_each_signal_history(|history| {
        let Ok(memory) = SignalHistoryCheckpoint::from_bytes(&history.learned) else { return };
        batch.push((history.source, history.signal_source, memory));
        if batch.len() == BATCH_LEN {
            step_until_settled(
                engine,
                day,
                Event::SignalHistoriesRestored(std::mem::take(&mut batch)),
                &mut actions,
            );
        }
    })?;
    step_until_settled(engine, day, Event::SignalHistoriesRestored(batch), &mut actions);
    Ok(())
}

pub(crate) fn describe_source(row: &ScheduleRow<'_>) -> SourceDescription {
    SourceDescription {
        id: row.id,
        host: row.host,
        importance: row.importance,
        cost: row.cost,
        // Invalid goals were rejected when they were set.
        goal: Some(row.goal).filter(|text| !text.is_empty()).and_then(|text| parse_goal(text).ok()),
        observed: row.observed,
        paused: row.paused,
        min_interval: row.min_interval,
        max_interval: row.max_interval,
        last_fetch: row.fetched_at.map(days_from_millis),
        belief: None,
    }
}
