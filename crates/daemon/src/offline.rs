//! What can be known and done while no daemon runs: by the store, and an engine of a few sources.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use freshet_detect::Reading;
use freshet_engine::{
    Description, Engine, Event, Explanation, HostCheckpoint, LearnedState, SignalHistoryMemory,
    SignalSourceMemory, SignalSourceReport,
};
use freshet_fetch::{Answer, InvalidRequest, Request};
use freshet_store::{
    Batch, Decision, HostRecord, LedgerEntry, Reader, ScheduleRow, SignalHistory, SignalSource,
    SourceQuery, Store, StoreError, StoredReason,
};

use crate::clock::{Clock, Millis, days, millis};
use crate::config::Config;
use crate::control::Client;
use crate::core::{believed, decision, engine_settings};
use crate::explained::Explained;
use crate::load::{LoadedCheckpoint, description};
use crate::permits::{self, HostPermits};
use crate::polite_fetch::PoliteFetch;
use crate::work::{FetchContext, Order};

/// Sources of an engine at most.
const SOME: usize = 4096;

/// Sources that heralds have spoken of: those that are looked at to know the heralds, and those that are
/// counted.
const EARS: u32 = 100_000;
const COUNTED: u32 = 10_000_000;

/// What is known of these sources, or of all if none are named: tells of each, in order.
///
/// # Errors
/// If the store cannot be read.
pub fn beliefs(
    config: &Config,
    reader: &Reader,
    now: Millis,
    wanted: Option<&[u32]>,
    mut each: impl FnMut(u32, &Explanation),
) -> Result<(), StoreError> {
    engines(config, reader, now, wanted, |id, engine, place| {
        if let Some(explanation) = engine.explain(place) {
            each(id, &explanation);
        }
    })
}

/// The same with the engine in which each has a number.
fn engines(
    config: &Config,
    reader: &Reader,
    now: Millis,
    wanted: Option<&[u32]>,
    mut each: impl FnMut(u32, &Engine, u32),
) -> Result<(), StoreError> {
    let mut fault = None;
    let mut some = SubsetEngine::default();
    let mut tell = |some: &mut SubsetEngine| {
        let few = std::mem::take(some);
        let told = few.engine(config, reader, now).map(|(engine, ids)| {
            for (place, id) in (0_u32..).zip(ids) {
                each(id, &engine, place);
            }
        });
        fault = fault.take().or(told.err());
    };
    let take = |row: ScheduleRow<'_>| {
        // What is read to hear a herald is no page.
        if row.is_signal_source && wanted.is_none() {
            return;
        }
        some.take(description(&row), LearnedState::from_bytes(row.learned).ok());
        if some.ids.len() == SOME {
            tell(&mut some);
        }
    };
    match wanted {
        Some(ids) => reader.load_schedule_of(ids, take)?,
        None => reader.load_schedule(take)?,
    }
    tell(&mut some);
    fault.map_or(Ok(()), Err)
}

/// Why a source is due when it is, as far as the store tells.
///
/// # Errors
/// If the store cannot be read.
pub fn explain(
    config: &Config,
    reader: &Reader,
    now: Millis,
    id: u32,
) -> Result<Option<Explained>, StoreError> {
    let mut few = SubsetEngine::default();
    reader.load_schedule_of(&[id], |row| {
        few.take(description(&row), LearnedState::from_bytes(row.learned).ok())
    })?;
    let ears = reader.signal_histories_of_source(id)?;
    for ear in &ears {
        few.heralds.extend(reader.signal_source(ear.signal_source)?);
    }
    few.ears = ears;
    let (engine, _) = few.engine(config, reader, now)?;
    let mut explained = Explained::by(&engine, 0);
    if let Some(explained) = &mut explained {
        explained.name_herald(reader)?;
    }
    Ok(explained)
}

/// What is known of heralds, as far as the store tells.
///
/// # Errors
/// If the store cannot be read.
pub fn herald_reports(
    config: &Config,
    reader: &Reader,
    now: Millis,
    heralds: &[SignalSource],
) -> Result<Vec<Option<SignalSourceReport>>, StoreError> {
    let mut few = SubsetEngine { heralds: heralds.to_vec(), ..SubsetEngine::default() };
    let mut left = EARS;
    for herald in heralds {
        let ears = reader.signal_histories_by(herald.id, left)?;
        left -= u32::try_from(ears.len()).unwrap_or(u32::MAX).min(left);
        few.ears.extend(ears);
    }
    let mut ids: Vec<u32> = few.ears.iter().map(|ear| ear.source).collect();
    ids.extend(heralds.iter().filter_map(|it| it.source));
    ids.sort_unstable();
    ids.dedup();
    reader.load_schedule_of(&ids, |row| {
        few.take(description(&row), LearnedState::from_bytes(row.learned).ok())
    })?;
    let (engine, ids) = few.engine(config, reader, now)?;
    let report = |herald: &SignalSource| {
        let sources =
            u32::try_from(reader.count_signalled_sources(herald.id, COUNTED)?).unwrap_or(u32::MAX);
        // What a read is worth depends on all sources.
        let report = engine.herald(herald.id).map(|it| SignalSourceReport {
            sources,
            worth: None,
            source: it.source.and_then(|place| ids.get(place as usize).copied()),
            ..it
        });
        Ok(report)
    };
    heralds.iter().map(report).collect()
}

