//! Start, handle and shutdown of a daemon.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use freshet_detect::{Detector, Document, Extraction};
use freshet_engine::{SourceBelief, SourceStatus};
use freshet_fetch::{FetchRequest, InvalidRequest};
use freshet_store::{Reader, SignalSourceKind, Store, StoreError, Subscription, Token};
use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::budget_plan::{BudgetPlan, SourceSnapshotPage};
use crate::claim::{Claim, ClaimedSource, FetchReport, ReportResult, ReportedOutcome};
use crate::clock::{Clock, Millis};
use crate::config::{Config, ConfigError};
use crate::destination::{
    ChangedDestination, DestinationEdit, DestinationError, apply_destination_edit,
};
use crate::detectors::DetectorCache;
use crate::engine_loader::{self, DaemonCheckpoint};
use crate::event_loop::{
    CheckResult, Command, EventLoop, InFlight, JudgedReport, SignalSources, engine_settings,
};
use crate::fetch_concurrency::FetchConcurrency;
use crate::fetch_context::{FetchContext, ReaderPool};
use crate::host_permits::{HostPermits, Permit, PermitRequest, PermitReturn};
use crate::host_status::HostStatus;
use crate::indexnow::KeyCache;
use crate::settings_overrides::{EffectiveSettings, InvalidOverride, SettingsOverrides};
use crate::signal_sources::{SignalSourceChange, SignalSourceError};
use crate::source_edit::{EditError, EditResult, SourceEdit};
use crate::source_explanation::SourceExplanation;
use crate::status::DaemonStatus;
use crate::websub::{self, Subscriber};
use crate::writer;

/// Commands that may be queued for the event loop.
const COMMAND_QUEUE_LEN: usize = 1024;

/// A running daemon. Dropping it does not end it; [`stop`](Self::stop) does.
pub struct Daemon {
    handle: DaemonHandle,
    event_loop: JoinHandle<bool>,
    writer: thread::JoinHandle<Store>,
    websub: websub::SubscriptionTask,
}

/// Handle for sending commands to a daemon. Clones refer to the same daemon.
#[derive(Clone)]
pub struct DaemonHandle {
    commands: mpsc::Sender<Command>,
    status: watch::Receiver<DaemonStatus>,
    context: watch::Receiver<Arc<FetchContext>>,
    /// Incremented whenever a token is added or removed.
    token_generation: Arc<watch::Sender<u64>>,
    /// Ids of edited destinations; `None` if any may have changed.
    destinations: broadcast::Sender<Option<u32>>,
    subscriber: Arc<Subscriber>,
    key_cache: Arc<KeyCache>,
    store_path: PathBuf,
}

