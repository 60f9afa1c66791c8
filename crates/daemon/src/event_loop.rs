//! The event loop: it executes the engine's actions and feeds results back. No fetch starts before
//! its cost is in the store, and no result counts before it is there.

mod claims;
mod commands;
mod decisions;
mod dispatch;
mod permits;
mod record;
mod signal_sources;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use freshet_engine::{
    Action, Alarm, Engine, EngineSettings, Event, PendingSignals, SignalSourceReport, SourceBelief,
    SourceStatus,
};
use freshet_fetch::FetchHop;
use freshet_store::{Batch, Decision, Store, StoreError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

pub(crate) use self::claims::{ClaimGrant, Claims, JudgedReport};
use self::decisions::stored_reason;
pub(crate) use self::decisions::{believed_rate, make_decision};
use self::signal_sources::CompletedSignalSourceChange;
pub(crate) use self::signal_sources::SignalSources;
use crate::budget_plan::{BudgetPlan, SourceSnapshotPage};
use crate::byte_budget::ByteBudget;
use crate::claim::ReportResult;
use crate::clock::ClockJump;
use crate::config::Config;
use crate::fetch_concurrency::FetchConcurrency;
use crate::fetch_context::{FetchContext, FinishedFetch};
use crate::host_permits::{LoopMessage, Permit, PermitRequest, PermitReturn, UnlistedHosts};
use crate::host_status::HostStatus;
use crate::polite_fetch::Postponement;
use crate::settings_overrides::{EffectiveSettings, SettingsOverrides};
use crate::signal_sources::{
    SignalReport, SignalSourceChange, SignalSourceChanges, SignalSourceError,
};
use crate::source_edit::{EditError, EditResult, SourceEdit};
use crate::source_explanation::SourceExplanation;
use crate::status::DaemonStatus;
use crate::websub::Subscriber;
use crate::writer::{AppliedEdit, WriteEvent, WriteOrder};

/// Commands to the event loop.
pub(crate) enum Command {
    Edit(SourceEdit, oneshot::Sender<Result<EditResult, EditError>>),
    Explain(u32, oneshot::Sender<Option<SourceExplanation>>),
    /// Fetch a source now, whatever its value. The reply is sent when the result is recorded.
    Check(u32, oneshot::Sender<CheckResult>),
    /// Request a permit for another process.
    RequestPermit(PermitRequest, oneshot::Sender<Permit>),
    /// Return a permit of another process.
    ReturnPermit(PermitReturn, oneshot::Sender<()>),
    Status(oneshot::Sender<DaemonStatus>),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Write(Box<dyn FnOnce(&mut Store) + Send>),
    /// Lease up to this number of sources to an external client, for a limited time.
    Claim(u32, Duration, oneshot::Sender<ClaimGrant>),
    Report(Vec<JudgedReport>, oneshot::Sender<Vec<ReportResult>>),
    /// Change signals of an API client, by source id and signal source.
    Signal(Vec<u32>, u32, oneshot::Sender<u64>),
    /// Change signals of a push source.
    ReceiveSignals(u32, Vec<SignalReport>, oneshot::Sender<u64>),
    /// Add, update or remove signal sources.
    ChangeSignalSources(
        SignalSourceChange,
        oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>,
    ),
    /// Return the signals that affect when a source is due.
    PendingSignals(u32, oneshot::Sender<Option<PendingSignals>>),
    /// Return the reports of signal sources, by id.
    SignalSourceReports(Vec<u32>, oneshot::Sender<Vec<Option<SignalSourceReport>>>),
    Plan(oneshot::Sender<BudgetPlan>),
    /// Return the beliefs about at most this number of sources, evenly spread over all.
    Sample(usize, oneshot::Sender<Vec<(u32, SourceBelief)>>),
    /// Return the status of hosts, by id.
    Hosts(Vec<u32>, oneshot::Sender<Vec<HostStatus>>),
    WorstHosts(usize, oneshot::Sender<Vec<HostStatus>>),
    /// Return a page of source snapshots that starts at an id.
    SourceSnapshots(u32, oneshot::Sender<SourceSnapshotPage>),
    /// Return the status of sources, by id.
    SourceStatuses(Vec<u32>, oneshot::Sender<Vec<SourceStatus>>),
    EffectiveSettings(oneshot::Sender<EffectiveSettings>),
    OverrideSettings(SettingsOverrides, oneshot::Sender<Result<(), StoreError>>),
    Reload(Box<Config>),
    Stop,
}

/// Result of fetching a source on demand.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CheckResult {
    Recorded,
    NoSource,
    /// A host involved is in a cooldown.
    Postponed(Postponement),
}

