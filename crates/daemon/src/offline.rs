//! Commands without a running daemon: they use the store and a small engine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use freshet_detect::Extraction;
use freshet_engine::{
    Engine, Event, Explanation, HostCheckpoint, LearnedState, SignalHistoryCheckpoint,
    SignalSourceCheckpoint, SignalSourceReport, SourceDescription,
};
use freshet_fetch::{FetchRequest, FetchResponse, InvalidRequest};
use freshet_store::{
    Batch, Decision, HostRecord, LedgerEntry, Reader, ScheduleRow, SignalHistory, SignalSource,
    SourceQuery, Store, StoreError, StoredReason,
};

use crate::clock::{Clock, Millis, days_from_millis, millis_from_days};
use crate::config::Config;
use crate::control::ControlClient;
use crate::engine_loader::{DaemonCheckpoint, describe_source};
use crate::event_loop::{believed_rate, engine_settings, make_decision};
use crate::fetch_context::{FetchContext, FetchOrder};
use crate::host_permits::{self, HostPermits};
use crate::polite_fetch::PoliteFetch;
use crate::source_explanation::SourceExplanation;

/// Most sources in one engine.
const MAX_SUBSET: usize = 4096;

/// Signal histories that are read to describe the signal sources, and sources that are counted.
const MAX_HISTORIES: u32 = 100_000;
const MAX_COUNTED_SOURCES: u32 = 10_000_000;

/// Calls `each` with the explanation of every source in `wanted`, or of all pages, in order.
///
/// # Errors
/// Returns [`StoreError`] if the store cannot be read.
pub fn explain_each_offline(
    config: &Config,
    reader: &Reader,
    now: Millis,
    ids: Option<&[u32]>,
    mut each: impl FnMut(u32, &Explanation),
) -> Result<(), StoreError> {
    for_each_in_subset(config, reader, now, ids, |id, engine, place| {
        if let Some(explanation) = engine.explain(place) {
            each(id, &explanation);
        }
    })
}

/// Calls `each` with every source, its engine and its id there.
fn for_each_in_subset(
    config: &Config,
    reader: &Reader,
    now: Millis,
    ids: Option<&[u32]>,
    mut each: impl FnMut(u32, &Engine, u32),
) -> Result<(), StoreError> {
    let mut error = None;
    let mut batch = SubsetEngine::default();
    let mut tell = |batch: &mut SubsetEngine| {
        let subset = std::mem::take(batch);
        let result = subset.build(config, reader, now).map(|(engine, ids)| {
            for (place, id) in (0_u32..).zip(ids) {
                each(id, &engine, place);
            }
        });
        error = error.take().or(result.err());
    };
    let take = |row: ScheduleRow<'_>| {
        // Sitemaps and feeds are not pages.
        if row.is_signal_source && ids.is_none() {
            return;
        }
        batch.add(describe_source(&row), LearnedState::from_bytes(row.learned).ok());
        if batch.ids.len() == MAX_SUBSET {
            tell(&mut batch);
        }
    };
    match ids {
        Some(ids) => reader.load_schedule_for(ids, take)?,
        None => reader.load_schedule(take)?,
    }
    tell(&mut batch);
    error.map_or(Ok(()), Err)
}

/// Explains when a source is due, from the store alone.
///
/// # Errors
/// Returns [`StoreError`] if the store cannot be read.
pub fn explain_offline(
    config: &Config,
    reader: &Reader,
    now: Millis,
    id: u32,
) -> Result<Option<SourceExplanation>, StoreError> {
    let mut subset = SubsetEngine::default();
    reader.load_schedule_for(&[id], |row| {
        subset.add(describe_source(&row), LearnedState::from_bytes(row.learned).ok())
    })?;
    let histories = reader.signal_histories_of_source(id)?;
    for history in &histories {
        subset.signal_sources.extend(reader.signal_source(history.signal_source)?);
    }
    subset.signal_histories = histories;
    let (engine, _) = subset.build(config, reader, now)?;
    let mut explained = SourceExplanation::from_engine(&engine, 0);
    if let Some(explained) = &mut explained {
        explained.name_signal_source(reader)?;
    }
    Ok(explained)
}