/// A few sources, numbered anew from 0: an engine has room for all numbers below the largest.
#[derive(Default)]
struct SubsetEngine {
    ids: Vec<u32>,
    hosts: HashMap<u32, u32>,
    recalled: Vec<(Description, LearnedState)>,
    described: Vec<Description>,
    /// Who speaks of them, by the numbers of the store.
    heralds: Vec<SignalSource>,
    ears: Vec<SignalHistory>,
}

impl SubsetEngine {
    fn take(&mut self, mut description: Description, learnt: Option<LearnedState>) {
        let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        description.host = *self.hosts.entry(description.host).or_insert(next);
        let place = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(description.id);
        description.id = place;
        match learnt {
            Some(learnt) => self.recalled.push((description, learnt)),
            None => self.described.push(description),
        }
    }

    /// An engine of these at the price of all, and the numbers that they have in the store.
    fn engine(
        self,
        config: &Config,
        reader: &Reader,
        now: Millis,
    ) -> Result<(Engine, Vec<u32>), StoreError> {
        let day = days(now);
        let mut engine = budget_engine(config, reader, now)?;
        for (host, place) in self.hosts {
            let memory =
                reader.host(host)?.and_then(|it| HostCheckpoint::from_bytes(&it.record).ok());
            if let Some(memory) = memory {
                engine.restore_host(place, &memory);
            }
        }
        let places: HashMap<u32, u32> = self.ids.iter().copied().zip(0..).collect();
        let herald = |it: &SignalSource| {
            let memory = SignalSourceMemory::from_bytes(&it.learned).ok();
            let source = it.source.and_then(|source| places.get(&source).copied());
            (freshet_engine::SignalSource { number: it.id, source }, memory)
        };
        let ear = |it: &SignalHistory| {
            let memory = SignalHistoryMemory::from_bytes(&it.learned).ok()?;
            Some((*places.get(&it.source)?, it.signal_source, memory))
        };
        let events = [
            Event::Heralds(self.heralds.iter().map(herald).collect()),
            Event::Recalled(self.recalled),
            Event::Described(self.described),
            Event::Overheard(self.ears.iter().filter_map(ear).collect()),
        ];
        // No tick once they are in: that would find a price for these alone.
        let mut actions = Vec::new();
        for event in events {
            engine.step(day, event, &mut actions);
            while !engine.is_settled() {
                engine.step(day, Event::Tick, &mut actions);
            }
        }
        Ok((engine, self.ids))
    }
}

/// An engine without sources and hosts: the price, and what is left of the budget.
fn budget_engine(config: &Config, reader: &Reader, now: Millis) -> Result<Engine, StoreError> {
    let rest = LoadedCheckpoint::read(reader)?;
    let allowance = rest.allowance.resume(config.bytes, days(now));
    let all = usize::try_from(reader.count_sources(&SourceQuery::default())?).unwrap_or(usize::MAX);
    let settings = engine_settings(config, all, &allowance);
    let resumed = Engine::resume(days(now), settings, &rest.engine);
    Ok(resumed.unwrap_or_else(|_| Engine::new(days(now), settings)))
}

/// Fetches on behalf of a person while no daemon runs.
pub struct Alone {
    shop: Arc<FetchContext>,
    config: Config,
}

/// What a look at a URL brought.
pub struct Looked {
    /// All that came.
    pub answer: Answer,
    /// What counts of it, if there is a document.
    pub reading: Option<Reading>,
    /// The host that is to be left alone, and for how many milliseconds, if that kept it from being made.
    pub rests: Option<(String, Millis)>,
}

impl Alone {
    /// Somebody who fetches as the daemon would.
    #[must_use]
    pub fn new(config: Config, clock: Clock) -> Self {
        Self::with(config, clock, HostPermits::Alone(Mutex::default()))
    }

    /// Somebody who asks the daemon that runs for turns at hosts.
    #[must_use]
    pub fn beside(config: Config, clock: Clock, daemon: Client) -> Self {
        Self::with(config, clock, HostPermits::Daemon(Mutex::new(daemon)))
    }

    fn with(config: Config, clock: Clock, giver: HostPermits) -> Self {
        let shop = Arc::new(FetchContext::new(&config, clock, config.store.clone(), giver));
        Self { shop, config }
    }

