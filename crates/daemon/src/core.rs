//! The loop: what the engine asks for is fetched, what came is told to it and recorded. Nothing is
//! handed out that is not paid for in the store, and nothing counts before it is there.

mod claims;
mod decide;
mod dispatch;
mod permits;
mod record;
mod replies;
mod signal_sources;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use freshet_engine::{
    Action, Alarm, Engine, Event, PendingSignals, Settings, SignalSourceReport, SourceBelief,
    SourceStatus,
};
use freshet_fetch::Hop;
use freshet_store::{Batch, Decision, Store, StoreError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

pub(crate) use self::claims::{Claims, Granted, JudgedReport};
use self::decide::known;
pub(crate) use self::decide::{believed, decision};
pub(crate) use self::signal_sources::SignalSources;
use self::signal_sources::SignalSourcesDone;
use crate::adjust::{Adjusted, InForce};
use crate::bytes::Allowance;
use crate::claim::Taken;
use crate::clock::Jump;
use crate::config::Config;
use crate::edit::{Applied, Edit, EditError};
use crate::explained::Explained;
use crate::fetch_concurrency::FetchConcurrency;
use crate::hosts::HostNow;
use crate::permits::{Notice, Permit, PermitRequest, PermitReturn, UnlistedHosts};
use crate::plan::{Plan, SourceSnapshots};
use crate::polite_fetch::Postponement;
use crate::signal_sources::{
    SignalReport, SignalSourceChange, SignalSourceChanges, SignalSourceError,
};
use crate::status::Status;
use crate::websub::Subscriber;
use crate::work::{FetchContext, Finished};
use crate::writer::{Edited, Write, Wrote};

/// What the loop is asked for.
pub(crate) enum Command {
    Edit(Edit, oneshot::Sender<Result<Applied, EditError>>),
    Explain(u32, oneshot::Sender<Option<Explained>>),
    /// Fetch a source now, whatever it is worth. Says when it is recorded.
    Check(u32, oneshot::Sender<Checked>),
    /// A turn at a host for somebody outside.
    Lend(PermitRequest, oneshot::Sender<Permit>),
    /// What somebody outside heard from a host.
    Heard(PermitReturn, oneshot::Sender<()>),
    Status(oneshot::Sender<Status>),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Write(Box<dyn FnOnce(&mut Store) + Send>),
    /// Somebody can make so many fetches, for so long.
    Claim(u32, Duration, oneshot::Sender<Granted>),
    Report(Vec<JudgedReport>, oneshot::Sender<Vec<Taken>>),
    /// Somebody says that sources have changed.
    Signal(Vec<u32>, u32, oneshot::Sender<u64>),
    /// The same of a herald that speaks by itself.
    Hear(u32, Vec<SignalReport>, oneshot::Sender<u64>),
    /// Heralds come, go, or are described anew.
    Heralds(SignalSourceChange, oneshot::Sender<Result<SignalSourceChanges, SignalSourceError>>),
    /// What signals have to do with the day on which a source is due.
    Announced(u32, oneshot::Sender<Option<PendingSignals>>),
    /// What is known of heralds, by their numbers.
    HeraldReports(Vec<u32>, oneshot::Sender<Vec<Option<SignalSourceReport>>>),
    Plan(oneshot::Sender<Plan>),
    /// What is known of so many sources at most, spread over all.
    Sample(usize, oneshot::Sender<Vec<(u32, SourceBelief)>>),
    /// What hosts are doing, by their numbers.
    Hosts(Vec<u32>, oneshot::Sender<Vec<HostNow>>),
    WorstHosts(usize, oneshot::Sender<Vec<HostNow>>),
    /// Sources as they are, from a number on.
    See(u32, oneshot::Sender<SourceSnapshots>),
    /// Where sources stand.
    Glance(Vec<u32>, oneshot::Sender<Vec<SourceStatus>>),
    Settings(oneshot::Sender<InForce>),
    Adjust(Adjusted, oneshot::Sender<Result<(), StoreError>>),
    Reload(Box<Config>),
    Stop,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Checked {
    Recorded,
    NoSource,
    /// A host is to be left alone.
    PutOff(Postponement),
}

/// How often the rest is said and tidied up, in the world's time.
const TICK: Duration = Duration::from_millis(500);
/// Beats between two tidyings of the store.
const TIDIED: u64 = 120;
/// How long a fetch that was put off goes on where it stopped; later it begins anew.
const STOPPED: Duration = Duration::from_secs(600);
/// A fetch that takes longer waits for its host: another one may begin in its place.
const SLOW_FETCH: Duration = Duration::from_secs(2);
/// Events that are taken at once before the engine's own work goes on.
const SOME: usize = 256;
/// How long fetches that are under way may take to end when the daemon is to stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(7);
/// Messages that are waited for after that.
const LAST: Duration = Duration::from_secs(2);

pub(crate) struct Core {
    pub(crate) engine: Engine,
    pub(crate) config: Config,
    /// The configuration as it is written, and what was said since.
    pub(crate) file: Config,
    pub(crate) adjusted: Adjusted,
    pub(crate) shop: Arc<FetchContext>,
    /// The same for those who ask.
    pub(crate) shops: watch::Sender<Arc<FetchContext>>,
    pub(crate) crew: FetchConcurrency,
    pub(crate) allowance: Allowance,
    pub(crate) asks: mpsc::Receiver<Command>,
    pub(crate) writer: mpsc::UnboundedSender<Write>,
    pub(crate) written: mpsc::UnboundedReceiver<Wrote>,
    pub(crate) notices: mpsc::UnboundedReceiver<Notice>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) flow: InFlight,
    pub(crate) count: Status,
    /// Who is told of hubs.
    pub(crate) websub: Arc<Subscriber>,
}

/// Where fetches are between the engine and the store.
#[derive(Default)]
pub(crate) struct InFlight {
    /// Asked for by the engine, and not begun.
    outbox: VecDeque<u32>,
    /// The same of sources whose last fetch is not in the store yet: what comes could not be compared.
    early: Vec<u32>,
    /// Sources whose last fetch is being written, or will be next.
    unwritten: HashMap<u32, u32>,
    /// Where fetches that were put off stopped, and when.
    ways: HashMap<u32, (Instant, Vec<Hop>)>,
    /// Hosts that the engine does not know.
    pub(crate) strangers: UnlistedHosts,
    /// The last source of a host whose page took too long, while nothing else came from there.
    slow: HashMap<u32, u32>,
    /// What the ledger says was paid for.
    ledgered: f64,
    /// Under way.
    tasks: JoinSet<Finished>,
    sources: HashMap<tokio::task::Id, (u32, Instant)>,
    /// Of them, those that take long.
    stuck: u32,
    /// Fetches that the engine has been told it can ask for, and that are not over.
    given: u32,
    /// What is to be written next, and how many fetches are being written.
    pub(crate) batch: Batch,
    writing: Option<usize>,
    written: Vec<u32>,
    /// Until when what comes is gathered, since the last one was sent to be written.
    gathered: Option<Instant>,
    /// What was paid for fetches that have begun, and up to where that is covered by what is written.
    paid: f64,
    covered: f64,
    /// The same as of the batch that is being written.
    will_cover: f64,
    /// What is written is not what there is.
    pub(crate) stale: bool,
    /// Who waits for a source to be recorded.
    waiting: HashMap<u32, Vec<oneshot::Sender<Checked>>>,
    /// Sources that are fetched because somebody waits.
    checked: HashSet<u32>,
    /// Writing failed, and is not tried before the next beat.
    held: bool,
    /// Why fetches are made that are handed out.
    decided: HashMap<u32, Decision>,
    /// Fetches that others make.
    pub(crate) claims: Claims,
    /// Edits that the writer works on.
    edits: JoinSet<EditOver>,
    /// The same of heralds.
    changes: JoinSet<SignalSourcesDone>,
    pub(crate) heralds: SignalSources,
    stopping: bool,
    beats: u64,
}

/// An edit that the writer has worked on, and who waits for it.
pub(crate) struct EditOver {
    edited: Result<Edited, EditError>,
    reply: oneshot::Sender<Result<Applied, EditError>>,
}

impl Core {
    /// Runs until it is asked to stop. Says whether all is written.
    pub(crate) async fn run(mut self) -> bool {
        let mut beat = tokio::time::interval(TICK);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.tell(Event::Tick);
        loop {
            self.go_on();
            let day = self.next_wake();
            let wake = Instant::now() + self.shop.clock.wait_for(day);
            let wake = self.write_at().map_or(wake, |at| at.min(wake));
            tokio::select! {
                biased;
                Some(wrote) = self.written.recv() => self.wrote(wrote),
                Some(notice) = self.notices.recv() => self.noticed(notice),
                Some(over) = self.flow.tasks.join_next_with_id() => self.is_over(over),
                Some(edited) = self.flow.edits.join_next() => self.was_edited(edited.ok()),
                Some(changed) = self.flow.changes.join_next() => self.heralds_changed(changed.ok()),
                ask = self.asks.recv() => match ask {
                    Some(Command::Stop) | None => break,
                    Some(ask) => self.asked(ask),
                },
                _ = beat.tick() => self.beat(),
                () = sleep_until(wake) => self.tell(Event::Tick),
            }
            for _ in 0..SOME {
                let Some(over) = self.flow.tasks.try_join_next_with_id() else { break };
                self.is_over(over);
            }
        }
        self.stop().await
    }

    /// When there is something to do, as far as that is known.
    fn next_wake(&mut self) -> f64 {
        let wake = self.engine.wake();
        let held = !self.flow.outbox.is_empty();
        let day = self.engine.now();
        let under_way = self.flow.tasks.len();
        match self.allowance.until(day, under_way, 0).filter(|_| held) {
            Some(until) => wake.min(until),
            None => wake,
        }
    }

    /// Tells the engine, and takes note of what it says.
    pub(crate) fn tell(&mut self, event: Event) {
        for action in self.step(event) {
            self.follow_up(action);
        }
    }

    fn step(&mut self, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        let day = self.today();
        self.engine.step(day, event, &mut actions);
        for action in &actions {
            if let Action::Fetch { id, reason } = action {
                self.flow.claims.take_back(*id);
                self.decided(*id, known(&self.engine, *id, *reason));
            }
        }
        actions
    }

    fn follow_up(&mut self, action: Action) {
        match action {
            Action::Fetch { id, .. } => self.flow.outbox.push_back(id),
            Action::Gone(id) => tracing::info!(source = id, "gone, and not asked for any more"),
            Action::Priced { price, outlook, saturated } => {
                tracing::debug!(price, outlook, saturated, "looked at all sources");
            }
            Action::Alarm(alarm) => warn(alarm),
        }
    }

    /// What day it is. Time that nobody was there for brings no budget: what is overdue is spread.
    fn today(&mut self) -> f64 {
        let day = self.shop.clock.day();
        match self.shop.clock.take_jump() {
            None => {}
            Some(Jump::Back(by)) => tracing::warn!(
                seconds = by.as_secs(),
                "the clock was set back: time goes on as before until the next start"
            ),
            Some(Jump::Forward(by)) => {
                tracing::warn!(
                    seconds = by.as_secs(),
                    "the clock was set forward, or the machine slept: what is overdue is spread"
                );
                self.engine.skip_to(day);
                self.allowance = self.allowance.resume(self.config.bytes, day);
            }
        }
        day
    }

    fn beat(&mut self) {
        self.flow.beats += 1;
        let stuck = self.flow.sources.values().filter(|(_, at)| at.elapsed() > SLOW_FETCH).count();
        self.flow.stuck = u32::try_from(stuck).unwrap_or(u32::MAX);
        self.adapt();
        self.end_leases();
        self.flow.held = false;
        if self.flow.stale {
            self.write();
        }
        if self.flow.beats.is_multiple_of(TIDIED) {
            // Without a writer there is nothing to tidy.
            let _ = self.writer.send(Write::Tidy(self.shop.clock.now()));
            self.flow.strangers.tidy(self.shop.clock.day());
            self.flow.ways.retain(|_, (at, _)| at.elapsed() < STOPPED);
        }
        let status = self.state();
        self.take_pulse(&status);
        self.status.send_replace(status);
    }

    /// The budget may be by the number of sources, and by what a fetch usually brings.
    fn adapt(&mut self) {
        let settings = engine_settings(&self.config, self.pages(), &self.allowance);
        let is = self.engine.settings().budget;
        let to = settings.budget;
        let same = if self.config.bytes.is_some() { (to / is - 1.0).abs() < 0.1 } else { to == is };
        if !(same || to == 0.0 && is == 0.0) {
            self.tell(Event::Settings(settings));
        }
    }

    async fn stop(&mut self) -> bool {
        self.flow.stopping = true;
        self.flow.outbox.clear();
        self.flow.early.clear();
        let deadline = Instant::now() + SHUTDOWN_GRACE;
        while !self.flow.tasks.is_empty() {
            tokio::select! {
                Some(notice) = self.notices.recv() => self.noticed(notice),
                Some(over) = self.flow.tasks.join_next_with_id() => self.is_over(over),
                Some(wrote) = self.written.recv() => self.wrote(wrote),
                () = sleep_until(deadline) => {
                    tracing::warn!(fetches = self.flow.tasks.len(), "given up: they took too long");
                    self.flow.tasks.abort_all();
                    while self.flow.tasks.join_next().await.is_some() {}
                }
            }
            self.go_on();
        }
        self.flow.stale = true;
        let last = Instant::now() + LAST;
        loop {
            self.flow.held = false;
            self.write();
            if self.flow.writing.is_none() {
                break;
            }
            tokio::select! {
                Some(wrote) = self.written.recv() => self.wrote(wrote),
                () = sleep_until(last) => break,
            }
            if self.flow.held {
                tokio::time::sleep(TICK).await;
            }
            if Instant::now() > last {
                break;
            }
        }
        let lost = self.flow.batch.fetches.len() + self.flow.writing.unwrap_or(0);
        if lost > 0 {
            tracing::error!(fetches = lost, "not written: they will be made again");
        }
        lost == 0 && self.count.trouble.is_none()
    }
}

/// What the engine is to keep to, with so many sources.
pub(crate) fn engine_settings(config: &Config, sources: usize, bytes: &Allowance) -> Settings {
    let budget = config.budget.for_sources(sources).get();
    let budget = bytes.fetches().map_or(budget, |fetches| budget.min(fetches));
    Settings {
        budget,
        profile: config.profile,
        burst: config.burst,
        goal: config.objective,
        host_gap: config.gap,
        host_connections: config.connections,
        ..Settings::default()
    }
}

fn warn(alarm: Alarm) {
    match alarm {
        Alarm::HostDown(host) => tracing::warn!(host, "does not answer any more"),
        Alarm::HostBack(host) => tracing::info!(host, "answers again"),
        Alarm::Refused(source) => tracing::warn!(source, "cannot be taken in"),
        Alarm::BudgetTooSmall { needed } => {
            tracing::warn!(needed, "the longest intervals take more than the budget");
        }
    }
}