/// Returns the reports of signal sources, from the store alone.
///
/// # Errors
/// Returns [`StoreError`] if the store cannot be read.
pub fn signal_source_reports_offline(
    config: &Config,
    reader: &Reader,
    now: Millis,
    signal_sources: &[SignalSource],
) -> Result<Vec<Option<SignalSourceReport>>, StoreError> {
    let mut subset =
        SubsetEngine { signal_sources: signal_sources.to_vec(), ..SubsetEngine::default() };
    let mut remaining = MAX_HISTORIES;
    for signal_source in signal_sources {
        let histories = reader.signal_histories_of_signal_source(signal_source.id, remaining)?;
        remaining -= u32::try_from(histories.len()).unwrap_or(u32::MAX).min(remaining);
        subset.signal_histories.extend(histories);
    }
    let mut ids: Vec<u32> = subset.signal_histories.iter().map(|history| history.source).collect();
    ids.extend(signal_sources.iter().filter_map(|it| it.source));
    ids.sort_unstable();
    ids.dedup();
    reader.load_schedule_for(&ids, |row| {
        subset.add(describe_source(&row), LearnedState::from_bytes(row.learned).ok())
    })?;
    let (engine, ids) = subset.build(config, reader, now)?;
    let report = |signal_source: &SignalSource| {
        let sources =
            u32::try_from(reader.count_signalled_sources(signal_source.id, MAX_COUNTED_SOURCES)?)
                .unwrap_or(u32::MAX);
        // The value of a read depends on all sources.
        let report = engine.signal_source(signal_source.id).map(|it| SignalSourceReport {
            sources,
            read_value: None,
            source: it.source.and_then(|place| ids.get(place as usize).copied()),
            ..it
        });
        Ok(report)
    };
    signal_sources.iter().map(report).collect()
}

/// Builds an engine of some sources, renumbered from 0, since an engine allocates up to its largest
/// id.
#[derive(Default)]
struct SubsetEngine {
    ids: Vec<u32>,
    hosts: HashMap<u32, u32>,
    restored: Vec<(SourceDescription, LearnedState)>,
    described: Vec<SourceDescription>,
    /// Signal sources of these sources, with their ids in the store.
    signal_sources: Vec<SignalSource>,
    signal_histories: Vec<SignalHistory>,
}

impl SubsetEngine {
    fn add(&mut self, mut description: SourceDescription, learned: Option<LearnedState>) {
        let next = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        description.host = *self.hosts.entry(description.host).or_insert(next);
        let place = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(description.id);
        description.id = place;
        match learned {
            Some(learned) => self.restored.push((description, learned)),
            None => self.described.push(description),
        }
    }

    /// Builds the engine at the global price. Returns it with the store's ids.
    fn build(
        self,
        config: &Config,
        reader: &Reader,
        now: Millis,
    ) -> Result<(Engine, Vec<u32>), StoreError> {
        let day = days_from_millis(now);
        let mut engine = budget_engine(config, reader, now)?;
        for (host, place) in self.hosts {
            let memory =
                reader.host(host)?.and_then(|it| HostCheckpoint::from_bytes(&it.record).ok());
            if let Some(memory) = memory {
                engine.restore_host(place, &memory);
            }
        }
        let places: HashMap<u32, u32> = self.ids.iter().copied().zip(0..).collect();
        let signal_source = |it: &SignalSource| {
            let memory = SignalSourceCheckpoint::from_bytes(&it.learned).ok();
            let source = it.source.and_then(|source| places.get(&source).copied());
            (freshet_engine::SignalSource { number: it.id, source }, memory)
        };
        let history = |it: &SignalHistory| {
            let memory = SignalHistoryCheckpoint::from_bytes(&it.learned).ok()?;
            Some((*places.get(&it.source)?, it.signal_source, memory))
        };
        let events = [
            Event::SignalSourcesDescribed(self.signal_sources.iter().map(signal_source).collect()),
            Event::SourcesRestored(self.restored),
            Event::SourcesDescribed(self.described),
            Event::SignalHistoriesRestored(
                self.signal_histories.iter().filter_map(history).collect(),
            ),
        ];
        // No tick after this: it would find a price for these sources alone.
        let mut actions = Vec::new();
        for event in events {
            engine.step(day, event, &mut actions);
            while !engine.is_inbox_empty() {
                engine.step(day, Event::Tick, &mut actions);
            }
        }
        Ok((engine, self.ids))
    }
}