/// Interval of periodic work, in real time.
const TICK: Duration = Duration::from_millis(500);
/// Ticks between two prunings of the store.
const PRUNE_TICKS: u64 = 120;
/// A postponed fetch resumes where it stopped within this time; later it starts over.
const RESUME_WINDOW: Duration = Duration::from_secs(600);
/// A fetch that takes longer is taken to wait for its host, and another may start in its place.
const SLOW_FETCH: Duration = Duration::from_secs(2);
/// Finished fetches that are handled before the engine's own work continues.
const MAX_COMPLETIONS_PER_TURN: usize = 256;
/// Time that fetches in flight have to finish at shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(7);
/// Time for the final write after that.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct EventLoop {
    pub(crate) engine: Engine,
    pub(crate) config: Config,
    /// Configuration file, and the overrides applied to it.
    pub(crate) file_config: Config,
    pub(crate) overrides: SettingsOverrides,
    pub(crate) context: Arc<FetchContext>,
    /// Publishes the context to handles.
    pub(crate) context_updates: watch::Sender<Arc<FetchContext>>,
    pub(crate) concurrency: FetchConcurrency,
    pub(crate) byte_budget: ByteBudget,
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) writer: mpsc::UnboundedSender<WriteOrder>,
    pub(crate) write_events: mpsc::UnboundedReceiver<WriteEvent>,
    pub(crate) messages: mpsc::UnboundedReceiver<LoopMessage>,
    pub(crate) status_updates: watch::Sender<DaemonStatus>,
    pub(crate) in_flight: InFlight,
    pub(crate) counters: DaemonStatus,
    /// Receives the WebSub hubs that feeds name.
    pub(crate) subscriber: Arc<Subscriber>,
}

/// Fetches between the engine and the store.
#[derive(Default)]
pub(crate) struct InFlight {
    /// Requested by the engine, not started.
    outbox: VecDeque<u32>,
    /// Requested by the engine, but the previous fetch of the source is not in the store yet, so
    /// the result could not be compared.
    awaiting_write: Vec<u32>,
    /// Number of results per source that are not in the store yet.
    unwritten: HashMap<u32, u32>,
    /// Where postponed fetches stopped, and when.
    resume_points: HashMap<u32, (Instant, Vec<FetchHop>)>,
    /// Hosts without sources.
    pub(crate) unlisted_hosts: UnlistedHosts,
    /// Per host: the last source whose page was too slow or broken, with no success from the host
    /// since.
    last_slow_source: HashMap<u32, u32>,
    /// Cost of fetches as recorded in the ledger.
    ledgered: f64,
    /// Running fetches.
    tasks: JoinSet<FinishedFetch>,
    task_sources: HashMap<tokio::task::Id, (u32, Instant)>,
    /// Number of running fetches that are slow.
    slow_fetches: u32,
    /// Fetches that the engine may request or has requested, and that have not finished.
    granted_capacity: u32,
    /// Next batch, and the number of fetches in the batch being written.
    pub(crate) batch: Batch,
    fetches_being_written: Option<usize>,
    sources_being_written: Vec<u32>,
    /// Until when results are gathered before the next write.
    gather_until: Option<Instant>,
    /// Cost of all fetches started, and the part of it that the store covers.
    prepaid: f64,
    prepaid_written: f64,
    /// Value of `prepaid_written` once the current batch is written.
    prepaid_in_write: f64,
    /// True if there is something to write besides fetches.
    pub(crate) needs_write: bool,
    /// Replies to send once a source is recorded.
    check_waiters: HashMap<u32, Vec<oneshot::Sender<CheckResult>>>,
    /// Sources being fetched on demand.
    on_demand: HashSet<u32>,
    /// True after a failed write, until the next tick.
    write_failed: bool,
    /// Reasons of the fetches handed out.
    decisions: HashMap<u32, Decision>,
    /// Fetches made by external clients.
    pub(crate) claims: Claims,
    /// Source edits on the writer thread.
    edits: JoinSet<CompletedEdit>,
    /// Signal source changes on the writer thread.
    signal_source_changes: JoinSet<CompletedSignalSourceChange>,
    pub(crate) signal_sources: SignalSources,
    stopping: bool,
    ticks: u64,
}

