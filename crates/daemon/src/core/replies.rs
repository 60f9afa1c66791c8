//! What others ask of the loop.

use std::sync::Arc;

use freshet_engine::{Engine, Event, SourceBelief, Standing};
use freshet_store::{LearnedState, Store, StoreError, StoredReason};
use tokio::sync::oneshot;

use super::{Checked, Command, Core, EditOver, engine_settings};
use crate::adjust::{Adjusted, InForce};
use crate::config::Config;
use crate::edit::EditError;
use crate::explained::Explained;
use crate::hosts;
use crate::plan::{Plan, SourceSnapshots};
use crate::signal_sources::{SignalReport, SignalSourceChange};
use crate::status::Status;
use crate::writer::{Edited, Write};

impl Core {
    pub(super) fn asked(&mut self, ask: Command) {
        match ask {
            Command::Edit(edit, reply) => {
                let (told, answer) = oneshot::channel();
                let now = self.shop.clock.now();
                if self.writer.send(Write::Edit(edit, now, told)).is_ok() {
                    self.flow.edits.spawn(async move {
                        let edited = answer.await.unwrap_or(Err(EditError::Stopped));
                        EditOver { edited, reply }
                    });
                }
            }
            // Who asked may have gone.
            Command::Explain(id, reply) => {
                self.tell(Event::Tick);
                let _ = reply.send(Explained::by(&self.engine, id));
            }
            Command::Check(id, reply) => self.check(id, reply),
            Command::Lend(want, reply) => {
                let turn = self.lend(&want);
                let _ = reply.send(turn);
            }
            Command::Heard(left, reply) => {
                self.heard(&left);
                let _ = reply.send(());
            }
            Command::Status(reply) => {
                let _ = reply.send(self.state());
            }
            Command::Backup(path, force, reply) => {
                // It waits in line with all else that is written.
                let _ = self.writer.send(Write::Backup(path, force, reply));
            }
            Command::Write(work) => {
                // Who waits for it hears that nobody writes any more.
                let _ = self.writer.send(Write::Other(work));
            }
            Command::Claim(most, length, reply) => self.claim(most, length, reply),
            Command::Report(told, reply) => self.reported(told, reply),
            Command::Signal(ids, herald, reply) => {
                let _ = reply.send(self.signals(ids, herald));
            }
            Command::Hear(herald, said, reply) => {
                let _ = reply.send(self.heard_from(herald, &said));
            }
            Command::Heralds(change, reply) => self.change_heralds(change, reply),
            Command::Announced(id, reply) => {
                self.tell(Event::Tick);
                let _ = reply.send(self.engine.announced(id));
            }
            Command::HeraldReports(numbers, reply) => {
                let _ = reply.send(self.herald_reports(&numbers));
            }
            Command::Plan(reply) => {
                let plan = Plan::of(&self.engine);
                let _ = reply.send(Plan { sources: self.pages() as u64, ..plan });
            }
            Command::Sample(most, reply) => {
                let mut sample = sample(&self.engine, most);
                sample.retain(|(id, _)| !self.flow.heralds.is_read(*id));
                let _ = reply.send(sample);
            }
            Command::Hosts(ids, reply) => {
                let _ = reply.send(hosts::some(&self.engine, &ids));
            }
            Command::WorstHosts(most, reply) => {
                let _ = reply.send(hosts::worst(&self.engine, most));
            }
            Command::See(from, reply) => {
                let mut sights = SourceSnapshots::of(&self.engine, from);
                sights.each.retain(|it| !self.flow.heralds.is_read(it.id()));
                let _ = reply.send(sights);
            }
            Command::Glance(ids, reply) => {
                let each = ids.into_iter().filter_map(|id| self.engine.glance(id));
                let _ = reply.send(each.collect());
            }
            Command::Settings(reply) => {
                let _ = reply.send(InForce::of(&self.config, &self.file, &self.adjusted));
            }
            Command::Adjust(adjusted, reply) => self.adjust(adjusted, reply),
            Command::Reload(config) => self.reload(*config),
            Command::Stop => {}
        }
    }

    /// Fetches a source at once, unless it is under way.
    fn check(&mut self, id: u32, reply: oneshot::Sender<Checked>) {
        let Some(it) = self.engine.explain(id) else {
            let _ = reply.send(Checked::NoSource);
            return;
        };
        let was_out = self.flow.claims.take_back(id);
        if it.standing == Standing::Asked && was_out {
            // Whoever has it may take long: it is paid for, and fetched here.
            self.flow.given += 1;
            self.flow.outbox.push_front(id);
        } else if it.standing != Standing::Asked {
            self.flow.given += 1;
            self.decided(id, StoredReason::Requested);
            self.tell(Event::Fetching(id));
            self.flow.outbox.push_front(id);
        } else if let Some(place) = self.flow.outbox.iter().position(|&held| held == id) {
            self.flow.outbox.swap(0, place);
        }
        self.flow.checked.insert(id);
        self.flow.waiting.entry(id).or_default().push(reply);
    }

