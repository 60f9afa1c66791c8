//! The loop: what the engine asks for is fetched, what came is told to it and recorded. Nothing is
//! handed out that is not paid for in the store, and nothing counts before it is there.

mod dispatch;
mod record;
mod replies;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use freshet_engine::{Action, Alarm, Engine, Event, Settings};
use freshet_store::{Batch, StoreError};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::bytes::Allowance;
use crate::config::Config;
use crate::crew::Crew;
use crate::edit::{Applied, Edit, EditError};
use crate::explained::Explained;
use crate::status::Status;
use crate::work::{Finished, Shop};
use crate::writer::{Edited, Write, Written};

/// What the loop is asked for.
pub(crate) enum Ask {
    Edit(Edit, oneshot::Sender<Result<Applied, EditError>>),
    Explain(u32, oneshot::Sender<Option<Explained>>),
    /// Fetch a source now, whatever it is worth. Says when it is recorded.
    Check(u32, oneshot::Sender<bool>),
    Status(oneshot::Sender<Status>),
    Backup(PathBuf, bool, oneshot::Sender<Result<(), StoreError>>),
    Reload(Box<Config>),
    Stop,
}

/// How often the rest is said and tidied up, in the world's time.
const BEAT: Duration = Duration::from_millis(500);
/// Beats between two tidyings of the store.
const TIDIED: u64 = 120;
/// Events that are taken at once before the engine's own work goes on.
const SOME: usize = 256;
/// How long fetches that are under way may take to end when the daemon is to stop.
const FAREWELL: Duration = Duration::from_secs(7);
/// Messages that are waited for after that.
const LAST: Duration = Duration::from_secs(2);

pub(crate) struct Core {
    pub(crate) engine: Engine,
    pub(crate) config: Config,
    pub(crate) shop: Arc<Shop>,
    pub(crate) crew: Crew,
    pub(crate) allowance: Allowance,
    pub(crate) asks: mpsc::Receiver<Ask>,
    pub(crate) writer: mpsc::UnboundedSender<Write>,
    pub(crate) written: mpsc::UnboundedReceiver<Written>,
    pub(crate) status: watch::Sender<Status>,
    pub(crate) flow: Flow,
    pub(crate) count: Status,
}

/// Where fetches are between the engine and the store.
#[derive(Default)]
pub(crate) struct Flow {
    /// Asked for by the engine, and not begun.
    outbox: VecDeque<u32>,
    /// The same of sources whose last fetch is not in the store yet: what comes could not be compared.
    early: Vec<u32>,
    /// Sources whose last fetch is being written, or will be next.
    unwritten: HashMap<u32, u32>,
    /// Under way.
    tasks: JoinSet<Finished>,
    sources: HashMap<tokio::task::Id, u32>,
    /// Fetches that the engine has been told it can ask for, and that are not over.
    given: u32,
    /// What is to be written next, and how many fetches are being written.
    batch: Batch,
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
    stale: bool,
    /// Who waits for a source to be recorded.
    waiting: HashMap<u32, Vec<oneshot::Sender<bool>>>,
    /// Sources that are fetched because somebody waits.
    checked: HashSet<u32>,
    /// Writing failed, and is not tried before the next beat.
    held: bool,
    /// Edits that the writer works on.
    edits: JoinSet<EditOver>,
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
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.tell(Event::Tick);
        loop {
            self.go_on();
            let day = self.next_wake();
            let wake = Instant::now() + self.shop.clock.wait_for(day);
            let wake = self.write_at().map_or(wake, |at| at.min(wake));
            tokio::select! {
                biased;
                Some(written) = self.written.recv() => self.was_written(written),
                Some(over) = self.flow.tasks.join_next_with_id() => self.is_over(over),
                Some(edited) = self.flow.edits.join_next() => self.was_edited(edited.ok()),
                ask = self.asks.recv() => match ask {
                    Some(Ask::Stop) | None => break,
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
        match self.allowance.until(day).filter(|_| held) {
            Some(until) => wake.min(until),
            None => wake,
        }
    }

    /// Tells the engine, and takes note of what it says.
    pub(crate) fn tell(&mut self, event: Event) {
        let mut actions = Vec::new();
        self.engine.step(self.shop.clock.day(), event, &mut actions);
        for action in actions {
            match action {
                Action::Fetch { id, .. } => self.flow.outbox.push_back(id),
                Action::Gone(id) => tracing::info!(source = id, "gone, and not asked for any more"),
                Action::Priced { price, outlook, saturated } => {
                    tracing::debug!(price, outlook, saturated, "looked at all sources");
                }
                Action::Alarm(alarm) => warn(alarm),
            }
        }
    }

    fn beat(&mut self) {
        self.flow.beats += 1;
        if let Some(jump) = self.shop.clock.take_jump() {
            tracing::warn!(
                seconds = jump.as_secs(),
                "the clock was set back: time goes on as before until the next start"
            );
        }
        self.adapt();
        self.flow.held = false;
        if self.flow.stale {
            self.write();
        }
        if self.flow.beats.is_multiple_of(TIDIED) {
            // Without a writer there is nothing to tidy.
            let _ = self.writer.send(Write::Tidy(self.shop.clock.now()));
        }
        let status = self.state();
        self.status.send_replace(status);
    }

    /// The budget may be by the number of sources, and by what a fetch usually brings.
    fn adapt(&mut self) {
        let settings = engine_settings(&self.config, self.engine.len(), &self.allowance);
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
        let deadline = Instant::now() + FAREWELL;
        while !self.flow.tasks.is_empty() {
            tokio::select! {
                Some(over) = self.flow.tasks.join_next_with_id() => self.is_over(over),
                Some(written) = self.written.recv() => self.was_written(written),
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
                Some(written) = self.written.recv() => self.was_written(written),
                () = sleep_until(last) => break,
            }
            if self.flow.held {
                tokio::time::sleep(BEAT).await;
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