/// Failure of the daemon or of a command to it.
#[derive(Debug, Error)]
pub enum DaemonError {
    /// Store error.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    /// Configuration error.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// Invalid source edit.
    #[error("{0}")]
    Edit(#[from] EditError),
    /// Signal source error.
    #[error("{0}")]
    SignalSource(#[from] SignalSourceError),
    /// Invalid settings override.
    #[error("{0}")]
    InvalidOverride(#[from] InvalidOverride),
    /// The daemon has stopped.
    #[error("the daemon has stopped")]
    Stopped,
    /// No such source.
    #[error("there is no source {0}")]
    NoSource(String),
    /// A host involved in the fetch is in a cooldown.
    #[error("host {host} is in a cooldown for another {seconds:.0} s")]
    HostCooldown {
        /// Host name.
        host: String,
        /// Remaining seconds.
        seconds: f64,
    },
}

impl DaemonError {
    /// Returns a hint on how to fix the error, if any.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::NoSource(url) => Some(format!("add it with `freshet add {url}`")),
            Self::Config(error) => error.hint(),
            Self::SignalSource(error) => error.hint(),
            Self::HostCooldown { .. } => Some("try again after the cooldown".to_owned()),
            Self::Edit(_) | Self::InvalidOverride(_) | Self::Thread(_) | Self::Stopped => None,
        }
    }
}

impl Daemon {
    /// Starts a daemon. Requires a multi-threaded tokio runtime.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be opened or a secret is missing.
    pub fn start(config: Config, clock: Clock) -> Result<Self, DaemonError> {
        config.check_fetch_secrets()?;
        config.check_mail_secret()?;
        let (now, day) = (clock.now(), clock.now_days());
        let (file_config, mut config) = (config.clone(), config);
        let mut store = Store::open(&config.store, now)?;
        let adjusted = SettingsOverrides::load(&store)?;
        if let Err(reason) = adjusted.apply(&mut config) {
            tracing::warn!("ignoring an invalid settings override: {reason}");
        }
        writer::set_limits(&mut store, config.retention, config.max_store_bytes)?;
        store.set_alert_thresholds(config.alert_thresholds);
        let config_change = SignalSourceChange::to_match_config(&store, &config.signals, now)?;
        config_change.apply(&mut store)?;
        let checkpoint = DaemonCheckpoint::load(&store)?;
        let allowance = checkpoint.byte_budget.with_limit(config.bytes_per_day, day);
        let count = usize::try_from(store.count_sources(&freshet_store::SourceQuery::default())?);
        let settings = engine_settings(&config, count.unwrap_or(usize::MAX), &allowance);
        let mut engine = engine_loader::load_engine(&store, &checkpoint, day, settings)?;
        let days_back = checkpoint.days_set_back(day);
        if days_back > 0.0 {
            tracing::warn!(
                seconds = (days_back * 86_400.0) as u64,
                "the clock was set back since the last run; due times are shifted back with it"
            );
        }
        let (signal_sources, load_event) = SignalSources::load(&store, days_back)?;
        engine.step(day, load_event, &mut Vec::new());
        engine_loader::load_sources(&store, &mut engine, day, days_back)?;
        engine_loader::load_signal_histories(&store, &mut engine, day)?;
        let (notices, messages) = mpsc::unbounded_channel();
        let permits = HostPermits::EventLoop(notices);
        let context = Arc::new(FetchContext::new(&config, clock, store.path().to_owned(), permits));
        let mut in_flight = InFlight::default();
        in_flight.signal_sources = signal_sources;
        engine_loader::load_host_cooldowns(
            &store,
            &mut engine,
            &mut in_flight.unlisted_hosts,
            now,
            days_back,
        )?;
        in_flight.claims.restore(store.leases()?, &mut engine, now, day);
        let cursor = store.last_cursor()?;
        let path = store.path().to_owned();
        let websub = Arc::new(Subscriber::new(store.subscriptions()?));
        let pages = engine.len().saturating_sub(in_flight.signal_sources.document_count());
        tracing::info!(sources = pages, store = %path.display(), "started");

        let (orders, ordered) = mpsc::unbounded_channel();
        let (event_sender, write_events) = mpsc::unbounded_channel();
        let writer = writer::start(store, ordered, event_sender, now)?;
        let (commands, command_queue) = mpsc::channel(COMMAND_QUEUE_LEN);
        let count = DaemonStatus { started_at: now, at: now, cursor, ..DaemonStatus::default() };
        let (status, status_receiver) = watch::channel(count.clone());
        let (contexts, context_receiver) = watch::channel(Arc::clone(&context));
        let core = EventLoop {
            engine,
            concurrency: FetchConcurrency::new(config.fetch_concurrency),
            config,
            file_config,
            overrides: adjusted,
            context,
            context_updates: contexts,
            byte_budget: allowance,
            commands: command_queue,
            writer: orders,
            write_events,
            status_updates: status,
            in_flight,
            messages,
            counters: count,
            subscriber: Arc::clone(&websub),
        };
        let tokens = Arc::new(watch::Sender::new(0));
        let (destinations, _) = broadcast::channel(COMMAND_QUEUE_LEN);
        let (context, status) = (context_receiver, status_receiver);
        let handle = DaemonHandle {
            commands,
            status,
            context,
            token_generation: tokens,
            destinations,
            subscriber: websub,
            key_cache: Arc::default(),
            store_path: path,
        };
        let core = tokio::spawn(core.run());
        let websub = websub::start(handle.clone());
        Ok(Self { handle, event_loop: core, writer, websub })
    }

    /// Returns a handle for sending commands.
    #[must_use]
    pub fn handle(&self) -> DaemonHandle {
        self.handle.clone()
    }