    pub(super) fn was_edited(&mut self, over: Option<EditOver>) {
        let Some(EditOver { edited, reply }) = over else { return };
        self.meet();
        let applied = edited.map(|Edited { applied, described, expected }| {
            if !expected.is_empty() {
                self.tell(Event::Recalled(expected));
            }
            if !described.is_empty() {
                self.tell(Event::Described(described));
            }
            if !applied.gone.is_empty() {
                for id in &applied.gone {
                    self.flow.decided.remove(id);
                }
                self.tell(Event::Removed(applied.gone.clone()));
            }
            applied
        });
        self.adapt();
        let _ = reply.send(applied);
    }

    /// Somebody says that sources have changed. Those whose every change is announced believe it; of
    /// others it counts as far as it has proved true. Gives how many of them there are.
    fn signals(&mut self, ids: Vec<u32>, herald: u32) -> u64 {
        let is_observed = |it: &Self, id| it.engine.known(id).is_some_and(|it| it.observed);
        let (observed, others): (Vec<u32>, Vec<u32>) =
            ids.into_iter().partition(|&id| is_observed(self, id));
        let known = observed.into_iter().filter(|&id| self.signalled(id)).count() as u64;
        let others: Vec<SignalReport> =
            others.into_iter().map(|source| SignalReport { source, said: None }).collect();
        known + self.heard_from(herald, &others)
    }

    /// A source says that it has changed. Says whether there is such a source.
    fn signalled(&mut self, id: u32) -> bool {
        self.tell(Event::Signal(id));
        let Some(learnt) = self.engine.learned_state(id) else { return false };
        let due = learnt.due().map(crate::clock::millis);
        let learnt = LearnedState { source: id, learned: Some(learnt.to_bytes()), due_at: due };
        self.flow.batch.learned.push(learnt);
        self.flow.stale = true;
        true
    }

    /// What is said here holds until it is taken back, whatever the file says.
    fn adjust(&mut self, adjusted: Adjusted, reply: oneshot::Sender<Result<(), StoreError>>) {
        let text = adjusted.to_text();
        let keep = move |store: &mut Store| {
            let _ = reply.send(store.set_meta(Adjusted::KEY, &text));
        };
        let _ = self.writer.send(Write::Other(Box::new(keep)));
        self.adjusted = adjusted;
        self.follow(self.file.clone());
        tracing::info!(
            budget = %self.config.budget,
            objective = %self.config.objective,
            "the settings were changed"
        );
    }

    fn reload(&mut self, config: Config) {
        let (named, now) = (config.signals.clone(), self.shop.clock.now());
        self.follow(config);
        let change =
            self.shop.readers.with(|reader| Ok(SignalSourceChange::to_file(reader, &named, now)));
        match change {
            Ok(Ok(change)) if !change.is_empty() => {
                self.change_heralds(change, oneshot::channel().0);
            }
            Ok(Err(why)) => tracing::warn!("signal sources stay as they are: {why}"),
            Err(why) => tracing::warn!("signal sources stay as they are: {why}"),
            Ok(Ok(_)) => {}
        }
        tracing::info!("the configuration was read again");
    }

    fn follow(&mut self, file: Config) {
        let mut config = file.clone();
        self.file = file;
        if let Err(why) = self.adjusted.apply(&mut config) {
            // It was refused when it was said.
            tracing::warn!("{why}");
        }
        self.crew.set(config.crew);
        self.allowance = self.allowance.resume(config.bytes, self.engine.now());
        let now = self.shop.clock.now();
        let keep = Write::Keep(config.retention, config.size, config.watch, now);
        let _ = self.writer.send(keep);
        self.shop = self.shop.with(&config);
        self.shops.send_replace(Arc::clone(&self.shop));
        self.config = config;
        let settings = engine_settings(&self.config, self.pages(), &self.allowance);
        self.tell(Event::Settings(settings));
    }

    pub(super) fn state(&mut self) -> Status {
        let unwritten = self.flow.batch.fetches.len() + self.flow.writing.unwrap_or(0);
        let waiting = u32::try_from(unwritten).unwrap_or(u32::MAX);
        let active = u32::try_from(self.flow.tasks.len()).unwrap_or(u32::MAX);
        let (wake, budget) = (self.engine.wake(), self.engine.settings().budget);
        Status {
            at: self.shop.clock.now(),
            sources: self.pages() as u64,
            signal_sources: self.flow.heralds.len() as u64,
            signals: self.flow.heralds.heard.clone(),
            budget,
            bytes_budget: self.config.bytes,
            freshness: self.engine.freshness().unwrap_or(0.0),
            price: self.engine.price(),
            outlook: self.engine.outlook(),
            saturated_hosts: self.engine.host_prices().count() as u64,
            ahead: (self.flow.ledgered - self.flow.paid).max(0.0),
            wake: (wake.is_finite() && budget > 0.0).then(|| crate::clock::millis(wake)),
            crew: self.crew.state(active, waiting),
            claimed: self.flow.claims.out() as u64,
            ..self.count.clone()
        }
    }
}

/// Some of all sources, evenly.
fn sample(engine: &Engine, most: usize) -> Vec<(u32, SourceBelief)> {
    let step = (engine.numbers() as usize).div_ceil(most.max(1)).max(1);
    let ids = (0..engine.numbers()).step_by(step);
    ids.filter_map(|id| Some((id, engine.known(id)?))).collect()
}