    /// What hosts said that had to be left alone, and their robots.txt, to be kept.
    fn met(&self, batch: &mut Batch) {
        if let HostPermits::Alone(strangers) = &*self.shop.giver {
            let mut strangers = permits::lock(strangers);
            batch.host_cooldowns =
                strangers.resting(self.shop.clock.day() + permits::WORTH_KEEPING);
            batch.robots = std::mem::take(&mut strangers.robots);
        }
    }

    /// Keeps what is to be known of hosts after a look.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub fn remember(&self, store: &mut Store) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        self.met(&mut batch);
        store.record_batch(&batch).map(|_| ())
    }

    /// Fetches what need not be a source, and records nothing of it. It waits for its turn at each host; if
    /// that would take too long, the answer says so, and `rests` for how long. If it is forced, it does not.
    ///
    /// # Errors
    /// If it is not a URL.
    pub async fn look(&self, url: &str, force: bool) -> Result<Looked, InvalidRequest> {
        let request = Request::new(url)?;
        let mut errand = PoliteFetch::new(&self.shop, String::new(), true);
        let answer = match force {
            true => self.shop.fetcher.fetch(&request).await,
            false => errand.run(request.clone()).await.0,
        };
        let rests = errand.put_off.take().map(|it| (it.host, millis(it.days)));
        let reading = match &answer.outcome {
            freshet_fetch::Outcome::Content(content) => {
                let detector = self.shop.detectors.of(request.url(), "");
                let charset = content.charset();
                Some(detector.read(&freshet_detect::Document {
                    bytes: &content.body,
                    content_type: content.media_type.as_deref(),
                    charset: Some(charset.name()),
                }))
            }
            _ => None,
        };
        Ok(Looked { answer, reading, rests })
    }

    /// Fetches a source and records what came, as the daemon would: it is learnt from, and paid for. If a
    /// host on the way is to be left alone, nothing is, and it says which and for how many milliseconds.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub async fn check(
        &self,
        store: &mut Store,
        id: u32,
    ) -> Result<Option<(String, Millis)>, StoreError> {
        let finished = self.shop.work(Order { id, at_once: true, way: Vec::new() }).await;
        if let Some(put_off) = finished.put_off {
            self.remember(store)?;
            return Ok(Some((put_off.host, millis(put_off.days))));
        }
        let (Some(judged), Some(source)) = (finished.judged, store.source(id)?) else {
            return Ok(None);
        };
        let now = self.shop.clock.now();
        let (mut few, mut before) = (SubsetEngine::default(), None);
        store.load_schedule_of(&[id], |row| {
            let learnt = LearnedState::from_bytes(row.learned).ok();
            before = learnt.and_then(|learnt| learnt.last_fetch());
            few.take(description(&row), learnt);
        })?;
        let (mut engine, _) = few.engine(&self.config, store, now)?;
        let mut actions = Vec::new();
        let mut tell = |event| engine.step(days(now), event, &mut actions);
        if let Some(days) = finished.crawl_delay {
            tell(Event::HostGap { host: 0, days });
        }
        tell(Event::Fetching(0));
        let asked = decision(&engine, 0, StoredReason::Requested);
        engine.step(days(now), Event::Fetched { id: 0, outcome: judged.outcome }, &mut actions);
        let mut record = judged.record;
        record.decision = Some(Decision { rate_after: believed(&engine, 0), ..asked });
        if let Some(change) = &mut record.change {
            change.last_unchanged_at = before.map(millis);
        }
        if let Some(learnt) = engine.learned_state(0) {
            record.learned = Some(learnt.to_bytes());
            record.due_at = learnt.due().map(millis);
        }
        let mut batch = Batch::default();
        self.met(&mut batch);
        let minute = record.at - record.at.rem_euclid(60_000);
        batch.ledger.push(LedgerEntry { at: minute, fetches: source.cost, bytes: record.bytes });
        if let Some(memory) = engine.host_checkpoint(0) {
            let until = Some(memory.free()).filter(|day| day.is_finite()).map(millis);
            batch.hosts.push(HostRecord {
                host: source.host,
                cooldown_until: until,
                record: memory.to_bytes(),
            });
        }
        let rest = LoadedCheckpoint::read(store)?;
        if !rest.engine.is_empty() {
            let mut allowance = rest.allowance.resume(self.config.bytes, days(now));
            allowance.take(days(now), record.bytes);
            let engine = budget_engine(&self.config, store, now)?.checkpoint(source.cost);
            batch.engine_checkpoint = Some(LoadedCheckpoint { engine, allowance }.to_bytes());
        }
        batch.fetches.push(record);
        store.record_batch(&batch)?;
        Ok(None)
    }
}