    /// Shuts the daemon down: fetches in flight get some seconds to finish, and all results are
    /// written. Returns true if everything was written.
    pub async fn stop(self) -> bool {
        self.websub.stop().await;
        let _ = self.handle.commands.send(Command::Stop).await;
        let write_events = self.event_loop.await.unwrap_or(false);
        // Only the writer thread holds the store; it is closed when that thread ends.
        let close = move || {
            let Ok(mut store) = self.writer.join() else { return };
            // After the checkpoint, the database file alone is a complete copy.
            if let Err(error) = store.checkpoint_wal() {
                tracing::warn!("cannot checkpoint the write-ahead log: {error}");
            }
        };
        let _ = tokio::task::spawn_blocking(close).await;
        write_events
    }
}

impl DaemonHandle {
    /// Applies an edit to sources.
    ///
    /// # Errors
    /// Returns [`EditError`] if the edit is invalid or cannot be written.
    pub async fn edit(&self, edit: SourceEdit) -> Result<EditResult, EditError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::Edit(edit, reply)).await.map_err(|_| EditError::Stopped)?;
        answer.await.unwrap_or(Err(EditError::Stopped))
    }

    /// Explains when a source is due.
    ///
    /// # Errors
    /// Returns [`DaemonError::NoSource`] if there is no such source, and [`DaemonError::Stopped`]
    /// if the daemon has stopped.
    pub async fn explain(&self, url: &str) -> Result<SourceExplanation, DaemonError> {
        let id = self.find_source_id(url)?;
        self.explain_id(id).await?.ok_or_else(|| DaemonError::NoSource(url.to_owned()))
    }

    /// Explains when a source is due, by id. Returns `None` if there is no such source.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn explain_id(&self, id: u32) -> Result<Option<SourceExplanation>, DaemonError> {
        let mut explained = self.request(|reply| Command::Explain(id, reply)).await?;
        if explained.as_ref().is_some_and(|it| it.signals.is_some()) {
            let config_change = self.read(move |reader| {
                if let Some(it) = &mut explained {
                    it.name_signal_source(reader)?;
                }
                Ok(explained)
            });
            explained = config_change.await?;
        }
        Ok(explained)
    }

    /// Fetches a source now and returns when the result is recorded.
    ///
    /// # Errors
    /// Returns [`DaemonError::NoSource`] if there is no such source, [`DaemonError::HostCooldown`]
    /// if a host is in a cooldown, and [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn check(&self, url: &str) -> Result<(), DaemonError> {
        let id = self.find_source_id(url)?;
        match self.check_id(id).await {
            Err(DaemonError::NoSource(_)) => Err(DaemonError::NoSource(url.to_owned())),
            checked => checked,
        }
    }

    /// Fetches a source now, by id, and returns when the result is recorded.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub async fn check_id(&self, id: u32) -> Result<(), DaemonError> {
        match self.request(|reply| Command::Check(id, reply)).await? {
            CheckResult::Recorded => Ok(()),
            CheckResult::NoSource => Err(DaemonError::NoSource(id.to_string())),
            CheckResult::Postponed(it) => {
                Err(DaemonError::HostCooldown { host: it.host, seconds: it.days * 86_400.0 })
            }
        }
    }

    /// Requests a permit for a host on behalf of another process.
    pub(crate) async fn request_permit(
        &self,
        request: PermitRequest,
    ) -> Result<Permit, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::RequestPermit(request, reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    /// Returns a permit of another process with the result of its fetch.
    pub(crate) async fn return_permit(
        &self,
        permit_return: PermitReturn,
    ) -> Result<(), DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::ReturnPermit(permit_return, reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    fn find_source_id(&self, url: &str) -> Result<u32, DaemonError> {
        let canonical = crate::fetch_context::parse_source_url(url)
            .map_or_else(|_| url.to_owned(), |(url, _)| url);
        let found = Reader::open(&self.store_path)?.find_source(&canonical)?;
        found.ok_or_else(|| DaemonError::NoSource(url.to_owned()))
    }

    /// Returns the current status.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn status(&self) -> Result<DaemonStatus, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::Status(reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    /// Returns a receiver of the status, updated with each tick.
    #[must_use]
    pub fn watch_status(&self) -> watch::Receiver<DaemonStatus> {
        self.status.clone()
    }

    /// Writes a copy of the store while it is in use.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the copy cannot be written.
    pub async fn backup(&self, path: PathBuf, force: bool) -> Result<(), DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::Backup(path, force, reply)).await?;
        Ok(answer.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Runs `work` on the writer thread, in order with all other writes. Its changes are durable
    /// when this returns.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be written or the daemon has stopped.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let (reply, answer) = oneshot::channel();
        let work = move |store: &mut Store| {
            // The receiver may be gone.
            let _ = reply.send(work(store));
        };
        self.send_command(Command::Write(Box::new(work))).await?;
        Ok(answer.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Hands out up to `most` due sources to an external client. Sources that are not reported
    /// within `length` return to the schedule.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read or the daemon has stopped.
    pub async fn claim(&self, max: u32, length: Duration) -> Result<Claim, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::Claim(max, length, reply)).await?;
        let granted = answer.await.map_err(|_| DaemonError::Stopped)?;
        let context = Arc::clone(&self.context.borrow());
        let ids: Vec<u32> = granted.sources.iter().map(|(id, _)| *id).collect();
        let found = context.readers.with_reader(|reader| reader.source_addresses(&ids))?;
        let mut reasons = granted.sources.iter();
        // Addresses come in the order of the ids; removed sources are missing.
        let items = found.into_iter().filter_map(|address| {
            let (_, reason) = reasons.find(|(id, _)| *id == address.id)?;
            Some(ClaimedSource {
                source: address.id,
                url: address.url,
                validators: address.validators,
                reason: reason.name(),
            })
        });
        let (lease, until, next) = (granted.lease, granted.expires_at, granted.next_claim_at);
        let mut claim =
            Claim { lease, expires_at: until, items: items.collect(), next_claim_at: next };
        self.refuse_guarded_urls(&context, &mut claim).await?;
        Ok(claim)
    }

    /// Withholds URLs that the guard refuses from external clients too, and files and commands,
    /// which exist on this machine only.
    async fn refuse_guarded_urls(
        &self,
        context: &FetchContext,
        claim: &mut Claim,
    ) -> Result<(), DaemonError> {
        let mut refused = Vec::new();
        claim.items.retain(|item| {
            let Err(reason) = check_claimable(context.fetcher.settings(), &item.url) else {
                return true;
            };
            refused.push(FetchReport {
                lease: claim.lease,
                source: item.source,
                outcome: ReportedOutcome::Disallowed,
                fetched_at: None,
                status: 0,
                bytes: 0,
                duration: Duration::ZERO,
                validators: None,
                note: reason,
            });
            false
        });
        if !refused.is_empty() {
            self.report(&refused).await?;
        }
        Ok(())
    }

    /// Records reports of an external client, durably. Returns one result per report.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn report(&self, reports: &[FetchReport]) -> Result<Vec<ReportResult>, DaemonError> {
        let context = Arc::clone(&self.context.borrow());
        let now = context.clock.now();
        let mut load_event = Vec::with_capacity(reports.len());
        let mut is_evaluated = Vec::with_capacity(reports.len());
        for report in reports {
            let at = report.fetched_at.unwrap_or(now);
            let judged = context.evaluate_report(report, at);
            is_evaluated.push(judged.is_some());
            load_event.extend(judged.map(|judged| JudgedReport {
                lease: report.lease,
                fetched_at: at,
                judged,
            }));
            // Yields to other tasks: evaluating a document takes time.
            tokio::task::consume_budget().await;
        }
        let (reply, answer) = oneshot::channel();
        self.send_command(Command::Report(load_event, reply)).await?;
        let mut results = answer.await.map_err(|_| DaemonError::Stopped)?.into_iter();
        let each = is_evaluated.into_iter().map(|is_evaluated| {
            let results = if is_evaluated { results.next() } else { None };
            results.unwrap_or(ReportResult::NoSource)
        });
        Ok(each.collect())
    }

    /// Receives the change signals of an API client, `by`. A source whose changes are all announced
    /// is taken to have changed; for others the signal counts by the precision learned for the
    /// client. Returns the number of sources that exist.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the signal source cannot be written or the daemon has stopped.
    pub async fn report_changes(&self, by: &str, sources: Vec<u32>) -> Result<u64, DaemonError> {
        let signal_source = self.find_or_add_push_source(SignalSourceKind::Api, by).await?;
        self.request(|reply| Command::Signal(sources, signal_source, reply)).await
    }

    /// Returns the current price, budget and expected freshness.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn plan(&self) -> Result<BudgetPlan, DaemonError> {
        self.request(Command::Plan).await
    }

    /// Returns the beliefs about at most `most` sources, evenly spread over all.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn sample_beliefs(
        &self,
        max: usize,
    ) -> Result<Vec<(u32, SourceBelief)>, DaemonError> {
        self.request(|reply| Command::Sample(max, reply)).await
    }

    /// Returns the status of hosts by id. Unknown hosts are omitted.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn host_statuses(&self, ids: Vec<u32>) -> Result<Vec<HostStatus>, DaemonError> {
        self.request(|reply| Command::Hosts(ids, reply)).await
    }

    /// Returns at most `most` failing or saturated hosts, the worst first.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn worst_hosts(&self, max: usize) -> Result<Vec<HostStatus>, DaemonError> {
        self.request(|reply| Command::WorstHosts(max, reply)).await
    }

    /// Returns a page of source snapshots, starting at id `from`. The page is limited so that
    /// fetches do not wait; continue at [`SourceSnapshotPage::next_id`].
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn source_snapshots(&self, from: u32) -> Result<SourceSnapshotPage, DaemonError> {
        self.request(|reply| Command::SourceSnapshots(from, reply)).await
    }

    /// Returns the status of sources in the order of the ids. Unknown sources are omitted.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn source_statuses(&self, ids: Vec<u32>) -> Result<Vec<SourceStatus>, DaemonError> {
        self.request(|reply| Command::SourceStatuses(ids, reply)).await
    }

    /// Returns the settings in effect, as configured and as overridden.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn effective_settings(&self) -> Result<EffectiveSettings, DaemonError> {
        self.request(Command::EffectiveSettings).await
    }

    /// Replaces all settings overrides. They persist over restarts.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if an override is invalid or cannot be written, or the daemon has
    /// stopped.
    pub async fn override_settings(&self, adjusted: SettingsOverrides) -> Result<(), DaemonError> {
        let mut trial = Config::with_budget(1.0, freshet_fetch::RawFetchSettings::default())?;
        adjusted.apply(&mut trial)?;
        Ok(self.request(|reply| Command::OverrideSettings(adjusted, reply)).await??)
    }

    /// Applies an edit to the notification destinations, durably.
    ///
    /// # Errors
    /// Returns [`DestinationError`] if the edit fails or the daemon has stopped.
    pub async fn edit_destination(&self, edit: DestinationEdit) -> Result<u64, DestinationError> {
        let now = self.now();
        let changed = edit.changed_destination();
        let done = self.write(move |store| Ok(apply_destination_edit(store, &edit, now))).await;
        let done = done.map_err(|error| match error {
            DaemonError::Store(error) => DestinationError::Store(error),
            _ => DestinationError::Stopped,
        })?;
        let created = done.as_ref().ok().and_then(|it| u32::try_from(*it).ok());
        // There may be no notifier.
        let _ = self.destinations.send(match changed {
            ChangedDestination::One(id) => Some(id),
            ChangedDestination::New => created,
            ChangedDestination::Any => None,
        });
        done
    }

    /// Returns a receiver of the ids of destinations edited from now on; `None` stands for any.
    #[must_use]
    pub fn subscribe_destination_changes(&self) -> broadcast::Receiver<Option<u32>> {
        self.destinations.subscribe()
    }

    pub(crate) async fn request<T>(
        &self,
        ask: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, DaemonError> {
        let (reply, answer) = oneshot::channel();
        self.send_command(ask(reply)).await?;
        answer.await.map_err(|_| DaemonError::Stopped)
    }

    /// Switches to another configuration. The path of the store does not change.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if a secret is missing or the daemon has stopped.
    pub async fn reload(&self, config: Config) -> Result<(), DaemonError> {
        config.check_fetch_secrets()?;
        config.check_mail_secret()?;
        self.send_command(Command::Reload(Box::new(config))).await
    }

    /// Returns the current time of the daemon's clock.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.context.borrow().clock.now()
    }

    /// Reads the store on a blocking thread.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, DaemonError> {
        let context = Arc::clone(&self.context.borrow());
        let read = tokio::task::spawn_blocking(move || context.readers.with_reader(read));
        Ok(read.await.map_err(|_| DaemonError::Stopped)??)
    }

    /// Returns the reason why a URL would be refused, as far as the URL itself shows it; no name is
    /// resolved. Returns `None` if it would not be refused, or is not a URL.
    #[must_use]
    pub fn fetch_refusal(&self, url: &str) -> Option<String> {
        let request = FetchRequest::new(url).ok()?;
        let refusal = self.context.borrow().fetcher.settings().static_refusal(request.url());
        refusal.map(|it| it.to_string())
    }

    /// Extracts the relevant content of a document by the current settings and the source's own.
    /// CPU-bound.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the URL cannot be a source.
    pub fn read_document(
        &self,
        url: &str,
        own: &str,
        document: &Document<'_>,
    ) -> Result<Extraction, InvalidRequest> {
        Ok(self.detector(url, own)?.extract(document))
    }

    /// Returns the detector for a source with the current settings and its own.
    ///
    /// # Errors
    /// Returns [`InvalidRequest`] if the URL cannot be a source.
    pub fn detector(&self, url: &str, own: &str) -> Result<Arc<Detector>, InvalidRequest> {
        let request = FetchRequest::new(url)?;
        let context = Arc::clone(&self.context.borrow());
        Ok(context.detectors.detector_for(request.url(), own))
    }

    /// Creates a token, or replaces the one of the same name. It is valid when this returns.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if it cannot be written or the daemon has stopped.
    pub async fn put_token(&self, token: Token) -> Result<(), DaemonError> {
        self.write(move |store| store.upsert_token(&token)).await?;
        self.token_generation.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Revokes a token. Returns true if it existed. It is invalid when this returns.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the change cannot be written or the daemon has stopped.
    pub async fn remove_token(&self, name: String) -> Result<bool, DaemonError> {
        let was = self.write(move |store| store.remove_token(&name)).await?;
        self.token_generation.send_modify(|count| *count += 1);
        Ok(was)
    }

    /// Returns the number of token changes since the start. A cache of tokens is reloaded when it
    /// differs.
    #[must_use]
    pub fn token_generation(&self) -> u64 {
        *self.token_generation.borrow()
    }

    /// Returns the path of the store.
    #[must_use]
    pub fn store_path(&self) -> &std::path::Path {
        &self.store_path
    }

    /// Returns the WebSub subscriber.
    #[must_use]
    pub fn subscriber(&self) -> &Arc<Subscriber> {
        &self.subscriber
    }

    /// Returns the cache of IndexNow keys.
    pub(crate) fn key_cache(&self) -> &Arc<KeyCache> {
        &self.key_cache
    }

    /// Writes a subscription before the hub is contacted.
    pub(crate) async fn save_subscription(&self, row: Subscription) -> Result<(), DaemonError> {
        self.write(move |store| store.update_subscriptions(&[row], &[])).await
    }

    /// Returns a receiver of the fetch context, updated on reload.
    pub(crate) fn watch_context(&self) -> watch::Receiver<Arc<FetchContext>> {
        self.context.clone()
    }

    pub(crate) async fn send_command(&self, ask: Command) -> Result<(), DaemonError> {
        self.commands.send(ask).await.map_err(|_| DaemonError::Stopped)
    }
}