/// Creates an engine without sources and hosts, with the stored price and budget.
fn budget_engine(config: &Config, reader: &Reader, now: Millis) -> Result<Engine, StoreError> {
    let checkpoint = DaemonCheckpoint::load(reader)?;
    let allowance = checkpoint.byte_budget.with_limit(config.bytes_per_day, days_from_millis(now));
    let all = usize::try_from(reader.count_sources(&SourceQuery::default())?).unwrap_or(usize::MAX);
    let settings = engine_settings(config, all, &allowance);
    let resumed = Engine::resume(days_from_millis(now), settings, &checkpoint.engine);
    Ok(resumed.unwrap_or_else(|_| Engine::new(days_from_millis(now), settings)))
}

/// Fetches on behalf of a command, without the event loop.
pub struct OfflineFetcher {
    context: Arc<FetchContext>,
    config: Config,
}

/// Result of fetching a URL without recording it.
pub struct FetchPreview {
    /// Answer of the fetcher.
    pub answer: FetchResponse,
    /// Extracted content, if there is a document.
    pub reading: Option<Extraction>,
    /// Host and milliseconds to wait if a cooldown prevented the fetch.
    pub postponed: Option<(String, Millis)>,
}

impl OfflineFetcher {
    /// Creates a fetcher that grants its own host permits.
    #[must_use]
    pub fn new(config: Config, clock: Clock) -> Self {
        Self::with_permits(config, clock, HostPermits::Local(Mutex::default()))
    }

    /// Creates a fetcher that asks a running daemon for host permits.
    #[must_use]
    pub fn with_daemon(config: Config, clock: Clock, daemon: ControlClient) -> Self {
        Self::with_permits(config, clock, HostPermits::Daemon(Mutex::new(daemon)))
    }

    fn with_permits(config: Config, clock: Clock, permits: HostPermits) -> Self {
        let context = Arc::new(FetchContext::new(&config, clock, config.store.clone(), permits));
        Self { context, config }
    }

    /// Adds host cooldowns and robots.txt files to a batch.
    fn add_host_records(&self, batch: &mut Batch) {
        if let HostPermits::Local(unlisted) = &*self.context.permits {
            let mut unlisted = host_permits::lock_hosts(unlisted);
            batch.host_cooldowns = unlisted.cooldowns_after(
                self.context.clock.now_days() + host_permits::MIN_SAVED_COOLDOWN_DAYS,
            );
            batch.robots = std::mem::take(&mut unlisted.robots);
        }
    }