/// A source edit done by the writer thread, and where to send the result.
pub(crate) struct CompletedEdit {
    edited: Result<AppliedEdit, EditError>,
    reply: oneshot::Sender<Result<EditResult, EditError>>,
}

impl EventLoop {
    /// Runs until [`Command::Stop`]. Returns true if everything was written.
    pub(crate) async fn run(mut self) -> bool {
        let mut beat = tokio::time::interval(TICK);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.handle_event(Event::Tick);
        loop {
            self.dispatch();
            let day = self.next_wake();
            let wake = Instant::now() + self.context.clock.real_time_until(day);
            let wake = self.next_write_at().map_or(wake, |at| at.min(wake));
            tokio::select! {
                biased;
                Some(wrote) = self.write_events.recv() => self.on_write_event(wrote),
                Some(message) = self.messages.recv() => self.handle_message(message),
                Some(finished) = self.in_flight.tasks.join_next_with_id() => self.on_task_finished(finished),
                Some(edited) = self.in_flight.edits.join_next() => self.on_edit_done(edited.ok()),
                Some(changed) = self.in_flight.signal_source_changes.join_next() => self.on_signal_sources_changed(changed.ok()),
                command = self.commands.recv() => match command {
                    Some(Command::Stop) | None => break,
                    Some(command) => self.handle_command(command),
                },
                _ = beat.tick() => self.on_tick(),
                () = sleep_until(wake) => self.handle_event(Event::Tick),
            }
            for _ in 0..MAX_COMPLETIONS_PER_TURN {
                let Some(finished) = self.in_flight.tasks.try_join_next_with_id() else { break };
                self.on_task_finished(finished);
            }
        }
        self.stop().await
    }

    /// Returns the day of the next scheduled work.
    fn next_wake(&mut self) -> f64 {
        let wake = self.engine.next_tick();
        let held = !self.in_flight.outbox.is_empty();
        let day = self.engine.now();
        let under_way = self.in_flight.tasks.len();
        match self.byte_budget.blocked_until(day, under_way, 0).filter(|_| held) {
            Some(until) => wake.min(until),
            None => wake,
        }
    }

    /// Passes an event to the engine and executes the resulting actions.
    pub(crate) fn handle_event(&mut self, event: Event) {
        for action in self.step_engine(event) {
            self.handle_action(action);
        }
    }

    fn step_engine(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        let day = self.advance_clock();
        self.engine.step(day, event, &mut actions);
        for action in &actions {
            if let Action::Fetch { id, reason } = action {
                self.in_flight.claims.release(*id);
                self.remember_decision(*id, stored_reason(&self.engine, *id, *reason));
            }
        }
        actions
    }

    fn handle_action(&mut self, action: Action) {
        match action {
            Action::Fetch { id, .. } => self.in_flight.outbox.push_back(id),
            Action::SourceGone(id) => {
                tracing::info!(source = id, "source is gone and no longer fetched")
            }
            Action::PriceUpdated { price, long_run_price: outlook, saturated_hosts: saturated } => {
                tracing::debug!(price, outlook, saturated, "price updated");
            }
            Action::Alarm(alarm) => log_alarm(alarm),
        }
    }

    /// Returns the current day. Time during which the machine slept or the clock was set forward
    /// earns no budget; overdue fetches are spread out.
    fn advance_clock(&mut self) -> f64 {
        let day = self.context.clock.now_days();
        match self.context.clock.take_jump() {
            None => {}
            Some(ClockJump::Back(by)) => tracing::warn!(
                seconds = by.as_secs(),
                "the wall clock was set back: the daemon keeps its own time until the next start"
            ),
            Some(ClockJump::Forward(by)) => {
                tracing::warn!(
                    seconds = by.as_secs(),
                    "the wall clock was set forward, or the machine slept: overdue fetches are spread out"
                );
                self.engine.skip_to(day);
                self.byte_budget = self.byte_budget.with_limit(self.config.bytes_per_day, day);
            }
        }
        day
    }