impl FetchContext {
    pub(crate) fn new(config: &Config, clock: Clock, store: PathBuf, permits: HostPermits) -> Self {
        Self {
            fetcher: freshet_fetch::Fetcher::new(config.fetch.clone()),
            detectors: DetectorCache::new(config.detection_rules.clone()),
            readers: ReaderPool::new(store),
            clock: Arc::new(clock),
            permits: Arc::new(permits),
            host_gap_days: config.host_gap_days,
            read_limits: config.signals.read_limits,
            callback_url: config.signals.callback_url.clone(),
            accept_indexnow: config.signals.accept_indexnow,
            head_stats: Arc::default(),
            head_min_bytes: config.signals.head_min_bytes,
        }
    }

    /// Returns the same context with another configuration.
    pub(crate) fn with_config(&self, config: &Config) -> Arc<Self> {
        Arc::new(Self {
            fetcher: freshet_fetch::Fetcher::new(config.fetch.clone()),
            detectors: DetectorCache::new(config.detection_rules.clone()),
            readers: self.readers.open_another(),
            clock: Arc::clone(&self.clock),
            permits: Arc::clone(&self.permits),
            host_gap_days: config.host_gap_days,
            read_limits: config.signals.read_limits,
            callback_url: config.signals.callback_url.clone(),
            accept_indexnow: config.signals.accept_indexnow,
            head_stats: Arc::clone(&self.head_stats),
            head_min_bytes: config.signals.head_min_bytes,
        })
    }
}

/// Checks that external clients may be asked to fetch a URL.
fn check_claimable(settings: &freshet_fetch::FetchSettings, url: &str) -> Result<(), String> {
    let url = url::Url::parse(url).map_err(|reason| reason.to_string())?;
    match settings.static_refusal(&url) {
        Some(refusal) => Err(refusal.to_string()),
        None if matches!(url.scheme(), "http" | "https") => Ok(()),
        None => Err(format!("`{}` sources are local and cannot be claimed", url.scheme())),
    }
}