    /// Saves host cooldowns and robots.txt files after a preview.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the store cannot be written.
    pub fn save_hosts(&self, store: &mut Store) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        self.add_host_records(&mut batch);
        store.record_batch(&batch).map(|_| ())
    }

    /// Fetches a URL, which need not be a source, and records nothing. Waits for a permit at each
    /// host; if that takes too long, `postponed` is set. With `force` it does not wait.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the URL is invalid.
    pub async fn preview(&self, url: &str, force: bool) -> Result<FetchPreview, InvalidRequest> {
        let request = FetchRequest::new(url)?;
        let mut polite_fetch = PoliteFetch::new(&self.context, String::new(), true);
        let answer = match force {
            true => self.context.fetcher.fetch(&request).await,
            false => polite_fetch.fetch(request.clone()).await.0,
        };
        let rests = polite_fetch.postponement.take().map(|it| (it.host, millis_from_days(it.days)));
        let reading = match &answer.outcome {
            freshet_fetch::FetchOutcome::Content(content) => {
                let detector = self.context.detectors.detector_for(request.url(), "");
                let charset = content.charset();
                Some(detector.extract(&freshet_detect::Document {
                    bytes: &content.body,
                    content_type: content.media_type.as_deref(),
                    charset: Some(charset.name()),
                }))
            }
            _ => None,
        };
        Ok(FetchPreview { answer, reading, postponed: rests })
    }

    /// Fetches a source and records the result as the daemon would, including what is learned and
    /// paid. Returns the host and the milliseconds to wait if a cooldown prevented the fetch;
    /// nothing is recorded then.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the store cannot be read or written.
    pub async fn check_source(
        &self,
        store: &mut Store,
        id: u32,
    ) -> Result<Option<(String, Millis)>, StoreError> {
        let finished = self
            .context
            .fetch_source(FetchOrder { id, is_on_demand: true, hops: Vec::new() })
            .await;
        if let Some(postponement) = finished.postponement {
            self.save_hosts(store)?;
            return Ok(Some((postponement.host, millis_from_days(postponement.days))));
        }
        let (Some(judged), Some(source)) = (finished.result, store.source(id)?) else {
            return Ok(None);
        };
        let now = self.context.clock.now();
        let (mut subset, mut before) = (SubsetEngine::default(), None);
        store.load_schedule_for(&[id], |row| {
            let learned = LearnedState::from_bytes(row.learned).ok();
            before = learned.and_then(|learned| learned.last_fetch());
            subset.add(describe_source(&row), learned);
        })?;
        let (mut engine, _) = subset.build(&self.config, store, now)?;
        let mut actions = Vec::new();
        let mut tell = |event| engine.step(days_from_millis(now), event, &mut actions);
        if let Some(days) = finished.crawl_delay_days {
            tell(Event::HostGapChanged { host: 0, days });
        }
        tell(Event::FetchStarted(0));
        let decision = make_decision(&engine, 0, StoredReason::Requested);
        engine.step(
            days_from_millis(now),
            Event::FetchFinished { id: 0, outcome: judged.outcome },
            &mut actions,
        );
        let mut record = judged.record;
        record.decision = Some(Decision { rate_after: believed_rate(&engine, 0), ..decision });
        if let Some(change) = &mut record.change {
            change.last_unchanged_at = before.map(millis_from_days);
        }
        if let Some(learned) = engine.learned_state(0) {
            record.learned = Some(learned.to_bytes());
            record.due_at = learned.due_day().map(millis_from_days);
        }
        let mut batch = Batch::default();
        self.add_host_records(&mut batch);
        let minute = record.at - record.at.rem_euclid(60_000);
        batch.ledger.push(LedgerEntry { at: minute, fetches: source.cost, bytes: record.bytes });
        if let Some(memory) = engine.host_checkpoint(0) {
            let until = Some(memory.free_at()).filter(|day| day.is_finite()).map(millis_from_days);
            batch.hosts.push(HostRecord {
                host: source.host,
                cooldown_until: until,
                record: memory.to_bytes(),
            });
        }
        let checkpoint = DaemonCheckpoint::load(store)?;
        if !checkpoint.engine.is_empty() {
            let mut allowance =
                checkpoint.byte_budget.with_limit(self.config.bytes_per_day, days_from_millis(now));
            allowance.charge(days_from_millis(now), record.bytes);
            let engine = budget_engine(&self.config, store, now)?.checkpoint(source.cost);
            batch.engine_checkpoint =
                Some(DaemonCheckpoint { engine, byte_budget: allowance }.to_bytes());
        }
        batch.fetches.push(record);
        store.record_batch(&batch)?;
        Ok(None)
    }
}