    fn on_tick(&mut self) {
        self.in_flight.ticks += 1;
        let slow = self
            .in_flight
            .task_sources
            .values()
            .filter(|(_, at)| at.elapsed() > SLOW_FETCH)
            .count();
        self.in_flight.slow_fetches = u32::try_from(slow).unwrap_or(u32::MAX);
        self.update_engine_settings();
        self.expire_leases();
        self.in_flight.write_failed = false;
        if self.in_flight.needs_write {
            self.write_batch();
        }
        if self.in_flight.ticks.is_multiple_of(PRUNE_TICKS) {
            // The writer thread may be gone.
            let _ = self.writer.send(WriteOrder::Prune(self.context.clock.now()));
            self.in_flight.unlisted_hosts.prune(self.context.clock.now_days());
            self.in_flight.resume_points.retain(|_, (at, _)| at.elapsed() < RESUME_WINDOW);
        }
        let status = self.current_status();
        self.sample_status(&status);
        self.status_updates.send_replace(status);
    }

    /// Updates the budget, which may depend on the number of sources and on the average size of a
    /// fetch.
    fn update_engine_settings(&mut self) {
        let settings = engine_settings(&self.config, self.page_count(), &self.byte_budget);
        let is = self.engine.settings().budget;
        let to = settings.budget;
        let same = if self.config.bytes_per_day.is_some() {
            (to / is - 1.0).abs() < 0.1
        } else {
            to == is
        };
        if !(same || to == 0.0 && is == 0.0) {
            self.handle_event(Event::SettingsChanged(settings));
        }
    }

    async fn stop(&mut self) -> bool {
        self.in_flight.stopping = true;
        self.in_flight.outbox.clear();
        self.in_flight.awaiting_write.clear();
        let deadline = Instant::now() + SHUTDOWN_GRACE;
        while !self.in_flight.tasks.is_empty() {
            tokio::select! {
                Some(message) = self.messages.recv() => self.handle_message(message),
                Some(finished) = self.in_flight.tasks.join_next_with_id() => self.on_task_finished(finished),
                Some(wrote) = self.write_events.recv() => self.on_write_event(wrote),
                () = sleep_until(deadline) => {
                    tracing::warn!(fetches = self.in_flight.tasks.len(), "aborted fetches that did not finish in time");
                    self.in_flight.tasks.abort_all();
                    while self.in_flight.tasks.join_next().await.is_some() {}
                }
            }
            self.dispatch();
        }
        self.in_flight.needs_write = true;
        let last = Instant::now() + FINAL_WRITE_TIMEOUT;
        loop {
            self.in_flight.write_failed = false;
            self.write_batch();
            if self.in_flight.fetches_being_written.is_none() {
                break;
            }
            tokio::select! {
                Some(wrote) = self.write_events.recv() => self.on_write_event(wrote),
                () = sleep_until(last) => break,
            }
            if self.in_flight.write_failed {
                tokio::time::sleep(TICK).await;
            }
            if Instant::now() > last {
                break;
            }
        }
        let lost =
            self.in_flight.batch.fetches.len() + self.in_flight.fetches_being_written.unwrap_or(0);
        if lost > 0 {
            tracing::error!(
                fetches = lost,
                "results could not be written; the fetches will be repeated"
            );
        }
        lost == 0 && self.counters.write_error.is_none()
    }
}

/// Returns the engine settings for a number of sources.
pub(crate) fn engine_settings(
    config: &Config,
    sources: usize,
    byte_budget: &ByteBudget,
) -> EngineSettings {
    let budget = config.budget.for_sources(sources).get();
    let budget = byte_budget.fetches_per_day().map_or(budget, |fetches| budget.min(fetches));
    EngineSettings {
        budget,
        profile: config.profile,
        burst: config.burst,
        goal: config.objective,
        host_gap: config.host_gap_days,
        host_connections: config.host_connections,
        ..EngineSettings::default()
    }
}

fn log_alarm(alarm: Alarm) {
    match alarm {
        Alarm::HostDown(host) => tracing::warn!(host, "host no longer answers"),
        Alarm::HostRecovered(host) => tracing::info!(host, "host answers again"),
        Alarm::DescriptionRejected(source) => {
            tracing::warn!(source, "the engine rejected the source")
        }
        Alarm::BudgetTooSmall { needed } => {
            tracing::warn!(needed, "budget is below the sum of the minimum rates");
        }
    }
}
